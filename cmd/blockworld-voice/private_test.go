package main

import (
	"bufio"
	"fmt"
	"net"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"blockworld-voice/internal/sockpath"
)

// heard asks a control socket one line and wants a text in the raw reply: heard SOCKET LINE TEXT
func heard(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: heard SOCKET LINE TEXT")
	}
	path, release, err := sockpath.Short(ts.MkAbs(args[0]))
	ts.Check(err)
	defer release()
	c, err := net.Dial("unix", path)
	ts.Check(err)
	defer c.Close()
	_, err = fmt.Fprintln(c, args[1])
	ts.Check(err)
	reply, err := bufio.NewReader(c).ReadString('\n')
	ts.Check(err)
	if !strings.Contains(reply, args[2]) {
		ts.Fatalf("the reply doesn't hold %s: %s", args[2], reply)
	}
}
