#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nocap aie: assemble, disassemble, lint, run; the run is judged by check.
. tests/cli/lib.sh

cat >"$T/a.asm" <<'END'
START_JOB 1
  UC_DMA_WRITE_DES $r1, @c
  LOCAL_BARRIER $lb0, 2
  WAIT_UC_DMA $r1
  POLL_32 0x2000, 5
END_JOB
START_JOB 2
  WRITE_32 0x1000, 7
  LOCAL_BARRIER $lb0, 2
END_JOB
EOF
.align 16
c:
  UC_DMA_BD 0, 0x1A0000, @w, 2, 0, 0
.align 4
w:
  .long 1
  .long 2
END
status 0 "asm" "$NOCAP" aie asm "$T/a.asm" -o "$T/a.elf"
status 0 "disasm" "$NOCAP" aie disasm "$T/a.elf" -o "$T/b.asm"
status 0 "asm of disasm" "$NOCAP" aie asm "$T/b.asm" -o "$T/b.elf"
check "the same file" cmp "$T/a.elf" "$T/b.elf"
status 2 "an option of another action" "$NOCAP" aie lint "$T/a.elf" --seed 4
err_has "is refused" "--seed is not for lint"
status 2 "one in front" "$NOCAP" aie --seed 4 lint "$T/a.elf"
err_has "is refused too" "--seed is not for lint"
status 2 "something else" "$NOCAP" aie --chip aie4 judge "$T/a.elf"
err_has "is none of its parts" "'judge' is none of asm, disasm, lint, run"
status 2 "something else alone" "$NOCAP" aie judge
err_has "is none of its parts either" "'judge' is none of asm, disasm, lint, run"
status 0 "help of lint" "$NOCAP" aie lint --help
out_has "has its options" "options of lint:"
check "and those of no other" test -z "$(grep -e --seed "$T/out")"
status 0 "help of aie" "$NOCAP" aie --help
for part in asm disasm lint run; do out_has "has the options of $part" "options of $part:"; done
status 2 "rules that lint does not judge" "$NOCAP" aie lint "$T/a.elf" --rules CQ
err_has "are refused" "none of the rules 'CQ' can be judged without a run"
for align in 99999999999 0 12 x; do
    status 3 "an alignment of $align" "$NOCAP" aie asm - -o "$T/s.elf" < <(printf '.align %s\n' $align)
    err_has "is refused" "standard input:1:8: '$align' is no alignment; expected a power of two up to 8192"
done
status 0 "asm of standard input" "$NOCAP" aie asm - -o "$T/s.elf" < <(cat "$T/b.asm")
check "gives the same file" cmp "$T/b.elf" "$T/s.elf"
status 3 "asm that is wrong on standard input" "$NOCAP" aie asm - -o "$T/s.elf" < <(echo nonsense)
err_has "names it" "standard input:1:1: unknown instruction"
status 3 "asm of what does not end" "$NOCAP" aie asm /dev/zero -o "$T/s.elf"
err_has "says that it is too large" "/dev/zero: it holds more than 536870912 bytes"
status 0 "disasm of standard input" "$NOCAP" aie disasm - -o "$T/s.asm" < <(cat "$T/a.elf")
check "gives the same text" cmp "$T/b.asm" "$T/s.asm"
status 0 "lint of standard input" "$NOCAP" aie lint - < <(cat "$T/a.elf")
status 0 "run of a file" "$NOCAP" aie run "$T/a.elf" -o "$T/f.nocap"
status 0 "run of standard input" "$NOCAP" aie run - -o "$T/s.nocap" < <(cat "$T/a.elf")
status 0 "its trace names no ELF file" "$NOCAP" diff "$T/f.nocap" "$T/s.nocap"
status 0 "lint" "$NOCAP" aie lint "$T/a.elf"
out_has "lint says so" "verdict: clean"

status 0 "run" "$NOCAP" aie run "$T/a.elf" -o "$T/run.nocap"
check "the array answered" grep -q "waits that the array ended.*: 1;" "$T/err"
check "and at which wait" grep -q "uc0 page [0-9]* offset 0x[0-9a-f]*: POLL_32, 1 times" "$T/err"
status 0 "tokens alone may be silent" "$NOCAP" aie run "$T/a.elf" --silent-tokens -o "$T/tokens.nocap"
status 1 "and polls alone" "$NOCAP" aie run "$T/a.elf" --silent-polls -o "$T/polls.nocap"
status 0 "the run is accepted" "$NOCAP" check "$T/run.nocap"
out_has "with the file beside it" "verdict: clean"
status 0 "another order" "$NOCAP" aie run "$T/a.elf" --seed 9 --set 0x2000=5 -o "$T/nine.nocap"
status 0 "is accepted too" "$NOCAP" check "$T/nine.nocap"
check "and is another trace" test "$("$NOCAP" dump "$T/run.nocap" | cksum)" != \
    "$("$NOCAP" dump "$T/nine.nocap" | cksum)"
status 1 "a poll without an answer" "$NOCAP" aie run "$T/a.elf" --silent -o "$T/hang.nocap"
status 1 "is a hang" "$NOCAP" check "$T/hang.nocap"
out_has "which says for what" "0x2000 under mask 0xffffffff to become 0x5"

sed 's/WRITE_32 0x1000, 7/WRITE_32 0x1000, 8/' "$T/a.asm" >"$T/c.asm"
"$NOCAP" aie asm "$T/c.asm" -o "$T/c.elf"
status 1 "another file" "$NOCAP" check --elf "uc=$T/c.elf" "$T/run.nocap"
out_has "runs other bytes" "AIE-070"
status 0 "that of another column only" "$NOCAP" check --elf "uc1=$T/c.elf" "$T/run.nocap"
status 2 "no core" "$NOCAP" check --elf "dc=$T/c.elf" "$T/run.nocap"

sed 's/LOCAL_BARRIER $lb0, 2/LOCAL_BARRIER $lb0, 3/' "$T/a.asm" >"$T/d.asm"
"$NOCAP" aie asm "$T/d.asm" -o "$T/d.elf"
: >"$T/none.asm"
status 0 "a file without a job" "$NOCAP" aie asm "$T/none.asm" -o "$T/none.elf"
status 0 "is no clean one" "$NOCAP" aie lint "$T/none.elf"
out_has "since nothing was judged" "verdict: not judged: its code holds nothing"
status 1 "a participant too many" "$NOCAP" aie lint "$T/d.elf"
out_has "is found" "AIE-041"
echo "AIE-041 uc0 -- the third job comes later" >"$T/waivers"
status 0 "and can be waived" "$NOCAP" aie lint --waivers "$T/waivers" "$T/d.elf"
out_has "which is told" "1 waived"
status 1 "it hangs" "$NOCAP" aie run "$T/d.elf" -o "$T/d.nocap"
status 1 "and check says so" "$NOCAP" check "$T/d.nocap"
out_has "with the count" "2 of 3 jobs arrived"
status 1 "and hang" "$NOCAP" hang --format json "$T/d.nocap"
out_has "each job" '"uc":0,"job":1,"for":"local barrier 0: 2 of 3 jobs arrived"'
out_has "where it stands, and why" '"page":0,"off":32,"why":"local"'
status 1 "too early to tell a hang" "$NOCAP" hang --at 12 "$T/d.nocap"

"$NOCAP" aie asm tests/data/aie/opposite.asm -o "$T/e.elf"
status 1 "columns in opposite order" "$NOCAP" aie run "$T/e.elf" -o "$T/e.nocap"
status 1 "hang" "$NOCAP" hang "$T/e.nocap"
out_has "in a circle" "(part of a wait cycle)"
out_has "with who waits for whom" "uc0/job1 waits for uc1/job1"

cat >"$T/g.asm" <<'END'
START_JOB 1
  LOCAL_BARRIER $lb0, 2
  LOCAL_BARRIER $lb1, 3
END_JOB
START_JOB 2
  POLL_32 0x2000, 1
  LOCAL_BARRIER $lb0, 2
  LOCAL_BARRIER $lb1, 3
END_JOB
START_JOB 3
  LOCAL_BARRIER $lb1, 3
END_JOB
EOF
END
"$NOCAP" aie asm "$T/g.asm" -o "$T/g.elf"
"$NOCAP" aie run --silent "$T/g.elf" -o "$T/g.nocap" 2>/dev/null
status 1 "a poll that others wait for" "$NOCAP" hang "$T/g.nocap"
out_has "names who is missing at one barrier" "local barrier 0: 1 of 2 jobs arrived; missing job 2"
out_has "and at the other" "local barrier 1: 1 of 3 jobs arrived; missing job 1, 2"

cat >"$T/h.asm" <<'END'
START_JOB 1
  LOCAL_BARRIER $lb0, 2
END_JOB
START_JOB_DEFERRED 2
  LOCAL_BARRIER $lb0, 2
END_JOB
EOF
END
"$NOCAP" aie asm "$T/h.asm" -o "$T/h.elf"
status 1 "a job that nobody launches is an error where others wait for it" "$NOCAP" aie lint "$T/h.asm"
out_has "told once" "1 error, 0 warnings"
status 1 "and hangs" "$NOCAP" aie run "$T/h.elf" -o "$T/h.nocap"
status 1 "which hang tells" "$NOCAP" hang "$T/h.nocap"
out_has "with the reason" "root: uc0/job2, elsewhere: it is deferred, and no job launched it"

cat >"$T/i.asm" <<'END'
START_JOB 1
  UC_DMA_WRITE_DES $r1, @list
  WAIT_UC_DMA $r1
END_JOB
START_JOB 2
  UC_DMA_WRITE_DES_SYNC @list
END_JOB
EOF
.align 16
list:
  UC_DMA_BD 0, 0x1A0000, @words, 1, 0, 1
  UC_DMA_BD 0, 0x1A0020, @words, 0x7ffe, 0, 0
.align 4
words:
  .long 7
END
"$NOCAP" aie asm "$T/i.asm" -o "$T/i.elf"
for seed in 0 8 10; do
    "$NOCAP" aie run --seed $seed "$T/i.elf" -o "$T/i.nocap" 2>/dev/null
    status 0 "two transfers of one list that leaves its page, seed $seed" "$NOCAP" check "$T/i.nocap"
done

status 1 "a hang without a trace" "$NOCAP" hang "$T/e.elf" --stuck 0:0:24 --stuck 1:0:0x18
out_has "has who waits for whom too" "uc0/job1 waits for uc1/job1"
out_has "and the static finding" "AIE-046"
cat >"$T/uc_log" <<'END'
[12.000000500] [CERT] WARN: Deadlock might have happened!!
Last opcode PC: 0x20 page_idx: 0
[12.000000600] [CERT]   unfinished jobs:
[12.000000700] [CERT]     job: 1 state: 2 pc: 0x20
[12.000000800] [CERT]     job: 2 state: 2 pc: 0x48
c_job_launched:     2
c_job_finished:     0
END
status 1 "the log of a uC" "$NOCAP" hang "$T/d.elf" --log "$T/uc_log" --format json
out_has "tells of each job" '"uc":0,"job":2,"for":"local barrier 0: 2 of 3 jobs can have arrived'
out_has "and why" '"off":32,"why":"local"'
out_has "and of counters" "uc0: jobs not over: 2"
status 3 "a page that is not there" "$NOCAP" hang "$T/d.elf" --stuck 0:4:24
status 2 "no place" "$NOCAP" hang "$T/d.elf" --stuck 0:4
status 2 "an ELF file and no place" "$NOCAP" hang "$T/d.elf"
err_has "says what is missing" "with --log FILE or --stuck UC:PAGE:OFFSET"
status 2 "no trace, so no time" "$NOCAP" hang "$T/d.elf" --stuck 0:0:24 --at 5
status 3 "no log of a uC" "$NOCAP" hang "$T/d.elf" --log "$T/a.asm"
status 3 "no log at all" "$NOCAP" hang "$T/d.elf" --log "$T/none"
sed -n "/^    cat >control.asm/,/^    END\$/{s/^    //;p}" docs/aie.md >"$T/readme"
check "docs/aie.md has an example" test -s "$T/readme"
(cd "$T" && bash readme)
status 0 "which assembles" "$NOCAP" aie asm "$T/control.asm" -o "$T/control.elf"
status 0 "lints clean" "$NOCAP" aie lint --fail-on note "$T/control.elf"
status 0 "and runs" "$NOCAP" aie run "$T/control.elf" --seed 3 -o "$T/control.nocap"
status 0 "as it should" "$NOCAP" check --fail-on note "$T/control.nocap"

printf '%s\n' '.target aie2ps' 'START_JOB 1' '  UC_DMA_WRITE_DES_SYNC @list' '  WRITE_32 0x1A0634, 0x80000000' \
    '  WAIT_TCTS TILE_0_1, MEM_MM2S_0, 2' END_JOB EOF '.align 16' 'list:' '  UC_DMA_BD 0, 0x21A0000, @words, 2, 0, 0' \
    'words:' '  .long 1' '  .long 2' >"$T/notes.asm"
status 0 "a program with lines" "$NOCAP" aie asm --dialect n26 "$T/notes.asm" -o "$T/notes.elf"
status 0 "disasm" "$NOCAP" aie disasm "$T/notes.elf"
out_has "names places, channels and lines" "; 0x1c, TILE_0_1 + 0xa0634, default:4"
out_has "what a chain writes" "@data_0_0040  ; 0x18, 2 words to TILE_1_1 + 0xa0000, default:3"
out_has "and where" "; 0x40, 2 words to TILE_1_1 + 0xa0000"
cp "$T/out" "$T/notes2.asm"
status 0 "which assembles" "$NOCAP" aie asm "$T/notes2.asm" -o "$T/notes2.elf"
check "to the same file" cmp "$T/notes.elf" "$T/notes2.elf"
status 0 "disasm --plain" "$NOCAP" aie disasm --plain "$T/notes.elf"
check "has no comment" test "$(grep -c ';' "$T/out")" -eq "$(grep -c '^; page' "$T/out")"
status 0 "a debug map in another dialect" "$NOCAP" aie asm --dialect seed --map yes "$T/control.asm" -o "$T/map.elf"
status 0 "gives lines" "$NOCAP" aie disasm "$T/map.elf"
out_has "to instructions" ", default:2"
cp "$T/out" "$T/map2.asm"
status 0 "and is in the text" "$NOCAP" aie asm "$T/map2.asm" -o "$T/map2.elf"
check "byte for byte" cmp "$T/map.elf" "$T/map2.elf"
status 0 "no map" "$NOCAP" aie asm --dialect n26 --map no "$T/notes.asm" -o "$T/nomap.elf"
status 0 "as disasm shows" "$NOCAP" aie disasm "$T/nomap.elf"
check "has no lines" test "$(grep -c ', default:' "$T/out")" -eq 0
printf '%s\n' '.target aie2ps' 'START_JOB 1' '  WRITE_32 0x1A0068, 5' '  WRITE_32 0x31F030, 5' '  WRITE_32 0x338000, 1' \
    '  WRITE_32 0x9064, 1' '  WRITE_32 0x300000, 1' END_JOB EOF >"$T/registers.asm"
status 0 "registers" "$NOCAP" aie asm --dialect n26 "$T/registers.asm" -o "$T/registers.elf"
status 0 "have names" "$NOCAP" aie disasm --chip aie2ps "$T/registers.elf"
out_has "a descriptor's word" "TILE_0_1 descriptor 3 + 0x8"
out_has "a lock" "TILE_0_3 lock 3"
out_has "one of its kind" "TILE_0_3 core control,"
out_has "a descriptor of 48 bytes" "TILE_0_0 descriptor 2 + 0x4"
out_has "what has no name" "TILE_0_3 + 0x0,"
printf '%s\n' '.target aie4' 'START_JOB 1' '  WRITE_32 0x109838, 5' '  WRITE_32 0x149508, 5' '  MASK_POLL_32 0x149f08, 1, 0' \
    '  WRITE_32 0x180D0, 1' '  WRITE_32 0x7AC024, 1' '  WRITE_32 0x7ACE0C, 1' '  WRITE_32 0x200010, 1' END_JOB EOF >"$T/registers.asm"
status 0 "registers of aie4" "$NOCAP" aie asm --dialect n26 "$T/registers.asm" -o "$T/registers.elf"
status 0 "have names too" "$NOCAP" aie disasm --chip aie4 "$T/registers.elf"
out_has "a channel's descriptor" "TILE_0_1 MM2S_4 descriptor 1 + 0x8"
out_has "of the second half" "TILE_0_1 MM2S_8 descriptor 0 + 0x8"
out_has "whose channels are numbered on" "TILE_0_1 MM2S status 7"
out_has "of a shim tile" "TILE_0_0 descriptor 4 + 0x10"
out_has "of a core tile, whose row is not that of the address" "TILE_0_3 descriptor 1 + 0x4"
out_has "and its queue" "queue of TILE_0_3 TILE_S2MM_1"
out_has "and what has no name: memory after the first row" "TILE_0_1 + 0x100010"
printf '%s\n' '.target aie4' 'START_JOB 1' '  WRITE_32 0x109E64, 0x80000000' \
    '  WAIT_TCTS TILE_0_1, MEM_MM2S_0, 2' END_JOB EOF >"$T/chip.asm"
status 1 "lint of text knows its chip" "$NOCAP" aie lint "$T/chip.asm"
out_has "and its queues" "2 tokens, tasks for 1 written to 0x109e64"
status 0 "asm of a file that does not say its chip" "$NOCAP" aie asm "$T/chip.asm" -o "$T/chip.elf"
status 0 "lint of it" "$NOCAP" aie lint "$T/chip.elf"
out_has "says what is not judged" "NOTE: the file does not say its chip"
status 0 "as JSON" "$NOCAP" aie lint --format json "$T/chip.elf"
out_has "too" '"id":"AIE-038","verdict":"not-observable","exercised":0,"violations":0,"obstacle":"no-chip"'
status 1 "with --chip" "$NOCAP" aie lint --chip aie4 "$T/chip.elf"
out_has "it is" "2 tokens, tasks for 1 written to 0x109e64"
status 2 "--plain is for disasm" "$NOCAP" aie lint --plain "$T/notes.elf"
status 1 "lint of the text" "$NOCAP" aie lint "$T/notes.asm"
out_has "tells its lines" "($T/notes.asm:5); expected no more tokens than the tasks"
sed 1d "$T/notes.asm" >"$T/inner.asm"
echo '.include inner.asm' >"$T/outer.asm"
status 1 "lint of text that includes" "$NOCAP" aie lint -L "$T" "$T/outer.asm"
out_has "tells those of the file" "inner.asm:4)"
echo 'START_JOB' >"$T/no.asm"
status 3 "lint of what does not assemble" "$NOCAP" aie lint "$T/no.asm"
err_has "says where" "no.asm:1:"

custom() {
    printf '{"xrt-kernels": [{"name": "K", "instance": [{"id": "a", "ctrl_code_file": "chip.asm"}]}], "custom_section": [%s]}' "$1" >"$T/c.json"
    status "$2" "a custom section, $3" "$NOCAP" aie asm "$T/c.json" -o "$T/c.elf"
}
custom '{"section_name": "A", "path": "chip.asm"}' 0 "as the assembler has it"
custom '{"section_name": "A"}' 3 "of no file"
err_has "is refused" 'expected "path", a text, of each kernel, instance and custom section'
custom '{"section_name": "A", "path": "no"}' 3 "of a file that is not there"
err_has "is refused" "no: No such file"
custom '{"section_name": "A", "path": "chip.asm"}, {"section_name": "A", "path": "chip.asm"}' 3 "twice"
err_has "is refused" "two custom sections 'A'"
custom '{"section_name": "", "path": "chip.asm"}' 3 "without a name"
err_has "is refused" "'' is no name of a section"

cat >"$T/k.asm" <<'END'
.kernel _Z3DPUPcPc, first
.setpad p, 4
.bytes 13, 0102
START_JOB 1
  LOCAL_BARRIER $lb0, 1
END_JOB
EOF
.kernel _Z3DPUPcPc, second
START_JOB 1
  LOCAL_BARRIER $lb0, 2
END_JOB
EOF
.kernel _Z4GEMMv, only
START_JOB 1
  POLL_32 0x1000, 7
END_JOB
EOF
END
for layout in pages merged; do
    sed "1i .layout $layout" "$T/k.asm" >"$T/kl.asm"
    status 0 "several kernels, $layout" "$NOCAP" aie asm "$T/kl.asm" -o "$T/k.elf"
    status 0 "disasm has all of them" "$NOCAP" aie disasm "$T/k.elf" -o "$T/k2.asm"
    status 0 "which assemble" "$NOCAP" aie asm "$T/k2.asm" -o "$T/k2.elf"
    check "to the same file" cmp "$T/k.elf" "$T/k2.elf"
    status 1 "lint judges all" "$NOCAP" aie lint "$T/k.elf"
    out_has "and says of which a finding is" "at DPU:second, uc 0, page 0, offset 24"
    status 1 "also as JSON" "$NOCAP" aie lint --format json "$T/k.elf"
    out_has "with a member of its own" '"kernel":"DPU:second","uc":0'
    status 0 "one of them holds" "$NOCAP" aie lint --kernel GEMM "$T/k.elf"
    status 3 "run needs one" "$NOCAP" aie run "$T/k.elf" -o "$T/k.nocap"
    err_has "and lists them" "holds 3 kernels: DPU:first, DPU:second, GEMM:only; say which one"
    status 3 "an instance has to be named" "$NOCAP" aie run --kernel DPU "$T/k.elf" -o "$T/k.nocap"
    err_has "if there are several" "has no kernel 'DPU', or several instances of it"
    status 1 "the one that hangs" "$NOCAP" aie run --kernel DPU:second "$T/k.elf" -o "$T/k.nocap"
    status 1 "is found by its trace" "$NOCAP" check "$T/k.nocap"
    out_has "with its ELF file" "1 of 2 jobs arrived"
    status 0 "the one that runs" "$NOCAP" aie run "$T/k.elf:DPU:first" -o "$T/k.nocap"
    status 0 "is accepted" "$NOCAP" check "$T/k.nocap"
    status 1 "another kernel has other bytes" "$NOCAP" check --elf "uc=$T/k.elf:GEMM" "$T/k.nocap"
    out_has "as the file says" "AIE-070"
    status 3 "no kernel is named" "$NOCAP" check --elf "uc=$T/k.elf" "$T/k.nocap"
    err_has "which is said" "holds 3 kernels"
    status 3 "nor here" "$NOCAP" hang "$T/k.elf" --stuck 0:0:24
    err_has "which is said too" "holds 3 kernels"
    status 1 "a hang of one kernel" "$NOCAP" hang "$T/k.elf" --kernel DPU:second --stuck 0:0:24
    out_has "is that of its code" "local barrier 0: 1 of 2 jobs"
done
status 3 "a kernel of a file without" "$NOCAP" aie lint --kernel DPU "$T/a.elf"
err_has "is refused" "names no kernels"
status 2 "asm makes all kernels" "$NOCAP" aie asm --kernel DPU "$T/k.asm" -o "$T/k.elf"
status 0 "disasm of one kernel" "$NOCAP" aie disasm --kernel DPU:first --format json "$T/k2.elf"
out_has "names it" '"kernel":"DPU:first","uc":0,"page":0,"off":16'

printf '\0\1\2\3\4' >"$T/blob"
printf '.setpad b, blob\nSTART_JOB 1\n MOV $r0, @w\nEND_JOB\nEOF\nw: .long 9\n' >"$T/p.asm"
for layout in pages merged; do
    sed "1i .layout $layout" "$T/p.asm" >"$T/pl.asm"
    status 0 "a filled buffer" "$NOCAP" aie asm "$T/pl.asm" -o "$T/p.elf"
    status 0 "has its bytes in the text" "$NOCAP" aie disasm "$T/p.elf" -o "$T/p2.asm"
    check "as they are" grep -q "^.bytes 0x0000, 0001020304" "$T/p2.asm"
    status 0 "which needs no file" "$NOCAP" aie asm - -o "$T/p2.elf" <"$T/p2.asm"
    check "for the same bytes" cmp "$T/p.elf" "$T/p2.elf"
done
printf '.layout image\nSTART_JOB 1\n NOP\nEND_JOB\nEOF\n' >"$T/i.asm"
status 0 "a bare image" "$NOCAP" aie asm "$T/i.asm" -o "$T/i.bin"
check "is pages and nothing else" test "$(stat -c %s "$T/i.bin")" = 8192
status 0 "is read" "$NOCAP" aie disasm "$T/i.bin" -o "$T/i2.asm"
status 0 "and made again" "$NOCAP" aie asm "$T/i2.asm" -o "$T/i2.bin"
check "the same" cmp "$T/i.bin" "$T/i2.bin"
for bad in '.bytes 0, 00' '.setpad b, 1\n.bytes 0, 0' '.page 8' '.page 100\n.bytes 8190, 001122' \
    '.page 100\n.reloc 16, 2, 0, a+b' '.layout heap' '.kernel a, b' '.kernel _Z9DPU, b' '.kernel _Z3DPUPc, b+c' 'START_JOB 1\n.page 100'; do
    status 3 "asm of $bad" "$NOCAP" aie asm - -o "$T/s.elf" < <(printf "$bad\n")
    check "is refused with its place" grep -q "standard input:[12]:[0-9]*: .*expected" "$T/err"
done

# What is left of a trace is judged with the firmware that lies beside the trace: an instruction that
# begins twice, and one that is not the ELF file's.
mkdir "$T/m"
cp tests/data/aie/dma.elf "$T/m"
(cd "$T/m" && "$NOCAP" aie run dma.elf -o m.nocap 2>/dev/null && "$NOCAP" dump --format jsonl m.nocap >m.jsonl)
sed '/"op":"start","uc":0,"page":0,"off":56/p' "$T/m/m.jsonl" >"$T/m/AIE-068.jsonl"
sed '/"op":"start","uc":0,"page":0,"off":52/s/"insn":"0200/"insn":"0201/' "$T/m/m.jsonl" >"$T/m/AIE-070.jsonl"
for rule in AIE-068 AIE-070; do
    trace=$T/m/$rule.jsonl
    for where in "$T/m" /; do
        status 0 "minimise for $rule, called in $where" \
            bash -c "cd '$where' && '$NOCAP' minimise '$trace' --rule $rule -o '$T/m/small.nocap'"
        status 1 "has the finding" "$NOCAP" check "$T/m/small.nocap"
        out_has "of the rule" "error $rule"
        check "and less besides" test "$("$NOCAP" dump "$T/m/small.nocap" | wc -l)" -lt "$(wc -l <"$trace")"
    done
    status 0 "cut to another folder loses no finding" "$NOCAP" cut "$trace" --index 0..25 -o "$T/part.nocap"
    mv "$T/m/dma.elf" "$T/moved.elf"
    for words in "minimise $trace --rule $rule" "cut $trace --index 0..25"; do
        # shellcheck disable=SC2086 # the words of a command
        status 0 "${words%% *} with --elf" "$NOCAP" $words --elf "uc=$T/moved.elf" -o "$T/part.nocap"
        status 1 "has the finding" "$NOCAP" check --elf "uc=$T/moved.elf" "$T/part.nocap"
        out_has "of the rule" "error $rule"
    done
    mv "$T/moved.elf" "$T/m/dma.elf"
done

status 2 "no trace to record" "$NOCAP" aie run "$T/a.elf"
status 2 "no word" "$NOCAP" aie run "$T/a.elf" --set 5 -o "$T/x.nocap"
status 3 "no control code" "$NOCAP" aie run "$T/a.asm" -o "$T/x.nocap"
check "leaves no trace behind" test ! -e "$T/x.nocap"
finish
