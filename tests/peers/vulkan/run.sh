#!/bin/sh
# SPDX-License-Identifier: MIT
# The Vulkan compute suite on Mesa's lavapipe, then on RADV under softgpu; results are compared line by line.
#   run.sh [CASE…]
#   PROFILES="gfx1030 gfx1100"  WAVES="64 32"  SOFTGPU_OPTIONS=--strict  B=build
# Exit status: 0 all passed, 1 not, 77 packages are missing.
set -u
here=$(dirname "$0")
cd "$here/../../.." || exit 1
B=${B:-build}
out=$B/peers/vulkan
PROFILES=${PROFILES:-gfx1030 gfx1100}
WAVES=${WAVES:-64 32}
SOFTGPU_OPTIONS=${SOFTGPU_OPTIONS:-}
export MESA_SHADER_CACHE_DISABLE=1 XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-/tmp}"

icd() { ls /usr/share/vulkan/icd.d/"$1"_icd.*.json 2>/dev/null | head -1; }
lvp=$(icd lvp) radeon=$(icd radeon) missing=
command -v glslangValidator >/dev/null || missing="$missing glslang-tools"
[ -f /usr/include/vulkan/vulkan.h ] || missing="$missing libvulkan-dev"
[ -n "$lvp" ] && [ -n "$radeon" ] || missing="$missing mesa-vulkan-drivers"
if [ -n "$missing" ]; then
	echo "missing Debian packages:$missing"
	exit 77
fi
mkdir -p "$out"
make -s -C tests/peers/vulkan OUT="$(cd "$out" && pwd)" >"$out/build.log" 2>&1 || { cat "$out/build.log"; exit 1; }

with_icd() { # ICD, command…
	VK_ICD_FILENAMES=$1 VK_DRIVER_FILES=$1
	export VK_ICD_FILENAMES VK_DRIVER_FILES
	shift
	"$@"
}

passed=0 failed=0 skipped=0
count() { # title, results file: adds up and prints the row, then what failed
	set -- "$1" "$2" $(awk '$1 == "pass" {p++} $1 == "FAIL" {f++} $1 == "skip" {s++} END {print p + 0, f + 0, s + 0}' "$2")
	passed=$((passed + $3)) failed=$((failed + $4)) skipped=$((skipped + $5))
	printf '%-24s %3d passed, %3d failed, %3d skipped\n' "$1" "$3" "$4" "$5"
	sed -n 's/^FAIL /    FAIL /p; s/^skip /    skip /p' "$2"
}

# Judges one run: every case of the peer must be there, say ok, and have the peer's hash.
compare() { # peer's output, output
	awk '
	FNR == NR { if ($1 == "case") { peer[$2] = $4; hash[$2] = $5; order[++n] = $2 } ; next }
	$1 != "case" { next }
	{ seen[$2]++; name = $2 " " $3; rest = $0; sub(/^case [^ ]+ [^ ]+ /, "", rest) }
	$4 == "skip" { print "skip", name, rest; next }
	$4 != "ok" { print "FAIL", name, rest; next }
	peer[$2] == "ok" && hash[$2] != $5 { print "FAIL", name, $5, "but lavapipe has", hash[$2]; next }
	{ print "pass", name, (peer[$2] == "ok" ? "" : "(against the CPU only)") }
	END { for (i = 1; i <= n; i++) if (!seen[order[i]]) print "FAIL", order[i] ": no result" }
	' "$1" "$2"
}

with_icd "$lvp" "$out/vksuite" "$@" >"$out/lavapipe.txt" 2>"$out/lavapipe.err"
compare "$out/lavapipe.txt" "$out/lavapipe.txt" >"$out/lavapipe.verdict"
count lavapipe "$out/lavapipe.verdict"
[ -s "$out/lavapipe.verdict" ] || { cat "$out/lavapipe.txt"; echo "lavapipe gave no result"; failed=$((failed + 1)); }

device() { # profile: vulkaninfo must name RADV and the chip
	case $1 in gfx1030) chip=NAVI21 ;; *) chip=$(echo "$1" | tr a-z A-Z) ;; esac
	command -v vulkaninfo >/dev/null || { echo "skip vulkaninfo: no vulkan-tools"; return; }
	with_icd "$radeon" "$B/bin/softgpu" --profile "$1" -- vulkaninfo --summary >"$out/vulkaninfo-$1.txt" 2>/dev/null
	grep -q "deviceName.*RADV $chip" "$out/vulkaninfo-$1.txt" && echo "pass vulkaninfo" || echo "FAIL vulkaninfo: no RADV $chip"
}

for profile in $PROFILES; do
	device "$profile" >"$out/device.verdict"
	count "vulkaninfo $profile" "$out/device.verdict"
	for wave in $WAVES; do
		run=radv-$profile-wave$wave
		[ "$wave" = 32 ] && perf=cswave32 || perf=
		# A busy machine needs time, so nothing but the endless loop has a short limit.
		case " $* " in
		"  ") limits="60000:-device-lost 1000:device-lost" ;;
		*" device-lost "*) limits=1000: ;;
		*) limits=60000: ;;
		esac
		: >"$out/$run.txt" && : >"$out/$run.err"
		# shellcheck disable=SC2086
		for limit in $limits; do
			RADV_PERFTEST=$perf with_icd "$radeon" "$B/bin/softgpu" --profile "$profile" --timeout-ms "${limit%%:*}" \
				$SOFTGPU_OPTIONS -- "$out/vksuite" "$@" ${limit#*:} >>"$out/$run.txt" 2>>"$out/$run.err"
		done
		compare "$out/lavapipe.txt" "$out/$run.txt" >"$out/$run.verdict"
		count "radv $profile wave$wave" "$out/$run.verdict"
	done
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
