# SPDX-License-Identifier: MIT
# costs.awk: of callgrind's dumps of mark.h's stretches, "WAY PLAN instructions allocations" of one inference each, then
# what of the instructions is each object's. Both lengths of a case must be there.
#
# Counted is what runs outside of libsoftgpu.so: the total less what calls into it cost with everything they call in
# turn, which callgrind has beside each call. Allocations are calls of malloc and its like from anywhere else.

# A name that callgrind writes as "(3) text" the first time, then as "(3)".
function named(table, s,   id) {
	id = substr(s, 1, index(s, ")"))
	if (length(s) > length(id)) {
		sub(/^\([0-9]+\) /, "", s)
		sub(/.*\//, "", s)
		table[id] = s
	}
	return table[id]
}

# Long less short, per inference. A file has ended.
function keep(   part, key, n, o) {
	if (name == "")
		return
	split(name, part, " ")
	key = part[1] " " part[2]
	n = part[3]
	if (!(key in shortest)) {
		order[++cases] = key
		shortest[key] = longest[key] = n
	}
	if (n < shortest[key])
		shortest[key] = n
	if (n > longest[key])
		longest[key] = n
	instructions[key, n] = total - device
	malloced[key, n] = allocations
	for (o in self)
		if (o !~ /^(libsoftgpu|libc|ld-linux)/) {
			known[o] = 1
			of_object[key, n, o] = self[o]
		}
}

FNR == 1 {
	keep()
	name = ob = cob = ""
	total = device = allocations = called = 0
	split("", self)
	split("", objects)
	split("", functions)
}
/^desc: Trigger: Client Request: bench-submit / {
	name = $0
	sub(/.*bench-submit /, "", name)
}
/^totals:/ { total = $2 }
/^ob=/ { ob = named(objects, substr($0, 4)) }
/^cob=/ { cob = named(objects, substr($0, 5)) }
/^fn=/ { fn = named(functions, substr($0, 4)) }
/^cfn=/ { cfn = named(functions, substr($0, 5)) }
/^calls=/ {
	called = substr($1, 7)
	next
}
/^[0-9+*-]/ {
	if (!called) {
		self[ob] += $2
		next
	}
	if (cob == "")
		cob = ob
	if (ob !~ /^libsoftgpu/ && cob ~ /^libsoftgpu/)
		device += $2
	if (ob !~ /^libsoftgpu/ && cfn ~ /^(malloc|calloc|realloc|reallocarray|memalign|posix_memalign|aligned_alloc)$/)
		allocations += called
	called = 0
	cob = ""
}
END {
	keep()
	for (i = 1; i <= cases; i++) {
		key = order[i]
		a = shortest[key]
		b = longest[key]
		if (a == b)
			continue
		line = key " " (instructions[key, b] - instructions[key, a]) / (b - a) " " (malloced[key, b] - malloced[key, a]) / (b - a)
		for (o in known) {
			part_of = (of_object[key, b, o] - of_object[key, a, o]) / (b - a)
			if (part_of)
				line = line " " o "=" part_of
		}
		print line
	}
}
