# From the text of perf script to folded stacks: what people do without Lode, and
# what the benchmark measures it against. One event is a line that starts at the
# left margin, its frames (leaf first) on indented lines, and an empty line.
#
#	perf script | awk -f bench/collapse.awk

/^[^ \t]/ {
	command = $1
	stack = ""
	next
}

NF == 0 {
	if (command != "")
		counts[command stack]++
	command = ""
	next
}

{
	# ADDRESS FUNCTION+OFFSET (MODULE), where the function may hold blanks.
	text = $0
	sub(/^[ \t]*[0-9a-f]+ /, "", text)
	sub(/ \([^()]*\)$/, "", text)
	sub(/\+0x[0-9a-f]+$/, "", text)
	stack = ";" text stack
}

END {
	if (command != "")
		counts[command stack]++
	for (stack in counts)
		print stack, counts[stack]
}
