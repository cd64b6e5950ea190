#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A trace made smaller is the same trace: every golden one dumps and checks as before.
. tests/cli/lib.sh
golden=$PWD/golden
mkdir "$T/old" "$T/new"

# says DIR NAME: what the trace is to those who read it; reports name it, so it has one name in both.
says() {
    cd "$T/$1" && "$NOCAP" dump --format jsonl "$2" 2>&1
    echo "dump $?"
    "$NOCAP" check --format json --max-per-rule 1000000 "$2" 2>&1
    echo "check $?"
}
for path in $(share 20 "$golden"/*.nocap); do
    name=${path##*/}
    cp "$path" "$T/old"
    "$NOCAP" recompress "$path" -o "$T/new/$name" 2>"$T/err"
    verdict "$name is recompressed" $?
    check "$name: the same events and findings" cmp -s <(says old "$name") <(says new "$name")
done
total() { find "$T/$1" -name '*.nocap' -printf '%s\n' | awk '{ n += $1 } END { print n }'; }
check "and together they are smaller" test "$(total new)" -lt "$(total old)"

"$NOCAP" capture --sim launch-dev --tiles 120 --launches 8 -o "$T/old/run.nocap" 2>/dev/null
status 0 "launches on 120 tiles" "$NOCAP" recompress "$T/old/run.nocap" -o "$T/new/run.nocap"
err_has "tells the sizes" "$(stat -c %s "$T/old/run.nocap") bytes in, $(stat -c %s "$T/new/run.nocap") bytes out, 1."
check "a fifth is gone" test $(($(stat -c %s "$T/new/run.nocap") * 5)) -lt $(($(stat -c %s "$T/old/run.nocap") * 4))
check "the same events and findings" cmp -s <(says old run.nocap) <(says new run.nocap)
status 0 "an event by its index" "$NOCAP" dump --format jsonl --index 200000..200009 "$T/old/run.nocap"
check "is the same" cmp -s "$T/out" <("$NOCAP" dump --format jsonl --index 200000..200009 "$T/new/run.nocap")
status 0 "--level" "$NOCAP" recompress --level 1 "$T/old/run.nocap" -o "$T/fast.nocap"
check "a lower one is larger" test "$(stat -c %s "$T/fast.nocap")" -gt "$(stat -c %s "$T/new/run.nocap")"
status 0 "once more" "$NOCAP" recompress "$T/new/run.nocap" -o "$T/again.nocap"
check "changes nothing" cmp "$T/new/run.nocap" "$T/again.nocap"
status 0 "through pipes" bash -c "cat '$T/old/run.nocap' | '$NOCAP' recompress - -o - >'$T/piped.nocap'"
check "the same" cmp "$T/new/run.nocap" "$T/piped.nocap"

# What a trace was made of broke off: the trace is whole, and says so still.
make_trace "$T/a.jsonl"
head -c -20 "$T/a.jsonl" >"$T/broken.jsonl"
"$NOCAP" import jsonl "$T/broken.jsonl" -o "$T/old/broken.nocap" 2>/dev/null
status 0 "a trace of what broke off" "$NOCAP" recompress "$T/old/broken.nocap" -o "$T/new/broken.nocap"
at_no_byte() { says "$1" broken.nocap | sed 's/, byte [0-9]*//'; }
check "tells it as before" cmp -s <(at_no_byte old) <(at_no_byte new)
check "which is told at all" grep -q "breaks off in line" <(at_no_byte new)

# Nothing is made of what lacks events, and what was there stays.
echo old >"$T/out.nocap"
head -c -20 "$T/old/run.nocap" >"$T/cut.nocap"
status 1 "a trace that is cut short" "$NOCAP" recompress "$T/cut.nocap" -o "$T/out.nocap"
err_has "is told" "the file ends without its footer"
cp "$T/old/run.nocap" "$T/bad.nocap"
printf 'damage' | dd of="$T/bad.nocap" bs=1 seek=100000 conv=notrunc 2>/dev/null
status 1 "a damaged trace" "$NOCAP" recompress "$T/bad.nocap" -o "$T/out.nocap"
err_has "is told" "nothing is made of a trace that lacks events"
status 3 "JSON Lines" "$NOCAP" recompress "$T/a.jsonl" -o "$T/out.nocap"
status 3 "no file" "$NOCAP" recompress "$T/none" -o "$T/out.nocap"
status 2 "level 0" "$NOCAP" recompress --level 0 "$T/old/run.nocap" -o "$T/out.nocap"
status 2 "level 23" "$NOCAP" recompress --level 23 "$T/old/run.nocap" -o "$T/out.nocap"
err_has "says what there is" "--level takes 1 to 22"
check "the old file stays" test "$(cat "$T/out.nocap")" = old
status 2 "no output" "$NOCAP" recompress "$T/old/run.nocap"
err_has "says so" "-o OUT is needed"
status 4 "an output that cannot be written" "$NOCAP" recompress "$T/old/run.nocap" -o "$T/none/out.nocap"
"$NOCAP" recompress "$T/cut.nocap" -o - >"$T/part.nocap" 2>/dev/null
status 1 "what went to a pipe" "$NOCAP" info "$T/part.nocap"
out_has "has no end" "cut short"
finish
