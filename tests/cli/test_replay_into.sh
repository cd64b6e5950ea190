#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nocap replay --into: the host of a trace drives a simulator, which answers as recorded or not.
. tests/cli/lib.sh
sanitized && skip "replay into a simulator" "a sanitizer's run time must come before the shim that makes the trace" && finish
B=$(cd "$BUILD" && pwd)
fake=$B/tests/libfake-ttsim.so
has_json() { jq -e "$@" >/dev/null; }
into() { status "$1" "$2" "$NOCAP" replay "$T/run.nocap" --into "$fake" "${@:3}"; }

status 0 "a host of the fake simulator" "$NOCAP" capture -o "$T/run.nocap" -- "$B/tests/sim_client" "$fake" launch

# ---- the same simulator ----

into 0 "its trace is replayed" -o "$T/again.nocap"
out_has "and answered as recorded" "the simulator answers as recorded"
out_has "each access, each clock" "96 accesses in 5001 clocks: 25 stores, 21 reads compared, 50 polls before them"
status 0 "the replay's trace is the same" "$NOCAP" diff --time "$T/run.nocap" "$T/again.nocap"
status 0 "and replays itself" "$NOCAP" replay "$T/again.nocap" --into "$fake"
status 0 "by a simulator of this folder" env -C "${fake%/*}" "$NOCAP" replay "$T/run.nocap" --into "${fake##*/}"
into 0 "as JSON" --format json
check "with the same numbers" has_json '.outcome == "agrees" and .accesses == 96 and .compared == 21 and .clocks == 5001' "$T/out"

# ---- others ----

export FAKE_FAULT=result
into 1 "a wrong result"
out_has "is named by its event" "first difference at event #"
out_has "and place" "read of 4 bytes at 0x2004 of core 1,2"
out_has "what was recorded" "expected 0x00000015"
out_has "what was read" "found    0x00000016"
out_has "with the tile as the model has it" "core 1,2: "
index=$(sed -n 's/.*event #\([0-9]*\),.*/\1/p' "$T/out" | head -n 1)
"$NOCAP" dump "$T/run.nocap" --format jsonl | sed -n "$((index + 2))p" >"$T/line"
check "which is the event of the trace" grep -q '"ev":"read".*"addr":"0x2004".*"value":"0x15"' "$T/line"
into 1 "as JSON" --format json
check "it is the same" has_json --argjson i "$index" '.outcome == "differs" and .index == $i and .expected == "15000000" and .found == "16000000"' "$T/out"
export FAKE_FAULT=slow
into 0 "a slower device is waited for"
out_has "which is told" "; 10 answers came up to "
into 1 "not forever" --patience 3000
out_has "the poll is named" "read of 4 bytes at 0x370 of core 1,2"
export FAKE_FAULT=never
into 1 "a device that is never done"
out_has "is found after the patience" "accesses in 1000"
unset FAKE_FAULT

# ---- other times ----

into 0 "perturbed, a sound device answers as well" --perturb 5
cp "$T/out" "$T/first"
into 0 "and with the same seed" --perturb 5
check "the same way" cmp -s "$T/out" "$T/first"
into 0 "with another one" --perturb 6
check "another way" bash -c "! cmp -s '$T/out' '$T/first'"
export FAKE_FAULT=doze
into 0 "a device that misses late GO words is not found as recorded"
found=0 other=0
for seed in 1 2 3 4 5 6 7 8 9 10; do
    "$NOCAP" replay "$T/run.nocap" --into "$fake" --patience 20000 --perturb $seed >"$T/out" 2>&1
    case $? in 1) found=$seed ;; 0) other=$seed ;; esac
done
check "but by some seeds" test $found -ne 0
check "and not by others" test $other -ne 0
into 1 "which find it again" --patience 20000 --perturb $found
out_has "as a poll without an answer" "read of 4 bytes at 0x370"
unset FAKE_FAULT

# ---- a poll that was answered at once ----

header='{"nocap":1,"arch":"blackhole","observes":["host-mmio"],"complete":true}'
at() { # TIME EVENT TILE ADDRESS VALUE
    echo '{"t":'"$1"',"ev":"'"$2"'","by":"host","x":'"${3%,*}"',"y":'"${3#*,}"',"addr":"'"$4"'","size":4,"value":"'"$5"'"}'
}
{
    echo "$header"
    at 0 write 1,2 0x2000 0x7
    at 0 write 1,2 0x370 0x80000000
    at 200 read 1,2 0x2004 0x0
    at 600 read 1,2 0x2004 0x15
    at 600 write 3,4 0x2000 0x9
    at 600 write 3,4 0x370 0x80000000
    at 1000 write 3,4 0x100 0x1
    at 1000 read 3,4 0x2004 0x0
    at 2000 write 3,4 0x100 0x2
    at 2000 read 3,4 0x2004 0x1b
} >"$T/once.jsonl"
once() { status "$1" "$2" "$NOCAP" replay "$T/once.jsonl" --into "$fake" --patience 20000 "${@:3}"; }
once 0 "the host polls at one tile, and reads once at another"
passed=0
for seed in 1 2 3 4 5 6 7 8 9 10; do
    once 0 "which may be later, seed $seed" --perturb $seed
    grep -q "had moved on" "$T/out" && passed=1
done
check "and was, by some seed" test $passed = 1
FAKE_FAULT=never once 1 "what the host polls for has to come there as well" --perturb 1
sed -i '4d' "$T/once.jsonl" # no poll is left
differs=0
for seed in 1 2 3 4 5 6 7 8 9 10; do
    "$NOCAP" replay "$T/once.jsonl" --into "$fake" --patience 20000 --perturb $seed >"$T/out" 2>&1 || differs=1
done
check "what was polled nowhere must be as recorded" test $differs = 1

# ---- a simulator that ends ----

{
    echo "$header"
    echo '{"t":1,"ev":"write","by":"host","x":3,"y":4,"addr":"0x100","size":4,"value":"0x5"}'
    echo '{"t":9,"ev":"write","by":"host","x":3,"y":4,"addr":"0xf000","size":4,"value":"0x1"}'
} >"$T/fatal.jsonl"
status 1 "a simulator that ends the process" "$NOCAP" replay "$T/fatal.jsonl" --into "$fake" -o "$T/fatal.nocap"
out_has "is told, with the access" "the simulator ended with status 42 at event #1, t 9: write of 4 bytes at 0xf000 of core 3,4"
"$NOCAP" dump "$T/fatal.nocap" --format jsonl >"$T/out"
check "and the recording has it" test "$(grep -c '"ev":"write"' "$T/out")" = 2

# ---- what is in the trace by its hash ----

head -c 3000 /dev/urandom >"$T/image"
hash() { # FNV-1a of standard input
    python3 -c 'import sys
h = 0xcbf29ce484222325
for c in sys.stdin.buffer.read(): h = (h ^ c) * 0x100000001b3 & (1 << 64) - 1
print(f"fnv1a64:{h:016x}")'
}
{
    echo "$header"
    echo '{"t":1,"ev":"write","by":"host","x":1,"y":2,"x2":3,"y2":4,"addr":"0x1000","size":3000,"hash":"'"$(hash <"$T/image")"'"}'
    echo '{"t":1,"ev":"write","by":"host","x":3,"y":4,"addr":"0x1000","size":16,"hash":"'"$(head -c 16 /dev/zero | hash)"'"}'
    echo '{"t":2,"ev":"read","by":"host","x":2,"y":3,"addr":"0x1000","size":3000,"hash":"'"$(hash <"$T/image")"'"}'
    echo '{"t":2,"ev":"read","by":"host","x":3,"y":4,"addr":"0x1000","size":8,"value":"0x0"}'
} >"$T/hash.jsonl"
status 3 "bytes that the trace does not have" "$NOCAP" replay "$T/hash.jsonl" --into "$fake"
out_has "are asked for" "write of 3000 bytes at 0x1000 of cores 1,2 to 3,4; a file that has them: --payload FILE"
status 0 "are taken from a file" "$NOCAP" replay "$T/hash.jsonl" --into "$fake" --payload "$T/image" -o "$T/bytes.nocap"
sed 's/fnv1a64:/&0x/' "$T/hash.jsonl" >"$T/hash0x.jsonl"
status 0 "also where the hash has 0x" "$NOCAP" replay "$T/hash0x.jsonl" --into "$fake" --payload "$T/image"
status 0 "which a filter takes, too" "$NOCAP" dump "$T/hash.jsonl" -f "hash==$(hash <"$T/image" | sed 's/:/&0x/')"
check "for the same" test "$(wc -l <"$T/out")" = 2
status 0 "a hash is as good as the bytes that it stands for" "$NOCAP" diff "$T/hash0x.jsonl" "$T/bytes.nocap"
head -c 2999 "$T/image" >"$T/other" && printf x >>"$T/other"
{ sed -n 1,2p "$T/hash.jsonl" && sed -n 4p "$T/hash.jsonl" | sed "s/fnv1a64:[0-9a-f]*/$(hash <"$T/other")/"; } >"$T/bad.jsonl"
status 1 "an answer that has another hash" "$NOCAP" replay "$T/bad.jsonl" --into "$fake" --payload "$T/image" --patience 100
out_has "differs" "expected hash 0x"
sed "2s/fnv1a64:[0-9a-f]*/$(hash <"$T/other")/" "$T/hash.jsonl" >"$T/unlike.jsonl"
status 1 "which one of other bytes is not" "$NOCAP" diff "$T/unlike.jsonl" "$T/bytes.nocap"

# ---- what is not compared, what is put there ----

{
    echo "$header"
    echo '{"t":1,"ev":"read","by":"host","x":1,"y":2,"addr":"0xffb121f0","size":4,"value":"0x1234"}'
} >"$T/clock.jsonl"
status 0 "the wall clock may differ" "$NOCAP" replay "$T/clock.jsonl" --into "$fake" --patience 100
{
    echo '{"nocap":1,"arch":"blackhole","observes":["host-mmio"]}'
    echo '{"t":1,"ev":"mem","x":1,"y":2,"addr":"0x3000","data":"01020304"}'
    echo '{"t":1,"ev":"read","by":"host","x":1,"y":2,"addr":"0x3000","size":4,"value":"0x4030201"}'
} >"$T/mem.jsonl"
status 0 "memory of a trace that begins later is put there" "$NOCAP" replay "$T/mem.jsonl" --into "$fake" --patience 100

# ---- what cannot be ----

status 3 "no such library" "$NOCAP" replay "$T/run.nocap" --into "$T/none.so"
err_has "is told" "cannot read the simulator $T/none"
status 3 "a library that is no simulator" "$NOCAP" replay "$T/run.nocap" --into "$B/tests/libfake-disk.so"
err_has "is told" "is no simulator library"
FAKE_DEVICE_ID=401E status 3 "a simulator of another machine" "$NOCAP" replay "$T/run.nocap" --into "$fake"
err_has "is told" "simulates 'wormhole'"
status 3 "a payload that is not there" "$NOCAP" replay "$T/run.nocap" --into "$fake" --payload "$T/none"
status 2 "standard input" "$NOCAP" replay - --into "$fake"
status 2 "a trace to standard output" "$NOCAP" replay "$T/run.nocap" --into "$fake" -o -
status 2 "a moment" "$NOCAP" replay "$T/run.nocap" --into "$fake" --until 3
status 2 "a seed without a simulator" "$NOCAP" replay "$T/run.nocap" --perturb 3
{
    echo "$header"
    echo '{"t":1,"ev":"write","by":"host","chip":3,"x":1,"y":2,"addr":"0x10","size":4,"value":"0x5"}'
} >"$T/chip.jsonl"
status 3 "a chip that the simulator does not have" "$NOCAP" replay "$T/chip.jsonl" --into "$fake"
err_has "is told with the event" "event #0 is an access to chip 3, and the simulator has 1"
finish
