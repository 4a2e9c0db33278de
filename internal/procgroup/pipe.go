package procgroup

import (
	"context"
	"errors"
	"io"
	"os"
)

// Child is a process, with its group, as its owner holds it. Stop returns nil only when it is proved that nothing of
// it lives. *Proc is one.
type Child interface {
	Stop() error
	Done() <-chan struct{}
}

// Starter starts a child and returns its standard input and output. The caller closes both.
type Starter func() (Child, io.WriteCloser, io.ReadCloser, error)

// Piped is a starter of a program. Stdin and Stdout of the spec are pipes of each start's own.
func Piped(spec Spec) Starter {
	return func() (Child, io.WriteCloser, io.ReadCloser, error) {
		inR, inW, err := os.Pipe()
		if err != nil {
			return nil, nil, nil, err
		}
		outR, outW, err := os.Pipe()
		if err != nil {
			return nil, nil, nil, errors.Join(err, inR.Close(), inW.Close())
		}
		s := spec
		s.Stdin, s.Stdout = inR, outW
		p, err := Start(context.Background(), s)
		err = errors.Join(err, inR.Close(), outW.Close())
		if err != nil {
			if p != nil {
				err = errors.Join(err, p.Stop())
			}
			return nil, nil, nil, errors.Join(err, inW.Close(), outR.Close())
		}
		return p, inW, outR, nil
	}
}
