package player

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Output is where a reply goes.
type Output uint8

const (
	ALSA  Output = iota // the default device of ALSA, whatever that is on this machine
	Pulse               // the sound server
)

// ParseOutput reads a name.
func ParseOutput(s string) (Output, error) {
	switch s {
	case "alsa":
		return ALSA, nil
	case "pulse":
		return Pulse, nil
	}
	return 0, fmt.Errorf("there is no output %q; there are alsa and pulse", s)
}

// String returns the name.
func (o Output) String() string {
	if o == Pulse {
		return "pulse"
	}
	return "alsa"
}

// overlay is what is read after ALSA's own configuration. The library that plays tries every device that ALSA lists
// when the default one can't be opened; with nothing on the list there is no other device.
func (o Output) overlay() string {
	const alone = "defaults.namehint.showall off\ndefaults.namehint.basic off\ndefaults.namehint.extended off\n"
	if o == Pulse {
		return alone + "pcm.!default { type pulse }\nctl.!default { type pulse }\n"
	}
	return alone
}

const alsaConf = "/usr/share/alsa/alsa.conf"

// environment returns the process's environment for an output and the file that it needs as descriptor 3.
func (o Output) environment() ([]string, *os.File, error) {
	base := os.Getenv("ALSA_CONFIG_PATH")
	if base == "" {
		base = alsaConf
	}
	if _, err := os.Stat(strings.Split(base, ":")[0]); err != nil {
		return nil, nil, fmt.Errorf("ALSA's configuration is not there (name it in ALSA_CONFIG_PATH): %w", err)
	}
	fd, err := unix.MemfdCreate("alsa.conf", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil, err
	}
	f := os.NewFile(uintptr(fd), "alsa.conf")
	if _, err := f.WriteString(o.overlay()); err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "ALSA_CONFIG_PATH=") {
			env = append(env, v)
		}
	}
	return append(env, "ALSA_CONFIG_PATH="+base+":/proc/self/fd/3"), f, nil
}
