package grammar

import (
	"blockworld-voice/internal/lang"
)

var tableSK = table{
	language: lang.SK, code: "sk", name: "Slovak", family: 0,
	letters: "áäčďéíĺľňóôŕšťúýž",
	plain:   "aacdeillnoorstuyz",
	commands: []phrases{
		{KindState, []string{"stav"}},
		{KindStatus, []string{"status"}},
		{KindGoTo, []string{"choď na", "choď", "choďte na", "choďte", "poď na"}},
		{KindLookAt, []string{"pozri na", "pozri", "pozri sa na", "pozri sa"}},
		{KindSay, []string{"povedz"}},
		{KindIdle, []string{"čakaj"}},
		{KindFollow, []string{"nasleduj ma", "poď za mnou"}},
		{KindBuild, []string{"postav schválený plán"}},
		{KindStop, []string{"stop", "stoj", "koniec"}},
	},
	numerals: []numeral{
		{class: classZero, value: 0, forms: "nula", heard: "nulu nuly"},
		{class: classUnit, value: 1, forms: "jeden jedna", heard: "jednu jedného jednej jednému jednom jedným jednou"},
		{class: classUnit, value: 1, forms: "jedno", roles: roleOne},
		{class: classUnit, value: 2, forms: "dva dve", heard: "dvaja dvoch dvom dvoma dvomi"},
		{class: classUnit, value: 3, forms: "tri", heard: "traja troch trom troma tromi"},
		{class: classUnit, value: 4, forms: "štyri", heard: "štyria štyroch štyrom štyrmi"},
		{class: classUnit, value: 5, forms: "päť", heard: "piatich"},
		{class: classUnit, value: 6, forms: "šesť"},
		{class: classUnit, value: 7, forms: "sedem"},
		{class: classUnit, value: 8, forms: "osem"},
		{class: classUnit, value: 9, forms: "deväť"},
		{class: classTeen, value: 10, forms: "desať"},
		{class: classTeen, value: 11, forms: "jedenásť jedenást"},
		{class: classTeen, value: 12, forms: "dvanásť"},
		{class: classTeen, value: 13, forms: "trinásť"},
		{class: classTeen, value: 14, forms: "štrnásť", heard: "štyrinásť"},
		{class: classTeen, value: 15, forms: "pätnásť"},
		{class: classTeen, value: 16, forms: "šestnásť", heard: "šesnásť"},
		{class: classTeen, value: 17, forms: "sedemnásť"},
		{class: classTeen, value: 18, forms: "osemnásť"},
		{class: classTeen, value: 19, forms: "devätnásť"},
		{class: classTens, value: 20, forms: "dvadsať", heard: "dvacať"},
		{class: classTens, value: 30, forms: "tridsať", heard: "tricať"},
		{class: classTens, value: 40, forms: "štyridsať", heard: "štyricať"},
		{class: classTens, value: 50, forms: "päťdesiat", heard: "pädesiat"},
		{class: classTens, value: 60, forms: "šesťdesiat šestdesiat šesdesiat"},
		{class: classTens, value: 70, forms: "sedemdesiat"},
		{class: classTens, value: 80, forms: "osemdesiat"},
		{class: classTens, value: 90, forms: "deväťdesiat", heard: "devädesiat"},
		{class: classHundred, forms: "sto", roles: roleBare, after: "dve tri štyri päť šesť sedem osem deväť"},
		{class: classThousand, forms: "tisíc", heard: "tisícov", roles: roleBare},
		{class: classThousand, forms: "tisíce", after: "dva tri štyri"},
		{class: classMinus, forms: "mínus minus"},
		{class: classPoint, forms: "celá celé celých", heard: "bodka čiarka"},
	},
	joints: [jointCount]joinBits{
		jointTensUnit: joinNone | joinSpace, jointHundred: joinNone | joinSpace, jointHundredRest: joinSpace | joinNone,
		jointThousand: joinSpace | joinNone, jointThousandRest: joinSpace | joinNone, jointOther: joinSpace,
	},
	labels:       [3]string{"iks", "ypsilon", "zet"},
	decimalComma: true,
	sayings:      []string{"ahoj", "idem domov", "počkaj na mňa", "kde si", "ďakujem", "našiel som železo", "som pri moste", "noc sa blíži"},
	spell:        spellSK,
	spellPoint:   spellPointSK,
}

func spellSK(w *writer, n int) {
	if n >= 1100 && n < 2000 && w.pick(choiceWay, 1, 2) == 1 { // štrnásťsto
		w.number(classTeen, n/100)
		w.put(w.way(1, "sto", " sto"))
		if n%100 != 0 {
			w.put(" ")
			hundredsSK(w, n%100, false)
		}
		return
	}
	if n >= 1000 {
		switch k := n / 1000; {
		case k == 1:
			w.one(3, "tisíc", "jeden tisíc", "jedentisíc", "jedno tisíc", "jeden-tisíc", "tisícov")
		default:
			hundredsSK(w, k, true)
			switch {
			case k%10 >= 2 && k%10 <= 4 && k%100/10 != 1 && w.endsWith("dva", "tri", "štyri"):
				w.put(w.way(4, "tisíc", " tisíc", " tisíce", "tisíce", "-tisíc"))
			default:
				w.put(w.way(2, "tisíc", " tisíc", "-tisíc"))
			}
		}
		if n%1000 == 0 {
			return
		}
		w.put(w.way(2, " ", "", "-"))
		n %= 1000
	}
	hundredsSK(w, n, false)
}

// hundredsSK spells 0 … 999; before a thousand two is "dve" when it stands alone.
func hundredsSK(w *writer, n int, thousands bool) {
	if h := n / 100; h > 0 {
		switch h {
		case 1:
			w.one(1, "sto", "jedno sto", "jednosto")
		case 2:
			w.one(1, "dve", "dva")
			w.put(w.way(2, "sto", " sto", "-sto"))
		default:
			w.put(w.first(classUnit, h), w.way(2, "sto", " sto", "-sto"))
		}
		if n%100 == 0 {
			return
		}
		w.put(w.way(2, " ", "", "-"))
		n %= 100
	}
	switch {
	case n == 2 && thousands:
		w.one(2, "dve", "dva")
	case n < 10 && thousands:
		w.put(w.first(classUnit, n))
	case n == 0:
		w.number(classZero, 0)
	case n < 10:
		w.number(classUnit, n)
	case n < 20:
		w.number(classTeen, n)
	default:
		w.number(classTens, n/10*10)
		if n%10 == 0 {
			return
		}
		w.put(w.way(2, "", " ", "-"))
		if thousands {
			w.put(w.first(classUnit, n%10))
			return
		}
		w.number(classUnit, n%10)
	}
}

func spellPointSK(w *writer, n int) {
	switch n {
	case 1:
		w.one(2, "jedna", "jeden")
	case 2:
		w.one(2, "dve", "dva")
	default:
		spellSK(w, n)
	}
	w.put(" ")
	w.point(n, "celá", "celé", "celých", "bodka", "čiarka")
}
