#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each command that has findings - check, lint, aie lint - prints them in each form, and takes waivers
# and a baseline: findings are told by rule and place, which is the same in all of them.
. tests/cli/lib.sh
examples=checker/rules/examples
"$NOCAP" aie asm "$examples/AIE-041.fail.asm" -o "$T/code.elf" || exit 1
cp "$examples/GO-003.fail.jsonl" "$T/trace.jsonl"

# A kernel for trisc2 at 0x6e00: a GPR is loaded by a store to the instruction FIFO, and WRCFG reads it
# without a wait.
python3 - "$T/kernel_trisc2.elf" <<'END'
import struct, sys
code = [0xffe406b7, 0x45000337, 0x03830293, 0x0056a023, 0xc0700032, 0x00008067]
text = struct.pack("<%dI" % len(code), *code)
names = b"\0.symtab\0.strtab\0.text\0pack_tile\0"
symbols = bytes(16) + struct.pack("<IIIBBH", 23, 0x6e00, len(text), 0x12, 0, 1)
at = 52 + 32
sections = [bytes(40),
            struct.pack("<10I", 17, 1, 6, 0x6e00, at, len(text), 0, 0, 4, 0),
            struct.pack("<10I", 1, 2, 0, 0, at + len(text), len(symbols), 3, 1, 4, 16),
            struct.pack("<10I", 9, 3, 0, 0, at + len(text) + len(symbols), len(names), 0, 0, 1, 0)]
body = text + symbols + names
body += bytes(-len(body) % 4)
head = b"\x7fELF\1\1\1" + bytes(9) + struct.pack(
    "<HHIIIIIHHHHHH", 2, 243, 1, 0x6e00, 52, at + len(body), 0, 52, 32, 1, 40, 4, 3)
segment = struct.pack("<8I", 1, at, 0x6e00, 0x6e00, len(text), len(text), 5, 4)
open(sys.argv[1], "wb").write(head + segment + body + b"".join(sections))
END

# form NAME FORMAT STATUS RULE WHERE COMMAND...: the finding is there, by its rule and place.
form() {
    local name=$1 format=$2 rule=$3 where=$4
    shift 4
    status 1 "$name as $format" "$@" --format "$format"
    out_has "$name as $format: the rule" "$rule"
    out_has "$name as $format: where" "$where"
    cp "$T/out" "$T/$name.$format"
}
# all NAME RULE PLACE JSON LINE COMMAND...: all forms; PLACE as people read it, JSON as members, LINE
# what GitHub says of the file. $beside: PLACE as text has it, where it says more.
all() {
    local name=$1 rule=$2 place=$3 json=$4 line=$5
    shift 5
    form "$name" text "error $rule: " "${beside:-$place}" "$@"
    form "$name" json "\"rule\":\"$rule\"" "$json" "$@"
    form "$name" sarif "\"ruleId\":\"$rule\"" "$place" "$@"
    form "$name" junit "name=\"$rule " "$place" "$@"
    form "$name" github "title=$rule::" "$line" "$@"
    form "$name" markdown "| $rule | " "$place" "$@"
    check "$name: JUnit is XML" python3 -c "import sys, xml.dom.minidom as x; x.parse(sys.argv[1])" \
        "$T/$name.junit"
    status 0 "$name: known by a baseline" "$@" --baseline "$T/$name.json"
    out_has "$name: which is told" ", 1 known"
    status 0 "$name: SARIF with what is known" "$@" --format sarif --baseline "$T/$name.json"
    out_has "$name: which is unchanged" '"baselineState":"unchanged"'
    cp "$T/out" "$T/$name-known.sarif"
    echo "$rule -- accepted by this test" >"$T/waivers"
    status 0 "$name: waived" "$@" --waivers "$T/waivers"
    out_has "$name: which is told, too" ", 1 waived"
    echo "$rule index 0..1 -- elsewhere" >"$T/waivers"
    status 1 "$name: not by a waiver of another place" "$@" --waivers "$T/waivers"
    out_has "$name: which did nothing" "the waiver of $rule waived nothing"
    status 1 "$name: the same as JSON" "$@" --waivers "$T/waivers" --format json
    out_has "$name: told by its id" '"waiver-unused"]'
    status 1 "$name: and as SARIF" "$@" --waivers "$T/waivers" --format sarif
    out_has "$name: there, too" '"descriptor":{"id":"waiver-unused"}'
    status 2 "$name: a form that is none" "$@" --format xml
}
beside="core(x=0,y=0) virtual(x=1,y=2)" all check GO-003 "core 1,2" '"index":7,' "trace.jsonl,line=9," "$NOCAP" check "$T/trace.jsonl"
all aie-lint AIE-041 "uc 0, page 0, offset 24" '"uc":0,"page":0,"off":24' "code.elf,title" \
    "$NOCAP" aie lint "$T/code.elf"

# An error that follows from a warning is a finding beside it, in each form, and known or waived alone.
"$NOCAP" capture --sim launch-dev --tiles 1 --fault master-zero -o "$T/worse.nocap" 2>"$T/null"
for f in text:"brisc, follows from " json:'"counts":true' \
    sarif:'"ruleId":"NOC-021"' junit:'name="NOC-021 ' github:"title=NOC-021::" markdown:"| NOC-021 | "; do
    status 1 "an error under a warning as ${f%%:*}" "$NOCAP" check --format "${f%%:*}" "$T/worse.nocap"
    out_has "which is there" "${f#*:}"
    cp "$T/out" "$T/worse.${f%%:*}"
done
status 1 "the same in parts put together" "$NOCAP" merge "$T/worse.json"
check "which says the same" diff "$T/out" "$T/worse.text"
"$NOCAP" check --format baseline -o "$T/worse.short" "$T/worse.nocap"
for known in json short; do
    status 0 "both are known by $known" "$NOCAP" check --baseline "$T/worse.$known" "$T/worse.nocap"
    out_has "both" ", 2 known"
done
echo "GO-019 -- accepted by this test" >"$T/waivers"
status 1 "the waiver of the warning is not one of the error" "$NOCAP" check --waivers "$T/waivers" "$T/worse.nocap"

# The kernel's is a warning, which fails unless asked otherwise.
for f in text:"at 0x6e10 (pack_tile+0x10)" json:'"address":28176,"symbol":"pack_tile","offset":16' \
    sarif:'"address":{"absoluteAddress":28176' junit:"0x6e10 (pack_tile+0x10)" \
    github:"kernel_trisc2.elf,title=TNX-030::0x6e10" markdown:"0x6e10 (pack\\_tile+0x10)"; do
    form lint "${f%%:*}" TNX-030 "${f#*:}" "$NOCAP" lint "$T/kernel_trisc2.elf"
done
status 0 "lint: known by a baseline" "$NOCAP" lint "$T/kernel_trisc2.elf" --baseline "$T/lint.json"
out_has "lint: which is told" ", 1 known"
echo "TNX-030 trisc2 index 28176..28176 -- accepted by this test" >"$T/waivers"
status 0 "lint: waived by its address" "$NOCAP" lint "$T/kernel_trisc2.elf" --waivers "$T/waivers"
echo "TNX-030 trisc1 -- another core" >"$T/waivers"
status 1 "lint: not that of another core" "$NOCAP" lint "$T/kernel_trisc2.elf" --waivers "$T/waivers"
cp "$T/kernel_trisc2.elf" "$T/other_trisc2.elf"
status 1 "lint: several kernels" "$NOCAP" lint -j 2 --baseline "$T/lint.json" "$T/kernel_trisc2.elf" \
    "$T/other_trisc2.elf"
out_has "lint: with a sum" "2 files: 1 fail, 0 cannot be read"
status 2 "lint: rules that code cannot show" "$NOCAP" lint --rules GO "$T/kernel_trisc2.elf"
err_has "lint: which can" "TNX-010"
status 0 "lint: without that rule" "$NOCAP" lint --rules TNX,-TNX-030 "$T/kernel_trisc2.elf"
status 3 "lint: a kernel that is not there, as JUnit" "$NOCAP" lint --format junit "$T/none_trisc2.elf"
out_has "lint: is a file that cannot be read" 'name="the file can be read">'
status 3 "lint: a baseline that is none" "$NOCAP" lint --baseline "$T/waivers" "$T/kernel_trisc2.elf"

# ---- what is not judged says why, by an id ----
echo '{"nocap":1,"arch":"blackhole","observes":["noc"]}' >"$T/empty.jsonl"
for format in json sarif; do
    status 0 "a trace of no event as $format" "$NOCAP" check --format $format "$T/empty.jsonl"
    out_has "says why it is not judged" '"no-event"'
done
"$NOCAP" lint --rules TNX-020 --format json "$T/kernel_trisc2.elf" >"$T/out"
out_has "a kernel without mutexes is not judged on them" '"verdict":"not-judged","reason":"nothing-in-code"'
status 1 "which --strict makes a failure" "$NOCAP" lint --strict --rules TNX-020 "$T/kernel_trisc2.elf"

# ---- SARIF: schema, and help that a reader can use ----
if python3 -c 'import jsonschema' 2>/dev/null; then
    for f in check.sarif check-known.sarif aie-lint.sarif aie-lint-known.sarif lint.sarif; do
        check "$f fits its schema" python3 - "$T/$f" tests/data/sarif.schema.json <<'END'
import json, jsonschema, sys
jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))
END
    done
else
    skip "SARIF fits its schema" "python3-jsonschema is not installed"
fi
check "SARIF's help is the rule's text with its examples" python3 - "$T/check.sarif" "$examples" <<'END'
import json, sys
rule = json.load(open(sys.argv[1]))["runs"][0]["tool"]["driver"]["rules"][0]
for which in ("fail", "pass"):
    example = open(f"{sys.argv[2]}/{rule['id']}.{which}.jsonl").read()
    assert example in rule["help"]["text"] and "```\n" + example + "```" in rule["help"]["markdown"]
assert rule["fullDescription"]["text"] in rule["help"]["markdown"]
END
status 2 "aie disasm has no SARIF" "$NOCAP" aie disasm --format sarif "$T/code.elf"
err_has "which is said" "--format takes text or json, not 'sarif'"
finish
