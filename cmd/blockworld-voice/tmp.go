package main

import (
	"errors"
	"io"

	"blockworld-voice/internal/lang"
)

func gbnf(w io.Writer, l []lang.Language) error { return errors.New("x") }
