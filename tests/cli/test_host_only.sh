#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a simulator proxy or a driver shim shows: the host's accesses alone. Correct hosts are not
# accused, whatever their style; a host's mistakes are named.
. tests/cli/lib.sh

# reduced ARGS...: what the host does in a run of the built-in device model.
reduced() {
    "$NOCAP" capture "$@" -o "$T/run.nocap" 2>/dev/null
    "$NOCAP" dump --format jsonl -f by==host "$T/run.nocap" |
        sed '1s/"observes":\[[^]]*\]/"observes":["host-mmio"]/'
}
# finds RULE NAME: exactly this rule is violated in $T/host.jsonl, once.
finds() {
    "$NOCAP" check --format json "$T/host.jsonl" >"$T/report"
    got=$(jq -r '[.findings[] | select(has("follows") | not) | .rule] | join(" ")' "$T/report")
    [ "$got" = "$1" ] || echo "# found: $got"
    check "$2" test "$got" = "$1"
}

sanitized && NOCAP_HOST_SEEDS=1
# NOCAP_HOST_SEEDS: how many seeds of each correct scenario, and of each fault.
for scenario in boot launch-host launch-dev; do
    for seed in $(share 2 $(seq 0 $((${NOCAP_HOST_SEEDS:-4} - 1)))); do
        for variant in 0 1; do
            reduced --sim $scenario --seed $seed --variant $variant --tiles 2 >"$T/host.jsonl"
            finds "" "$scenario, seed $seed, variant $variant: silent"
        done
    done
done
for fault in go-while-busy:GO-021 message-changed-while-busy:GO-022 go-not-init:RST-003; do
    for seed in $(share 2 0 1 2 3); do
        reduced --sim launch-host --tiles 1 --seed $seed --fault ${fault%:*} >"$T/host.jsonl"
        finds "${fault#*:}" "$fault, seed $seed"
    done
done

# Of the device's faults, those that show in what the host does or finds.
# shellcheck disable=SC2046
sanitized && skip "what is told of each fault" "the same with sanitizers, which take ten minutes for it"
sanitized || check "nearly all faults that the host can see are told, and of the others none" \
    python3 tests/host_view.py "$NOCAP" "$T" $(seq 0 $((${NOCAP_HOST_SEEDS:-1} - 1)))

reduced --sim launch-host --tiles 1 --launches 3 >"$T/ok.jsonl"
# without NAME RULE PATTERN [FROM]: the run without the lines that match PATTERN, after the first
# that matches FROM.
without() {
    awk -v lines="$3" -v from="${4-.}" 'on && $0 ~ lines { next } { print } $0 ~ from { on = 1 }' \
        "$T/ok.jsonl" >"$T/host.jsonl"
    finds "$2" "$1"
}
released='"addr":"0xffb121b0".*"value":"0x47000"'
without "no launch message" GO-023 '"addr":"0x70"' "$released"
sed -i '1s/"host-mmio"/"host-mmio","kernel"/' "$T/host.jsonl"
finds "" "more is observed than the host alone: the message may be a dispatcher's, who is not"
without "no kernels" GO-024 '"addr":"0x[89a-f][0-9a-f]*","size"' "$released"
without "no jump at address 0, one finding for each of the two releases" "RST-018 RST-018" '"addr":"0x0"'
grep -v "$released" "$T/ok.jsonl" | awk '{ print } /"read".*"0x373"/ && !n++ { for (i = 0; i < 16; i++) print }' |
    sed '/"read".*"0x373"/s/"value":"0x[0-9a-f]*"/"value":"0x40"/' >"$T/host.jsonl"
finds "RST-019" "BRISC never released: waited for, then launched"
awk '/"read".*"0x373"/ && n++ { exit } { print }' "$T/host.jsonl" |
    sed '/"read".*"0x373"/{ s/,"n":[0-9]*,"t2":[0-9]*//; s/}$/,"n":16,"t2":5000000}/ }' >"$T/folded.jsonl" && mv "$T/folded.jsonl" "$T/host.jsonl"
finds "RST-019" "the same in one event that stands for 16 looks"
reduced --sim launch-host --tiles 2 --launches 2 >"$T/two.jsonl"
grep -v '"addr":"0xffb121b0".*"value":"0x47000"\|"read"' "$T/two.jsonl" >"$T/host.jsonl"
finds GO-025 "nothing released, launches in two tiles: one finding"

# Two writes release two rectangles, whose tiles the host asks in turn; none becomes ready.
event() { echo "{\"t\":$1,\"ev\":\"$2\",\"by\":\"host\",\"x\":$3,\"y\":2$4}"; }
{
    echo '{"nocap":1,"arch":"blackhole","board":"p100","observes":["host-mmio"]}'
    for x in 1 10 2 11 3 12; do event 1 write $x ',"addr":"0xffb121b0","size":4,"value":"0x47800"'; done
    event 2 write 1 ',"x2":3,"y2":2,"addr":"0xffb121b0","size":4,"value":"0x47000"'
    event 3 write 10 ',"x2":12,"y2":2,"addr":"0xffb121b0","size":4,"value":"0x47000"'
    for x in 1 10 2 11 3 12; do event 9 read $x ',"addr":"0x373","size":1,"value":"0x40"'; done
} >"$T/host.jsonl"
finds "RST-017 RST-017" "two rectangles that never become ready: a finding for each"

# Firmware that is not waited for: its DONE at the end of its boot overwrites the GO.
unready='NR == 1 || /"write"/ || on { print } /"addr":"0x370".*"0x80000000"/ { on = 1 }'
awk "$unready" "$T/two.jsonl" >"$T/host.jsonl"
finds RST-017 "the host launches without a look at the firmware: one finding for two tiles"
last=$(tail -n 1 "$T/host.jsonl" | sed 's/^{"t":\([0-9]*\).*/\1/')
for i in {1..1000}; do
    echo "{\"t\":$((last + i * 100)),\"ev\":\"read\",\"by\":\"host\",\"x\":1,\"y\":2,\"addr\":\"0x373\",\"size\":1,\"value\":\"0x80\"}"
done >>"$T/host.jsonl"
status 1 "and then waits in vain" "$NOCAP" hang "$T/host.jsonl"
out_has "with its cause" "RST-017 at "
awk '/"read"/ && /"y":3/ && !on { next } { print } /"addr":"0x370".*"0x80000000"/ { on = 1 }' \
    "$T/two.jsonl" >"$T/host.jsonl"
finds "" "the host looks at one of the tiles that it released"
awk '/"addr":"0x370".*"0x80000000"/ { exit } !(/"read"/ && /"y":3/) { print }' "$T/two.jsonl" >"$T/host.jsonl"
status 0 "which answers for all of them" "$NOCAP" hang "$T/host.jsonl"
awk '/"read".*"0x373"/ { exit } { print }' "$T/two.jsonl" >"$T/host.jsonl"
status 1 "it looks at none" "$NOCAP" hang "$T/host.jsonl"
out_has "whether they got ready is not known" "INCONCLUSIVE: the host released or launched a worker core"
"$NOCAP" capture --sim launch-host --tiles 1 --launches 1 -o "$T/run.nocap" 2>/dev/null
"$NOCAP" dump --format jsonl "$T/run.nocap" >"$T/all.jsonl"
awk -v go="$(grep -m 1 '"addr":"0x370".*"0x80000000"' "$T/all.jsonl")" '
    { print }
    /"by":"brisc"/ && !n++ { sub(/"t":[0-9]*/, substr($0, 2, index($0, ",") - 2), go); print go }
    /"by":"brisc".*"addr":"0x373"/ { exit }' "$T/all.jsonl" >"$T/host.jsonl"
finds GO-003 "GO while the firmware boots, where its stores are observed"
"$NOCAP" capture --sim boot --tiles 3 -o "$T/run.nocap" 2>/dev/null
"$NOCAP" dump --format jsonl "$T/run.nocap" | grep -v '"addr":"0x5a40"' >"$T/host.jsonl"
finds RST-005 "one piece of firmware left out for a rectangle of tiles: one finding"
for tile in 1,2 1,3 1,4; do
    status 1 "told of tile $tile, if it is asked for" "$NOCAP" check --tile $tile "$T/host.jsonl"
done
grep -v '"addr":"0xffb121b0".*"value":"0x47000"\|"read"' "$T/two.jsonl" >"$T/host.jsonl"
for tile in 1,2 1,3; do
    status 1 "and GO to tile $tile" "$NOCAP" check --tile $tile "$T/host.jsonl"
done

# A host may boot a part of the board; whether it should have booted more, no access of it tells.
reduced --sim launch-host --tiles 2 --launches 2 |
    grep -v '"x":10,' | sed 's/"x2":7,"y2":11/"x2":7,"y2":2/' >"$T/two.jsonl"
grep -v '"x":1,"y":3,' "$T/two.jsonl" >"$T/host.jsonl"
finds "" "a part of the board booted, and used alone"
cp "$T/two.jsonl" "$T/host.jsonl"
finds GO-025 "a part of the board booted, launches beyond it"
grep -v '"x":1,"y":3,' "$T/two.jsonl" |
    sed '/"addr":"0x370".*"0x80000000"/s/"x":1,"y":2/&,"x2":1,"y2":3/' >"$T/host.jsonl"
finds GO-025 "a part of the board booted, GO by a multicast that covers more"

# Styles, from firmware that is ready on.
printf '%s\n' '{"nocap":1,"arch":"blackhole","observes":["host-mmio"],"complete":true}' >"$T/boot.jsonl"
grep '^{"t"' checker/rules/examples/GO-023.pass.jsonl | grep -v '"t":910' >>"$T/boot.jsonl"
message=$(grep '^{"t":9100' checker/rules/examples/GO-023.pass.jsonl)
store() { echo "{\"t\":$1,\"ev\":\"write\",\"by\":\"host\",\"x\":1,\"y\":2,\"addr\":\"$2\",\"size\":$3,\"value\":\"$4\"}"; }
load() { echo "{\"t\":$1,\"ev\":\"read\",\"by\":\"host\",\"x\":1,\"y\":2,\"addr\":\"$2\",\"size\":$3,\"value\":\"$4\"}"; }
style() {
    { cat "$T/boot.jsonl" && cat; } >"$T/host.jsonl"
    finds "$2" "$1"
}
{
    store 9090 0x370 4 0xe0000000
    echo "$message"
    store 9101 0x370 4 0x0
    store 9102 0x373 1 0x80
    load 9110 0x373 1 0x0
} | style "GO as a byte, after a cleared word" ""
{
    store 9090 0x370 4 0xe0000000
    echo "$message"
    store 9101 0x370 4 0x00000080
    load 9110 0x373 1 0x0
} | style "GO with its bytes the wrong way round" GO-002
whole=$(printf '00%.0s' {1..768})
{
    echo "{\"t\":9100,\"ev\":\"write\",\"by\":\"host\",\"x\":1,\"y\":2,\"addr\":\"0x70\",\"size\":772,\"data\":\"${whole}00000080\"}"
    load 9110 0x373 1 0x0
} | style "message and GO in one store" ""
{
    echo "$message"
    store 9101 0x370 4 0x80000000
    load 9110 0x370 1 0x0
    store 9120 0x370 4 0x80000000
} | style "the host looks at another byte" GO-021
{
    echo "$message"
    store 9101 0x370 4 0x80000000
    load 9110 0x370 4 0x00000000
    echo "${message/9100/9111}"
    store 9120 0x370 4 0x80000000
} | style "the host loads the whole word" ""
{
    echo "$message"
    store 9101 0x370 4 0x80000000
    load 9110 0x373 1 0x0
    store 9120 0x370 4 0x80000000
} | style "a message of HOST mode that runs again" GO-023
{
    echo "${message/b0820000/b1820000}"
    store 9101 0x370 4 0x80000000
    load 9110 0x373 1 0x0
} | style "a message whose kernels begin between two instructions" GO-009
{
    echo "${message/300100004001/300120004001}"
    store 9101 0x370 4 0x80000000
    load 9110 0x373 1 0x0
} | style "a message whose kernel lies outside of L1" GO-009
{
    echo "$message"
    store 9101 0x370 4 0x80000000
    store 9105 0xffb121b0 4 0x47800
    store 9106 0x370 4 0x40000000
    store 9107 0xffb121b0 4 0x47000
    load 9108 0x373 1 0x40
    load 9110 0x373 1 0x0
    store 9111 0x83e0 4 0x13
    echo "${message/9100/9112}"
    store 9120 0x370 4 0x80000000
} | style "a tile that hangs is booted again" ""
{
    store 9090 0x370 4 0xc0020200
    for t in {9091..9107}; do load "$t" 0x373 1 0xc0; done
    load 9110 0x373 1 0x0
} | style "a request that firmware answers is waited for" ""
{
    echo "$message"
    store 9101 0x370 4 0x80000000
    echo '{"t":9110,"ev":"read","by":"host","x":1,"y":2,"addr":"0x373","size":1}'
    store 9120 0x370 4 0x80000000
} | style "what a load found was not captured" ""
{
    echo "$message"
    store 9101 0x370 4 0x80000000
    echo '{"t":9110,"ev":"write","by":"noc","x":1,"y":2,"addr":"0x370","size":4,"value":"0x0"}'
    store 9120 0x370 4 0x80000000
} | style "somebody else writes the go word, too" ""

dev=${message:0:163}00${message:165} # byte 0x2a of the message
# A go word that names a dispatcher: who is not observed may have written messages, and run some.
{
    store 9101 0x370 4 0x80000000
    load 9110 0x373 1 0x0
} | style "no message" GO-023
{
    echo '{"t":9100,"ev":"write","by":"noc","x":1,"y":3,"addr":"0x370","size":4,"value":"0x80000000"}'
    store 9101 0x370 4 0x80030100
    load 9110 0x373 1 0x0
} | style "no message of the host, and a dispatcher that is not observed" ""
{
    store 9101 0x370 4 0x80030100
    load 9110 0x373 1 0x0
} | style "no message, and nothing was launched where the go word names a dispatcher" GO-023
{
    echo "${dev/"0x70"/"0xd0"}"
    store 9101 0x370 4 0x80030100
    load 9110 0x373 1 0x0
} | style "nor is a message of DEV mode read in another slot" GO-023
{
    echo "$dev"
    store 9101 0x370 4 0x80030100
    load 9110 0x373 1 0x0
    echo "${dev/9100/9111}" | sed 's/"0x70"/"0xd0"/'
    store 9120 0x370 4 0x80030100
    store 9121 0xfc 4 0x1b0
    load 9130 0x373 1 0x0
} | style "the message of the second launch changed after its GO" GO-022
{
    echo "$dev"
    store 9101 0x370 4 0x80030100
    load 9110 0x373 1 0x0
} | style "a launch in DEV mode with its dispatcher" ""
{
    echo "$dev"
    store 9101 0x370 4 0x80030100
    load 9110 0x373 1 0x0
    echo "${dev/9100/9111}" | sed 's/"0x70"/"0xd0"/'
    store 9120 0x370 4 0x80000000
    load 9130 0x373 1 0x0
} | style "one without, whatever slot it has" GO-019
{
    echo "$dev"
    store 9101 0x370 4 0x80030100
    load 9110 0x373 1 0x0
    echo "${message/9100/9111}" | sed 's/"0x70"/"0xd0"/'
    store 9120 0x370 4 0x80000000
    load 9130 0x373 1 0x0
} | style "one of HOST mode needs none" ""

# One GO that went elsewhere is one finding, however long the host waits for its answer.
waits() { for t in {9110..9130}; do load "$t" 0x373 1 "$1"; done; }
{
    store 9090 0x370 4 0xe0000000
    echo "$message"
    waits 0xe0
} | style "no GO" GO-026
status 1 "which is a hang" "$NOCAP" hang "$T/host.jsonl"
out_has "of the host itself" "root: host 1,2, polling: polls for DONE at 0x373, and no GO is there: the signal stays 0xe0"
{
    store 9090 0x370 4 0xe0000000
    echo "$message"
    store 9101 0x374 4 0x80000000
    waits 0xe0
} | style "GO into another go word, and the wait for its DONE" GO-017
{
    store 9090 0x370 4 0xe0000000
    echo "$message"
    store 9101 0x370 4 0x20000000
    waits 0x20
} | style "a signal that firmware does not know for GO" GO-001
{
    store 9090 0x370 4 0xe0000000
    echo "$message"
    store 9101 0x370 4 0x80000000 | sed 's/"y":2/"y":4/'
    waits 0xe0
} | style "GO to another tile" GO-025
{
    store 9090 0x370 4 0x40000000
    store 9091 0x5a40 4 0x13
    waits 0x40
} | style "firmware uploaded once more where it runs, and waited for" RST-016
{
    echo "$message"
    store 9101 0x370 4 0x80000000
    store 9105 0xffb121b0 4 0x47800
    waits 0x80
} | style "reset in a launch, whose DONE is waited for" RST-019
{
    echo "$message"
    for at in 82b0 83e0 83e4 83e8; do store 9100 0x$at 4 0x13; done
    store 9101 0x370 4 0x80000000
    store 9102 0x83e4 4 0x33
} | style "a word of a kernel that was written in pieces, while it runs" GO-022
sed 's/"value":"0x40000000"/"value":"0x80000000"/' "$T/boot.jsonl" >"$T/host.jsonl"
finds GO-025 "GO stored before the release: one finding"

# Another go word than the first, in a trace that begins after the boot.
{
    sed -n '1s/,"complete":true//p' "$T/boot.jsonl"
    store 9090 0x3a0 4 0x8
    echo "$message"
    store 9101 0x390 4 0x80000000
    load 9110 0x393 1 0x0
} >"$T/host.jsonl"
finds "" "a launch by go word 8, and no other one is seen"

# INIT in a sync byte after the DONE of the boot.
{
    load 9090 0x68 4 0x4000
    load 9091 0x68 4 0x0
} | style "DONE of the boot before a subordinate was ready: one finding" RST-013
{
    load 9090 0x68 4 0x300
    load 9091 0x68 4 0x0
} | style "register init after it is right" ""
{
    store 9090 0x68 4 0x40404040
    load 9091 0x68 4 0x40404040
} | style "INIT that the host stores itself" SYN-002

# A host that waits no longer than it waited before is at work, whatever the tile does unseen.
awk '{ print } /"addr":"0x370".*"0x80000000"/ { goes++ } goes == 3 && /"read".*"0x373"/ && ++polls == 4 { exit }' \
    "$T/ok.jsonl" >"$T/host.jsonl"
status 0 "a trace that ends in the middle of a launch" "$NOCAP" hang "$T/host.jsonl"
out_has "is no hang" "RUNNING"
out_has "and says what was under way" "host 1,2 waits for brisc 1,2: go signal DONE"

# A last look at the sync word shows what changed long before: it is no progress.
reduced --sim launch-host --tiles 1 --fault hang-ncrisc >"$T/host.jsonl"
status 0 "a hang is no violation" "$NOCAP" check "$T/host.jsonl"
out_has "and check says that there is one" "parties wait when the trace ends"
status 1 "a hang after a last look" "$NOCAP" hang "$T/host.jsonl"
out_has "is one" "HUNG"
out_has "of the core that the look shows" "root: ncrisc"
last=$(tail -n 1 "$T/host.jsonl" | sed 's/^{"t":\([0-9]*\).*/\1/')
{
    cat "$T/host.jsonl"
    for at in 3440 3444 3448 344c 3450 3454 3458 345c; do load "$last" 0x$at 4 0x0; done
} >"$T/looks.jsonl"
status 1 "a hang after it and many more looks" "$NOCAP" hang "$T/looks.jsonl"
out_has "is one of the same core" "root: ncrisc"
echo '{"t":99999999,"ev":"note","text":"the process ended inside a call of the simulator"}' >>"$T/looks.jsonl"
status 1 "which the process did not outlive" "$NOCAP" hang "$T/looks.jsonl"
out_has "is said so" "(stall); then the process ended inside a call of the simulator"

# One that is older than the GO tells nothing of this launch.
sed '/"0x68".*"0x8080"/d; 0,/"0x68".*"value":"0x0"/s/\("0x68".*"value":"\)0x0/\10x80/' "$T/host.jsonl" >"$T/old.jsonl"
status 1 "a look from before the GO" "$NOCAP" hang "$T/old.jsonl"
out_has "names no core by it" "root: brisc 1,2, core(x=0,y=0) virtual(x=1,y=2), in a launch: has a GO and has not reported DONE; no agent has polled"
# What the host saw stands in the tables, and what nobody can know does not.
status 0 "the state of the tile" "$NOCAP" replay --tile 1,2 "$T/host.jsonl"
out_has "has the sync word that the host saw" "sync 80 80 00 00 smsg:GGDD"
out_has "does not say who is in reset" "ncrisc  out of reset: unknown  in kernel: unknown"
status 0 "the state after the host's look at DONE" "$NOCAP" replay --tile 1,2 --until 305 "$T/host.jsonl"
out_has "is what the host saw" "go message 0: signal 0x00 DONE"
grep -v "$released" "$T/ok.jsonl" | awk '{ print } /"read".*"0x373"/ && !n++ { for (i = 0; i < 16; i++) print }' |
    sed '/"read".*"0x373"/s/"value":"0x[0-9a-f]*"/"value":"0x40"/' | sed '/"0x70"/,$d' >"$T/held.jsonl"
status 1 "BRISC never released" "$NOCAP" hang "$T/held.jsonl"
out_has "is hung" "HUNG: deadlock"
last=$(tail -n 1 "$T/held.jsonl" | sed 's/^{"t":\([0-9]*\).*/\1/')
for at in 68 3440 3444 3448 344c; do load "$last" 0x$at 4 0x0; done >>"$T/held.jsonl"
status 1 "BRISC never released, and many looks after the wait" "$NOCAP" hang "$T/held.jsonl"
out_has "is hung, too" "HUNG: deadlock"
out_has "and says so" "still held in reset"

# Firmware that never gets ready: what is known of why, or what would tell.
"$NOCAP" explain RST-017 | sed -n '/^failing example/,/^passing example/s/^    \({.*\)$/\1/p' >"$T/example.jsonl"
text() { echo "{\"t\":0,\"ev\":\"write\",\"by\":\"host\",\"x\":1,\"y\":2,\"addr\":\"$1\",\"size\":4,\"value\":\"0x13\"}"; }
unready() { # MISSING: the host's upload without this core's text
    { sed -n 1,3p "$T/example.jsonl" && for at in 0x5440 0x5a40 0x6040; do [ $at = "$1" ] || text $at; done &&
        sed 1,3d "$T/example.jsonl"; } >"$T/host.jsonl"
    "$NOCAP" check "$T/host.jsonl" >"$T/out"
}
unready 0x6040
out_has "a core without firmware is named" "the reset PC of trisc1 is 0x6040, where no agent wrote anything"
unready none
out_has "else the ELF files would tell" "a forgotten or short ELF file? --elf CORE=FILE names the RISC and the address"

# Reads through a multicast window: before release they do no harm.
window() { echo "{\"t\":$1,\"ev\":\"read\",\"by\":\"host\",\"x\":1,\"y\":2,\"x2\":3,\"y2\":3,\"addr\":\"0x3840\",\"size\":4,\"value\":\"0x0\"}"; }
{
    echo '{"nocap":1,"arch":"blackhole","observes":["host-mmio"],"complete":true}'
    store 1 0xffb121b0 4 0x47800
    window 2
} >"$T/host.jsonl"
status 0 "a read through the multicast window while all is held" "$NOCAP" check "$T/host.jsonl"
out_has "is a note" "note NOC-011"
{
    sed -n '1,2p' "$T/host.jsonl"
    echo '{"t":3,"ev":"write","by":"host","x":1,"y":2,"addr":"0xffb121b0","size":4,"value":"0x47000"}'
    window 4
} >"$T/late.jsonl"
"$NOCAP" check "$T/late.jsonl" >"$T/out"
out_has "after the release an error" "error NOC-011"

# A command queue, of which host memory is observed, or not.
# queue VIEW ARGS..: what the host does in a run of the built-in device model.
queue() {
    local view=$1
    shift
    "$NOCAP" capture --sim fast-dispatch "$@" -o "$T/run.nocap" 2>/dev/null
    "$NOCAP" dump --format jsonl -f "by==host$view" "$T/run.nocap"
}
seen() { sed "1s/\"observes\":\[[^]]*\]/\"observes\":[$1]/"; }
queue "" --seed 0 | seen '"host-mmio","sysmem"' >"$T/queue.jsonl"
awk '/"addr":"0x196e0"/ && n++ > 2 { next } { print }' "$T/queue.jsonl" >"$T/host.jsonl"
"$NOCAP" check --format json "$T/host.jsonl" >"$T/report"
check "the dispatcher is not told of pages that the host gives back: no timestamp is read early" \
    python3 -c '
import json, sys
report = json.load(open(sys.argv[1]))
assert {f["rule"] for f in report["findings"] if "follows" not in f} == {"CQ-064"}' "$T/report"
wait=07183000000000000400
sed "0,/$wait/s/$wait/${wait/0718/0701}/" "$T/queue.jsonl" >"$T/host.jsonl"
finds CQ-050 "a launch that no WAIT waits for, and the next one: one finding"
for fault in kernel-never-ends prefetcher-dead; do
    queue " && !(space==sysmem)" --seed 0 --fault $fault | seen '"host-mmio"' >"$T/host.jsonl"
    status 1 "$fault, host memory is not observed" "$NOCAP" hang "$T/host.jsonl"
    out_has "whether it hangs is not known" "INCONCLUSIVE: a command queue is in use"
done
queue " && !(space==sysmem)" --seed 0 | seen '"host-mmio"' >"$T/host.jsonl"
status 1 "a queue that works" "$NOCAP" hang "$T/host.jsonl"
out_has "how many completions are pending is not known either" "INCONCLUSIVE: a command queue is in use"

finish
