# bash completion for shardsim: commands, their options, and the names that options take,
# all asked of the program itself.

# The words of list $2 that fit, each behind the items of a comma-separated list before.
_shardsim_list() {
	local before=${1%"${1##*,}"} word
	for word in $(compgen -W "$2" -- "${1##*,}"); do
		COMPREPLY+=("$before$word")
	done
}

# The alternatives of an option in the command's help: --format=text|json, or behind
# --report=WHAT and a colon.
_shardsim_alternatives() {
	"$1" "$2" --help 2>/dev/null | sed -n "s/^ .* *$3=\([a-z_|0-9-]*|[a-z_|0-9-]*\).*/\1/p" |
		tr '|' ' '
	"$1" "$2" --help 2>/dev/null | tr -s ' \n' ' ' |
		sed -n "s/.* $3=WHAT [a-z ]*: \([a-z, ]*\) (.*/\1/p" | sed 's/ or / /; s/,//g'
}

_shardsim_names() {
	"$1" list "$2" 2>/dev/null | sed 's/ .*//'
}

_shardsim() {
	local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]} words
	local word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}

	COMPREPLY=()
	# bash parts --option=word into three words.
	if test "$word" = =; then
		word=
	elif test "$option" = =; then
		option=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if test "$COMP_CWORD" -eq 1 || { test "$COMP_CWORD" -eq 2 && test "$command" = help; }; then
		words=$("$program" --help 2>/dev/null | awk '/^  [a-z]/ { print $1 }')
		test "$COMP_CWORD" -gt 1 || words+=" --help --version"
		COMPREPLY=($(compgen -W "$words" -- "$word"))
		return 0
	fi
	case $option in
	--planner) _shardsim_list "$word" "all $(_shardsim_names "$program" planners)" ;;
	--clock) _shardsim_list "$word" "$(_shardsim_names "$program" clocks)" ;;
	--algorithm) _shardsim_list "$word" "$(_shardsim_names "$program" algorithms)" ;;
	--emit) _shardsim_list "$word" "$(_shardsim_names "$program" emitters)" ;;
	--platform)
		_shardsim_list "$word" "$(_shardsim_names "$program" platforms | sed 's/$/:/')"
		test ${#COMPREPLY[@]} -gt 0 || COMPREPLY=($(compgen -f -- "$word"))
		compopt -o nospace 2>/dev/null
		;;
	--*) COMPREPLY=($(compgen -W \
		"$(_shardsim_alternatives "$program" "$command" "$option")" -- "$word")) ;;
	esac
	test ${#COMPREPLY[@]} -eq 0 || return 0
	case $word in
	-*)
		words=$("$program" "$command" --help 2>/dev/null | grep -oE '^ .{0,6}--[a-z-]+' |
			grep -oE -e '--[a-z-]+')
		COMPREPLY=($(compgen -W "$words" -- "$word"))
		return 0
		;;
	esac
	test "$COMP_CWORD" -eq 2 || return 0
	case $command in
	list) words=$("$program" list --usage 2>/dev/null | grep -o 'planners|.*' | tr '|' ' ') ;;
	platform) words=$(_shardsim_names "$program" platforms | sed 's/$/:/') ;;
	perf) words="all-gather reduce-scatter all-reduce all-to-all permute broadcast reduce" ;;
	*) return 0 ;;
	esac
	COMPREPLY=($(compgen -W "$words" -- "$word"))
}

# Files where nothing else is known.
complete -o default -F _shardsim shardsim
