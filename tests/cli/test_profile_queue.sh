#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command queue under each shipped profile: traces of the built-in device model, written as other
# runtimes would have (tests/reencode_queue), have the findings that they have in their own profile.
. tests/cli/lib.sh

if ! command -v python3 >/dev/null; then
    skip "traces of other queues" "python3 is not installed"
    finish
fi
profiles=
for p in $("$NOCAP" profile list | awk '/^[a-z]/ {sub(",", "", $1); print $1}'); do
    "$NOCAP" profile show "$p" >"$T/$p.json"
    profiles="$profiles $p"
done
check "all profiles" test "$(echo "$profiles" | wc -w)" -ge 7
# record SCENARIO VIEW FAULT: $T/own.jsonl
record() {
    "$NOCAP" capture --sim "$1" --view "$2" --programs 3 ${3:+--fault "$3"} -o "$T/own.nocap" 2>/dev/null &&
        "$NOCAP" dump --format jsonl "$T/own.nocap" >"$T/own.jsonl"
}
# as PROFILE [NAME [MEMBER=VALUE ..]]: $T/own.jsonl as this runtime would have written it: $T/as.jsonl,
# with NAME in the header
as() { tests/reencode_queue "$T/blackhole-py.json" "$T/$1.json" "${2:--}" "${@:3}" <"$T/own.jsonl" >"$T/as.jsonl"; }
findings() { "$NOCAP" check --format json "$1" | grep -o '"rule":"[A-Z]*-[0-9a-z]*","severity":"[a-z]*"'; }

for view in raw cq host; do
    record fast-dispatch $view
    status 0 "$view, in its own profile" "$NOCAP" check -v "$T/own.jsonl"
    held=$(sed -n 's/^CQ *\([0-9]*\) .*/\1/p' "$T/out")
    for p in $profiles; do
        as "$p" "$p"
        status 0 "$view, right as in $p" "$NOCAP" check -v "$T/as.jsonl"
        now=$(sed -n 's/^CQ *\([0-9]*\) .*/\1/p' "$T/out")
        check "and as much of it holds, but for timestamps" test "$now" -ge $((held - 3))
        status 0 "no hang" "$NOCAP" hang "$T/as.jsonl"
        as "$p"
        status 0 "right too where the trace has to show it" "$NOCAP" check -v "$T/as.jsonl"
        then=$(sed -n 's/^CQ *\([0-9]*\) .*/\1/p' "$T/out")
        check "and as much of it" test "$then" = "$now"
        case $view/$p in
        raw/*)
            status 0 "which info tells" "$NOCAP" info "$T/as.jsonl"
            out_has "by name" "profile    $p, mailbox bh-launch96"
            ;;
        esac
    done
done

# allowed FAULT PROFILE: this runtime does that, or has nothing of the kind
allowed() {
    case $1/$2 in
    */blackhole-py) return 1 ;;
    to-subordinate/* | wait-notifies-prefetch/* | stamp-outside/* | stamps-read-early/*) return 0 ;;
    two-reads/tt-metal-2026-*) return 0 ;;
    esac
    return 1
}
faults=0
while read -r fault scenario; do
    record "$scenario" raw "$fault"
    findings "$T/own.jsonl" >"$T/own"
    faults=$((faults + 1))
    for p in tt-metal-2025-06 tt-metal-2026-09; do
        sizes= name=-
        test "$scenario" = fast-dispatch || sizes="issue_size=0x4000000 completion_size=0x2000000" name=$p
        # shellcheck disable=SC2086 # two words
        as "$p" "$name" $sizes
        findings "$T/as.jsonl" >"$T/as"
        if allowed "$fault" "$p"; then
            check "$fault as in $p is no fault" test ! -s "$T/as"
        else
            check "$fault as in $p" cmp "$T/own" "$T/as"
        fi
    done
done < <("$NOCAP" capture --sim list | sed -n 's/^  \([a-z0-9-]*\)  *\(CQ-[0-9]*\|a hang\)  *\([QR]\)  .*/\1 \3/p' |
    sed 's/ Q$/ fast-dispatch/; s/ R$/ fast-dispatch-rings/')
check "all faults of the queue" test "$faults" -ge 45

# Queues that no profile explains: their rings elsewhere, or other commands.
sed 's/"queue": "0x19840"/"queue": "0x30000"/; s/"rd_ptr_echo": "0x196c0"/"rd_ptr_echo": "0x2f000"/
    s/"pcie_ptr_echo": "0x196c4"/"pcie_ptr_echo": "0x2f004"/; s/"completion_wr": "0x196d0"/"completion_wr": "0x2f010"/
    s/"completion_rd": "0x196e0"/"completion_rd": "0x2f020"/; s/"cmddat": "0x1a440"/"cmddat": "0x40000"/
    s/"buffer": "0x1a000"/"buffer": "0x40000"/' "$T/blackhole-py.json" >"$T/elsewhere.json"
awk '/"id": / { sub(/[0-9]+/, 90 + ++n) } { print }' "$T/blackhole-py.json" >"$T/others.json"
for view in raw cq host; do
    record fast-dispatch $view
    for p in elsewhere others; do
        as $p
        status 0 "$view, a queue that is $p accuses nobody" "$NOCAP" check "$T/as.jsonl"
        out_has "and is told" "note TRC-010"
        status 1 "its hang" "$NOCAP" hang "$T/as.jsonl"
        out_has "is inconclusive" "INCONCLUSIVE: no profile explains its command queue"
    done
done
finish
