#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a command writes: the old file stays until the new one is whole, and nothing else is left.
. tests/cli/lib.sh
sanitized && skip "outputs" "a sanitizer's run time must come before the fake disk" && finish
B=$(cd "$BUILD" && pwd)
mkdir "$T/tmp" "$T/dir" && export TMPDIR=$T/tmp
limited() { (ulimit -f 0 && exec "$@"); }
disk() { env LD_PRELOAD="$B/tests/libfake-disk.so" "$@"; }
left() { find "$T/tmp" "$T/dir" -mindepth 1 | sort | tr '\n' ' '; }

make_trace "$T/a.jsonl"
"$NOCAP" import jsonl "$T/a.jsonl" -o "$T/a.nocap" 2>/dev/null
"$NOCAP" capture --sim launch-host --launches 2000 -o "$T/long.nocap" 2>/dev/null
out=$T/dir/out
for command in "import jsonl $T/a.jsonl" "capture --sim boot" "dump $T/a.nocap" "check $T/a.nocap --format json" \
    "cut $T/a.nocap --from 100" "recompress $T/a.nocap" "hang $T/a.nocap --format json" "info $T/a.nocap" "diff $T/a.nocap $T/a.nocap" \
    "coverage $T/a.nocap" "replay $T/a.nocap"; do
    echo old >"$out"
    # shellcheck disable=SC2086
    status 4 "${command%% /*} where nothing can be written" limited "$NOCAP" $command -o "$out"
    check "keeps the old file" test "$(cat "$out")" = old
    check "and nothing else" test "$(left)" = "$out "
    # shellcheck disable=SC2086
    disk FAKE_NO_PROC=1 "$NOCAP" $command -o "$out" >/dev/null 2>"$T/err"
    verdict "without /proc" $(($? > 1))
    check "the new file is there" bash -c "! grep -qs '^old$' '$out'"
    check "and nothing else" test "$(left)" = "$out "
done
status 0 "a trace on standard input without /proc" disk FAKE_NO_PROC=1 "$NOCAP" info - <"$T/a.jsonl"
status 0 "through a pipe" bash -c "cat '$T/a.nocap' | LD_PRELOAD='$B/tests/libfake-disk.so' FAKE_NO_PROC=1 '$NOCAP' info -"
status 4 "a pipe that cannot be kept" bash -c "cat '$T/a.nocap' | LD_PRELOAD='$B/tests/libfake-disk.so' FAKE_DISK_BYTES=0 '$NOCAP' info -"
err_has "says what to do" TMPDIR

# An output does not take the place of what is read.
cp "$T/a.nocap" "$T/dir/in.nocap" && ln -s in.nocap "$T/dir/link"
for command in "cut --from 100" recompress dump "export --to html" "check --format json" sql; do
    # shellcheck disable=SC2086
    status 2 "${command%% *} onto its input" "$NOCAP" $command "$T/dir/in.nocap" -o "$T/dir/link"
    err_has "is told" "$T/dir/link is read here: give -o another name"
    check "which stays" cmp -s "$T/a.nocap" "$T/dir/in.nocap"
done
status 0 "a word of a command is no input" "$NOCAP" capture -o "$T/dir/in.nocap" -- cat "$T/dir/in.nocap"
rm "$T/dir/in.nocap" "$T/dir/link"

# Where there is no result the old file stays: nothing could be read, or no report was made.
# keeps STATUS NAME COMMAND...
keeps() {
    local wanted=$1 name=$2
    shift 2
    echo old >"$out"
    status "$wanted" "$name" "$@" -o "$out"
    check "is told" test -s "$T/err"
    check "keeps the old file" test "$(cat "$out")" = old
    check "and nothing else" test "$(left)" = "$out "
}
keeps 3 "check of a trace that cannot be read" "$NOCAP" check "$T/none.nocap"
keeps 3 "check of several" "$NOCAP" check "$T/none.nocap" "$T/nothing.nocap"
keeps 3 "check with waivers that cannot be read" "$NOCAP" check "$T/a.nocap" --waivers "$T/none"
keeps 3 "check with a baseline that cannot be read" "$NOCAP" check "$T/a.nocap" --baseline "$T/none"
keeps 2 "check with rules that there are not" "$NOCAP" check "$T/a.nocap" --rules XXX
keeps 3 "coverage of a trace that cannot be read" "$NOCAP" coverage "$T/none.nocap"
for format in text sarif json; do
    keeps 4 "check as $format without room for a trace in TMPDIR" \
        disk FAKE_DISK_BYTES=0 "$NOCAP" check "$T/a.nocap" "$T/a.jsonl" --format $format
done
status 4 "disasm without room to compare" \
    bash -c "set -o pipefail; (ulimit -f 0; '$NOCAP' aie disasm tests/data/aie/dma.elf 2>&1) | cat"
out_has "is told" "the ELF file cannot be kept in memory: File too large"
check "prints nothing else" test "$(wc -l <"$T/out")" -eq 1
status 3 "check of two, one of which can be read" "$NOCAP" check "$T/a.nocap" "$T/none.nocap" -o "$out"
check "reports that one" grep -q 'a.nocap: blackhole, .* events: ' "$out"
rm "$out"

# Only a trace takes the place of a trace: the shell makes `-o a b` of `-o traces/*`.
mkdir "$T/traces"
cp "$T/a.nocap" "$T/traces/a.nocap"
cp "$T/a.jsonl" "$T/traces/b.jsonl"
cp "$T/a.nocap" "$T/traces/c.nocap"
cksum "$T"/traces/* >"$T/sums"
for command in check hang info diff coverage dump launches metrics replay export; do
    for of in a.nocap b.jsonl; do
        [ "$command $of" != "dump b.jsonl" ] || continue
        arguments=''
        [ "$command" != export ] || arguments='--to vcd'
        # shellcheck disable=SC2086 # words are meant
        status 2 "$command: its report over the trace $of" "$NOCAP" $command $arguments "$T/traces/c.nocap" -o "$T/traces/$of"
        err_has "$command: is refused" "traces/$of is a trace, which would be lost: give -o another name"
    done
done
status 2 "as the shell spells it" "$NOCAP" check -o "$T"/traces/*
status 2 "an answer of sql" "$NOCAP" sql "$T/traces/c.nocap" 'select 1' -o "$T/traces/a.nocap"
status 2 "an answer of who" "$NOCAP" who 1,2 0x70 "$T/traces/c.nocap" -o "$T/traces/a.nocap"
check "nothing was lost" cmp "$T/sums" <(cksum "$T"/traces/*)
status 0 "a trace over a trace" "$NOCAP" cut "$T/traces/c.nocap" --from 1 -o "$T/traces/a.nocap"
status 0 "JSON Lines over JSON Lines" "$NOCAP" dump --format jsonl "$T/traces/c.nocap" -o "$T/traces/b.jsonl"
status 0 "a report over a report" "$NOCAP" check --format json "$T/traces/c.nocap" -o "$T/traces/r.json"
status 0 "and again" "$NOCAP" check --format json "$T/traces/c.nocap" -o "$T/traces/r.json"

# A signal ends the command once it has begun to write; a name is in the folder without /proc.
# ends_by SIGNAL NAME COMMAND...
ends_by() {
    local signal=$1 name=$2
    shift 2
    echo old >"$out"
    env --default-signal="$signal" LD_PRELOAD="$B/tests/libfake-disk.so" FAKE_NO_PROC=1 "$@" >/dev/null 2>&1 </dev/null &
    pid=$!
    for _ in $(seq 400); do [ "$(left)" != "$out " ] && break; sleep 0.01; done
    check "$name writes beside" test "$(left)" != "$out "
    kill -"$signal" "$pid"
    wait "$pid" 2>/dev/null
    verdict "$name ends by SIG$signal" $(($? != 128 + $(kill -l "$signal")))
    check "the old file stays" test "$(cat "$out")" = old
    check "and nothing else" test "$(left)" = "$out "
}
mkfifo "$T/never"
exec 9<>"$T/never"
head -n 1 "$T/a.jsonl" >&9
for signal in INT TERM HUP; do ends_by $signal "import" "$NOCAP" import jsonl "$T/never" -o "$out"; done
ends_by TERM "cut" "$NOCAP" cut "$T/long.nocap" --from 100000 -o "$out"
(trap '' INT && exec env LD_PRELOAD="$B/tests/libfake-disk.so" FAKE_NO_PROC=1 "$NOCAP" import jsonl "$T/never" -o "$out" 2>/dev/null) &
pid=$!
for _ in $(seq 400); do [ "$(left)" != "$out " ] && break; sleep 0.01; done
kill -INT "$pid"
sleep 0.1
check "a signal that is ignored stays so" kill -TERM "$pid"
wait "$pid" 2>/dev/null
verdict "until another ends it" $(($? != 143))
exec 9>&-
finish
