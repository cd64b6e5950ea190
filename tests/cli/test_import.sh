#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nocap import: what it says, what it leaves behind.
. tests/cli/lib.sh
make_trace "$T/a.jsonl"

status 0 "import" "$NOCAP" import jsonl "$T/a.jsonl" -o "$T/a.nocap"
check "nothing on standard output" test ! -s "$T/out"
check "one line on standard error" test "$(wc -l <"$T/err")" -eq 1
err_has "with events and sizes" "9 events, $(stat -c %s "$T/a.jsonl") bytes in, $(stat -c %s "$T/a.nocap") bytes out"
check "the trace is ordinary zstd" zstd -qt "$T/a.nocap"

zstd -q "$T/a.jsonl" -o "$T/a.zst"
gzip -c "$T/a.jsonl" >"$T/a.gz"
for with in "import jsonl" "import noc-json" "import watcher" check; do
    out=(-o "$T/gz.nocap")
    [ "$with" != check ] || out=()
    status 3 "$with: compressed otherwise" "$NOCAP" $with "$T/a.gz" "${out[@]}"
    err_has "which is said" "a.gz is compressed with gzip, not with zstd: give what \`gzip -dc\` makes of it"
done
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
for form in jsonl noc-json watcher; do
    status 3 "$form: not a trace, to standard output" "$NOCAP" import $form "$T/text" -o -
    check "$form: nothing is written" test ! -s "$T/out"
done
status 3 "a dump that is missing, to standard output" "$NOCAP" import l1-dump "1,2=$T/nope" -o -
check "nothing is written" test ! -s "$T/out"
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
cat >"$T/dev3.json" <<'END'
[
 {"op_name":"Gather","proc":"NCRISC","run_host_id":4,"run_id":0,"sx":1,"sy":2,"timestamp":0,"zone":"NCRISC-KERNEL","zone_phase":"begin"}
,{"proc":"NCRISC","run_host_id":4,"src_device_id":7,"dst_device_id":4,"dx":4,"dy":9,"noc":"NOC_0","num_bytes":1088,"sx":1,"sy":2,"timestamp":5,"type":"FABRIC_UNICAST_WRITE","vc":1,"fabric_send":{"hops":3}}
,{"proc":"NCRISC","run_host_id":4,"src_device_id":7,"noc":"NOC_0","sx":1,"sy":2,"timestamp":974565059301,"type":"READ_BARRIER_START"}
,{"proc":"NCRISC","run_host_id":4,"src_device_id":7,"noc":"NOC_0","sx":1,"sy":2,"timestamp":974565059300,"type":"READ_BARRIER_END"}
,{"proc":"","run_host_id":4,"src_device_id":7,"sx":1,"sy":2,"timestamp":9,"type":"NEW_THING"}
]
END
status 0 "profiler JSON" "$NOCAP" import noc-json --arch wormhole "$T/dev3.json" -o "$T/noc.nocap"
err_has "says what it did" "5 events,"
err_has "counts what has no event" "1 of a type that is not known, kept as notes"
err_has "and time that goes back" "1 earlier than the one before of their RISC"
"$NOCAP" dump --format jsonl "$T/noc.nocap" >"$T/out"
out_has "the machine is the one that was said" '"arch":"wormhole"'
out_has "zones get the device of their core" '"ev":"kernel","op":"enter","by":"ncrisc","x":1,"y":2,"chip":7'
out_has "fabric events are events" '"ev":"noc","op":"write","by":"ncrisc","x":1,"y":2,"noc":0,"sx":1,"sy":2,"size":1088,"vc":1,"chip":7,"fabric":"FABRIC_UNICAST_WRITE","to_device":4,"to":[4,9],"fabric_send":{"hops":3}'
out_has "64-bit times stay" '"t":974565059301'
out_has "a wait that begins is a note" '"text":"wait read noc0 ncrisc"'
out_has "a barrier that ends is a phase" '"op":"read","by":"ncrisc","x":1,"y":2,"noc":0,"phase":"done"'
status 0 "which check takes" "$NOCAP" check "$T/noc.nocap"
zstd -q "$T/dev3.json" -o "$T/dev3.json.zst"
status 0 "compressed, twice into one trace" "$NOCAP" import noc-json "$T/dev3.json.zst" "$T/dev3.json" -o "$T/two.nocap"
err_has "with the events of both" "10 events,"
head -c 700 "$T/dev3.json" >"$T/cut.json"
status 1 "profiler JSON that breaks off" "$NOCAP" import noc-json "$T/cut.json" -o "$T/cut.nocap"
err_has "says where" "the input breaks off at line 6: the list of events breaks off; what comes before it was used"
status 1 "and keeps what stands before" "$NOCAP" info "$T/cut.nocap"
out_has "in a trace that says so" "the input of the trace breaks off in line 6;"
# A frame of zstd that is whole, and one that is none, or is cut short.
sed '$d' "$T/dev3.json" | zstd -qc >"$T/whole.zst"
{ cat "$T/whole.zst" && echo "no frame of zstd"; } >"$T/damaged.zst"
{ cat "$T/whole.zst" && echo ] | zstd -qc | head -c 9; } >"$T/short.zst"
for broken in damaged short; do
    status 1 "compressed profiler JSON: $broken" "$NOCAP" import noc-json "$T/$broken.zst" -o "$T/cut.nocap"
    err_has "what comes before was used" "5 events,"
done
err_has "and it says why" "short.zst: the zstd data is damaged: it is cut short; what comes before it was used"
{
    sed '$d' "$T/dev3.json"
    printf ',5\n,null,[[[]]]\n]\n'
} >"$T/odd.json"
status 1 "profiler JSON with other things in its list" "$NOCAP" import noc-json "$T/odd.json" -o "$T/odd.nocap"
err_has "counts them" "3 of 8 lines are no events; the first is line 7: it is no object"
echo '{"channels":[1,8]}' >"$T/topology.json"
status 3 "JSON that is no trace" "$NOCAP" import noc-json "$T/topology.json" -o "$T/new.nocap"
check "is told in one line" test "$(wc -l <"$T/err")" -eq 1
err_has "with the reason" "is no NOC event trace: its top level is an object, where a list of events belongs"
echo '[{"name":"x"}]' >"$T/list.json"
status 3 "a list of other things" "$NOCAP" import noc-json "$T/list.json" -o "$T/new.nocap"
err_has "with its reason" 'its first entry has neither "type" nor "zone"'
status 3 "text" "$NOCAP" import noc-json "$T/text" -o "$T/new.nocap"
check "none leaves an output" test ! -e "$T/new.nocap"
status 2 "an architecture for a format that says it" "$NOCAP" import jsonl --arch wormhole "$T/a.jsonl" -o "$T/b.nocap"

status 3 "a watcher's log as a trace" "$NOCAP" hang - < <(printf 'At 1s starting\nCore (x=1,y=2): rmsg:D1D|bnt smsg:DDDD\n')
err_has "names the import" "standard input is no nocap trace, but looks like a log of tt-metal's watcher: make a trace of it with nocap import watcher"
status 3 "profiler JSON as a trace" "$NOCAP" check "$T/dev3.json"
err_has "names the import" "nocap import noc-json"
status 3 "compressed profiler JSON as a trace" "$NOCAP" check "$T/dev3.json.zst"
err_has "names the import" "nocap import noc-json"
for command in check info dump hang; do
    status 3 "endless input, $command" timeout 100 "$NOCAP" "$command" /dev/zero
    status 3 "endless random input, $command" timeout 100 "$NOCAP" "$command" /dev/urandom
done
status 3 "endless lines" timeout 100 "$NOCAP" check - < <(yes 2>/dev/null)
err_has "are no trace" "it begins neither like one nor like JSON Lines"
status 3 "an endless first line" timeout 100 "$NOCAP" check - < <(printf '{"'; cat /dev/zero 2>/dev/null)
status 3 "endless lines as a watcher's log" timeout 100 "$NOCAP" import watcher - -o "$T/new.nocap" < <(yes 2>/dev/null)

head -c 100000 /dev/zero | tr '\0' '\5' >"$T/l1.bin"
zstd -q "$T/l1.bin" -o "$T/l1.bin.zst"
"$NOCAP" import l1-dump "1,2=$T/l1.bin" -o "$T/l1.nocap" 2>/dev/null
status 0 "a compressed dump of L1" "$NOCAP" import l1-dump "1,2=$T/l1.bin.zst" -o "$T/l1z.nocap"
check "gives the same file as a plain one" cmp "$T/l1.nocap" "$T/l1z.nocap"
head -c 20 "$T/l1.bin.zst" >"$T/l1cut.zst"
status 3 "a compressed dump that is cut short" "$NOCAP" import l1-dump "1,2=$T/l1cut.zst" -o "$T/new.nocap"
err_has "says so" "the zstd data is damaged: it is cut short"
status 2 "a dump of a tile without L1" "$NOCAP" import l1-dump "0,0=$T/l1.bin" -o "$T/new.nocap"
err_has "is refused" "0,0 is no worker core"
status 3 "two dumps of the same bytes" "$NOCAP" import l1-dump "1,2=$T/l1.bin" "1,2@0x100=$T/l1.bin.zst" -o "$T/new.nocap"
err_has "is refused" "both hold address 0x100 of core 1,2: give one"
status 0 "two dumps of one tile" "$NOCAP" import l1-dump "1,2=$T/l1.bin" "1,2@0x20000=$T/l1.bin" -o "$T/l1two.nocap"
status 3 "a trace as a dump" "$NOCAP" import l1-dump "1,2=$T/a.nocap" -o "$T/new.nocap"
err_has "says what it is" "it is a trace, and no dump of L1"
cp "$T/noc.nocap" "$T/named.jsonl"
status 3 "a .nocap file is no JSON Lines, whatever its name" "$NOCAP" import jsonl "$T/named.jsonl" -o "$T/out.nocap"
err_has "and needs no import" "named.jsonl is a .nocap file, which commands read as it is"
printf 'At 1s starting\nDevice 0 worker core(x= 0,y= 0) phys(x= 1,y= 1): GW rmsg:D1G|BNT smsg:GDDD k_ids:1|1|0\n' >"$T/watcher.log"
status 0 "a watcher's log of another machine" "$NOCAP" import watcher "$T/watcher.log" -o "$T/w.nocap"
err_has "is told" "1 lines about cores that are no worker cores of Blackhole: hang leaves them out"
printf 'At 1s starting\nCore (x=1,y=2): rmsg:D1D|bnt smsg:DDDD\n' >"$T/watcher.log"
printf 'debug_ring_buffer(latest_written_idx=1)=\n[0x00000007,0x00000008]\nStack usage summary:\n' >>"$T/watcher.log"
"$NOCAP" import watcher "$T/watcher.log" -o - 2>/dev/null | "$NOCAP" dump --format jsonl - >"$T/out"
out_has "a ring buffer is of the core before it" '"x":1,"y":2,"text":"debug_ring_buffer(latest_written_idx=1)="'
out_has "with its words" '"x":1,"y":2,"text":"[0x00000007,0x00000008]"'
out_has "other lines are of no tile" '"ev":"note","text":"Stack usage summary:"'
zstd -q "$T/watcher.log" -o "$T/watcher.zst"
"$NOCAP" import watcher "$T/watcher.log" -o "$T/w.nocap" 2>/dev/null
status 0 "a compressed log of the watcher" "$NOCAP" import watcher - -o "$T/wz.nocap" <"$T/watcher.zst"
check "gives the same file as a plain one" cmp "$T/w.nocap" "$T/wz.nocap"

# Names: in any case, and tt-metal's of the processors; what is none is told with what there is.
access() { printf '{"t":1,"ev":"%s","by":"%s","x":1,"y":2,"addr":"0x40000","size":4,"value":"0x1"}\n' "$1" "$2"; }
{
    echo '{"nocap":1,"arch":"Blackhole","observes":["HOST-MMIO","core-store"]}'
    access WRITE Host
    for by in BRISC DM0 DM1 NCRISC TRISC0 Trisc_2; do access write $by; done
} >"$T/names.jsonl"
status 0 "names in other cases, and of processors" "$NOCAP" import jsonl "$T/names.jsonl" -o "$T/names.nocap"
check "are those of the event model" test "$("$NOCAP" dump --format jsonl "$T/names.nocap" |
    sed -n 's/.*"ev":"\([a-z]*\)","by":"\([a-z0-9]*\)".*/\1 \2/p' | tr '\n' ,)" = \
    "write host,write brisc,write brisc,write ncrisc,write ncrisc,write trisc0,write trisc2,"
access write hots >>"$T/names.jsonl"
status 1 "a name that is none" "$NOCAP" import jsonl "$T/names.jsonl" -o "$T/names.nocap"
err_has "with line, value, what was meant and the list" \
    "line 9: \"by\" is no known name: 'hots', is 'host' meant?; known are host brisc"
finish
