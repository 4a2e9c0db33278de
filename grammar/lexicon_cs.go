package grammar

import (
	"blockworld-voice/internal/lang"
)

var tableCS = table{
	language: lang.CS, code: "cs", name: "Czech", family: 0,
	letters: "áčďéěíňóřšťúůýž",
	plain:   "acdeeinorstuuyz",
	commands: []phrases{
		{KindState, []string{"stav"}},
		{KindStatus, []string{"status"}},
		{KindGoTo, []string{"jdi na", "jdi", "běž na", "běž", "pojď na"}},
		{KindLookAt, []string{"podívej se na", "podívej se", "koukni na", "koukni"}},
		{KindSay, []string{"řekni"}},
		{KindIdle, []string{"čekej"}},
		{KindFollow, []string{"následuj mě", "pojď za mnou"}},
		{KindBuild, []string{"postav schválený plán"}},
		{KindStop, []string{"stop", "stůj", "konec"}},
	},
	numerals: []numeral{
		{class: classZero, value: 0, forms: "nula", heard: "nulu nuly"},
		{class: classUnit, value: 1, forms: "jedna jeden", heard: "jednu jednoho jedné jednomu jednom jedním jednou"},
		{class: classUnit, value: 1, forms: "jedno", roles: roleOne},
		{class: classUnit, value: 1, forms: "jedn", roles: roleBound},
		{class: classUnit, value: 2, forms: "dva dvě", heard: "dvou dvěma"},
		{class: classUnit, value: 3, forms: "tři", heard: "tří třem třemi"},
		{class: classUnit, value: 4, forms: "čtyři", heard: "čtyry čtyř čtyřem čtyřmi"},
		{class: classUnit, value: 5, forms: "pět"},
		{class: classUnit, value: 6, forms: "šest"},
		{class: classUnit, value: 7, forms: "sedm", heard: "sedum"},
		{class: classUnit, value: 8, forms: "osm", heard: "osum"},
		{class: classUnit, value: 9, forms: "devět"},
		{class: classTeen, value: 10, forms: "deset"},
		{class: classTeen, value: 11, forms: "jedenáct"},
		{class: classTeen, value: 12, forms: "dvanáct"},
		{class: classTeen, value: 13, forms: "třináct"},
		{class: classTeen, value: 14, forms: "čtrnáct", heard: "čtrnást"},
		{class: classTeen, value: 15, forms: "patnáct"},
		{class: classTeen, value: 16, forms: "šestnáct"},
		{class: classTeen, value: 17, forms: "sedmnáct", heard: "sedumnáct"},
		{class: classTeen, value: 18, forms: "osmnáct", heard: "osumnáct"},
		{class: classTeen, value: 19, forms: "devatenáct"},
		{class: classTens, value: 20, forms: "dvacet"},
		{class: classTens, value: 30, forms: "třicet"},
		{class: classTens, value: 40, forms: "čtyřicet"},
		{class: classTens, value: 50, forms: "padesát"},
		{class: classTens, value: 60, forms: "šedesát"},
		{class: classTens, value: 70, forms: "sedmdesát", heard: "sedumdesát"},
		{class: classTens, value: 80, forms: "osmdesát", heard: "osumdesát"},
		{class: classTens, value: 90, forms: "devadesát"},
		{class: classHundred, forms: "sto", roles: roleBare, after: "jedno"},
		{class: classHundred, forms: "stě sta", after: "dvě"},
		{class: classHundred, forms: "sta", after: "tři čtyři"},
		{class: classHundred, forms: "set", after: "pět šest sedm osm devět jedenáct dvanáct třináct čtrnáct patnáct šestnáct sedmnáct osmnáct devatenáct"},
		{class: classThousand, forms: "tisíc", roles: roleBare},
		{class: classThousand, forms: "tisíce", after: "dva tři čtyři"},
		{class: classA, forms: "a", roles: roleLink},
		{class: classMinus, forms: "minus mínus"},
		{class: classPoint, forms: "celá celé celých", heard: "tečka čárka"},
	},
	joints: [jointCount]joinBits{
		jointTensUnit: joinSpace, jointInverted: joinNone, jointHundred: joinSpace | joinNone, jointHundredRest: joinSpace,
		jointThousand: joinSpace, jointThousandRest: joinSpace, jointOther: joinSpace,
	},
	labels:       [3]string{"iks", "ypsilon", "zet"},
	decimalComma: true,
	sayings:      []string{"ahoj", "jdu domů", "počkej na mě", "kde jsi", "děkuju", "našel jsem železo", "jsem u mostu", "blíží se noc"},
	spell:        spellCS,
	spellPoint:   spellPointCS,
}

func spellCS(w *writer, n int) {
	if n >= 1100 && n < 2000 && w.pick(choiceWay, 2, 2) == 1 { // čtrnáct set
		w.number(classTeen, n/100)
		w.put(w.way(2, " ", "", "-"), "set")
		if n%100 != 0 {
			w.put(" ")
			hundredsCS(w, n%100, false)
		}
		return
	}
	if n >= 1000 {
		switch k := n / 1000; {
		case k == 1:
			w.one(2, "tisíc", "jeden tisíc", "jedentisíc", "jeden-tisíc")
		case k < 5:
			hundredsCS(w, k, true)
			w.put(w.way(2, " tisíce", " tisíc", "tisíce", "-tisíce"))
		default:
			hundredsCS(w, k, true)
			w.put(w.way(1, " tisíc", "tisíc", "-tisíc"))
		}
		if n%1000 == 0 {
			return
		}
		w.put(w.way(1, " ", "", "-"))
		n %= 1000
	}
	hundredsCS(w, n, false)
}

// hundredsCS spells 0 … 999; before a thousand one is "jeden".
func hundredsCS(w *writer, n int, thousands bool) {
	if h := n / 100; h > 0 {
		switch {
		case h == 1:
			w.one(3, "sto", "jedno sto", "jednosto")
		case h == 2:
			w.put("dvě", w.way(4, " stě", "stě", " sta", "sta", "-stě"))
		case h < 5:
			w.put(w.first(classUnit, h), w.way(2, " sta", "sta", "-sta"))
		default:
			w.put(w.first(classUnit, h), w.way(2, " set", "set", "-set"))
		}
		if n%100 == 0 {
			return
		}
		w.put(w.way(1, " ", "", "-"))
		n %= 100
	}
	switch {
	case n == 1 && thousands:
		w.put("jeden")
	case n == 0:
		w.number(classZero, 0)
	case n < 10 && thousands:
		w.put(w.first(classUnit, n))
	case n < 10:
		w.number(classUnit, n)
	case n < 20:
		w.number(classTeen, n)
	case n%10 == 0:
		w.number(classTens, n)
	default:
		tensCS(w, n, thousands)
	}
}

// tensCS spells 21 … 99 straight or inverted.
func tensCS(w *writer, n int, thousands bool) {
	u := n % 10
	switch w.pick(choiceWay, 2, 4) {
	case 0:
		w.number(classTens, n-u)
		w.put(w.way(1, " ", "", "-"))
		if u == 1 && thousands {
			w.put("jeden")
			return
		}
		w.number(classUnit, u)
		return
	case 1: // pětadvacet
		if u == 1 {
			w.one(3, "jedn", "jeden", "jedna")
		} else {
			w.number(classUnit, u)
		}
		w.put("a")
	case 2: // pět a dvacet
		w.number(classUnit, u)
		w.put(" a ")
	case 3:
		w.number(classUnit, u)
		w.put("-a-")
	}
	w.number(classTens, n-u)
}

func spellPointCS(w *writer, n int) {
	switch n {
	case 1:
		w.one(2, "jedna", "jeden")
	case 2:
		w.one(2, "dvě", "dva")
	default:
		spellCS(w, n)
	}
	w.put(" ")
	w.point(n, "celá", "celé", "celých", "tečka", "čárka")
}
