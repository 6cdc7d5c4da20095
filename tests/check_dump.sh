#!/bin/sh
# SPDX-License-Identifier: MIT
# Promise: gpuplan-dump needs no GPU, says the same every time, says it of a saved image as well, names the two commands
# and the bytes behind every barrier, and refuses images that are not whole with a sentence.
set -u
B=${B:-build}
model=$B/share/gpuplan/models/silero-vad
dir=$B/tests/dump
dump=$B/bin/gpuplan-dump
mkdir -p "$dir"

die() {
	echo "$*"
	exit 1
}

# refused FILE WORD: exit status 2, nothing printed, one sentence that contains WORD
refused() {
	"$dump" "$1" >"$dir/refused.out" 2>"$dir/refused.err"
	[ $? = 2 ] || die "$1 ($2) was not refused with status 2"
	[ ! -s "$dir/refused.out" ] || die "$1 was refused after something had been printed"
	[ "$(wc -l <"$dir/refused.err")" = 1 ] || die "$1: not one line but: $(cat "$dir/refused.err")"
	grep -q "^gpuplan-dump: .*$2" "$dir/refused.err" || die "$1: no word of \"$2\": $(cat "$dir/refused.err")"
	n_refused=$((n_refused + 1))
}

# poke FROM TO OFFSET OCTAL...: a copy of FROM with other bytes at OFFSET
poke() {
	cp "$1" "$2"
	printf "$4" | dd of="$2" bs=1 seek="$3" conv=notrunc 2>/dev/null
}

# ---- the same in 20 processes, without a GPU and without softgpu ----
unset LD_PRELOAD 2>/dev/null
"$dump" "$model" >"$dir/all" || die "the speech package cannot be dumped"
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	"$dump" "$model" | cmp -s - "$dir/all" || die "process $i says something else"
done
plans=$("$B/bin/gpuplan-bench" --list "$model")
n=$(echo "$plans" | wc -l)
[ "$(grep -c '^plan "' "$dir/all")" = "$n" ] || die "$n plans, $(grep -c '^plan "' "$dir/all") dumped"
for section in 'plan "' memory allocations 'inputs and outputs' kernels commands barriers: 'stream, '; do
	[ "$(grep -c "^$section" "$dir/all")" -ge "$n" ] || die "section \"$section\" is not there for each plan"
done
echo "$n plans, $(wc -l <"$dir/all") lines, the same in 20 processes"

# ---- a saved image says what its plan says ----
for plan in $plans; do
	"$dump" --plan "$plan" --image "$dir/$plan.image" "$model" >"$dir/$plan.text" || die "plan $plan"
	"$dump" "$dir/$plan.image" | cmp -s - "$dir/$plan.text" || die "the image of plan $plan says something else"
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		"$dump" --plan "$plan" --image "$dir/again.image" "$model" >/dev/null || die "plan $plan"
		cmp -s "$dir/$plan.image" "$dir/again.image" || die "process $i makes another image of plan $plan"
	done
done
"$dump" --target gfx1030 "$model" >"$dir/gfx1030" || die "target gfx1030"
cmp -s "$dir/gfx1030" "$dir/all" && die "gfx1030 and gfx1100 say the same"

# ---- every barrier has its reason ----
all=$(sed -n 's/^barriers: //p' "$dir/all" | awk '{n += $1} END {print n}')
told=$(grep -c -E '^ +[0-9]+ before command [0-9]+: .*, because command [0-9]+ [^ ]+ and command [0-9]+ [^ ]+ conflict \((read after write|write after read|write after write)\) in .+\[[0-9]+\.\.[0-9]+\); [0-9]+ dwords$' "$dir/all")
[ "$all" -gt 0 ] && [ "$told" = "$all" ] || die "$all barriers, $told with two commands and bytes"
headed=$(grep -c -E '^ +-- barrier [0-9]+$' "$dir/all")
[ "$headed" = "$all" ] || die "$all barriers, $headed of them found in the streams"
grep -q -i 'unknown packet\|not a packet' "$dir/all" && die "a packet without a name"
grep -q -E '^ {18}\? ' "$dir/all" && die "a register without a name"
echo "$all barriers, each with two commands and bytes"

# ---- what is not whole is refused ----
n_refused=0
image=$dir/$(echo "$plans" | head -1).image
size=$(wc -c <"$image")
for keep in 8 40 $((size / 2)) $((size - 8)) $((size - 1)); do
	head -c "$keep" "$image" >"$dir/cut.image"
	refused "$dir/cut.image" "bytes"
done
cat "$image" "$image" >"$dir/twice.image"
refused "$dir/twice.image" "bytes"
# Offsets of uapi/plan_image.h: version 8, target 16, name 32. The checksum catches every other change.
poke "$image" "$dir/bad.image" 8 '\002'
refused "$dir/bad.image" "version 2"
poke "$image" "$dir/bad.image" 32 '\377\377\377\377'
refused "$dir/bad.image" "damaged"
poke "$image" "$dir/bad.image" $((size / 2)) '\125\252'
refused "$dir/bad.image" "damaged"
echo "not an image" >"$dir/text.image"
refused "$dir/text.image" "JSON\|package\|line"
: >"$dir/empty.image"
refused "$dir/empty.image" "."
refused "$dir/nothing.image" "No such file"
echo "$n_refused files that are no whole image are refused"
