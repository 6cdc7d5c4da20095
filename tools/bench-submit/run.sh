#!/bin/sh
# SPDX-License-Identifier: MIT
# What one inference costs the host beside the device's own work: libgpuplan's four ways to complete, a bare loop on
# libdrm (floor.c) and RADV submitting one pre-recorded command buffer. Counts, not times: the same on every run.
set -eu
B=${B:-build}
here=$(dirname "$0")
out=$B/bench-submit
for tool in valgrind strace; do
	command -v $tool >/dev/null || { echo "bench-submit: skipped, Debian package $tool is not installed"; exit 0; }
done
mkdir -p "$out"
rm -f "$out"/*.txt

sizes='1 16 256 1024'
count() {
	sh "$here/counts.sh" "$@"
}
count instructions "$B/bin/bench-submit" >"$out/gpuplan.instructions.txt"
count syscalls "$B/bin/bench-submit" >"$out/gpuplan.syscalls.txt"
count sleeping "$B/bin/bench-submit" --only 1 >"$out/gpuplan.sleeping.txt"
speech=$(sed -n 's/^plan speech \([0-9]*\) .*/\1/p' "$out/gpuplan.instructions.txt")
# The speech plan has no counterpart: a stream of as many dispatches stands for it.
count instructions "$B/bin/bench-submit-floor" "$speech" $sizes >"$out/libdrm.instructions.txt"
count syscalls "$B/bin/bench-submit-floor" "$speech" $sizes >"$out/libdrm.syscalls.txt"

icd=${VK_ICD_FILENAMES:-/usr/share/vulkan/icd.d/radeon_icd.x86_64.json}
vulkan=$B/peers/vulkan
have=
if command -v glslangValidator >/dev/null && pkg-config --exists vulkan 2>/dev/null && [ -e "$icd" ]; then
	export VK_ICD_FILENAMES="$icd"
	make -s -C "$here/../../tests/peers/vulkan" OUT="$(realpath -m "$vulkan")" >/dev/null && have=yes
fi
if [ -n "$have" ]; then
	count instructions "$vulkan/vksuite" --submit "$speech" $sizes >"$out/RADV.instructions.txt"
	count syscalls "$vulkan/vksuite" --submit "$speech" $sizes >"$out/RADV.syscalls.txt"
	# Of one submission, by what the device executes.
	for n in $sizes; do
		"$B/bin/softgpu" --report "$out/chain.json" -- "$vulkan/vksuite" --chain chain "$n" >/dev/null
		sed -n "s/.*\"dwords\":\([0-9]*\),.*\"barriers\":\([0-9]*\),.*/radv $n \1 \2/p" "$out/chain.json"
	done >"$out/radv.txt"
else
	echo "RADV's are missing: Vulkan's headers, its RADV driver or glslangValidator are not installed"
	: >"$out/radv.txt"
fi
awk -v speech="$speech" -f "$here/table.awk" "$out"/*.instructions.txt "$out"/*.syscalls.txt "$out/gpuplan.sleeping.txt" "$out/radv.txt"
