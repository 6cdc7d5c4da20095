#!/bin/sh
# SPDX-License-Identifier: MIT
# Every packet opcode, event, register offset and field of uapi/ against Mesa's register database and packet header.
#   B=build  MESA=folder of a Mesa source tree (default: Debian's source package, downloaded)
# The source is downloaded with package lists of its own and unpacked in $B/peers/mesa; nothing of it belongs to this project.
# Exit status: 0 no difference, 1 some, 77 packages are missing or there is no source to be had.
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
dir=$B/peers/mesa
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)

missing=
for p in build-essential libjansson-dev dpkg-dev; do
	dpkg-query -W -f='${Status}' $p 2>/dev/null | grep -q 'install ok installed' || missing="$missing $p"
done
[ -z "$missing" ] || { echo "missing Debian packages:$missing"; exit 77; }

fetch() { # the system's own mirror, read through lists and caches kept here
	mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' 'Origin: Debian' |
		awk '$2 !~ /-/ {print $1, $2; exit}')
	[ -n "$mirror" ] || { echo "apt knows no Debian mirror (apt-get update?)"; exit 77; }
	mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial"
	echo "deb-src $mirror main" >"$dir/apt/sources.list"
	set -- -qq -o Dir::Etc::sourcelist="$dir/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::lists="$dir/apt/lists" -o Dir::Cache="$dir/apt/cache" -o APT::Sandbox::User=root
	(cd "$dir" && apt-get "$@" update && apt-get "$@" source --download-only mesa) >"$dir/fetch.log" 2>&1 ||
		{ tail -5 "$dir/fetch.log"; exit 77; }
	for tar in "$dir"/mesa_*.orig.tar.*; do
		tar xf "$tar" -C "$dir" --wildcards '*/src/amd/registers/*' '*/src/amd/common/sid.h' || exit 1
	done
}

find_source() { for d in "$dir"/mesa-*/; do [ -d "$d/src/amd/registers" ] && source=${d%/}; done; }
source=${MESA:-}
[ -n "$source" ] || find_source
[ -n "$source" ] || { fetch; find_source; }
[ -n "$source" ] || { echo "no Mesa source"; exit 77; }

${CC:-cc} -Wall -Wextra -O1 -Iuapi tests/peers/regs/compare.c -o "$dir/compare" -ljansson || exit 1
echo "$(basename "$source")"
"$dir/compare" "$source/src/amd"
