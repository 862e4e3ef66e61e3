# Completion of lode for bash. What there is to complete comes from the program
# itself ('lode help --commands', 'lode help --options COMMAND'), so it is never
# out of date.

# The command among the words before the cursor, in $command; empty when there is none yet.
_lode_command()
{
	local i
	command=
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--color) ((i++)) ;;
		-*) ;;
		=) ((i++)) ;;
		*)
			command=${COMP_WORDS[i]}
			return
			;;
		esac
	done
}

# The argument of the option $1 of $command, in $argument; fails when it takes none.
_lode_argument()
{
	local name help
	while IFS=$'\037' read -r name argument help; do
		[[ $name == "$1" && -n $argument ]] && return 0
	done < <("${COMP_WORDS[0]}" help --options $command 2>/dev/null | tr '\t' '\037')
	return 1
}

# Completes the value $1 of an option by what its argument is called.
_lode_value()
{
	case $argument in
	CORPUS | DIR)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -d -- "$1")
		;;
	'DIR|none')
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -W none -- "$1"; compgen -d -- "$1")
		;;
	FILE)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$1")
		;;
	*'|'*)
		mapfile -t COMPREPLY < <(compgen -W "${argument//|/ }" -- "$1")
		;;
	esac
}

_lode_names()
{
	"${COMP_WORDS[0]}" help "$@" 2>/dev/null | cut -f 1
}

_lode()
{
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local command argument

	COMPREPLY=()
	_lode_command
	# '--name=value' arrives as three words, because '=' separates words.
	if [[ $current == = ]]; then
		current=
	elif [[ $previous == = && COMP_CWORD -ge 2 ]]; then
		previous=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if [[ $previous == -* ]] && _lode_argument "$previous"; then
		_lode_value "$current"
		return
	fi
	if [[ $current == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_lode_names --options $command)" -- "$current")
	elif [[ -z $command || $command == help ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_lode_names --commands)" -- "$current")
	else
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
	fi
}

complete -F _lode lode
