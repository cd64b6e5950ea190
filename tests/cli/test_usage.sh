#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Help, versions, wrong usage; manual and completion know every verb and option.
. tests/cli/lib.sh

status 2 "no verb is wrong usage" "$NOCAP"
check "its help goes to standard error" test -s "$T/err" -a ! -s "$T/out"
status 0 "--help" "$NOCAP" --help
verbs=$(sed -n '/^commands:/,$s/^  \([a-z]*\) .*/\1/p' "$T/out")
for verb in capture import check hang replay dump info rules explain golden diff cut minimise coverage; do
    check "there is a verb $verb" grep -qx "$verb" <<<"$verbs"
done
status 0 "--version" "$NOCAP" --version
check "names three versions" grep -Eqx 'nocap [0-9.]+, zstd [0-9.]+, protobuf-c [0-9.]+' "$T/out"
status 2 "an unknown verb is wrong usage" "$NOCAP" frobnicate
err_has "it is named" "'frobnicate'"
for verb in $verbs; do
    check "the verbs are listed: $verb" grep -Eq "^  $verb +[a-z]" "$T/err"
done

docs/man/page "$NOCAP" >"$T/nocap.1"
check "the manual has an overview" grep -q '^\.SH COMMANDS' "$T/nocap.1"
for verb in $verbs; do
    status 0 "$verb --help" "$NOCAP" "$verb" --help
    check "$verb: usage line" test "$(head -n 1 "$T/out" | cut -d' ' -f1-3)" = "usage: nocap $verb"
    out_has "$verb: options" "options:"
    out_has "$verb: exit status" "  2  usage error"
    check "$verb: two examples" test "$(sed '1,/^examples:/d' "$T/out" | grep -c "^  nocap $verb\|| nocap $verb")" -ge 2
    check "$verb: lines of at most 110" awk 'length > 110 { exit 1 }' "$T/out"
    check "$verb: nothing on standard error" test ! -s "$T/err"
    cp "$T/out" "$T/help.$verb"
    status 2 "$verb: an unknown option is wrong usage" "$NOCAP" "$verb" --no-such-option
    err_has "$verb: the option is named" "'--no-such-option'"
    err_has "$verb: help is near" "try nocap $verb --help"
    check "$verb: two lines" test "$(wc -l <"$T/err")" -eq 2
    check "$verb: nothing on standard output" test ! -s "$T/out"
    docs/man/page "$NOCAP" "$verb" >"$T/nocap-$verb.1"
    sed 's/\\-/-/g' "$T/nocap-$verb.1" >"$T/manual"
    check "$verb: the overview names its page" grep -qF "nocap\-$verb (1)" "$T/nocap.1"
    check "$verb: its page has all sections" test "$(grep -cE '^\.SH (NAME|SYNOPSIS|OPTIONS|EXIT STATUS|EXAMPLES|SEE ALSO)' "$T/manual")" -eq 6
    for option in $(sed -n 's/^  \(-., \|    \)--\([a-z-]*\).*/\2/p' "$T/help.$verb"); do
        grep -Eq -- "^\.B .*--$option([^a-z-]|$)" "$T/manual"
        verdict "$verb: the manual has --$option" $?
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
complete_words() {
    (
        PATH=$(dirname "$NOCAP"):$PATH
        . cli/nocap.bash-completion
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _nocap
        printf '%s\n' "${COMPREPLY[@]}"
    )
}
complete_words nocap "" >"$T/out"
for verb in $verbs; do out_has "completion knows $verb" "$verb"; done
complete_words nocap dump --fo >"$T/out"
check "completion of an option" test "$(cat "$T/out")" = --format
complete_words nocap dump --format j >"$T/out"
check "completion of a choice" test "$(cat "$T/out")" = jsonl
complete_words nocap explain syn-00 >"$T/out"
out_has "completion of a rule" SYN-004
complete_words nocap golden v >"$T/out"
check "completion of an action" test "$(cat "$T/out")" = verify
complete_words nocap capture --sim launch-h >"$T/out"
check "completion of a scenario" test "$(cat "$T/out")" = launch-host
complete_words nocap dump -o tests/cli/test_u >"$T/out"
check "completion of a file" test "$(cat "$T/out")" = tests/cli/test_usage.sh
if command -v man >/dev/null; then
    for page in "$T"/nocap*.1; do
        check "well formed: ${page##*/}" test -z "$(LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l "$page" 2>&1 >/dev/null)"
    done
else
    skip "the manual is well formed" "man is not installed"
fi
finish
