package qualify

import (
	"context"

	"blockworld-voice/internal/digest"
	"blockworld-voice/transcribe"
)

// Hear measures one clip under one condition.
type Hear func(ctx context.Context, l Label, condition string) (digest.Digest, Figures, error)

// Plan is what a run measures.
type Plan struct {
	Labels     []Label
	Conditions []string
	Digests    map[string]digest.Digest // of the clips as they are now, by file
	Thresholds transcribe.Thresholds    // for the outcomes in the table
	Store      *Store                   // nil: nothing is written
	Progress   func(done, measured, total int)
}

// Run measures every clip under every condition, condition by condition. When ctx ends, or a clip fails, what was
// measured is in the store.
func (p Plan) Run(ctx context.Context, hear Hear) ([]Clip, error) {
	total := len(p.Labels) * len(p.Conditions)
	out := make([]Clip, 0, total)
	measured := 0
	for _, cond := range p.Conditions {
		for _, l := range p.Labels {
			if err := ctx.Err(); err != nil {
				return out, err
			}
			c := Clip{Label: l, Condition: cond}
			k, ok := KeptClip{}, false
			if p.Store != nil {
				k, ok = p.Store.kept[Place{l.File, cond}]
			}
			if ok && k.of(l, p.Digests[l.File]) {
				c.SHA256, c.Figures = k.SHA256, k.Figures
			} else {
				var err error
				if c.SHA256, c.Figures, err = hear(ctx, l, cond); err != nil {
					return out, err
				}
				measured++
				if p.Store != nil {
					if err := p.Store.Append(&c, p.Thresholds); err != nil {
						return out, err
					}
				}
			}
			out = append(out, c)
			if p.Progress != nil {
				p.Progress(len(out), measured, total)
			}
		}
	}
	return out, nil
}

// CorpusDigest names a corpus: its manifest and the clips that are used, in their order.
func CorpusDigest(manifest []byte, labels []Label, clips map[string]digest.Digest) digest.Digest {
	text := digest.Of(manifest).String() + "\n"
	for _, l := range labels {
		text += clips[l.File].String() + " " + l.File + "\n"
	}
	return digest.Of([]byte(text))
}
