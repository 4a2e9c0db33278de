package pipeline

import (
	"context"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"blockworld-voice/evidence"
	"blockworld-voice/synth"
)

// run is one utterance on its way.
type run struct {
	s   *Session
	ctx context.Context
	u   *evidence.Utterance
	rec *Record
	err error // the first failure to write evidence

	audio *synth.Audio // of the reply
}

// ended is how a stage's body ends.
type ended struct {
	verdict evidence.Verdict
	reason  string
}

var done = ended{verdict: evidence.Done}

// step is a stage under way, as its body sees it.
type step struct {
	r      *run
	stage  evidence.Stage
	inputs []evidence.Ref
	refs   []evidence.Ref
}

// stage runs one stage: started mark, body, receipt. The body's artefacts are its outputs.
func (r *run) stage(s evidence.Stage, body func(*step) ended) {
	st := &step{r: r, stage: s}
	start, wall, cpu := r.s.elapsed(), time.Now(), cpuTime()
	if r.err == nil {
		m, err := r.u.BeginStage(s)
		if r.keep(err) {
			start, wall = m.StartNS, m.WallStart
		}
	}
	r.s.at(s, Started)
	e := body(st)
	receipt := evidence.Receipt{
		Schema: evidence.Schema, Stage: s, Verdict: e.verdict, Reason: short(plain(e.reason), maxReason),
		StartNS: start, EndNS: r.s.elapsed(), WallStart: wall, CPUNS: max(0, cpuTime()-cpu),
		Inputs: st.inputs, Outputs: st.refs,
	}
	r.s.at(s, Finished)
	if r.err == nil {
		onDisk := receipt
		onDisk.Outputs = nil // everything that was put, logs too
		r.keep(r.u.PutReceipt(onDisk))
	}
	r.rec.Trail = append(r.rec.Trail, receipt)
	r.s.at(s, Receipted)
}

// skip runs a stage that has nothing to do.
func (r *run) skip(s evidence.Stage, reason string) {
	r.stage(s, func(*step) ended { return ended{evidence.Skipped, reason} })
}

// keep remembers the first failure to write evidence and says whether err is nil.
func (r *run) keep(err error) bool {
	if err != nil && r.err == nil {
		r.err = err
	}
	return err == nil
}

// put writes an artefact. After a failure to write evidence it does nothing: the record in memory goes on.
func (st *step) put(name string, data []byte) (evidence.Ref, bool) {
	if st.r.err != nil {
		return evidence.Ref{}, false
	}
	f, err := st.r.u.Put(st.stage, name, data)
	return st.took(f, err)
}

func (st *step) putJSON(name string, v any) (evidence.Ref, bool) {
	if st.r.err != nil {
		return evidence.Ref{}, false
	}
	f, err := st.r.u.PutJSON(st.stage, name, v)
	return st.took(f, err)
}

func (st *step) took(f evidence.File, err error) (evidence.Ref, bool) {
	if !st.r.keep(err) {
		return evidence.Ref{}, false
	}
	st.refs = append(st.refs, f.Ref())
	return f.Ref(), true
}

// read names what the stage worked on.
func (st *step) read(refs ...evidence.Ref) {
	for _, ref := range refs {
		if ref.Name != "" {
			st.inputs = append(st.inputs, ref)
		}
	}
}

// maxReason is the longest reason of a receipt and the longest detail of a decision, in bytes.
const maxReason = 512

// short cuts a text to at most most bytes, between characters.
func short(s string, most int) string {
	if len(s) <= most {
		return s
	}
	cut := most - len("…")
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}

// plain makes a text of unknown origin fit for a JSON document.
func plain(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// cpuTime is the processor time of this process so far.
func cpuTime() int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
