package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"blockworld-voice/capture/gesture"
	"blockworld-voice/internal/pipeline"
	"blockworld-voice/internal/screen"
)

// screenFront is a session on a terminal's screen.
type screenFront struct {
	p       *program
	out     *printer
	program *tea.Program
	model   *screenModel
	ended   chan error
	lines   []string // that are printed when the screen is gone
	newest  chan shown
	held    bool
	colour  bool
}

// shown is what the model shows. Only the newest counts: a terminal that takes nothing more keeps nobody waiting.
type shown struct {
	view screen.View
	hold bool
}

// notes takes what is printed of tasks while there is a screen.
type notes struct{ t *talk }

func (n notes) Write(b []byte) (int, error) {
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line != "" {
			n.t.send(note(line))
		}
	}
	return len(b), nil
}

func newScreenFront(p *program, c *runCmd, t *talk) *screenFront {
	told := *p
	told.out, told.err = notes{t}, notes{t}
	f := &screenFront{p: p, out: newPrinter(&told, c), ended: make(chan error, 1), newest: make(chan shown, 1), colour: !c.NoColor && os.Getenv("NO_COLOR") == ""}
	f.model = &screenModel{t: t, key: t.set.key, colour: f.colour, want: t.set.mode != modeToggle}
	return f
}

func (f *screenFront) printer() *printer { return f.out }
func (f *screenFront) quiet() bool       { return false }

func (f *screenFront) start(t *talk) {
	f.program = tea.NewProgram(f.model, tea.WithInput(f.p.in), tea.WithOutput(f.p.out), tea.WithoutSignalHandler())
	go func() {
		_, err := f.program.Run()
		f.ended <- err
		t.halt(stopAsked{why: "the screen has ended"})
	}()
	go func() {
		for {
			select {
			case s := <-f.newest:
				f.program.Send(s)
			case <-t.over:
				return
			}
		}
	}()
}

// show is the loop's.
func (f *screenFront) show(v screen.View) {
	select {
	case <-f.newest:
	default:
	}
	f.newest <- shown{v, f.held}
}

func (f *screenFront) hold(h bool) { f.held = h }

func (f *screenFront) note(string) {} // it is in the view

// record keeps the utterance for the lines after the screen.
func (f *screenFront) record(r *pipeline.Record) error {
	f.lines = append(f.lines, (&printer{p: f.p}).block(r.Line()))
	return nil
}

// end takes the screen away and leaves in the terminal's history what was done.
func (f *screenFront) end(v screen.View) error {
	f.program.Quit()
	var err error
	select {
	case err = <-f.ended:
	case <-time.After(2 * time.Second):
		f.program.Kill()
	}
	for _, l := range f.lines {
		if _, e := io.WriteString(f.p.out, l); e != nil {
			return unread(0, e)
		}
	}
	fmt.Fprintln(f.p.out, oneLine(v.Bye))
	return err
}

// screenModel is what bubbletea runs. The loop owns the view: the model only shows it and passes keys on.
type screenModel struct {
	t      *talk
	key    gesture.Key
	view   screen.View
	width  int
	height int
	colour bool
	want   bool // a hold, where the terminal tells of releases
	hold   bool
	down   bool
}

func (m *screenModel) Init() tea.Cmd { return nil }

func (m *screenModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case shown:
		m.view, m.hold = msg.view, msg.hold
	case tea.KeyboardEnhancementsMsg:
		m.t.send(released{msg.SupportsEventTypes()})
	case tea.KeyPressMsg:
		m.press(msg)
	case tea.KeyReleaseMsg:
		if m.hold && msg.Key().Keystroke() == m.key.String() {
			m.down = false
			m.t.send(m.signal(gesture.Release))
		}
	case tea.BlurMsg:
		if m.down { // its release goes to another window
			m.down = false
			m.t.send(m.signal(gesture.Gone))
		}
	}
	return m, nil
}

func (m *screenModel) signal(k gesture.Kind) gesture.Signal {
	return gesture.Signal{Kind: k, Source: "terminal", At: time.Now()}
}

func (m *screenModel) press(msg tea.KeyPressMsg) {
	switch key := msg.Key().Keystroke(); {
	case key == m.key.String():
		if m.hold {
			m.down = true
			m.t.send(m.signal(gesture.Press))
		} else if !msg.Key().IsRepeat {
			m.t.send(m.signal(gesture.Toggle))
		}
	case key == "ctrl+c":
		m.t.halt(stopAsked{why: "ctrl-c", signal: true})
	case key == "s", key == "esc":
		m.t.halt(stopAsked{why: "the stop key"})
	case key == "q":
		m.t.halt(stopAsked{why: "the quit key"})
	case key == "y", key == "n":
		m.t.send(answered{key == "y"})
	}
}

func (m *screenModel) View() tea.View {
	w, h := m.width, m.height
	if w == 0 {
		w, h = 80, 24
	}
	v := tea.NewView(m.view.Screen(w, h, m.colour))
	v.AltScreen = true
	v.ReportFocus = m.hold
	v.KeyboardEnhancements.ReportEventTypes = m.want
	v.KeyboardEnhancements.ReportAllKeysAsEscapeCodes = m.want
	return v
}
