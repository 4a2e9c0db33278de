package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/strictjson"
	"blockworld-voice/models"
)

type modelsCmd struct {
	List   modelsList   `cmd:"" help:"The models of the store, with --all the catalogue too."`
	Pull   modelsPull   `cmd:"" help:"Download a model of the catalogue; resumes, and checks the digest."`
	Add    modelsAdd    `cmd:"" help:"Copy a ggml file into the store."`
	Import modelsImport `cmd:"" help:"Convert a folder of Whisper weights (CTranslate2 or safetensors)."`
	Verify modelsVerify `cmd:"" help:"Read every byte of the stored models."`
	Rm     modelsRm     `cmd:"" help:"Remove a model from the store."`
}

func modelStore() (*models.Store, error) {
	dir, err := models.DefaultDir()
	if err != nil {
		return nil, err
	}
	return models.Open(dir)
}

// wanted reads a digest that the user gave, zero for none.
func wanted(s string) (digest.Digest, error) {
	if s == "" {
		return digest.Digest{}, nil
	}
	d, err := digest.Parse(s)
	if err != nil {
		return d, usage("give the 64 hexadecimal digits", "--sha256: %v", err)
	}
	return d, nil
}

type modelsList struct {
	All  bool `help:"The catalogue too."`
	JSON bool `name:"json" help:"One object a line."`
}

// modelLine is one line of models list --json.
type modelLine struct {
	Schema    int           `json:"schema"`
	Name      string        `json:"name"`
	Installed bool          `json:"installed"`
	Path      string        `json:"path,omitzero"`
	Size      int64         `json:"size,omitzero"`
	SHA256    digest.Digest `json:"sha256,omitzero"`
	Origin    string        `json:"origin"`
	Trust     string        `json:"trust,omitzero"`
	Licence   string        `json:"licence,omitzero"`
	Note      string        `json:"note,omitzero"`
}

func (c *modelsList) Run(p *program) error {
	s, err := modelStore()
	if err != nil {
		return err
	}
	all, err := s.List()
	if err != nil {
		return err
	}
	var lines []modelLine
	have := map[string]bool{}
	for _, m := range all {
		have[m.Name] = true
		e, _ := models.Lookup(m.Name)
		lines = append(lines, modelLine{1, m.Name, true, m.Path, m.Size, m.SHA256, m.Origin, m.Trust.String(), e.Licence, e.Note})
	}
	if c.All {
		for _, e := range models.Catalogue() {
			if !have[e.Name] {
				lines = append(lines, modelLine{1, e.Name, false, "", e.Size, e.SHA256, e.Origin, "", e.Licence, e.Note})
			}
		}
	}
	if c.JSON {
		for _, l := range lines {
			b, err := strictjson.Line(l)
			if err != nil {
				return err
			}
			fmt.Fprintf(p.out, "%s\n", b)
		}
		return nil
	}
	if len(lines) == 0 {
		fmt.Fprintf(p.out, "no model is installed in %s\n", s.Dir())
		return nil
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, l := range lines {
		state, sum := "installed", l.SHA256.Short()
		if !l.Installed {
			state = "-"
		}
		if l.SHA256.IsZero() {
			sum = "digest not known"
		}
		size := ""
		if l.Size > 0 {
			size = fmt.Sprintf("%d MB", megabytes(l.Size))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", l.Name, state, size, sum, l.Note)
	}
	return w.Flush()
}

type modelsPull struct {
	Name          string `arg:"" help:"Its name in the catalogue."`
	URL           string `name:"url" placeholder:"URL" help:"Another https address."`
	SHA256        string `name:"sha256" placeholder:"DIGEST" help:"The digest that it must have."`
	TrustFirstUse bool   `help:"Without a known digest: record the one that comes."`
}

func (c *modelsPull) Run(p *program) error {
	s, err := modelStore()
	if err != nil {
		return err
	}
	want, err := wanted(c.SHA256)
	if err != nil {
		return err
	}
	bar := p.progress("pull " + c.Name)
	m, err := s.Pull(p.ctx, models.PullRequest{Name: c.Name, URL: c.URL, Want: want, TrustFirstUse: c.TrustFirstUse, Progress: bar.bytes})
	bar.end()
	return p.have(m, err)
}

type modelsAdd struct {
	File   string `arg:"" help:"A ggml file of Whisper weights."`
	Name   string `placeholder:"NAME" help:"The name in the store."`
	SHA256 string `name:"sha256" placeholder:"DIGEST" help:"The digest that it must have."`
}

func (c *modelsAdd) Run(p *program) error {
	return p.store("add", c.File, c.Name, c.SHA256, (*models.Store).Add)
}

type modelsImport struct {
	Dir    string `arg:"" name:"folder" help:"A CTranslate2 or safetensors release of Whisper weights."`
	Name   string `placeholder:"NAME" help:"The name in the store."`
	SHA256 string `name:"sha256" placeholder:"DIGEST" help:"The digest that the result must have."`
}

func (c *modelsImport) Run(p *program) error {
	return p.store("import", c.Dir, c.Name, c.SHA256, (*models.Store).Import)
}

// store puts what lies at path into the model store, in the way of add.
func (p *program) store(what, path, name, sha256 string,
	add func(*models.Store, context.Context, string, string, digest.Digest, models.Progress) (models.Model, error),
) error {
	s, err := modelStore()
	if err != nil {
		return err
	}
	want, err := wanted(sha256)
	if err != nil {
		return err
	}
	bar := p.progress(what + " " + path)
	m, err := add(s, p.ctx, path, name, want, bar.bytes)
	bar.end()
	return p.have(m, err)
}

// have tells the result of a command that stores a model.
func (p *program) have(m models.Model, err error) error {
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "%s  %d MB  sha256 %s\n", m.Name, megabytes(m.Size), m.SHA256)
	return err
}

func megabytes(n int64) int64 { return (n + 500_000) / 1_000_000 }

type modelsVerify struct {
	Names []string `arg:"" optional:"" name:"name" help:"Models of the store; all when none is named."`
}

func (c *modelsVerify) Run(p *program) error {
	s, err := modelStore()
	if err != nil {
		return err
	}
	bar := p.progress("verify")
	checked, err := s.Verify(p.ctx, bar.bytes, c.Names...)
	bar.end()
	if err != nil {
		return err
	}
	bad := ""
	for _, v := range checked {
		fmt.Fprintf(p.out, "%s  %s  %s\n", v.Model.Name, v.State, v.Detail)
		if v.State != models.Sound {
			bad = v.Model.Name
		}
	}
	if bad != "" {
		return &problem{status: statusFailed, what: "the model " + bad + " is not what was stored", next: "blockworld-voice models rm " + bad + ", then get it again"}
	}
	return nil
}

type modelsRm struct {
	Name string `arg:"" help:"Its name in the store."`
}

func (c *modelsRm) Run(p *program) error {
	s, err := modelStore()
	if err != nil {
		return err
	}
	return s.Remove(c.Name)
}
