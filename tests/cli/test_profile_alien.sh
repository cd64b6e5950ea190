#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Command queues that are not as the profile has them that is named, or as any: nothing is accused.
. tests/cli/lib.sh

if ! command -v python3 >/dev/null; then
    skip "alien queues" "python3 is not installed"
    finish
fi
for p in blackhole-py tt-metal-2025-12; do
    "$NOCAP" profile show "$p" >"$T/$p.json"
done
# record SCENARIO VIEW: $T/own.jsonl
record() {
    "$NOCAP" capture --sim "$1" --view "$2" --programs 2 -o "$T/own.nocap" 2>/dev/null &&
        "$NOCAP" dump --format jsonl "$T/own.nocap" >"$T/own.jsonl"
}
# as PROFILE [NAME [MEMBER=VALUE ..]]: $T/own.jsonl as this runtime would have written it: $T/as.jsonl
as() { tests/reencode_queue "$T/blackhole-py.json" "$T/$1.json" "${2:--}" "${@:3}" <"$T/own.jsonl" >"$T/as.jsonl"; }

# Where one part of the queue is elsewhere, or has another form.
unexplained() { # WHAT ARGUMENT ..
    status 0 "$1" "$NOCAP" check "${@:2}"
    out_has "accuses nothing" "0 errors, 0 warnings, 1 note"
    out_has "and is told" "TRC-010"
    status 1 "hang of it" "$NOCAP" hang "${@:2}"
    out_has "is inconclusive" "INCONCLUSIVE"
}
record fast-dispatch raw
cp "$T/own.jsonl" "$T/raw.jsonl"
for moved in queue=0x18000 rd_ptr_echo=0x17000 pcie_ptr_echo=0x17004 completion_wr=0x17010 completion_rd=0x17020 \
    buffer=0x20000 cmddat=0x30000 "entry_bytes=4 cmddat=0x30000" sysmem=0x20000000; do
    # shellcheck disable=SC2086 # words
    as blackhole-py - $moved
    unexplained "a queue with $moved" "$T/as.jsonl"
done
for change in '"BARRIER": "0x1"/"BARRIER": "0x40"' '"id": 7,/"id": 20,/;s/"id": 5,/"id": 7,/;s/"id": 20,/"id": 5,'; do
    sed "s/$change/" "$T/blackhole-py.json" >"$T/alien.json"
    as alien
    unexplained "commands with $change" "$T/as.jsonl"
    status 0 "right where they are known" "$NOCAP" check --profile "$T/alien.json" "$T/as.jsonl"
done

# Of the host's accesses to the device alone, and of commands alone.
record fast-dispatch host
sed -i '/"ev":"cq"\|"ev":"mem"\|"space":"sysmem"/d; 1s/"observes":\[[^]]*\]/"observes":["host-mmio"]/' "$T/own.jsonl"
for moved in "" "completion=0x5000100"; do
    # shellcheck disable=SC2086 # words
    as blackhole-py - queue=0x30000 rd_ptr_echo=0x2f000 pcie_ptr_echo=0x2f004 completion_wr=0x2f010 completion_rd=0x2f020 $moved
    unexplained "doorbells elsewhere ${moved:-and all words of the set-up}" "$T/as.jsonl"
done
"$NOCAP" capture --sim fast-dispatch --view cq --programs 8 -o "$T/own.nocap" 2>/dev/null
"$NOCAP" dump --format jsonl "$T/own.nocap" >"$T/own.jsonl"
for ring in slot:8 addr:0x20000; do
    python3 -c '
import json, sys
key, size = sys.argv[1].split(":")
for line in sys.stdin:
    e = json.loads(line)
    if key == "slot" and key in e:
        e[key] %= int(size)
    elif key == "addr" and e.get("op") in ("relay", "exec", "done"):
        e[key] = hex(0x1a000 + (int(e[key], 0) - 0x1a000) % int(size, 0))
    print(json.dumps(e))' $ring <"$T/own.jsonl" >"$T/ring.jsonl"
    unexplained "commands alone, in a ring of another size, $ring" "$T/ring.jsonl"
done

# What the set-up shows is no layout of its own where the host does otherwise later.
sed '/"ev":"write","by":"host","x":14,"y":2,.*"size":2,/s/"size":2,/"size":4,/' "$T/raw.jsonl" >"$T/wide.jsonl"
for named in "" "--profile blackhole-py"; do
    status 1 "slots that are stored as four bytes ${named:-, no profile}" "$NOCAP" check $named "$T/wide.jsonl"
    out_has "is told" "CQ-028"
done

# Rings, go words and launch messages are all elsewhere: what the dispatcher writes to mailboxes is not judged.
sed 's/"launch_base": "0x70"/"launch_base": "0x80"/; s/"go_messages": "0x370"/"go_messages": "0x3b0"/; s/"go_message_index": "0x3a0"/"go_message_index": "0x3e0"/' \
    "$T/blackhole-py.json" >"$T/box.json"
as blackhole-py - buffer=0x20000 cmddat=0x30000
tests/reencode "$T/box.json" <"$T/as.jsonl" >"$T/moved.jsonl"
unexplained "a queue of which all is elsewhere" "$T/moved.jsonl"

# A profile that is not the trace's accuses nothing, whoever names it.
for view in raw cq host; do
    record fast-dispatch $view
    for p in tt-metal-2025-06 tt-metal-2025-12 tt-metal-2026-03 tt-metal-2026-09; do
        unexplained "$view, wrongly as $p" --profile "$p" "$T/own.jsonl"
        sed "1s/{/{\"profile\":\"$p\",/" "$T/own.jsonl" >"$T/as.jsonl"
        unexplained "$view, $p in the header" "$T/as.jsonl"
    done
done

# Nor where few commands tell them apart. One may be a fault, and what this host does not send is one.
few() { # PROFILE NAMED LINES
    "$NOCAP" capture --sim fast-dispatch --view cq --programs 3 --profile "$1" -o "$T/own.nocap" 2>/dev/null
    "$NOCAP" dump --format jsonl "$T/own.nocap" | head -n "$3" >"$T/own.jsonl"
    unexplained "$1, $3 lines, wrongly as $2" --profile "$2" "$T/own.jsonl"
}
few tt-metal-2025-06 tt-metal-2025-12 40
few tt-metal-2026-08 tt-metal-2026-09 240
few tt-metal-2026-09 tt-metal-2026-10 118
"$NOCAP" capture --sim fast-dispatch --view cq --programs 4 -o "$T/own.nocap" 2>/dev/null
"$NOCAP" dump --format jsonl "$T/own.nocap" | python3 -c '
import json, sys
barriers = 0
for line in sys.stdin:
    e = json.loads(line)
    inner = e.get("data", "")[32:36]
    if inner[:2] == "12":  # a timestamp, which would tell the profiles apart
        e["data"] = e["data"][:32] + "07010000" + "00" * 12 + e["data"][64:]
    elif inner == "0701":
        barriers += 1
        e["data"] = "09" + "00" * 63 if barriers in (4, 6) else e["data"]
    if e.get("op") == "record" or "nocap" in e:
        print(json.dumps(e))' >"$T/stalls.jsonl"
status 1 "two STALLs of a host that sends none" "$NOCAP" check --profile blackhole-py "$T/stalls.jsonl"
out_has "are its fault" "error CQ-018"

# Where the header says one thing of host memory and kernels, its profile another one, the trace shows it.
sed 's/"timestamp_slots": 4096/"timestamp_slots": 0/; s/"sysmem": "0x40000000"/"sysmem": "0x20000000"/' "$T/tt-metal-2025-12.json" >"$T/alien.json"
cp "$T/raw.jsonl" "$T/own.jsonl"
as alien
sed "1s/\"cq\":{/\"profile\":$(tr -d '\n' <"$T/alien.json" | sed 's/[\/&]/\\&/g'),\"cq\":{\"sysmem\":\"0x40000000\",/" "$T/as.jsonl" >"$T/both.jsonl"
status 0 "a profile against the header" "$NOCAP" check -v "$T/both.jsonl"
out_has "is judged" "verdict: clean"

# A capture that names neither board nor queue shows whose it is.
sed '1s/"board":"[a-z0-9]*",//; 1s/,"cq":{[^}]*}//' "$T/raw.jsonl" >"$T/bare.jsonl"
status 0 "a queue that nothing names" "$NOCAP" check "$T/bare.jsonl"
status 0 "does not hang" "$NOCAP" hang "$T/bare.jsonl"
out_has "for it is followed" "NOT HUNG"

finish
