#!/bin/sh
# SPDX-License-Identifier: MIT
# Promise: `make install` is all that a user needs. Into an empty prefix; a program is built against it with pkg-config
# alone, shared and static, as C11 and C++17, and runs offline and under the installed softgpu; the installed tools work and
# man finds each call; uninstall leaves nothing but what was there before.
set -u
B=${B:-build}
out=$PWD/$B/tests/install
rm -rf "$out"
mkdir -p "$out"
prefix=$out/prefix
san=${SAN:+-fsanitize=$SAN}

die() {
	echo "$*"
	exit 1
}
make_it() {
	env -u MAKEFLAGS -u MFLAGS make --no-print-directory B="$B" SAN="${SAN:-}" PREFIX="$prefix" "$@" >"$out/make" 2>&1 || die "make $*: $(tail -5 "$out/make")"
}

# What others have put there stays.
mkdir -p "$prefix/lib" "$prefix/share/man/man3"
: >"$prefix/lib/other.so"
: >"$prefix/share/man/man3/other.3"
make_it install

# ---- programs ----
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
shared=$(pkg-config --cflags --libs gpuplan) || die "pkg-config does not find gpuplan"
static=$(pkg-config --static --cflags --libs gpuplan | sed 's/-lgpuplan /-l:libgpuplan.a /') || die "pkg-config --static"
case $static in *-l:libgpuplan.a*) ;; *) die "pkg-config --static does not tell -lgpuplan but $static" ;; esac
[ "$(pkg-config --libs gpuplan | tr -d ' ')" = "-L$prefix/lib-lgpuplan" ] || die "private libraries in \"$(pkg-config --libs gpuplan)\""
cp tests/install/user.c "$out/user.c"
cp tests/install/user.c "$out/user.cc"
flags="-pedantic -Wall -Wextra -Werror $san"
# No path of this tree: whatever the header or the library lacks, shows.
cd "$out" || exit 1
${CC:-cc} -std=c11 $flags user.c -o user-c-shared $shared -Wl,-rpath,"$prefix/lib" || die "C11, shared"
${CC:-cc} -std=c11 $flags user.c -o user-c-static $static || die "C11, static"
${CXX:-c++} -std=c++17 $flags user.cc -o user-cxx-shared $shared -Wl,-rpath,"$prefix/lib" || die "C++17, shared"
${CXX:-c++} -std=c++17 $flags user.cc -o user-cxx-static $static || die "C++17, static"
for p in user-c-shared user-c-static user-cxx-shared user-cxx-static; do
	case $p in
	*shared) ldd $p | grep -q "libgpuplan.so.0 => $prefix/lib/libgpuplan.so.0 " || die "$p: $(ldd $p | grep gpuplan)" ;;
	*) ldd $p | grep -q libgpuplan && die "$p needs the shared library" ;;
	esac
	[ "$(./$p gfx1030 | sed 's/^[0-9]* //')" = "bytes for gfx1030" ] || die "$p offline: $(./$p gfx1030)"
	[ "$(./$p gfx1100)" != "$(./$p gfx900)" ] || die "$p: targets do not differ"
	[ "$("$prefix/bin/softgpu" --strict --hostile -- ./$p)" = 42 ] || die "$p under softgpu"
done
echo "4 programs, offline and on softgpu"

# ---- the example, its code objects found through pkg-config ----
cd - >/dev/null || exit 1
${CC:-cc} -D_GNU_SOURCE $san examples/batch.c -o "$out/batch" $(pkg-config --cflags --libs gpuplan liburing) -lm -Wl,-rpath,"$prefix/lib" || die "examples/batch.c"
"$prefix/bin/softgpu" -- "$out/batch" "$(pkg-config --variable=shadersdir gpuplan)" | grep -q ' 0 wrong$' || die "examples/batch.c does not run"
[ -f "$(pkg-config --variable=modelsdir gpuplan)/silero-vad/package.json" ] || die "the model is missing"
[ "$(pkg-config --modversion gpuplan | cut -d. -f1-2)" = "$(sed -n 's/^#define GPUPLAN_VERSION_M[AI][JN]OR //p' "$prefix/include/gpuplan.h" | paste -sd.)" ] || die "versions of gpuplan.pc and gpuplan.h differ"

# ---- tools, each by its installed name ----
"$prefix/bin/gpuplan-bench" --verify --count 8 >"$out/bench" 2>&1 || die "gpuplan-bench: $(tail -3 "$out/bench")"
"$prefix/bin/gpuplan-dump" "$(pkg-config --variable=modelsdir gpuplan)/silero-vad" >"$out/dump" || die "gpuplan-dump"
for tool in "$prefix"/bin/*; do
	[ -f "$prefix/share/man/man1/${tool##*/}.1" ] || die "${tool##*/} has no man page"
	ldd "$tool" | grep -q 'not found' && die "$tool: $(ldd "$tool" | grep 'not found')"
	readelf -d "$tool" | grep -q "R.*PATH.*$PWD" && die "$tool looks into the build folder"
done

# ---- man pages: every exported call leads to one ----
n=0
for symbol in $(nm -D --defined-only "$prefix/lib/libgpuplan.so" | awk '$2 == "T" {sub(/@.*/, "", $3); print $3}'); do
	page=$prefix/share/man/man3/$symbol.3
	[ -f "$page" ] || die "$symbol has no man page"
	target=$(sed -n 's/^\.so //p' "$page")
	[ -f "$prefix/share/man/$target" ] && grep -q "$symbol" "$prefix/share/man/$target" || die "$symbol.3 leads to \"$target\""
	n=$((n + 1))
done
[ $n -ge 50 ] || die "only $n calls have man pages"
echo "$n calls with man pages, $(ls "$prefix/bin" | wc -l) tools"

# ---- and away ----
make_it uninstall
left=$(cd "$prefix" && find . ! -type d | sort | tr '\n' ' ')
[ "$left" = "./lib/other.so ./share/man/man3/other.3 " ] || die "uninstall leaves or takes: $left"
rm "$prefix/lib/other.so" "$prefix/share/man/man3/other.3"
left=$(cd "$prefix" && find . -mindepth 1 | sort | tr '\n' ' ')
[ "$left" = "./lib ./share ./share/man ./share/man/man3 " ] || die "folders left: $left"

# DESTDIR is where files go, not what they say.
make_it install DESTDIR="$out/stage"
grep -q "^prefix=$prefix\$" "$out/stage$prefix/lib/pkgconfig/gpuplan.pc" || die "gpuplan.pc under DESTDIR"
grep -rlI "$out/stage" "$out/stage" && die "DESTDIR is told in these files"
make_it uninstall DESTDIR="$out/stage"
[ -z "$(find "$out/stage" ! -type d)" ] || die "uninstall DESTDIR leaves $(find "$out/stage" ! -type d)"
rm -rf "$out"
