package game

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// GameHome is the game's own rule for its folder: HORIZON_HOME, else "horizon" in the
// data folder. It is "" where there is none.
func GameHome() string {
	if h := os.Getenv("HORIZON_HOME"); h != "" {
		return h
	}
	if d := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "horizon")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".local", "share", "horizon")
}

// noAI says whether the home's extras forbid every program to drive the game. Extras
// that are there and can't be read may say so: then it is forbidden.
func noAI(home string) bool {
	if home == "" {
		return false
	}
	b, err := os.ReadFile(filepath.Join(home, "horizon-extras.txt"))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	for l := range strings.Lines(string(b)) {
		if strings.TrimSpace(l) == "noAi:true" {
			return true
		}
	}
	return false
}
