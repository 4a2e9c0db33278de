package grammar

// The number machine reads the words of one number. The parser and the automaton share it.

// phase is what the machine has just read.
type phase uint8

const (
	phaseStart phase = iota
	phaseSign
	phaseArticle // "a", before hundred or thousand
	phaseZero
	phaseUnit
	phaseUnitLink // unit and link, before tens: "pět a"
	phaseUnitOh   // "one oh", before a unit
	phaseTeen
	phaseTens
	phaseDone // a whole part that only thousand or a point may follow
	phaseHundred
	phaseHundredAnd
	phaseThousand
	phaseThousandAnd
	phasePoint
	phaseFrac1    // one decimal digit
	phaseFracLink // decimal digit and link
	phaseFracTens // tens as decimals
	phaseFracEnd  // two decimals
	phaseFracOver // more decimals than a coordinate has
	phaseWritten  // a number written with decimals
)

// Flags of a number being read.
const (
	flagNeg uint8 = 1 << iota
	flagHundreds
	flagThousands
	flagDigits  // everything so far was written with digits
	flagOne     // the unit may stand before a hundred though it is one
	flagBound   // the unit needs a link
	flagTight   // the unit may be meant as hundreds
	flagGrouped // digits in groups of three, with spaces
)

// doubt marks a reading that is never accepted, but that a speaker could have meant.
type doubt uint16

const (
	doubtMixed   doubt = 1 << iota // digits and words, or words of two language families, in one number
	doubtFine                      // three or more decimals
	doubtGroup                     // a group of three digits after a comma or point
	doubtScaled                    // "2.5 thousand"
	doubtComma                     // a decimal comma where the language has none
	doubtLoose                     // "one twenty" for 120
	doubtGrouped                   // groups of three digits with spaces
	doubtLinked                    // "and" between numbers
	doubtBare                      // "oh" or "point" with nothing before it: a filler word, or "the point …"
)

// number is the state of the machine.
type number struct {
	phase     phase
	flags     uint8
	doubt     doubt
	family    uint8
	sub       uint8 // the part below a hundred
	frac      uint8 // hundredths
	last      uint8 // decoding: the last word form
	hundreds  int16
	thousands int32
}

var numberStart = number{family: 0xff}

func (q number) has(f uint8) bool { return q.flags&f != 0 }

// value is the number read so far.
func (q number) value() Coord {
	v := Coord((q.thousands*1000+int32(q.hundreds)*100+int32(q.sub))*100 + int32(q.frac))
	if q.has(flagNeg) {
		return -v
	}
	return v
}

// complete says whether the number may end here.
func (q number) complete() bool {
	switch q.phase {
	case phaseZero, phaseTeen, phaseTens, phaseDone, phaseHundred, phaseThousand,
		phaseFracTens, phaseFracEnd, phaseFracOver, phaseWritten:
		return true
	case phaseUnit, phaseFrac1:
		return !q.has(flagBound)
	case phaseStart, phaseSign, phaseArticle, phaseUnitLink, phaseUnitOh, phaseHundredAnd, phaseThousandAnd, phasePoint, phaseFracLink:
		return false
	}
	return false
}

// opensBelowHundred: a unit, teen or tens may come.
func (q number) opensBelowHundred() bool {
	switch q.phase {
	case phaseStart, phaseSign, phaseHundred, phaseHundredAnd, phaseThousand, phaseThousandAnd:
		return true
	case phaseArticle, phaseZero, phaseUnit, phaseUnitLink, phaseUnitOh, phaseTeen, phaseTens, phaseDone,
		phasePoint, phaseFrac1, phaseFracLink, phaseFracTens, phaseFracEnd, phaseFracOver, phaseWritten:
		return false
	}
	return false
}

// opens: the number, or the part after a thousand, begins.
func (q number) opens() bool {
	return q.phase == phaseStart || q.phase == phaseSign || q.phase == phaseThousand || q.phase == phaseThousandAnd
}

// isWhole: the words so far are a whole number that a decimal point may follow.
func (q number) isWhole() bool { return q.phase < phasePoint && q.complete() }

// isFrac: decimals have been read.
func (q number) isFrac() bool { return q.phase > phasePoint && q.complete() }

// step reads one more word.
func (q number) step(a *atom) (number, bool) {
	wasDigits := q.has(flagDigits)
	p := q.phase
	q, ok := q.advance(a)
	if !ok {
		return q, false
	}
	if a.class != classDigits {
		q.family &= a.family
		if q.family == 0 {
			q.doubt |= doubtMixed
			q.family = 0xff
		}
		if wasDigits {
			switch a.class {
			case classPoint, classHundred, classThousand:
			case classZero, classOh, classUnit, classTeen, classTens, classHundreds, classAnd, classA, classMinus, classDigits:
				if p < phasePoint {
					q.doubt |= doubtMixed
				}
			}
			if p < phasePoint && a.class != classPoint {
				q.flags &^= flagDigits
			}
		}
	}
	return q, true
}

func (q number) advance(a *atom) (number, bool) {
	switch a.class {
	case classMinus:
		if q.phase != phaseStart {
			return q, false
		}
		q.phase, q.flags = phaseSign, flagNeg
		return q, true
	case classZero:
		if q.phase == phaseStart || q.phase == phaseSign {
			q.phase = phaseZero
			return q, true
		}
		return q.decimal(0)
	case classOh:
		switch {
		case q.phase == phaseStart || q.phase == phaseSign:
			q.phase = phaseZero
			q.doubt |= doubtBare
			return q, true
		case q.phase == phaseUnit && !q.has(flagHundreds|flagThousands):
			q.phase = phaseUnitOh
			return q, true
		}
		return q.decimal(0)
	case classUnit:
		return q.unit(a)
	case classTeen, classTens:
		return q.teens(a)
	case classHundred:
		return q.hundred(a)
	case classHundreds:
		if q.opens() && !q.has(flagHundreds) {
			q.phase, q.hundreds = phaseHundred, int16(a.value/100)
			q.flags |= flagHundreds
			return q, true
		}
		return q, false
	case classThousand:
		return q.thousand(a)
	case classAnd:
		if q.phase == phaseHundred {
			q.phase = phaseHundredAnd
			return q, true
		}
		if q.phase == phaseThousand {
			q.phase = phaseThousandAnd
			return q, true
		}
		return q, false
	case classA:
		if q.phase == phaseStart || q.phase == phaseSign {
			q.phase = phaseArticle
			q.family &= a.article
			return q, q.family != 0
		}
		q.family &= a.link
		switch {
		case q.family == 0:
		case q.phase == phaseUnit:
			q.phase = phaseUnitLink
			return q, true
		case q.phase == phaseFrac1 && q.frac != 0:
			q.phase = phaseFracLink
			return q, true
		}
		return q, false
	case classPoint:
		lead := a.roles&roleLead != 0 && (q.phase == phaseStart || q.phase == phaseSign)
		if lead || q.isWhole() && !q.has(flagGrouped) {
			q.phase = phasePoint
			if lead {
				q.doubt |= doubtBare
			}
			return q, true
		}
		return q, false
	case classDigits:
		return q.written(a)
	}
	return q, false
}

// decimal reads one spoken decimal digit.
func (q number) decimal(d int32) (number, bool) {
	switch q.phase {
	case phasePoint:
		q.phase, q.frac = phaseFrac1, uint8(d*10)
	case phaseFrac1:
		if q.has(flagBound) {
			return q, false
		}
		q.phase = phaseFracEnd
		q.frac += uint8(d)
	case phaseFracTens:
		if d == 0 {
			q.phase = phaseFracOver
			q.doubt |= doubtFine
			break
		}
		q.phase = phaseFracEnd
		q.frac += uint8(d)
	case phaseFracEnd, phaseFracOver:
		q.phase = phaseFracOver
		q.doubt |= doubtFine
	case phaseStart, phaseSign, phaseArticle, phaseZero, phaseUnit, phaseUnitLink, phaseUnitOh, phaseTeen, phaseTens,
		phaseDone, phaseHundred, phaseHundredAnd, phaseThousand, phaseThousandAnd, phaseFracLink, phaseWritten:
		return q, false
	}
	return q, true
}

func (q number) unit(a *atom) (number, bool) {
	if a.roles&roleBound != 0 && !q.opensBelowHundred() {
		if q.phase != phasePoint {
			return q, false
		}
		q.flags |= flagBound
	}
	switch {
	case q.opensBelowHundred():
		q.flags &^= flagOne | flagBound | flagTight
		if a.roles&roleOne != 0 || a.value > 1 {
			q.flags |= flagOne
		}
		if a.roles&roleBound != 0 {
			q.flags |= flagBound
		}
		if a.roles&roleTight != 0 && (q.phase == phaseStart || q.phase == phaseSign) {
			q.flags |= flagTight
		}
		q.phase, q.sub = phaseUnit, uint8(a.value)
		return q, true
	case q.phase == phaseTens:
		q.phase = phaseDone
		q.sub += uint8(a.value)
		return q, true
	case q.phase == phaseUnitOh:
		q.phase, q.hundreds, q.sub = phaseDone, int16(q.sub), uint8(a.value)
		q.flags |= flagHundreds
		return q, true
	}
	return q.decimal(a.value)
}

func (q number) teens(a *atom) (number, bool) {
	tens := a.class == classTens
	next := phaseTeen
	if tens {
		next = phaseTens
	}
	switch q.phase {
	case phaseStart, phaseSign, phaseHundred, phaseHundredAnd, phaseThousand, phaseThousandAnd:
		q.phase, q.sub = next, uint8(a.value)
		return q, true
	case phaseUnit:
		if !q.has(flagTight) || a.roles&roleTight == 0 || q.has(flagHundreds|flagThousands) {
			return q, false
		}
		q.hundreds, q.sub, q.phase = int16(q.sub), uint8(a.value), next
		q.flags |= flagHundreds
		q.doubt |= doubtLoose
		return q, true
	case phaseUnitLink:
		if !tens {
			return q, false
		}
		q.flags &^= flagBound
		q.phase = phaseDone
		q.sub += uint8(a.value)
		return q, true
	case phasePoint:
		q.frac = uint8(a.value)
		q.phase = phaseFracEnd
		if tens {
			q.phase = phaseFracTens
		}
		return q, true
	case phaseFracLink:
		if !tens {
			return q, false
		}
		q.flags &^= flagBound
		q.phase = phaseFracEnd
		q.frac = q.frac/10 + uint8(a.value)
		return q, true
	case phaseArticle, phaseZero, phaseUnitOh, phaseTeen, phaseTens, phaseDone, phaseFrac1, phaseFracTens, phaseFracEnd, phaseFracOver, phaseWritten:
		return q, false
	}
	return q, false
}

func (q number) hundred(a *atom) (number, bool) {
	bare := a.roles&roleBare != 0
	switch {
	case q.isFrac():
		return q.scaled(), true
	case q.opens() && bare, q.phase == phaseArticle && !bare:
		q.hundreds = 1
	case q.has(flagHundreds):
		return q, false
	case q.phase == phaseUnit && q.has(flagOne) && !q.has(flagBound):
		q.hundreds = int16(q.sub)
	case (q.phase == phaseTeen || q.phase == phaseDone) && q.sub > 10 && !q.has(flagThousands):
		q.hundreds = int16(q.sub)
		if q.phase == phaseDone && bare {
			q.doubt |= doubtLoose // "sixty-four hundred", but nobody says "šesťdesiatštyri sto"
		}
	default:
		return q, false
	}
	q.phase, q.sub = phaseHundred, 0
	q.flags |= flagHundreds
	return q, true
}

func (q number) thousand(a *atom) (number, bool) {
	bare := a.roles&roleBare != 0
	switch {
	case q.isFrac():
		return q.scaled(), true
	case (q.phase == phaseStart || q.phase == phaseSign) && bare, q.phase == phaseArticle && !bare:
		q.thousands = 1
	case q.isWhole() && !q.has(flagThousands) && q.phase != phaseZero:
		q.thousands = int32(q.hundreds)*100 + int32(q.sub)
	default:
		return q, false
	}
	q.phase, q.hundreds, q.sub = phaseThousand, 0, 0
	q.flags = q.flags&^flagHundreds | flagThousands
	return q, true
}

// scaled is "2.5 thousand": outside the grammar, but what a speaker may mean.
func (q number) scaled() number {
	q.phase, q.thousands, q.hundreds, q.sub, q.frac = phaseThousand, 1, 0, 0, 0
	q.flags = q.flags&^flagHundreds | flagThousands
	q.doubt |= doubtScaled
	return q
}
