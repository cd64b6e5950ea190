#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What cannot be read is status 3 wherever the error strikes, in every command; what is cut short is
# read up to there and judged as far as it goes.
. tests/cli/lib.sh
sanitized && skip "read errors" "a sanitizer's run time must come before the fake" && finish
B=$(cd "$BUILD" && pwd)
T=$(cd "$T" && pwd -P)

# eio FILE AT COMMAND...: FILE cannot be read at AT, FROM-TO, or from FROM on.
eio() {
    local file=$1 at=$2
    shift 2
    LD_PRELOAD=$B/tests/libfake-eio.so FAKE_EIO_FILE=$file FAKE_EIO_AT=$at "$@"
}

"$NOCAP" capture --sim launch-host --tiles 2 --launches 400 --fault done-early -o "$T/a.nocap" 2>/dev/null
"$NOCAP" capture --sim launch-host --tiles 2 --launches 400 -o "$T/b.nocap" 2>/dev/null
size=$(stat -c %s "$T/a.nocap")
"$NOCAP" dump --format jsonl "$T/a.nocap" >"$T/a.jsonl"
zstd -q "$T/a.jsonl" -o "$T/a.jsonl.zst"
"$NOCAP" dump --format jsonl "$T/b.nocap" >"$T/b.jsonl"

# ---- errors ----

# Where: nothing, the beginning, one place of the header, of a block, the end, the footer, the seek
# table.
for at in $(share 2 0 3 40-50 $((size / 2)) $((size / 2))-$((size / 2)) $((size - 200))-$((size - 190)) $((size - 5))); do
    for command in check hang coverage info "info --noc" dump replay "dump --format jsonl"; do
        # shellcheck disable=SC2086 # the words of a command
        status 3 "$command of a trace that cannot be read at byte $at" \
            eio "$T/a.nocap" "$at" "$NOCAP" $command "$T/a.nocap"
    done
    err_has "says why" "Input/output error"
    status 3 "diff, the first" eio "$T/a.nocap" "$at" "$NOCAP" diff "$T/a.nocap" "$T/b.nocap"
    status 3 "diff, the second" eio "$T/a.nocap" "$at" "$NOCAP" diff "$T/b.nocap" "$T/a.nocap"
    status 3 "cut" eio "$T/a.nocap" "$at" "$NOCAP" cut "$T/a.nocap" --index 10..20 -o "$T/out.nocap"
    status 3 "minimise" eio "$T/a.nocap" "$at" "$NOCAP" minimise "$T/a.nocap" --rule GO-004 -o "$T/out.nocap"
    status 3 "recompress" eio "$T/a.nocap" "$at" "$NOCAP" recompress "$T/a.nocap" -o "$T/out.nocap"
    status 3 "golden record" eio "$T/a.nocap" "$at" "$NOCAP" golden record --reason x "$T/golden" x "$T/a.nocap"
    check "and no output" test ! -e "$T/out.nocap" -a ! -e "$T/golden/x.nocap"
done
status 3 "several traces" eio "$T/a.nocap" 3000-3000 "$NOCAP" check "$T/b.nocap" "$T/a.nocap" "$T/b.nocap"
check "the others are still reported" test "$(grep -c 'b.nocap: blackhole, .* events: clean' "$T/out")" -eq 2
status 3 "check of standard input" eio "$T/a.nocap" 3000-3000 "$NOCAP" check - <"$T/a.nocap"
err_has "names it" "cannot read standard input at byte 3000"
for file in a.jsonl a.jsonl.zst; do
    for at in $(share 2 0 3 400 20000); do
        for command in check hang coverage info dump replay "import jsonl -o $T/out.nocap"; do
            # shellcheck disable=SC2086 # the words of a command
            status 3 "$command of $file from byte $at on" eio "$T/$file" "$at" "$NOCAP" $command "$T/$file"
        done
    done
    err_has "says why" "Input/output error"
done
check "and no output" test ! -e "$T/out.nocap"

# Inputs that are no traces.
bad=/proc/self/mem
for words in "check --waivers $bad $T/b.nocap" "check --baseline $bad $T/b.nocap" "check $bad" \
    "check --elf brisc=$bad $T/b.nocap" "lint $bad" "aie asm $bad -o $T/out.elf" "aie disasm $bad" \
    "aie lint $bad" "aie run $bad -o $T/out.nocap" "hang --log 0=$bad tests/data/aie/dma.elf" \
    "import l1-dump 1,2=$bad -o $T/out.nocap" "import noc-json $bad -o $T/out.nocap" \
    "import watcher $bad -o $T/out.nocap" "import jsonl $bad -o $T/out.nocap"; do
    # shellcheck disable=SC2086 # the words of a command
    status 3 "$words" "$NOCAP" $words
done
check "and no output" test ! -e "$T/out.nocap" -a ! -e "$T/out.elf"
dma=$PWD/tests/data/aie/dma.elf
for words in "aie disasm" "aie lint" "aie run -o $T/out.nocap"; do
    # shellcheck disable=SC2086 # the words of a command
    status 3 "$words of an ELF file with a bad place" eio "$dma" 500-500 "$NOCAP" $words "$dma"
    err_has "says why" "Input/output error"
done

# A directory of golden traces.
"$NOCAP" golden record --reason x "$T/golden" a "$T/a.nocap" >"$T/out" 2>"$T/err"
status 3 "golden verify" eio "$T/golden/a.nocap" 3000-3000 "$NOCAP" golden verify "$T/golden"
rm "$T/golden/manifest.txt"
ln -s "$bad" "$T/golden/manifest.txt"
status 3 "golden verify without a manifest that can be read" "$NOCAP" golden verify "$T/golden"

# ---- cuts ----

head -c 2000000 "$T/b.jsonl" >"$T/cut.jsonl"
zstd -q "$T/b.jsonl" -o "$T/b.jsonl.zst"
head -c 200000 "$T/b.jsonl.zst" >"$T/cut.jsonl.zst"
head -c 200000 "$T/b.nocap" >"$T/cut.nocap"
"$NOCAP" import jsonl "$T/cut.jsonl" -o "$T/imported.nocap" 2>"$T/err"
check "import of lines that break off" test $? -eq 1
err_has "says where" "the input breaks off at line "
for file in $(share 2 cut.jsonl cut.jsonl.zst cut.nocap imported.nocap); do
    events=$("$NOCAP" dump "$T/$file" 2>/dev/null | wc -l)
    status 0 "$file is judged up to its cut" "$NOCAP" check "$T/$file"
    out_has "as the verdict says" "verdict: clean as far as it goes: cut short after event $((events - 1));"
    status 1 "which fails if one is strict" "$NOCAP" check --strict "$T/$file"
    status 1 "also if other rules are asked for" "$NOCAP" check --strict --rules GO "$T/$file"
    "$NOCAP" check --format json "$T/$file" >"$T/out"
    out_has "as JSON too" '"truncated":true'
    check "hang ends well or unsure" bash -c "'$NOCAP' hang '$T/$file' >'$T/out'; test \$? -le 1"
    check "its verdict says so" bash -c "head -n 1 '$T/out' | grep -q 'the trace is cut short after event $((events - 1))'"
    status 0 "coverage of $file" "$NOCAP" coverage "$T/$file"
    out_has "says so" "1 trace, 1 of them cut short"
    status 1 "info of $file" "$NOCAP" info "$T/$file"
    out_has "says so" "cut short at event $events"
    status 1 "dump of $file" "$NOCAP" dump "$T/$file"
    err_has "says so" "damaged at event $events"
    status 1 "diff of $file" "$NOCAP" diff "$T/b.nocap" "$T/$file"
    out_has "says so" "B is damaged at event $events"
    status 2 "minimise of $file for what it has not" "$NOCAP" minimise "$T/$file" --rule GO-004 -o "$T/out.nocap"
    err_has "says so" "has no finding of GO-004 before the place where it is cut short"
    status 0 "cut of $file" "$NOCAP" cut "$T/$file" --index 0..99 -o "$T/part.nocap"
    err_has "says so" "the trace is cut short"
done
# What is damaged before its first event cannot be read, whoever asks.
block=$(LC_ALL=C grep -aboP '\x28\xb5\x2f\xfd' "$T/b.nocap" | LC_ALL=C sed -n '2{s/:.*//p;q}')
head -c $((block + 100)) "$T/b.nocap" >"$T/none.nocap"
for words in check hang info dump replay launches metrics coverage "who 1,2 0x68" "recompress -o $T/out.nocap" \
    "diff $T/b.nocap" "export --to vcd -o $T/out.vcd"; do
    # shellcheck disable=SC2086 # the words of a command
    status 3 "$words of a trace without a whole block" "$NOCAP" $words "$T/none.nocap"
    err_has "says why" "no block is whole"
done
status 3 "sql of it" "$NOCAP" sql "$T/none.nocap" "select count(*) from events"

# zstd data that are damaged cost one of its blocks, of 128 KiB.
head -c 400000 "$T/b.jsonl" | zstd -q >"$T/flipped.jsonl.zst"
printf '\377\377\377\377' |
    dd of="$T/flipped.jsonl.zst" bs=1 conv=notrunc seek=$(($(stat -c %s "$T/flipped.jsonl.zst") - 300)) 2>"$T/err"
"$NOCAP" check "$T/flipped.jsonl.zst" >"$T/out"
out_has "damage in the last block is reported" TRC-002
check "and what comes before it is judged" test "$("$NOCAP" dump "$T/flipped.jsonl.zst" 2>/dev/null | wc -l)" -ge \
    $(($(head -c 393216 "$T/b.jsonl" | wc -l) - 1))

# Of several traces the message says which.
sed '1s/"layout":"[^"]*"/"layout":"none"/; 4q' "$T/b.jsonl" >"$T/layout.jsonl"
status 3 "a layout that is not known" "$NOCAP" check "$T/layout.jsonl" "$T/b.nocap"
err_has "is reported with its trace" "layout.jsonl: the header names a mailbox layout that is not known, 'none'"
status 3 "in a comparison too" "$NOCAP" diff "$T/b.nocap" "$T/layout.jsonl"
status 0 "a strict check of a whole trace" "$NOCAP" check --strict "$T/b.nocap"
printf '%s' "$(head -n 100 "$T/b.jsonl")" >"$T/whole.jsonl"
status 0 "the last line needs no line end" "$NOCAP" check --strict "$T/whole.jsonl"

# ---- standard input, for those that read it more than once ----

"$NOCAP" capture --sim launch-host --tiles 2 --launches 3 --fault done-early -o "$T/small.nocap" 2>/dev/null
"$NOCAP" check --format json -o "$T/small.json" "$T/small.nocap"
# made COMMAND...: its status, what it says, and the trace that it makes
made() {
    rm -f "$T/part.nocap"
    "$NOCAP" "$@" 2>"$T/err"
    echo "status $?"
    [ ! -e "$T/part.nocap" ] || "$NOCAP" dump --format jsonl "$T/part.nocap"
}
for words in launches metrics "cut --to 30000 -o $T/part.nocap" "minimise --rule GO-004 -o $T/part.nocap" \
    "diff --a tile=1,2 --b tile=1,3" sql merge; do
    file=$T/small.nocap query=()
    case $words in sql*) query=("select count(*), sum(addr), trace from events") words="sql --format csv" ;; merge) file=$T/small.json ;; esac
    # shellcheck disable=SC2086 # the words of a command
    made $words "$file" "${query[@]}" >"$T/of_file"
    # shellcheck disable=SC2086,SC2002
    cat "$file" | made $words - "${query[@]}" | sed "s|/dev/stdin|$file|" >"$T/of_pipe"
    check "${words%% *} of a pipe is that of a file" cmp "$T/of_file" "$T/of_pipe"
    check "and ends well" grep -q 'status [01]$' "$T/of_pipe"
done
status 2 "sql has statements there, or a trace" "$NOCAP" sql - <"$T/small.nocap"
status 3 "a closed one cannot be read" "$NOCAP" launches - <&-
TMPDIR=$T/none status 4 "nor without a place for it" "$NOCAP" launches - < <(cat "$T/small.nocap")

# ---- what lies beside a cut trace ----

mkfifo "$T/cut.nocap.rings"
for words in "check" "info" "hang" "dump --limit 1" "coverage" "diff $T/b.nocap" "replay"; do
    # shellcheck disable=SC2086 # the words of a command
    timeout 60 "$NOCAP" $words "$T/cut.nocap" >"$T/out" 2>"$T/err"
    verdict "${words%% *} does not wait for a FIFO beside a cut trace" $(($? > 1))
done
"$NOCAP" info "$T/cut.nocap" >"$T/out" 2>"$T/err"
err_has "it is told of" "cut.nocap.rings: it is no regular file"
status 3 "nothing can be recovered of it" timeout 60 "$NOCAP" capture --recover "$T/cut.nocap"
err_has "which is told" "cut.nocap.rings: it is no regular file"

# ---- what the system refuses ----

# refused CALL ERROR COMMAND...: the last CALL of COMMAND fails.
refused() {
    local call=$1 error=$2 count
    shift 2
    strace -f -qq -e trace="$call" -o "$T/calls" "$@" >"$T/out" 2>"$T/err"
    count=$(grep -c "$call(" "$T/calls")
    strace -f -qq -o "$T/calls" -e inject="$call:error=$error:when=$count" "$@"
}
if strace -qq -o "$T/calls" true 2>"$T/err"; then
    status 4 "no descriptor is left for the report on a cut trace" refused dup EMFILE "$NOCAP" check "$T/cut.nocap"
    err_has "says so" "cannot write standard output: Too many open files"
    status 4 "nor for what info tells of it" refused dup EMFILE "$NOCAP" info "$T/cut.nocap"
    err_has "says so" "cannot write standard output: Too many open files"
    status 3 "no descriptor is left for the cut trace itself" refused openat EMFILE "$NOCAP" info "$T/b.nocap"
    err_has "says so" "cannot read $T/b.nocap: Too many open files"
    "$NOCAP" info -o "$T/info" "$T/b.nocap"
    status 3 "info of a trace without a size" strace -f -qq -o "$T/calls" -P "$T/b.nocap" \
        -e inject=newfstatat,fstat,stat,statx:error=EIO "$NOCAP" info "$T/b.nocap"
    err_has "says so" "$T/b.nocap: Input/output error"
    mkdir "$T/live"
    status 4 "the folder of a live capture cannot be looked through" env \
        LD_PRELOAD="$B/tests/libfake-kmd.so" strace -f -qq -o "$T/calls" -P "$T/live/" \
        -e inject=openat:error=EMFILE "$NOCAP" capture -o "$T/live/a.nocap" -- "$B/tests/kmd_client" count 50
    err_has "says so" "cannot look for the traces of its processes in $T/live/: Too many open files"
    status 0 "what was captured is there" "$NOCAP" check "$T/live/a.nocap"
else
    skip "refused calls" "strace may not trace here"
fi

finish
