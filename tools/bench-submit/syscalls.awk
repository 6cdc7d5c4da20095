# SPDX-License-Identifier: MIT
# syscalls.awk: of strace's output, "WAY PLAN calls NAME=calls..." of one inference for each of mark.h's cases.
# -v device='NAME|NAME': what the software device calls itself does not count.

/"bench-submit end"/ { key = ""; next }
/"bench-submit [a-z]+ [a-z0-9]+ [0-9]+"/ {
	match($0, /"bench-submit [^"]*"/)
	split(substr($0, RSTART + 14, RLENGTH - 15), part, " ")
	key = part[1] " " part[2]
	n = part[3] + 0
	if (!(key in shortest)) {
		order[++cases] = key
		shortest[key] = longest[key] = n
	}
	if (n < shortest[key])
		shortest[key] = n
	if (n > longest[key])
		longest[key] = n
	next
}
key != "" && match($0, /^[a-z_0-9]+\(/) {
	call = substr($0, 1, RLENGTH - 1)
	if (call ~ "^(" device ")$")
		next
	calls[call] = 1
	count[key, n, call]++
}
END {
	for (i = 1; i <= cases; i++) {
		key = order[i]
		a = shortest[key]
		b = longest[key]
		sum = 0
		line = ""
		for (c in calls) {
			each = (count[key, b, c] - count[key, a, c]) / (b - a)
			sum += each
			if (each)
				line = line " " c "=" each
		}
		print key, sum line
	}
}
