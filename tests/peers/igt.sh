#!/bin/sh
# SPDX-License-Identifier: MIT
# IGT's amdgpu tests, built from Debian's source package, under softgpu.
#   igt.sh [TEST[:SUBTEST]…]           default: all that need neither display nor video
#   PROFILES="gfx1100 gfx1030"  B=build  IGT_SOURCE=unpacked tree, instead of the download
# The package is trixie's (intel-gpu-tools 2.0): the 1.27.1 of bookworm knows no gfx11 chip and has no command emitters for
# gfx10.3. It is downloaded with package lists of its own and built in $B/peers/igt; nothing of it belongs to this project.
# Each subtest runs in its own process.
# Exit status: 0 all passed, 1 not, 77 packages are missing or there is no source to be had.
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
PROFILES=${PROFILES:-gfx1100 gfx1030}
dir=$B/peers/igt
mkdir -p "$dir/bin"
dir=$(cd "$dir" && pwd)

missing=
for p in meson ninja-build bison flex pkg-config dpkg-dev libcairo2-dev libpixman-1-dev libdrm-dev libdw-dev libglib2.0-dev \
	libkmod-dev libpciaccess-dev libproc2-dev libudev-dev libunwind-dev python3-docutils; do
	dpkg-query -W -f='${Status}' $p 2>/dev/null | grep -q 'install ok installed' || missing="$missing $p"
done
[ -z "$missing" ] || { echo "missing Debian packages:$missing"; exit 77; }

# ---- source and build ----
fetch() {
	mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' 'Origin: Debian' |
		awk '$2 !~ /-/ {print $1; exit}')
	[ -n "$mirror" ] || { echo "apt knows no Debian mirror (apt-get update?)"; exit 77; }
	mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial"
	echo "deb-src $mirror trixie main" >"$dir/apt/sources.list"
	set -- -qq -o Dir::Etc::sourcelist="$dir/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::lists="$dir/apt/lists" -o Dir::Cache="$dir/apt/cache" -o APT::Sandbox::User=root
	(cd "$dir" && apt-get "$@" update && apt-get "$@" source intel-gpu-tools) >"$dir/fetch.log" 2>&1 ||
		{ tail -5 "$dir/fetch.log"; echo "no IGT source"; exit 77; }
}

source=${IGT_SOURCE:-}
find_source() { for d in "$dir"/intel-gpu-tools-*/; do [ -d "$d/tests/amdgpu" ] && source=$d; done; }
[ -n "$source" ] || find_source
[ -n "$source" ] || { fetch; find_source; }
[ -d "$source/tests/amdgpu" ] || { echo "no IGT source"; exit 77; }

# User queues, display, video, suspend and the module's own tests are not asked for.
programs="amd_basic amd_basic_ex amd_basic_multi_gpu amd_bo amd_cp_dma_misc amd_cs_nop amd_deadlock amd_dispatch amd_fuzzing \
	amd_gang_cs amd_info amd_pci_unplug amd_prime amd_pstate amd_queue_reset amd_ras amd_security amd_syncobj amd_vm"
tests=$dir/build/tests/amdgpu
if [ ! -x "$tests/amd_vm" ]; then
	{ [ -f "$dir/build/build.ninja" ] || meson setup "$dir/build" "$source" -Dtests=enabled -Dlibdrm_drivers=amdgpu -Dman=disabled \
		-Ddocs=disabled -Doverlay=disabled -Dchamelium=disabled -Dvalgrind=disabled -Drunner=disabled -Dversion_hash=debian &&
		ninja -C "$dir/build" $(for p in $programs; do echo "tests/amdgpu/$p"; done); } >"$dir/build.log" 2>&1 ||
		{ tail -20 "$dir/build.log"; exit 1; }
fi

# Tests read sysfs with "sudo cat".
command -v sudo >/dev/null || { printf '#!/bin/sh\nexec "$@"\n' >"$dir/bin/sudo" && chmod +x "$dir/bin/sudo" && PATH=$PATH:$dir/bin; }
export PATH IGT_NO_KMSG=1

# ---- what is left out, and why ----
reason() { # profile test subtest
	case $2:$3 in
	*:*UMQ | *:*UQM) echo "user queues: Linux 6.16 and later" ;;
	amd_fuzzing:gem-create-fuzzing) echo "switches tracing on in debugfs" ;;
	amd_pci_unplug:*) echo "unplugs the PCI device through sysfs" ;;
	amd_prime:*) echo "needs an Intel GPU as well" ;;
	amd_queue_reset:*) echo "starts its partner with an empty environment, so without softgpu" ;;
	amd_ras:*) echo "RAS: server chips with ECC" ;;
	amd_security:*) echo "TMZ (encrypted memory), not in these profiles" ;;
	esac
	case $1:$2:$3 in
	gfx11*:amd_basic:cs-multi-fence*) echo "switches itself off on gfx11 (constant engine)" ;;
	esac
}

# ---- running ----
wanted() { # test subtest, what was asked for…
	t=$1 s=$2
	shift 2
	[ $# = 0 ] && return 0
	for want; do
		[ "$want" = "$t" ] || [ "$want" = "$t:$s" ] && return 0
	done
	return 1
}

run_test() { # profile test subtest
	log=$dir/$1-$2-$3.log
	case $2 in amd_deadlock | amd_dispatch) recovery=ring ;; *) recovery=full ;; esac # they ask sysfs for queue resets
	SOFTGPU_RECOVERY=$recovery timeout 120 "$B/bin/softgpu" --profile "$1" --timeout-ms 1000 -- "$tests/$2" --run-subtest "$3" >"$log" 2>&1
	case $?:$(grep -a "^Subtest $3: " "$log" | tail -1 | awk '{print $3}') in
	0:SUCCESS) verdict=ok ;;
	77:SKIP) verdict="skip $(grep -am1 '^Test requirement:' "$log")" ;;
	*) verdict="FAIL $(grep -am1 'Failed assertion\|SIGSEGV' "$log" | sed 's/.*CRITICAL: //')" ;;
	esac
	echo "$verdict" >>"$dir/$1.results"
	printf '  %-76s %s\n' "$2: $3" "$verdict"
}

for profile in $PROFILES; do
	echo "== $profile"
	: >"$dir/$profile.results"
	for t in $programs; do
		[ -x "$tests/$t" ] || continue
		for s in $("$tests/$t" --list-subtests 2>/dev/null); do
			wanted "$t" "$s" "$@" || continue
			why=$(reason "$profile" "$t" "$s")
			[ -z "$why" ] || { echo "skip $why" >>"$dir/$profile.results"; printf '  %-76s %s\n' "$t: $s" "skip: $why"; continue; }
			run_test "$profile" "$t" "$s"
		done
	done
done
count() { for profile in $PROFILES; do cat "$dir/$profile.results"; done | grep -c "^$1"; }
failed=$(count FAIL)
echo "$(count ok) passed, $failed failed, $(count skip) skipped"
[ "$failed" = 0 ]
