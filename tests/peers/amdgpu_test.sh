#!/bin/sh
# SPDX-License-Identifier: MIT
# libdrm's own amdgpu_test and amdgpu_stress, built from Debian's source package, under softgpu.
#   amdgpu_test.sh [SUITE[:TEST]…]     numbers as amdgpu_test -l gives them; default: all
#   PROFILES="gfx1100 gfx1030"  B=build
# The source is downloaded with package lists of its own and built in $B/peers/libdrm; nothing of it belongs to this project.
# Each test runs in its own process, also those that the program itself switches off for newer chips (its -f).
# Exit status: 0 all passed, 1 not, 77 packages are missing or there is no source to be had.
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
PROFILES=${PROFILES:-gfx1100 gfx1030}
dir=$B/peers/libdrm
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)

missing=
for p in meson ninja-build libcunit1-dev libpciaccess-dev dpkg-dev; do
	dpkg-query -W -f='${Status}' $p 2>/dev/null | grep -q 'install ok installed' || missing="$missing $p"
done
[ -z "$missing" ] || { echo "missing Debian packages:$missing"; exit 77; }

# ---- source and build ----
fetch() { # the system's own mirror, read through lists and caches kept here
	mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' 'Origin: Debian' |
		awk '$2 !~ /-/ {print $1, $2; exit}')
	[ -n "$mirror" ] || { echo "apt knows no Debian mirror (apt-get update?)"; exit 77; }
	mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial"
	echo "deb-src $mirror main" >"$dir/apt/sources.list"
	set -- -qq -o Dir::Etc::sourcelist="$dir/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::lists="$dir/apt/lists" -o Dir::Cache="$dir/apt/cache" -o APT::Sandbox::User=root
	(cd "$dir" && apt-get "$@" update && apt-get "$@" source libdrm) >"$dir/fetch.log" 2>&1 ||
		{ tail -5 "$dir/fetch.log"; exit 77; }
}

find_source() { for d in "$dir"/libdrm-*/; do [ -d "$d/tests/amdgpu" ] && source=$d; done; }
source=
find_source
[ -n "$source" ] || { fetch; find_source; }
[ -n "$source" ] || { echo "no libdrm source"; exit 77; }

tests=$dir/build/tests/amdgpu
if [ ! -x "$tests/amdgpu_stress" ] || [ ! -x "$tests/amdgpu_test" ]; then
	{ meson setup "$dir/build" "$source" --prefix=/usr -Damdgpu=enabled -Dintel=disabled -Dradeon=disabled -Dnouveau=disabled \
		-Dvmwgfx=disabled -Dcairo-tests=disabled -Dman-pages=disabled -Dvalgrind=disabled -Dtests=true &&
		ninja -C "$dir/build" tests/amdgpu/amdgpu_test tests/amdgpu/amdgpu_stress; } >"$dir/build.log" 2>&1 ||
		{ tail -20 "$dir/build.log"; exit 1; }
fi

# ---- what is left out, and why ----
reason() { # suite test
	case $1:$2 in
	1:12 | 8:10 | 8:11) echo "draws; softgpu has shader cores but no graphics pipeline" ;;
	3:*) echo "UVD (video) ring, chips before Vega only" ;;
	4:* | 5:* | 6:* | 7:*) echo "video and JPEG engines" ;;
	8:13) echo "one IB of 1834994 dwords: Linux 6.12 refuses more than 0xfffff with EINVAL" ;;
	10:*) echo "RAS: error injection on server chips with ECC, through debugfs" ;;
	12:*) echo "TMZ (encrypted memory), not in these profiles" ;;
	13:*) echo "unplugs the PCI device through sysfs" ;;
	14:[345]) echo "needs a second GPU as peer" ;;
	esac
}

# Suites and their numbers of tests, in amdgpu_test.c's order.
plan="1:14 2:6 3:3 4:4 5:6 6:1 7:4 8:13 9:3 10:5 11:1 12:4 13:4 14:5"

each_test() { # suite:test for what was asked for
	for s in $plan; do
		t=1
		while [ $t -le "${s#*:}" ]; do
			[ $# = 0 ] && echo "${s%:*}:$t"
			for want; do
				[ "$want" = "${s%:*}" ] || [ "$want" = "${s%:*}:$t" ] && echo "${s%:*}:$t"
			done
			t=$((t + 1))
		done
	done
}

# ---- running ----
passed=0 failed=0 skipped=0

run_test() { # profile suite test
	log=$dir/$1-$2-$3.log
	timeout 120 "$B/bin/softgpu" --profile "$1" --timeout-ms 1000 -- "$tests/amdgpu_test" -s "$2" -t "$3" -f >"$log" 2>&1
	status=$?
	suite=$(sed -n 's/^Suite: //p' "$log" | tail -1)
	name=$(sed -n 's/^  Test: \(.*\) \.\.\..*/\1/p' "$log" | tail -1)
	if grep -q '^ *tests *[0-9]* *1 *1 *0 ' "$log"; then
		verdict=ok
	else
		verdict="FAIL $(grep -m1 '^ *1\. ' "$log" | sed 's/.*tests.amdgpu.//')"
		[ $status = 0 ] || verdict="FAIL status $status"
	fi
	echo "$2 $verdict" >>"$dir/$1.results"
	printf '  %-6s %-58s %s\n' "$2:$3" "$suite: ${name:-?}" "$verdict"
}

run_stress() { # profile
	timeout 120 "$B/bin/softgpu" --profile "$1" -- "$tests/amdgpu_stress" -b v 16M -b g 16M -b vg 3M -c 1 2 16M 10 -c 2 1 16M 10 \
		-c 1 3 1M 100 >"$dir/$1-stress.log" 2>&1
	status=$?
	[ $status = 0 ] && [ "$(grep -c '^Submitted' "$dir/$1-stress.log")" = 3 ] && verdict=ok || verdict="FAIL status $status"
	echo "0 $verdict" >>"$dir/$1.results"
	printf '  %-6s %-58s %s\n' - "amdgpu_stress" "$verdict"
}

for profile in $PROFILES; do
	echo "== $profile"
	: >"$dir/$profile.results"
	for t in $(each_test "$@"); do
		why=$(reason "${t%:*}" "${t#*:}")
		[ -n "$why" ] || run_test "$profile" "${t%:*}" "${t#*:}"
	done
	[ $# != 0 ] || run_stress "$profile"
	awk '{ n[$1]++; if ($2 == "ok") ok[$1]++ } END { for (s = 0; s < 20; s++) if (n[s])
		printf "  %s: %d passed, %d failed\n", s ? "suite " s : "amdgpu_stress", ok[s], n[s] - ok[s] }' "$dir/$profile.results"
	p=$(grep -c ' ok$' "$dir/$profile.results") n=$(wc -l <"$dir/$profile.results")
	passed=$((passed + p)) failed=$((failed + n - p))
done

echo "== not run"
for t in $(each_test "$@"); do
	why=$(reason "${t%:*}" "${t#*:}")
	[ -z "$why" ] || printf '%s\t%s\n' "$t" "$why"
done >"$dir/not-run.txt"
awk -F'\t' '!($2 in list) { order[++n] = $2 } { list[$2] = list[$2] " " $1 }
	END { for (i = 1; i <= n; i++) printf " %s: %s\n", list[order[i]], order[i] }' "$dir/not-run.txt"
skipped=$(wc -l <"$dir/not-run.txt")
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
