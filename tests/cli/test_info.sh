#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nocap info: counts and integrity, as text and as JSON.
. tests/cli/lib.sh
make_trace "$T/a.jsonl"
"$NOCAP" import jsonl "$T/a.jsonl" -o "$T/a.nocap" 2>/dev/null

status 0 "text" "$NOCAP" info "$T/a.nocap"
out_has "machine" "blackhole p100, layout bh-launch96"
out_has "events" "9 of 1 source"
out_has "times" "90 .. 170 cycles, in order"
out_has "integrity" "integrity  whole"
check "kinds" grep -Eq '^  write +4 +44\.4 %' "$T/out"
check "agents" grep -Eq '^  trisc1 +2 ' "$T/out"
check "tiles" grep -Eq '^  1,2 +8 ' "$T/out"

status 0 "json" "$NOCAP" info --format json "$T/a.nocap"
check "one line" test "$(wc -l <"$T/out")" -eq 1
out_has "json counts" '"kinds":{"write":4,'
out_has "json header" '"header":{"nocap":1,'
out_has "json size" "\"bytes\":$(stat -c %s "$T/a.nocap"),"
if command -v json_verify >/dev/null; then
    check "valid json" json_verify -q <"$T/out"
elif command -v python3 >/dev/null; then
    check "valid json" python3 -m json.tool "$T/out" /dev/null
else
    skip "valid json" "neither json_verify nor python3 is here"
fi

status 0 "JSON Lines" "$NOCAP" info "$T/a.jsonl"
out_has "size of the text" "$(stat -c %s "$T/a.jsonl") bytes"
status 0 "standard input" bash -c "'$NOCAP' info - <'$T/a.nocap'"

head -c $(($(stat -c %s "$T/a.nocap") - 20)) "$T/a.nocap" >"$T/cut.nocap"
status 1 "a cut trace" "$NOCAP" info "$T/cut.nocap"
out_has "is told in one line" "cut short at event 9"
status 1 "a cut trace as JSON" "$NOCAP" info --format json "$T/cut.nocap"
out_has "counts its damages" '"damages":1'

{
    head -n 1 "$T/a.jsonl"
    for x in $(seq 0 15); do
        for y in $(seq 0 $x); do
            echo "{\"t\":1,\"ev\":\"reset\",\"op\":\"run\",\"by\":\"brisc\",\"x\":$x,\"y\":$y}"
            echo "{\"t\":1,\"ev\":\"reset\",\"op\":\"run\",\"by\":\"brisc\",\"x\":$x,\"y\":0}"
        done
    done
} >"$T/many.jsonl"
status 0 "many tiles" "$NOCAP" info "$T/many.jsonl"
out_has "are counted" "cores      136, the busiest:"
check "the busiest comes first" test "$(sed -n '/^cores/{n;p}' "$T/out" | awk '{ print $1, $2 }')" = "15,0 17"
check "twenty are shown" test "$(sed -n '/^cores/,$p' "$T/out" | grep -c '%')" -eq 20
cat >"$T/noc.jsonl" <<'END'
{"nocap":1,"arch":"blackhole","observes":["noc"]}
{"t":1,"ev":"noc","x":1,"y":2,"by":"brisc","noc":0,"op":"read","sx":2,"sy":2,"dx":1,"dy":2,"size":64}
{"t":2,"ev":"noc","x":1,"y":2,"by":"brisc","noc":0,"op":"read","sx":2,"sy":2,"dx":1,"dy":2,"size":2048}
{"t":3,"ev":"noc","x":1,"y":2,"by":"brisc","noc":0,"op":"read","phase":"done"}
{"t":4,"ev":"noc","x":1,"y":2,"by":"brisc","noc":1,"op":"write","posted":true,"mcast":true,"dx":2,"dy":2,"dx2":4,"dy2":4,"size":64}
{"t":5,"ev":"noc","x":3,"y":2,"by":"brisc","op":"atomic"}
END
status 0 "NOC statistics" "$NOCAP" info --noc "$T/noc.jsonl"
out_has "all requests" "requests of the NOC: 4, 2176 bytes, 1 posted"
out_has "by network and type" "NOC 0 read                        2             2112 bytes"
out_has "by size" "64 .. 127                         2   50.0 %"
out_has "by initiator, with the most under way" "1,2                               3             2176 bytes, at most 2 under way"
out_has "by target" "2,2                               2             2112 bytes"
out_has "multicasts apart" "many (multicast)                  1               64 bytes"
status 0 "the same as JSON" "$NOCAP" info --noc --format json "$T/noc.jsonl"
out_has "one object more" '"noc":{"requests":4,"bytes":2176,"posted":1,"types":[{"noc":0,"op":"read","requests":2,"bytes":2112}'
out_has "that ends with the trace's" '"targets":[{"chip":0,"x":2,"y":2,"requests":2,"bytes":2112}]}}'
# The same request as stores to the registers of its command buffer.
cat >"$T/stores.jsonl" <<'END'
{"nocap":1,"arch":"blackhole","board":"p100","observes":["core-mmio"]}
{"t":1,"ev":"write","by":"brisc","x":1,"y":2,"addr":"0xffb20800","size":4,"value":"0x38000"}
{"t":2,"ev":"write","by":"brisc","x":1,"y":2,"addr":"0xffb20804","size":4,"value":"0x0"}
{"t":3,"ev":"write","by":"brisc","x":1,"y":2,"addr":"0xffb20808","size":4,"value":"0x82"}
{"t":4,"ev":"write","by":"brisc","x":1,"y":2,"addr":"0xffb2081c","size":4,"value":"0x90"}
{"t":5,"ev":"write","by":"brisc","x":1,"y":2,"addr":"0xffb20820","size":4,"value":"0x800"}
{"t":6,"ev":"write","by":"brisc","x":1,"y":2,"addr":"0xffb20840","size":4,"value":"0x1"}
END
status 0 "requests that show as stores" "$NOCAP" info --noc --format json "$T/stores.jsonl"
out_has "they count" '"noc":{"requests":1,"bytes":2048,"posted":0,"types":[{"noc":0,"op":"read","requests":1,"bytes":2048}'
out_has "with their target" '"targets":[{"chip":0,"x":2,"y":2,"requests":1,"bytes":2048}'
status 0 "no requests at all" "$NOCAP" info --noc "$T/a.jsonl"

# A file says what it likes: no table is indexed by it, and no sum turns over.
{
    head -n 1 "$T/noc.jsonl"
    for noc in 2 3 127 255; do
        echo "{\"t\":1,\"ev\":\"noc\",\"x\":1,\"y\":2,\"noc\":$noc,\"op\":\"atomic\",\"size\":16}"
        echo "{\"t\":1,\"ev\":\"noc\",\"x\":1,\"y\":2,\"noc\":$noc,\"op\":\"read\",\"phase\":\"done\"}"
    done
    echo '{"t":2,"ev":"write","by":"uc9","x":7,"y":7,"addr":"0x0","size":4}'
    for _ in 1 2; do
        echo '{"t":3,"ev":"noc","x":1,"y":2,"noc":1,"op":"read","size":18446744073709551615}'
        echo '{"t":4,"ev":"drop","count":18446744073709551615}'
    done
} >"$T/odd.jsonl"
status 0 "events that are not well formed" "$NOCAP" info --noc "$T/odd.jsonl"
check "are counted as malformed" grep -Eq '^  malformed +9 ' "$T/out"
out_has "and in nothing else" "requests of the NOC: 2, 18446744073709551615 bytes"
check "nor by agent or tile" bash -c "! grep -Eq 'uc9|^  7,7' '$T/out'"
out_has "sums end where numbers do" "lost       18446744073709551615 events"
status 0 "as JSON" "$NOCAP" info --noc --format json "$T/odd.jsonl"
out_has "the same" '"malformed":9'
status 1 "events that were lost beyond counting" "$NOCAP" check --format json "$T/odd.jsonl"
out_has "are all that a number can say" '"dropped":18446744073709551615'

finish
