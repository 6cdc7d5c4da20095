#!/bin/sh
# SPDX-License-Identifier: MIT
# What libgpuplan.so weighs beside RADV: stripped bytes, the libraries it needs with theirs, resident memory after a GPU
# is opened and a queue made (softgpu's mappings left out), exported symbols. Sizes of files on this machine.
set -eu
B=${B:-build}
here=$(dirname "$0")
out=$B/bench-submit
mkdir -p "$out"

# "libraries bytes" of everything that NAME's file needs, itself not counted
closure() {
	ldd "$1" | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p; s/^\t\(\/[^ ]*\) .*/\1/p' | xargs -r -n 1 realpath | sort -u | xargs -r stat -c %s |
		awk '{ n++; sum += $1 } END { print n + 0, sum + 0 }'
}

# line WHO FILE RSS-OUTPUT
line() {
	strip -o "$out/stripped" "$2"
	set -- "$1" "$2" "$3" $(closure "$2")
	echo "$1 $(stat -c %s "$out/stripped") $4 $5 $(echo "$3" | awk '{ print $2, $3 }') $(nm -D --defined-only "$2" | grep -c ' [TDBRVWi] ')"
	rm -f "$out/stripped"
}

icd=${VK_ICD_FILENAMES:-/usr/share/vulkan/icd.d/radeon_icd.x86_64.json}
vulkan=$B/peers/vulkan
{
	line gpuplan "$(realpath "$B/lib/libgpuplan.so")" "$("$B/bin/softgpu" -- "$B/bin/bench-footprint")"
	if command -v glslangValidator >/dev/null && pkg-config --exists vulkan 2>/dev/null && [ -e "$icd" ]; then
		export VK_ICD_FILENAMES="$icd"
		make -s -C "$here/../../tests/peers/vulkan" OUT="$(realpath -m "$vulkan")" >/dev/null
		radv=$(sed -n 's/.*"library_path": *"\([^"]*\)".*/\1/p' "$icd")
		[ -e "$radv" ] || radv=/usr/lib/$(cc -print-multiarch)/$(basename "$radv")
		line RADV "$radv" "$("$B/bin/softgpu" -- "$vulkan/vksuite" --footprint)"
	else
		echo "RADV's are missing: Vulkan's headers, its RADV driver or glslangValidator are not installed" >&2
	fi
} | awk '
	BEGIN {
		printf "%-10s %15s %10s %15s %13s %12s %8s\n", "", "stripped bytes", "libraries", "their bytes", "RSS KiB first", "when open", "symbols"
	}
	function row(who, k) {
		printf "%-10s", who
		for (k = 2; k <= 7; k++)
			printf " %*s", k == 2 ? 15 : k == 3 ? 10 : k == 4 ? 15 : k == 5 ? 13 : k == 6 ? 12 : 8, v[who, k]
		print ""
	}
	{ for (k = 2; k <= 7; k++) v[$1, k] = $k; row($1); n++ }
	END {
		if (n == 2)
			printf "RADV / gpuplan: stripped %.1f, with libraries %.1f, resident by opening %.1f\n", v["RADV", 2] / v["gpuplan", 2],
				(v["RADV", 2] + v["RADV", 4]) / (v["gpuplan", 2] + v["gpuplan", 4]),
				(v["RADV", 6] - v["RADV", 5]) / (v["gpuplan", 6] - v["gpuplan", 5])
	}'
