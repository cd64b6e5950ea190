#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The reference model as a house: no arrows between models; leaving rules out changes nothing else;
# what is not known is not judged.
. tests/cli/lib.sh

if command -v nm >/dev/null && command -v python3 >/dev/null; then
    check "no arrows between the models" tests/model_arrows "$BUILD"
else
    skip "arrows" "nm or python3 is not there"
fi

# What is written to a tile that may be held in reset is judged when its BRISC is known to have run.
attached() {
    echo '{"nocap":1,"arch":"blackhole","board":"p100","observes":["host-mmio","core-store","reset"]}'
    echo '{"t":1,"ev":"write","by":"host","x":1,"y":2,"addr":"0x68","size":4,"value":"0x40404040"}'
    cat
    echo '{"t":3,"ev":"write","by":"brisc","x":1,"y":2,"addr":"0x20000","size":4,"value":"0x1"}'
} >"$T/attached.jsonl"
status_attached() {
    attached
    status "$1" "$2" "$NOCAP" check "$T/attached.jsonl"
}
status_attached 1 "a write to the sync word of a tile that ran" </dev/null
out_has "is told when BRISC acts" SYN-002
status_attached 0 "BRISC was held and is released by the host" \
    <<<'{"t":2,"ev":"write","by":"host","x":1,"y":2,"addr":"0xffb121b0","size":4,"value":"0x47000"}'
status_attached 0 "BRISC was held and leaves reset" \
    <<<'{"t":2,"ev":"reset","by":"brisc","x":1,"y":2,"op":"run"}'

# GO over a GO is wrong, unless what BRISC stored between was not captured: perhaps DONE.
again() {
    echo '{"nocap":1,"arch":"blackhole","board":"p100","observes":["host-mmio","core-store"]}'
    echo '{"t":1,"ev":"mem","x":1,"y":2,"addr":"0x3a0","data":"00000000"}'
    echo '{"t":2,"ev":"write","by":"host","x":1,"y":2,"addr":"0x370","size":4,"value":"0x80000000"}'
    cat
    echo '{"t":4,"ev":"write","by":"host","x":1,"y":2,"addr":"0x370","size":4,"value":"0x80000000"}'
} >"$T/again.jsonl"
again <<<'{"t":3,"ev":"write","by":"brisc","x":1,"y":2,"addr":"0x20000","size":1,"value":"0x0"}'
status 1 "GO over a GO" "$NOCAP" check "$T/again.jsonl"
out_has "is told" GO-003
again <<<'{"t":3,"ev":"write","by":"brisc","x":1,"y":2,"addr":"0x373","size":1}'
status 0 "what was stored and not captured nobody knows" "$NOCAP" check "$T/again.jsonl"

mkdir "$T/traces"
for fault in done-early local-ram-upload go-split notify-missing enter-before-go message-changed-while-busy; do
    for scenario in launch-host launch-dev boot; do
        "$NOCAP" capture --sim $scenario --fault $fault -o "$T/traces/$scenario-$fault.nocap" 2>/dev/null
    done
done
for fault in clear-short release-31 two-reads unaligned-destination announcement-missing go-wrong-stream; do
    "$NOCAP" capture --sim fast-dispatch --fault $fault -o "$T/traces/q-$fault.nocap" 2>/dev/null
    "$NOCAP" capture --sim fast-dispatch --view cq --fault $fault -o "$T/traces/cq-$fault.nocap" 2>/dev/null
done
check "there are traces" test "$(ls "$T/traces" | wc -l)" -ge 20
check "leaving rules out changes nothing about the others" python3 tests/rules_filter "$NOCAP" 50 "$T"/traces/*.nocap

finish
