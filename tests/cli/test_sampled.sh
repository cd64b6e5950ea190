#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What looks from time to time show of a device: a value that must never be, and who does not answer.
. tests/cli/lib.sh
command -v python3 >/dev/null || { skip "looks" "python3 is not there" && finish; }

# looks CLOCKS ARGS...: a run of the built-in device model as its host and looks show it.
looks() {
    "$NOCAP" capture "${@:2}" --tiles 2 -o "$T/run.nocap" 2>/dev/null
    "$NOCAP" dump --format jsonl "$T/run.nocap" | python3 tests/sampled_view.py reduce "$1" >"$T/looks.jsonl"
}
# finds RULE NAME: exactly this rule is violated, once.
finds() {
    "$NOCAP" check --format json "$T/looks.jsonl" >"$T/report"
    got=$(jq -r '[.findings[] | select(has("follows") | not) | .rule] | join(" ")' "$T/report")
    [ "$got" = "$1" ] || echo "# found: $got"
    check "$2" test "$got" = "$1"
}
has_json() { jq -e "$@" >/dev/null; }
for scenario in boot launch-host launch-dev; do
    for clocks in 1 16 256; do
        looks $clocks --sim $scenario --seed 1
        finds "" "$scenario, a look every $clocks clocks: silent"
    done
done
looks 256 --sim boot --fault boot-done-early
finds RST-013 "boot DONE with INIT in the sync word"
looks 16 --sim launch-host --fault done-early
finds GO-004 "DONE with GO in the sync word"
looks 1 --sim launch-host --fault sync-bad-value
finds SYN-003 "a value that no core knows"
for clocks in 1 16 256; do
    looks $clocks --sim launch-dev --fault hang-trisc1
    status 1 "a core that hangs, a look every $clocks clocks" "$NOCAP" hang --format json "$T/looks.jsonl"
    check "is the root" has_json '.verdict == "hung" and any(.root[]; .agent == "trisc1")' "$T/out"
done

# ---- what the host alone shows is still found ----

looks 16 --sim launch-host
grep -v '"ev": "write", "by": "host".*"addr": "0x70"' "$T/looks.jsonl" >"$T/less.jsonl"
mv "$T/less.jsonl" "$T/looks.jsonl"
"$NOCAP" check --format json "$T/looks.jsonl" >"$T/report"
check "no launch message was written" has_json 'any(.findings[]; .rule == "GO-023")' "$T/report"

# ---- by value ----

trace() { # COMPLETE LINES...
    echo '{"nocap":1,"arch":"blackhole","board":"p100","observes":["host-mmio","sampled"],"complete":'"$1"'}'
    printf '%s\n' "${@:2}"
}
mem() { echo '{"t":'"$1"',"ev":"mem","x":1,"y":2,"addr":"'"$2"'","data":"'"$3"'"'"${4:+,\"since\":$4}"'}'; }
trace true "$(mem 20 0x6c 08000000 10)" >"$T/looks.jsonl"
finds GO-008 "a read pointer after the ring"
trace true "$(mem 20 0x6c 07000000 10)" >"$T/looks.jsonl"
finds "" "one at its end"
trace true "$(mem 20 0x370 00000077 10)" >"$T/looks.jsonl"
finds GO-001 "a signal that nobody knows"
trace false "$(mem 20 0x370 00000077 10)" "$(mem 20 0x68 11111111 10)" >"$T/looks.jsonl"
finds "" "what was there before the first look"
trace true '{"t":5,"ev":"write","by":"host","x":1,"y":2,"addr":"0x6c","size":4,"value":"0x9"}' \
    "$(mem 20 0x6c 09000000 10)" >"$T/looks.jsonl"
finds "" "what the host stored is not the device's"
trace true "$(mem 20 0x6c 08000000)" >"$T/looks.jsonl"
finds "" "memory that is shown is no look"
trace true "$(mem 20 0x6c 07000000 21)" >"$T/looks.jsonl"
finds TRC-005 "a look before that comes after"
finish
