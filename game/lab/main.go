package lab

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"blockworld-voice/internal/atomicfile"
	"blockworld-voice/internal/checkout"
	"blockworld-voice/internal/procgroup"
	"blockworld-voice/internal/strictjson"
)

// Exit statuses of Main, as in the program's own list.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitDenied      = 4
	exitUnreachable = 7
)

type flags struct {
	socket, workspace, tokenFile, home, journal, lines, name, world, serve, join, private string
	tcp, planks, chunks                                                                   int
	seed                                                                                  uint64
	hills, creative, stay, quiet                                                          bool
	speed                                                                                 float64
	faults                                                                                []Fault
	roots                                                                                 []string
	late                                                                                  time.Duration
}

func parseFlags(args []string, stderr io.Writer) (*flags, error) {
	f := &flags{tcp: -1}
	fs := flag.NewFlagSet("lab", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&f.socket, "socket", "", "path of the Unix socket (default: control.sock in the workspace)")
	fs.IntVar(&f.tcp, "tcp", -1, "listen on this port of 127.0.0.1 (0: any) with a token instead of a Unix socket")
	fs.StringVar(&f.workspace, "workspace", "", "private folder for the profile, the journal and the evidence (default: a fresh one)")
	fs.StringVar(&f.home, "home", os.Getenv("HORIZON_HOME"), "game home; noAi:true in its horizon-extras.txt closes the socket")
	fs.StringVar(&f.journal, "journal", "", "write every physical effect to this file (default: journal.jsonl in the workspace)")
	fs.StringVar(&f.lines, "lines", "", "also write the digest of every action line that came and was answered (tests)")
	fs.StringVar(&f.name, "name", "companion", "the player's name")
	fs.StringVar(&f.world, "world", "", "the world's label (default: Lab World; remote: empty)")
	fs.StringVar(&f.serve, "serve", "", "also be the server that others may --join (PORT, 0: any)")
	fs.StringVar(&f.join, "join", "", "join the lab server at 127.0.0.1:PORT")
	fs.StringVar(&f.private, "private", "", "a text for the private parts of every reply (tests)")
	fs.Uint64Var(&f.seed, "seed", 1, "the world's seed")
	fs.BoolVar(&f.hills, "hills", false, "hills around the flat middle")
	fs.BoolVar(&f.creative, "creative", false, "creative mode")
	fs.IntVar(&f.planks, "planks", 16, "how many oak planks are in the first slot")
	fs.Float64Var(&f.speed, "speed", 1, "how much faster than real time the world runs")
	fs.IntVar(&f.chunks, "chunks", loadedChunks, "how many chunks are loaded in each direction from the player")
	fs.BoolVar(&f.stay, "stay", false, "go on when standard input ends; SIGTERM ends it")
	fs.BoolVar(&f.quiet, "quiet", false, "do not print the profile")
	fs.DurationVar(&f.late, "late", lateBy, "how late the fault late-reply is")
	fs.Func("fault", "KIND[@[WORD:]N], may be given more than once", func(s string) error {
		v, err := ParseFault(s)
		f.faults = append(f.faults, v)
		return err
	})
	fs.Func("checkout-root", "folder that the workspace must not touch, may be given more than once", func(s string) error {
		f.roots = append(f.roots, s)
		return nil
	})
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if name := twice(fs, args); name != "" {
		return nil, fmt.Errorf("--%s is given twice", name)
	}
	switch {
	case !nameLike(f.name, 64) || f.name == "":
		return nil, errors.New("--name must be a text of 1 to 64 bytes without control characters")
	case !nameLike(f.world, 256):
		return nil, errors.New("--world must be a text of at most 256 bytes without control characters")
	case fs.NArg() > 0:
		return nil, fmt.Errorf("unexpected word %q", fs.Arg(0))
	case !(f.speed > 0 && f.speed <= 10_000): // NaN too
		return nil, errors.New("--speed must be more than 0 and at most 10000")
	case f.chunks < 1 || f.chunks > 256:
		return nil, errors.New("--chunks must be from 1 to 256")
	case f.serve != "" && f.join != "":
		return nil, errors.New("--serve and --join exclude each other")
	case f.socket != "" && f.tcp >= 0:
		return nil, errors.New("--socket and --tcp exclude each other")
	}
	return f, nil
}

func nameLike(s string, limit int) bool {
	return len(s) <= limit && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// twice names a flag that stands twice in args, which were parsed, and may stand there only once.
func twice(fs *flag.FlagSet, args []string) string {
	seen := map[string]bool{"fault": false, "checkout-root": false}
	for i := 0; i < len(args); i++ {
		name, _, whole := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		if seen[name] {
			return name
		}
		if _, often := seen[name]; !often {
			seen[name] = true
		}
		f := fs.Lookup(name)
		if f == nil {
			return ""
		}
		if b, ok := f.Value.(interface{ IsBoolFlag() bool }); !whole && !(ok && b.IsBoolFlag()) {
			i++
		}
	}
	return ""
}

// Main is the lab as its own process: it opens the endpoint, prints a ready profile as
// JSON, and serves until its standard input ends or SIGTERM or SIGINT comes. It returns
// the exit status.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	f, err := parseFlags(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		fmt.Fprintf(stderr, "lab: %v\n", err)
		return exitUsage
	}
	switch err := run(f, args, stdin, stdout); {
	case err == nil:
		return exitOK
	case errors.Is(err, ErrNoAI):
		fmt.Fprintf(stderr, "lab: %v\n", err)
		return exitDenied
	case errors.Is(err, syscall.EADDRINUSE), errors.Is(err, syscall.ECONNREFUSED):
		fmt.Fprintf(stderr, "lab: %v\n", err)
		return exitUnreachable
	default:
		fmt.Fprintf(stderr, "lab: %v\n", err)
		return exitFailure
	}
}

func run(f *flags, args []string, stdin io.Reader, stdout io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := f.prepare(); err != nil {
		return err
	}
	out, err := os.OpenFile(f.journal, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	o := Options{Seed: f.seed, Hills: f.hills, Name: f.name, World: f.world, Creative: f.creative, Planks: f.planks, Speed: f.speed, Chunks: f.chunks,
		Home: f.home, Journal: out, Faults: f.faults, Private: f.private,
		OnKill: func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) },
		OnSwap: func() { swap(args) }}
	if f.lines != "" {
		w, err := os.OpenFile(f.lines, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		defer w.Close()
		o.Lines = w
	}
	if f.serve != "" {
		port := 0
		if _, err := fmt.Sscanf(f.serve, "%d", &port); err != nil {
			return fmt.Errorf("--serve takes a port, not %q", f.serve)
		}
		hub, err := NewHub(port, f.seed, f.hills)
		if err != nil {
			return err
		}
		defer hub.Close()
		f.join = hub.Address()
	}
	if f.join != "" {
		if o.Link, err = Join(f.join); err != nil {
			return err
		}
		defer o.Link.Close()
	}
	g := New(o)
	defer g.Close()
	s, err := f.listen(g)
	if err != nil {
		return err
	}
	defer s.Close()
	s.Late = f.late
	profile, err := f.profile(g, s)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(f.workspace, "profile.json"), profile); err != nil {
		return err
	}
	if !f.quiet {
		if _, err := stdout.Write(profile); err != nil {
			return err
		}
	}
	if !f.stay {
		var end context.CancelFunc
		ctx, end = context.WithCancel(ctx)
		go func() {
			_, _ = io.Copy(io.Discard, stdin)
			end()
		}()
	}
	s.Wait(ctx)
	if NoAI(f.home) {
		return ErrNoAI
	}
	return nil
}

// swap puts a younger process at the same socket and ends this one.
func swap(args []string) {
	kept := args[:0:0]
	for i := 0; i < len(args); i++ {
		a := strings.TrimPrefix(strings.TrimPrefix(args[i], "-"), "-")
		if a == "fault" {
			i++
			continue
		}
		if !strings.HasPrefix(a, "fault=") && a != "quiet" && !strings.HasPrefix(a, "quiet=") {
			kept = append(kept, args[i])
		}
	}
	c := exec.Command("/proc/self/exe", append(append(os.Args[1:len(os.Args)-len(args):len(os.Args)-len(args)], kept...), "-quiet")...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, nil, os.Stderr
	_ = c.Start()
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
}

func (f *flags) prepare() error {
	if f.workspace == "" {
		base := os.Getenv("XDG_STATE_HOME")
		if base == "" {
			home, err := os.UserHomeDir()
			if err != nil {
				return err
			}
			base = filepath.Join(home, ".local", "state")
		}
		base = filepath.Join(base, "blockworld-voice")
		if err := os.MkdirAll(base, 0o700); err != nil {
			return err
		}
		dir, err := os.MkdirTemp(base, "lab-")
		if err != nil {
			return err
		}
		f.workspace = dir
	}
	if err := os.MkdirAll(f.workspace, 0o700); err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(f.workspace)
	if err != nil {
		return err
	}
	if f.workspace, err = filepath.Abs(real); err != nil {
		return err
	}
	if f.socket == "" && f.tcp < 0 {
		f.socket = filepath.Join(f.workspace, "control.sock")
	}
	if f.socket != "" {
		if f.socket, err = filepath.Abs(f.socket); err != nil {
			return err
		}
	}
	if f.journal == "" {
		f.journal = filepath.Join(f.workspace, "journal.jsonl")
	}
	if len(f.roots) == 0 {
		f.roots = checkout.Roots(f.workspace)
	}
	f.tokenFile = filepath.Join(f.workspace, "horizon-control.token")
	return nil
}

func (f *flags) listen(g *Game) (*Server, error) {
	if f.tcp >= 0 {
		return g.ListenTCP(f.tcp, f.tokenFile)
	}
	return g.ListenUnix(f.socket)
}

// profileLife is how long the printed profile may be used.
const profileLife = 12 * time.Hour

func (f *flags) profile(g *Game, s *Server) ([]byte, error) {
	id, err := procgroup.Self()
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	st := g.stateReply()
	g.mu.Unlock()
	binding := map[string]any{
		"endpoint": s.Endpoint(), "pid": id.PID, "start_ticks": id.StartTicks, "name": st["name"], "dimension": st["dimension"],
		"mode": "singleplayer_lab", "world": st["world"], "timeout_seconds": 6,
	}
	if s.path == "" {
		binding["token_file"] = f.tokenFile
	}
	if g.opt.Link != nil {
		binding["mode"], binding["server"] = "remote", g.opt.Link.Address()
	}
	return strictjson.Marshal(map[string]any{
		"binding": binding,
		"policy": map[string]any{
			"actions": []string{"goto", "look-at", "say", "idle", "follow", "place"}, "min": []int{-512, MinY, -512}, "max": []int{512, MaxY, 512}, "max_distance": 128,
			"action_seconds": 30, "max_actions": 200, "expires": time.Now().UTC().Add(profileLife).Format(time.RFC3339),
		},
		"workspace": f.workspace, "checkout_roots": f.roots,
	})
}
