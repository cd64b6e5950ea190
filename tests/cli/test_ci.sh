#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What CI uses: forms of one report over many traces, baselines, coverage, parts of traces, and the
# example repository.
. tests/cli/lib.sh
sim() { "$NOCAP" capture --sim "$@" 2>/dev/null; }
sim launch-host --tiles 2 --launches 4 -o "$T/good.nocap"
sim launch-host --tiles 2 --launches 4 --fault done-early -o "$T/bad.nocap"
sim boot --tiles 1 --fault jal-wrong -o "$T/jal.nocap"
traces=("$T/good.nocap" "$T/bad.nocap" "$T/jal.nocap")

for format in text json sarif junit github markdown; do
    status 1 "$format" "$NOCAP" check --format $format "${traces[@]}"
    cp "$T/out" "$T/one"
    status 1 "$format, four at a time" "$NOCAP" check -j 4 --format $format "${traces[@]}"
    check "$format: says the same" cmp "$T/one" "$T/out"
    out_has "$format: has the finding" GO-004
    status 3 "$format: and a trace that is missing" "$NOCAP" check --format $format "${traces[@]}" "$T/none"
    check "$format: is told once" test "$(wc -l <"$T/err")" -eq 1
done
check "one document for all" test "$("$NOCAP" check --format json "${traces[@]}" | wc -l)" -eq 1
"$NOCAP" check --format sarif "${traces[@]}" "$T/none" >"$T/sarif" 2>/dev/null
# fits FILE SCHEMA: SARIF_SCHEMA may name the whole of the standard's schema, to try that too.
fits() {
    python3 -c 'import json, sys, jsonschema
jsonschema.validate(*[json.load(open(f)) for f in sys.argv[1:]])' "$1" "$2"
}
if python3 -c 'import jsonschema' 2>/dev/null; then
    "$NOCAP" check --format json -o "$T/base.json" "${traces[@]}"
    "$NOCAP" check --format sarif --baseline "$T/base.json" "${traces[@]}" >"$T/known.sarif"
    for schema in tests/data/sarif.schema.json ${SARIF_SCHEMA-}; do
        check "SARIF fits ${schema##*/}" fits "$T/sarif" "$schema"
        check "with what is known" fits "$T/known.sarif" "$schema"
        sed 's/"level": *"error"/"level":"fatal"/' "$T/sarif" >"$T/wrong.sarif"
        fits "$T/wrong.sarif" "$schema" 2>/dev/null
        verdict "another level does not" $(($? == 0))
    done
else
    skip "SARIF fits its schema" "install python3-jsonschema"
fi

"$NOCAP" check --format json -o "$T/base.json" "${traces[@]}"
status 0 "what is in the baseline does not fail" "$NOCAP" check --baseline "$T/base.json" "${traces[@]}"
out_has "it is known" "known GO-004"
"$NOCAP" check --format json -o "$T/good.json" "$T/good.nocap"
status 1 "what is not does" "$NOCAP" check --baseline "$T/good.json" "${traces[@]}"
status 0 "a baseline that can be read only once, several traces" bash -c \
    "'$NOCAP' check -j 2 --baseline <(cat '$T/base.json') $(printf "'%s' " "${traces[@]}")"
for name in base bad; do
    named=("${traces[@]}")
    [ $name = base ] || named=("$T/bad.nocap")
    status 1 "a short baseline: $name" "$NOCAP" check --format baseline -o "$T/$name.short.json" "${named[@]}"
    status 0 "it is enough: $name" "$NOCAP" check --baseline "$T/$name.short.json" "${named[@]}"
    out_has "it is known" "known GO-004"
done
check "one finding takes less than 2 kB" test "$(wc -c <"$T/bad.short.json")" -lt 2000
{
    sed '$s/}$//' "$T/base.json"
    head -c 80000000 /dev/zero | tr '\0' ' '
    echo '}'
} >"$T/large.json"
memory=150000 # KiB of addresses: an arena a thread takes 128 MB, sanitizers take terabytes
case ${BUILD:-build} in *asan* | *tsan*) memory=unlimited ;; esac
status 0 "a baseline of 80 MB, in little memory" bash -c "ulimit -v $memory
    MALLOC_ARENA_MAX=1 '$NOCAP' check -j 1 --baseline '$T/large.json' $(printf "'%s' " "${traces[@]}")"
rm "$T/large.json"
echo nonsense >"$T/nonsense"
status 3 "no baseline" "$NOCAP" check --baseline "$T/nonsense" "${traces[@]}"
err_has "is said" "$T/nonsense"
status 3 "a directory as baseline" "$NOCAP" check --baseline "$T" "${traces[@]}"
err_has "says why" "Is a directory"
check "is told once" test "$(wc -l <"$T/err")" -eq 1

status 0 "coverage" "$NOCAP" coverage -j 2 "${traces[@]}"
out_has "of traces" "3 traces"
status 0 "coverage as JSON" "$NOCAP" coverage --format json "${traces[@]}"
out_has "says so" '"nocap_coverage":1'
status 3 "coverage of nothing" "$NOCAP" coverage "$T/none"
check "only rules that can apply" test "$(grep -c AIE "$T/out")" -eq 0
status 0 "what is required is exercised" "$NOCAP" coverage --require GO-003,go-004 --fail-under 20 "${traces[@]}"
status 1 "a rule that is required is not" "$NOCAP" coverage --require GO-003,CQ-001,CQ-003 "${traces[@]}"
err_has "it is named" "2 rules of --require are not exercised: CQ-001 and CQ-003"
out_has "the table is there" "never exercised"
status 1 "too few rules" "$NOCAP" coverage --fail-under 99 "${traces[@]}"
err_has "how many" "rules that can apply are exercised, less than 99 %"
# What a trace cannot show counts for nothing, here as in the verdict.
"$NOCAP" check --format json "$T/good.nocap" | jq '[.rules[].verdict | select(. == "held")] | length' >"$T/held"
"$NOCAP" check --format json "$T/good.nocap" | jq '[.rules[].verdict | select(. == "held" or . == "not-exercised")] | length' >"$T/can"
"$NOCAP" check "$T/good.nocap" >"$T/out"
out_has "a verdict counts what could be judged" "; passed $(cat "$T/held") of $(cat "$T/can") rules"
status 1 "so does coverage" "$NOCAP" coverage --fail-under 100 "$T/good.nocap"
err_has "of the same rules" "$(cat "$T/held") of $(cat "$T/can") rules that can apply are exercised"
status 2 "no rule" "$NOCAP" coverage --require GO-3 "${traces[@]}"
status 2 "no percentage" "$NOCAP" coverage --fail-under 101 "${traces[@]}"
status 2 "coverage without jobs" "$NOCAP" coverage -j 0 "$T/good.nocap"

status 0 "cut" "$NOCAP" cut "$T/bad.nocap" --tile 1,3 --from 1000 -o "$T/part.nocap"
err_has "says what is kept" "of what memory held"
for scenario in fast-dispatch fast-dispatch-subordinate fast-dispatch-multicast; do
    "$NOCAP" capture --sim $scenario --programs 4 --seed 2 -o "$T/queue.nocap" 2>/dev/null
    for core in 1,2 14,2 14,3; do # a worker, prefetcher, dispatcher
        status 0 "$scenario: cut to $core checks the same" "$NOCAP" cut "$T/queue.nocap" --tile $core -o "$T/core.nocap"
        status 0 "and has no finding" "$NOCAP" check --fail-on note --strict "$T/core.nocap"
    done
done
"$NOCAP" capture --sim fast-dispatch-multicast --programs 4 --fault host-passes-wr -o "$T/queue.nocap" 2>/dev/null
"$NOCAP" cut "$T/queue.nocap" --from 18015 -o "$T/core.nocap" 2>/dev/null
first() { "$NOCAP" check --format json "$1" | jq -c '.findings[0] | [.rule, .t]'; }
check "a part has the finding, not another of its rule" test "$(first "$T/core.nocap")" = "$(first "$T/queue.nocap")"
status 0 "cut to standard output" bash -c "'$NOCAP' cut '$T/bad.nocap' --index 100..200 -o - | '$NOCAP' info -"
out_has "is a trace" "events"
rm "$T/part.nocap"
(cd "$T" && "$NOCAP" capture --sim launch-host --fault done-early -o fault.nocap 2>/dev/null)
while read -r _ line; do
    status 0 "docs/look.md: nocap $line" bash -c "cd '$T' && '$NOCAP' $line"
    err_has "keeps the finding" "; 1 finding"
done < <(grep -E '^    nocap cut ' docs/look.md)
check "docs/look.md has one" test -s "$T/part.nocap"
status 2 "cut nothing" "$NOCAP" cut "$T/bad.nocap" -o "$T/x"
status 2 "cut with nothing left" "$NOCAP" cut "$T/bad.nocap" --from 999999999 -o "$T/x"
status 2 "cut without output" "$NOCAP" cut "$T/bad.nocap" --from 1
status 2 "cut by a bad filter" "$NOCAP" cut "$T/bad.nocap" --filter 'by=' -o "$T/x"
status 3 "cut of nothing" "$NOCAP" cut "$T/none" --from 1 -o "$T/x"
check "nothing was made" test ! -e "$T/x"
status 1 "a filter that loses the finding" "$NOCAP" cut "$T/bad.nocap" --filter 'by==host' -o "$T/x"
err_has "is told" "does not check the same"

status 0 "minimise" "$NOCAP" minimise "$T/bad.nocap" --rule go-004 -o "$T/small.nocap"
err_has "says how small" "events have the same finding as"
status 1 "the finding is there" "$NOCAP" check --rules GO-004 "$T/small.nocap"
check "and little else" test "$("$NOCAP" dump "$T/small.nocap" | wc -l)" -lt 500
status 2 "minimise without the finding" "$NOCAP" minimise "$T/good.nocap" --rule GO-004 -o "$T/x2"
status 2 "minimise for no rule" "$NOCAP" minimise "$T/bad.nocap" --rule XX-004 -o "$T/x2"
status 3 "minimise nothing" "$NOCAP" minimise "$T/none" --rule GO-004 -o "$T/x2"
check "nothing was made" test ! -e "$T/x2"

cat >"$T/waivers.txt" <<'END'
GO-004 trace:bad.nocap -- known
GO-004 trace:good.nocap -- not needed
RST-* -- the jump
GO-004 trace:nightly-*.nocap -- not among these
END
status 0 "waivers by trace" "$NOCAP" check -j 2 --waivers "$T/waivers.txt" "${traces[@]}"
check "one is unused in all of them" test "$(grep -c 'waived nothing' "$T/out")" -eq 1
out_has "it is named" "waivers.txt:2: the waiver of GO-004 waived nothing"
echo 'GO-004 trace:' >"$T/wrong.txt"
status 3 "a wrong waiver" "$NOCAP" check --waivers "$T/wrong.txt" "${traces[@]}"
check "is told once" test "$(wc -l <"$T/err")" -eq 1

"$NOCAP" golden record "$T/golden" good "$T/good.nocap" --reason r
"$NOCAP" golden record "$T/golden" made --sim launch-host --launches 2 --reason r
mkdir "$T/today" && sim launch-host --launches 2 --seed 9 -o "$T/today/made.nocap"
status 0 "golden traces against those of today" "$NOCAP" golden verify --against "$T/today" "$T/golden"
check "which stay" test -s "$T/today/made.nocap"
sim launch-host --launches 2 --fault done-early -o "$T/today/made.nocap"
status 1 "which differ" "$NOCAP" golden verify --against "$T/today" "$T/golden"
out_has "is told" "DIFFERS made"
check "they stay" test -s "$T/today/made.nocap"
rm "$T/today/made.nocap"
status 1 "one is missing" "$NOCAP" golden verify --against "$T/today" "$T/golden"
out_has "is told with its path" "today/made.nocap: No such file"
status 2 "and made again" "$NOCAP" golden verify --run --against "$T/today" "$T/golden"
status 0 "what was not run" "$NOCAP" golden verify "$T/golden"
out_has "is said" "made (stored trace only)"

cp -r examples/ci "$T/ci"
mkdir "$T/bin" && ln -s "$NOCAP" "$T/bin/nocap"
export PATH=$T/bin:$PATH
status 0 "the example" "$T/ci/ci-check"
check "leaves its reports" test -s "$T/ci/out/nocap.sarif" -a -s "$T/ci/out/nocap.xml" -a -s "$T/ci/out/coverage.md"
sed -i 's/--tiles 2/--tiles 2 --fault done-early/' "$T/ci/make-traces"
status 1 "and fails for a fault" "$T/ci/ci-check"
check "with reports" grep -q GO-004 "$T/ci/out/summary.md"
status 0 "until it is known" "$T/ci/ci-check" --baseline
status 0 "from then on it passes" "$T/ci/ci-check"
finish
