#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The reference model as a house: no arrows between models; leaving rules out changes nothing else;
# what is not known is not judged.
. tests/cli/lib.sh

if command -v nm >/dev/null && command -v python3 >/dev/null; then
    check "no arrows between the models" tests/model_arrows "$BUILD"
    check "no arrows up between the folders" tests/room_arrows
    check "exceptions stand where their list says" tests/exceptions --list
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

# Completions of a queue: the first line of each is its setup. ID 0: the page's bytes are not shown.
completions() {
    echo '{"nocap":1,"arch":"blackhole","board":"p100","observes":["host-mmio","noc","core-store","sysmem"],"cq":{"prefetch":[14,2],"dispatch":[14,3]}}'
    echo '{"t":1,"ev":"write","by":"host","x":14,"y":2,"addr":"0x19840","size":4,"value":"0x0"}'
    cat
}
page() { # T NUMBER [ID]: the dispatcher sends it
    printf '{"t":%d,"ev":"noc","x":14,"y":3,"by":"brisc","noc":1,"buf":3,"op":"write","dx":19,"dy":24,"daddr":"0x%x","size":32%s}\n' \
        "$1" $((0x1000000044000100 + 0x1000 * $2)) \
        "${3:+,\"data\":\"03010000000000002000000000000000${3}000000000000000000000000000000\"}"
}
pointer() { # T NUMBER: .. and says so
    local value=$((0x4400110 + 0x100 * $2))
    printf '{"t":%d,"ev":"write","by":"brisc","x":14,"y":3,"addr":"0x196d0","size":4,"value":"0x%x"}\n' "$1" $value
    printf '{"t":%d,"ev":"noc","x":14,"y":3,"by":"brisc","noc":1,"buf":3,"op":"write","dx":19,"dy":24,"daddr":"0x1000000040000080","size":4,"value":"0x%x"}\n' "$1" $value
}
page_lands() { printf '{"t":%d,"ev":"write","by":"dma","space":"sysmem","addr":"0x%x","size":32}\n' "$1" $((0x4000100 + 0x1000 * $2)); }
pointer_lands() { printf '{"t":%d,"ev":"write","by":"dma","space":"sysmem","addr":"0x80","size":4,"value":"0x%x"}\n' "$1" $((0x4400110 + 0x100 * $2)); }
{
    page 10 0 && pointer 11 0 && page 20 1 && pointer 21 1
    page_lands 30 0 && pointer_lands 31 0 && page_lands 32 1 && pointer_lands 33 1
} | completions >"$T/both.jsonl"
status 0 "two completions under way: each pointer announces its page" "$NOCAP" check "$T/both.jsonl"
out_has "and nothing is found" "verdict: clean"
{
    page 10 0 && pointer 11 0 && page 20 1 && pointer 21 1
    page_lands 30 0 && pointer_lands 31 0 && pointer_lands 32 1 && page_lands 33 1
} | completions >"$T/early.jsonl"
status 1 "the second pointer lands before its page" "$NOCAP" check "$T/early.jsonl"
out_has "which is told where it landed" "at 9, t 32, dma"
{ page 10 0 01 && pointer 11 0 && page 20 1 02 && pointer 21 1 && page 30 2 03; } | completions >"$T/ids.jsonl"
status 1 "ids of events that nobody sent" "$NOCAP" check "$T/ids.jsonl"
out_has "are one finding" "+2 consequences"

mkdir "$T/traces"
for fault in done-early local-ram-upload go-split notify-missing enter-before-go message-changed-while-busy; do
    for scenario in launch-host launch-dev boot; do
        "$NOCAP" capture --sim $scenario --fault $fault -o "$T/traces/$scenario-$fault.nocap" 2>/dev/null
    done
done
for fault in clear-short release-31 two-reads unaligned-destination worker-notify-missing go-wrong-stream; do
    "$NOCAP" capture --sim fast-dispatch --fault $fault -o "$T/traces/q-$fault.nocap" 2>/dev/null
    "$NOCAP" capture --sim fast-dispatch --view cq --fault $fault -o "$T/traces/cq-$fault.nocap" 2>/dev/null
done
check "there are traces" test "$(ls "$T/traces" | wc -l)" -ge 20
selections="8 8"
! long || selections="20 8"
# shellcheck disable=SC2086 # two words
check "leaving rules out changes nothing about the others" python3 tests/rules_filter "$NOCAP" $selections "$T"/traces/*.nocap

finish
