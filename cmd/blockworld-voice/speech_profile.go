package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"blockworld-voice/internal/lang"
	"blockworld-voice/internal/strictjson"
)

// Bounds of a speech profile.
const (
	maxLimit   = 100
	maxSeconds = 120 // of a take
	maxTailMS  = 2000
	maxSetting = 1024 // bytes of a name or a path
)

var voiceName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_+/.-]{0,63}$`)

// check looks at every value of a profile that was read from data. A key that is there says something: an empty text
// or a zero is not taken for a missing one.
func (d speechProfile) check(data []byte) error {
	var err error
	want := func(path string, good bool, text string) {
		if line, there := strictjson.Find(data, path); err == nil && there && !good {
			err = &strictjson.Error{Path: path, Line: line, Err: errors.New(text)}
		}
	}
	text := func(path, s string) {
		want(path, s != "" && len(s) <= maxSetting && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl),
			"it must be a text without control characters, and not empty")
	}
	if !filepath.IsAbs(d.Workspace) || filepath.Clean(d.Workspace) != d.Workspace {
		return &strictjson.Error{Path: "/workspace", Line: 1, Err: errors.New("it must be an absolute path without . or ..")}
	}
	text("/workspace", d.Workspace)
	text("/model", d.Model)
	seen := map[lang.Language]bool{lang.None: true}
	for i, l := range d.Languages {
		want(fmt.Sprintf("/languages/%d", i), !seen[l], "sk, cs and en, each once")
		seen[l] = true
	}
	want("/languages", len(d.Languages) > 0, "it must name at least one of sk, cs and en")
	want("/reply_language", d.ReplyLanguage != lang.None, "it must be sk, cs or en")
	for class, l := range d.Recognition.limits() {
		for name, x := range l.Named() {
			want(fmt.Sprintf("/recognition/%s/%s", class, name), x >= -maxLimit && x <= maxLimit, fmt.Sprintf("it must lie between -%d and %d", maxLimit, maxLimit))
		}
	}
	if r := d.Recorder; r != nil {
		text("/recorder/device", r.Device)
		want("/recorder/max_seconds", r.MaxSeconds >= 1 && r.MaxSeconds <= maxSeconds, fmt.Sprintf("it must lie between 1 and %d", maxSeconds))
		want("/recorder/tail_ms", r.TailMS >= 0 && r.TailMS <= maxTailMS, fmt.Sprintf("it must lie between 0 and %d", maxTailMS))
	}
	if v := d.Voices; v != nil {
		for l, name := range map[lang.Language]string{lang.SK: v.SK, lang.CS: v.CS, lang.EN: v.EN} {
			want("/voices/"+l.String(), voiceName.MatchString(name), "it must be the name of a voice: letters, digits and + - _ / .")
		}
	}
	return err
}
