package grammar

// bounds is the range of one axis.
type bounds struct{ min, max Coord }

func (b bounds) holds(c Coord) bool { return c >= b.min && c <= b.max }

// reach tells which values a number being read can still get.
type reach uint8

const (
	reachSome      reach = 1 << iota // some value is within the bounds; 0: none is
	reachFree                        // the value no longer matters: with the words below left out, all are
	reachNoHundred                   // hundreds of what has been read are outside the bounds
	reachNoThousand
	reachNoHundredThousand
)

// habits say which composed numbers a language has in decoding.
type habits struct {
	invert           bool // "pětadvacet"
	oh               bool // "one oh five"
	beforeHundred    bits // the forms, as speller.like names them, that may stand before a hundred
	teenHundreds     bool // "čtrnáct set"
	compoundHundreds bool // "sixty-four hundred"
}

// reachOf compares every way to complete q with the bounds. It may take a number for completable
// that no spelling completes, never the other way round.
func (b bounds) reachOf(q number, can habits) reach {
	if q.phase == phaseStart {
		if b.of(false).reachOf(q, can)|b.of(true).reachOf(q, can) != 0 {
			return reachSome
		}
		return 0
	}
	return b.of(q.has(flagNeg)).reachOf(q, can)
}

// of gives the bounds of the amount behind a sign.
func (b bounds) of(neg bool) amount {
	if neg {
		return amount{min: max(0, int64(-b.max)), max: int64(-b.min)}
	}
	return amount{min: max(0, int64(b.min)), max: int64(b.max)}
}

// amount compares ranges of amounts, in hundredths, with bounds.
type amount struct {
	min, max int64
	parts    [partCount]part
}

// part tells of one way to go on whether it has values inside and outside of the bounds.
type part struct{ in, out bool }

const (
	partPlain    = iota
	partHundred  // what has been read becomes hundreds
	partThousand // … thousands
	partHundredThousand
	partAnew // a link or an oh follows; then the value is looked at anew
	partCount
)

// add takes the amounts from … to.
func (a *amount) add(p int, from, to int64) {
	if from <= a.max && to >= a.min {
		a.parts[p].in = true
	}
	if from < a.min || to > a.max {
		a.parts[p].out = true
	}
}

// whole takes the whole numbers from … to, each with any decimals.
func (a *amount) whole(p int, from, to int64) { a.add(p, from*100, to*100+99) }

func (a amount) reachOf(q number, can habits) reach {
	frac := int64(q.frac)
	h, sub, th := int64(q.hundreds)*100, int64(q.sub), int64(q.thousands)*1000
	v := th + h + sub
	noHundreds, noThousands := !q.has(flagHundreds), !q.has(flagThousands)
	kilo := func(from, to int64) {
		switch {
		case !noThousands:
		case from >= 100:
			a.whole(partHundredThousand, from*1000, to*1000+999)
		default:
			a.whole(partThousand, from*1000, to*1000+999)
		}
	}
	hecto := func(from, to int64) {
		if noHundreds && noThousands && (can.compoundHundreds || can.teenHundreds && q.phase == phaseTeen) && from > 10 {
			a.whole(partHundred, from*100, to*100+99)
		}
	}
	switch q.phase {
	case phaseStart, phaseSign:
		a.whole(partPlain, 0, int64(MaxCoord)/100)
	case phaseArticle:
		a.whole(partHundred, 100, 199)
		a.whole(partThousand, 1000, 1999)
	case phaseZero:
		a.whole(partPlain, 0, 0)
	case phaseUnit, phaseUnitLink:
		if q.phase == phaseUnit && !q.has(flagBound) {
			a.whole(partPlain, v, v)
			kilo(h+sub, h+sub)
			if noHundreds && q.last > 0 && can.beforeHundred.has(int(q.last)-1) {
				a.whole(partHundred, th+sub*100, th+sub*100+99)
				kilo(sub*100, sub*100+99)
			}
		}
		if can.oh && q.phase == phaseUnit && noHundreds && noThousands {
			a.whole(partAnew, sub*100+1, sub*100+9)
		}
		if can.invert {
			p := partAnew
			if q.phase == phaseUnitLink || !noHundreds || !noThousands {
				p = partPlain
			}
			for t := int64(20); t < 100; t += 10 {
				a.whole(p, v+t, v+t)
				if noHundreds && noThousands {
					a.whole(p, (sub+t)*100, (sub+t)*100+99)
					a.whole(p, (sub+t)*1000, (sub+t)*1000+999)
				}
			}
		}
	case phaseUnitOh:
		a.whole(partPlain, sub*100+1, sub*100+9)
	case phaseTeen, phaseDone:
		a.whole(partPlain, v, v)
		kilo(h+sub, h+sub)
		hecto(sub, sub)
	case phaseTens:
		a.whole(partPlain, v, v+9)
		kilo(h+sub, h+sub+9)
		hecto(sub+1, sub+9)
	case phaseHundred:
		a.whole(partPlain, v, v+99)
		kilo(h, h+99)
	case phaseHundredAnd:
		a.whole(partPlain, v+1, v+99)
		kilo(h+1, h+99)
	case phaseThousand:
		a.whole(partPlain, v, v+999)
	case phaseThousandAnd:
		a.whole(partPlain, v+1, v+999)
	case phasePoint:
		a.whole(partPlain, v, v)
	case phaseFrac1, phaseFracTens, phaseFracLink:
		if q.phase != phaseFracLink && !q.has(flagBound) {
			a.add(partPlain, v*100+frac, v*100+frac+9)
		}
		if q.phase != phaseFracTens && can.invert && frac > 0 {
			for t := int64(20); t < 100; t += 10 {
				a.add(partPlain, v*100+frac/10+t, v*100+frac/10+t)
			}
		}
	case phaseFracEnd, phaseFracOver, phaseWritten:
		a.add(partPlain, v*100+frac, v*100+frac)
	}
	return a.reach()
}

func (a *amount) reach() reach {
	r := reachFree
	for p, x := range a.parts {
		switch {
		case x.in:
			r |= reachSome
			if x.out && p != partAnew {
				r &^= reachFree
			}
		case p == partAnew:
		case p == partPlain:
			if x.out {
				r &^= reachFree
			}
		case p == partHundred:
			r |= reachNoHundred
		case p == partThousand:
			r |= reachNoThousand
		case p == partHundredThousand:
			r |= reachNoHundredThousand
		}
	}
	if r&reachSome == 0 {
		return 0
	}
	if r&reachFree == 0 {
		return reachSome
	}
	return r
}

// leavesOut says whether a free number must not go on with a word, for its value would leave the bounds.
func (r reach) leavesOut(q number, a *atom) bool {
	switch a.class {
	case classHundred:
		return r&reachNoHundred != 0 && (q.phase == phaseUnit || q.phase == phaseTeen || q.phase == phaseDone || q.phase == phaseArticle)
	case classThousand:
		if q.has(flagHundreds) {
			return r&reachNoHundredThousand != 0
		}
		return r&reachNoThousand != 0
	case classZero, classOh, classUnit, classTeen, classTens, classHundreds, classAnd, classA, classMinus, classPoint, classDigits:
	}
	return false
}

// anyValue keeps of q what decides which words may follow, for numbers whose value no longer matters.
func (q number) anyValue() number {
	n := number{phase: q.phase, flags: q.flags, family: q.family, last: q.last}
	switch q.phase {
	case phaseTeen:
		n.sub = 11
		if q.sub == 10 {
			n.sub = 10
		}
	case phaseUnit:
		n.sub = 2
		if !q.has(flagHundreds | flagThousands) {
			n.sub = q.sub // a link may follow
		}
	case phaseUnitLink, phaseUnitOh:
		n.sub = 2
	case phaseTens:
		n.sub = 20
	case phaseDone:
		n.sub = 21
	case phaseFrac1, phaseFracLink:
		if q.frac != 0 {
			n.frac = 10
		}
	case phaseFracTens:
		n.frac = 20
	case phaseStart, phaseSign, phaseArticle, phaseZero, phaseHundred, phaseHundredAnd, phaseThousand, phaseThousandAnd,
		phasePoint, phaseFracEnd, phaseFracOver, phaseWritten:
	}
	return n
}
