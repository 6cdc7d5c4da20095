#!/bin/sh
# SPDX-License-Identifier: MIT
# counts.sh [--only KERNEL]: host instructions per lane-instruction of softgpu's shader cores, by callgrind;
# `make bench-softgpu-counts`.
#
# Times on a busy machine say little; these counts are the same on every run. softgpu-bench --counts runs each kernel
# in a small size, once to decode it and once with callgrind's instrumentation switched on, then asks for a dump.
# Only what sg_core_run (tools/softgpu/isa/core.c) calls is counted: neither submission nor waiting. It is the AVX2
# build that is counted, because valgrind has no AVX-512. The dumps stay in $B/callgrind/KERNEL.out; callgrind_annotate
# says of each where the instructions go.
set -eu
B=${B:-build}
if ! command -v valgrind > /dev/null; then
	echo 'bench-softgpu-counts: skipped, Debian package valgrind is not installed'
	exit 0
fi
dir=$B/callgrind
rm -rf "$dir"
mkdir -p "$dir"
SOFTGPU_SIMD=avx2 "$B/bin/softgpu" --timeout-ms 600000 -- valgrind -q --tool=callgrind --instr-atstart=no --toggle-collect=sg_core_run \
	--callgrind-out-file="$dir/out" "$B/bin/softgpu-bench" --counts "$@" > "$dir/counts" 2> "$dir/log" ||
	{ cat "$dir/log" >&2; exit 2; }
printf '%-20s %15s %17s %12s\n' kernel 'wave instr.' 'host instr./wave' '/lane'
sed -n 's/ wave instructions.*//p' "$dir/counts" | awk '{ print $(NF - 1), $NF }' | while read -r kernel waves; do
	dump=$(grep -l "^desc: Trigger: Client Request: $kernel\$" "$dir"/out* | head -n 1)
	if [ -z "$dump" ]; then
		echo "no dump for $kernel: softgpu-bench was built without valgrind/callgrind.h" >&2
		exit 2
	fi
	mv "$dump" "$dir/$kernel.out"
	host=$(sed -n 's/^totals: //p' "$dir/$kernel.out" | tail -n 1)
	awk -v k="$kernel" -v w="$waves" -v h="$host" \
		'BEGIN { printf "%-20s %15d %17.1f %12.2f\n", k, w, h / w, h / w / 32 }'
done
rm -f "$dir"/out*
