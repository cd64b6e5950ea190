#!/bin/bash
# The tree's golden traces: they still check as recorded, the embedded device still makes them, stock tools read them, and
# JSON Lines out and in again gives the same events.
. tests/cli/lib.sh
status 0 "golden verify" "$NOCAP" golden verify golden
for trace in golden/*.nocap; do
    name=$(basename "$trace" .nocap)
    zstd -dcq "$trace" | protoc -I formats/trace --decode=nocap.Trace nocap.proto >"$T/decoded" 2>"$T/err"
    check "$name: zstd and protoc read it" test -s "$T/decoded" -a ! -s "$T/err"
    "$NOCAP" dump "$trace" --format jsonl >"$T/a.jsonl"
    "$NOCAP" import jsonl "$T/a.jsonl" -o "$T/b.nocap" 2>/dev/null
    "$NOCAP" dump "$T/b.nocap" --format jsonl >"$T/b.jsonl"
    check "$name: JSON Lines and back" cmp -s "$T/a.jsonl" "$T/b.jsonl"
done
check "together under 2 MB" test "$(du -cb golden/* | tail -n 1 | cut -f1)" -lt 2000000
cp -r golden "$T/golden"
"$NOCAP" capture --sim launch-host --seed 1 --fault done-early -o "$T/other.nocap" 2>/dev/null
cp "$T/other.nocap" "$T/golden/launch-host.nocap"
status 1 "a trace that differs is told" "$NOCAP" golden verify "$T/golden"
out_has "by name" "launch-host"
finish
