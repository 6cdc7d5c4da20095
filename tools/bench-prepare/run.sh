#!/bin/sh
# SPDX-License-Identifier: MIT
# The tables of bench-prepare, then dwords and barriers per dispatch of three chains: ours from plans, RADV's from what
# softgpu counts while it runs the same chain twice as long (tests/peers/vulkan). Without Vulkan ours stand alone.
set -u
B=${B:-build}
out=$B/peers/vulkan
"$B/bin/bench-prepare" || exit 1

# dwords barriers of N dispatches by RADV
radv() {
	"$B/bin/softgpu" --profile "$1" --report "$out/chain.json" -- "$out/vksuite" --chain "$2" "$3" >"$out/chain.out" 2>&1 ||
		{ cat "$out/chain.out" >&2; return 1; }
	sed -n 's/.*"dwords":\([0-9]*\),.*"barriers":\([0-9]*\),.*/\1 \2/p' "$out/chain.json"
}

icd=${VK_ICD_FILENAMES:-/usr/share/vulkan/icd.d/radeon_icd.x86_64.json}
vulkan=
if command -v glslangValidator >/dev/null && pkg-config --exists vulkan 2>/dev/null && [ -e "$icd" ]; then
	export VK_ICD_FILENAMES="$icd"
	make -s -C "$(dirname "$0")/../../tests/peers/vulkan" OUT="$(realpath -m "$out")" >/dev/null && vulkan=yes
fi
for target in gfx1030 gfx1100; do
	printf '\n%s, per dispatch          dwords  barriers    RADV: dwords  barriers\n' "$target"
	"$B/bin/bench-prepare" --target "$target" --chains | while read -r name dwords barriers; do
		case $name in
		repeat) text="one kernel, other arguments" ;;
		switch) text="two kernels in turns" ;;
		*) text="each reads what the last wrote" ;;
		esac
		theirs='           -         -'
		if [ -n "$vulkan" ]; then
			short=$(radv "$target" "$name" 100) && long=$(radv "$target" "$name" 200) &&
				theirs=$(echo "$short $long" | awk '{printf "%12.2f %9.2f", ($3 - $1) / 100, ($4 - $2) / 100}')
		fi
		printf '%-31s %8s %9s    %s\n' "$text" "$dwords" "$barriers" "$theirs"
	done
done
[ -n "$vulkan" ] || echo "RADV's are missing: Vulkan's headers, its RADV driver or glslangValidator are not installed"
