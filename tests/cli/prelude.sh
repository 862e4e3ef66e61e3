# What the scripts of the golden tests can use. $LODE is the program.

lode()
{
	"$LODE" "$@"
}

# Shows a command line, all it says (both streams, in order) and its exit status.
try()
{
	local status
	printf '$'
	printf ' %s' "$@"
	printf '\n'
	"$@" 2>&1
	status=$?
	[ $status = 0 ] || printf '[exit %d]\n' $status
}

# Runs a command on a terminal 100 columns wide (and $ROWS high) and shows what appears on it.
on_terminal()
{
	if ! command -v script >/dev/null; then
		echo "needs script(1)"
		exit 77
	fi
	script -qec "stty cols 100 rows ${ROWS:-40}; $*" /dev/null </dev/null | tr -d '\r'
}
