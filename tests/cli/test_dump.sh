#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nocap dump: forms, selections, inputs, outputs, and what goes wrong.
. tests/cli/lib.sh
make_trace "$T/a.jsonl"
"$NOCAP" import jsonl "$T/a.jsonl" -o "$T/a.nocap" 2>/dev/null

status 0 "text" "$NOCAP" dump "$T/a.nocap"
check "text has a line an event" test "$(wc -l <"$T/out")" -eq 9
out_has "a field of the launch message has its name" "launch[0].enables 0xbc:4 = 0x1f"
out_has "a go word is decoded" "go_messages[0] 0x370:4 = 0x80000000 GO"
out_has "the signal byte is decoded" "go_messages[0].signal 0x373:1 = 0x0 DONE"
out_has "a sync byte is decoded" "0x68:1 = 0x1 LOAD"
out_has "a coprocessor word is named" "SEMPOST MATH_PACK 0xa4000008"
check "no colours in a file" bash -c "! grep -q $'\033' '$T/out'"
status 0 "colours on demand" "$NOCAP" dump --color always "$T/a.nocap"
check "there are colours" grep -q $'\033' "$T/out"

status 0 "jsonl" "$NOCAP" dump --format jsonl "$T/a.nocap"
cp "$T/out" "$T/b.jsonl"
check "jsonl has header and events" test "$(wc -l <"$T/b.jsonl")" -eq 10
status 0 "jsonl is read back" "$NOCAP" dump --format jsonl "$T/b.jsonl"
check "jsonl is a fixed point" cmp "$T/out" "$T/b.jsonl"
status 0 "csv" "$NOCAP" dump --format csv "$T/a.nocap"
check "csv has a line of names" test "$(head -c 24 "$T/out")" = "index,t,src,chip,ev,op,b"
check "every csv line has as many cells" awk -F, 'NR == 1 { n = NF } $5 != "note" && NF != n { exit 1 }' "$T/out"
out_has "csv quotes" '"a ""quoted"" note, with a comma"'

status 0 "filter" "$NOCAP" dump --format csv -f 'by==brisc && addr in 0x68..0x6b' "$T/a.nocap"
check "filter leaves one event" test "$(sed 1d "$T/out" | cut -d, -f1)" = 3
status 0 "index" "$NOCAP" dump --format csv --index 2..3 "$T/a.nocap"
check "index leaves two events" test "$(sed 1d "$T/out" | cut -d, -f1 | xargs)" = "2 3"
status 0 "from and to" "$NOCAP" dump --format csv --from 110 --to 130 "$T/a.nocap"
check "times leave three events" test "$(sed 1d "$T/out" | cut -d, -f2 | xargs)" = "110 120 130"
status 0 "limit counts what matches" "$NOCAP" dump --format csv -n 2 -f 'ev==write' "$T/a.nocap"
check "limit leaves two events" test "$(sed 1d "$T/out" | cut -d, -f1 | xargs)" = "1 2"
status 0 "index past the end" "$NOCAP" dump --index 100 "$T/a.nocap"
check "nothing is there" test ! -s "$T/out"

if command -v riscv64-unknown-elf-gcc >/dev/null; then
    echo 'void main_loop(void) { for (;;) { } } void _start(void) { main_loop(); }' >"$T/fw.c"
    riscv64-unknown-elf-gcc -march=rv32im -mabi=ilp32 -nostdlib -ffreestanding -fno-inline -O1 \
        -Wl,-Ttext=0x3800,--build-id=none -o "$T/fw.elf" "$T/fw.c"
    pc=$(riscv64-unknown-elf-nm "$T/fw.elf" | sed -n 's/ T main_loop//p')
    printf '%s\n%s\n' '{"nocap":1,"arch":"blackhole"}' \
        '{"t":1,"ev":"read","by":"brisc","x":1,"y":2,"addr":"0x373","size":1,"value":"0x0","pc":"0x'"$pc"'"}' >"$T/pc.jsonl"
    status 0 "an ELF file" "$NOCAP" dump --elf brisc="$T/fw.elf" "$T/pc.jsonl"
    out_has "a pc has its function" "<main_loop+0x0>"
    status 0 "the ELF file of another core" "$NOCAP" dump --elf ncrisc="$T/fw.elf" "$T/pc.jsonl"
    check "it names nothing" bash -c "! grep -q main_loop '$T/out'"
else
    skip "names of pcs" "riscv64-unknown-elf-gcc is not installed"
fi
status 2 "an ELF argument without =" "$NOCAP" dump --elf brisc "$T/a.nocap"
status 3 "an ELF file that is not there" "$NOCAP" dump --elf brisc=nowhere.elf "$T/a.nocap"

status 2 "a bad filter is a usage error" "$NOCAP" dump --filter 'by==brisc &&' "$T/a.nocap"
err_has "the column is named" "column 13"
err_has "the place is marked" "^"
status 2 "a bad range is a usage error" "$NOCAP" dump --index 5..2 "$T/a.nocap"
status 2 "a bad format is a usage error" "$NOCAP" dump --format xml "$T/a.nocap"
err_has "the formats are named" "text, jsonl or csv"

"$NOCAP" dump "$T/a.nocap" >"$T/text"
for form in "$T/a.jsonl" "$T/a.jsonl.zst"; do
    [ -e "$form" ] || zstd -q "$T/a.jsonl" -o "$form"
    status 0 "reads $(basename "$form")" "$NOCAP" dump "$form"
    check "as the .nocap file" cmp "$T/out" "$T/text"
    "$NOCAP" dump - <"$form" >"$T/out"
    check "from standard input" cmp "$T/out" "$T/text"
    cat "$form" | "$NOCAP" dump - >"$T/out"
    check "from a pipe" cmp "$T/out" "$T/text"
done
"$NOCAP" dump - <"$T/a.nocap" >"$T/out"
check "a .nocap file from standard input" cmp "$T/out" "$T/text"
cat "$T/a.nocap" | "$NOCAP" dump - >"$T/out"
check "a .nocap file from a pipe" cmp "$T/out" "$T/text"
{ cat "$T/a.jsonl"; sleep 0.1; } | "$NOCAP" dump <(cat "$T/a.nocap") >"$T/out"
check "a .nocap file from a named pipe" cmp "$T/out" "$T/text"

for what in empty text directory missing; do
    case $what in
    empty) : >"$T/bad" ;;
    text) echo hello >"$T/bad" ;;
    directory) rm "$T/bad" && mkdir "$T/bad" ;;
    missing) rmdir "$T/bad" ;;
    esac
    status 3 "$what: cannot be read" "$NOCAP" dump "$T/bad"
    check "$what: one line says why" test "$(wc -l <"$T/err")" -eq 1
done
echo '{"nocap":2,"arch":"blackhole"}' | "$NOCAP" dump - >"$T/out" 2>"$T/err"
verdict "another version cannot be read" $(($? != 3))
err_has "the version is named" "version"

size=$(stat -c %s "$T/a.nocap")
head -c $((size - 20)) "$T/a.nocap" >"$T/cut.nocap"
status 1 "a cut trace is printed and told" "$NOCAP" dump "$T/cut.nocap"
check "all that is there" cmp "$T/out" "$T/text"
err_has "the damage is told" "damaged"

status 0 "output to a file" "$NOCAP" dump "$T/a.nocap" -o "$T/o"
check "the file has it" cmp "$T/o" "$T/text"
status 3 "an output that cannot be filled" "$NOCAP" dump "$T/missing" -o "$T/o"
check "leaves the old file" cmp "$T/o" "$T/text"
status 4 "an output that cannot be made" "$NOCAP" dump "$T/a.nocap" -o "$T/no/such/dir"
status 4 "a full disk" bash -c "'$NOCAP' dump '$T/a.nocap' >/dev/full"
err_has "is told" "No space left"
status 4 "a full disk, named" "$NOCAP" dump "$T/a.nocap" -o /dev/full
status 0 "a device as output" "$NOCAP" dump "$T/a.nocap" -o /dev/null
check "nothing else stays behind" test -z "$(find "$T" -name '.*' -type f)"

events=$(tail -n +2 "$T/a.jsonl")
{
    head -n 1 "$T/a.jsonl"
    for _ in {1..3000}; do echo "$events"; done
} >"$T/big.jsonl"
"$NOCAP" import jsonl "$T/big.jsonl" -o "$T/big.nocap" 2>/dev/null
for format in text jsonl csv; do
    "$NOCAP" dump --format "$format" "$T/big.nocap" 2>"$T/err" | head -n 1 >"$T/out"
    verdict "$format into head ends quietly" "${PIPESTATUS[0]}"
    check "without a word" test ! -s "$T/err"
done

# ---- the command queue in raw accesses ----

"$NOCAP" capture --sim fast-dispatch --seed 1 -o "$T/raw.nocap" 2>/dev/null
"$NOCAP" capture --sim fast-dispatch --seed 1 --view cq -o "$T/cq.nocap" 2>/dev/null
commands() { sed -n 's/.*\(RELAY_INLINE\[[^]]*\]\).*/\1/p' "$1"; }
status 0 "the queue as records" "$NOCAP" dump "$T/cq.nocap" --filter 'op==record'
commands "$T/out" >"$T/records"
status 0 "its slots in raw accesses" \
    "$NOCAP" dump "$T/raw.nocap" --filter 'ev==write && by==host && size==2'
check "each says the record that it makes visible" \
    test -s "$T/records" -a "$(commands "$T/out" | cksum)" = "$(cksum <"$T/records")"
out_has "by number" " prefetch_q[3] 0x19846:2 = 0x"
status 0 "records as the host stores them" \
    "$NOCAP" dump "$T/raw.nocap" --filter 'ev==write && by==host && space==sysmem && addr > 0x80'
check "the same" test "$(commands "$T/out" | cksum)" = "$(cksum <"$T/records")"
status 0 "what is relayed, and credits" \
    "$NOCAP" dump "$T/raw.nocap" --filter 'ev==noc && x==14 && y==2 && !phase'
out_has "the command in the dispatch buffer" " -> WAIT "
out_has "the semaphore of pages" "noc atomic     to 14,3 sem[0] 0x86c0:4 = 0x"
"$NOCAP" dump "$T/raw.nocap" --format jsonl >"$T/raw.jsonl"
{ sed 's/"observes":\[[^]]*\]/"observes":["host-mmio"]/; s/,"cq":{[^}]*}//; q' "$T/raw.jsonl"
  grep '"by":"host"' "$T/raw.jsonl" | grep -v sysmem; } >"$T/other.jsonl"
status 0 "a trace about no queue" "$NOCAP" dump "$T/other.jsonl"
check "has no such names" test "$(grep -cE 'prefetch_q|issue_q|RELAY' "$T/out")" -eq 0
# A slot whose record was not seen says nothing.
first=$("$NOCAP" dump "$T/raw.nocap" --filter 'ev==write && by==host && size==2' --limit 1 | awk '{print $1}')
status 0 "from a slot on" "$NOCAP" dump "$T/raw.nocap" --index "$first..$first"
out_has "its value" "prefetch_q[0]"
check "and no record that nobody saw" test "$(grep -c RELAY "$T/out")" -eq 0

# Beyond the end of a trace.
make_trace "$T/end.jsonl"
status 0 "an index beyond the end" "$NOCAP" dump "$T/end.jsonl" --index 9..20
err_has "is told" "there is no event 9: the trace has 9"
status 0 "the last one" "$NOCAP" dump "$T/end.jsonl" --index 8..20
check "is no news" test ! -s "$T/err" -a "$(wc -l <"$T/out")" -eq 1
status 0 "a time beyond the end" "$NOCAP" dump "$T/end.jsonl" --from 171
err_has "is told" "there is no event at or after time 171: the last is at 170"
finish
