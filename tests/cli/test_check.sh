#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nocap check, rules, explain, replay: statuses, forms, selections. What the rules say is the unit
# tests' matter.
. tests/cli/lib.sh
header='{"nocap":1,"arch":"blackhole","board":"p100","observes":["host-mmio","core-store","kernel"],"producer":"program test"}'
idle='{"t":0,"ev":"mem","x":1,"y":2,"addr":"0x68","data":"00000000"}
{"t":0,"ev":"mem","x":1,"y":2,"addr":"0x370","data":"00000000"}
{"t":0,"ev":"mem","x":1,"y":2,"addr":"0x3a0","data":"00000000"}'
# A subordinate stores a value that its byte cannot have: SYN-003, an error.
{
    echo "$header"
    echo "$idle"
    echo '{"t":10,"ev":"write","by":"brisc","x":1,"y":2,"addr":"0x68","size":1,"value":"0x55"}'
} >"$T/bad.jsonl"
{
    echo "$header"
    echo "$idle"
} >"$T/good.jsonl"
"$NOCAP" import jsonl "$T/bad.jsonl" -o "$T/bad.nocap" 2>/dev/null
"$NOCAP" import jsonl "$T/good.jsonl" -o "$T/good.nocap" 2>/dev/null

status 0 "a trace without findings" "$NOCAP" check "$T/good.nocap"
status 1 "a trace with an error" "$NOCAP" check "$T/bad.nocap"
out_has "names the rule" SYN-003
check "no colours in a file" bash -c "! grep -q $'\033' '$T/out'"
status 1 "JSON Lines are checked too" "$NOCAP" check "$T/bad.jsonl"
status 1 "from standard input" bash -c "'$NOCAP' check - <'$T/bad.jsonl'"
status 1 "json" "$NOCAP" check --format json "$T/bad.nocap"
out_has "is a report" '"nocap_report":1'
status 0 "rules can be left out" "$NOCAP" check --rules=-SYN-003 "$T/bad.nocap"
status 0 "or chosen" "$NOCAP" check --rules GO "$T/bad.nocap"
status 2 "a rule that does not exist" "$NOCAP" check --rules XYZ-001 "$T/bad.nocap"
status 0 "another tile" "$NOCAP" check --tile 3,3 "$T/bad.nocap"
status 0 "findings before --from" "$NOCAP" check --from 11 "$T/bad.nocap"
echo 'SYN-003 -- known' >"$T/waivers"
status 0 "a waived finding" "$NOCAP" check --waivers "$T/waivers" "$T/bad.nocap"
echo 'nonsense' >"$T/waivers"
"$NOCAP" check --waivers "$T/waivers" "$T/bad.nocap" >"$T/out" 2>"$T/err"
check "a bad waiver is refused" test $? -ge 2
err_has "with its line" "$T/waivers:1"
status 2 "an ELF argument without =" "$NOCAP" check --elf brisc "$T/bad.nocap"
status 2 "a form that does not exist" "$NOCAP" check --format xml "$T/bad.nocap"
err_has "those that do are named" "text, json, sarif, junit, github, markdown or baseline"
status 2 "no jobs" "$NOCAP" check --jobs 0 "$T/bad.nocap"

size=$(stat -c %s "$T/good.nocap")
head -c $((size - 20)) "$T/good.nocap" >"$T/cut.nocap"
status 0 "a cut trace is no error by itself" "$NOCAP" check "$T/cut.nocap"
out_has "but told" TRC-001
status 1 "and fails on warnings" "$NOCAP" check --fail-on warning "$T/cut.nocap"

status 1 "several traces" "$NOCAP" check "$T/good.nocap" "$T/bad.nocap" "$T/good.nocap"
check "have a report each" test "$(grep -c 'nocap: blackhole, . events' "$T/out")" -eq 3
check "in full where something is found" test "$(grep -c '^verdict' "$T/out")" -eq 1
status 3 "the worst decides" "$NOCAP" check "$T/bad.nocap" "$T/missing" "$T/good.nocap"
check "the others are still reported" test "$(grep -c 'nocap: blackhole, . events' "$T/out")" -eq 2
"$NOCAP" check --format json "$T"/*.nocap "$T"/*.jsonl >"$T/one" 2>/dev/null
"$NOCAP" check --format json --jobs 4 "$T"/*.nocap "$T"/*.jsonl >"$T/four" 2>/dev/null
check "jobs change nothing" cmp "$T/one" "$T/four"
status 1 "report to a file" "$NOCAP" check -o "$T/report" "$T/bad.nocap"
check "is there" grep -q SYN-003 "$T/report"
for what in empty text missing; do
    rm -f "$T/x"
    [ $what = empty ] && : >"$T/x"
    [ $what = text ] && echo hello >"$T/x"
    status 3 "$what: cannot be read" "$NOCAP" check "$T/x"
    check "$what: one line says why" test "$(wc -l <"$T/err")" -eq 1
done
status 3 "a directory cannot be read" "$NOCAP" check "$T"

status 0 "rules" "$NOCAP" rules
out_has "lists rules" GO-003
status 0 "rules as JSON" "$NOCAP" rules --format json
out_has "lists rules" GO-003
status 2 "rules takes nothing" "$NOCAP" rules GO
status 0 "explain" "$NOCAP" explain syn-003
check "at length" test "$(wc -c <"$T/out")" -gt 300
status 2 "explain nothing" "$NOCAP" explain
status 2 "explain what does not exist" "$NOCAP" explain GO-999
"$NOCAP" rules 2>"$T/err" | head -n 1 >/dev/null
verdict "rules into head ends quietly" "${PIPESTATUS[0]}"

status 0 "replay" "$NOCAP" replay "$T/bad.nocap"
out_has "shows the tile" "virtual(x=1,y=2)"
status 0 "replay until an event" "$NOCAP" replay --until 2 --tile 1,2 "$T/bad.nocap"
status 0 "replay as JSON" "$NOCAP" replay --format json --at 5 "$T/bad.jsonl"
status 2 "replay of a tile that never occurs" "$NOCAP" replay --tile 9,9 "$T/bad.nocap"
status 2 "two moments" "$NOCAP" replay --at 5 --until 2 "$T/bad.nocap"
status 3 "replay of nothing" "$NOCAP" replay "$T/missing"
# ---- what nobody judged is not clean ----

make_trace "$T/full.jsonl"
# unjudged WHY LINES: a trace of these lines is not judged.
unjudged() {
    local why=$1
    shift
    printf '%s\n' "$@" >"$T/unjudged.jsonl"
    status 0 "not judged: $why" "$NOCAP" check "$T/unjudged.jsonl"
    out_has "the verdict says so" "verdict: not judged: $why"
    status 1 "which fails if one is strict" "$NOCAP" check --strict "$T/unjudged.jsonl"
}
# misread FINDING LINES: the finding of such lines says what was probably meant.
misread() {
    local finding=$1
    shift
    printf '%s\n' "$@" >"$T/misread.jsonl"
    "$NOCAP" check "$T/misread.jsonl" >"$T/out"
    out_has "misread: $finding" "$finding"
}
header='{"nocap":1,"arch":"blackhole","board":"p100","observes":["host-mmio","core-store"]}'
at() { echo "{\"t\":1,\"ev\":\"write\",\"by\":\"$1\",\"x\":$2,\"y\":$3,\"addr\":\"0x370\",\"size\":4,\"value\":\"0x0\"}"; }
misread "warning TRC-006" "$header" '{"t":1,"ev":"store","by":"host"}'
{ echo "$header"; for t in 1 2 3; do echo '{"t":'$t',"ev":"wrte","by":"host"}'; done; echo '{"t":4,"ev":"kernl"}'; } >"$T/kinds.jsonl"
check "each unknown kind is one finding, at its first event" test "$("$NOCAP" check --format json "$T/kinds.jsonl" | jq -c '[.findings[] | select(.follows == null) | [.rule, .index, .consequences]]')" = '[["TRC-006",0,2],["TRC-006",3,null]]'
misread "known are write read noc" "$header" '{"t":1,"ev":"frobnicate","by":"host"}'
misread "is \`write\` meant?" "$header" '{"t":1,"ev":"store","by":"host"}'
misread "no known name: 'x'; known are host" "$header" "$(at x 1 2)"
misread "is \`write\` meant?" "$header" '{"t":1,"ev":"wirte","by":"host"}'
misread "an event at 99,99, where it cannot be (the board has no such core)" "$header" "$(at host 99 99)"
misread "0,0, where it cannot be (DRAM); as logical coordinates it would be core 1,2" "$header" "$(at brisc 0 0)"
misread "8,9, where it cannot be (other); as logical coordinates it would be core 11,11" "$header" "$(at trisc1 8 9)"
reset='"addr":"0xffb121b0","size":4,"value":"0x47000"'
misread "0,0, where it cannot be (DRAM); as logical coordinates it would be core 1,2" "$header" "$(at host 0 0)" \
    "{\"t\":2,\"ev\":\"write\",\"by\":\"host\",\"x\":0,\"y\":0,$reset}"
misread "verdict: not judged" "$header" "$(at host 0 0)" \
    "{\"t\":2,\"ev\":\"write\",\"by\":\"host\",\"x\":0,\"y\":0,${reset%0x*}0x11\"}"
# What an event did that cannot be used is not known: here a DONE, then GO.
done_lost=$(sed '/"t":20,/s/0x373/q&/; /"t":21,/d' checker/rules/examples/GO-003.pass.jsonl)
misread "error TRC-005" "$done_lost"
misread "verdict: 1 error" "$done_lost"
misread "verdict: 1 error" "$header" "$(at host 99 99)" "$(at host 99 99)" "$(at host 1 2)"
misread "verdict: not judged: no event is of a kind" "$header" "$(at host 0 0)" "$(at host 17 13)"
misread "'hots-mmio' is no known class and arms no rule; is 'host-mmio' meant?" \
    '{"nocap":1,"arch":"blackhole","observes":["hots-mmio"]}' "$(at host 1 2)"
misread "warning TRC-009" '{"nocap":1,"arch":"blackhole"}' "$(at host 1 2)"
store='{"t":1,"ev":"write","by":"host","x":1,"y":2,"addr":"0x370","size":4,"value":"0x0"}'
unjudged "the header has no \`observes\`" '{"nocap":1,"arch":"blackhole"}' "$store"
unjudged "it holds no event" '{"nocap":1,"arch":"blackhole","observes":["host-mmio"]}'
unjudged "what \`observes\` lists lets no rule" '{"nocap":1,"arch":"blackhole","observes":["hots-mmio"]}' "$store"
unjudged "no event is of a kind" '{"nocap":1,"arch":"blackhole","observes":["host-mmio"]}' \
    '{"t":1,"ev":"note","text":"a"}'
"$NOCAP" check --format json "$T/unjudged.jsonl" >"$T/out"
out_has "JSON too" '"summary":{"verdict":"not-judged"'
"$NOCAP" check --format junit "$T/unjudged.jsonl" >"$T/out"
out_has "JUnit skips it" '<skipped message="no event is of a kind'
"$NOCAP" check --strict --format junit "$T/unjudged.jsonl" >"$T/out"
out_has "or has a failure" '<failure message="no event is of a kind'
"$NOCAP" check --format markdown "$T/unjudged.jsonl" >"$T/out"
out_has "Markdown too" '| not judged |'
"$NOCAP" check "$T/unjudged.jsonl" "$T/full.jsonl" >"$T/out"
out_has "the sums too" '; 1 not judged'
cat >"$T/place.jsonl" <<'END'
{"nocap":1,"arch":"blackhole","board":"p100","observes":["kernel"]}
{"t":1,"ev":"kernel","op":"enter","x":9,"y":3,"by":"brisc","pc":"0x9000"}
END
status 1 "a place that the board does not have, where no other rule can be judged" "$NOCAP" check "$T/place.jsonl"
status 1 "nor is asked for" "$NOCAP" check --rules TRC-008 "$T/place.jsonl"
status 0 "only what is about the file was asked for" "$NOCAP" check --rules TRC "$T/full.jsonl"
out_has "so nobody judged it" "verdict: not judged: no rule of a protocol was asked for"
"$NOCAP" check --format json "$T/full.jsonl" >"$T/out"
out_has "what was judged has its verdict" '"summary":{"verdict":"clean"'

# ---- one tile ----

"$NOCAP" capture --sim launch-host --tiles 2 --launches 4 -o "$T/two.nocap" 2>/dev/null
status 0 "a tile that was judged" "$NOCAP" check --tile 1,2 "$T/two.nocap"
out_has "is clean" "verdict: clean"
status 0 "a tile that no event touches" "$NOCAP" check --tile 99,99 "$T/two.nocap"
out_has "is not judged" "verdict: not judged: no event that the rules judge touches this core"
status 0 "a time after the last event" "$NOCAP" check --from 99999999 "$T/two.nocap"
out_has "is not judged either" "verdict: not judged: it has no event so late"
status 1 "which --strict does not let pass" "$NOCAP" check --strict --from 99999999 "$T/two.nocap"
status 1 "which fails where one is strict" "$NOCAP" check --strict --tile 99,99 "$T/two.nocap"
"$NOCAP" check --tile 99,99 --format json "$T/two.nocap" >"$T/tile.json"
status 0 "a report read back" "$NOCAP" merge "$T/tile.json"
out_has "says the same" "verdict: not judged: no event that the rules judge touches this core"

# ---- a simulator that ended the process ----

"$NOCAP" dump --format jsonl "$T/two.nocap" >"$T/ended.jsonl"
echo '{"t":99999,"ev":"note","text":"the process ended inside a call of the simulator"}' >>"$T/ended.jsonl"
status 0 "a simulator that ended the process" "$NOCAP" check "$T/ended.jsonl"
out_has "is in the verdict" "verdict: clean as far as it goes: the process ended inside a call of the simulator; passed"
out_has "with what to do" "NOTE: the process ended inside a call of the simulator, which the last events led to"
cp "$T/out" "$T/ended.text"
"$NOCAP" check --format json "$T/ended.jsonl" >"$T/ended.json"
status 0 "read back" "$NOCAP" merge "$T/ended.json"
check "it says the same" cmp "$T/out" "$T/ended.text"
status 0 "nor is it a hang" "$NOCAP" hang "$T/ended.jsonl"
out_has "but told" "NOT HUNG: the process ended inside a call of the simulator"

# ---- the page of the smallest traces ----

awk -v to="$T/page" '/^```json$/ { n++; on = 1; next } /^```$/ { on = 0 } on { print > (to n ".jsonl") }' docs/traces.md
for trace in "$T"/page*.jsonl; do
    status 0 "a trace of docs/traces.md is right: $(basename "$trace")" "$NOCAP" check --strict --fail-on note "$trace"
    out_has "and judged" "verdict: clean"
done
check "the page has its traces" test -s "$T/page10.jsonl"
"$NOCAP" rules --format json >"$T/rules.json"
check "and its numbers" python3 - "$T/rules.json" docs/traces.md <<'END'
import json, re, sys
rules = json.load(open(sys.argv[1]))
rules = rules["rules"] if isinstance(rules, dict) else rules
rows = [line.split("|")[1:-1] for line in open(sys.argv[2]) if line.startswith("| `")]
families = [cell.strip() for cell in rows[0][1:]]
for row in rows[1:]:
    classes = set(re.findall("`(.*?)`", row[0]))
    for family, cell in zip(families, row[1:]):
        count = sum(rule["id"].startswith(family + "-") and not rule["needs_elf"]
                    and bool(rule["needs"] or rule["needs_any"]) and set(rule["needs"]) <= classes
                    and (not rule["needs_any"] or bool(classes & set(rule["needs_any"])))
                    for rule in rules)
        if count != int(cell.strip() or 0):
            sys.exit(f"{row[0]}: {family} {count}")
sys.exit(len(rows) < 3)
END

# --tile counts what a multicast did to that tile, once.
{
    echo '{"nocap":1,"arch":"blackhole","observes":["host-mmio"],"complete":true}'
    for store in '"addr":"0xffb90000","size":4,"value":"0x1"' '"addr":"0x3840","size":4,"value":"0x1"' \
        '"addr":"0xffb121b0","size":4,"value":"0x47000"'; do
        echo "{\"t\":1,\"ev\":\"write\",\"by\":\"host\",\"x\":1,\"y\":2,\"x2\":3,\"y2\":3,$store}"
    done
} >"$T/rectangle.jsonl"
for tile in 1,2 2,2 3,3; do
    status 1 "a multicast to $tile among others" "$NOCAP" check --tile $tile "$T/rectangle.jsonl"
    check "three findings there" test "$(grep -o '^error ...-...' "$T/out" | tr '\n' ' ')" = "error MAP-001 error RST-001 error RST-018 "
done
status 0 "a tile beside it" "$NOCAP" check --tile 4,4 "$T/rectangle.jsonl"

# A class that is declared, and of which no event came: what is missing is told, not what follows.
"$NOCAP" capture --sim launch-host --tiles 2 --launches 2 -o "$T/whole.nocap" 2>/dev/null
"$NOCAP" dump --format jsonl "$T/whole.nocap" >"$T/whole.jsonl"
status 0 "a clean trace" "$NOCAP" check "$T/whole.nocap"
check "takes two lines" test "$(wc -l <"$T/out")" -eq 2
twenty=()
for i in {1..20}; do twenty[i]=$T/whole.nocap; done
status 0 "twenty of them" "$NOCAP" check "${twenty[@]}"
check "one each" test "$(wc -l <"$T/out")" -eq 21
out_has "with what held" "/whole.nocap: blackhole, $(grep -c '"ev"' "$T/whole.jsonl") events: clean; passed "
for option in -v --verbose; do
    status 0 "$option" "$NOCAP" check $option "$T/whole.nocap"
    out_has "has the families" "rules    passed  violated  not-exercised  not-observable  waived"
    out_has "and what cannot be judged" "not observable, no firmware ELF was given: RST-008"
    check "of what the architecture has" bash -c "! grep -q AIE '$T/out'"
    check "whose rules that could be judged add up" awk '/^[A-Z]+ / { all += $2 + $3 + $4 + $6 }
        /^verdict/ { exit $6 != all }' "$T/out"
    check "in 80 columns" awk '/^[A-Za-z]+  / && length > 80 { exit 1 }' "$T/out"
done
status 0 "of a chosen family" "$NOCAP" check -v --rules NOC "$T/whole.nocap"
check "only that is listed" test "$(grep -c '^[A-Z]* *[0-9]' "$T/out")" -eq 1
grep -v '"ev":"kernel"' "$T/whole.jsonl" >"$T/part.jsonl"
status 0 "no kernel events although they are declared" "$NOCAP" check "$T/part.jsonl"
out_has "says so" "no kernel event in the whole trace, and"
check "and no more" test "$(grep -c '^error\|^warning' "$T/out")" -eq 1
sed '1s/"scope":[^"]*\]\],//' "$T/whole.jsonl" | grep -v '"x":1,"y":3,.*"by":"[bt]\|"by":"[bnt].*"x":1,"y":3\|"x":1,"y":3.*"thread"' >"$T/part.jsonl"
status 0 "no scope" "$NOCAP" check "$T/part.jsonl"
out_has "tells how many cores show nothing" "worker cores that boot or answer GO, and show no event of a RISC: "
check "and no more" test "$(grep -c '^error\|^warning' "$T/out")" -eq 1
misread "worker cores that boot or answer GO, and show no event of a RISC: 1, the first (1,2)" \
    "$(grep -v '"by":"brisc"' checker/rules/examples/GO-003.pass.jsonl)"
status 1 "a launch of which the host saw nothing" "$NOCAP" hang "$T/misread.jsonl"
out_has "is not called ended" "INCONCLUSIVE: the host released or launched a worker core, and the trace shows neither its RISCs"
sed '$d' "$T/misread.jsonl" >"$T/answered.jsonl"
status 0 "a launch whose DONE the host saw" "$NOCAP" hang "$T/answered.jsonl"

# The same two tiles named in `scope`: a capture that stops while the second has not shown itself yet, as cores differ in pace.
ready=$(grep -n '"by":"brisc","x":1,"y":2,"addr":"0x373"' "$T/whole.jsonl" | head -n 1 | cut -d: -f1)
head -n $((ready + 40)) "$T/whole.jsonl" | grep -v '"x":1,"y":3' >"$T/stopped.jsonl"
"$NOCAP" check "$T/stopped.jsonl" >"$T/out"
check "a tile that had no time to show itself is not called unobserved" bash -c "! grep -q TRC-009 '$T/out'"

# Records as units, without the host's stores to slots: what a slot holds is not known.
"$NOCAP" capture --sim fast-dispatch --view all -o "$T/queue.nocap" 2>/dev/null
"$NOCAP" dump --format jsonl "$T/queue.nocap" | sed '1s/"host-mmio",//' |
    grep -v '"ev":"write","by":"host","x"' >"$T/unseen.jsonl"
status 0 "slots that nobody is seen to fill" "$NOCAP" check --fail-on note "$T/unseen.jsonl"

# A worker's notify that goes to DRAM is one fault, whatever is observed: with the cores' stores the
# queue's model knows it by the DONE before it, without them it may have been a kernel's own, and
# that the dispatcher goes on without it follows from what is wrong with the request.
"$NOCAP" capture --sim fast-dispatch -o "$T/queue.nocap" 2>"$T/null"
# astray ADDRESS: the fourth notify goes to that address of DRAM tile 0,3.
astray() {
    "$NOCAP" dump --format jsonl "$T/queue.nocap" | awk -v to="\"dx\":0,\"dy\":3,\"daddr\":\"$1\"" '
        /"op":"inline"/ && /"daddr":"0xffb70438"/ && ++n == 4 {
            sub(/"dx":14,"dy":3,"daddr":"0xffb70438"/, to) } { print }' >"$T/astray.jsonl"
}
unstored() {
    jq -c 'if .nocap then .observes -= ["core-store"] else . end |
        select((.ev == "write" and (.by | IN("brisc", "ncrisc", "trisc0", "trisc1", "trisc2")) and
                (.addr | startswith("0xff") | not)) | not)' "$T/astray.jsonl" >"$T/unstored.jsonl"
}
for to in 0xffb70438 0x1000; do
    astray $to
    "$NOCAP" check --format json "$T/astray.jsonl" >"$T/json"
    check "a notify to DRAM, $to: one finding" test "$(jq -r '[.findings[] | select(has("follows") | not).rule] | join(" ")' "$T/json")" = CQ-055
    unstored
    "$NOCAP" check --format json "$T/unstored.jsonl" >"$T/json"
    check "the cores' stores unseen: one too" test "$(jq -r '[.findings[] | select(has("follows") | not).rule] | join(" ")' "$T/json")" = NOC-021
    status 1 "which says what follows" "$NOCAP" check --all "$T/unstored.jsonl"
    out_has "the dispatcher goes on" "follows: CQ-058"
done

# A header that leaves out a class whose events are there, perhaps not all of them.
"$NOCAP" dump --format jsonl golden/queue-raw.nocap >"$T/raw.jsonl"
for class in $(jq -r 'select(.nocap).observes[]' "$T/raw.jsonl"); do
    jq -c --arg class "$class" 'if .nocap then .observes -= [$class] else . end' "$T/raw.jsonl" >"$T/less.jsonl"
    status 0 "events of a class that is not declared, $class" "$NOCAP" check "$T/less.jsonl"
done

# Without a scope a tile is observed if it shows an event: others get go words, and are not accused.
"$NOCAP" dump --format jsonl golden/reference-queue-ok-raw-p150.nocap | jq -c 'if .nocap then del(.scope) else . end' >"$T/scope.jsonl"
status 0 "a queue of a trace without scope" "$NOCAP" check "$T/scope.jsonl"
check "one warning" test "$("$NOCAP" check --format json "$T/scope.jsonl" | jq -c '[.findings[] | [.rule, .severity]]')" = '[["TRC-009","warning"]]'
out_has "that says what is missing" "worker cores that get go messages and show no event: 5, the first 15,2; name the observed ones in \`scope\`"
status 0 "and no hang" "$NOCAP" hang "$T/scope.jsonl"

# A slot store that restates a record is what the device reads.
"$NOCAP" dump --format jsonl golden/reference-queue-ok-host-p100.nocap >"$T/record.jsonl"
while read -r rule name edit; do
    sed "/\"addr\":\"0x198c2\".*\"seq\":406/s/$edit/" "$T/record.jsonl" >"$T/store.jsonl"
    "$NOCAP" check --format json "$T/store.jsonl" >"$T/json"
    check "the store of a slot with $name" test "$(jq -r '[.findings[].rule] | join(" ")' "$T/json")" = "$rule"
done <<'END'
CQ-002 another-length "value":"0x4"/"value":"0x5"
CQ-002 the-bit-of-EXEC_BUF "value":"0x4"/"value":"0x8004"
CQ-029 another-address 0x198c2/0x198d2
END

# The write behind a value that was read.
status 1 "a race of a load" "$NOCAP" check golden/noc-race-wrong-barrier.nocap
out_has "cites the write" "[0x38010, last written by brisc at #0]"
while read -r rule cited; do
    status 1 "$rule: what it saw elsewhere" "$NOCAP" check "checker/rules/examples/$rule.fail.jsonl"
    out_has "$rule: who wrote that" "$cited"
done <<'END'
SYN-004 [0x0 at 0x68, there at #0]
SYN-010 [0x80 at 0x6b, there at #0]
GO-003 [0x80 at 0x373, last written by host at #6]
GO-007 [0x1 at 0xbc, last written by host at #5]
GO-017 [0x0 at 0x3a0, there at #2]
GO-018 [0x1 at 0xbc, last written by host at #5]
RST-002 [0x450306f at 0x0, last written by host at #13]
RST-005 [0x6a40 at 0xffb12230, last written by brisc at #16]
RST-010 [0x0 at 0x68, there at #0]
RST-012 [0x0 at 0x6a, last written by trisc1 at #3]
RST-013 [0x40 at 0x6a, last written by brisc at #3]
SYN-009 [0x0 at 0x6a, there at #0]
CQ-064 [0x4400210 at 0x196e0, last written by host at #2]
GO-004 [0x80 at 0x68, last written by brisc at #8]
GO-013 [0x1 at 0x6c, there at #1]
END
"$NOCAP" capture --sim boot --tiles 2 --fault go-not-init -o "$T/signal.nocap" 2>"$T/null"
status 1 "a wrong signal at release" "$NOCAP" check "$T/signal.nocap"
out_has "RST-003: who wrote that" "[0x20 at 0x373, last written by host at #"
"$NOCAP" capture --sim boot --tiles 2 --fault boot-hang-trisc1 -o "$T/ends.nocap" 2>"$T/null"
status 1 "firmware that is not ready at the end" "$NOCAP" check --fail-on warning "$T/ends.nocap"
out_has "RST-017: what stood there at the end" \
    "[0x40 at 0x6a, last written by brisc at #"
"$NOCAP" capture --sim launch-dev --tiles 2 --fault go-while-busy -o "$T/busy.nocap" 2>"$T/null"
status 1 "GO over GO by the network" "$NOCAP" check "$T/busy.nocap"
out_has "GO-003: what landed, not what was asked for" "[0x80 at 0x373, last written by noc at #"
"$NOCAP" capture --sim fast-dispatch --fault pointer-stale -o "$T/stale.nocap" 2>"$T/null"
status 1 "a pointer that was copied before it was stored" "$NOCAP" check "$T/stale.nocap"
out_has "CQ-061: who stored the other" "[0x4400410 at 0x196d0, last written by brisc at #"
status 1 "a rule that sees no bytes" "$NOCAP" check checker/rules/examples/MAP-001.fail.jsonl
check "cites nobody" test "$(grep -c 'last written' "$T/out")" -eq 0
"$NOCAP" check --format json golden/noc-race-wrong-barrier.nocap >"$T/cited.json"
written='any(.findings[]; .written == "0x38010, last written by brisc at #0")'
status 0 "in JSON too" jq -e "$written" "$T/cited.json"
"$NOCAP" check golden/fault-boot-hang-trisc1.nocap >"$T/out"
out_has "of the value that it names" "[0x40 at 0x6a, last written by brisc at #$("$NOCAP" who 1,3 0x6a..0x6a golden/fault-boot-hang-trisc1.nocap --writes --limit 1 --format json | jq .touches[0].index)]"
# A chip's worth of tiles in a trace of 5 kB: what most of them never need is not touched, page by page.
faults=$(python3 - "$NOCAP" check golden/boot-p100.nocap <<'END'
import resource, subprocess, sys
faults = lambda: resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
before = faults()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(faults() - before)
END
)
sanitized || check "a small trace is checked in few pages" test "$faults" -lt 1000
# A picture replays what is before it on a thread of its own, as check does.
"$NOCAP" capture --sim fast-dispatch -o "$T/queue.nocap" 2>/dev/null
for view in perfetto vcd; do
    "$NOCAP" export "$T/queue.nocap" --to $view --from 54000 -o "$T/beside" 2>/dev/null
    taskset -c 0 "$NOCAP" export "$T/queue.nocap" --to $view --from 54000 -o "$T/alone" 2>/dev/null
    check "$view: on one core the same" cmp "$T/alone" "$T/beside"
done

# ---- the firmware's image: a write over a part of what was uploaded counts ----

# uploads NAME TEXT AT VALUE: the text, then a byte of it once more
uploads() {
    sed "s|\"firmware\":{\"brisc\":\"brisc.elf\"}|\"producer\":\"program test\"|; /\"addr\":\"0x3840\"/s|\"value\":\"0x13\"|\"value\":\"$2\"|" \
        checker/rules/examples/RST-008.pass.jsonl |
        sed "/\"addr\":\"0x82b0\"/i {\"t\":0,\"ev\":\"write\",\"by\":\"host\",\"x\":1,\"y\":2,\"addr\":\"$3\",\"size\":1,\"value\":\"$4\"}" >"$T/$1.jsonl"
}
elf=brisc=checker/rules/examples/brisc.elf
uploads over 0x13 0x3842 0x1
status 1 "a byte of the text that is written once more, and wrong" "$NOCAP" check --elf $elf "$T/over.jsonl"
out_has "is the difference" "segment of 4 bytes at 0x3840 differs from the ELF file at 0x3842"
cp checker/rules/examples/brisc.elf "$T/longer.elf" # of its 16 bytes in memory the file has four
printf '\020' | dd of="$T/longer.elf" bs=1 seek=72 conv=notrunc status=none
uploads zeros 0x13 0x3848 0x1
status 1 "a byte behind the text that must be 0" "$NOCAP" check --elf brisc="$T/longer.elf" "$T/zeros.jsonl"
out_has "is the difference there" "differs from the ELF file at 0x3848"
uploads zeros 0x13 0x3850 0x1
status 0 "a byte behind these" "$NOCAP" check --elf brisc="$T/longer.elf" "$T/zeros.jsonl"
uploads patched 0x55 0x3840 0x13
status 0 "a byte that is put right" "$NOCAP" check --elf $elf "$T/patched.jsonl"
for second in 0x0 0x1; do # the text in two pieces
    uploads pieces 0x13 0x7000 0x0
    sed -i "/\"addr\":\"0x3840\"/{s/\"size\":4/\"size\":2/; p; s/0x3840/0x3842/; s/\"0x13\"/\"$second\"/}" "$T/pieces.jsonl"
    status $((second)) "a text in two pieces, the second is $second" "$NOCAP" check --elf $elf "$T/pieces.jsonl"
done
out_has "which is the difference" "RST-008: brisc's segment of 4 bytes at 0x3840 differs from the ELF file"
sed '/"addr":"0x3840"/s/,"value":"[^"]*"//' checker/rules/examples/RST-008.pass.jsonl |
    sed 's|"firmware":{"brisc":"brisc.elf"}|"producer":"program test"|' >"$T/unseen.jsonl"
"$NOCAP" check --format json --elf $elf "$T/unseen.jsonl" >"$T/unseen.json"
check "a text whose bytes are not captured is not judged" grep -q '"id":"RST-008","verdict":"not-exercised"' "$T/unseen.json"
cat >"$T/pushes.jsonl" <<'END'
{"nocap":1,"arch":"blackhole","board":"p100","observes":["tensix-push"],"complete":true}
{"t":10,"ev":"tensix","op":"push","x":1,"y":2,"thread":0,"word":"0x45000318","by":"trisc0"}
{"t":12,"ev":"tensix","op":"push","x":1,"y":2,"thread":0,"word":"0xb00c0045","by":"trisc0"}
END
"$NOCAP" check --format json "$T/pushes.jsonl" >"$T/pushes.json"
check "a drain that would not show is not judged" grep -q '"id":"TNX-030","verdict":"not-exercised"' "$T/pushes.json"

sed '1s/"complete":true/"complete":false/; /"addr":"0x3840"/d' checker/rules/examples/RST-008.pass.jsonl |
    sed 's|"firmware":{"brisc":"brisc.elf"}|"producer":"program test"|' >"$T/older.jsonl"
status 0 "a text that may have been there before the trace" "$NOCAP" check --elf $elf "$T/older.jsonl"

# BRISC's text at 0x9000, and its private memory: four bytes each.
words() { for word in "$@"; do printf '%b' "$(printf '%08x' $((word)) | sed 's/\(..\)\(..\)\(..\)\(..\)/\\x\4\\x\3\\x\2\\x\1/')"; done; }
words 0x464c457f 0x10101 0 0 0xf30002 1 0x9000 52 0 0 0x200034 0x280002 0 \
    1 116 0x9000 0x9000 4 4 5 4 1 120 0xffb00000 0xffb00000 4 4 6 4 0x13 0x11223344 >"$T/far.elf"
# upload LINES..: of the host, from power-on to the release; its jump leads to 0x9000
upload() {
    printf '{"nocap":1,"arch":"blackhole","board":"p100","observes":["host-mmio"],"complete":true}\n'
    printf '{"t":0,"ev":"write","by":"host","x":1,"y":2,"addr":"%s","size":4,"value":"%s"}\n' "$@" 0x0 0x906f \
        0x370 0x40000000 0x112b0 0x3d10391 0xffb121b0 0x47000
    printf '{"t":9000,"ev":"read","by":"host","x":1,"y":2,"addr":"0x373","size":1,"value":"0x0"}\n'
}
far() { "$NOCAP" check --elf brisc="$T/far.elf" --format json "$T/far.jsonl" | jq -c '[.findings[] | [.rule, has("follows")]]'; }
upload 0xffb121b0 0x47800 0x9000 0x13 0x82b0 0x11223344 >"$T/far.jsonl"
check "what the ELF file says, uploaded" test "$(far)" = '[]'
upload 0x9000 0x13 0xffb121b0 0x47800 0x82b0 0x11223344 >"$T/far.jsonl"
check "text of the ELF file before the hold" test "$(far)" = '[["RST-001",false]]'
upload 0x82b0 0x11223344 0xffb121b0 0x47800 0x9000 0x13 >"$T/far.jsonl"
check "private memory's image before it" test "$(far)" = '[]'
upload 0xffb121b0 0x47800 0x9000 0x13 0xffb00000 0x11223344 >"$T/far.jsonl"
check "private memory uploaded to itself" test "$(far)" = '[["RST-009",false],["MAP-004",true],["RST-008",true]]'

# ---- what follows from a finding that was left out: it does not count, and nothing is clean ----

lost=golden/fault-reset-lost.nocap # GO-013, and GO-007 of it
status 0 "only a consequence of what was left out" "$NOCAP" check --rules GO-007 $lost
out_has "which is shown" "follows: GO-007 at "
out_has "is not clean" "verdict: only what follows from findings that were left out"
status 0 "nor among others" "$NOCAP" check --rules GO-007 $lost golden/boot-p100.nocap
out_has "it is not one line" "verdict: only what follows"
"$NOCAP" check --format json --rules GO-007 $lost >"$T/follows.json"
summary='.summary.verdict == "findings" and .summary.error == 0'
status 0 "nor in JSON" jq -e "$summary" "$T/follows.json"
status 0 "nor merged" "$NOCAP" merge "$T/follows.json"
out_has "as before" "verdict: only what follows"
echo 'GO-013 -- seen' >"$T/seen.txt"
status 0 "a consequence of what is waived" "$NOCAP" check --waivers "$T/seen.txt" $lost
out_has "is" "verdict: clean, 1 waived"
# Whatever the memory: judged whole, or status 4; never called damaged.
"$NOCAP" capture --sim launch-host --tiles 2 --launches 4 -o "$T/memory.nocap" 2>/dev/null
wrong=0 without=0
for memory in $(seq 10000 200 20000); do # KiB of addresses
    (ulimit -v "$memory" && exec "$NOCAP" check -j 1 "$T/memory.nocap") >"$T/out" 2>"$T/err"
    case $? in
    0) ;;
    4) without=$((without + 1)) && grep -q 'out of memory' "$T/err" || wrong=$memory ;;
    127) ;; # the loader of programs has no memory
    *) wrong=$memory ;;
    esac
done
case ${BUILD:-build} in
*asan* | *tsan*) skip "little memory" "sanitizers take terabytes of addresses" ;;
*)
    check "some of the limits are too low" test $without -gt 0
    check "little memory is not called damage" test $wrong -eq 0
    ;;
esac
finish
