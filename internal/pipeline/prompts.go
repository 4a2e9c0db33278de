package pipeline

import "blockworld-voice/internal/lang"

// prompt is the previous text that the recogniser is told: the words of the commands and of the numbers, without a
// sentence. Numbers in a row would be copied into unclear audio; a rising list of words is not.
func prompt(l lang.Language) string {
	switch l {
	case lang.SK:
		return "Choď na, pozri na, pozri sa na, povedz, stav, status, čakaj, nasleduj ma, poď za mnou, postav schválený plán, stoj, stop, koniec, " +
			"mínus, celá, nula, jeden, dva, tri, štyri, päť, šesť, sedem, osem, deväť, desať, jedenásť, dvanásť, trinásť, štrnásť, pätnásť, " +
			"šestnásť, sedemnásť, osemnásť, devätnásť, dvadsať, tridsať, štyridsať, päťdesiat, šesťdesiat, sedemdesiat, osemdesiat, deväťdesiat, " +
			"sto, dvesto, tristo."
	case lang.CS:
		return "Jdi na, běž na, podívej se na, řekni, stav, status, čekej, následuj mě, pojď za mnou, postav schválený plán, stůj, stop, konec, " +
			"minus, celá, nula, jedna, dva, tři, čtyři, pět, šest, sedm, osm, devět, deset, jedenáct, dvanáct, třináct, čtrnáct, patnáct, " +
			"šestnáct, sedmnáct, osmnáct, devatenáct, dvacet, třicet, čtyřicet, padesát, šedesát, sedmdesát, osmdesát, devadesát, " +
			"sto, dvě stě, tři sta."
	case lang.EN:
		return "Go to, look at, say, state, status, idle, wait, follow me, build approved plan, stop, quit, " +
			"minus, point, zero, one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, thirteen, fourteen, fifteen, " +
			"sixteen, seventeen, eighteen, nineteen, twenty, thirty, forty, fifty, sixty, seventy, eighty, ninety, hundred."
	case lang.None:
	}
	return ""
}
