#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Where the cores are observed, too: what a host left out is named all the same, once.
. tests/cli/lib.sh

"$NOCAP" capture --sim launch-host --tiles 1 --launches 3 -o "$T/run.nocap" 2>/dev/null
"$NOCAP" dump --format jsonl "$T/run.nocap" >"$T/ok.jsonl"
finds() { # RULES NAME: exactly these rules are violated in $T/trace.jsonl
    "$NOCAP" check --format json "$T/trace.jsonl" >"$T/report"
    got=$(jq -r '[.findings[] | select(has("follows") | not) | .rule] | join(" ")' "$T/report")
    [ "$got" = "$1" ] || echo "# found: $got"
    check "$2" test "$got" = "$1"
}
# without NAME RULES PATTERN [FROM]: the run without the lines that match PATTERN, after the first
# that matches FROM.
without() {
    awk -v lines="$3" -v from="${4-.}" 'on && $0 ~ lines { next } { print } $0 ~ from { on = 1 }' \
        "$T/ok.jsonl" >"$T/trace.jsonl"
    finds "$2" "$1"
}
host='"by":"host"'
released="$host.*\"addr\":\"0xffb121b0\".*\"value\":\"0x47000\""
go="$host.*\"addr\":\"0x370\".*\"value\":\"0x80000000\""

without "nothing left out" "" "no such line"
without "no launch message" GO-023 "$host.*\"addr\":\"0x70\"" "$released"
without "no kernels" GO-024 "$host.*\"addr\":\"0x[89a-f][0-9a-f]*\",\"size\"" "$released"
without "no jump at address 0, one finding for each of the two releases" "RST-018 RST-018" "$host.*\"addr\":\"0x0\""

# A core fetched its kernels itself, or was given them by another tile.
kernel=$(grep -m 1 -n "$go" "$T/ok.jsonl" | cut -d: -f1)
fetched() { # EVENT for each place that a kernel had
    awk -v go="$kernel" 'NR < go' "$T/ok.jsonl" | sed "/$released/q" >"$T/trace.jsonl"
    sed "1,/$released/d" "$T/ok.jsonl" |
        sed "/$host.*\"addr\":\"0x[89a-f][0-9a-f]*\",\"size\"/{s/.*\"t\":\([0-9]*\).*\"addr\":\"\(0x[0-9a-f]*\)\",\"size\":\([0-9]*\).*/{\"t\":\1,$1}/}" >>"$T/trace.jsonl"
}
fetched '"ev":"noc","x":1,"y":2,"by":"brisc","noc":0,"op":"read","sx":17,"sy":12,"saddr":"0x0","dx":1,"dy":2,"daddr":"\2","size":\3'
"$NOCAP" check --rules GO-024 "$T/trace.jsonl" >"$T/out"
out_has "kernels that a core fetched are there" "verdict: clean; passed 1 of"
fetched '"ev":"write","by":"noc","from":[3,3],"x":1,"y":2,"addr":"\2","size":\3'
"$NOCAP" check --rules GO-024 "$T/trace.jsonl" >"$T/out"
out_has "so are those that another tile wrote" "verdict: clean; passed 1 of"
fetched '"ev":"write","by":"brisc","x":1,"y":2,"addr":"\2","size":\3'
"$NOCAP" check --rules GO-024 "$T/trace.jsonl" >"$T/out"
out_has "and those that a core stored" "verdict: clean; passed 1 of"

# Whose release no event shows.
without "BRISC of no tile was released" RST-020 "$released"
without "and no reset event shows it run" RST-020 "$released|\"ev\":\"reset\""
without "BRISC released nobody" RST-020 '"by":"brisc".*"addr":"0xffb121b0"'
sed '1s/"core-mmio",//' "$T/trace.jsonl" >"$T/unseen.jsonl" && mv "$T/unseen.jsonl" "$T/trace.jsonl"
finds "" "where its register stores are not observed it may have"

# A host that waits for nothing.
sed "/$released/,\$d" "$T/ok.jsonl" >"$T/trace.jsonl"
for t in {40000..40015}; do
    echo "{\"t\":$t,\"ev\":\"read\",\"by\":\"host\",\"x\":1,\"y\":2,\"addr\":\"0x373\",\"size\":1,\"value\":\"0x40\"}"
done >>"$T/trace.jsonl"
finds RST-019 "a host that waits for a tile in reset"
sed 's/^{"t":4001[5]/{"t":40100,"ev":"write","by":"host","x":1,"y":2,"addr":"0x370","size":4,"value":"0x80000000"}\n&/' \
    "$T/trace.jsonl" | grep -v '"read".*0x373' >"$T/go.jsonl" && mv "$T/go.jsonl" "$T/trace.jsonl"
finds GO-025 "GO to a tile in reset"

# The DONE at the end of the boot.
done="\"by\":\"brisc\".*\"addr\":\"0x373\""
awk -v lines="$done" '$0 ~ lines && !n++ { next } { print }' "$T/ok.jsonl" >"$T/trace.jsonl"
finds RST-021 "the host loads a DONE that no core has stored"
sed "1,/$done/!d" "$T/trace.jsonl" | awk -v go="$go" '$0 ~ go { exit } { print }' >"$T/boot.jsonl" && mv "$T/boot.jsonl" "$T/trace.jsonl"
finds RST-021 "the same at the end of a trace"

# One word that is wrong is one finding.
awk -v go="$go" '$0 ~ go && !n++ { sub(/0x80000000/, "0xa0000000") } { print }' "$T/ok.jsonl" >"$T/trace.jsonl"
finds GO-001 "a launch after an unknown signal"
awk -v message="$host.*\"addr\":\"0x70\"" '$0 ~ message && !n++ { sub(/"data":"b0/, "\"data\":\"c0") } { print }' \
    "$T/ok.jsonl" >"$T/trace.jsonl"
finds GO-011 "all kernels entered beside where the message says"

# What comes late is one finding, at the moment that needed it.
# late NAME RULES PATTERN UNTIL [FROM]: the first line that matches PATTERN, after the first that
# matches FROM, comes after the next one that matches UNTIL.
late() {
    awk -v line="$3" -v until="$4" -v from="${5-.}" '
        on && !taken && $0 ~ line { late = $0; taken = 1; next }
        { print }
        taken == 1 && $0 ~ until { split($0, t, ","); sub(/^[^,]*/, t[1], late); print late; taken = 2 }
        $0 ~ from { on = 1 }' "$T/ok.jsonl" >"$T/trace.jsonl"
    finds "$2" "$1"
}
cleared='"by":"trisc1".*"addr":"0x6a".*"value":"0x0"'
late "the answer of a subordinate, after its next one" SYN-010 "$cleared" "$cleared" "$go"
late "the first of all" RST-012 "$cleared" "$cleared"
late "the drain of the coprocessor, while TRISC0 resets the counters" SYN-013 \
    '"by":"trisc0".*"addr":"0xffe80004"' '"by":"trisc0".*"addr":"0xffb48028"'
late "the end of BRISC's kernel, after the next GO" GO-005 '"op":"exit".*"by":"brisc"' "$go"
late "kernels, after GO" GO-024 "$host.*\"addr\":\"0x82b0\",\"size\"" "$go" "$released"
late "firmware, after its start" RST-005 "$host.*\"addr\":\"0x6040\"" "$go"
late "firmware, after the release of BRISC" RST-016 "$host.*\"addr\":\"0x6040\"" "$released"
"$NOCAP" capture --sim launch-dev --tiles 1 --launches 3 -o "$T/run.nocap" 2>/dev/null
"$NOCAP" dump --format jsonl "$T/run.nocap" >"$T/ok.jsonl"
done='"by":"brisc".*"addr":"0x373"' pointer='"by":"brisc".*"addr":"0x6c"'
late "DONE, after the notify" GO-015 "$done" "$pointer" "$pointer.*\"value\":\"0x2\""

# What keeps a tile from getting ready is told once, and so is a notify to nobody.
device() { # SCENARIO FAULT RULE
    "$NOCAP" capture --sim "$1" --tiles 2 --fault "$2" -o "$T/run.nocap" 2>/dev/null
    "$NOCAP" dump --format jsonl "$T/run.nocap" >"$T/trace.jsonl"
    finds "$3" "$2: one finding"
}
device boot reset-pc-wrong RST-005
device boot subordinate-released RST-007
device launch-dev master-zero GO-019

# A GO of the dispatcher that never arrives, and one that comes late.
"$NOCAP" capture --sim launch-dev --tiles 2 --launches 4 --seed 3 -o "$T/run.nocap" 2>/dev/null
"$NOCAP" dump --format jsonl "$T/run.nocap" >"$T/ok.jsonl"
arrives='"by":"noc","x":1,"y":2,"addr":"0x370"' ended='"ev":"noc".*"phase":"done".*"daddr":"0x370"'
for n in 1 2; do
    awk -v line="$arrives" -v n=$n '$0 ~ line && ++at == n { next } { print }' "$T/ok.jsonl" >"$T/trace.jsonl"
    finds NOC-047 "GO number $n of the dispatcher never arrives"
done
sed 's/,"from":\[[0-9,]*\]//' "$T/ok.jsonl" >"$T/trace.jsonl"
finds "" "arrivals that do not say whose they are"
late "the second arrives after its acknowledgement" NOC-047 "$arrives" "$ended" "$ended"

# The queue's own cores.
queue() { # VIEW
    "$NOCAP" capture --sim fast-dispatch --programs 2 --view "$1" -o "$T/run.nocap" 2>/dev/null
    "$NOCAP" dump --format jsonl "$T/run.nocap" >"$T/ok.jsonl"
}
queue host
awk -v go="$go" '{ print } $0 ~ go && !n++ { print }' "$T/ok.jsonl" >"$T/trace.jsonl"
finds GO-021 "GO twice to the prefetcher"
for core in 2 3; do
    grep -v "\"x\":14,\"y\":$core,.*\"addr\":\"0x370\"" "$T/ok.jsonl" >"$T/trace.jsonl"
    finds CQ-068 "no GO to 14,$core, which works: in the host's view"
done
queue raw
for core in 2 3; do
    grep -v "$host.*\"x\":14,\"y\":$core,.*\"addr\":\"0x370\"" "$T/ok.jsonl" >"$T/trace.jsonl"
    finds CQ-068 "and where all is observed"
done
awk -v go="$go" '/"by":"host".*"addr":"0x70"/ && !n++ { message = $0; next } { print } $0 ~ go && !m++ { split($0, g, ","); sub(/^[^,]*/, g[1], message); print message }' \
    "$T/ok.jsonl" >"$T/trace.jsonl"
finds CQ-068 "the prefetcher's launch message after its GO"

queue raw
for core in 2 3; do
    awk -v go="$host.*\"x\":14,\"y\":$core,.*\"addr\":\"0x370\"" '$0 ~ go { sub(/0x80/, "0xa0") } { print }' "$T/ok.jsonl" >"$T/trace.jsonl"
    finds GO-001 "an unknown signal to 14,$core, which works"
    awk -v go="$host.*\"x\":14,\"y\":$core,.*\"addr\":\"0x370\"" '$0 ~ go { sub(/0x370/, "0x374") } { print }' "$T/ok.jsonl" >"$T/trace.jsonl"
    finds GO-017 "GO in another go word of 14,$core, which works"
done
done='"by":"brisc","x":1,"y":2,.*"addr":"0x373"'
awk -v done="$done" '$0 ~ done && !n++ { sub(/"value":"0x0"/, "\"value\":\"0x1\"") } { print }' "$T/ok.jsonl" >"$T/trace.jsonl"
finds GO-002 "a worker stores no DONE, and notifies"
awk -v done="$done" '$0 ~ done && !n++ { sub(/"value":"0x0"/, "\"value\":\"0x40\"") } { print }' "$T/ok.jsonl" >"$T/trace.jsonl"
finds GO-002 "or another signal"

# Records and the stores to their slots: one of either that lacks is one finding, wherever it is.
lacks() { # NAME PATTERN WHICH: without the first, one in the middle, the last that matches
    count=$(grep -c "$2" "$T/ok.jsonl")
    for n in $3; do
        awk -v line="$2" -v n=$((n < 0 ? count : n)) '$0 ~ line && ++at == n { next } { print }' "$T/ok.jsonl" >"$T/trace.jsonl"
        finds CQ-029 "$1, number $n of $count"
    done
}
record='"op":"record"' slot='"ev":"write","by":"host".*"addr":"0x19[89a-f][0-9a-f]*","size":2'
queue host
lacks "a record whose slot is filled" "$record" "$(share 3 1 7 -1)"
lacks "a slot that is not filled, of a record that is there" "$slot" "$(share 3 1 7 -1)"
queue all
lacks "where all is observed: a record" "$record" "$(share 3 1 7 -1)"
lacks "where all is observed: a store to its slot" "$slot" "$(share 3 1 7 -1)"
queue cq
lacks "records alone: one that is fetched and is not there" "$record" "$(share 3 7 -1)"
queue host
last=$(grep -n "$slot" "$T/ok.jsonl" | tail -n 1 | cut -d: -f1)
head -n $((last - 1)) "$T/ok.jsonl" >"$T/trace.jsonl"
finds "" "a trace that ends between a record and the store to its slot"

# A command that this host never sends: what the device makes of it is not known.
queue cq
for id in $(share 2 01 03 09 0a 0d); do
    rule=CQ-005
    [ $id = 09 ] && rule=CQ-018
    awk -v record="$record" -v id=$id '$0 ~ record && ++n == 16 { sub(/"data":"05/, "\"data\":\"" id) } { print }' \
        "$T/ok.jsonl" >"$T/trace.jsonl"
    finds $rule "prefetch command $id in a record that the device relays"
done
queue host
awk -v line="$slot" '$0 ~ line && ++n == 10 { late = $0; left = 4; next } { print } left && !--left { split($0, t, ","); sub(/^[^,]*/, t[1], late); print late }' \
    "$T/ok.jsonl" >"$T/trace.jsonl"
finds CQ-029 "a slot that is filled after the next one"

# A load of a count whose value was not captured: the one before it is not what the core goes on by.
"$NOCAP" capture --sim fast-dispatch-subordinate --programs 3 --workers 2 -o "$T/run.nocap" 2>/dev/null
"$NOCAP" dump --format jsonl "$T/run.nocap" | tac | awk '/"by":"ncrisc","x":14,"y":3/ {
    load = /"ev":"read"/ && /"addr":"0xffb704a4"/
    if (load && !last) { sub(/,"value":"[^"]*"/, "") }
    last = load } { print }' | tac >"$T/trace.jsonl"
finds "" "the second dispatcher's last look at a count, without what it found"

# ---- a kernel of the queue, or a worker core, that is out of scope and shows a part of its inside ----

"$NOCAP" dump --format jsonl golden/queue-all.nocap >"$T/queue.jsonl"
for core in 14,2 14,3 1,2; do
    python3 - "$T/queue.jsonl" ${core/,/ } >"$T/trace.jsonl" <<'END'
import json, sys
path, tile, seen = sys.argv[1], [int(v) for v in sys.argv[2:4]], 0
for n, line in enumerate(open(path)):
    event = json.loads(line)
    if n == 0:
        event["scope"] = [at for at in event["scope"] if at != tile]
    inside = n and event["ev"] in ("noc", "kernel", "reset", "tensix") or event.get("by") in ("brisc", "ncrisc")
    seen += bool(inside and [event.get("x"), event.get("y")] == tile)
    if not inside or [event.get("x"), event.get("y")] != tile or seen % 20:
        print(json.dumps(event))
sys.exit(seen < 20)
END
    finds "" "one event in twenty of $core is missing"
done

# A write of the dispatcher that leaves when its page has gone back to the prefetcher.
"$NOCAP" dump --format jsonl golden/queue-all.nocap | awk '
    /"op":"write".*"x":14,"y":3,.*"id":[0-9]*,"sx"/ && !id { match($0, /"id":[0-9]+/); id = substr($0, RSTART, RLENGTH) }
    id && /"phase":"sent"/ && index($0, id "}") { next }
    { print }
    id && /"op":"atomic".*"dx":14,"dy":2/ && !left++ {
        match($0, /^{"t":[0-9]+/)
        print substr($0, 1, RLENGTH) ",\"ev\":\"noc\",\"op\":\"write\",\"by\":\"brisc\",\"x\":14,\"y\":3,\"noc\":1,\"phase\":\"sent\"," id "}"
    }' >"$T/trace.jsonl"
finds CQ-039 "a write that leaves when its page has gone back"

finish
