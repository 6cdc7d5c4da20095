#!/bin/sh
# SPDX-License-Identifier: MIT
# Promise: the binary interface changes on purpose only. Exported symbols with their versions, prototypes, and sizes, offsets
# and values of all public types are those of tests/data/abi/libgpuplan.txt. After a wanted change:
#     sh tests/check_abi.sh --update
# and say in the commit what changed. libgpuplan.so needs just the libraries named here.
set -u
B=${B:-build}
dir=$B/tests/abi
recorded=tests/data/abi/libgpuplan.txt
header=libgpuplan/include/gpuplan.h
mkdir -p "$dir"

die() {
	echo "$*"
	exit 1
}

# Sizes, offsets and values, from the header's own debug information.
types() {
	echo "#include <gpuplan.h>" >"$dir/types.c"
	clang-19 -std=c11 -g -fstandalone-debug -fno-eliminate-unused-debug-types -c -Ilibgpuplan/include "$dir/types.c" -o "$dir/types.o" ||
		die "the header does not compile"
	llvm-dwarfdump-19 --debug-info "$dir/types.o" | awk '
	function value(line) { sub(/.*\(/, "", line); sub(/\)$/, "", line); gsub(/"/, "", line); sub(/^0x[0-9a-f]+ /, "", line); return line }
	function flush_item() {
		if (top) keep = name ~ /^gpuplan_/
		if (!keep) tag = ""
		if (tag == "struct" && name != "" && size != "") print "struct " name " " size
		if (tag == "enum" && name != "") print "enum " name " " size
		if (tag == "member") print "  " (name == "" ? "(union or struct)" : name) " at " offset ": " type
		if (tag == "union" && size != "") print "  union of " size
		if (tag == "enumerator") print "  " name " = " val
		tag = ""
	}
	/DW_TAG_/ { flush_item(); top = /^0x[0-9a-f]+:   DW_TAG/; name = size = offset = type = val = ""
		if (/DW_TAG_structure_type/) tag = "struct"
		else if (/DW_TAG_enumeration_type/) tag = "enum"
		else if (/DW_TAG_union_type/) tag = "union"
		else if (/DW_TAG_member/) tag = "member"
		else if (/DW_TAG_enumerator/) tag = "enumerator" }
	/DW_AT_name/ { name = value($0) }
	/DW_AT_byte_size/ { size = value($0) }
	/DW_AT_data_member_location/ { offset = value($0) }
	/DW_AT_type/ { type = value($0); sub(/ ?[a-z]+ at [^ ]*\/.*/, " (inner)", type) }
	/DW_AT_const_value/ { val = value($0) }
	END { flush_item() }'
}

{
	echo "# Made by tests/check_abi.sh --update"
	echo "## symbols"
	nm -D --defined-only "$B/lib/libgpuplan.so" | awk '$2 == "T" {print $3}' | LC_ALL=C sort
	echo "## prototypes"
	sed '/^#/d' $header | tr '\n\t' '  ' | sed 's,/\*[^*]*\*\**\([^/*][^*]*\*\**\)*/,,g; s/  */ /g' | tr ';{}' '\n\n\n' |
		sed -n 's/^ *GPUPLAN_API //p; s/^ *\(typedef int \)/\1/p' | LC_ALL=C sort
	echo "## types"
	types
} >"$dir/now"
[ "$(grep -c '^gpuplan_' "$dir/now")" -ge 50 ] || die "only $(grep -c '^gpuplan_' "$dir/now") symbols"
[ "$(grep -c '^struct gpuplan_' "$dir/now")" -ge 20 ] || die "only $(grep -c '^struct' "$dir/now") structures"
if [ "${1:-}" = --update ]; then
	cp "$dir/now" "$recorded"
	echo "$recorded: $(wc -l <"$recorded") lines"
	exit 0
fi
diff -u "$recorded" "$dir/now" || die "the interface is not the recorded one; if that is meant: sh tests/check_abi.sh --update"
[ "$(readelf -d "$B/lib/libgpuplan.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')" = libgpuplan.so.0 ] || die "soname"
echo "$(grep -c '^gpuplan_' "$recorded") symbols, $(grep -c '^struct gpuplan_' "$recorded") structures, as recorded"

# ---- what it needs ----
[ -n "${SAN:-}" ] && exit 0 # and the sanitizer's runtime
ldd "$B/lib/libgpuplan.so" | sed 's/^[ \t]*//; s/ .*//; s,.*/,,' | grep -v -e '^linux-vdso' -e '^ld-linux' | sort >"$dir/ldd"
sort >"$dir/allowed" <<'END'
libc.so.6
libdrm.so.2
libdrm_amdgpu.so.1
libelf.so.1
libjansson.so.4
libmsgpackc.so.2
liburing.so.2
libz.so.1
END
diff "$dir/allowed" "$dir/ldd" || die "libgpuplan.so needs other libraries (>) than are allowed (<)"
echo "needs $(paste -sd' ' "$dir/ldd")"
