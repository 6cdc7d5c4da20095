#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs test programs and prints one line each and a count of test cases.
#   unit, fuzz: run as they are; check_*.sh: shell tests; device: under softgpu, strict and hostile, as gfx1100 and, where
#   the chip matters, as gfx1030 too.
# Exit status 77 = skipped. Each has a log in $B/tests/logs.
set -u
B=${B:-build}
logs=$B/tests/logs
mkdir -p "$logs"
export B
passed=0 failed=0 skipped=0 slowest=0 slowest_name=
begin=$(date +%s)
# Jobs take several times as long under a sanitizer, which is no hang.
[ -z "${SAN:-}" ] || export SOFTGPU_LOCKUP_TIMEOUT_MS="${SOFTGPU_LOCKUP_TIMEOUT_MS:-120000}"

# run NAME COMMAND...
run() {
	name=$1
	log=$logs/$name.log
	start=$(date +%s)
	shift
	timeout 900 "$@" >"$log" 2>&1
	status=$?
	took=$(($(date +%s) - start))
	[ $took -gt $slowest ] && slowest=$took && slowest_name=$name
	cases=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$log" | awk '{n += $1} END {print n + 0}')
	skips=$(grep '^\[  SKIPPED \] [a-z_]' "$log" | sort -u | wc -l) # cmocka names each twice
	bad=$(grep -c '^\[  FAILED  \] [a-z_A-Z0-9]*$' "$log")
	[ "$cases" = 0 ] && cases=1
	case $status in
	0) passed=$((passed + cases)); skipped=$((skipped + skips)); printf '  ok    %-34s %4d cases %4d s\n' "$name" "$cases" "$took" ;;
	77) skipped=$((skipped + 1)); printf '  skip  %-34s %s\n' "$name" "$(tail -1 "$log")" ;;
	*) [ "$bad" = 0 ] && bad=1
	   failed=$((failed + bad)); printf '  FAIL  %-34s status %d, log:\n' "$name" "$status"; tail -40 "$log" | sed 's/^/        /' ;;
	esac
}

for t in "$@"; do
	n=$(basename "$t")
	case $t in
	*/tests/device/*)
		run "$n" "$B/bin/softgpu" --strict --hostile -- "$t"
		case $n in
		test_completion* | test_failures | test_hotpath) ;; # nothing of the chip's in them
		*) run "$n.gfx1030" "$B/bin/softgpu" --strict --hostile --profile gfx1030 -- "$t" ;;
		esac ;;
	*.sh) run "$n" sh "$t" ;;
	*) run "$n" "$t" ;;
	esac
done
echo "slowest: $slowest_name, $slowest s; all: $(($(date +%s) - begin)) s"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
