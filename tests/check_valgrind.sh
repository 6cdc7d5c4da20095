#!/bin/sh
# SPDX-License-Identifier: MIT
# The demo under valgrind: no error, nothing lost. Completion by wait: valgrind 3.19 keeps its one lock while a thread
# is inside io_uring_enter, so the device's thread would never run.
set -u
B=${B:-build}
[ -z "${SAN:-}" ] || { echo "skipped: sanitizer builds do not run under valgrind"; exit 77; }
command -v valgrind >/dev/null || { echo "skipped: no valgrind"; exit 77; }
log=$B/tests/valgrind.log
SOFTGPU_SIMD=avx2 "$B/bin/softgpu" -- valgrind --fair-sched=yes --leak-check=full --error-exitcode=9 --log-file="$log" \
	"$B/bin/gpuplan-bench" --verify --count 6 --slots 2 --completion wait
status=$?
cat "$log"
[ $status = 0 ] || exit 1
grep -q 'definitely lost: 0 bytes' "$log" && grep -q 'indirectly lost: 0 bytes' "$log" && grep -q 'ERROR SUMMARY: 0 errors' "$log"
