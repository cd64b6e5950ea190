#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nocap hang: statuses, forms, partial evidence, the place in the source. Which hangs are known is
# the unit tests' matter.
. tests/cli/lib.sh

status 0 "a device that hangs" "$NOCAP" capture --sim launch-host --tiles 2 --fault hang-sem -o "$T/hang.nocap"
status 1 "is hung" "$NOCAP" hang "$T/hang.nocap"
check "which comes first" bash -c "head -n 1 '$T/out' | grep -q '^HUNG: '"
out_has "the root" "root: trisc2 1,3, core(x=0,y=1) virtual(x=1,y=3), thread stalled"
out_has "the chain" "host 1,3 waits for brisc 1,3"
out_has "the finding, as check prints it" "core(x=0,y=1) virtual(x=1,y=3), trisc2 thread 2: 1 thread blocked indefinitely"
out_has "the cores" "1 core (1,3): ready, busy"
out_has "the last events" "last events about the root"
writer=$("$NOCAP" who 1,3 0x373 "$T/hang.nocap" --writes --limit 1 --format json | jq -r '.touches[0] | "\(.by) at #\(.index)"')
out_has "who wrote what the host waits for" "[0x80 at 0x373, last written by $writer]"
"$NOCAP" hang --format json "$T/hang.nocap" >"$T/json"
check "in JSON too" test "$(jq -r '.waiting[0].written' "$T/json")" = "0x80 at 0x373, last written by $writer"
check "what would unblock the root" test "$(jq -r '.root[0].release' "$T/json")" = "a SEMPOST of semaphore MATH_PACK (1)"
check "no colours in a file" bash -c "! grep -q $'\033' '$T/out'"
status 1 "from standard input" bash -c "'$NOCAP' hang - <'$T/hang.nocap'"
status 1 "from a pipe" bash -c "cat '$T/hang.nocap' | '$NOCAP' hang -"
out_has "the root all the same" "root: trisc2 1,3, core(x=0,y=1) virtual(x=1,y=3), thread stalled"
status 1 "json" "$NOCAP" hang --format json "$T/hang.nocap"
out_has "is an answer" '"nocap_hang":1,"hung":true,"verdict":"hung"'
status 1 "dot" "$NOCAP" hang --format dot "$T/hang.nocap" -o "$T/hang.dot"
check "is a graph" grep -q '^digraph hang {' "$T/hang.dot"
if command -v dot >"$T/out"; then
    status 0 "that Graphviz takes" dot -Tdot "$T/hang.dot"
fi
status 0 "an earlier moment" "$NOCAP" hang --at 20000 "$T/hang.nocap"
status 1 "as many events as are wanted" "$NOCAP" hang --events 2 "$T/hang.nocap"
check "no more" test "$(sed '1,/^last events/d' "$T/out" | wc -l)" -eq 2
status 2 "none is a usage error" "$NOCAP" hang --events 0 "$T/hang.nocap"
status 3 "a trace that is missing" "$NOCAP" hang "$T/missing"
status 2 "an ELF file of nobody" "$NOCAP" hang --elf frob=x "$T/hang.nocap"

for scenario in boot launch-host launch-dev fast-dispatch; do
    "$NOCAP" capture --sim $scenario -o "$T/well.nocap" 2>"$T/err"
    status 0 "a run that is well: $scenario" "$NOCAP" hang "$T/well.nocap"
    out_has "nobody waits: $scenario" "NOT HUNG"
done

# A trace that ends in the middle of healthy work is not hung, however slow that is beside what came
# before and however often the host polls.
# cut_off NAME GOLDEN TIME EVERY PATTERN: GOLDEN up to TIME, each poll made one every EVERY cycles.
cut_off() {
    "$NOCAP" dump --format jsonl "golden/$2.nocap" | jq -c --argjson until "$3" --argjson every "$4" '
        select(.nocap or .t <= $until) |
        if .by == "host" and .addr == "0x373" then .n = 1 + (180 / $every | floor) | .t2 = .t + 180
        else . end' >"$T/part.jsonl"
    "$NOCAP" hang "$T/part.jsonl" >"$T/out"
    check "$1" grep -q "^$5: " "$T/out"
}
cut_off "a kernel that spins nearly five times as long as anything before" firmware-spin-all-seed02 37250 90 INCONCLUSIVE
cut_off "a few hundred cycles of silence, in which the host polls often" firmware-spin-all-seed03 11301 10 INCONCLUSIVE
cut_off "a boot of which nothing is seen yet" firmware-boot-grid-seed02 13300 20 INCONCLUSIVE
cut_off "a kernel that does not end" firmware-hang-trisc1-seed02 40000 10 HUNG

# a thread that stays although nothing holds it by what was seen
gate() { printf '{"t":%s,"ev":"tensix","op":"%s","x":1,"y":2,"thread":%s,"word":"%s"}\n' "$@"; }
word() { gate "$1" push "$2" "$3" && gate "$1" issue "$2" "$3"; }
{
    echo '{"nocap":1,"arch":"blackhole","time_unit":"cycles","observes":["tensix-push","tensix-issue","core-mmio"],"complete":true}'
    word 10 1 0xa3200008
    word 20 2 0xa6010009
    gate 21 push 2 0xa5000008
    gate 21 stall 2 0xa5000008
    word 30 1 0xa4000008
    echo '{"t":90000,"ev":"note","text":"end"}'
} >"$T/post.jsonl"
status 1 "a post that the gate did not see" "$NOCAP" hang "$T/post.jsonl"
out_has "which wait was satisfied" "its Tensix thread 2 has not issued SEMGET MATH_PACK although the posts and gets seen satisfied its SEMWAIT on semaphore MATH_PACK (1), "
sed 's/0xa6010009/0xa6010001/g' "$T/post.jsonl" >"$T/none.jsonl"
status 1 "after a SEMWAIT for no semaphore" "$NOCAP" hang "$T/none.jsonl"
out_has "what is held" "its Tensix thread 2 has not issued SEMGET MATH_PACK, since"

# what it is derived from
status 0 "the state of the tile" "$NOCAP" replay --tile 1,3 "$T/hang.nocap"
out_has "what holds the thread" "a SEMWAIT waits for semaphore MATH_PACK (1), which is 0"
out_has "where cores are" ", pc 0x"
"$NOCAP" capture --sim fast-dispatch --fault wait-count-high -o "$T/queue.nocap" 2>"$T/err"
status 0 "the state of a queue" "$NOCAP" replay "$T/queue.nocap"
out_has "its counters" "notify stream 48: 4 counted, 4 go messages"
status 0 "with its tile" "$NOCAP" replay --tile 14,3 --format json "$T/queue.nocap"
out_has "as JSON" '"queue":{"records_published":'
out_has "the command" '"command":"WAIT"'
status 0 "not with another" "$NOCAP" replay --tile 1,2 --format json "$T/queue.nocap"
check "no queue" bash -c "! grep -q '\"queue\"' '$T/out'"
out_has "but requests of its network interfaces" '"noc":[{"reads":'

# what is seen from outside
"$NOCAP" capture --sim fast-dispatch --view host --fault prefetcher-dead -o "$T/host.nocap" 2>"$T/err"
status 1 "the host's side alone" "$NOCAP" hang "$T/host.nocap"
out_has "does not say enough" "INCONCLUSIVE"
size=$(stat -c %s "$T/hang.nocap")
head -c $((size - 30)) "$T/hang.nocap" >"$T/cut.nocap"
"$NOCAP" hang "$T/cut.nocap" >"$T/out" 2>"$T/err"
check "a trace cut short is read up to the cut" test $? -le 1
out_has "which is told" "the trace is cut short"

if command -v riscv64-unknown-elf-gcc >"$T/out"; then
    cat >"$T/k.c" <<'END'
volatile int *word = (int *)0x1000;
__attribute__((noinline)) void wait_for_tiles(void) { while (*word == 0) { } }
void _start(void) { wait_for_tiles(); }
END
    riscv64-unknown-elf-gcc -g -O1 -march=rv32im -mabi=ilp32 -nostdlib -Ttext=0x6a00 "$T/k.c" -o "$T/k.elf"
    cat >"$T/pc.jsonl" <<'END'
{"nocap":1,"arch":"blackhole","observes":["host-mmio","core-store","core-load","kernel"],"scope":[[1,2]]}
{"t":100,"ev":"mem","x":1,"y":2,"addr":"0x60","data":"00000000000000000000000000000000"}
{"t":100,"ev":"write","by":"host","x":1,"y":2,"addr":"0x370","size":4,"value":"0x80000000"}
{"t":120,"ev":"kernel","op":"enter","x":1,"y":2,"by":"brisc","pc":"0x6a00"}
{"t":140,"ev":"read","by":"brisc","x":1,"y":2,"addr":"0x1b000","size":4,"value":"0x0","pc":"0x6a04","n":9000,"t2":400000}
{"t":150,"ev":"read","by":"host","x":1,"y":2,"addr":"0x373","size":1,"value":"0x80","n":2000,"t2":400000}
END
    status 1 "with the core's ELF file" "$NOCAP" hang --elf "brisc=$T/k.elf" "$T/pc.jsonl"
    out_has "function" "last seen at wait_for_tiles + 0x4"
    out_has "and line" "k.c:2"
    # Debug information that refers to another file, here a FIFO: the directory of the unit lies there.
    mkfifo "$T/fifo"
    (cd "$T" && riscv64-unknown-elf-gcc -g -O1 -march=rv32im -mabi=ilp32 -nostdlib -S k.c -o k.s)
    sed -i '/\.debug_abbrev,/,/\.section/ { /byte\t0x1b$/ { n; s/\.byte.*/.uleb128 0x1f21/ } }' "$T/k.s"
    check "a compiler whose text is known" grep -q 'uleb128 0x1f21' "$T/k.s"
    printf '\t.section .gnu_debugaltlink,"",@progbits\n\t.string "%s"\n\t.skip 20\n' "$T/fifo" >>"$T/k.s"
    riscv64-unknown-elf-gcc -march=rv32im -mabi=ilp32 -nostdlib -Ttext=0x6a00 "$T/k.s" -o "$T/k.elf"
    status 1 "an ELF file that names another" timeout 10 "$NOCAP" hang --elf "brisc=$T/k.elf" "$T/pc.jsonl"
    out_has "has its own lines" ":2"
else
    skip "the place in the source" "no compiler for RISC-V"
fi

# Those about the root are found wherever they stand: here 70 000 looks at another tile come after them.
"$NOCAP" capture --sim launch-host --tiles 2 --fault hang-sem -o "$T/near.nocap" 2>/dev/null
last_events() { "$NOCAP" hang "$@" | sed -n '/^last events/,$p'; }
{
    "$NOCAP" dump --format jsonl "$T/near.nocap"
    awk 'BEGIN { for (i = 0; i < 70000; i++)
        printf "{\"t\":%d,\"ev\":\"read\",\"by\":\"host\",\"x\":3,\"y\":3,\"addr\":\"0x%x\",\"size\":4,\"value\":\"0x0\"}\n",
            1037769 + i, 131072 + i % 1000 * 4 }'
} | "$NOCAP" import jsonl - -o "$T/far.nocap" 2>/dev/null
check "the last events about a root" test "$(last_events "$T/near.nocap" | wc -l)" -gt 5
check "far from the end too" test "$(last_events "$T/near.nocap")" = "$(last_events "$T/far.nocap")"
check "and where the trace is looked at as if it ended earlier" test \
    "$(last_events "$T/near.nocap")" = "$(last_events "$T/far.nocap" --at 1040000)"

# A completion of a queue that came late: the poll that finds it, and all after it.
"$NOCAP" capture --sim fast-dispatch -o "$T/queue.nocap" 2>/dev/null
"$NOCAP" dump --format jsonl "$T/queue.nocap" | awk '
    /"read","by":"host","space":"sysmem","addr":"0x80"/ { match($0, /"value":"[^"]*/)
        value = substr($0, RSTART, RLENGTH)
        late = value != old && waited && ++news == 5 ? 3000000 : late; waited = value == old; old = value }
    late && match($0, /"t":[0-9]*/) { t = substr($0, RSTART + 4, RLENGTH - 4)
        sub(/"t":[0-9]*/, sprintf("\"t\":%d", t + late)); sub(/,"t2":[0-9]*/, "") ; sub(/,"n":[0-9]*/, "") }
    { print }' >"$T/late.jsonl"
status 0 "a completion that came late" "$NOCAP" hang "$T/late.jsonl"
out_has "is no hang, and is told" "stalled and recovered: the host waited 300"
out_has "with its place" "for a change of its memory at 0x80"
status 0 "a queue whose completions come as ever" "$NOCAP" hang "$T/queue.nocap"
check "tells nothing of the kind" test "$(grep -c stalled "$T/out")" = 0

# A capture that does not say what it would hold: what it holds is taken as it is.
for trace in fault-hang-ncrisc queue-fault-prefetcher-dead; do
    "$NOCAP" dump --format jsonl "golden/$trace.nocap" | jq -c 'del(.observes)' >"$T/silent.jsonl"
    status 1 "$trace without observes" "$NOCAP" hang "$T/silent.jsonl"
    out_has "is hung" "HUNG: "
    out_has "and has a root" "root: $([[ $trace == queue* ]] && echo dispatch || echo ncrisc)"
done
finish
