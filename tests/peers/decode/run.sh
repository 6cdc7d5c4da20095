#!/bin/sh
# SPDX-License-Identifier: MIT
# Compares softgpu's decoder with LLVM's disassembler (decode.c says how) and prints counts for each encoding. Run from
# the root of the tree; arguments go to the comparison (-v names differences, -vv everything, -n variants, -r random
# words, -s seed). CC and B as for make. Exit status: 0 no difference, 1 differences, 77 no llvm-mc.
set -e
B=${B:-build}
CC=${CC:-cc}
OUT=$B/peers/decode
MC=
for name in llvm-mc-19 llvm-mc; do
	MC=$(command -v "$name" || true)
	[ -n "$MC" ] && break
done
if [ -z "$MC" ]; then
	echo "skipped: llvm-mc not found"
	exit 77
fi
mkdir -p "$OUT"
$CC -std=gnu11 -Wall -Wextra -O2 -g -ffp-contract=off -Itools/softgpu/isa -Itests/peers/decode \
	tests/peers/decode/*.c tools/softgpu/isa/*.c -o "$OUT/decode" -lm -pthread
exec "$OUT/decode" "$@" "$MC"
