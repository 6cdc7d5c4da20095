#!/bin/sh
# SPDX-License-Identifier: MIT
# Small programs of Debian's packages, as installed, under softgpu: each must find the card and say what this script looks for.
#   PROFILES="gfx1100 gfx1030"  B=build
# Exit status: 0 all passed, 1 not, 77 none of the packages is installed.
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
PROFILES=${PROFILES:-gfx1100 gfx1030}
out=$B/peers/tools
mkdir -p "$out"
passed=0 failed=0 skipped=0

try() { # package, words that must appear, command…
	package=$1 words=$2
	shift 2
	if ! command -v "$1" >/dev/null; then
		printf '  %-16s skip: no package %s\n' "$1" "$package"
		skipped=$((skipped + 1))
		return
	fi
	timeout 60 "$B/bin/softgpu" --profile "$profile" -- "$@" >"$out/$profile-$1.txt" 2>&1
	status=$?
	verdict=ok
	for word in $words; do
		grep -q -- "$word" "$out/$profile-$1.txt" || verdict="FAIL status $status, no \"$word\""
	done
	[ $status = 0 ] || verdict="FAIL status $status"
	printf '  %-16s %s\n' "$1" "$verdict"
	case $verdict in ok) passed=$((passed + 1)) ;; *) failed=$((failed + 1)) ;; esac
}

for profile in $PROFILES; do
	echo "== $profile"
	case $profile in gfx1030) device=73bf ;; *) device=744c ;; esac
	try libdrm-tests "/dev/dri/card0 /dev/dri/renderD128 1002 $device" drmdevice
	try libdrm-tests "Submitted.5.IBs.to.copy.from.1 Submitted.3.IBs.to.copy.from.2" amdgpu_stress -b v 16M -b g 16M -c 1 2 16M 5 -c 2 1 1M 3
	try radeontop "vram mclk sclk" radeontop -d - -l 1
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $((passed + failed)) != 0 ] || exit 77
[ $failed = 0 ]
