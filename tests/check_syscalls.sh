#!/bin/sh
# SPDX-License-Identifier: MIT
# Promise: in the steady state an inference is one system call when polled, at most three when every single one sleeps,
# and no memory is mapped or unmapped.
#
# strace counts the main thread of gpuplan-bench over 10,000 inferences of a plan of one fill. A run of few is taken
# from one of many: starting and stopping cancel out.
#
# softgpu works in the caller's thread where a kernel would work in the kernel. It enters the kernel once for each ioctl
# it answers (SOFTGPU_SYSCALLS=1), and its ring spins, so that the doorbell is no system call. What else it calls inside
# of an ioctl is told apart by call stacks and is not counted: only names that nobody calls outside of one. Nor is its
# lock (futex): gpuplan-bench has one thread, so no lock of the library is ever contended.
set -u
B=${B:-build}
dir=$B/tests/syscalls
mkdir -p "$dir"

[ -z "${SAN:-}" ] || { echo "the sanitizer makes system calls of its own"; exit 77; }
command -v strace >/dev/null || { echo "no strace here"; exit 77; }
strace -c -o "$dir/probe" true 2>/dev/null || { echo "ptrace is not permitted here"; exit 77; }

cat >"$dir/package.json" <<'JSON'
{
	"format": 1,
	"weights": [],
	"allocations": [{ "name": "out", "kind": "scratch", "placement": "host", "bytes": 256 }],
	"kernels": [],
	"plans": [{
		"name": "one fill",
		"inputs": [],
		"outputs": [{
			"name": "out",
			"region": { "allocation": "out", "offset": 0, "bytes": 256 },
			"dtype": "u32",
			"shape": [64]
		}],
		"commands": [{ "fill": { "dst": { "allocation": "out", "offset": 0, "bytes": 256 }, "value": 7 } }]
	}]
}
JSON

# run FILE HOW COUNT DELAY STRACE-OPTIONS: strace's output in FILE
run() {
	file=$dir/$1 how=$2 count=$3 delay=$4
	shift 4
	SOFTGPU_SYSCALLS=1 SOFTGPU_RING_SPIN_US=1000000 SOFTGPU_JOB_DELAY_US=$delay "$B/bin/softgpu" -- \
		strace "$@" -o "$file" "$B/bin/gpuplan-bench" --slots 1 --completion "$how" --count "$count" --json "$dir" \
		>"$file.out" 2>&1 && return
	echo "gpuplan-bench --completion $how --count $count failed:"
	cat "$file.out"
	exit 1
}

# stacks FILE: "name calls-inside-of-softgpu's-ioctl calls-outside"
stacks() {
	awk '
		function flush() { if (name != "") { inside[name] += here; outside[name] += !here }; here = 0 }
		/^ > / { if (/libsoftgpu\.so\(ioctl\+/) here = 1; next }
		{ flush(); name = ""; if (match($0, /^[a-z_0-9]+\(/)) name = substr($0, 1, RLENGTH - 1) }
		END { flush(); for (n in outside) print n, inside[n] + 0, outside[n] + 0 }
	' "$dir/$1" | sort
}

# steady HOW FEW MANY: "name calls" of the inferences that MANY has and FEW has not
steady() {
	awk -v few="$dir/$1.$2" '
		$2 !~ /^[0-9]+$/ || $1 == "total" { next }
		FILENAME == few { before[$1] = $2; next }
		$2 > before[$1] { print $1, $2 - before[$1] }
	' "$dir/$1.$2" "$dir/$1.$3" | sort -k2nr
}

# device_names HOW DELAY: of the steady calls, those that more inferences make inside of ioctls only
device_names() {
	names=$(awk '$1 !~ /^(ioctl|io_uring_enter|futex)$/ { printf "%s%s", comma, $1; comma = "," }' "$dir/$1.steady")
	: >"$dir/$1.names1"
	: >"$dir/$1.names2"
	if [ -n "$names" ]; then
		run "$1.stacks1" "$1" 20 "$2" -k -e "trace=$names"
		run "$1.stacks2" "$1" 60 "$2" -k -e "trace=$names"
		stacks "$1.stacks1" >"$dir/$1.names1"
		stacks "$1.stacks2" >"$dir/$1.names2"
	fi
	awk '
		BEGIN { print "futex" }
		FILENAME == first { outside[$1] = $3; next }
		$2 && $3 == outside[$1] + 0 { print $1 }
	' first="$dir/$1.names1" "$dir/$1.names1" "$dir/$1.names2" >"$dir/$1.device"
}

# check HOW DELAY INFERENCES MOST: at most MOST system calls per inference, none for memory
check() {
	few=40 many=$((40 + $3))
	run "$1.$few" "$1" $few "$2" -c -U name,calls
	run "$1.$many" "$1" $many "$2" -c -U name,calls
	steady "$1" $few $many >"$dir/$1.steady"
	device_names "$1" "$2"
	awk -v how="$1" -v few=$few -v n="$3" -v most="$4" -v device="$dir/$1.device" '
		FILENAME == device { softgpu[$1] = 1; next }
		$1 ~ /^(mmap|munmap|mremap|brk|mprotect|madvise)$/ { memory += $2 }
		$1 in softgpu { other = other sprintf("  %s %.4f", $1, $2 / n); next }
		{ sum += $2; line = line sprintf("  %s %.4f", $1, $2 / n) }
		END {
			printf "%-5s %d inferences, %.4f system calls each:%s\n", how, n, sum / n, line
			if (other) print "      of softgpu itself:" other
			if (memory) print how ": " memory " system calls for memory"
			# The few that are taken off may all have been cheap ones, and softgpu stops its threads now with
			# less, now with more yielding: 5 in a thousand. Below one each nothing was measured.
			exit memory != 0 || sum > (most + 0.005) * n + (most - 1) * few || sum < 0.99 * n
		}
	' "$dir/$1.device" "$dir/$1.steady" || { echo "$1: that is too many, $4 at most"; failed=1; }
}

failed=0
check poll 0 10000 1
check ring 100 10000 3
check reap 100 10000 3
check wait 100 1000 4
[ $failed = 0 ]
