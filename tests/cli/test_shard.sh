#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A check spread over shards, processes and runs: the merged report is the one of a single run, byte
# for byte, in every form.
. tests/cli/lib.sh
sim() { "$NOCAP" capture --sim "$@" 2>/dev/null; }
sim launch-host --tiles 2 --launches 40 -o "$T/good.nocap"
sim launch-host --tiles 2 --launches 4 --fault done-early -o "$T/early.nocap"
sim boot --tiles 1 --fault jal-wrong -o "$T/jal.nocap"
head -c 3000 "$T/good.nocap" >"$T/cut.nocap"
echo "nothing" >"$T/none.nocap"
part=12
sanitized && part=24
mapfile -t stored < <(share $part golden/*.nocap; share $((part / 6)) checker/rules/examples/CQ-0[1-3]*.jsonl)
traces=("$T/good.nocap" "$T/early.nocap" "$T/none.nocap" "$T/jal.nocap" "$T/missing.nocap"
    "$T/cut.nocap" "${stored[@]}")
printf '%s\n' 'GO-004 -- known' 'SYN-* trace:cut.nocap -- none there' 'RST-* -- used' \
    'GO-* -- old until 2020-01-01' >"$T/waivers"
forms="text json sarif junit github markdown"

whole() { "$NOCAP" check --format "$1" "${@:2}" --waivers "$T/waivers" "${traces[@]}" 2>"$T/err.one" >"$T/one.$1"; }
for form in $forms; do whole "$form"; done
whole text -v --all
cp "$T/one.text" "$T/one.verbose"
whole text

# ---- shards ----
for n in 3 24; do
    parts=()
    for ((i = 1; i <= n; i++)); do
        "$NOCAP" check --shard "$i/$n" --waivers "$T/waivers" --format json -o "$T/part.$i" "${traces[@]}" 2>/dev/null
        parts=("$T/part.$i" "${parts[@]}")
    done
    for form in $forms; do
        status 3 "$n shards, $form" "$NOCAP" merge --format $form "${parts[@]}"
        check "$n shards, $form: says the same" cmp "$T/out" "$T/one.$form"
        check "$n shards, $form: tells what cannot be read" cmp <(sed 's/merge/check/' "$T/err") "$T/err.one"
    done
done
status 3 "verbose" "$NOCAP" merge -v --all "${parts[@]}"
check "verbose: says the same" cmp "$T/out" "$T/one.verbose"
status 3 "a shard is missing" "$NOCAP" merge "${parts[@]:0:23}"
err_has "a shard is missing: it is said" "traces are missing: name the reports or journals of all shards"
"$NOCAP" check --format json "$T/good.nocap" >"$T/a.json"
"$NOCAP" check --format json "$T/early.nocap" "$T/jal.nocap" "$T/none.nocap" >"$T/b.json" 2>/dev/null
status 3 "reports of their own" "$NOCAP" merge --format json "$T/a.json" "$T/b.json"
check "reports of their own: in the order of the names" \
    test "$(jq -c '[.reports[].trace.path, .unreadable[].at] | map(tostring | split("/")[-1])' "$T/out")" = \
    '["good.nocap","early.nocap","jal.nocap","3"]'

for text in 0/3 4/3 1 a/b 1/ /2 1/2/3 -1/2 1/99999999; do
    status 2 "--shard $text" "$NOCAP" check --shard=$text "${traces[@]}"
    err_has "--shard $text: says what it takes" "--shard takes I/N"
done
status 2 "a shard of a pipe" "$NOCAP" check --shard 1/2 - "$T/good.nocap"
for text in '{}' '[' '{"nocap_report":1}' '{"nocap_reports":1,"reports":[{}]}' \
    '{"nocap_reports":1,"reports":[],"unreadable":[{"path":"x","message":"y"}]}' \
    '{"nocap_journal":1,"list":"x","traces":1}
{"at":1,"path":"p","bytes":1,"digest":"","unreadable":"y"}' \
    '{"nocap_journal":1,"list":"x","traces":1}
{"at":0,"path":"p","bytes":1,"digest":"","report":{"nocap_report":1}}'; do
    echo "$text" >"$T/bad.json"
    status 3 "not a report: ${text:0:40}" "$NOCAP" merge "$T/bad.json"
    err_has "not a report: its name" "$T/bad.json"
    check "not a report: one line" test "$(wc -l <"$T/err")" -eq 1
done
status 3 "lint's report is none of check" "$NOCAP" merge <(echo '{"nocap_lint":1,"nocap_report":1}')

# ---- a journal ----
kept() { "$NOCAP" check --journal "$T/journal" --waivers "$T/waivers" "$@" "${traces[@]}"; }
for form in $(share 3 $forms); do
    rm -f "$T/journal"
    status 3 "journal, $form" kept --format $form
    check "journal, $form: says the same" cmp "$T/out" "$T/one.$form"
    check "journal, $form: tells the same" cmp "$T/err" "$T/err.one"
done
"$NOCAP" check --format json -j 1 "$T/early.nocap" >"$T/alone.json"
status 1 "journal, one trace on two cores" "$NOCAP" check --journal "$T/two" --format json -j 2 "$T/early.nocap"
check "journal, one trace on two cores: says the same" cmp "$T/out" "$T/alone.json"
lines=$(wc -l <"$T/journal")
check "a line a trace" test "$lines" -eq $((${#traces[@]} + 1))
status 3 "again" kept
check "again: says the same" cmp "$T/out" "$T/one.text"
check "again: nothing was judged" test "$(wc -l <"$T/journal")" -eq "$lines"
status 3 "of a journal merge makes the report" "$NOCAP" merge "$T/journal"
check "of a journal: says the same" cmp "$T/out" "$T/one.text"
status 2 "other options" kept --rules GO
err_has "other options: what to do" "name another file, or remove it"
head -c -100 "$T/journal" >"$T/torn"
mv "$T/torn" "$T/journal"
status 3 "a line was cut off" kept
check "a line was cut off: that trace is judged again" test "$(wc -l <"$T/journal")" -eq "$lines"
check "a line was cut off: says the same" cmp "$T/out" "$T/one.text"
cp "$T/early.nocap" "$T/was" && cp "$T/good.nocap" "$T/early.nocap"
status 3 "a trace that has changed" kept
check "a trace that has changed: it is judged again" test "$(wc -l <"$T/journal")" -eq $((lines + 1))
status 3 "a trace that has changed: as one run says" "$NOCAP" check --waivers "$T/waivers" "${traces[@]}"
cp "$T/out" "$T/changed"
status 3 "merged" "$NOCAP" merge "$T/journal"
check "a trace that has changed: the last line counts" cmp "$T/out" "$T/changed"
cp "$T/was" "$T/early.nocap"

# Killed at any moment, with what it had begun: nothing is lost, nothing is told twice.
rm -f "$T/journal"
kills=4
! long || kills=10
for ((i = 1; i <= kills; i++)); do
    "$NOCAP" check --journal "$T/journal" --waivers "$T/waivers" -j 2 "${traces[@]}" >/dev/null 2>&1 &
    run=$!
    sleep "0.0$((RANDOM % 9))"
    kill -9 $run 2>/dev/null
    wait $run 2>/dev/null
done
status 3 "after $kills kills" kept
check "after $kills kills: says the same" cmp "$T/out" "$T/one.text"
exec 9>>"$T/journal"
flock 9
status 2 "two runs, one journal" kept
err_has "two runs, one journal: it is said" "another run is writing to it"
exec 9>&-
status 4 "a journal that cannot be made" "$NOCAP" check --journal /nowhere/x "$T/good.nocap"
err_has "is said to be one" "cannot open the journal /nowhere/x: No such file or directory"

# The second time that a trace is opened is the checker's: it dies there, of what no sanitizer
# catches.
crashing() {
    strace -f -o /dev/null -P "$T/early.nocap" -e trace=openat -e inject=openat:signal=KILL:when=2 \
        "$NOCAP" check --journal "$T/crashes" "$T/good.nocap" "$T/early.nocap" "$T/jal.nocap"
}
if strace -f -o /dev/null true 2>/dev/null; then
    status 3 "a trace that crashes the checker" crashing
    err_has "a trace that crashes the checker: it is said" "early.nocap: crashed the checker (Killed)"
    out_has "a trace that crashes the checker: the others are judged" "RST-002"
    status 3 "it is not tried again" "$NOCAP" check --journal "$T/crashes" "$T/good.nocap" "$T/early.nocap" "$T/jal.nocap"
    check "it is not tried again: four lines" test "$(wc -l <"$T/crashes")" -eq 4
else
    skip "a trace that crashes the checker" "install strace"
fi
status 4 "a journal that is no file" "$NOCAP" check --journal /dev/null "$T/good.nocap"
err_has "is told" "it must be a regular file"
finish
