#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nocap capture of the built-in device model, and golden traces of it.
. tests/cli/lib.sh

status 0 "list" "$NOCAP" capture --sim list
for name in boot launch-host launch-dev done-early; do out_has "names $name" "  $name "; done
for scenario in boot launch-host launch-dev; do
    status 0 "$scenario" "$NOCAP" capture --sim $scenario --tiles 2 --launches 3 --seed 5 -o "$T/$scenario.nocap"
    status 0 "$scenario: whole" "$NOCAP" info "$T/$scenario.nocap"
    status 0 "$scenario: no error" "$NOCAP" check "$T/$scenario.nocap"
done
status 0 "the same seed" "$NOCAP" capture --sim launch-host --tiles 2 --launches 3 --seed 5 -o "$T/b.nocap"
check "gives the same trace" cmp "$T/launch-host.nocap" "$T/b.nocap"
"$NOCAP" capture --sim launch-host --tiles 2 --launches 3 --seed 6 -o - >"$T/b.nocap" 2>/dev/null
check "another seed gives another" bash -c "! cmp -s '$T/launch-host.nocap' '$T/b.nocap'"
status 0 "to standard output" "$NOCAP" check "$T/b.nocap"
status 0 "a fault" "$NOCAP" capture --sim launch-host --fault done-early -o "$T/f.nocap"
status 1 "is found" "$NOCAP" check "$T/f.nocap"
out_has "by its rule" GO-004
"$NOCAP" capture --sim launch-host --launches 200 -o - 2>"$T/err" | head -c 100 >/dev/null
verdict "into head ends quietly" "${PIPESTATUS[0]}"
"$NOCAP" dump --format jsonl "$T/b.nocap" >"$T/b.jsonl"
(trap '' PIPE && sleep 0.3 && exec "$NOCAP" import jsonl "$T/b.jsonl" -o - 2>"$T/err") | head -c 0
verdict "an import, too" "${PIPESTATUS[0]}"
check "without a count" test ! -s "$T/err"
status 2 "an empty name" "$NOCAP" capture --sim boot -o ""
err_has "is none" "-o is given no name"

for view in raw cq host all; do
    status 0 "fast-dispatch, $view" "$NOCAP" capture --sim fast-dispatch --programs 3 --workers 2 --board p150 --seed 5 --view $view -o "$T/$view.nocap"
    status 0 "fast-dispatch, $view: whole" "$NOCAP" info "$T/$view.nocap"
done
check "views differ" bash -c "! cmp -s '$T/raw.nocap' '$T/cq.nocap' && ! cmp -s '$T/raw.nocap' '$T/all.nocap'"
status 0 "fast-dispatch-rings" "$NOCAP" capture --sim fast-dispatch-rings --programs 3 -o "$T/rings.nocap"
status 0 "another runtime's queue" "$NOCAP" capture --sim fast-dispatch --profile tt-metal-2026-06 --programs 3 -o "$T/june.nocap"
status 0 "info" "$NOCAP" info "$T/june.nocap"
out_has "names the profile" "profile    tt-metal-2026-06"
status 0 "and is clean" "$NOCAP" check "$T/june.nocap"
check "by rules about the queue" grep -q "passed 1[0-9][0-9] of" "$T/out"
status 3 "a profile that is none" "$NOCAP" capture --sim fast-dispatch --profile nonsense -o "$T/x.nocap"
err_has "those that there are" "there are blackhole-py, tt-metal-2025-06"
status 2 "what is no fault there" "$NOCAP" capture --sim fast-dispatch --profile tt-metal-2026-06 --fault timestamp-outside -o "$T/x.nocap"
err_has "why" "it has no timestamps"
status 2 "a view of a board without queue" "$NOCAP" capture --sim boot --view cq -o "$T/x.nocap"
status 2 "workers of a board without queue" "$NOCAP" capture --sim launch-dev --workers 2 -o "$T/x.nocap"
status 2 "tiles of a queue" "$NOCAP" capture --sim fast-dispatch --tiles 2 -o "$T/x.nocap"
status 2 "more workers than the board has" "$NOCAP" capture --sim fast-dispatch --workers 119 -o "$T/x.nocap"
status 2 "no programs" "$NOCAP" capture --sim fast-dispatch --programs 0 -o "$T/x.nocap"

status 2 "an unknown scenario" "$NOCAP" capture --sim nonsense -o "$T/x.nocap"
status 2 "an unknown fault" "$NOCAP" capture --sim boot --fault nonsense -o "$T/x.nocap"
status 2 "a fault of another scenario" "$NOCAP" capture --sim boot --fault done-early -o "$T/x.nocap"
status 2 "more tiles than the board has" "$NOCAP" capture --sim boot --tiles 1000 -o "$T/x.nocap"
status 2 "no output" "$NOCAP" capture --sim boot
status 2 "nothing to capture" "$NOCAP" capture -o "$T/x.nocap"
status 2 "a program without --" "$NOCAP" capture -o "$T/x.nocap" true
err_has "is told" "follows --"
check "nothing is left behind" test -z "$(find "$T" -name 'x.nocap*' -o -name '.*' -type f)"

G=$T/golden
status 0 "golden record" "$NOCAP" golden record "$G" host --sim launch-host --tiles 1 --launches 2 --seed 3 --reason "a plain launch"
status 0 "golden record of another runtime" "$NOCAP" golden record "$G" june --sim fast-dispatch --programs 2 --profile tt-metal-2026-06 --reason "32-bit entries"
check "the manifest says which" grep -q -- "--profile tt-metal-2026-06" "$G/manifest.txt"
status 0 "golden record of a trace" "$NOCAP" golden record "$G" fault "$T/f.nocap" --reason "DONE too early"
status 2 "golden record without a reason" "$NOCAP" golden record "$G" other "$T/f.nocap"
status 2 "golden record of nothing" "$NOCAP" golden record "$G" other --reason x
status 2 "golden record under a name that is taken" "$NOCAP" golden record "$G" host "$T/f.nocap" --reason x
status 0 "golden verify" "$NOCAP" golden verify --run "$G"
status 0 "golden update finds nothing" "$NOCAP" golden update --run "$G"
sed -i 's/--launches 2/--launches 3/' "$G/manifest.txt"
status 1 "golden verify of what changed" "$NOCAP" golden verify --run "$G"
out_has "names the trace" host
status 1 "golden update shows it" "$NOCAP" golden update --run "$G"
status 1 "and changes nothing" "$NOCAP" golden verify --run "$G"
status 0 "golden update --yes" "$NOCAP" golden update --run --yes "$G"
status 0 "makes it so" "$NOCAP" golden verify --run "$G"
status 2 "golden of nothing known" "$NOCAP" golden compare "$G"
status 3 "golden verify of no directory" "$NOCAP" golden verify "$T/nope"
status 2 "a fault that strikes later" "$NOCAP" capture --sim fast-dispatch-rings --fault slot-not-read -o "$T/x.nocap"
err_has "in the word of a queue" "ask for more --programs"
status 2 "and one of launches" "$NOCAP" capture --sim launch-host --launches 1 --fault stale-message -o "$T/x.nocap"
err_has "in theirs" "ask for more --launches"
for scenario in fast-dispatch-subordinate fast-dispatch-multicast; do
    status 2 "two queues of $scenario with one worker" "$NOCAP" capture --sim $scenario --queues 2 --workers 1 -o "$T/x.nocap"
    err_has "which shares its launch messages" "each queue has workers of its own"
done

# What the host uploads, without index and time; a run that hangs ends early.
uploads() { "$NOCAP" dump "$1" --filter 'ev==write && by==host && size>=96' | awk '{$1 = $2 = ""; print}'; }
for scenario in launch-host launch-dev; do
    "$NOCAP" capture --sim $scenario --launches 12 -o "$T/good.nocap" 2>/dev/null
    uploads "$T/good.nocap" >"$T/good"
    for fault in done-early load-dropped map-gap unpack-early hang-sem go-split bad-signal text-overwritten kernel-twice; do
        "$NOCAP" capture --sim $scenario --launches 12 --fault $fault -o "$T/bad.nocap" 2>/dev/null
        uploads "$T/bad.nocap" >"$T/bad"
        check "$scenario, $fault: the same program" test -s "$T/bad"
        check "from its first to its last launch" cmp -s "$T/bad" <(head -n "$(wc -l <"$T/bad")" "$T/good")
    done
done
finish
