#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Where subordinates start, without their ELF files: what the host programmed and what other cores
# have tells it where a firmware's text lies in more pieces than there are cores.
. tests/cli/lib.sh

finds() { # finds RULES NAME
    "$NOCAP" check --format json "$T/boot.jsonl" >"$T/report"
    got=$(python3 -c '
import json, sys
print(*[f["rule"] for f in json.load(open(sys.argv[1]))["findings"] if "follows" not in f])' "$T/report")
    [ "$got" = "$1" ] || echo "# found: $got"
    check "$2" test "$got" = "$1"
}

"$NOCAP" capture --sim boot --tiles 1 -o "$T/run.nocap" 2>/dev/null
# TRISC0's text in two pieces
"$NOCAP" dump --format jsonl "$T/run.nocap" | awk '
    { print }
    /"addr":"0x5a40"/ && !n++ { gsub("0x5a40", "0x5f00"); sub("\"size\":[0-9]*", "\"size\":16"); print }' >"$T/ok.jsonl"
cp "$T/ok.jsonl" "$T/boot.jsonl"
finds "" "six pieces of text: silent"
trisc0='"by":"brisc".*"addr":"0xffb12228"' trisc1='"by":"brisc".*"addr":"0xffb1222c"'
sed "/$trisc0/s/0x5a40/0x6040/; /$trisc1/s/0x6040/0x5a40/" "$T/ok.jsonl" >"$T/boot.jsonl"
finds RST-005 "reset PCs of two cores swapped: another one's that the host programmed, one finding"
sed "/\"by\":\"host\".*\"addr\":\"0xffb122[23]/d; /$trisc1/s/0x6040/0x5a40/" "$T/ok.jsonl" >"$T/boot.jsonl"
finds RST-005 "the same reset PC twice, and the host programmed none: one finding"

finish
