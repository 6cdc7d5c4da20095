#!/bin/sh
# SPDX-License-Identifier: MIT
# Promise: the man pages tell the present tree. Each function of gpuplan.h stands in NAME and SYNOPSIS of one section-3
# page, with its prototype; structures shown there are the header's; options of --help are those of the section-1 page;
# variables of docs/softgpu.md stand in softgpu(1); references lead to pages; groff has nothing to say.
set -u
B=${B:-build}
dir=$B/tests/man
header=libgpuplan/include/gpuplan.h
mkdir -p "$dir"
failed=0

complain() {
	echo "$*"
	failed=1
}

# One declaration or block a line; blanks only where two words meet.
squeeze() {
	tr '\n\t' '  ' | sed 's/  */ /g; s/ *\([^A-Za-z0-9_ ]\) */\1/g'
}

# Comments and preprocessor lines taken out.
code() {
	sed '/^#/d' "$1" | tr '\n' ' ' | sed 's,/\*[^*]*\*\**\([^/*][^*]*\*\**\)*/,,g'
}

# ---- prototypes ----
code $header | squeeze | tr ';{}' '\n\n\n' | sed -n 's/^ *\(GPUPLAN_API\|static inline\) //p; s/^ *\(typedef int gpuplan_\)/\1/p' | sort >"$dir/declared"
: >"$dir/shown"
: >"$dir/in_names"
for page in docs/man/*.3; do
	sed -n '/^\.SH SYNOPSIS/,/^\.SH DESCRIPTION/{/^\.SH/d;/^\.nf/d;/^\.fi/d;/^\.PP/d;/^\.B #include/d;s/^\.BI* //;s/"//g;p}' "$page" |
		squeeze | tr ';' '\n' | sed 's/^ //;/^$/d' >"$dir/page"
	cat "$dir/page" >>"$dir/shown"
	sed 's/(.*//; s/.*[ *]//' "$dir/page" | sort >"$dir/page.functions"
	sh docs/man/names.sh "$page" | sort >"$dir/page.names"
	cat "$dir/page.names" >>"$dir/in_names"
	diff "$dir/page.names" "$dir/page.functions" || complain "$page: NAME (<) and SYNOPSIS (>) differ"
done
sort -o "$dir/shown" "$dir/shown"
diff "$dir/declared" "$dir/shown" || complain "$header (<) and section 3 (>) differ"
[ "$(wc -l <"$dir/declared")" -ge 60 ] || complain "only $(wc -l <"$dir/declared") declarations found"
[ -z "$(sort "$dir/in_names" | uniq -d)" ] || complain "in more than one page: $(sort "$dir/in_names" | uniq -d)"

# ---- structures ----
structs() {
	awk '/^struct gpuplan_[a-z_]* \{$/ {on = 1; text = ""} on {text = text " " $0} on && /^};/ {print text; on = 0}'
}
# Comments of a structure span lines, so they go first; preprocessor lines end none.
sed '/^#/d' $header | tr '\n' '\001' | sed 's,/\*[^*]*\*\**\([^/*][^*]*\*\**\)*/,,g' | tr '\001' '\n' | structs |
	while read -r line; do echo "$line" | squeeze; echo; done | sed '/^$/d;s/^ //' | sort >"$dir/structs"
cat docs/man/*.3 | structs | while read -r line; do echo "$line" | squeeze; echo; done | sed '/^$/d;s/^ //' | sort >"$dir/structs.shown"
diff "$dir/structs" "$dir/structs.shown" || complain "structures of $header (<) and of section 3 (>) differ"
[ "$(wc -l <"$dir/structs")" -ge 20 ] || complain "only $(wc -l <"$dir/structs") structures found"

# ---- options and variables ----
tools=0
for page in docs/man/*.1; do
	name=$(basename "$page" .1)
	[ -x "$B/bin/$name" ] || { complain "$page: there is no $B/bin/$name"; continue; }
	"$B/bin/$name" --help 2>&1 </dev/null | grep -oE -e '--[a-z][a-z-]*' | grep -v -x -e --help | sort -u >"$dir/help"
	sed '/^\.SH SEE ALSO/,$d; s/\\-/-/g' "$page" | grep -oE -e '--[a-z][a-z-]*' | grep -v -x -e --help | sort -u >"$dir/options"
	diff "$dir/help" "$dir/options" || complain "$name --help (<) and its page (>) differ"
	[ -s "$dir/help" ] || complain "$name --help tells no options"
	tools=$((tools + 1))
done
for name in $(sed -n 's/^INSTALL_BIN := //p' Makefile); do
	[ -f "docs/man/$name.1" ] || complain "$name is installed and has no page"
done
[ $tools -ge 5 ] || complain "only $tools tools"
grep -oE 'SOFTGPU_[A-Z_]+' docs/softgpu.md | sort -u >"$dir/variables"
grep -ohE 'SOFTGPU_[A-Z_]+' docs/man/softgpu.1 | sort -u | diff "$dir/variables" - || complain "docs/softgpu.md (<) and softgpu.1 (>) differ"

# ---- references ----
for page in docs/man/*.[137]; do
	sed -n 's/\\-/-/g; s/^\.BR* \([a-z][a-z_-]*\) (\([137])\).*/\1 \2/p' "$page" | tr -d ')' | while read -r name section; do
		case $name in gpuplan* | softgpu*) ;; *) continue ;; esac
		[ -f "docs/man/$name.$section" ] || { [ "$section" = 3 ] && grep -qx "$name" "$dir/in_names"; } || echo "$page: $name($section) is no page"
	done
done >"$dir/dangling"
[ ! -s "$dir/dangling" ] || complain "$(cat "$dir/dangling")"
echo "$(wc -l <"$dir/declared") functions, $(wc -l <"$dir/structs") structures, $tools tools"

# ---- typesetting ----
if command -v groff >/dev/null; then
	for page in docs/man/*.[137]; do
		groff -man -ww -Kutf8 -Tutf8 "$page" 2>"$dir/groff" >"$dir/text"
		[ ! -s "$dir/groff" ] || complain "$(cat "$dir/groff")"
		[ -s "$dir/text" ] || complain "$page: nothing comes out"
	done
else
	echo "groff is missing (Debian: groff-base): pages were not typeset"
fi
exit $failed
