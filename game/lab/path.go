package lab

import (
	"container/heap"
	"math"
)

// maxNodes bounds a search: the reach of a walk over open land.
const maxNodes = 60_000

type node struct {
	at   cell
	cost float64
	rank float64
	idx  int
}

type frontier []*node

func (f frontier) Len() int           { return len(f) }
func (f frontier) Less(i, j int) bool { return f[i].rank < f[j].rank }
func (f frontier) Swap(i, j int)      { f[i], f[j] = f[j], f[i]; f[i].idx, f[j].idx = i, j }
func (f *frontier) Push(x any)        { n := x.(*node); n.idx = len(*f); *f = append(*f, n) }
func (f *frontier) Pop() any {
	old := *f
	n := old[len(old)-1]
	*f = old[:len(old)-1]
	return n
}

// stands says whether a body can stand with its feet in c.
func (w *world) stands(c cell) bool {
	return !w.solid(c) && !w.solid(c.add(0, 1, 0)) && w.solid(c.add(0, -1, 0)) && c.y > MinY && c.y < MaxY
}

// path finds the cells to walk through from one standing place to a place from which
// target is within reach. Ties are broken by the order of the four directions, so that
// one world gives one path. It returns nil when there is none.
func (w *world) path(from cell, target vec, reach float64, inside func(cell) bool) []cell {
	type seen struct {
		cost float64
		prev cell
		done bool
	}
	arrived := func(c cell) bool { return c.standing().sub(target).len() <= reach }
	// Steps go along the axes. The guess is a little too high, which costs a step or two at most: over open land the
	// search then goes straight on, instead of through every way of the same length.
	guess := func(c cell) float64 {
		d := c.standing().sub(target)
		return 1.01 * (math.Abs(d.x) + math.Abs(d.z))
	}
	known := map[cell]*seen{from: {}}
	open := &frontier{}
	heap.Push(open, &node{at: from, rank: guess(from)})
	for open.Len() > 0 && len(known) < maxNodes {
		n := heap.Pop(open).(*node)
		k := known[n.at]
		if k.done {
			continue
		}
		k.done = true
		if arrived(n.at) {
			var out []cell
			for at := n.at; at != from; at = known[at].prev {
				out = append(out, at)
			}
			for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
				out[i], out[j] = out[j], out[i]
			}
			return out
		}
		for _, d := range [4]cell{{x: 1}, {x: -1}, {z: 1}, {z: -1}} {
			next, ok := w.walk(n.at, d)
			if !ok || !inside(next) {
				continue
			}
			cost := n.cost + 1 + 0.5*math.Abs(float64(next.y-n.at.y))
			if have, ok := known[next]; ok && have.cost <= cost {
				continue
			}
			known[next] = &seen{cost: cost, prev: n.at}
			heap.Push(open, &node{at: next, cost: cost, rank: cost + guess(next)})
		}
	}
	return nil
}

// walk gives the standing place one step on: level, one up with room to jump, or at most
// three down.
func (w *world) walk(from, d cell) (cell, bool) {
	to := from.add(d.x, 0, d.z)
	if w.stands(to) {
		return to, true
	}
	if up := to.add(0, 1, 0); w.stands(up) && !w.solid(from.add(0, 2, 0)) {
		return up, true
	}
	if w.solid(to) || w.solid(to.add(0, 1, 0)) {
		return cell{}, false
	}
	for n := 1; n <= 3; n++ {
		if down := to.add(0, -n, 0); w.stands(down) {
			return down, true
		}
	}
	return cell{}, false
}
