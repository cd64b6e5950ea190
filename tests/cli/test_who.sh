#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nocap who: everybody who touched bytes of a tile; touches() of filters.
. tests/cli/lib.sh

cat >"$T/a.jsonl" <<'END'
{"nocap":1,"arch":"blackhole","observes":["host-mmio","core-store","core-load","noc"]}
{"t":1,"ev":"mem","x":1,"y":2,"addr":"0x1000","data":"00112233"}
{"t":2,"ev":"write","by":"host","x":1,"y":2,"x2":3,"y2":4,"addr":"0xff0","size":32,"data":"a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf"}
{"t":3,"ev":"read","by":"host","x":1,"y":2,"addr":"0x1000","size":4,"value":"0xb3b2b1b0"}
{"t":4,"ev":"read","by":"host","x":1,"y":2,"addr":"0x1000","size":4,"value":"0xb3b2b1b0"}
{"t":5,"ev":"write","by":"brisc","x":1,"y":2,"addr":"0x1001","size":1,"value":"0x77","pc":"0x4000"}
{"t":6,"ev":"read","by":"host","x":1,"y":2,"addr":"0x1000","size":4,"value":"0xb3b277b0"}
{"t":7,"ev":"noc","x":5,"y":5,"by":"ncrisc","noc":0,"op":"write","sx":5,"sy":5,"saddr":"0x2000","dx":1,"dy":2,"daddr":"0xf00","size":1024,"id":1}
{"t":8,"ev":"noc","x":5,"y":5,"by":"ncrisc","noc":0,"op":"write","phase":"done","id":1}
{"t":9,"ev":"noc","x":5,"y":5,"by":"ncrisc","noc":0,"op":"read","sx":1,"sy":2,"saddr":"0x1000","dx":5,"dy":5,"daddr":"0x1000","size":16,"id":2}
{"t":10,"ev":"noc","x":7,"y":5,"by":"brisc","noc":0,"op":"write","mcast":true,"sx":7,"sy":5,"saddr":"0x2000","dx":1,"dy":2,"dx2":2,"dy2":3,"daddr":"0x1001","size":1,"data":"5a","id":3}
{"t":11,"ev":"write","by":"noc","x":1,"y":2,"from":[7,5],"addr":"0x1001","size":1,"value":"0x5a"}
{"t":12,"ev":"noc","x":7,"y":5,"by":"brisc","noc":0,"op":"atomic","dx":8,"dy":8,"daddr":"0x40","size":4,"value":"0x1","ret":[1,2],"raddr":"0x1000","id":4}
{"t":13,"ev":"write","by":"brisc","x":2,"y":2,"addr":"0x1001","size":1,"value":"0x11"}
{"t":14,"ev":"write","by":"brisc","x":1,"y":2,"addr":"0x1002","size":1,"value":"0x12"}
{"t":15,"ev":"write","by":"host","chip":1,"x":1,"y":2,"addr":"0x1001","size":1,"value":"0x13"}
END

indexes() { grep -o '"index":[0-9]*' "$T/out" | cut -d: -f2 | tr '\n' ' '; }

status 0 "who" "$NOCAP" who 1,2 0x1001 "$T/a.jsonl" --format json
check "newest first, equal loads as one" test "$(indexes)" = "14 11 10 9 8 6 5 4 2 1 0 "
out_has "a multicast that covers the tile" '"how":"multicast","index":1,"t":2,"chip":0,"by":"host","addr":4080,"size":32,"bytes":"b1"'
out_has "a request that lands there" '"how":"NOC request to","index":6'
out_has "a multicast request, with its byte" '"how":"NOC request to","index":9,"t":10,"chip":0,"by":"brisc","from_x":7,"from_y":5,"addr":4097,"size":1,"bytes":"5a"'
out_has "where an atomic's answer goes" '"how":"NOC answer to","index":11,"t":12,"chip":0,"by":"brisc","from_x":7,"from_y":5,"addr":4096,'
out_has "a request that takes it" '"how":"NOC request from","index":8,"t":9,"chip":0,"by":"ncrisc","from_x":5,"from_y":5,"addr":4096,'
out_has "the landing" '"how":"store","index":10,"t":11,"chip":0,"by":"noc","from_x":7'
out_has "loads that find the same are counted" '"how":"load","index":2,"t":3,"chip":0,"by":"host","addr":4096,"size":4,"bytes":"b1","count":2,"last_index":3'
out_has "what memory held" '"how":"held","index":0'
out_has "how many in all" '"events":12,"writes":8'
status 0 "of one chip" "$NOCAP" who 1,2 0x1001 "$T/a.jsonl" --format json --chip 0 --writes
check "loads are left out" test "$(indexes)" = "11 10 9 6 4 1 0 "
status 0 "up to a time" "$NOCAP" who 1,2 4097 "$T/a.jsonl" --format json --at 5 --writes
check "nothing after it" test "$(indexes)" = "4 1 0 "
status 0 "a range" "$NOCAP" who 1,2 0x1001..0x1002 "$T/a.jsonl" --limit 1
out_has "has bytes that are not known" "[13 --]"
out_has "says what it is" "0x1001..0x1002 of core 1,2: touched by 13 events, 9 of them writes; newest first"
check "and one row" test "$(wc -l <"$T/out")" -eq 2
status 0 "bytes that nobody touched" "$NOCAP" who 9,9 0x10 "$T/a.jsonl"
out_has "say so" "touched by 0 events"
err_has "and that the whole tile is" "no event touches core 9,9"
status 0 "bytes of a tile that others touched" "$NOCAP" who 1,2 0x99999 "$T/a.jsonl"
check "say no more than that" test ! -s "$T/err"
status 0 "one access" "$NOCAP" who 1,2 0x1001 "$T/a.jsonl" --at 1
out_has "is one" "touched by 1 event, 1 of them writes"

# Polls as a capture tells of them: the first, many as one, the one after a pause.
cat >"$T/polls.jsonl" <<'END'
{"nocap":1,"arch":"blackhole","observes":["host-mmio"]}
{"t":10,"ev":"read","by":"host","x":1,"y":2,"addr":"0x373","size":1,"value":"0x80","seq":1}
{"t":20,"t2":49980,"n":4998,"ev":"read","by":"host","x":1,"y":2,"addr":"0x373","size":1,"value":"0x80","seq":2}
{"t":50000,"ev":"read","by":"host","x":1,"y":2,"addr":"0x373","size":1,"value":"0x80","seq":3}
END
status 0 "polls of which some are told as one" "$NOCAP" who 1,2 0x373 "$T/polls.jsonl"
check "are one row" test "$(grep -c '^load' "$T/out")" -eq 1
out_has "with all of them" "= 0x80 GO  [80]  (5000 times, the last at #2 t 50000)"
sed -i 2d "$T/polls.jsonl"
"$NOCAP" who 1,2 0x373 "$T/polls.jsonl" >"$T/out"
out_has "whichever comes first" "= 0x80 GO  [80]  (4999 times, the last at #1 t 50000)"

for of in "1,2 0x1001" "2,2 0x1001" "1,2 0xff0..0x1010" "5,5 0x2000" "8,8 0x40"; do
    read -r tile bytes <<<"$of"
    "$NOCAP" who "$tile" "$bytes" "$T/a.jsonl" --format json >"$T/out"
    n=$("$NOCAP" dump "$T/a.jsonl" --filter "touches($tile,$bytes)" | wc -l)
    check "touches($tile,$bytes) of filters is the same" grep -q "\"events\":$n," "$T/out"
done
"$NOCAP" capture --sim launch-dev --tiles 4 -o "$T/d.nocap" 2>/dev/null
"$NOCAP" who 1,3 0x370..0x373 "$T/d.nocap" --format json -n 100000 >"$T/out"
n=$("$NOCAP" dump "$T/d.nocap" --filter 'touches(1,3,0x370..0x373)' | wc -l)
check "of the device too" test "$n" -gt 10 -a "$(grep -o '"events":[0-9]*' "$T/out")" = "\"events\":$n"

status 2 "no tile" "$NOCAP" who 1 0x10 "$T/a.jsonl"
err_has "says so" "'1' is not a core X,Y"
status 2 "a tile that cannot be" "$NOCAP" who 1,256 0x10 "$T/a.jsonl"
status 2 "no address" "$NOCAP" who 1,2 0x10..0x1 "$T/a.jsonl"
err_has "says so" "'0x10..0x1' is not an address"
status 2 "half a filter" "$NOCAP" dump "$T/a.jsonl" -f 'touches(1,2'
err_has "says what is missing" "the , before the address is missing here"
status 2 "a range that is empty" "$NOCAP" dump "$T/a.jsonl" -f 'touches(1,2,5..4)'
status 3 "no trace" "$NOCAP" who 1,2 0x10 "$T/none"
finish
