# Shared by the scripts of this folder; source it, don't run it. Bash 4 or newer.
# The caller has set -euo pipefail.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

: "${XDG_CACHE_HOME:=${HOME:?set HOME or XDG_CACHE_HOME}/.cache}"
: "${XDG_DATA_HOME:=${HOME:?set HOME or XDG_DATA_HOME}/.local/share}"
export XDG_CACHE_HOME XDG_DATA_HOME
cache=$XDG_CACHE_HOME/blockworld-voice

say() { printf '%s\n' "set-up: $*" >&2; }

# die PROBLEM [NEXT STEP]
die() {
	printf '%s\n' "set-up: $1" >&2
	[ $# -lt 2 ] || printf '%s\n' "        $2" >&2
	exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

sha() { sha256sum | cut -c1-64; }

# lock: only one set-up at a time works on the cache. The kernel frees the lock when the
# last process that holds it is gone, so a killed set-up (with the compiler that it may
# have left running) never blocks the next one for good.
lock() {
	[ -z "${BLOCKWORLD_SETUP_LOCKED-}" ] || return 0
	have flock || die "the command flock is missing" "install util-linux and run this again"
	mkdir -p "$cache"
	exec 9>"$cache/setup.lock"
	if ! flock -n 9; then
		say "another set-up is at work; waiting for it"
		flock 9
	fi
	export BLOCKWORLD_SETUP_LOCKED=1
}

# long LABEL LOG COMMAND...: runs a command that takes a while. Its output goes to LOG;
# people see the label with the time that passed and the last percentage in the log.
long() {
	local label=$1 log=$2 ticker status=0
	shift 2
	mkdir -p "$(dirname "$log")"
	: >"$log"
	say "$label …"
	ticking "$label" "$log" $$ 9>&- &
	ticker=$!
	"$@" >"$log" 2>&1 </dev/null || status=$?
	kill "$ticker" 2>/dev/null || true
	wait "$ticker" 2>/dev/null || true
	[ ! -t 2 ] || printf '\r\033[K' >&2
	if [ $status -ne 0 ]; then
		tail -n 20 "$log" | sed 's/^/        | /' >&2
		say "$label: failed (status $status); the whole log is in $log"
	fi
	return $status
}

ticking() {
	local label=$1 log=$2 parent=$3 every=15 start=$SECONDS percent nap=
	[ ! -t 2 ] || every=1
	# The nap ends with this process, and keeps none of the caller's pipes open.
	trap '[ -z "$nap" ] || kill "$nap" 2>/dev/null; exit 0' TERM
	while kill -0 "$parent" 2>/dev/null; do
		sleep $every >/dev/null 2>&1 &
		nap=$!
		wait "$nap" || true
		percent=$(tail -c 4000 "$log" 2>/dev/null | tr '\r' '\n' | grep -oE '[0-9]+%' | tail -n 1) || percent=
		if [ -t 2 ]; then
			printf '\r\033[K%s' "set-up: $label … $((SECONDS - start)) s $percent" >&2
		else
			say "$label … $((SECONDS - start)) s $percent"
		fi
	done
}

# debian_root prints the prefix that makes a command run as root ("" or sudo) on a machine
# with apt-get, and fails where packages can't be installed without asking a person.
debian_root() {
	have apt-get || return 1
	if [ "$(id -u)" -eq 0 ]; then
		echo
	elif have sudo && sudo -n true 2>/dev/null; then
		echo sudo
	else
		return 1
	fi
}

# install_packages PACKAGE...: with apt-get where that is possible, else says what to do.
install_packages() {
	local prefix
	prefix=$(debian_root) || die "these system packages are missing: $*" \
		"install them (Debian and Ubuntu: sudo apt-get install $*) and run this again"
	local apt="$prefix env DEBIAN_FRONTEND=noninteractive apt-get -y -o DPkg::Lock::Timeout=300"
	if ! compgen -G '/var/lib/apt/lists/*Packages*' >/dev/null; then
		long "reading the list of system packages" "$cache/log/apt-update" $apt update || true
	fi
	long "installing system packages: $*" "$cache/log/apt-install" $apt install --no-install-recommends "$@" ||
		{ long "reading the list of system packages again" "$cache/log/apt-update" $apt update &&
			long "installing system packages: $*" "$cache/log/apt-install" $apt install --no-install-recommends "$@"; } ||
		die "the system packages could not be installed" "install $* by hand and run this again"
}

# need COMMAND PACKAGE: a tool that only some route needs.
need() {
	have "$1" || install_packages "$2"
	have "$1" || die "the command $1 is still missing" "install $2 and run this again"
}
