#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a trace from somebody else can make the program open: only regular files below its folder.
# shellcheck source-path=SCRIPTDIR
. tests/cli/lib.sh

mkdir -p "$T/in/fw" "$T/else"
printf 'START_JOB 1\n  WRITE_32 0x2000, 1\nEND_JOB\nEOF\n' >"$T/c.asm"
"$NOCAP" aie asm "$T/c.asm" -o "$T/in/fw/c.elf"
"$NOCAP" aie run "$T/in/fw/c.elf" -o "$T/in/run.nocap" 2>/dev/null
mkfifo "$T/in/fifo"
cp "$T/in/fw/c.elf" "$T/secret.elf"

# named PATH: in/t.jsonl is the run, whose header names PATH.
named() {
    "$NOCAP" dump --format jsonl "$T/in/run.nocap" | sed "1s#fw/c.elf#$1#" >"$T/in/t.jsonl"
}

check "aie run names a file below the trace's folder from there" \
    grep -q '"firmware":{"uc":"fw/c.elf"}' <("$NOCAP" dump --format jsonl "$T/in/run.nocap")
status 0 "which check opens" "$NOCAP" check "$T/in/run.nocap"
check "and says nothing" test -z "$(grep 'names firmware' "$T/out")"

for name in fifo ../secret.elf "$T/secret.elf" /dev/stdin; do
    named "$name"
    for command in check hang coverage dump replay info "cut --index 0..3 -o $T/part.nocap" \
        "golden record $T/golden$RANDOM x --reason test"; do
        # shellcheck disable=SC2086
        timeout 10 "$NOCAP" $command "$T/in/t.jsonl" >"$T/out" 2>&1
        got=$?
        verdict "${command%% *} of a trace that names ${name##*/}: $got" $((got > 1))
    done
    status 0 "check of it" "$NOCAP" check "$T/in/t.jsonl"
    check "says so once" test "$(grep -c 'the trace names firmware for uc, give it' "$T/out")" -eq 1
    for command in hang coverage; do
        status 0 "$command of it" "$NOCAP" $command "$T/in/t.jsonl"
        check "says so once" test "$(grep -c 'the trace names firmware for uc' "$T/err")" -eq 1
    done
done

named ../secret.elf
"$NOCAP" check "$T/in/t.jsonl" >"$T/there"
rm "$T/secret.elf"
"$NOCAP" check "$T/in/t.jsonl" >"$T/gone"
check "whether a file is there outside of the folder does not show" cmp "$T/there" "$T/gone"
cp "$T/in/fw/c.elf" "$T/secret.elf"
for command in check hang coverage dump "cut --index 0..3 -o $T/part.nocap"; do
    # shellcheck disable=SC2086
    status 0 "${command%% *} of a name that the user trusts" "$NOCAP" $command --trust-paths "$T/in/t.jsonl"
    check "opens it" test -z "$(grep -h 'names firmware' "$T/out" "$T/err")"
done

# Firmware of a core, which dump opens too.
printf '{"nocap":1,"arch":"blackhole","observes":[],"firmware":{"brisc":"%s","ncrisc":"%s"}}\n' \
    "$T/secret.elf" "$T/other.elf" >"$T/in/core.jsonl"
status 0 "dump" "$NOCAP" dump "$T/in/core.jsonl"
check "says once what it does not open" \
    test "$(grep -c 'the trace names firmware for brisc and 1 more' "$T/err")" -eq 1
status 0 "dump as JSON Lines needs none" "$NOCAP" dump --format jsonl "$T/in/core.jsonl"
check "and says nothing" test ! -s "$T/err"

# A part lies elsewhere than the trace whose firmware it names.
sed 's/, 1$/, 2/' "$T/c.asm" >"$T/d.asm"
"$NOCAP" aie asm "$T/d.asm" -o "$T/in/fw/d.elf"
named fw/d.elf
status 1 "a run of other control code" "$NOCAP" check "$T/in/t.jsonl"
status 0 "cut into another folder keeps its findings" \
    "$NOCAP" cut --index 0..9 "$T/in/t.jsonl" -o "$T/else/part.nocap"

printf '.include "fifo"\n' >"$T/in/i.asm"
status 3 "asm with an include of a FIFO" timeout 10 "$NOCAP" aie asm "$T/in/i.asm" -o "$T/i.elf"
err_has "says so" "not a regular file"
printf '.include "/dev/zero"\n' >"$T/in/i.asm"
status 3 "asm with an include of a device" timeout 10 "$NOCAP" aie asm "$T/in/i.asm" -o "$T/i.elf"
err_has "says so" "not a regular file"
printf '.attach_to_group 0\n.setpad pad, fifo\nEOF\n' >"$T/in/i.asm"
status 3 "a buffer of a FIFO" timeout 10 "$NOCAP" aie asm "$T/in/i.asm" -o "$T/i.elf"
for file in "$T/in/fifo" /dev/zero; do
    status 3 "--elf of ${file##*/}" timeout 10 "$NOCAP" check --elf "uc=$file" "$T/in/run.nocap"
    err_has "says so" "regular file"
done
finish
