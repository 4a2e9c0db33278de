package grammar

import "testing"

// The characters that the Unicode consortium lists as confusable with a slash or a
// backslash, and the combining strokes.
func TestConfusableSlashesRefuse(t *testing.T) {
	for _, r := range []rune{
		'/', 0x1735, 0x2041, 0x2044, 0x2215, 0x2571, 0x27CB, 0x29F8, 0x1D23A, 0x31D3, 0x3033, 0x2CC6, 0x30CE, 0x4E3F, 0x2F03,
		'\\', 0xFF3C, 0xFE68, 0x2216, 0x27CD, 0x29F5, 0x29F9, 0x1D20F, 0x1D23B, 0x31D4, 0x20E5,
	} {
		if d, ok := Parse("say " + string(r) + "op").(Refusal); !ok || d.Reason != BadText {
			t.Errorf("%U: %v", r, d)
		}
	}
}
