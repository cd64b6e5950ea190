#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One fault is one finding: of correct traces, each with one event left out, twice, elsewhere or with
# another bit, none has two findings of which neither follows from the other. And two that lie far apart
# are two.
. tests/cli/lib.sh
from=$PWD/golden one_change=$PWD/tests/one_change changes=$((60 + 8 * ${NOCAP_LONG_SEEDS:-0}))
changed() { # TRACE KIND...
    local trace=$1
    shift
    status 0 "$trace: $*" env -C "$T" "$one_change" "$NOCAP" "$from/$trace.nocap" "$changes" 1 "$@"
    check "$trace: and many have one" test "$(awk '{one += $5} END {print one}' "$T/out")" -gt "$((changes / 12))"
}
two() { # TRACE SEED
    status 0 "$1: two faults are two findings" env -C "$T" "$one_change" --two "$NOCAP" "$from/$1.nocap" 60 "$2"
    check "$1: of many pairs" test "$(awk '/^two/ {print $2}' "$T/out")" -ge 20
}
for trace in boot-p100 launch-host launch-dev firmware-dev-mode-x10 firmware-noop-x12 firmware-preload \
    queue-host reference-queue-ok-cq-p100 reference-queue-ok-host-p100; do
    changed "$trace" drop dup val addr
done
for trace in aie-barriers aie-dma aie-two-cols gate-pattern2 gate-pattern4 queue-raw-p150; do
    changed "$trace" drop dup
done
changes=60 # of many more, some that no machine makes have two
for trace in queue-host queue-cq; do
    changed "$trace" early late
done
from=$T
for scenario in fast-dispatch-packed fast-dispatch-subordinate fast-dispatch-multicast; do
    for view in cq all; do
        "$NOCAP" capture --sim $scenario --view $view --programs 3 --workers 3 --seed 3 -o "$T/$scenario-$view.nocap" >"$T/out"
        changed $scenario-$view drop dup val addr
    done
done
for scenario in packed subordinate multicast; do
    two fast-dispatch-$scenario-all 2
done
# what reaches the second dispatcher wrong it finds so, as load and event show
"$NOCAP" dump --format jsonl "$T/fast-dispatch-subordinate-all.nocap" | python3 -c '
import json, sys
lines = sys.stdin.read().splitlines()
events = [json.loads(line) for line in lines[1:]]
to = next(e["daddr"] for e in events if e["ev"] == "noc" and e["op"] == "write" and 0x9a000 < int(e["daddr"], 16) < 0x9e000)
for e in events:
    if to in (e.get("addr"), e.get("daddr")) and "data" in e:
        e["data"] = e["data"][:8] + "5a" + e["data"][10:]
print(lines[0], *map(json.dumps, events), sep="\n")' >"$T/relayed.jsonl"
status 1 "bytes relayed wrong, and found so" "$NOCAP" check --format json "$T/relayed.jsonl"
check "are one finding, CQ-071" grep -q '"summary":{"verdict":"findings","error":1,.*"rule":"CQ-071","severity":"error"' "$T/out"
# commands of many pieces
"$NOCAP" capture --sim fast-dispatch-rings --view cq --seed 4 --programs 6 -o "$T/rings.nocap" >"$T/out"
changed rings early late
finish
