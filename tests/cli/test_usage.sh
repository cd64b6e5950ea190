#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Help, versions, usage errors; manual and completion know every command and option.
. tests/cli/lib.sh

status 2 "no command is a usage error" "$NOCAP"
check "its help goes to standard error" test -s "$T/err" -a ! -s "$T/out"
status 0 "--help" "$NOCAP" --help
commands=$(sed -n '/^commands:/,$s/^  \([a-z]*\) .*/\1/p' "$T/out")
for command in capture import check hang replay dump info rules explain golden diff cut minimise recompress coverage; do
    check "there is a command $command" grep -qx "$command" <<<"$commands"
done
status 0 "--version" "$NOCAP" --version
check "names three versions" grep -Eqx 'nocap [0-9.]+, zstd [0-9.]+, protobuf-c [0-9.]+' "$T/out"
status 2 "an unknown command is a usage error" "$NOCAP" frobnicate
err_has "it is named" "'frobnicate'"
for command in $commands; do
    check "the commands are listed: $command" grep -Eq "^  $command +[a-z]" "$T/err"
done

status 2 "a misspelt command" "$NOCAP" lauches
err_has "the nearest is named" "'lauches', did you mean launches; commands:"

status 2 "standard input cannot be read twice" "$NOCAP" check - - <golden/boot-p100.nocap
err_has "the message says so" "- is standard input, which can be read only once"

docs/man/page "$NOCAP" >"$T/nocap.1"
check "the manual has an overview" grep -q '^\.SH COMMANDS' "$T/nocap.1"
for command in $commands; do
    status 0 "$command --help" "$NOCAP" "$command" --help
    check "$command: usage line" test "$(head -n 1 "$T/out" | cut -d' ' -f1-3)" = "usage: nocap $command"
    check "$command: and no space after it" bash -c "! head -n 1 '$T/out' | grep -q ' \$'"
    out_has "$command: options" "options:"
    out_has "$command: exit status" "  2  usage error"
    check "$command: two examples" test "$(sed '1,/^examples:/d' "$T/out" | grep -c "^  nocap $command\|| nocap $command")" -ge 2
    check "$command: lines of at most 110" awk 'length > 110 { exit 1 }' "$T/out"
    check "$command: nothing on standard error" test ! -s "$T/err"
    check "$command: no option twice under a heading" \
        awk '/^[a-z]/ { delete seen } /^  (-., |    )--/ && seen[$0]++ { exit 1 }' "$T/out"
    check "$command: no line of the exit status begins at the margin" \
        awk '/^exit status:/ { on = 1; next } /^examples:/ { on = 0 } on && /^[^ ]/ { exit 1 }' "$T/out"
    cp "$T/out" "$T/help.$command"
    status 2 "$command: an unknown option is a usage error" "$NOCAP" "$command" --no-such-option
    err_has "$command: the option is named" "'--no-such-option'"
    err_has "$command: help is near" "try nocap $command --help"
    check "$command: two lines" test "$(wc -l <"$T/err")" -eq 2
    check "$command: nothing on standard output" test ! -s "$T/out"
done
for command in $(share 2 $commands); do
    docs/man/page "$NOCAP" "$command" >"$T/nocap-$command.1"
    sed 's/\\-/-/g' "$T/nocap-$command.1" >"$T/manual"
    check "$command: the overview names its page" grep -qF "nocap\-$command (1)" "$T/nocap.1"
    check "$command: its page has all sections" test "$(grep -cE '^\.SH (NAME|SYNOPSIS|OPTIONS|EXIT STATUS|EXAMPLES|SEE ALSO)' "$T/manual")" -eq 6
    manual=$(<"$T/manual")
    for option in $(sed -n 's/^  \(-., \|    \)--\([a-z-]*\).*/\2/p' "$T/help.$command"); do
        [[ $manual =~ $'\n.B '[^$'\n']*--$option([^a-z-]|$) ]]
        verdict "$command: the manual has --$option" $?
    done
done

status 2 "an option without its value" "$NOCAP" dump x --limit
err_has "says so" "--limit needs a value"
status 2 "a flag with a value" "$NOCAP" dump --help=yes x
status 2 "a number that is none" "$NOCAP" dump x --limit=12z
err_has "says what it is" "--limit takes a number, not '12z'"
status 2 "a number of more than 64 bits" "$NOCAP" dump x --limit 18446744073709551616
status 2 "a tile that is none" "$NOCAP" check x --tile 300,1
status 2 "an operand too many" "$NOCAP" info a b
err_has "is named" "'b'"
status 2 "no operand" "$NOCAP" info
status 3 "-- ends the options" "$NOCAP" info -- --help
status 0 "help wins over missing operands" "$NOCAP" info -h

status 2 "capture: options of a command without one" "$NOCAP" capture --follow --sim boot -o "$T/x.nocap"
err_has "are named" "--follow are for a command"
status 2 "capture: options of the device model with a command" "$NOCAP" capture --fault done-early -o "$T/x.nocap" -- true
err_has "are refused" "without --sim"

status 2 "an operand of a command that takes none" "$NOCAP" rules x
err_has "is refused" "unexpected argument 'x': nocap rules"
check "without a blank at the end" bash -c "! grep -q ' \$' '$T/err'"

# A standard output that is closed.
make_trace "$T/a.jsonl"
"$NOCAP" import jsonl "$T/a.jsonl" -o "$T/a.nocap" 2>/dev/null
cp "$T/a.nocap" "$T/before.nocap"
for arguments in "check $T/a.nocap" "info $T/a.nocap" rules "explain CQ-005" "hang $T/a.nocap" \
    "coverage $T/a.nocap" "replay $T/a.nocap" "diff $T/a.nocap $T/a.nocap" "dump $T/a.nocap" \
    "cut $T/a.nocap --from 1 --to 200 -o -" "import jsonl $T/a.jsonl -o -" --version; do
    # shellcheck disable=SC2086 # words are meant
    "$NOCAP" $arguments >&- 2>"$T/err"
    check "closed output, ${arguments%% *}" test $? -eq 4
    err_has "is told, ${arguments%% *}" "cannot write standard output"
done
check "and no input is written to" cmp "$T/before.nocap" "$T/a.nocap"

# Completion, as bash runs it.
nocap() { # what it said of itself above need not be asked again
    if [ "$#${2-}" = 2--help ] && [ -e "$T/help.$1" ]; then
        echo "$(<"$T/help.$1")"
    else
        "$NOCAP" "$@"
    fi
}
. cli/nocap.bash-completion
complete_words() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _nocap
    printf '%s\n' "${COMPREPLY[@]}"
}
complete_words nocap "" >"$T/out"
for command in $commands; do out_has "completion knows $command" "$command"; done
complete_words nocap dump --fo >"$T/out"
check "completion of an option" test "$(cat "$T/out")" = --format
complete_words nocap dump --format j >"$T/out"
check "completion of a choice" test "$(cat "$T/out")" = jsonl
complete_words nocap aie lint --fa >"$T/out"
check "completion of an option of a part" test "$(cat "$T/out")" = --fail-on
complete_words nocap aie disasm --format "" >"$T/out"
check "completion of its choices" test "$(tr '\n' ' ' <"$T/out")" = "text json "
complete_words nocap explain syn-00 >"$T/out"
out_has "completion of a rule" SYN-004
complete_words nocap golden v >"$T/out"
check "completion of an action" test "$(cat "$T/out")" = verify
complete_words nocap capture --sim launch-h >"$T/out"
check "completion of a scenario" test "$(cat "$T/out")" = launch-host
declare -A tried
for command in $(share 2 $commands); do # aie has parts with options of their own
    complete_words nocap "$command" - | sort -u >"$T/out"
    sed -n 's/^  \(-., \|    \)\(--[a-z-]*\).*/\2/p' "$T/help.$command" | sort -u >"$T/wanted"
    check "completion has all options of $command" cmp "$T/wanted" "$T/out"
    # each value that the help names is completed, or is free text
    while read -r option value; do
        # as of another command before, but for `make long-seeds`
        ! test -n "${tried["$option $value"]-}" || long || continue
        tried["$option $value"]=1
        complete_words nocap "$command" "$option" '' >"$T/out"
        case $value in
        FILE | LIB | TRACE | REPORT | CORE=FILE | '[UC=]FILE') wanted=Makefile ;;
        DIR) wanted=docs ;;
        PROFILE) wanted=tt-metal-2026-09 ;;
        SCENARIO) wanted=fast-dispatch ;;
        ID | LIST) wanted=CQ-010a ;;
        NAME=VALUE) wanted=launch_longest= ;;
        tile=*) wanted=launch= ;;
        *\|*) wanted=${value##*|} ;;
        NAME) [ "$option" = --fault ] && wanted=done-early || wanted='' ;;
        *) wanted='' ;;
        esac
        [[ $'\n'$(<"$T/out")$'\n' == *$'\n'"$wanted"$'\n'* ]]
        verdict "completion of $command $option $value" $?
    done < <(sed -n 's/^  \(-., \|    \)\(--[a-z-]*\) \([^ ][^ ]*\).*/\2 \3/p' "$T/help.$command" |
        grep -v -- "--to perfetto")
done
check "faults are no scenarios" test -z "$(complete_words nocap capture --sim done-e)"
complete_words nocap export --to p >"$T/out"
check "completion of a view" test "$(cat "$T/out")" = perfetto
make_trace "$T/m.jsonl"
check "metrics --help has the names of all" test "$("$NOCAP" metrics "$T/m.jsonl" | sed 's/ .*//' | tr '\n' ' ')" = \
    "$("$NOCAP" metrics --help | sed -n '/^Names: /,/^$/{s/^Names: //;p}' | tr '\n' ' ' | sed 's/  *$/ /')"
complete_words nocap dump -o tests/cli/test_u >"$T/out"
check "completion of a file" test "$(cat "$T/out")" = tests/cli/test_usage.sh
if command -v man >/dev/null; then
    for page in $(share 4 "$T"/nocap*.1); do
        check "well formed: ${page##*/}" test -z "$(LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l "$page" 2>&1 >/dev/null)"
    done
else
    skip "the manual is well formed" "man is not installed"
fi
finish
