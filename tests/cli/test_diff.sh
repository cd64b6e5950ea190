#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nocap diff: statuses, forms, what is refused. What counts as a difference is the unit tests'
# matter.
. tests/cli/lib.sh
for seed in 1 2; do
    "$NOCAP" capture --sim launch-host --tiles 2 --launches 3 --seed $seed -o "$T/$seed.nocap" 2>/dev/null
done
"$NOCAP" capture --sim launch-host --tiles 2 --launches 3 --seed 2 --fault hang-trisc1 -o "$T/hang.nocap" 2>/dev/null

status 0 "two runs of one program" "$NOCAP" diff "$T/1.nocap" "$T/2.nocap"
out_has "do not differ" "no difference"
check "though they are not the same" bash -c "! cmp -s '$T/1.nocap' '$T/2.nocap'"
status 1 "unless times count" "$NOCAP" diff --time "$T/1.nocap" "$T/2.nocap"
status 0 "a trace and itself, with times" "$NOCAP" diff --time "$T/1.nocap" "$T/1.nocap"
status 1 "a fault" "$NOCAP" diff "$T/1.nocap" "$T/hang.nocap"
out_has "is shown by name" "missing in B"
check "no colours in a file" bash -c "! grep -q $'\033' '$T/out'"
status 1 "as JSON" "$NOCAP" diff --format json "$T/1.nocap" "$T/hang.nocap"
out_has "is a comparison" '"nocap_diff":1'
status 1 "only the first" "$NOCAP" diff -n 1 -U 0 "$T/1.nocap" "$T/hang.nocap"
check "is shown" test "$(grep -c '^[0-9]*\. ' "$T/out")" -eq 1
out_has "the others are counted" "more differences"
"$NOCAP" dump --format jsonl "$T/1.nocap" >"$T/1.jsonl"
status 0 "forms do not count" "$NOCAP" diff "$T/1.nocap" "$T/1.jsonl"
status 1 "to a file" "$NOCAP" diff -o "$T/o" "$T/1.nocap" "$T/hang.nocap"
check "is there" grep -q "missing in B" "$T/o"

# Parts of a trace: real firmware that boots two tiles alike, and launches the same kernel again.
grid=golden/firmware-boot-grid.nocap again=golden/firmware-dev-mode-x10.nocap
status 0 "two tiles that boot alike" "$NOCAP" diff "$grid" --a tile=1,2 --b tile=14,11
out_has "do not differ" "no difference"
out_has "and were compared" "481 compared"
status 1 "two launches whose messages differ" "$NOCAP" diff "$again" --a launch=4 --b launch=5
out_has "in that alone" "1 difference"
out_has "the message, in whichever slot" "launch[4]"
status 1 "a launch of a tile" "$NOCAP" diff "$again" --a tile=1,2 --a launch=4 --b tile=1,2 --b launch=5 --format json
check "the same" test "$(jq '.differences | length' "$T/out")" -eq 1
status 0 "a launch and itself" "$NOCAP" diff "$again" --a launch=4 --b launch=4
status 0 "of two traces" "$NOCAP" diff "$again" "$again" --a launch=4 --b launch=4 --time
"$NOCAP" capture --sim launch-host --tiles 2 --launches 4 --fault hang-trisc1 -o "$T/two.nocap" 2>/dev/null
status 1 "a tile that hangs and one that does not" "$NOCAP" diff "$T/two.nocap" --a tile=1,2 --b tile=1,3
out_has "its core" "core 1,2 trisc1"
status 2 "a tile with a launch" "$NOCAP" diff "$again" --a tile=1,2 --b launch=4
status 2 "a part of one side" "$NOCAP" diff "$again" "$again" --a tile=1,2
status 2 "no launch of that number" "$NOCAP" diff "$again" --a launch=4 --b launch=44
err_has "is said" "shows no launch 44"
status 2 "no part" "$NOCAP" diff "$again" --a kernel=4 --b kernel=5
status 2 "twice" "$NOCAP" diff "$again" --a launch=4 --a launch=5 --b launch=5
status 2 "one trace" "$NOCAP" diff "$T/1.nocap"
status 2 "three traces" "$NOCAP" diff "$T/1.nocap" "$T/1.nocap" "$T/1.nocap"
status 0 "standard input" bash -c "cat '$T/1.nocap' | '$NOCAP' diff - '$T/1.nocap'"
status 2 "too much context" "$NOCAP" diff -U 1000 "$T/1.nocap" "$T/1.nocap"
status 2 "no differences wanted" "$NOCAP" diff --max 0 "$T/1.nocap" "$T/1.nocap"
status 3 "no such trace" "$NOCAP" diff "$T/1.nocap" "$T/missing"
check "one line says why" test "$(wc -l <"$T/err")" -eq 1
head -n 1 checker/rules/examples/GO-004.fail.jsonl >"$T/empty.jsonl"
status 0 "two traces without events" "$NOCAP" diff "$T/empty.jsonl" "$T/empty.jsonl"
out_has "are not called equal without a word" "nothing was compared: neither side has an event that counts"
status 2 "a part of nothing" "$NOCAP" cut "$T/empty.jsonl" --from 1 -o "$T/part.nocap"
err_has "is told so" "empty.jsonl has no event"
size=$(stat -c %s "$T/1.nocap")
head -c $((size - 20)) "$T/1.nocap" >"$T/cut.nocap"
status 0 "a cut trace with all its events" "$NOCAP" diff "$T/1.nocap" "$T/cut.nocap"
out_has "is told" "B is damaged"
finish
