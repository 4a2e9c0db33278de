package grammar

import (
	"strconv"
	"strings"
)

// Coord is a coordinate in hundredths of a block.
type Coord int32

// The range of a coordinate that can be said: −30 000 … 30 000 blocks.
const (
	MinCoord Coord = -30000 * 100
	MaxCoord Coord = 30000 * 100
)

// Blocks returns a whole number of blocks.
func Blocks(n int) Coord { return Coord(n * 100) }

// String writes the fewest digits: "10", "-0.5", "7.25"; minus zero is "0".
func (c Coord) String() string {
	n := int64(c)
	var b [16]byte
	out := b[:0]
	if n < 0 {
		out = append(out, '-')
		n = -n
	}
	out = strconv.AppendInt(out, n/100, 10)
	if f := n % 100; f != 0 {
		out = append(out, '.', byte('0'+f/10))
		if f%10 != 0 {
			out = append(out, byte('0'+f%10))
		}
	}
	return string(out)
}

// Float returns the coordinate in blocks.
func (c Coord) Float() float64 { return float64(c) / 100 }

func triple(x, y, z Coord) string {
	return strings.Join([]string{x.String(), y.String(), z.String()}, " ")
}
