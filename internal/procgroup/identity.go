package procgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// ID names one process for the life of this boot: a process id alone is reused,
// a process id with its start time is not.
type ID struct {
	PID        int
	StartTicks uint64
}

// String returns "PID@TICKS".
func (id ID) String() string { return fmt.Sprintf("%d@%d", id.PID, id.StartTicks) }

// ErrNoProcess says that there is no living process with that id. A zombie is no
// living process: it has ended and only waits for its parent.
var ErrNoProcess = errors.New("no such process")

// Identity reads the identity of a living process.
func Identity(pid int) (ID, error) {
	st, err := readStat(pid)
	if err != nil {
		return ID{}, err
	}
	if st.ended() {
		return ID{}, fmt.Errorf("process %d: %w", pid, ErrNoProcess)
	}
	return ID{PID: pid, StartTicks: st.startTicks}, nil
}

// Self is the identity of this process.
func Self() (ID, error) { return Identity(os.Getpid()) }

// Ended says whether the process is proved to be gone: its id is free, belongs to a
// younger process, or is a zombie. An error means that neither was proved.
func (id ID) Ended() (bool, error) {
	now, err := Identity(id.PID)
	if errors.Is(err, ErrNoProcess) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return now.StartTicks != id.StartTicks, nil
}

// BootID names the current boot of the machine: start ticks count from it.
func BootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("read the boot id: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

type stat struct {
	state      byte
	group      int
	startTicks uint64
}

func (s stat) ended() bool { return s.state == 'Z' || s.state == 'X' || s.state == 'x' }

func readStat(pid int) (stat, error) {
	if pid <= 0 {
		return stat{}, fmt.Errorf("process %d: %w", pid, ErrNoProcess)
	}
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return stat{}, fmt.Errorf("process %d: %w", pid, ErrNoProcess)
	}
	if err != nil {
		return stat{}, err
	}
	return parseStat(string(b))
}

// parseStat reads proc_pid_stat(5). The second field is the program's name in
// brackets and may itself hold spaces and brackets: the last one ends it.
func parseStat(line string) (stat, error) {
	_, rest, ok := cutLast(line, ')')
	f := strings.Fields(rest)
	if !ok || len(f) < 20 || len(f[0]) != 1 {
		return stat{}, errors.New("unexpected form of /proc/PID/stat")
	}
	group, err := strconv.Atoi(f[2])
	if err != nil {
		return stat{}, fmt.Errorf("process group in /proc/PID/stat: %w", err)
	}
	ticks, err := strconv.ParseUint(f[19], 10, 64)
	if err != nil {
		return stat{}, fmt.Errorf("start time in /proc/PID/stat: %w", err)
	}
	return stat{state: f[0][0], group: group, startTicks: ticks}, nil
}

func cutLast(s string, sep byte) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}
