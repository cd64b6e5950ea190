#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A file of 198 bytes that claims 4 198 400 events: commands that read whole traces leave out what
# goes beyond the bound, and read it with --dense. All of them are tried in `make long-seeds`.
. tests/cli/lib.sh
dense=$PWD/tests/data/dense.nocap

status 1 "info" "$NOCAP" info "$dense"
out_has "tells what is left out, and what reads it" "4198400 events in 170 bytes, more than 256 a byte: left out from here on (--dense reads them)"
status 1 "info --dense" "$NOCAP" info --dense "$dense"
out_has "reads all" "cut short at event 4198400"
status 0 "check --dense" "$NOCAP" check --dense "$dense"
out_has "reads all" "dense.nocap: blackhole, 4198400 events"
if long; then
    status 0 "coverage --dense" "$NOCAP" coverage --dense "$dense"
    out_has "reads all" "1 of them cut short"
    status 1 "replay --dense" "$NOCAP" replay --dense "$dense"
    out_has "reads all" "after event #4198399"
    status 0 "diff --dense" "$NOCAP" diff --dense "$dense" "$dense"
    out_has "reads all" "B is damaged at event 4198400: the file ends"
    status 0 "cut --dense" "$NOCAP" cut --dense --as-it-is --index 4198390..4198399 "$dense" -o "$T/part.nocap"
    err_has "reads all" "10 of 4198400 events"
    status 2 "minimise --dense" "$NOCAP" minimise --dense --rule TRC-003 "$dense" -o "$T/part.nocap"
    err_has "reads all" "before the place where it is cut short"
    status 0 "golden record --dense" "$NOCAP" golden record "$T/g" x "$dense" --reason test --dense
    status 0 "golden verify --dense" "$NOCAP" golden verify --dense "$T/g"
    status 1 "golden verify without it" "$NOCAP" golden verify "$T/g"
    out_has "reads less" "TRC-00"
fi

# The same in a text of 130 MB that is 13 kB small: the import ends where it becomes too dense.
few=$T/few.jsonl many=$T/many.jsonl.zst notes=$T/notes.json.zst
{
    echo '{"nocap":1,"arch":"blackhole","observes":["noc"]}'
    yes '{"t":1,"ev":"note","text":""}' | head -n 4300000
} | zstd -q -o "$many"
status 1 "info of dense text" "$NOCAP" info "$many"
out_has "tells what is left out, and what reads it" "more than 256 a byte: left out from here on (--dense reads them)"
status 0 "check of dense text --dense" "$NOCAP" check --dense "$many"
out_has "reads all" "many.jsonl.zst: blackhole, 4300000 events"
status 1 "import of dense text" "$NOCAP" import jsonl "$many" -o "$T/many.nocap"
err_has "tells it" "more than 256 events for each byte of the input: the rest is left out (--dense reads it)"
status 0 "import --dense" "$NOCAP" import jsonl --dense "$many" -o "$T/many.nocap"
err_has "reads all" "4300000 events"
if long; then
    status 1 "recompress of dense text" "$NOCAP" recompress --level 1 "$T/many.nocap" -o "$T/small.nocap"
    err_has "tells what reads it" "(--dense reads them)"
    check "makes nothing" test ! -e "$T/small.nocap"
    status 0 "recompress --dense" "$NOCAP" recompress --level 1 --dense "$T/many.nocap" -o "$T/small.nocap"
    err_has "has all" "4300000 events"
    {
        echo '['
        yes '{"type":"READ"},' | head -n 4300000
    } | zstd -q -o "$notes"
    status 3 "import of a dense profile" "$NOCAP" import noc-json "$notes" -o "$T/notes.nocap"
    err_has "tells it" "notes.json.zst has more than 256 events for each of its bytes; --dense reads it"
fi
finish
