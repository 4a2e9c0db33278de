package main

import (
	"errors"
	"io"

	"blockworld-voice/internal/lang"
)

func sample(w io.Writer, l []lang.Language, n int, seed uint64) error { return errors.New("x") }
func gbnf(w io.Writer, l []lang.Language) error                        { return errors.New("x") }
