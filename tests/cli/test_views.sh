#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nocap export: pictures for other viewers, and what they hold beside what check, dump and hang say.
. tests/cli/lib.sh

$NOCAP capture --sim launch-dev --seed 3 -o "$T/dev.nocap" 2>"$T/err" || exit 1
$NOCAP capture --sim fast-dispatch --seed 3 -o "$T/cq.nocap" 2>"$T/err" || exit 1
$NOCAP capture --sim launch-host --fault boot-hang-trisc1 -o "$T/hung.nocap" 2>"$T/err" || exit 1
$NOCAP capture --sim launch-host --fault done-early -o "$T/bad.nocap" 2>"$T/err" || exit 1

events() { "$NOCAP" dump "$1" --format jsonl --filter "$2" | tail -n +2 | wc -l; }
held() { sed -n "s/^$1 \([0-9]*\)$/\1/p" "$T/held"; }
launches() {
    "$NOCAP" launches "$1" --format csv |
        sed -nE 's/^"([0-9,]*)",[^,]*,[^,]*,[^,]*,([0-9]+),[^,]*,[^,]*,([0-9]+),.*/launch core \1 \2 \3/p' | sort
}
perfetto() { "$NOCAP" export "$1" --to perfetto -o "$T/p.pftrace" "${@:2}" 2>"$T/err" &&
             tests/perfetto_check "$T/p.pftrace" >"$T/held"; }

# The largest time there is ends a picture, too.
{ "$NOCAP" dump "$T/bad.nocap" --format jsonl --limit 99
  echo '{"t":18446744073709551615,"ev":"note","text":"late"}'; } >"$T/late.jsonl"
for form in html perfetto vcd; do
    status 0 "$form: until the end of all time" timeout 60 "$NOCAP" export "$T/late.jsonl" --to $form -o "$T/late"
done

# ---- perfetto ----

check "perfetto: launches" perfetto "$T/dev.nocap"
check "a slice for each kernel" \
    test "$(held 'slice kernel')" -eq "$(events "$T/dev.nocap" 'ev==kernel && op==enter')"
check "a launch for each notify of a worker" \
    test "$(held 'slice launch')" -eq "$(events "$T/dev.nocap" 'ev==noc && op==inline')"
check "those of nocap launches, from the same time on and as long" test -n "$(launches "$T/dev.nocap")" -a \
    "$(grep '^launch ' "$T/held" | sort)" = "$(launches "$T/dev.nocap")"
check "each is where the go message is GO" test "$(held 'slice launch')" -eq "$(held 'slice GO')"
check "a slice for each stalled instruction, with its operands" test \
    "$(grep '^slice S[A-Z]*WAIT ' "$T/held" | awk '{n += $NF} END {print n}')" \
    -eq "$(events "$T/dev.nocap" 'ev==tensix && op==stall')"
check "circular buffers by number" grep -qE '^counter CB [0-9]+ tiles held [1-9]' "$T/held"
check "semaphores by name" grep -q '^counter semaphore MATH_PACK [1-9]' "$T/held"
check "a launch leads to its kernels and its notify" grep -q '^flow launch>kernel.*>inline' "$T/held"

check "perfetto: a command queue of raw accesses" perfetto "$T/cq.nocap"
records=$(held 'instant prefetch command')
check "each record is fetched and relayed" \
    test "$records" -gt 100 -a "$(held 'slice fetch')" -eq "$records" -a "$(held 'instant relay')" -eq "$records"
check "and a command executed of each" test "$records" -eq \
    "$(awk '/^flow prefetch command>fetch>relay>[A-Z_]+(>|  *[0-9])/ {n += $NF} END {print n}' "$T/held")"
check "a record leads to the event of its completion" \
    grep -q '^flow prefetch command>fetch>relay>WRITE_LINEAR_H_HOST>completion' "$T/held"
check "a worker's launch from GO to notify" grep -q '^flow GO>launch>inline' "$T/held"
check "the launches of nocap launches" test \
    "$(grep '^launch ' "$T/held" | sort)" = "$(launches "$T/cq.nocap")"
check "free pages, stream counters" grep -q '^counter stream 48' "$T/held"

# Each chip has a queue: two that do the same are everything twice.
"$NOCAP" capture --sim fast-dispatch --workers 2 --programs 3 -o "$T/one.nocap" 2>/dev/null
"$NOCAP" dump --format jsonl "$T/one.nocap" | sed '1!{p;s/^{/{"chip":1,/}' >"$T/two.jsonl"
check "perfetto: a chip" perfetto "$T/one.nocap"
counted() { sed 's/^launch.*//; s/chip 1 //' "$T/held" | grep -v 'track host' | awk -v by="$1" '{n = $NF; $NF = ""; c[$0] += n * by} END {for (k in c) print k c[k]}' | sort; }
counted 2 >"$T/twice"
check "perfetto: two chips" perfetto "$T/two.jsonl"
counted 1 >"$T/both"
check "have all of it, records and commands too" diff "$T/twice" "$T/both"
check "each in its own group" grep -q '^track chip 1 command queue: prefetch 14,2, dispatch 14,3 1$' "$T/held"
status 0 "a waveform of two chips" "$NOCAP" export "$T/two.jsonl" --to vcd -o "$T/two.vcd"
check "and no word of findings that there are not" test ! -s "$T/err"
status 0 "a waveform of a faulty run" "$NOCAP" export "$T/bad.nocap" --to vcd -o "$T/bad.vcd"
err_has "says what has no place there" "a waveform has no place for findings and who waits at the end"
check "with two queues" test "$(grep -c 'scope module.*command_queue' "$T/two.vcd")" -eq 2
check "launches of two chips" test "$("$NOCAP" launches --format csv "$T/two.jsonl" | cut -d, -f1 | sort | uniq -c | tr -s ' \n' ' ')" = \
    ' 8 0 8 1 1 chip '
check "their state" test "$("$NOCAP" replay "$T/two.jsonl" | grep -c 'command queue: prefetcher')" -eq 2
check "as JSON" test "$("$NOCAP" replay --format json "$T/two.jsonl" | jq -c '[.queue.chip, (.queues[] | [.chip, .records_read > 60])]')" = \
    '[0,[0,true],[1,true]]'
check "the state of one" test "$("$NOCAP" replay --format json "$T/one.nocap" | jq -c '[.queue.chip, .queues]')" = '[0,null]'
# What a view does not show is not known, and no number.
for view in raw:true,true,true,true host:false,false,true,false cq:true,false,false,true; do
    "$NOCAP" capture --sim fast-dispatch --programs 2 --view ${view%%:*} -o "$T/view.nocap" 2>/dev/null
    check "the state of a queue, ${view%%:*}" test "$("$NOCAP" replay --format json "$T/view.nocap" |
        jq -c '[.queue | has("records_read", "completion_wr", "completion_rd", "pages_taken")]')" = "[${view#*:}]"
done
"$NOCAP" capture --sim fast-dispatch --workers 2 --programs 3 --view all -o "$T/all.nocap" 2>/dev/null
check "perfetto: accesses, and events that restate them" perfetto "$T/all.nocap"
check "show each command once" diff "$T/twice" <(counted 2)

rules() { jq -r '.findings[] | "finding \(.rule) \(.index)"' "$T/check.json" | sort; }
check "perfetto: findings" perfetto "$T/bad.nocap"
"$NOCAP" check "$T/bad.nocap" --format json >"$T/check.json"
check "those of check, each at its event" test "$(grep '^finding' "$T/held" | sort)" = "$(rules)"
check "there are some" test -n "$(rules)"

check "perfetto: a hang" perfetto "$T/hung.nocap"
check "its root is an instant" test "$(held 'instant root')" -eq \
    "$("$NOCAP" hang "$T/hung.nocap" --format json | jq '.root | length')"
# What the host alone did and found: DONE is what it read. The fault is in no rule.
"$NOCAP" capture --sim launch-host --tiles 2 --fault hang-trisc1 -o "$T/h.nocap" 2>/dev/null
"$NOCAP" dump --format jsonl --filter by==host "$T/h.nocap" |
    jq -c 'if .nocap then .observes = ["host-mmio"] | del(.scope) else . end' >"$T/host.jsonl"
check "perfetto: the host's view" perfetto "$T/host.jsonl"
check "has the launches, to the DONE that was read" test "$(held 'slice launch')" -eq 10 -a \
    "$(grep '^launch ' "$T/held" | sort)" = "$(launches "$T/host.jsonl")"
"$NOCAP" export "$T/host.jsonl" --to vcd -o "$T/host.vcd" 2>/dev/null
check "a sync word that is not known any more has no value" test \
    "$(tests/vcd_changes "$T/host.vcd" | awk '$2 ~ /core_1_2.*smsg/ {last = $3} END {print last}')" = x

check "control code" perfetto checker/rules/examples/AIE-066.fail.jsonl
check "has its columns and jobs" grep -q '^track job ' "$T/held"

check "a part by time and core" perfetto "$T/dev.nocap" --from 40000 --to 50000 --tile 1,3
check "has no other core" test "$(grep -c '^track core' "$T/held")" -eq 1
"$NOCAP" export "$T/dev.nocap" --to perfetto --from 40000 --to 50000 -o "$T/part" 2>"$T/err"
"$NOCAP" export "$T/bad.nocap" --to perfetto --from 60000 -o "$T/p.pftrace" 2>"$T/err"
tests/perfetto_check "$T/p.pftrace" >"$T/held"
check "nor findings of before" test "$(grep -c '^finding' "$T/held")" -eq \
    "$(jq '[.findings[] | select(.t >= 60000)] | length' "$T/check.json")" -a "$(rules | wc -l)" -gt "$(grep -c '^finding' "$T/held")"
check "nor another time" test -z "$(protoc --decode=views.Trace tests/data/perfetto.proto <"$T/part" |
    awk '$1 == "timestamp:" && ($2 < 40000 || $2 > 50000)')"

# Long before a picture begins little is made of events; after its start nothing may show that.
same_items() {
    local name=$1 trace=$2 from
    perfetto "$trace" && cp "$T/p.pftrace" "$T/whole"
    for from in $(share 2 "${@:3}"); do
        tests/perfetto_check "$T/whole" $from >"$T/wanted"
        perfetto "$trace" --from $from && tests/perfetto_check "$T/p.pftrace" $from >"$T/held"
        check "$name from $from on: the items of the whole picture" diff "$T/wanted" "$T/held"
    done
}
same_items launches "$T/dev.nocap" 20000 54100
same_items "a command queue" "$T/cq.nocap" 40000 140000
same_items "a hang" "$T/hung.nocap" 40000 900000
check "there are items" test -s "$T/wanted"

# What is before it may be replayed by a thread of its own; events are lost there, too.
size=$(stat -c %s "$T/cq.nocap")
{ head -c $((size / 3)) "$T/cq.nocap"; printf '\377\377\377\377'; tail -c +$((size / 3 + 5)) "$T/cq.nocap"; } >"$T/lost.nocap"
for trace in dev cq hung lost; do
    case $trace in cq | lost) views=$(share 2 perfetto html vcd npeviz) ;; *) views=perfetto ;; esac
    for view in $views; do
        "$NOCAP" export "$T/$trace.nocap" --to $view --from 54000 -o "$T/beside" 2>/dev/null
        taskset -c 0 "$NOCAP" export "$T/$trace.nocap" --to $view --from 54000 -o "$T/alone" 2>/dev/null
        check "$trace, $view: on one core the same" cmp "$T/alone" "$T/beside"
    done
done

# The models may begin shortly before the picture.
"$NOCAP" export "$T/dev.nocap" --to perfetto --from 54100 --lead 5000 -o "$T/p.pftrace" 2>"$T/err"
err_has "a lead: where it begins" "the models began at event"
perfetto "$T/dev.nocap" --from 54100 && tests/perfetto_check "$T/p.pftrace" 54100 | grep -v 'semaphore .* 0$' >"$T/wanted"
perfetto "$T/dev.nocap" --from 54100 --lead 5000 &&
    tests/perfetto_check "$T/p.pftrace" 54100 | grep -v 'semaphore .* 0$' >"$T/held"
check "launches, kernels and requests are those of the whole" diff "$T/wanted" "$T/held"
status 0 "a lead longer than the trace" "$NOCAP" export "$T/bad.nocap" --to html --from 60000 --lead 99999999 -o "$T/a.html"
in_page() { sed -n "s/^<script type=\"application\/json\" id=\"$1\">\([^<]*\).*$/\1/p" "$T/a.html" | jq -c "$2"; }
check "leaves out nothing" test "$(in_page report '[.trace.begins_at, .findings[0].rule]')" = '[null,"GO-004"]'
"$NOCAP" export "$T/bad.nocap" --to html --from 60000 --lead 100 -o "$T/a.html" 2>"$T/err"
check "the report says where it begins, and has no finding of before" test "$(in_page report \
    '[.trace.begins_at > 0, .note_ids, (.findings | length)]')" = '[true,["begins-at"],0]'
"$NOCAP" export "$T/hung.nocap" --to html --from 900000 --lead 100 -o "$T/a.html" 2>"$T/err"
check "who hung before is seen by its polls" test "$(in_page hang .verdict)" = '"hung"'

# ---- html ----

# page TRACE: what a browser makes of the page, in which tests/page_check.js has pressed keys.
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
page() {
    "$NOCAP" export "$1" --to html -o "$T/page.html" 2>"$T/err" || return 1
    { cat "$T/page.html"; echo '<script>'; cat tests/page_check.js; echo '</script>'; } >"$T/tried.html"
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-extensions \
        --user-data-dir="$T/profile" --host-resolver-rules="MAP * ~NOTFOUND" \
        --virtual-time-budget=4000 --enable-logging=stderr --log-level=0 --dump-dom \
        "file://$T/tried.html" >"$T/dom" 2>"$T/log" && tests/page_text "$T/dom" >"$T/text"
}

status 0 "html" "$NOCAP" export "$T/bad.nocap" --to html -o "$T/a.html"
check "one file below 400 kB" test "$(wc -c <"$T/a.html")" -lt 400000
check "that asks for no other" test "$(grep -cE '(src|href)="?[^#">]|@import|url\(|fetch\(|XMLHttp' "$T/a.html")" -eq 0
sed -n 's/^<script type="application\/json" id="report">\(.*\)$/\1/p' "$T/a.html" | jq -S . >"$T/in_page"
"$NOCAP" check "$T/bad.nocap" --format json | jq -S 'del(.notes)' >"$T/check.json"
check "it has the report of check" test "$(jq -S 'del(.notes)' "$T/in_page" | cksum)" = "$(cksum <"$T/check.json")"
check "and the events around the finding" grep -q '"context":{"[0-9]*":\["' "$T/a.html"
printf '%s\n' '{"nocap":1,"arch":"blackhole","observes":["host-mmio"]}' \
    '{"t":1,"ev":"note","text":"</script><script>alert(1)</script>"}' >"$T/evil.jsonl"
"$NOCAP" export "$T/evil.jsonl" --to html -o "$T/evil.html" 2>/dev/null
check "text of a trace ends no script" test "$(grep -c "<script>alert" "$T/evil.html")" -eq 0 -a "$(grep -c "alert(1)" "$T/evil.html")" -gt 0
status 0 "from standard input" sh -c "'$NOCAP' export - --to html -o '$T/x.html' <'$T/bad.nocap'"
err_has "what the page lacks then" "no events around findings"
rm -f "$T/x.html"
"$NOCAP" export "$T/host.jsonl" --to html -o "$T/a.html" 2>/dev/null
check "the host's view has time in launches" test "$(in_page picture '.tiles[] | select(.x == 1 and .y == 2) | .busy | add')" -eq \
    "$("$NOCAP" launches "$T/host.jsonl" --format json | jq '[.[] | select(.tile == "1,2") | .duration] | add')"

if [ -n "$browser" ]; then
    check "a browser shows it" page "$T/bad.nocap"
    check "without a complaint" test "$(grep -c CONSOLE "$T/log")" -eq 0
    jq -r '.findings[] | .severity, .rule, .observed, .expected' "$T/check.json" >"$T/wanted"
    check "its text has the findings of the report" test -s "$T/wanted" -a \
        -z "$(while read -r line; do grep -qF -- "$line" "$T/text" || echo "$line"; done <"$T/wanted")"
    check "and of each rule its verdict" test \
        "$(grep -cE '^[A-Z]+-[0-9]+[a-z]? (held|violated|waived|not-)' "$T/text")" -eq "$(jq '.rules | length' "$T/check.json")"
    check "the time slider and the picture obey keys" grep -q '^keys: slider, states, rows, slices, zoom, charts$' "$T/text"
    if [ -n "${NOCAP_PICTURES:-}" ]; then # for docs/views.md, a folder
        cp "$T/bad.nocap" "$T/run.nocap"
        (cd "$T" && "$NOCAP" export run.nocap --to html -o run.html 2>/dev/null)
        timeout 120 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars \
            --window-size=1100,1960 --virtual-time-budget=4000 --user-data-dir="$T/profile" \
            --screenshot="$NOCAP_PICTURES/views-page.png" "file://$T/run.html" 2>/dev/null
    fi
    check "a hang" page "$T/hung.nocap"
    "$NOCAP" hang "$T/hung.nocap" --format json >"$T/hang.json"
    check "its verdict, root and waits" test -z "$(jq -r '.verdict, .root[].reason, .waiting[].for' "$T/hang.json" |
        while read -r line; do grep -qF -- "$line" "$T/text" || echo "$line"; done)"
    if long; then
        check "a clean check of a hang" page "$T/host.jsonl"
        check "check alone calls it clean" test "$("$NOCAP" check "$T/host.jsonl" --format json | jq -r .summary.verdict)" = clean
        check "the headline says that it is hung" grep -q '^hung ' "$T/text"
        check "and is not green" grep -q '<span id="outcome" class="hung">' "$T/dom"
        check "a trace that is not judged" page "$T/evil.jsonl"
        check "says so" grep -q '<span id="outcome" class="inconclusive">inconclusive, not judged<' "$T/dom"
        check "a command queue" page "$T/cq.nocap"
        check "which is clean" grep -q '<span id="outcome" class="clean">clean<' "$T/dom"
        check "its counters have charts, with their bounds" grep -qE '^command queue: dispatch buffer: free pages [0-9]+ to [1-9]' "$T/text"
        check "and who made the library is said" grep -q 'Leon Sorokin' "$T/page.html"
        check "one file below 400 kB" test "$(wc -c <"$T/page.html")" -lt 400000
        check "without a complaint" test "$(grep -c CONSOLE "$T/log")" -eq 0
    fi
else
    skip "html in a browser" "no chromium"
fi

# ---- vcd ----

status 0 "vcd" "$NOCAP" export "$T/cq.nocap" --to vcd -o "$T/a.vcd"
check "a bus for the sync words, a wire for launches" \
    grep -qE '^\$var wire 32 [^ ]+ smsg_[0-9]+ \$end' "$T/a.vcd"
if command -v vcd2fst >/dev/null && command -v fst2vcd >/dev/null; then
    status 0 "vcd2fst takes it" vcd2fst "$T/a.vcd" "$T/a.fst"
    fst2vcd "$T/a.fst" >"$T/b.vcd" 2>/dev/null
    # identifiers and order within one time are the tool's own: values by name and time
    check "and gives back every change" test -n "$(tests/vcd_changes "$T/a.vcd")" -a \
        "$(tests/vcd_changes "$T/a.vcd" | sort | cksum)" = "$(tests/vcd_changes "$T/b.vcd" | sort | cksum)"
else
    skip "vcd2fst" "not installed (gtkwave)"
fi

# ---- npeviz ----

status 0 "npeviz" "$NOCAP" export "$T/cq.nocap" --to npeviz -o "$T/a.npeviz"
left_out=$(sed -n 's/.*export: \([0-9]*\) transfers are left out.*/\1/p' "$T/err")
check "what has no place is counted" test "${left_out:-0}" -gt 0
check "routes lead where they should, every transfer is in its steps, links carry its bytes" \
    sh -c 'tests/npeviz_check "$0/a.npeviz" >"$0/held"' "$T"
check "all other requests are there" test "$(cat "$T/held")" -eq \
    "$(($(events "$T/cq.nocap" 'ev==noc && !phase') - left_out))"

# ---- gaps ----

size=$(stat -c %s "$T/dev.nocap")
{ head -c $((size / 2)) "$T/dev.nocap"; printf '\377\377\377\377'; tail -c +$((size / 2 + 5)) "$T/dev.nocap"; } >"$T/gap.nocap"
status 1 "a damaged block" "$NOCAP" export "$T/gap.nocap" --to perfetto -o "$T/p.pftrace"
tests/perfetto_check "$T/p.pftrace" >"$T/held"
check "the picture says that events were lost" test "$(held 'instant events lost')" -ge 1

# Perfetto's own trace processor, where there is one: NOCAP_TRACE_PROCESSOR names the folder.
if [ -n "${NOCAP_TRACE_PROCESSOR:-}" ] && command -v node >/dev/null; then
    perfetto "$T/cq.nocap"
    node tests/trace_processor.mjs "$NOCAP_TRACE_PROCESSOR" "$T/p.pftrace" \
        "select count(*) from stats where severity in ('error', 'data_loss') and value > 0" \
        "select count(*) from slice where name = 'prefetch command'" \
        "select count(*) from slice where name = 'launch'" \
        "select count(*) from flow f join slice a on f.slice_out = a.id join slice b
         on f.slice_in = b.id where a.name = 'relay'" \
        "select count(*) from counter" >"$T/sql" 2>"$T/err" || sed 's/^/# /' "$T/err"
    check "the trace processor: no error, the same slices, flows and counters" test \
        "$(tr -s '\n' ' ' <"$T/sql")" = "0 $records $(held 'slice launch') $records $(
        awk '/^counter / {n += $NF} END {print n}' "$T/held") "
else
    skip "trace processor" "NOCAP_TRACE_PROCESSOR does not name a folder with it, or no node"
fi

# ---- what the command asks and says ----

status 2 "no view" "$NOCAP" export "$T/dev.nocap" -o "$T/x"
err_has "which there are" "perfetto, html, vcd or npeviz"
status 2 "no such view" "$NOCAP" export "$T/dev.nocap" --to chrome -o "$T/x"
err_has "what --to takes" "not 'chrome'"
status 2 "a lead of nothing" "$NOCAP" export "$T/dev.nocap" --to vcd --lead 10 -o "$T/x"
status 2 "from after to" "$NOCAP" export "$T/dev.nocap" --to vcd --from 9 --to 3 -o "$T/x"
for view in perfetto html vcd npeviz; do
    status 1 "$view: a part after the end" "$NOCAP" export "$T/bad.nocap" --to $view --from 99999999 -o "$T/x"
    err_has "is empty, and why" "the picture is empty: the trace ends at time"
    check "for no other reason" test "$(grep -c 'no place for\|the clock' "$T/err")" -eq 0
done
status 1 "npeviz without requests" "$NOCAP" export "$T/host.jsonl" --to npeviz -o "$T/x"
err_has "is empty" "the picture is empty: there is no request of a network interface on the grid"
status 1 "a waveform without signals" "$NOCAP" export "$T/evil.jsonl" --to vcd -o "$T/x"
err_has "is empty, too" "the picture is empty: there is no signal that changes"
head -n 1 "$T/host.jsonl" >"$T/nothing.jsonl"
status 1 "perfetto of no event" "$NOCAP" export "$T/nothing.jsonl" --to perfetto -o "$T/x"
err_has "as well" "the picture is empty: there is nothing that a track shows"
rm -f "$T/x"
status 3 "no trace" "$NOCAP" export "$T/none" --to vcd -o "$T/x"
check "no file is left" test ! -e "$T/x"
status 4 "an output that cannot be written" "$NOCAP" export "$T/dev.nocap" --to vcd -o /dev/full
head -c 20000 "$T/dev.nocap" >"$T/cut.nocap"
status 1 "a damaged trace is exported as far as it goes" \
    "$NOCAP" export "$T/cut.nocap" --to perfetto -o "$T/p.pftrace"
err_has "and it is told" "the trace is damaged"
finish
