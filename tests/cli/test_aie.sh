#!/bin/bash
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
err_has "says that it is too large" "cannot read /dev/zero: File too large"
status 0 "disasm of standard input" "$NOCAP" aie disasm - -o "$T/s.asm" < <(cat "$T/a.elf")
check "gives the same text" cmp "$T/b.asm" "$T/s.asm"
status 0 "lint of standard input" "$NOCAP" aie lint - < <(cat "$T/a.elf")
status 0 "run of a file" "$NOCAP" aie run "$T/a.elf" -o "$T/f.nocap"
status 0 "run of standard input" "$NOCAP" aie run - -o "$T/s.nocap" < <(cat "$T/a.elf")
status 0 "its trace names no ELF file" "$NOCAP" diff "$T/f.nocap" "$T/s.nocap"
status 0 "lint" "$NOCAP" aie lint "$T/a.elf"
out_has "lint says so" "verdict: 0 errors, 0 warnings"

status 0 "run" "$NOCAP" aie run "$T/a.elf" -o "$T/run.nocap"
check "the array answered" grep -q "waits that the array ended.*: 1;" "$T/err"
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
out_has "where it stands" '"page":0,"off":32'
status 0 "no hang before" "$NOCAP" hang --at 12 "$T/d.nocap"

cat >"$T/e.asm" <<'END'
.attach_to_group 0
START_JOB 1
  REMOTE_BARRIER $rb0, 3
  REMOTE_BARRIER $rb1, 3
END_JOB
EOF
.attach_to_group 1
START_JOB 1
  REMOTE_BARRIER $rb1, 3
  REMOTE_BARRIER $rb0, 3
END_JOB
EOF
END
"$NOCAP" aie asm "$T/e.asm" -o "$T/e.elf"
status 1 "columns in opposite order" "$NOCAP" aie run "$T/e.elf" -o "$T/e.nocap"
status 1 "hang" "$NOCAP" hang "$T/e.nocap"
out_has "in a circle" "in a circle"
out_has "with who waits for whom" "uc0 job 1 waits for uc1 job 1"

status 1 "a hang without a trace" "$NOCAP" hang "$T/e.elf" --stuck 0:0:24 --stuck 1:0:0x18
out_has "has who waits for whom too" "uc0 job 1 waits for uc1 job 1"
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
out_has "and of counters" "uc0: 2 jobs are not over"
status 3 "a page that is not there" "$NOCAP" hang "$T/d.elf" --stuck 0:4:24
status 2 "no place" "$NOCAP" hang "$T/d.elf" --stuck 0:4
status 2 "no trace, so no time" "$NOCAP" hang "$T/d.elf" --stuck 0:0:24 --at 5
status 3 "no log of a uC" "$NOCAP" hang "$T/d.elf" --log "$T/a.asm"
status 3 "no log at all" "$NOCAP" hang "$T/d.elf" --log "$T/none"
sed -n "/^    cat >control.asm/,/^    END\$/{s/^    //;p}" README.md >"$T/readme"
check "the README has an example" test -s "$T/readme"
(cd "$T" && bash readme)
status 0 "which assembles" "$NOCAP" aie asm "$T/control.asm" -o "$T/control.elf"
status 0 "lints clean" "$NOCAP" aie lint --fail-on note "$T/control.elf"
status 0 "and runs" "$NOCAP" aie run "$T/control.elf" --seed 3 -o "$T/control.nocap"
status 0 "as it should" "$NOCAP" check --fail-on note "$T/control.nocap"

status 2 "no trace to record" "$NOCAP" aie run "$T/a.elf"
status 2 "no word" "$NOCAP" aie run "$T/a.elf" --set 5 -o "$T/x.nocap"
status 3 "no control code" "$NOCAP" aie run "$T/a.asm" -o "$T/x.nocap"
check "leaves no trace behind" test ! -e "$T/x.nocap"
finish
