package grammar

// written reads a number written with digits.
func (q number) written(a *atom) (number, bool) {
	v := a.value
	switch {
	case q.phase == phaseStart || q.phase == phaseSign && !a.neg:
		if a.neg {
			q.flags |= flagNeg
		}
		q.flags |= flagDigits
		q.setDigits(v)
		if a.point {
			q.phase, q.frac = phaseWritten, a.frac
		}
		if a.fine {
			q.doubt |= doubtGroup
		}
		return q, true
	case !a.plain:
		return q, false
	case q.has(flagDigits) && q.isWhole():
		whole := q.thousands*1000 + int32(q.hundreds)*100 + int32(q.sub)
		if a.digits != 3 || !(whole < 1000 && whole > 0 || q.has(flagGrouped)) {
			return q, false
		}
		q.setDigits(min(whole, 999)*1000 + v)
		q.phase = phaseDone
		q.flags |= flagGrouped
		q.doubt |= doubtGrouped
		return q, true
	case q.phase == phasePoint:
		switch a.digits {
		case 1:
			q.phase, q.frac = phaseFrac1, uint8(v*10)
		case 2:
			q.phase, q.frac = phaseFracEnd, uint8(v)
		default:
			q.phase = phaseFracOver
			q.doubt |= doubtFine
		}
		q.flags |= flagDigits
		return q, true
	}
	return q.mixed(a)
}

// mixed reads digits where a word of the number is expected: "sto 64". Never accepted.
func (q number) mixed(a *atom) (number, bool) {
	v := a.value
	b := atom{class: classUnit, value: v, family: 0xff}
	switch {
	case v == 0:
		b.class = classZero
	case v >= 10 && v < 20:
		b.class = classTeen
	case v >= 20 && v < 100 && v%10 == 0:
		b.class = classTens
	}
	switch {
	case v < 20 || v < 100 && v%10 == 0:
		n, ok := q.advance(&b)
		if !ok {
			return q, false
		}
		q = n
	case v < 100 && q.opensBelowHundred():
		q.phase, q.sub = phaseDone, uint8(v)
	case v < 1000 && (q.phase == phaseThousand || q.phase == phaseThousandAnd):
		q.phase, q.hundreds, q.sub = phaseDone, int16(v/100), uint8(v%100)
		q.flags |= flagHundreds
	default:
		return q, false
	}
	q.doubt |= doubtMixed
	return q, true
}

// setDigits gives the machine the state that the same number in words would have.
func (q *number) setDigits(v int32) {
	v = min(v, 999999)
	q.thousands, q.hundreds, q.sub = v/1000, int16(v/100%10), uint8(v%100)
	q.flags &^= flagHundreds | flagThousands
	if q.thousands > 0 {
		q.flags |= flagThousands
	}
	if q.hundreds > 0 {
		q.flags |= flagHundreds
	}
	switch {
	case v == 0:
		q.phase = phaseZero
	case q.sub == 0 && q.hundreds == 0:
		q.phase = phaseThousand
	case q.sub == 0:
		q.phase = phaseHundred
	case v < 10:
		q.phase = phaseUnit
		q.flags |= flagOne
	case v < 20:
		q.phase = phaseTeen
	case v < 100 && v%10 == 0:
		q.phase = phaseTens
	default:
		q.phase = phaseDone
	}
}

// tightComma reads digits that follow a comma without a space as decimals.
func (q number) tightComma(a *atom, decimal bool) (number, bool) {
	if !q.has(flagDigits) || !q.isWhole() || q.has(flagGrouped) || !a.plain {
		return q, false
	}
	q.phase = phaseWritten
	switch {
	case a.digits == 1:
		q.frac = uint8(a.value * 10)
	case a.digits == 2:
		q.frac = uint8(a.value)
	default:
		q.doubt |= doubtGroup
	}
	if !decimal {
		q.doubt |= doubtComma
	}
	return q, true
}
