#!/bin/sh
# SPDX-License-Identifier: MIT
# OpenCL: Mesa's Clover on radeonsi under softgpu against PoCL on the processor, hash by hash.
#   run.sh
#   PROFILES="gfx1030 gfx1100"  B=build
# Debian's libclc has no file for gfx10 and gfx11, although Clover asks for one of that name. The kernels' library is the same
# for all of them: the name is supplied in a mount namespace of this script's own, which needs root.
# Exit status: 0 all passed, 1 not, 77 packages are missing or there is no such namespace.
set -u
here=$(dirname "$0")
cd "$here/../../.." || exit 1
B=${B:-build}
PROFILES=${PROFILES:-gfx1030 gfx1100}
out=$B/peers/opencl
mkdir -p "$out/clc"
out=$(cd "$out" && pwd)

missing=
for p in mesa-opencl-icd pocl-opencl-icd ocl-icd-opencl-dev clinfo libclc-15; do
	dpkg-query -W -f='${Status}' $p 2>/dev/null | grep -q 'install ok installed' || missing="$missing $p"
done
[ -z "$missing" ] || { echo "missing Debian packages:$missing"; exit 77; }
unshare -m true 2>/dev/null || { echo "no mount namespace (not root?)"; exit 77; }
${CC:-cc} -std=gnu11 -Wall -Wextra -O2 -o "$out/clsuite" tests/peers/opencl/clsuite.c -lOpenCL || exit 1

clc=/usr/lib/clc
cp -L $clc/gfx906-amdgcn-mesa-mesa3d.bc "$out/clc/gfx906.bc" || exit 77
for chip in gfx1030 gfx1100; do ln -sf gfx906.bc "$out/clc/$chip-amdgcn-mesa-mesa3d.bc"; done

passed=0 failed=0 skipped=0
row() { # verdict, text
	printf '  %-24s %s\n' "$2" "$1"
	case $1 in ok*) passed=$((passed + 1)) ;; *) failed=$((failed + 1)) ;; esac
}

clover() { # profile, command…
	profile=$1
	shift
	OCL_ICD_VENDORS=/etc/OpenCL/vendors/mesa.icd unshare -m sh -c 'mount --bind "$0" '$clc' && exec "$@"' "$out/clc" \
		timeout 300 "$B/bin/softgpu" --profile "$profile" -- "$@"
}

OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd "$out/clsuite" >"$out/pocl.txt" 2>&1
grep -q '^case' "$out/pocl.txt" || { cat "$out/pocl.txt"; echo "PoCL gave no result"; exit 1; }
for profile in $PROFILES; do
	echo "== $profile"
	clover "$profile" clinfo >"$out/clinfo-$profile.txt" 2>&1
	case $profile in gfx1030) chip=navi21 ;; *) chip=$profile ;; esac
	grep -q "Device Name .*$chip" "$out/clinfo-$profile.txt" && row ok clinfo || row "FAIL no $chip" clinfo
	clover "$profile" "$out/clsuite" >"$out/$profile.txt" 2>&1
	while read -r _ name _ hash; do
		if [ "$profile:$name" = gfx1030:control: ]; then
			# Clover gives scratch a resource of stride 0 with OOB_SELECT 0: by the ISA document all of it is out of range.
			printf '  %-24s %s\n' control "skip: Clover's scratch resource is out of its own bounds on gfx10"
			skipped=$((skipped + 1))
			continue
		fi
		got=$(sed -n "s/^case $name //p" "$out/$profile.txt")
		[ "$got" = "ok $hash" ] && row ok "${name%:}" || row "FAIL ${got:-no result}, PoCL has $hash" "${name%:}"
	done <<-EOF
	$(grep '^case' "$out/pocl.txt")
	EOF
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
