#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Traces in SQL: the answers are those of info, check and hang; launches and metrics ask the same tables.
. tests/cli/lib.sh
sql() { "$NOCAP" sql --format csv "$@" | sed 1d; }
# same NAME WANTED TRACE... QUERY
same() {
    local name=$1 wanted=$2 got
    shift 2
    got=$(sql "$@")
    [ "$got" = "$wanted" ] || echo "# wanted $wanted, got $got"
    verdict "$name" $([ "$got" = "$wanted" ]; echo $?)
}
# Pairs of questions with the same answer, all asked of the trace by `pairs` in two runs.
asked=0
pair() {
    printf "select 'answer %d';\n%s;\n" "$((++asked))" "$2" >>"$T/left"
    printf "select 'answer %d';\n%s;\n" "$asked" "$3" >>"$T/right"
    echo "$1" >>"$T/names"
}
pairs() {
    local name number=0 side
    for side in left right; do
        "$NOCAP" sql --format csv "$1" <"$T/$side" | awk -v to="$T/$side." "/^'answer/ { next } head { head = 0; next }
            /^answer [0-9]+\$/ { file = to \$2; printf \"\" >file; head = 1; next } { print >file }"
    done
    while read -r name; do
        check "$name" cmp "$T/left.$((++number))" "$T/right.$number"
    done <"$T/names"
    check "all pairs were asked" test "$number" = "$asked"
}

golden=golden
for name in launch-dev queue-raw firmware-noc-kernel fault-hang-trisc1 fault-done-early aie-dma; do
    trace=$golden/$name.nocap
    "$NOCAP" info --format json "$trace" >"$T/info"
    "$NOCAP" dump --format csv "$trace" >"$T/csv"
    same "$name: events" "$(jq .events "$T/info")" "$trace" 'select count(*) from events'
    same "$name: kinds" "$(jq -r '.kinds | to_entries[] | select(.value > 0) | "\(.key),\(.value)"' "$T/info" | sort)" \
        "$trace" 'select kind, count(*) from events group by kind order by kind'
    same "$name: agents" "$(cut -d, -f7 "$T/csv" | sed 1d | grep . | sort | uniq -c | awk '{print $2","$1}' | LC_ALL=C sort)" \
        "$trace" 'select agent, count(*) from events where agent notnull group by agent order by agent'
    "$NOCAP" check --format json "$trace" >"$T/check"
    same "$name: findings" "$(jq -r '.findings[] | "\(.rule),\(.index),\(.t),\(.severity)"' "$T/check" | sort)" \
        "$trace" "select rule, idx, t, severity from findings order by rule || ',' || idx"
    "$NOCAP" hang --format json "$trace" >"$T/hang"
    same "$name: waits" "$(jq '.waiting | length' "$T/hang")" "$trace" 'select count(*) from waits where waits_on notnull or release notnull'
    same "$name: hung" "$(jq 'if .hung then 1 else empty end' "$T/hang")" "$trace" \
        'select distinct hung from waits where hung'
    if [ "$name" != aie-dma ]; then
        "$NOCAP" info --noc --format json "$trace" >"$T/noc"
        same "$name: requests" "$(jq '[.noc.requests] | .[0] // 0' "$T/noc")" "$trace" 'select count(*) from requests'
    fi
done

trace=$golden/launch-dev.nocap
for query in "kind = 'write' and agent = 'trisc0'" "tile = '1,2'" "x = 1 and y = 2" "kind = 'noc' and op = 'inline'" \
    "idx between 100 and 200" "idx = 7" "t > 20000 and t <= 21000" "agent = 'nobody'" "kind = 'x'" "x = 1.5" "x = '1'" \
    "x = -1" "tile = '01,2'" "idx > -5 and idx < 3" "idx < 2.5" "chip = 0 and addr = 880" "trace = 'other'" \
    "kind = 'write' or agent = 'host'" "kind in ('noc', 'kernel') and agent = 'trisc1'" "agent is null"; do
    # what SQLite judges by itself, over rows that the table does not choose
    pair "where $query" "select count(*) from (select *, idx + 0 as i from events limit -1 offset 0) where $query" \
        "select count(*) from events where $query"
done
for order in agent 'agent desc' 'kind, agent desc' tile 'x, y desc' chip op; do
    pair "order by $order" "select ${order// desc/}, count(*) from (select * from events limit -1 offset 0) group by ${order// desc/} order by $order" \
        "select ${order// desc/}, count(*) from events group by ${order// desc/} order by $order"
done
for by in agent 'agent, size' 'size desc, agent' 'kind, tile desc' "size > 4" addr 'size desc, addr' 'value, addr desc' 'agent, addr, value'; do
    key=${by// desc/}
    for of in size addr value; do
        pair "$of by $by" "select $key, sum($of / 7), max($of), count($of), count(*) from (select * from events limit -1 offset 0) group by $key order by $by" \
            "select $key, sum($of / 7), max($of), count($of), count(*) from events group by $key order by $by"
    done
done
pair "distinct numbers" 'select distinct addr, size from (select * from events limit -1 offset 0) order by addr, size' \
    'select distinct addr, size from events order by addr, size'
check "sizes in the order of the trace" cmp -s <(sql "$trace" 'select idx, size from events' | cut -d, -f2) <(sql "$trace" 'select size from events')
for by in agent kind tile 'chip, x, y' op trace "kind = 'write' or agent = 'host'"; do
    for where in "1" "kind = 'write'" "x = 1 and agent = 'brisc'" "kind = 'noc' or agent = 'host'" "agent is null"; do
        pair "counts by $by where $where" "select $by, count(*), sum(size) from events where $where group by $by order by $by" \
            "select $by, sum(n), nullif(sum(bytes), 0) from counts where $where group by $by order by $by"
    done
done
pairs "$trace"
check "a row is what the statement tells apart" test "$(sql "$trace" 'select kind, n from counts' | sort)" = \
    "$(sql "$trace" 'select kind, count(*) from events group by kind' | sort)"
same "or all events" "$(jq .events <("$NOCAP" info --format json $trace))" "$trace" 'select n from counts'
check "counts of several traces" test "$(sql "$trace" $golden/launch-host.nocap 'select trace, n from counts' | wc -l)" -eq 2
same "distinct" "$(sql "$trace" 'select distinct agent from (select * from events limit -1 offset 0) order by agent')" \
    "$trace" 'select distinct agent from events order by agent'
same "several traces, each by its name" "$golden/launch-dev.nocap,$(jq .events <("$NOCAP" info --format json $trace))
$golden/launch-host.nocap,$(jq .events <("$NOCAP" info --format json $golden/launch-host.nocap))" \
    "$trace" $golden/launch-host.nocap 'select trace, count(*) from events group by trace order by trace'
for view in raw cq all; do
    "$NOCAP" capture --sim fast-dispatch-packed --programs 20 --view $view -o "$T/packed.nocap" 2>/dev/null
    same "each command of an entry is followed, after EXEC_BUF too: $view" 0 "$T/packed.nocap" \
        'select count(*) from records where command is not null and executed is null'
done
same "both views of a queue have the same records" 1 $golden/queue-raw.nocap $golden/queue-cq.nocap \
    'select count(distinct n) from (select count(*) || " " || count(executed) || " " || sum(duration) n from records group by trace)'

# Who has read enough goes away, which is no failure, and ends the question.
{ "$NOCAP" sql $golden/queue-raw.nocap 'select * from events; select 1' 2>"$T/err"; echo $? >"$T/status"; } | head -n 1 >/dev/null
check "to a reader that goes away" test "$(cat "$T/status")" = 0 -a ! -s "$T/err"
{ timeout 60 "$NOCAP" sql --format csv $trace 'with recursive n(i) as (select 1 union all select i + 1 from n) select i from n' 2>"$T/err"; echo $? >"$T/status"; } |
    head -n 1 >/dev/null
check "it is not answered to the end" test "$(cat "$T/status")" = 0 -a ! -s "$T/err"
status 4 "an output that is full" "$NOCAP" sql $golden/queue-raw.nocap 'select * from events' -o /dev/full
err_has "is told as one" "/dev/full: No space left on device"

status 0 "as JSON" "$NOCAP" sql --format json "$trace" "select idx, agent, null n, 1.5 r, x'0a' b from events limit 2"
check "is an array of objects" test "$(jq -c '.[1] | keys' "$T/out")" = '["agent","b","idx","n","r"]'
status 0 "a file" "$NOCAP" sql -o "$T/answer" "$trace" 'select 1 one'
check "has the answer" grep -q one "$T/answer"
echo 'select count(*) n from launches; select 2 two;' >"$T/statements"
status 0 "statements from standard input" bash -c "'$NOCAP' sql $trace <'$T/statements'"
out_has "all of them" two
status 2 "wrong SQL" "$NOCAP" sql "$trace" 'select nonsense from events'
err_has "says what" "no such column: nonsense"
status 3 "no such trace" "$NOCAP" sql "$T/none" 'select count(*) from events'
err_has "is named" "$T/none"
status 3 "of another table" "$NOCAP" sql "$T/none" 'select count(*) from launches'
echo hello >"$T/hello"
(printf '\x28\xb5\x2f\xfd' && head -c 100 /dev/zero) >"$T/zeros.nocap"
for bad in hello zeros.nocap; do
    status 3 "no trace, and no table asked" "$NOCAP" sql "$trace" "$T/$bad" 'select 1'
    err_has "is told" "$T/$bad"
    check "once, without an answer" test "$(cat "$T/out" "$T/err" | wc -l)" -eq 1
done
status 2 "standard input for a trace and for statements" "$NOCAP" sql - <"$trace"
status 0 "standard input as a trace" "$NOCAP" sql - "select count(*) from events" <"$trace"
head -c $(($(wc -c <"$trace") / 2)) "$trace" >"$T/cut.nocap"
status 1 "a trace that is cut short" "$NOCAP" sql "$T/cut.nocap" 'select count(*) from events'
err_has "is told" "$T/cut.nocap: the trace is damaged"
check "in one line" test "$(wc -l <"$T/err")" -eq 1
status 1 "its launches" "$NOCAP" launches "$T/cut.nocap"
err_has "too" "$T/cut.nocap: the trace is damaged"
status 1 "its metrics, of all tables" "$NOCAP" metrics "$T/cut.nocap"
check "in one line" test "$(grep -c damaged "$T/err")" -eq 1
status 2 "a word that is no query" "$NOCAP" sql "$trace" selec
err_has "is told" "'selec' is neither a file nor a query"
status 2 "a query without quotes" "$NOCAP" sql "$trace" select 1
err_has "is told, too" "'select' is neither a file nor a query"
status 2 "a query before the trace" "$NOCAP" sql 'select 1' "$trace"
err_has "is told where it goes" "the query 'select 1' is before a trace: it comes last"
status 3 "a trace that is missing, before any question" "$NOCAP" sql "$trace" "$T/missing.nocap"
err_has "is named" "cannot open $T/missing.nocap"

if command -v sqlite3 >/dev/null && [ "${BUILD:-build}" = build ]; then
    got=$(sqlite3 -cmd '.load build/libnocap-sqlite' :memory: "select nocap('$trace'); select count(*) from launches;")
    check "in the shell of SQLite" test "$got" = "1
$(sql "$trace" 'select count(*) from launches')"
    sqlite3 -cmd '.load build/libnocap-sqlite' :memory: \
        "create virtual table e using nocap_events('$T/none'); select count(*) from e;" >"$T/out" 2>"$T/err"
    verdict "a trace that is missing there" $(($? == 0))
    err_has "is told" "none"
else
    skip "in the shell of SQLite" "install sqlite3; a library with sanitizers cannot be loaded there"
fi

# A board of one tile at 1 GHz: GO at 10000, DONE at 17000.
cat >"$T/clock.jsonl" <<'END'
{"nocap":1,"arch":"blackhole","board":"p100","time_unit":"cycles","clock_hz":1000000000,"observes":["host-mmio"],"scope":[]}
{"t":1,"ev":"read","by":"host","x":1,"y":2,"addr":"0x370","size":4,"value":"0x0"}
{"t":10000,"ev":"write","by":"host","x":1,"y":2,"addr":"0x370","size":4,"value":"0x80000000"}
{"t":17000,"ev":"read","by":"host","x":1,"y":2,"addr":"0x370","size":4,"value":"0x0"}
END
same "a launch that the host saw" '1,2,host,1,2,7000,7000' "$T/clock.jsonl" \
    'select x, y, agent, go, done, duration, ns from launches'
status 0 "launches" "$NOCAP" launches --longer-than 5us "$T/clock.jsonl"
check "the one" test "$(wc -l <"$T/out")" -eq 2
status 0 "longer ones" "$NOCAP" launches --longer-than 7us "$T/clock.jsonl"
check "are none" test "$(wc -l <"$T/out")" -eq 1
status 0 "a histogram" "$NOCAP" launches --histogram "$T/clock.jsonl"
out_has "in ns" "8192 ns        1"
status 0 "launches of a tile" "$NOCAP" launches --tile 1,3 "$T/clock.jsonl"
check "that has none" test "$(wc -l <"$T/out")" -eq 1
err_has "of which nothing is known" "no event touches core 1,3"
status 0 "launches of a tile of which something is" "$NOCAP" launches --tile 1,2 "$T/clock.jsonl"
check "are no news" test ! -s "$T/err"
# What the launches of a queue start, and a boot of which only stores of the RISCs show, which is no launch.
"$NOCAP" capture --sim fast-dispatch --programs 2 -o "$T/queued.nocap" 2>/dev/null
same "enables of launches by a queue" 0 "$T/queued.nocap" 'select count(*) from launches where enables is null and agent = '"'brisc'"
"$NOCAP" capture --sim launch-host --tiles 1 --launches 3 -o "$T/booted.nocap" 2>/dev/null
"$NOCAP" dump --format jsonl "$T/booted.nocap" |
    jq -c 'if .nocap then .observes = ["core-store"] else select(.ev == "write" and (.by | test("risc")) and (.addr | startswith("0xff") | not)) end' >"$T/stores.jsonl"
same "launches after a boot, as stores of cores show them" 3 "$T/stores.jsonl" 'select count(*) from launches'

# Where events were lost, what was under way has no end, and nobody knows how many launches there were.
cat >"$T/lost.jsonl" <<'END'
{"nocap":1,"arch":"blackhole","board":"p100","time_unit":"cycles","observes":["host-mmio","noc"],"scope":[]}
{"t":1,"ev":"read","by":"host","x":1,"y":2,"addr":"0x370","size":4,"value":"0x0"}
{"t":10,"ev":"write","by":"host","x":1,"y":2,"addr":"0x370","size":4,"value":"0x80000000"}
{"t":17,"ev":"read","by":"host","x":1,"y":2,"addr":"0x370","size":4,"value":"0x0"}
{"t":20,"ev":"write","by":"host","x":1,"y":2,"addr":"0x370","size":4,"value":"0x80000000"}
{"t":21,"ev":"noc","x":1,"y":2,"by":"ncrisc","noc":0,"op":"read","sx":1,"sy":3,"saddr":"0x1000","dx":1,"dy":2,"daddr":"0x2000","size":64}
{"t":25,"ev":"drop","count":100}
{"t":26,"ev":"noc","x":1,"y":2,"by":"ncrisc","noc":0,"op":"read","phase":"done"}
{"t":27,"ev":"read","by":"host","x":1,"y":2,"addr":"0x370","size":4,"value":"0x0"}
{"t":30,"ev":"write","by":"host","x":1,"y":2,"addr":"0x370","size":4,"value":"0x80000000"}
{"t":37,"ev":"read","by":"host","x":1,"y":2,"addr":"0x370","size":4,"value":"0x0"}
END
same "launches of a trace with lost events" '1,1,2,7
2,3,,
,8,9,7' "$T/lost.jsonl" 'select n, go, done, duration from launches'
same "its requests" 4, "$T/lost.jsonl" 'select idx, done from requests'
status 0 "both tables of it" "$NOCAP" sql "$T/lost.jsonl" 'select (select count(*) from launches) + (select count(*) from requests)'
check "say once what is missing" test "$(cat "$T/err")" = "nocap sql: $T/lost.jsonl: 100 events were lost: launches, \
prefetch commands and requests may be missing, and launches after that have no number"
status 2 "a launch of an unknown number" "$NOCAP" diff "$T/lost.jsonl" --a launch=1 --b launch=3
status 1 "one whose end was lost" "$NOCAP" diff "$T/lost.jsonl" --a launch=1 --b launch=2
out_has "is told" "B shows no DONE of 1 of these launches"
status 2 "ns without a clock" "$NOCAP" launches --longer-than 5us "$trace"
status 2 "no duration" "$NOCAP" launches --longer-than 5m "$trace"
status 0 "metrics" "$NOCAP" metrics "$T/clock.jsonl"
out_has "the longest" "launch_longest           7000  (7000 ns)"
status 0 "a budget that is kept" "$NOCAP" metrics --max launch_longest=7us --min launches=1 "$T/clock.jsonl"
status 1 "one that is not" "$NOCAP" metrics --max launch_longest=5us "$T/clock.jsonl"
err_has "says by how much" "launch_longest is 7000 ns, the budget is at most 5000 ns"
status 1 "one of what is not there" "$NOCAP" metrics --max record_longest=5 "$T/clock.jsonl"
err_has "is not kept" "record_longest: there is none"
status 2 "no metric" "$NOCAP" metrics --max longest=5 "$T/clock.jsonl"
status 2 "a count in us" "$NOCAP" metrics --max launches=5us "$T/clock.jsonl"
status 0 "metrics as JSON" "$NOCAP" metrics --format json $golden/fault-done-early.nocap
check "errors as check has them" test "$(jq .errors "$T/out")" = "$("$NOCAP" check --format json $golden/fault-done-early.nocap | jq .summary.error)"

# Nothing but the traces is read or written, and a failure prints no half table.
for statement in "attach '$T/other' as o" "vacuum into '$T/other'"; do
    status 2 "${statement%% *}" "$NOCAP" sql "$trace" "$statement"
    err_has "is refused" "nothing is read or written here but the traces"
    check "and makes no file" test ! -e "$T/other"
done
status 0 "a table of its own" "$NOCAP" sql "$trace" "create temp table mine as select 7 as n; select n from mine"
out_has "is kept in memory" "7"
for format in text csv json; do
    status 3 "launches of a trace that is missing, as $format" "$NOCAP" launches --format $format "$T/none.nocap"
    check "no heading" test ! -s "$T/out"
done
# A clock of 1 Hz: the nanoseconds have no room in 64 bits.
sed -e 's/1000000000,/1,/' -e 's/17000/1000000000000/' "$T/clock.jsonl" >"$T/slow.jsonl"
same "a launch of 30 thousand years" '999999990000,' "$T/slow.jsonl" 'select duration, ns from launches'
finish
