#!/bin/sh
# SPDX-License-Identifier: MIT
# gpuplan.h stands alone in C11 and C++17, and the shared library exports what it declares and nothing else.
set -eu
B=${B:-build}
mkdir -p "$B/tests/api"
printf '#include <gpuplan.h>\nint x;\n' >"$B/tests/api/header.c"
${CC:-cc} -std=c11 -pedantic -Wall -Wextra -Werror -Ilibgpuplan/include -c "$B/tests/api/header.c" -o "$B/tests/api/header.o"
${CXX:-c++} -std=c++17 -pedantic -Wall -Wextra -Werror -Ilibgpuplan/include -x c++ -c "$B/tests/api/header.c" -o "$B/tests/api/header.o"
nm -D --defined-only "$B/lib/libgpuplan.so" | awk '$2 == "T" {sub(/@.*/, "", $3); print $3}' | sort >"$B/tests/api/exported"
tr '\n' ' ' <libgpuplan/include/gpuplan.h | sed 's/GPUPLAN_API/\nGPUPLAN_API/g' | sed -n 's/^GPUPLAN_API [^(]*[ *]\(gpuplan_[a-z_0-9]*\)(.*/\1/p' | sort -u >"$B/tests/api/declared"
diff "$B/tests/api/declared" "$B/tests/api/exported"
[ "$(wc -l <"$B/tests/api/declared")" -ge 40 ]
# Symbols that are not the library's own do not leak out of the static one either: every global one has its prefix.
bad=$(nm --defined-only -g "$B/lib/libgpuplan.a" 2>/dev/null | awk 'NF == 3 && $2 ~ /[A-Z]/ {print $3}' | grep -v -E '^(gp_|gpuplan_|__odr_asan)' || true)
[ -z "$bad" ] || { echo "symbols without prefix: $bad"; exit 1; }
