#!/bin/sh
# SPDX-License-Identifier: MIT
# counts.sh instructions|syscalls|sleeping COMMAND...: what one inference costs in a program that marks its loops
# (mark.h), one line for each of its cases. "plan" lines that it prints are passed on.
#
#   instructions  "WAY PLAN instructions allocations OBJECT=..." in user space, softgpu excluded; by callgrind, which
#                 hides the vDSO: reading a clock counts as a system call's few instructions
#   syscalls      "WAY PLAN calls NAME=..."; jobs are done when submitted
#   sleeping      the same with jobs that take 3 ms, so that every wait sleeps
set -eu
B=${B:-build}
dir=$B/bench-submit/$$
what=$1
shift
rm -rf "$dir"
mkdir -p "$dir"
# Kept when something fails.
fail() {
	cat "$dir/log" >&2
	exit 2
}
case $what in
instructions)
	SOFTGPU_EXECUTE=0 SOFTGPU_SIMD=avx2 "$B/bin/softgpu" -- valgrind -q --tool=callgrind --instr-atstart=no \
		--separate-threads=yes --callgrind-out-file="$dir/out" "$@" >"$dir/log" 2>&1 || fail
	grep '^plan ' "$dir/log" || :
	# The main thread's.
	awk -f "$(dirname "$0")/costs.awk" "$dir"/out*-01
	;;
*)
	# Each emulated ioctl enters the kernel once. When jobs take time the device's ring spins, so that its doorbell is
	# no system call; descriptors it looks up and makes are its own business.
	if [ "$what" = syscalls ]; then
		export SOFTGPU_EXECUTE=0
		device=none
	else
		export SOFTGPU_RING_SPIN_US=1000000 SOFTGPU_JOB_DELAY_US=3000
		device='fcntl|readlinkat|futex|poll|write'
	fi
	SOFTGPU_SYSCALLS=1 "$B/bin/softgpu" -- strace -o "$dir/trace" "$@" >"$dir/log" 2>&1 || fail
	awk -v device="$device" -f "$(dirname "$0")/syscalls.awk" "$dir/trace"
	;;
esac
rm -rf "$dir"
