#!/bin/sh
# SPDX-License-Identifier: MIT
# Promise: an inference costs the same for 1 and for 1024 dispatches, allocates nothing, is one system call unless a ring
# of the caller's is entered for it, and few instructions in user space (docs/costs.md). The limits on instructions are
# a tenth above what was measured.
set -u
B=${B:-build}
[ -z "${SAN:-}" ] || { echo "skipped: sanitizer builds cost more"; exit 77; }
command -v valgrind >/dev/null || { echo "skipped: no valgrind"; exit 77; }
command -v strace >/dev/null || { echo "skipped: no strace"; exit 77; }
strace -o /dev/null true 2>/dev/null || { echo "skipped: ptrace is not permitted here"; exit 77; }
here=$(dirname "$0")/../tools/bench-submit
dir=$B/tests/submit-cost
mkdir -p "$dir"
: >"$dir/costs"
for n in 1 1024; do
	B=$B sh "$here/counts.sh" instructions "$B/bin/bench-submit" --only $n | sed -n 's/^\(poll\|wait\|reap\|ring\) /instructions \1 /p'
	B=$B sh "$here/counts.sh" syscalls "$B/bin/bench-submit" --only $n | sed 's/^/syscalls /'
done >"$dir/costs"
awk '
	BEGIN {
		most["poll"] = 205; most["wait"] = 272; most["reap"] = 288; most["ring"] = 365
		calls["poll"] = calls["wait"] = calls["reap"] = 1; calls["ring"] = 2
	}
	function wrong(why) { print "  wrong: " why; bad = 1 }
	$1 == "instructions" {
		print $2 " of " $3 " dispatches: " $4 " instructions (at most " most[$2] "), " $5 " allocations"
		seen++
		if (!($4 > 0 && $4 <= most[$2])) wrong("instructions")
		if ($5 != 0) wrong("allocations")
		if ($2 in first && first[$2] != $4) wrong("1 dispatch takes " first[$2])
		first[$2] = $4
	}
	$1 == "syscalls" {
		print $2 " of " $3 " dispatches: " $4 " system calls (" calls[$2] ")"
		seen++
		if ($4 != calls[$2]) wrong("system calls")
	}
	END {
		if (seen != 16) wrong(seen + 0 " results of 16")
		exit bad
	}
' "$dir/costs"
