package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"blockworld-voice/internal/atomicfile"
	"blockworld-voice/internal/augment"
	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/qualify"
	"blockworld-voice/internal/strictjson"
	"blockworld-voice/models"
	"blockworld-voice/transcribe"
)

type qualifyCmd struct {
	Manifest string `arg:"" help:"A table of clips and of what each means: docs/qualify.md."`

	Model      string   `placeholder:"NAME|FILE" default:"base" help:"Speech model."`
	Language   string   `enum:"asked,auto,sk,cs,en" default:"asked" placeholder:"asked|auto|sk|cs|en" help:"What is listened for; asked is the clip's own language."`
	Box        string   `default:"-1024,-64,-1024,1024,319,1024" placeholder:"X,Y,Z,X,Y,Z" help:"The least and the greatest coordinates that may be said."`
	Threads    int      `default:"2" placeholder:"N" help:"Processor threads for the recogniser."`
	Augment    []string `placeholder:"CONDITION,..." help:"Conditions that each clip is made worse by (default: clean)."`
	Seed       uint64   `default:"1" placeholder:"N" help:"Of the conditions."`
	Only       string   `placeholder:"TEXT" help:"Only clips with the text in their file name."`
	Limit      int      `placeholder:"N" help:"Only the first N clips."`
	Thresholds string   `placeholder:"FILE" help:"Fitted thresholds (default: those of the program)."`
	Output     string   `placeholder:"DIR" help:"Folder for report.json, report.html and clips.tsv."`
	Resume     bool     `help:"Go on with the run in the output folder: clips measured with the same settings are kept."`
	Against    string   `placeholder:"FILE" help:"Compare with the report.json of an earlier run."`
	Fit        bool     `help:"Fit thresholds on this run and write thresholds.json to the output folder."`
	MaxWrong   *float64 `placeholder:"P" help:"Exit status 1 if more than P per cent are accepted wrong; also the fit's target (1)."`
	MaxFalse   *float64 `placeholder:"P" help:"Exit status 1 if more than P per cent of other speech is accepted; also the fit's target (0.5)."`
	MinRight   *float64 `placeholder:"P" help:"Exit status 1 if less than P per cent are accepted right."`
}

// corpus is what a run is about to measure.
type corpus struct {
	dir        string
	manifest   qualify.Manifest
	clips      map[string]digest.Digest
	digest     digest.Digest
	conditions []augment.Condition
}

func (c *qualifyCmd) Run(p *program) error {
	co, err := c.corpus(p.ctx)
	if err != nil {
		return err
	}
	store, err := modelStore()
	if err != nil {
		return err
	}
	m, err := store.Resolve(c.Model)
	if err != nil {
		return err
	}
	limits, err := c.thresholds(p, m)
	if err != nil {
		return err
	}
	var earlier *qualify.Report
	if c.Against != "" {
		if earlier, err = readReport(c.Against); err != nil {
			return err
		}
	}
	made, err := c.made(co, m)
	if err != nil {
		return err
	}
	clips, out, err := c.measure(p, co, m, &made, limits)
	if err != nil {
		return err
	}
	return c.report(p, out, qualify.Make(made, clips, limits), clips, earlier)
}

// corpus reads the manifest and the digest of every clip that is asked for.
func (c *qualifyCmd) corpus(ctx context.Context) (*corpus, error) {
	data, err := readFile(c.Manifest, qualify.MaxManifest)
	if err != nil {
		return nil, &problem{status: statusUsage, what: "the manifest can't be read", next: "name a table of clips: docs/qualify.md", err: err}
	}
	co := &corpus{dir: filepath.Dir(c.Manifest), clips: map[string]digest.Digest{}}
	if co.manifest, err = qualify.ReadManifest(data); err != nil {
		p := &problem{status: statusUsage, what: "manifest " + c.Manifest, next: "docs/qualify.md has an example", err: err}
		var bad *qualify.ManifestError
		if errors.As(err, &bad) {
			p.next = bad.Hint()
		}
		return nil, p
	}
	if c.Limit < 0 {
		return nil, usage("give --limit a number of clips", "%d clips can't be measured", c.Limit)
	}
	var labels []qualify.Label
	for _, l := range co.manifest.Labels {
		if strings.Contains(l.File, c.Only) && (c.Limit == 0 || len(labels) < c.Limit) {
			labels = append(labels, l)
		}
	}
	if len(labels) == 0 {
		return nil, usage("give --only a part of a file name of the manifest", "no clip has %q in its name", c.Only)
	}
	co.manifest.Labels = labels
	for _, l := range labels {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sum, _, err := digest.File(filepath.Join(co.dir, filepath.FromSlash(l.File)))
		if err != nil {
			return nil, &problem{status: statusUsage, what: "a clip of the manifest can't be read", next: "put the file there, or take its row out of " + c.Manifest, err: err}
		}
		co.clips[l.File] = sum
	}
	co.digest = qualify.CorpusDigest(data, labels, co.clips)
	names := c.Augment
	if len(names) == 0 {
		names = []string{"clean"}
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, usage("name each condition once", "--augment names %s twice", name)
		}
		cond, err := augment.Named(name)
		if err != nil {
			return nil, usage("choose among them for --augment", "%v", err)
		}
		co.conditions = append(co.conditions, cond)
	}
	return co, nil
}

// thresholds are the program's own, or those of a file. Those of another model are used, and it is said.
func (c *qualifyCmd) thresholds(p *program, m models.Model) (transcribe.Thresholds, error) {
	if c.Thresholds == "" {
		t, fitted, err := thresholdsFor(m.SHA256)
		if err == nil && !fitted {
			p.note(settings{}, "no thresholds were fitted for this model: outcomes are by the conservative ones")
		}
		return t, err
	}
	data, err := readFile(c.Thresholds, strictjson.MaxSize)
	if err == nil {
		var f qualify.ThresholdsFile
		if f, err = qualify.ReadThresholds(data); err == nil {
			if f.ModelSHA != m.SHA256 {
				p.note(settings{}, fmt.Sprintf("the thresholds were fitted for the model %s (%s), not for these weights", f.Model, f.ModelSHA.Short()))
			}
			return f.Thresholds(), nil
		}
	}
	return transcribe.Thresholds{}, &problem{status: statusUsage, what: "thresholds " + c.Thresholds, next: "make a table with: blockworld-voice qualify MANIFEST --fit --output DIR", err: err}
}

// made says what the report is made of. The program's own digest stands for its grammar, search and library.
func (c *qualifyCmd) made(co *corpus, m models.Model) (qualify.Made, error) {
	switch {
	case c.Threads < 1 || c.Threads > 64:
		return qualify.Made{}, usage("give --threads between 1 and 64", "%d threads can't be used", c.Threads)
	case c.Output == "" && (c.Fit || c.Resume):
		return qualify.Made{}, usage("give --output DIR", "--fit and --resume need an output folder")
	}
	for name, v := range map[string]*float64{"max-wrong": c.MaxWrong, "max-false": c.MaxFalse, "min-right": c.MinRight} {
		if v != nil && (math.IsNaN(*v) || *v < 0 || *v > 100) {
			return qualify.Made{}, usage("give per cent, between 0 and 100", "--%s can't be %g", name, *v)
		}
	}
	exe, err := os.Executable()
	if err != nil {
		return qualify.Made{}, err
	}
	program, _, err := digest.File(exe)
	if err != nil {
		return qualify.Made{}, err
	}
	made := qualify.Made{
		Command: append([]string{"blockworld-voice"}, os.Args[1:]...), Program: program, Manifest: filepath.Base(c.Manifest),
		Corpus: co.digest, Model: m.Name, ModelSHA: m.SHA256, Threads: c.Threads, Tempos: transcribe.DefaultTempos(),
		Language: c.Language, Box: c.Box, Seed: c.Seed, LeftOut: co.manifest.LeftOut,
	}
	for _, cond := range co.conditions {
		made.Conditions = append(made.Conditions, cond.Name)
	}
	made.Settings = digest.Of(fmt.Appendf(nil, "%s\n%s\n%d\n%v\n%s\n%s\n%d\n", program, m.SHA256, c.Threads, made.Tempos, c.Language, c.Box, c.Seed))
	return made, nil
}

// report writes, prints, compares and checks.
func (c *qualifyCmd) report(p *program, out *qualify.Store, r *qualify.Report, clips []qualify.Clip, earlier *qualify.Report) error {
	if c.Fit {
		var err error
		if r.Fit, err = qualify.FitThresholds(clips, r.Thresholds, c.target()); err != nil {
			return &problem{status: statusFailed, what: "no thresholds can be fitted", next: "measure clips of whole commands and of other speech", err: err}
		}
	}
	if out != nil {
		if err := c.write(out, r, clips); err != nil {
			return &problem{status: statusUnwritten, what: "the report could not be written", next: "make room, then go on with --resume", err: err}
		}
	}
	if err := r.WriteText(p.out); err != nil {
		return err
	}
	if earlier != nil {
		if err := r.Against(earlier).WriteText(p.out); err != nil {
			return err
		}
	}
	if out != nil {
		fmt.Fprintf(p.out, "\nreport  %s\n", filepath.Join(c.Output, "report.html"))
	}
	if bad := r.Check(qualify.Limits{MaxWrong: c.MaxWrong, MaxFalse: c.MaxFalse, MinRight: c.MinRight}); len(bad) > 0 {
		return &problem{status: statusFailed, what: "the limits are not met: " + strings.Join(bad, "; "), next: "see the clips in the table of --output"}
	}
	return nil
}

func (c *qualifyCmd) target() qualify.Target {
	t := qualify.Target{Wrong: 0.01, False: 0.005}
	if c.MaxWrong != nil {
		t.Wrong = *c.MaxWrong / 100
	}
	if c.MaxFalse != nil {
		t.False = *c.MaxFalse / 100
	}
	return t
}

func (c *qualifyCmd) write(out *qualify.Store, r *qualify.Report, clips []qualify.Clip) error {
	if err := out.Finish(clips, r.Thresholds); err != nil {
		return err
	}
	doc, err := strictjson.Marshal(r)
	if err != nil {
		return err
	}
	page, err := r.HTML()
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(c.Output, "report.json"), doc); err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(c.Output, "report.html"), page); err != nil {
		return err
	}
	if r.Fit == nil {
		return nil
	}
	table, err := strictjson.Marshal(r.Fit.File(r.Made))
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(c.Output, "thresholds.json"), table)
}

func readReport(path string) (*qualify.Report, error) {
	data, err := readFile(path, qualify.MaxReport)
	var r *qualify.Report
	if err == nil {
		r, err = qualify.ReadReport(data)
	}
	if err != nil {
		return nil, &problem{status: statusUsage, what: "the earlier report can't be used", next: "name the report.json of a run", err: err}
	}
	return r, nil
}
