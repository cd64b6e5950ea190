#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The rule set as data: family files, what is made from them, examples that anybody can check.
. tests/cli/lib.sh
MAKE_RULES=$(dirname "$NOCAP")/make_rules
families="TRC MAP RST SYN GO TNX CQ NOC AIE TXN"
examples=checker/rules/examples

# ---- what is committed is what is made ----
files=$(printf 'checker/rules/%s.rules ' $families)
mkdir "$T/docs"
"$MAKE_RULES" index "$T/docs/README.md" $files
for f in $families; do "$MAKE_RULES" "$f" "$T/docs/$f.md" $files; done
check "docs/rules is what 'make docs' makes" diff -r docs/rules "$T/docs"
"$MAKE_RULES" tables "$T/a.c" $files
touch -d 2001-01-01 "$T/a.c"
"$MAKE_RULES" tables "$T/a.c" $files
check "what would say the same is not written" test "$T/a.c" -ot docs
check "every family file is built in" test "$(ls checker/rules/*.rules | wc -l)" -eq "$(echo $families | wc -w)"

# ---- examples ----
"$NOCAP" check --fail-on note --format json "$examples"/*.fail.jsonl >"$T/reports" 2>/dev/null
bad=$(jq -r '.reports[] | (.trace.path | split("/")[-1] | sub(".fail.jsonl$"; "")) as $rule |
    select(all(.findings[]; .rule != $rule)) | $rule' "$T/reports")
check "each failing example has its finding: $bad" test -z "$bad"
check "there are failing examples" test "$(jq '.reports | length' "$T/reports")" -ge 150
status 0 "each passing example has none" "$NOCAP" check --fail-on note "$examples"/*.pass.jsonl
status 0 "a rule is explained" "$NOCAP" explain go-002
out_has "its severity" "GO-002 (error, launch messages and go messages)"
out_has "its failing example" "failing example:"
out_has "its passing example" "passing example:"

# ---- malformed family files ----
# family NAME TEXT: a folder with one family of one rule, of which one thing is changed.
mkdir -p "$T/r/examples"
printf '{"nocap":1}\n' | tee "$T/r/examples/XY-001.fail.jsonl" >"$T/r/examples/XY-001.pass.jsonl"
cat >"$T/good" <<'RULES'
family: XY
title: a family
archs: any

[XY-001]
severity: error
needs: noc
sentence: a thing must be so
source: nowhere in particular
text:
    A text that is long enough to say what goes wrong, what that looks like to somebody who meets it,
    and what he can do about it.
RULES
# wrong NAME LINE MESSAGE SED: the family file, changed by SED, is refused in that line.
wrong() {
    sed "$4" "$T/good" >"$T/r/XY.rules"
    status 1 "$1" "$MAKE_RULES" tables "$T/out.c" "$T/r/XY.rules"
    err_has "$1: where and what" "XY.rules:$2: $3"
}
cp "$T/good" "$T/r/XY.rules"
status 0 "a family of one rule" "$MAKE_RULES" tables "$T/out.c" "$T/r/XY.rules"
wrong "an unknown key" 6 "'severty: error' is no key" 's/^severity/severty/'
wrong "a key of the head in a rule" 6 "'title' does not belong to a rule" 's/^severity.*/title: x/'
wrong "a key twice" 8 "'severity' is there twice, first in line 6" 's/^sentence.*/severity: note/'
wrong "a key that is missing" 5 "XY-001 lacks 'source:'" '/^source/d'
wrong "an unknown severity" 6 "unknown severity 'bad'; known: error, warning, note" 's/error/bad/'
wrong "an unknown event class" 7 "unknown needs 'nocs'; known: host-mmio" 's/noc$/nocs/'
wrong "a class twice" 7 "needs: 'noc' is there twice" 's/noc$/noc noc/'
wrong "no architecture" 1 "the family lacks 'archs: any'" '/^archs/d'
wrong "a root that is no rule" 5 "XY-001 follows from 'XY-009'" 's/^source/follows-event: XY-009\n&/'
wrong "an id of another family" 5 "'[YX-001]' is not the head of a rule: wanted [XY-NNN]" 's/XY-001/YX-001/'
wrong "a number twice" 14 "XY-001 after XY-001: numbers rise" '$s/$/\n\n[XY-001]/'
wrong "a sentence without must" 8 "the sentence of XY-001 says nothing that must" 's/must be/is/'
wrong "a full stop" 8 "the sentence of XY-001 ends with a full stop" 's/must be so/&./'
wrong "a short text" 10 "the text of XY-001 has under" '12d'
wrong "a tab" 7 "a tab, a carriage return, or a blank at the end" 's/^needs: /needs:\t/'
wrong "a line that goes on with nothing" 4 "an indented line that continues nothing" '4s/^/    x/;3d;2s/$/\n/'
wrong "no rule" 5 "a family without rules" '4,$d'
cp "$T/good" "$T/r/XY.rules"
mv "$T/r/examples/XY-001.pass.jsonl" "$T/r/examples/XY-002.pass.jsonl"
status 1 "an example is missing" "$MAKE_RULES" tables "$T/out.c" "$T/r/XY.rules"
err_has "which and where" "XY.rules:5: XY-001 has no example"
cp "$T/r/examples/XY-002.pass.jsonl" "$T/r/examples/XY-001.pass.jsonl"
status 1 "an example of no rule" "$MAKE_RULES" tables "$T/out.c" "$T/r/XY.rules"
err_has "its name" "XY-002.pass.jsonl is the example of no rule"
status 2 "no arguments" "$MAKE_RULES"
finish
