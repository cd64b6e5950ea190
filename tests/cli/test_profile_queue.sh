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
# as PROFILE [MEMBER=VALUE ..]: $T/own.jsonl as this runtime would have written it: $T/as.jsonl
as() { tests/reencode_queue "$T/blackhole-py.json" "$T/$1.json" "$@" <"$T/own.jsonl" >"$T/as.jsonl"; }
findings() { "$NOCAP" check --format json "$1" | grep -o '"rule":"[A-Z]*-[0-9a-z]*","severity":"[a-z]*"'; }

for view in raw cq host; do
    record fast-dispatch $view
    status 0 "$view, in its own profile" "$NOCAP" check -v "$T/own.jsonl"
    held=$(sed -n 's/^CQ *\([0-9]*\) .*/\1/p' "$T/out")
    for p in $profiles; do
        as "$p"
        status 0 "$view, right as in $p" "$NOCAP" check -v "$T/as.jsonl"
        now=$(sed -n 's/^CQ *\([0-9]*\) .*/\1/p' "$T/out")
        check "and as much of it holds, but for timestamps" test "$now" -ge $((held - 3))
        status 0 "no hang" "$NOCAP" hang "$T/as.jsonl"
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
        sizes=
        test "$scenario" = fast-dispatch || sizes="issue_size=0x4000000 completion_size=0x2000000"
        # shellcheck disable=SC2086 # two words
        as "$p" $sizes
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
finish
