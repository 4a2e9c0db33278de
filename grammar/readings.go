package grammar

import "strings"

// cut is one number that begins at some item.
type cut struct {
	value Coord
	end   int32 // the item after it
	doubt doubt
	frac1 bool // it ends with one spoken decimal
}

// reading is a way to cut all items into numbers.
type reading struct {
	n      int
	cuts   [3]cut
	starts [3]int32
	doubt  doubt
}

// maxNumber is the largest number of items that one number can have with room to spare.
const maxNumber = 20

// findCuts finds every number at every place. Linear: a number has at most maxNumber items.
func (s *scanner) findCuts(decimalComma bool, families uint8) {
	s.cuts = s.cuts[:0]
	n := len(s.items)
	for i := range n {
		s.index[i] = int32(len(s.cuts))
		if s.items[i].join {
			continue
		}
		q := numberStart
		q.family = families
		for j := i; j < n && j < i+maxNumber; j++ {
			it := &s.items[j]
			if j > i && it.hard {
				break
			}
			ok := false
			if j > i && it.tight {
				q, ok = q.tightComma(&it.atom, decimalComma)
			} else {
				q, ok = q.step(&it.atom)
			}
			if !ok {
				break
			}
			if q.complete() && (j+1 == n || !s.items[j+1].join) {
				d := q.doubt
				if d&doubtGrouped != 0 && (i == 0 || s.items[i].hard) && (j+1 == n || s.items[j+1].hard) {
					d &^= doubtGrouped // separators on both sides settle it
				}
				s.cuts = append(s.cuts, cut{q.value(), int32(j + 1), d, q.phase == phaseFrac1})
			}
		}
	}
	s.index[n] = int32(len(s.cuts))
}

// link says that "and" stands at item i, which may be meant as a separator.
func (s *scanner) link(i int32) bool {
	c := s.items[i].atom.class
	return (c == classAnd || c == classA) && int(i)+1 < len(s.items) && !s.items[i].join && !s.items[i+1].join
}

// longest finds the longest-match reading: of all complete readings the one whose first number
// takes the most words, then the second, and so on. Numbers with one of the doubts are left out. It
// returns false when there is none.
func (s *scanner) longest(without doubt) (reading, bool) {
	n := int32(len(s.items))
	for i := n - 1; i >= 0; i-- {
		s.whole[i] = -1
		for c := s.index[i+1] - 1; c >= s.index[i]; c-- {
			cut := &s.cuts[c]
			if cut.doubt&without == 0 && s.reaches(cut.end) {
				s.whole[i] = c
				break
			}
		}
	}
	var r reading
	if s.whole[0] < 0 {
		return r, false
	}
	for at := int32(0); at < n; {
		if s.whole[at] < 0 {
			at++
			r.doubt |= doubtLinked
		}
		c := s.cuts[s.whole[at]]
		if r.n < len(r.cuts) {
			r.cuts[r.n], r.starts[r.n] = c, at
		}
		r.n++
		r.doubt |= c.doubt
		at = c.end
	}
	return r, true
}

// reaches says whether the items from i on can be cut into numbers.
func (s *scanner) reaches(i int32) bool {
	return int(i) == len(s.items) || s.whole[i] >= 0 || s.link(i) && s.whole[i+1] >= 0
}

// other finds a reading with exactly want numbers that is not known; what a speaker could have meant.
func (s *scanner) other(want int, known *reading) (reading, bool) {
	var r reading
	ok := s.search(&r, want, 0, 0, known)
	return r, ok
}

func (s *scanner) search(r *reading, want int, at int32, doubts doubt, known *reading) bool {
	n := int32(len(s.items))
	for c := s.index[at]; c < s.index[at+1]; c++ {
		cut := &s.cuts[c]
		d := doubts | cut.doubt
		if cut.doubt&doubtLoose != 0 && r.n > 0 && r.cuts[r.n-1].frac1 || d&doubtLoose != 0 && d&doubtLinked != 0 {
			continue // digits after a decimal belong to it; and nobody departs from the grammar in two ways at once
		}
		r.cuts[r.n], r.starts[r.n] = *cut, at
		if r.n+1 == want {
			if cut.end != n {
				continue
			}
			r.n++
			r.doubt = d
			if known == nil || d != known.doubt || !r.same(known) {
				return true
			}
			r.n--
			continue
		}
		if cut.end == n {
			continue
		}
		r.n++
		if s.search(r, want, cut.end, d, known) || s.link(cut.end) && s.search(r, want, cut.end+1, d|doubtLinked, known) {
			return true
		}
		r.n--
	}
	return false
}

func (r *reading) same(o *reading) bool {
	if r.n != o.n {
		return false
	}
	for i := range r.n {
		if r.cuts[i].value != o.cuts[i].value {
			return false
		}
	}
	return true
}

// describe writes a reading for a refusal; a number that the grammar doesn't have stands in its own words.
func (s *scanner) describe(r *reading) string {
	var b strings.Builder
	for i := range min(r.n, len(r.cuts)) {
		if i > 0 {
			b.WriteString(" | ")
		}
		c := r.cuts[i]
		if c.doubt&(doubtFine|doubtGroup|doubtScaled) != 0 {
			b.WriteString("«" + s.text[s.items[r.starts[i]].start:s.items[c.end-1].end] + "»")
			continue
		}
		b.WriteString(c.value.String())
	}
	if r.n > len(r.cuts) {
		b.WriteString(" | …")
	}
	return b.String()
}

// numbers reads the tokens from k on as want numbers in words of the families: after "pozri na" no
// word is English, for "ten" is Slovak and Czech for "that".
func (s *scanner) numbers(k, want int, decimalComma bool, families uint8) ([3]Coord, *Refusal) {
	var out [3]Coord
	if r := s.collect(k); r != nil {
		return out, r
	}
	n := len(s.items)
	if n == 0 {
		last := s.tokens[len(s.tokens)-1]
		return out, s.refuse(MissingCoordinate, s.tokens[0].start, last.end, "no coordinates")
	}
	first, end := s.items[0].start, s.items[n-1].end
	if s.isList(want) && !s.uneven() {
		for i := range n {
			q, _ := numberStart.step(&s.items[i].atom)
			out[i] = q.value()
			if r := s.inRange(out[i], &s.items[i], &s.items[i]); r != nil {
				return out, r
			}
		}
		return out, nil
	}
	if s.uneven() {
		r := s.refuse(Ambiguous, first, end, "a separator between some of the numbers only: decimals or not?")
		r.Readings = s.unevenReadings()
		return out, r
	}
	s.findCuts(decimalComma, families)
	best, ok := s.longest(doubtLoose)
	if !ok {
		return out, s.refuse(BadNumber, first, end, "the words make no numbers")
	}
	if best.n != want {
		if alt, found := s.other(want, nil); found {
			r := s.refuse(Ambiguous, first, end, "the words can be cut into numbers in more than one way")
			r.Readings = []string{s.describe(&best), s.describe(&alt)}
			return out, r
		}
		if best.n < want {
			return out, s.refuse(MissingCoordinate, first, end, "fewer numbers than coordinates: "+s.describe(&best))
		}
		return out, s.refuse(ExtraCoordinate, first, end, "more numbers than coordinates: "+s.describe(&best))
	}
	if alt, found := s.other(want, &best); found {
		r := s.refuse(Ambiguous, first, end, "the words can be cut into numbers in more than one way")
		r.Readings = []string{s.describe(&best), s.describe(&alt)}
		return out, r
	}
	if best.doubt != 0 {
		r := s.doubtful(&best)
		if alt, found := s.longest(^doubt(0)); found && r.Reason == Ambiguous {
			r.Readings = []string{s.describe(&best), s.describe(&alt)}
		}
		return out, r
	}
	for i := range want {
		out[i] = best.cuts[i].value
		if r := s.inRange(out[i], &s.items[best.starts[i]], &s.items[best.cuts[i].end-1]); r != nil {
			return out, r
		}
	}
	return out, nil
}

// isList: as many written numbers as are wanted stand next to each other, and nothing else. This
// is how canonical forms write coordinates, so "1 543 7" is three numbers; whoever means 1543 and
// leaves one out is refused nothing. Tight commas count unless a group of three digits follows one.
func (s *scanner) isList(want int) bool {
	if len(s.items) != want {
		return false
	}
	tight := 0
	for i := range s.items {
		it := &s.items[i]
		if it.atom.class != classDigits || it.atom.fine || it.join {
			return false
		}
		if it.tight {
			if it.atom.plain && it.atom.digits == 3 {
				return false
			}
			tight++
		}
	}
	return tight == 0 || tight == want-1
}

// uneven: of three written numbers two stand with a separator and a space between them, two with a
// space alone. "10. 5 64" may be 10.5 and 64.
func (s *scanner) uneven() bool {
	if len(s.items) != 3 {
		return false
	}
	for i := range s.items {
		if s.items[i].atom.class != classDigits {
			return false
		}
	}
	return s.items[1].hard != s.items[2].hard && !s.items[1].tight && !s.items[2].tight
}

// unevenReadings writes the three numbers, and the two with a decimal point for the separator.
func (s *scanner) unevenReadings() []string {
	plain, decimal := "", ""
	for i := range s.items {
		it := &s.items[i]
		q, _ := numberStart.step(&it.atom)
		switch v := q.value().String(); {
		case i == 0:
			plain, decimal = v, v
		case it.hard:
			plain, decimal = plain+" | "+v, decimal+"."+v
		default:
			plain, decimal = plain+" | "+v, decimal+" | "+v
		}
	}
	return []string{decimal, plain}
}

// doubtful refuses the only reading, which is none that the grammar accepts.
func (s *scanner) doubtful(r *reading) *Refusal {
	start, end := s.items[r.starts[0]].start, s.items[r.cuts[r.n-1].end-1].end
	for i := range r.n {
		if r.cuts[i].doubt != 0 {
			start, end = s.items[r.starts[i]].start, s.items[r.cuts[i].end-1].end
			break
		}
	}
	switch {
	case r.doubt&(doubtGroup|doubtGrouped) != 0:
		return s.refuse(Ambiguous, start, end, "thousands, decimals or two numbers?")
	case r.doubt&doubtComma != 0:
		return s.refuse(Ambiguous, start, end, "a decimal comma or two numbers?")
	case r.doubt&doubtLinked != 0:
		return s.refuse(NotAWholeCommand, start, end, "“and” between numbers")
	case r.doubt&doubtFine != 0:
		return s.refuse(BadNumber, start, end, "more than two decimals")
	case r.doubt&doubtBare != 0:
		return s.refuse(BadNumber, start, end, "“oh” or “point” with no digit before it")
	case r.doubt&doubtScaled != 0:
		return s.refuse(BadNumber, start, end, "decimals before hundred or thousand")
	}
	return s.refuse(BadNumber, start, end, "digits and words in one number, or words of another language")
}

func (s *scanner) inRange(c Coord, from, to *item) *Refusal {
	if c < MinCoord || c > MaxCoord {
		return s.refuse(NumberRange, from.start, to.end, "outside −30 000 … 30 000")
	}
	return nil
}
