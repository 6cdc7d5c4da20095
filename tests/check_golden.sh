#!/bin/sh
# SPDX-License-Identifier: MIT
# Promise: the stream of one small plan is, for every target, word for word the one in tests/data/golden, which was read
# packet by packet; and the speech model compiles for each. After a change that is meant: UPDATE=1 sh tests/check_golden.sh, and
# read the difference.
set -u
B=${B:-build}
cd "$(dirname "$0")/.." || exit 1
dir=$B/tests/golden
model=$B/share/gpuplan/models/silero-vad
failed=0 n=0
for code in "$dir"/*.co; do
	target=$(basename "$code" .co)
	"$dir/make_image" "$target" "$code" "$dir/$target.image" || exit 1
	"$B/bin/gpuplan-dump" "$dir/$target.image" >"$dir/$target.dump" || exit 1
	sed -n '/^stream, /,$p' "$dir/$target.dump" >"$dir/$target.txt"
	[ "$(wc -l <"$dir/$target.txt")" -gt 50 ] || { echo "$target: no stream in the dump"; exit 1; }
	if grep -E '^ +\? |unknown packet|not a packet' "$dir/$target.txt"; then
		echo "$target: gpuplan-dump has no name for these"
		failed=1
	fi
	[ -z "${UPDATE:-}" ] || cp "$dir/$target.txt" "tests/data/golden/$target.txt"
	diff -u "tests/data/golden/$target.txt" "$dir/$target.txt" || { echo "$target: another stream"; failed=1; }
	"$B/bin/gpuplan-dump" --target "$target" "$model" >"$dir/model.dump" || { echo "$target: no speech model"; exit 1; }
	if grep -E '^ +\? |unknown packet|not a packet' "$dir/model.dump"; then
		echo "$target: gpuplan-dump has no name for these of the speech model"
		failed=1
	fi
	n=$((n + 1))
done
known=$(ls tests/data/golden/*.txt | wc -l)
[ "$n" = "$known" ] || { echo "$n targets, $known golden streams"; exit 1; }
echo "$n targets, the same streams as before"
exit $failed
