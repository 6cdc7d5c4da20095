#!/bin/sh
# SPDX-License-Identifier: MIT
# Promise: documents tell the present tree. docs/architecture.md names every source of the library; files and make targets
# that documents name exist; links between them lead somewhere.
set -u
dir=${B:-build}/tests/docs
mkdir -p "$dir"
failed=0

complain() {
	echo "$*"
	failed=1
}

# What stands in `backquotes`, one a line.
quoted() {
	grep -ohE '`[^` ]+`' "$@" | tr -d '`' | sort -u
}

# ---- the map has every source ----
quoted docs/architecture.md | grep '\.c$' >"$dir/named"
n=0
for file in libgpuplan/*.c; do
	found=
	while read -r pattern; do
		case ${file##*/} in $pattern) found=1 ;; esac
	done <"$dir/named"
	[ "$found" ] || complain "docs/architecture.md does not name $file"
	n=$((n + 1))
done
[ $n -ge 40 ] || complain "only $n sources"

# ---- and nothing that is gone ----
documents=$(ls README.md docs/*.md)
quoted $documents | sed -n 's/^\([A-Za-z0-9_/.*-]*\.\([chs]\|cl\|sh\|md\|mk\|map\)\)$/\1/p' >"$dir/files"
git ls-files 2>/dev/null >"$dir/tree"
[ -s "$dir/tree" ] || find . -type f -not -path './build*' -not -path './.git/*' | sed 's,^\./,,' >"$dir/tree"
while read -r name; do
	case $name in gfx12_merged_offset.h | _mask.h | _pm4_it_opcodes.h | gc_9_4_[23]_offset.h) continue ;; esac # PAL's and Linux'
	pattern=$(echo "$name" | sed 's/[.]/[.]/g; s/\*/[^\/]*/g')
	grep -qE "(^|/)$pattern\$" "$dir/tree" || complain "$(grep -lF "\`$name\`" $documents | tr '\n' ' ')names $name, which is nowhere"
done <"$dir/files"
[ "$(wc -l <"$dir/files")" -ge 60 ] || complain "only $(wc -l <"$dir/files") files are named"
for document in $documents; do
	grep -oE '\]\([^)#: ]+\)' "$document" | tr -d '])(' | while read -r link; do
		[ -e "$(dirname "$document")/$link" ] || echo "$document: link to $link leads nowhere"
	done
done >"$dir/links"
[ ! -s "$dir/links" ] || complain "$(cat "$dir/links")"

# ---- make targets ----
cat Makefile tests/*.mk >"$dir/make"
grep -ohE '`make [a-z][a-z-]*' $documents | sed 's/`make //' | sort -u >"$dir/targets"
sed -n '/^| `make …`/,/^$/p' README.md | sed -n 's/^| \([^|]*\)|.*/\1/p' | grep -oE '`[a-z-]+`' | tr -d '`' >>"$dir/targets"
while read -r target; do
	grep -qE "^([a-z-]+ )*$target( [a-z-]+)*:" "$dir/make" || complain "there is no make $target"
done <"$dir/targets"
echo "$n sources, $(wc -l <"$dir/files") files, $(sort -u "$dir/targets" | wc -l) make targets named"
exit $failed
