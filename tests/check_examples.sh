#!/bin/sh
# SPDX-License-Identifier: MIT
# Promise: the examples work. Each runs on softgpu, strict and hostile, for both chips it executes, and on the GPU of this
# machine if there is one; without a device it says so.
set -u
B=${B:-build}
shaders=$B/share/gpuplan/shaders

die() {
	echo "$*"
	exit 1
}

for chip in gfx1100 gfx1030; do
	out=$("$B/bin/softgpu" --strict --hostile --profile $chip -- "$B/bin/example-batch" "$shaders") || die "example-batch on $chip: $out"
	echo "$out"
	echo "$out" | grep -q "^$chip " || die "not $chip"
	echo "$out" | grep -q '^1000 jobs, 64000 answers, 0 wrong$' || die "wrong answers"
done
# Another code object under the name is refused.
mkdir -p "$B/tests/examples/gfx1100"
cp "$shaders/gfx1100/fill.co" "$B/tests/examples/gfx1100/linear.co"
"$B/bin/softgpu" -- "$B/bin/example-batch" "$B/tests/examples" 2>&1 | grep -q 'batch: kernel: .*fill' || die "a foreign code object passes"
# A submission that the kernel refuses is no success.
SOFTGPU_FAIL=CS:20:ECANCELED "$B/bin/softgpu" -- "$B/bin/example-batch" "$shaders" >/dev/null 2>&1 && die "a refused submission passes"

unset LD_PRELOAD
"$B/bin/example-batch" "$shaders" >"$B/tests/examples/real" 2>&1
case $? in
0) echo "on this machine's GPU: $(tail -1 "$B/tests/examples/real")" ;;
77) echo "no GPU here: $(tail -1 "$B/tests/examples/real")" ;;
*) cat "$B/tests/examples/real"; exit 1 ;;
esac
