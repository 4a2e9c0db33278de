package pipeline

import (
	"blockworld-voice/grammar"
	"blockworld-voice/internal/lang"
)

func spellTMP(c grammar.Coord, l lang.Language) (string, bool) { return "", false }
