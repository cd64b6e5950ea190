#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The reference model as a house: no arrows between models; leaving rules out changes nothing else.
. tests/cli/lib.sh

if command -v nm >/dev/null && command -v python3 >/dev/null; then
    check "no arrows between the models" tests/model_arrows "$BUILD"
else
    skip "arrows" "nm or python3 is not there"
fi

mkdir "$T/traces"
for fault in done-early local-ram-upload go-split notify-missing enter-before-go message-changed-while-busy; do
    for scenario in launch-host launch-dev boot; do
        "$NOCAP" capture --sim $scenario --fault $fault -o "$T/traces/$scenario-$fault.nocap" 2>/dev/null
    done
done
for fault in clear-short release-31 two-reads unaligned-destination announcement-missing go-wrong-stream; do
    "$NOCAP" capture --sim fast-dispatch --fault $fault -o "$T/traces/q-$fault.nocap" 2>/dev/null
    "$NOCAP" capture --sim fast-dispatch --view cq --fault $fault -o "$T/traces/cq-$fault.nocap" 2>/dev/null
done
check "there are traces" test "$(ls "$T/traces" | wc -l)" -ge 20
check "leaving rules out changes nothing about the others" python3 tests/rules_filter "$NOCAP" 50 "$T"/traces/*.nocap

finish
