#!/bin/bash
# nocap import: what it says, what it leaves behind.
. tests/cli/lib.sh
make_trace "$T/a.jsonl"

status 0 "import" "$NOCAP" import jsonl "$T/a.jsonl" -o "$T/a.nocap"
check "nothing on standard output" test ! -s "$T/out"
check "one line on standard error" test "$(wc -l <"$T/err")" -eq 1
err_has "with events and sizes" "9 events, $(stat -c %s "$T/a.jsonl") bytes in, $(stat -c %s "$T/a.nocap") bytes out"
check "the trace is ordinary zstd" zstd -qt "$T/a.nocap"

zstd -q "$T/a.jsonl" -o "$T/a.zst"
status 0 "compressed input" "$NOCAP" import jsonl "$T/a.zst" -o "$T/b.nocap"
check "gives the same file" cmp "$T/a.nocap" "$T/b.nocap"
"$NOCAP" import jsonl - -o - <"$T/a.jsonl" >"$T/b.nocap" 2>/dev/null
check "from standard input to standard output" cmp "$T/a.nocap" "$T/b.nocap"

{
    cat "$T/a.jsonl"
    echo 'this is no event'
    echo '{"t":5}'
} >"$T/bad.jsonl"
status 1 "lines that are no events" "$NOCAP" import jsonl "$T/bad.jsonl" -o "$T/b.nocap"
err_has "are counted, the first is named" "2 of 11 lines are no events; the first is line 11"
"$NOCAP" dump --format jsonl "$T/b.nocap" >"$T/out"
out_has "and stay in the trace" 'this is no event'

cp "$T/a.nocap" "$T/keep.nocap"
echo 'hello' >"$T/text"
status 3 "not a trace" "$NOCAP" import jsonl "$T/text" -o "$T/keep.nocap"
check "leaves the old output alone" cmp "$T/a.nocap" "$T/keep.nocap"
status 3 "not a trace, no output before" "$NOCAP" import jsonl "$T/text" -o "$T/new.nocap"
check "leaves no output" test ! -e "$T/new.nocap"
status 3 "missing input" "$NOCAP" import jsonl "$T/nope" -o "$T/new.nocap"
status 3 "a directory" "$NOCAP" import jsonl "$T" -o "$T/new.nocap"

ln -s keep.nocap "$T/link.nocap"
status 0 "output through a link" "$NOCAP" import jsonl "$T/a.jsonl" -o "$T/link.nocap"
check "the link stays" test -L "$T/link.nocap"
check "nothing else stays behind" test -z "$(find "$T" -name '.*' -type f)"

status 0 "list" "$NOCAP" import list
out_has "names the formats" "jsonl"
status 2 "an unknown format" "$NOCAP" import nonsense "$T/a.jsonl" -o "$T/b.nocap"
status 2 "no input" "$NOCAP" import jsonl -o "$T/b.nocap"
status 2 "no output" "$NOCAP" import jsonl "$T/a.jsonl"
status 2 "two inputs of a format that takes one" "$NOCAP" import jsonl "$T/a.jsonl" "$T/a.jsonl" -o "$T/b.nocap"
finish
