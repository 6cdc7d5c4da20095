#!/bin/sh
# SPDX-License-Identifier: MIT
# embed.sh FILE...: assembly with the files' bytes and the table embedded_shaders[] of tools/common/shaders.h.
# Target and stem are the last folder and the file name of each path.
set -eu
i=0
for f in "$@"; do
	printf '.section .rodata\n.balign 64\nshader_%d: .incbin "%s"\nshader_%d_end:\n' $i "$f" $i
	printf 'target_%d: .asciz "%s"\nstem_%d: .asciz "%s"\n' $i "$(basename "$(dirname "$f")")" $i "$(basename "$f" .co)"
	i=$((i + 1))
done
printf '.section .data.rel.ro,"aw"\n.balign 8\n.globl embedded_shaders\n.hidden embedded_shaders\n.type embedded_shaders, @object\nembedded_shaders:\n'
n=$i i=0
while [ $i -lt $n ]; do
	printf '.quad target_%d, stem_%d, shader_%d, shader_%d_end\n' $i $i $i $i
	i=$((i + 1))
done
printf '.quad 0, 0, 0, 0\n.size embedded_shaders, . - embedded_shaders\n.section .note.GNU-stack,"",@progbits\n'
