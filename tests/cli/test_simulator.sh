#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nocap capture -- CMD: ways in which hosts name, load and call a simulator.
. tests/cli/lib.sh
sanitized && skip "simulator" "a sanitizer's run time must come before the shim and the proxy" && finish
B=$(cd "$BUILD" && pwd)
client=$B/tests/sim_client
fake=$B/tests/libfake-ttsim.so
mkdir "$T/tmp" "$T/sim" "$T/given"
export TMPDIR=$T/tmp
ln -s "$fake" "$T/sim/simulator.so"
ln -s ../sim/simulator.so "$T/given/libttsim_bh.so"
touch "$T/given/soc_descriptor.yaml"
capture() { status "$1" "$2" "$NOCAP" capture -o "$T/s.nocap" "${@:3}"; }

# ---- how it is named ----

capture 0 "the simulator's library on the command line" -- "$client" "$fake" once
err_has "is captured" "5 events, "
for way in probe again; do
    capture 0 "way '$way' of loading" -- "$client" "$fake" $way
    err_has "is captured" "5 events, "
    check "once" test "$(wc -l <"$T/err")" = 1
done
capture 0 "two copies" -- "$client" "$fake" two
check "make two traces" test "$(grep -c ' 0 dropped' "$T/err")" = 2
check "beside each other" test "$(find "$T" -name 's.*.nocap' | wc -l)" = 1
rm -f "$T"/s.*.nocap
capture 0 "a library that is not there" -- "$client" "$T/none/libttsim.so" missing
err_has "is none that was loaded" "loaded no simulator"
capture 0 "by a name without a folder" -- env LD_LIBRARY_PATH="$T/given" "$client" libttsim_bh.so once
err_has "is captured" "5 events, "
for name in TT_METAL_SIMULATOR TT_UMD_SIMULATOR TT_UMD_SIMULATOR_PATH; do
    use="test -e \"\$(dirname \"\$$name\")/soc_descriptor.yaml\" && \"$client\" \"\$$name\" once"
    capture 0 "a link in $name" -- env "$name=$T/given/libttsim_bh.so" sh -c "$use"
    err_has "is captured" "5 events, "
    capture 0 "--ttsim gives it to $name" --ttsim "$T/given/libttsim_bh.so" -- sh -c "$use"
    err_has "and is captured" "5 events, "
    capture 0 "a folder in $name" -- env "$name=$T/given" sh -c "test -d \"\$$name\" && \
        \"$client\" \"\$$name/libttsim_bh.so\" once"
    err_has "stays one" "5 events, "
done
capture 0 "devices that are not trapped" --trap off -- "$client" "$fake" once
err_has "leave the simulator captured" "5 events, "
capture 0 "the proxy by hand" -- env NOCAP_TTSIM_LIB="$fake" "$client" "$B/libnocap-ttsim.so" once
err_has "is put before it once" "5 events, "
check "one line" test "$(wc -l <"$T/err")" = 1
capture 4 "a build for several devices" -- "$client" "$B/tests/libfake-ttsim_many.so" once
err_has "is told" "a build for several devices"
check "and loaded" bash -c "! grep -q 'loaded no simulator' '$T/err'"

# ---- threads ----

capture 0 "calls of two threads in turn" -- "$client" "$fake" threads
"$NOCAP" dump "$T/s.nocap" --format jsonl | sed -n 's/.*"addr":"0x100".*"value":"\([^"]*\)".*/\1/p' >"$T/out"
seq 0 1999 | awk '{printf "0x%x\n0x%x\n", $1, $1}' >"$T/want"
check "are in the trace in that order" cmp "$T/out" "$T/want"
"$NOCAP" info "$T/s.nocap" >"$T/out"
out_has "as one source" "4003 of 1 source"

# ---- looks into it ----

capture 0 "looks every 100 clocks" --sample 100 -- "$client" "$fake" launch
"$NOCAP" dump "$T/s.nocap" --format jsonl >"$T/out"
out_has "are a class" '"observes":["host-mmio","sampled"]'
out_has "a look shows what changed, since the look before" \
    '{"t":500,"ev":"mem","x":1,"y":2,"addr":"0x370","data":"00000000","since":400}'
check "once each time" test "$(grep -c '"ev":"mem".*"addr":"0x370","data":"00000000"' "$T/out")" = 10
grep -v '"mem"' "$T/out" | sed 1d >"$T/sampled"
capture 0 "without looks" -- "$client" "$fake" launch
"$NOCAP" dump "$T/s.nocap" --format jsonl | sed 1d >"$T/plain"
check "the host does and finds the same" cmp "$T/sampled" "$T/plain"
cat >"$T/own.json" <<'END'
{"base": "tt-metal-2026-09", "name": "own", "queue": {"rd_ptr_echo": "0xa00", "pcie_ptr_echo": "0xa04", "queue": "0xa40", "queue_slots": 16}}
END
capture 0 "looks at queues" --sample 10 --profile "$T/own.json" -- "$client" "$fake" queue
"$NOCAP" dump "$T/s.nocap" --format jsonl >"$T/out"
out_has "go where the profile has their pointers" '"ev":"mem","x":1,"y":2,"addr":"0xa00","data":"800a0000"'
out_has "which the header names" '"name":"own"'
capture 0 "looks at queues without it" --sample 10 -- "$client" "$fake" queue
"$NOCAP" dump "$T/s.nocap" --format jsonl >"$T/out"
check "do not" bash -c "! grep -q '\"ev\":\"mem\"' '$T/out'"
capture 2 "looks of no clocks" --sample 0 -- "$client" "$fake" launch
status 2 "looks into nothing" "$NOCAP" capture --sim boot --sample 5 -o "$T/s.nocap"
capture 0 "looks at a Wormhole" --sample 10 -- env FAKE_DEVICE_ID=401E "$client" "$fake" once
"$NOCAP" dump "$T/s.nocap" --format jsonl >"$T/out"
out_has "are not made" '"observes":["host-mmio"]'

# ---- what it simulates ----

capture 0 "a Wormhole" -- env FAKE_DEVICE_ID=401E "$client" "$fake" once
err_has "is captured" "6 events, "
"$NOCAP" dump "$T/s.nocap" --format jsonl >"$T/out"
out_has "as one" '"arch":"wormhole"'
out_has "with a note" 'where TLB windows point is not followed'
out_has "by its BARs" '"ev":"write","by":"host","space":"bar0","addr":"0x100","size":4,"value":"0x7"'
"$NOCAP" check "$T/s.nocap" >"$T/out" 2>&1
verdict "which the rules of Blackhole do not judge" $?
capture 4 "another device" -- env FAKE_DEVICE_ID=FACA "$client" "$fake" once
err_has "is told" "device 1e52:faca, which is neither Blackhole nor Wormhole"
kmd() { LD_PRELOAD=$B/tests/libfake-kmd.so capture "$1" "$2" -- env FAKE_DEVICE_ID="$3" "$B/tests/kmd_client" count 10; }
kmd 0 "a Wormhole behind the driver" 401E
"$NOCAP" dump "$T/s.nocap" --format jsonl >"$T/out"
out_has "is one in the trace" '"arch":"wormhole"'
out_has "with a note" 'where TLB windows point is not followed'
check "of all accesses to its BARs" test "$(grep -c '"space":"bar0"' "$T/out")" = $((40 + 12))
kmd 4 "another device behind the driver" FACA
err_has "is told" "/dev/tenstorrent/0: a device 1e52:faca, which is neither Blackhole nor Wormhole"
capture 3 "no file for --ttsim" --ttsim "$T/none.so" -- true
check "nothing is left behind" test -z "$(ls "$TMPDIR")"
finish
