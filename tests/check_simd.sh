#!/bin/sh
# SPDX-License-Identifier: MIT
# check_simd.sh: the builds of softgpu for newer processors pass the shader cores' tests, compute the same bits as the
# one for any x86-64, opcode by opcode, and the launcher chooses the best of them, or the one SOFTGPU_SIMD allows.
set -eu
B=${B:-build}
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
status=0

# All of these words among the processor's flags?
has() {
	for flag in "$@"; do
		grep -qw "$flag" /proc/cpuinfo || return 1
	done
}

# build SOFTGPU_SIMD: which library does the launcher load?
chosen() {
	library=$(SOFTGPU_SIMD=$2 "$B/bin/softgpu" -- sh -c 'echo "$LD_PRELOAD"')
	case $library in
	*/$1/libsoftgpu.so*) ;;
	*) echo "SOFTGPU_SIMD=$2: the launcher chose $library, not $1"; status=1 ;;
	esac
}

compare() {
	for t in test_isa_fast test_valu; do
		"$B/tests/simd/$1/$t" > "$here/log" 2>&1 || { cat "$here/log"; echo "$1: $t failed"; status=1; }
	done
	"$B/tests/simd/$1/test_isa_fast" --digests > "$here/$1"
	diff "$here/x86-64" "$here/$1" > "$here/diff" && return
	sed -n 's/^> //p' "$here/diff" | awk '{ print $2 }' | sort -u | tr '\n' ' '
	echo ": results of the build for $1 differ from those of the build for x86-64"
	status=1
}

[ "$(uname -m)" = x86_64 ] || { echo 'skipped: only x86-64 has several builds'; exit 77; }
has avx2 fma bmi2 || { echo 'skipped: this processor runs only the build for any x86-64'; exit 77; }
"$B/tests/unit/test_isa_fast" --digests > "$here/x86-64"
[ "$(wc -l < "$here/x86-64")" -gt 1000 ] || { echo 'too few opcodes have run'; exit 1; }
compare x86-64-v3
chosen x86-64-v3 avx2
chosen lib none
if has avx512f avx512bw avx512cd avx512dq avx512vl; then
	compare x86-64-v4
	chosen x86-64-v4 avx512
	chosen x86-64-v4 ''
fi
exit $status
