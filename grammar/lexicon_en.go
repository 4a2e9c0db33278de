package grammar

import (
	"blockworld-voice/internal/lang"
)

var tableEN = table{
	language: lang.EN, code: "en", name: "English", family: 1,
	commands: []phrases{
		{KindState, []string{"state"}},
		{KindStatus, []string{"status"}},
		{KindGoTo, []string{"go to", "goto"}},
		{KindLookAt, []string{"look at", "look-at"}},
		{KindSay, []string{"say"}},
		{KindIdle, []string{"idle", "wait"}},
		{KindFollow, []string{"follow me"}},
		{KindBuild, []string{"build approved plan"}},
		{KindStop, []string{"stop", "quit"}},
	},
	numerals: []numeral{
		{class: classZero, value: 0, forms: "zero"},
		{class: classOh, value: 0, forms: "oh"},
		{class: classUnit, value: 1, forms: "one", roles: roleOne},
		{class: classUnit, value: 2, forms: "two"},
		{class: classUnit, value: 3, forms: "three"},
		{class: classUnit, value: 4, forms: "four"},
		{class: classUnit, value: 5, forms: "five"},
		{class: classUnit, value: 6, forms: "six"},
		{class: classUnit, value: 7, forms: "seven"},
		{class: classUnit, value: 8, forms: "eight"},
		{class: classUnit, value: 9, forms: "nine"},
		{class: classTeen, value: 10, forms: "ten"},
		{class: classTeen, value: 11, forms: "eleven"},
		{class: classTeen, value: 12, forms: "twelve"},
		{class: classTeen, value: 13, forms: "thirteen"},
		{class: classTeen, value: 14, forms: "fourteen"},
		{class: classTeen, value: 15, forms: "fifteen"},
		{class: classTeen, value: 16, forms: "sixteen"},
		{class: classTeen, value: 17, forms: "seventeen"},
		{class: classTeen, value: 18, forms: "eighteen"},
		{class: classTeen, value: 19, forms: "nineteen"},
		{class: classTens, value: 20, forms: "twenty"},
		{class: classTens, value: 30, forms: "thirty"},
		{class: classTens, value: 40, forms: "forty", heard: "fourty"},
		{class: classTens, value: 50, forms: "fifty"},
		{class: classTens, value: 60, forms: "sixty"},
		{class: classTens, value: 70, forms: "seventy"},
		{class: classTens, value: 80, forms: "eighty"},
		{class: classTens, value: 90, forms: "ninety"},
		{class: classHundred, forms: "hundred"},
		{class: classThousand, forms: "thousand"},
		{class: classAnd, forms: "and"},
		{class: classA, forms: "a", roles: roleArticle},
		{class: classMinus, forms: "minus negative"},
		{class: classPoint, forms: "point", roles: roleLead},
	},
	joints: [jointCount]joinBits{
		jointTensUnit: joinHyphen | joinSpace, jointHundred: joinSpace, jointHundredRest: joinSpace,
		jointThousand: joinSpace, jointThousandRest: joinSpace, jointOther: joinSpace,
	},
	tightHundreds: true,
	sayings:       []string{"hello", "i am going home", "wait for me", "where are you", "thank you", "i found some iron", "i am at the bridge", "night is coming"},
	spell:         spellEN,
	spellPoint:    spellPointEN,
}

func spellEN(w *writer, n int) {
	if n > 1000 && n < 10000 && n/100%10 != 0 && w.pick(choiceWay, 2, 2) == 1 { // twelve hundred
		belowHundredEN(w, n/100)
		w.put(" hundred")
		restEN(w, n%100)
		return
	}
	if n > 100 && n < 1000 && n%100 > 0 && n%100 < 10 && w.pick(choiceWay, 2, 2) == 1 { // one oh five
		w.number(classUnit, n/100)
		w.put(" oh ")
		w.number(classUnit, n%10)
		return
	}
	if n >= 1000 {
		if k := n / 1000; k == 1 {
			w.one(2, "one thousand", "a thousand")
		} else {
			belowHundredEN(w, k)
			w.put(w.way(1, " thousand", "thousand", "-thousand"))
		}
		if n%1000 < 100 {
			restEN(w, n%1000)
			return
		}
		w.put(w.way(1, " ", "-"))
		n %= 1000
		w.number(classUnit, n/100)
		w.put(" hundred")
		restEN(w, n%100)
		return
	}
	if n >= 100 {
		if n < 200 {
			w.one(2, "one hundred", "a hundred")
		} else {
			w.number(classUnit, n/100)
			w.put(w.way(1, " hundred", "hundred", "-hundred"))
		}
		restEN(w, n%100)
		return
	}
	belowHundredEN(w, n)
}

// restEN spells what follows hundred or thousand.
func restEN(w *writer, n int) {
	if n == 0 {
		return
	}
	w.put(w.way(2, " ", " and ", "-", "-and-"))
	belowHundredEN(w, n)
}

func belowHundredEN(w *writer, n int) {
	switch {
	case n == 0:
		w.number(classZero, 0)
	case n < 10:
		w.number(classUnit, n)
	case n < 20:
		w.number(classTeen, n)
	default:
		w.number(classTens, n/10*10)
		if n%10 != 0 {
			w.put(w.way(2, "-", " ", ""))
			w.number(classUnit, n%10)
		}
	}
}

func spellPointEN(w *writer, n int) {
	spellEN(w, n)
	w.put(" point")
}
