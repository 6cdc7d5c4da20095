#!/bin/sh
# SPDX-License-Identifier: MIT
# Promise: a package's parameters and indirect grids reach the GPU and the dump, and gpuplan-bench --set changes what
# runs, or says why not.
set -u
B=${B:-build}
dir=$B/tests/parameters
mkdir -p "$dir"

die() {
	echo "$*"
	exit 1
}

# 1024 words a workgroup; a workgroup is 8 waves of 32.
cat >"$dir/package.json" <<'JSON'
{
	"format": 1,
	"weights": [],
	"allocations": [
		{ "name": "out", "kind": "scratch", "placement": "host", "bytes": 32768 },
		{ "name": "counts", "kind": "scratch", "bytes": 12 }
	],
	"kernels": [{ "name": "fill", "object": "fill" }],
	"plans": [{
		"name": "direct",
		"parameters": [
			{ "name": "groups", "bytes": 1, "initial": 1, "max": 8 },
			{ "name": "value", "bytes": 4, "initial": { "f32": 0.5 } },
			{ "name": "offset", "bytes": 4, "initial": 0 }
		],
		"inputs": [],
		"outputs": [{ "name": "out", "region": { "allocation": "out", "offset": 0, "bytes": 32768 }, "dtype": "u32", "shape": [8192] }],
		"commands": [
			{ "label": "blank", "fill": { "dst": { "allocation": "out", "offset": 0, "bytes": 32768 }, "value": { "param": "offset" } } },
			{ "label": "words", "dispatch": {
				"kernel": "fill", "grid": [{ "param": "groups" }, 1, 1], "block": [256, 1, 1],
				"bindings": [{ "region": { "allocation": "out", "offset": 0, "bytes": 32768 }, "access": "w" }],
				"args": [{ "binding": 0 }, { "param": "value" }, { "u32": 8192 }]
			} }
		]
	}, {
		"name": "indirect",
		"parameters": [{ "name": "groups", "bytes": 4, "initial": 1, "max": 8 }],
		"inputs": [],
		"outputs": [{ "name": "out", "region": { "allocation": "out", "offset": 0, "bytes": 32768 }, "dtype": "u32", "shape": [8192] }],
		"commands": [
			{ "fill": { "dst": { "allocation": "counts", "offset": 4, "bytes": 8 }, "value": 1 } },
			{ "fill": { "dst": { "allocation": "counts", "offset": 0, "bytes": 4 }, "value": { "param": "groups" } } },
			{ "label": "words", "dispatch": {
				"kernel": "fill", "grid": [8, 1, 1], "block": [256, 1, 1],
				"grid_from": { "allocation": "counts", "offset": 0, "bytes": 12 },
				"bindings": [{ "region": { "allocation": "out", "offset": 0, "bytes": 32768 }, "access": "w" }],
				"args": [{ "binding": 0 }, { "u32": 5 }, { "u32": 8192 }]
			} }
		]
	}]
}
JSON

# waves PLAN WANTED OPTIONS...: 10 runs launch that many waves
waves() {
	plan=$1 wanted=$2
	shift 2
	SOFTGPU_REPORT=$dir/report "$B/bin/softgpu" --strict --hostile -- "$B/bin/gpuplan-bench" --slots 2 --count 10 --plan "$plan" \
		"$@" "$dir" >"$dir/out" 2>&1 || die "$plan $*: $(cat "$dir/out")"
	grep -q "\"waves\":$wanted," "$dir/report" || die "$plan $*: $wanted waves wanted: $(grep -o '"waves":[0-9]*' "$dir/report")"
}
for plan in direct indirect; do
	waves $plan 80
	waves $plan 240 --set groups=3
	waves $plan 640 --set groups=0x8
	waves $plan 0 --set groups=0
done
waves direct 160 --set value=-2.5e3 --set offset=-1 --set groups=2
echo "2 plans launch as many waves as their parameters say"

# refused SETTING WORD
refused() {
	"$B/bin/softgpu" -- "$B/bin/gpuplan-bench" --plan direct --set "$1" "$dir" >"$dir/out" 2>"$dir/err"
	[ $? = 2 ] || die "--set $1 was not refused with status 2"
	grep -q "^gpuplan-bench: --set.*$2" "$dir/err" || die "--set $1: no word of \"$2\": $(cat "$dir/err")"
}
refused groups "NAME=VALUE"
refused =5 "NAME=VALUE"
refused depth=5 'no parameter "depth", it has groups, value, offset'
refused groups=9 'is 9, parameter "groups" is 0 to 8'
refused groups=256 "has 1 bytes, too few for 256"
refused groups=1.5 "has 1 bytes, a fraction has 4 or 8"
refused groups= "no number"
refused groups=5x "no number"
refused value=1.5x "no number"
refused offset=-2147483649 "has 4 bytes, too few for -2147483649"
echo "10 settings are refused"

# ---- the dump tells of them, also of a saved image ----
for plan in direct indirect; do
	"$B/bin/gpuplan-dump" --plan $plan --image "$dir/$plan.image" "$dir" >"$dir/$plan" || die "dump of $plan"
	"$B/bin/gpuplan-dump" "$dir/$plan.image" | cmp -s - "$dir/$plan" || die "the image of $plan says something else"
done
# told PLAN LINE
told() {
	grep -q -E "$2" "$dir/$1" || die "the dump of $1 has no line like: $2"
}
told direct '^parameters: 3$'
told direct '^ +0 groups +1 bytes, 0 to 8, at first 1, 1 places$'
told direct '^ +1 value +4 bytes, 0 to 4294967295, at first 1056964608, 1 places$'
told direct '^ +stream dword [0-9]+, 4 bytes of command 1 words$'
told direct '^ +arguments byte 8, 4 bytes of command 1 words$'
told direct '^ +stream dword [0-9]+, 4 bytes of command 0 blank$'
told direct 'fill +blank +value \(offset\)'
told direct 'words +fill grid \(groups\)x1x1 of 256x1x1'
told direct 'DISPATCH_DIRECT \(groups\) x 1 x 1 workgroups'
told direct 'DMA_DATA .* \(offset\) '
told indirect 'words +fill grid in counts\[0\.\.12\), up to 8x1x1 of 256x1x1'
told indirect '^ +reads +counts\[0\.\.12\) \(command processor, for the grid\)$'
told indirect 'DISPATCH_INDIRECT .*slot device'
echo "and the dump names them"
