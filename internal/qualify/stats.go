package qualify

import (
	"fmt"
	"math"
	"slices"
)

// Rate is a share with its 95 % Wilson interval.
type Rate struct {
	K    int     `json:"k"`
	N    int     `json:"n"`
	P    float64 `json:"p"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// z is the normal quantile of a two-sided 95 % interval.
const z = 1.959963984540054

// RateOf returns k of n. Of nothing, nothing is known: the interval is all of 0 … 1.
func RateOf(k, n int) Rate {
	if n == 0 {
		return Rate{High: 1}
	}
	p, m := float64(k)/float64(n), float64(n)
	mid := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	r := Rate{K: k, N: n, P: p, Low: max(0, mid-half), High: min(1, mid+half)}
	if k == 0 {
		r.Low = 0
	}
	if k == n {
		r.High = 1
	}
	return r
}

// String is for people: 3/96 3.1 % [1.1, 8.8].
func (r Rate) String() string {
	if r.N == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d %.1f %% [%.1f, %.1f]", r.K, r.N, 100*r.P, 100*r.Low, 100*r.High)
}

// Quantile is the nearest-rank quantile of values, 0 of none.
func Quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return s[max(0, min(len(s)-1, int(math.Ceil(q*float64(len(s))))-1))]
}

// pair is one step of an alignment: "" stands for nothing.
type pair struct{ said, heard string }

// align pairs two rows of words with the fewest substitutions, losses and additions.
func align(said, heard []string) []pair {
	n, m := len(said), len(heard)
	cost := make([][]int, n+1)
	for i := range cost {
		cost[i] = make([]int, m+1)
		for j := range cost[i] {
			switch {
			case i == 0:
				cost[i][j] = j
			case j == 0:
				cost[i][j] = i
			default:
				sub := cost[i-1][j-1]
				if said[i-1] != heard[j-1] {
					sub++
				}
				cost[i][j] = min(sub, cost[i-1][j]+1, cost[i][j-1]+1)
			}
		}
	}
	var out []pair
	for i, j := n, m; i > 0 || j > 0; {
		switch {
		case i > 0 && j > 0 && said[i-1] == heard[j-1] && cost[i][j] == cost[i-1][j-1],
			i > 0 && j > 0 && said[i-1] != heard[j-1] && cost[i][j] == cost[i-1][j-1]+1:
			i, j = i-1, j-1
			out = append(out, pair{said[i], heard[j]})
		case i > 0 && cost[i][j] == cost[i-1][j]+1:
			i--
			out = append(out, pair{said[i], ""})
		default:
			j--
			out = append(out, pair{"", heard[j]})
		}
	}
	slices.Reverse(out)
	return out
}
