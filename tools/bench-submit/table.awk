# SPDX-License-Identifier: MIT
# table.awk: the tables of run.sh, from the files of counts.sh, named WHO.WHAT.txt.
function plan_name(s) { return s == speech ? "speech" : s }
function ratio(a, b) { return b ? sprintf("%.2f", a / b) : "-" }
FNR == 1 {
	split(FILENAME, part, "/")
	file = FILENAME
	sub(/.*\//, "", file)
	split(file, part, ".")
	who = part[1]
	what = part[2]
}
$1 == "radv" { radv_dwords[$2] = $3; radv_barriers[$2] = $4; next }
$1 == "plan" && who == "gpuplan" { dispatches[$2] = $3; dwords[$2] = $4; barriers[$2] = $5; next }
$1 == "plan" { next }
{
	row = who " " $1
	if (!(row in seen)) {
		seen[row] = 1
		rows[++n_rows] = row
	}
	p = plan_name($2)
}
what == "instructions" { instructions[row, p] = $3; allocations[row] += $4; if (p == "1") { split("", x); objects[row] = ""; for (i = 5; i <= NF; i++) objects[row] = objects[row] " " $i } }
what == "syscalls" { if ($3 > syscalls[row]) syscalls[row] = $3 }
what == "sleeping" { sleeping[row] = $3; names = ""; for (i = 4; i <= NF; i++) names = names " " $i; asleep[row] = names }
END {
	n_plans = split("speech 1 16 256 1024", plans, " ")
	print "What is submitted\n"
	printf "%-8s %10s %12s %9s %13s %9s\n", "plan", "dispatches", "PM4 dwords", "barriers", "RADV: dwords", "barriers"
	for (i = 1; i <= n_plans; i++) {
		p = plans[i]
		printf "%-8s %10d %12d %9d %13s %9s\n", p, dispatches[p], dwords[p], barriers[p],
			p in radv_dwords ? radv_dwords[p] : "-", p in radv_barriers ? radv_barriers[p] : "-"
	}
	print "\nPer inference: instructions in user space outside of the device; allocations; system calls\n"
	printf "%-14s", "plan"
	for (i = 1; i <= n_plans; i++)
		printf " %7s", plans[i]
	printf " %15s %11s %8s %12s\n", "slope/dispatch", "allocations", "syscalls", "of the floor"
	for (r = 1; r <= n_rows; r++) {
		row = rows[r]
		printf "%-14s", row
		for (i = 1; i <= n_plans; i++)
			printf " %7s", (row, plans[i]) in instructions ? sprintf("%.0f", instructions[row, plans[i]]) : "-"
		split(row, part, " ")
		printf " %15.3f %11g %8g %12s\n", (instructions[row, "1024"] - instructions[row, "1"]) / 1023, allocations[row] / n_plans,
			syscalls[row], ratio(instructions[row, "16"], instructions["libdrm " (part[2] == "poll" ? "poll" : "wait"), "16"])
	}
	print "\nWhose instructions (libc's are the rest)\n"
	for (r = 1; r <= n_rows; r++)
		printf "%-14s%s\n", rows[r], objects[rows[r]]
	print "\nSystem calls when every inference sleeps (jobs of 3 ms); ioctl 2: the CS, and the registration of its fence while"
	print "the GPU works\n"
	for (r = 1; r <= n_rows; r++)
		if (rows[r] in sleeping)
			printf "%-14s %4g:%s\n", rows[r], sleeping[rows[r]], asleep[rows[r]]
	if (("RADV wait", "16") in instructions)
		printf "\nRatios at 16 dispatches: RADV / libgpuplan polled %s, waited %s; libgpuplan polled / libdrm polled %s\n",
			ratio(instructions["RADV wait", "16"], instructions["gpuplan poll", "16"]),
			ratio(instructions["RADV wait", "16"], instructions["gpuplan wait", "16"]),
			ratio(instructions["gpuplan poll", "16"], instructions["libdrm poll", "16"])
}
