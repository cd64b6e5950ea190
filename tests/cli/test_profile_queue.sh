#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command queue under each shipped profile: traces of the built-in device model, written as other
# runtimes would have (tests/reencode_queue), have the findings that they have in their own profile.
. tests/cli/lib.sh

if ! command -v python3 >/dev/null; then
    skip "traces of other queues" "python3 is not installed"
    finish
fi
profiles=
for p in $("$NOCAP" profile list | awk '/^[a-z]/ {sub(",", "", $1); print $1}'); do
    "$NOCAP" profile show "$p" >"$T/$p.json"
    profiles="$profiles $p"
done
check "all profiles" test "$(echo "$profiles" | wc -w)" -ge 7
# record SCENARIO VIEW [FAULT PROGRAMS]: $T/own.jsonl
record() {
    "$NOCAP" capture --sim "$1" --view "$2" --programs "${4:-3}" ${3:+--fault "$3"} -o "$T/own.nocap" 2>/dev/null &&
        "$NOCAP" dump --format jsonl "$T/own.nocap" >"$T/own.jsonl"
}
# as PROFILE [NAME [MEMBER=VALUE ..]]: $T/own.jsonl as this runtime would have written it: $T/as.jsonl,
# with NAME in the header
as() { tests/reencode_queue "$T/blackhole-py.json" "$T/$1.json" "${2:--}" "${@:3}" <"$T/own.jsonl" >"$T/as.jsonl"; }
# task IN OUT PROFILE [NAME [MEMBER=VALUE ..]]: the same, a line for one process that does many
task() { echo "$T/blackhole-py.json $T/$3.json ${4:--} $1 $2 ${*:5}"; }
findings() { "$NOCAP" check --format json "$1" | grep -o '"rule":"[A-Z]*-[0-9a-z]*","severity":"[a-z]*"'; }

for view in raw cq host; do
    record fast-dispatch $view
    # shellcheck disable=SC2086 # words
    theirs=$(share 3 $profiles)
    for p in $theirs; do
        task "$T/own.jsonl" "$T/$p.named.jsonl" "$p" "$p"
        task "$T/own.jsonl" "$T/$p.shown.jsonl" "$p"
    done | tests/reencode_queue
    status 0 "$view, in its own profile" "$NOCAP" check -v "$T/own.jsonl"
    held=$(sed -n 's/^CQ *\([0-9]*\) .*/\1/p' "$T/out")
    for p in $theirs; do
        status 0 "$view, right as in $p" "$NOCAP" check -v "$T/$p.named.jsonl"
        now=$(sed -n 's/^CQ *\([0-9]*\) .*/\1/p' "$T/out")
        check "and as much of it holds, but for timestamps" test "$now" -ge $((held - 3))
        status 0 "no hang" "$NOCAP" hang "$T/$p.named.jsonl"
        status 0 "right too where the trace has to show it" "$NOCAP" check -v "$T/$p.shown.jsonl"
        then=$(sed -n 's/^CQ *\([0-9]*\) .*/\1/p' "$T/out")
        check "and as much of it" test "$then" = "$now"
        case $view/$p in
        raw/*)
            status 0 "which info tells" "$NOCAP" info "$T/$p.shown.jsonl"
            out_has "by name" "profile    ${p/2026-10/2026-09}, mailbox bh-launch96" # one queue on the wire
            ;;
        esac
    done
done

# Where completions lie elsewhere and nothing says so, nothing is accused.
record fast-dispatch host
as blackhole-py - completion=0x4002100
status 0 "an alien host memory" "$NOCAP" check "$T/as.jsonl"
out_has "is told" "a command queue set up with other values than blackhole-py has"
out_has "and accuses nothing" "0 errors, 0 warnings, 1 note"
status 1 "hang of it" "$NOCAP" hang "$T/as.jsonl"
out_has "is inconclusive" "INCONCLUSIVE"

# The second dispatcher on a tile of its own: what it and the others owe each other stays.
apart() { tests/reencode_apart "$T/tt-metal-2026-09.json" 7,11 <"$T/own.jsonl" >"$T/as.jsonl"; }
split() {
    "$NOCAP" capture --sim fast-dispatch-subordinate --profile tt-metal-2026-09 --view "$1" --programs 8 ${2:+--fault "$2"} -o "$T/own.nocap" 2>/dev/null &&
        "$NOCAP" dump --format jsonl "$T/own.nocap" >"$T/own.jsonl" && apart
}
for view in raw cq host all; do
    split $view
    status 0 "$view, together" "$NOCAP" check -v "$T/own.jsonl"
    held=$(sed -n 's/^CQ *\([0-9]*\) .*/\1/p' "$T/out")
    status 0 "$view, apart" "$NOCAP" check -v "$T/as.jsonl"
    now=$(sed -n 's/^CQ *\([0-9]*\) .*/\1/p' "$T/out")
    check "and as much of it" test "$now" -ge "$held"
    status 0 "no hang" "$NOCAP" hang "$T/as.jsonl"
done
for fault in $(share 3 subordinate-page-wrong subordinate-credit-missed subordinate-release-2 go-unnotified go-uncounted \
    go-left-out go-short go-to-wrong-tile go-wrong-stream worker-notify-twice); do
    split raw $fault
    findings "$T/own.jsonl" >"$T/own"
    findings "$T/as.jsonl" >"$T/as"
    check "$fault apart" cmp "$T/own" "$T/as"
    check "is a fault" test -s "$T/as"
done
split raw subordinate-dead
status 1 "a dead subordinate dispatcher" "$NOCAP" hang "$T/as.jsonl"
out_has "is the root, at its tile" "root: ncrisc 7,11"

# allowed FAULT PROFILE: this runtime does that, or has nothing of the kind
allowed() {
    case $1/$2 in
    */blackhole-py) return 1 ;;
    go-multicast/tt-metal-2025-06) return 1 ;; # it has as many go words, and two more of the table
    go-multicast/* | wait-notifies-prefetch/* | timestamp-outside/* | timestamps-read-early/*) return 0 ;;
    two-reads/tt-metal-2026-*) return 0 ;;
    esac
    return 1
}
"$NOCAP" capture --sim list | sed -n 's/^  \([a-z0-9-]*\)  *\(CQ-[0-9]*\|a hang\)  *\([QR]\)[PSM]*  .*/\1 \3/p' |
    sed 's/ Q$/ fast-dispatch/; s/ R$/ fast-dispatch-rings/' >"$T/faults"
check "all faults of the queue" test "$(wc -l <"$T/faults")" -ge 45
long || sed -i 'n;d' "$T/faults" # every other one
others="tt-metal-2025-06 tt-metal-2026-09"
in_turn() { # N: one of them, and all in `make long-seeds`
    long && echo "$others" || echo "$others" | cut -d' ' -f$(($1 % 2 + 1))
}
number=0
while read -r fault scenario; do # those that take more programs are in test_sim_profiles
    record "$scenario" raw "$fault" || record "$scenario" raw "$fault" 8 || continue
    mv "$T/own.jsonl" "$T/$fault.jsonl"
    theirs=$(in_turn $number)
    number=$((number + 1))
    echo "$fault $theirs" >>"$T/recorded"
    for p in $theirs; do
        sizes= name=-
        test "$scenario" = fast-dispatch || sizes="issue_size=0x4000000 completion_size=0x2000000" name=$p
        # shellcheck disable=SC2086 # two words
        task "$T/$fault.jsonl" "$T/$fault.$p.jsonl" "$p" $name $sizes
    done
done <"$T/faults" | tests/reencode_queue
check "nearly all of them in few programs" test "$(wc -l <"$T/recorded")" -ge $(($(wc -l <"$T/faults") - 2))
while read -r fault theirs; do
    findings "$T/$fault.jsonl" >"$T/own"
    for p in $theirs; do
        findings "$T/$fault.$p.jsonl" >"$T/as"
        if test "$fault" = to-subordinate; then # there is one, and it has no such command
            check "$fault as in $p" grep -q '^"rule":"CQ-009"' "$T/as"
        elif test "$fault/$p" = go-multicast/tt-metal-2026-09; then # which is not made
            check "$fault as in $p" grep -q '^"rule":"CQ-072"' "$T/as"
        elif allowed "$fault" "$p"; then
            check "$fault as in $p is no fault" test ! -s "$T/as"
        else
            check "$fault as in $p" cmp "$T/own" "$T/as"
        fi
    done
done <"$T/recorded"

# What real hosts send and blackhole-py's does not: commands in one entry, other relays, a second dispatcher.
cat >"$T/real" <<'END'
RELAY_INLINE > SET_GO_SIGNAL_NOC_DATA num_words=2 / GO_NOC_XY noc_xy=0x82 / GO_NOC_XY noc_xy=0xc2 ; RELAY_INLINE dispatcher_type=1 > SET_NUM_WORKER_SEMS num_worker_sems=1 ; RELAY_INLINE > WAIT flags=WAIT_STREAM|CLEAR_STREAM stream=48 count=0
STALL ; RELAY_INLINE > WAIT flags=BARRIER|NOTIFY_PREFETCH
RELAY_INLINE_NOFLUSH > WRITE_LINEAR noc_xy=0x82 addr=0x20000 length=0x2000 ; RELAY_PAGED is_dram=1 base_addr=0x1000 page_size=0x1000 pages=2
RELAY_INLINE_NOFLUSH > WRITE_LINEAR_H_HOST length=0x2010 ; RELAY_LINEAR noc_xy=0x82 addr=0x20000 length=0x2000
RELAY_INLINE > SET_WRITE_OFFSET offset_count=1 / WRITE_OFFSET offset=0x1000 ; RELAY_INLINE > WRITE_PACKED count=1 write_offset_index=3 size=16 addr=0x9f10 +16 / PACKED_UNICAST noc_xy=0x82
PAGED_TO_RINGBUFFER flags=RESET_TO_START log_page_size=10 base_addr=0x1000 length=0x800 ; SET_RINGBUFFER_OFFSET offset=0x400 ; RELAY_RINGBUFFER count=1 / RELAY_RINGBUFFER start=0 length=0x400
RELAY_PAGED_PACKED count=1 total_length=0x400 / RELAY_PAGED log_page_size=10 base_addr=0x1000 length=0x400
RELAY_INLINE dispatcher_type=1 > SEND_GO_SIGNAL go_signal=0x80030e00 num_unicast_txns=0 wait_stream=48 ; RELAY_INLINE > NOTIFY_SUBORDINATE_GO_SIGNAL wait=1 index_bitmask=1
RELAY_INLINE > WAIT flags=WAIT_STREAM stream=48 count=64
EXEC_BUF base_addr=0x1000 log_page_size=10 pages=4
RELAY_INLINE dispatcher_type=1 > SEND_GO_SIGNAL go_signal=0x80030e00 num_unicast_txns=0 wait_count=64 wait_stream=48
RELAY_INLINE > WAIT flags=WAIT_STREAM stream=48 count=128 ; RELAY_INLINE > WRITE_LINEAR_H_HOST is_event=1 length=32 +16
RELAY_INLINE > TERMINATE ; RELAY_INLINE dispatcher_type=1 > TERMINATE ; TERMINATE
END
for p in $profiles; do
    mcasts= table= # how this runtime says that a go word goes to all: 64 tiles on both sides of columns without any
    if test "$p" = tt-metal-2025-06; then
        mcasts="num_mcast_txns=1 "
        table='s/noc_xy=0x82 .\( GO_NOC_XY\) noc_xy=0xc2/noc_xy=0x24a081 \/\1 noc_xy=64/'
    fi
    sed "s/num_unicast_txns=0/$mcasts&/; $table" "$T/real" | tests/queue_trace "$T/$p.json" "$p" >"$T/real.jsonl"
    if test "$p" = blackhole-py; then
        status 0 "blackhole-py cannot do that" "$NOCAP" check "$T/real.jsonl"
        out_has "and whose it is, is told" "a command queue as tt-metal-2025-12 has it, not blackhole-py"
        continue
    fi
    status 0 "what $p sends is right" "$NOCAP" check -v "$T/real.jsonl"
    held=$(sed -n 's/^CQ *\([0-9]*\) .*/\1/p' "$T/out")
    check "and judged" test "${held:-0}" -ge 15
    out_has "what is not judged is said" "they are not judged, from #"
    status 1 "and shows no agent that waits" "$NOCAP" hang "$T/real.jsonl"
    out_has "which hang says" "INCONCLUSIVE: nothing was observed that would show which agent waits"
done
# one PROFILE RULE ENTRY: it has this one finding, or none. `ones` judges all since the last time.
one() {
    echo "$T/$1.json $1 $T/one.$((++number)).jsonl $3" >>"$T/tasks"
    echo "$number|$1|$2|$3" >>"$T/ones"
}
ones() {
    tests/queue_trace <"$T/tasks"
    while IFS='|' read -r number profile rule entry; do
        "$NOCAP" check "$T/one.$number.jsonl" >"$T/out"
        check "$profile: ${rule:-nothing} in $entry" test "$(grep -oE '^(error|warning|note) [A-Z]+-[0-9a-z]+' "$T/out")" = "$rule"
    done <"$T/ones"
    rm "$T/tasks" "$T/ones"
}
new=tt-metal-2026-09
barrier='RELAY_INLINE > WAIT flags=BARRIER'
large='RELAY_INLINE > WRITE_PACKED_LARGE_UNICAST count=1'
one $new "error CQ-009" "$barrier ; RELAY_INLINE > WAIT id=99 flags=BARRIER"
one $new "error CQ-005" "$barrier ; STALL id=77"
one $new "error CQ-001" "$barrier ; RELAY_INLINE stride=0xffffffc0 > WAIT flags=BARRIER ; $barrier"
one $new "error CQ-001" "$barrier ; RELAY_INLINE length=64 > WAIT flags=BARRIER ; $barrier"
one $new "" "$barrier ; RELAY_INLINE_NOFLUSH > WRITE_LINEAR noc_xy=0x82 addr=0x20000 length=64"
one $new "error CQ-017" "STALL ; $barrier ; RELAY_INLINE > WAIT flags=BARRIER|0x40"
one $new "error CQ-006" "$barrier ; RELAY_INLINE dispatcher_type=2 > WAIT flags=BARRIER"
one $new "error CQ-019" "RELAY_INLINE dispatcher_type=1 > SEND_GO_SIGNAL go_signal=0x80030e00 wait_stream=9"
one $new "error CQ-069" "$barrier ; TERMINATE ; $barrier"
ethernet='RELAY_INLINE > SET_GO_SIGNAL_NOC_DATA num_words=2 / GO_NOC_XY noc_xy=0x82 / GO_NOC_XY noc_xy=0x654'
one $new "" "$ethernet ; $barrier"
one blackhole-py "error CQ-020" "$ethernet"
one $new "error CQ-020" "${ethernet/0x654/0x311}"
one $new "error CQ-013" "$large alignment=24 +32 / PACKED_LARGE_UNICAST noc_xy=0x82 addr=0x20000 length=32"
one $new "error CQ-015" "$large alignment=16 +32 / PACKED_LARGE_UNICAST noc_xy=0x82 addr=0x20008 length=32"
one $new "" "$large alignment=16 +32 / PACKED_LARGE_UNICAST noc_xy=0x82 addr=0xffffffff length=32"
one $new "" "RELAY_INLINE > SET_SUB_DEVICE_WORKER_COUNTS num_sub_devices=1 / SUB_DEVICE_WORKER_COUNT count=64"
one $new "" "RELAY_INLINE > RT_PROFILER_FLUSH wait_count=1 wait_stream=48"
one $new "" "RELAY_INLINE > WRITE_PAGED is_dram=1 base_addr=0x1000 page_size=64 pages=2 +128"
one $new "" "RELAY_LINEAR_PACKED count=1 total_length=0x400 / RELAY_LINEAR addr=0x1000 length=0x400"
ones
check "all that was judged needs no word" test "$(grep -c NOTE "$T/out")" = 0
one $new "" "EXEC_BUF base_addr=0x1000 log_page_size=10 pages=4"
ones
out_has "commands in DRAM are told of" "EXEC_BUF executes commands that lie in DRAM"
one blackhole-py "error CQ-018" "STALL"
one blackhole-py "error CQ-005" "RELAY_PAGED base_addr=0x1000 page_size=0x1000 pages=2"

# A rectangle on both sides of columns without Tensix tiles counts 64 of them; its area is 80.
across='RELAY_INLINE > WRITE_PACKED_LARGE count=1 alignment=16 +16 / PACKED_LARGE noc_xy=0x24a081 addr=0x20000 length_minus1=15 flags=UNLINK'
one $new "" "$across num_mcast_dests=64"
one $new "error CQ-014" "$across num_mcast_dests=80"
# Multicasts by number: rectangles of the table, each with its tiles, of which it says how many answer.
june=tt-metal-2025-06
list='RELAY_INLINE > SET_GO_SIGNAL_NOC_DATA num_words=4 / GO_NOC_XY noc_xy=0x24a081 / GO_NOC_XY noc_xy=64 / GO_NOC_XY noc_xy=0x2cb2cb / GO_NOC_XY noc_xy='
goes='RELAY_INLINE > SEND_GO_SIGNAL go_signal=0x80030e00 wait_stream=48 num_mcast_txns'
one $june "" "${list}1 ; $goes=2 ; $goes=2 wait_count=65 ; $goes=1 wait_count=130 ; $goes=0 wait_count=194"
one $june "error CQ-048" "${list}1 ; $goes=2 ; $goes=2 wait_count=64"
one $june "error CQ-014" "${list}2 ; $goes=2 ; $goes=2 wait_count=65"
one $june "error CQ-019" "${list}1 ; $goes=3"
one $june "error CQ-019" "${list}1 ; $goes=1 num_unicast_txns=3"
ones
printf '%s\n' "${list}1" "$goes=2 num_unicast_txns=3" | tests/queue_trace "$T/$june.json" $june >"$T/two.jsonl"
"$NOCAP" dump "$T/two.jsonl" >"$T/out"
out_has "the table as a rectangle" "SET_GO_SIGNAL_NOC_DATA 4 of 1,2..10,9 .."
out_has "and so many multicasts" "SEND_GO_SIGNAL 0x80030e00 to 3, 2 multicasts, stream 48 >= 0"

# Four reads of host memory at a time, and a fifth.
for i in 1 2 3 4 5 6; do echo "$barrier"; done | tests/queue_trace "$T/$new.json" $new |
    sed '1s/"cq-host"/"cq"/' >"$T/reads.jsonl"
fetch() { printf '{"t":%d,"ev":"cq","op":"%s","slot":%d,"addr":"0x%x","size":64}\n' $((100 + 10 * $1)) "$2" "$1" $((256 + 64 * $1)); }
{
    fetch 0 fetch
    fetch 0 landed
    for i in 1 2 3 4; do fetch $i fetch; done
} >>"$T/reads.jsonl"
status 0 "four reads at a time" "$NOCAP" check "$T/reads.jsonl"
fetch 5 fetch >>"$T/reads.jsonl"
status 1 "a fifth" "$NOCAP" check "$T/reads.jsonl"
out_has "is told" "error CQ-033"
out_has "with what is under way" "4 before it have not landed"

# Queues that no profile explains: their rings elsewhere, or other commands.
sed 's/"queue": "0x19840"/"queue": "0x30000"/; s/"rd_ptr_echo": "0x196c0"/"rd_ptr_echo": "0x2f000"/
    s/"pcie_ptr_echo": "0x196c4"/"pcie_ptr_echo": "0x2f004"/; s/"completion_wr": "0x196d0"/"completion_wr": "0x2f010"/
    s/"completion_rd": "0x196e0"/"completion_rd": "0x2f020"/; s/"cmddat": "0x1a440"/"cmddat": "0x40000"/
    s/"buffer": "0x1a000"/"buffer": "0x40000"/' "$T/blackhole-py.json" >"$T/elsewhere.json"
awk '/"id": / { sub(/[0-9]+/, 90 + ++n) } { print }' "$T/blackhole-py.json" >"$T/others.json"
for view in raw cq host; do
    record fast-dispatch $view
    for p in elsewhere others; do
        as $p
        status 0 "$view, a queue that is $p accuses nobody" "$NOCAP" check "$T/as.jsonl"
        out_has "and is told" "note TRC-010"
        status 1 "its hang" "$NOCAP" hang "$T/as.jsonl"
        out_has "is inconclusive" "INCONCLUSIVE: no profile explains its command queue"
    done
done
finish
