#!/bin/sh
# SPDX-License-Identifier: MIT
# The README's example compiles as written, and prints what the README says. Its list of packages is the Makefile's.
set -eu
B=${B:-build}
out=$B/tests/readme
mkdir -p "$out"
sed -n '/^```c$/,/^```$/p' README.md | sed '1d;$d' >"$out/example.c"
[ "$(wc -l <"$out/example.c")" -le 40 ]
san=
[ -n "${SAN:-}" ] && san=-fsanitize=$SAN
${CC:-cc} -std=c11 -Wall -Wextra -Werror $san -Ilibgpuplan/include "$out/example.c" -o "$out/example" -L"$B/lib" -lgpuplan -Wl,-rpath,"$PWD/$B/lib"
[ "$("$B/bin/softgpu" -- "$out/example")" = 42 ]
awk '/^(CHECK_)?DEPS :=/ {on = 1} on {print; on = /\\$/}' Makefile | tr -d '\\' | sed 's/^[A-Z_]* :=//' | tr -s ' \t' '\n' | sed '/^$/d' | sort >"$out/deps"
sed -n '/^Debian 12 packages:/,/\. /p' README.md | tr '\n' ' ' | sed 's/.*packages: //; s/\. .*//; s/; the tests also need / /' | tr -s ' ' '\n' | sort >"$out/told"
diff "$out/deps" "$out/told" # packages of the Makefile (<) and of the README (>)
