#!/bin/sh
# SPDX-License-Identifier: MIT
# What one submission costs under SOFTGPU_EXECUTE=0: host instructions per CS ioctl in user space, the caller's own
# among them, by callgrind over two lengths of the same run. The limits are a tenth above what was measured.
set -u
B=${B:-build}
[ -z "${SAN:-}" ] || { echo "skipped: sanitizer builds cost more"; exit 77; }
command -v valgrind >/dev/null || { echo "skipped: no valgrind"; exit 77; }
program=$B/tests/unit/test_softgpu_drm_noexec
status=0

instructions() {
	SOFTGPU_EXECUTE=0 SOFTGPU_SIMD=avx2 "$B/bin/softgpu" -- valgrind --tool=callgrind --callgrind-out-file=/dev/null \
		"$program" --count "$1" "$2" 2>&1 | sed -n 's/.*Collected : //p'
}

while read -r way limit; do
	short=$(instructions "$way" 500)
	long=$(instructions "$way" 1500)
	each=$(((${long:-0} - ${short:-0}) / 1000))
	echo "$way: $each instructions (at most $limit)"
	[ "$each" -gt 0 ] && [ "$each" -le "$limit" ] || status=1
done <<END
ib 1650
fence 1800
syncobj 1900
timeline 2150
eventfd 2500
END
exit $status
