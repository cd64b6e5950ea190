#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nocap capture -- CMD: a program under the driver shim, a host of a simulator, a fault while they run.
. tests/cli/lib.sh
sanitized && skip "live" "a sanitizer's run time must come before the shim and the proxy" && finish
B=$(cd "$BUILD" && pwd)
client=$B/tests/kmd_client
mkdir "$T/tmp" && export TMPDIR=$T/tmp
# The fake driver goes behind the shim; the linker takes its path apart at blanks.
ln -s "$B/tests/libfake-kmd.so" "$T/libfake-kmd.so"
fake() { LD_PRELOAD=$T/libfake-kmd.so "$@"; }

status 0 "a client of the driver" fake "$NOCAP" capture -o "$T/a.nocap" -- "$client" count 1000
err_has "the summary" "4012 events, "
err_has "its drops" " 0 dropped, "
err_has "its path" "$T/a.nocap"
check "one line" test "$(wc -l <"$T/err")" = 1
status 0 "a whole trace" "$NOCAP" info "$T/a.nocap"
out_has "who made it" kmd_client
# The dynamic linker takes blanks and colons for separators.
odd="$T/a b:c"
mkdir -p "$odd/bin" "$odd/lib/nocap" "$odd/tmp"
cp "$NOCAP" "$odd/bin/nocap"
cp "$B/libnocap-preload.so" "$B/libnocap-ttsim.so" "$odd/lib/nocap/"
status 0 "a program in a folder with a blank" fake "$odd/bin/nocap" capture -o "$odd/t r.nocap" -- "$client" count 1000
err_has "captures" "4012 events, "
check "and nothing is said of a library" bash -c "! grep -q 'ld.so' '$T/err'"
status 0 "with such a folder for temporary files" fake env TMPDIR="$odd/tmp" "$odd/bin/nocap" \
    capture -o "$odd/t r.nocap" -- "$client" count 1000
err_has "captures" "4012 events, "
check "temporary folders are gone" test -z "$(ls "$T/tmp" "$odd/tmp" | grep nocap-capture)"
status 0 "trapping off there" fake "$odd/bin/nocap" capture --trap off -o "$odd/t r.nocap" -- "$client" count 10
status 7 "the exit status" fake "$NOCAP" capture -o "$T/a.nocap" -- "$client" count 10 7
status 127 "no such command" "$NOCAP" capture -o "$T/a.nocap" -- no-such-command
check "one line" test "$(wc -l <"$T/err")" = 1
status 0 "a command without device" "$NOCAP" capture -o "$T/b.nocap" -- true
err_has "is told" "nothing was captured"
check "and leaves no trace" test ! -e "$T/b.nocap"
status 0 "a device that is opened and not mapped" fake "$NOCAP" capture -o "$T/b.nocap" -- sh -c 'exec 3<>/dev/tenstorrent/0'
err_has "is told as that" "sh mapped no device"
status 0 "trapping off" fake "$NOCAP" capture --trap off -o "$T/b.nocap" -- "$client" count 10
err_has "captures nothing" "was not to be trapped"
status 0 "drops instead of waiting" fake "$NOCAP" capture --drop -o "$T/b.nocap" -- "$client" count 1000

fake "$NOCAP" capture -o "$T/c.nocap" -- sh -c "'$client' count 1000; kill -9 \$\$" 2>"$T/err"
verdict "a signal is passed on" $(($? != 137))
err_has "with the summary" "4012 events"
# child_of PID: the process that PID started. Machines for tests have no procps.
child_of() {
    local stat line parent
    for stat in /proc/[0-9]*/stat; do
        { read -r line <"$stat"; } 2>/dev/null || continue
        read -r _ parent _ <<<"${line##*) }"
        [ "$parent" = "$1" ] && basename "${stat%/stat}" && return
    done
}
# In the background without the function, whose shell would stand between: starts $pid.
capture_in_background() {
    LD_PRELOAD=$T/libfake-kmd.so "$NOCAP" capture -o "$1" -- "$client" count 4000000 2>"$T/err" &
    pid=$!
    for _ in $(seq 100); do [ -s "$1.rings" ] && break; sleep 0.05; done
    sleep 0.3
}
capture_in_background "$T/d.nocap"
kill -KILL "$(child_of "$pid")"
wait "$pid" 2>/dev/null
verdict "a command that is killed" $(($? != 137))
err_has "loses nothing" "events were in the rings"
status 0 "its trace is whole" "$NOCAP" info "$T/d.nocap"
capture_in_background "$T/e.nocap"
status 4 "a second capture into the same trace" "$NOCAP" capture -o "$T/e.nocap" -- true
err_has "is refused" "another program"
kill -TERM "$pid"
wait "$pid" 2>/dev/null
verdict "SIGTERM goes to the command" $(($? != 143))
env --default-signal=INT "$NOCAP" capture -o "$T/i.nocap" -- sleep 20 2>"$T/err" &
pid=$!
for _ in $(seq 100); do
    child=$(child_of "$pid")
    [ -n "$child" ] && [ "$(cat "/proc/$child/comm")" = sleep ] && break
    sleep 0.05
done
kill -INT "$pid"
wait "$pid" 2>/dev/null
verdict "SIGINT that somebody sends, too" $(($? != 130))

# ---- what had the name before ----

fake "$NOCAP" capture -o "$T/old.nocap" -- "$client" count 10 2>/dev/null
cp "$T/old.nocap" "$T/same.nocap"
for command in ./typo true; do
    "$NOCAP" capture -o "$T/old.nocap" -- $command 2>/dev/null
    check "the old trace stays where $command captures nothing" cmp "$T/old.nocap" "$T/same.nocap"
done
ln -s old.nocap "$T/link.nocap"
status 0 "through a link" fake "$NOCAP" capture -o "$T/link.nocap" -- "$client" count 20
check "the link stays" test -L "$T/link.nocap"
check "what it points to is replaced" bash -c "! cmp -s '$T/old.nocap' '$T/same.nocap'"
mkfifo "$T/fifo.nocap"
status 4 "into a pipe" fake "$NOCAP" capture -o "$T/fifo.nocap" -- "$client" count 10
err_has "is refused" "plain file"
check "which stays" test -p "$T/fifo.nocap"
if mknod "$T/null.nocap" c 1 3 2>/dev/null; then
    status 4 "into a device" fake "$NOCAP" capture -o "$T/null.nocap" -- "$client" count 10
    check "which stays" test -c "$T/null.nocap"
else
    skip "device" "only root makes device nodes"
fi

# A signal while the captures are summed up: the command put a FIFO where their sums are.
"$NOCAP" capture -o "$T/s.nocap" -- sh -c 'rm "$NOCAP_CAPTURE_SUMS" && mkfifo "$NOCAP_CAPTURE_SUMS"' 2>/dev/null &
pid=$!
for _ in $(seq 200); do [ -p "$(echo "$TMPDIR"/nocap-capture-*/sums)" ] && break; sleep 0.05; done
while [ -s "/proc/$pid/task/$pid/children" ]; do sleep 0.05; done
sleep 0.1
kill -TERM "$pid"
wait "$pid" 2>/dev/null
verdict "a signal while it sums up" $(($? != 143))
check "leaves no folder" test -z "$(find "$TMPDIR" -name 'nocap-capture-*')"

# Nobody is left but the files.
kill_all() {
    child=$(child_of "$pid")
    kill -KILL "$pid" "$child"
    wait "$pid" 2>/dev/null
    while kill -0 "$child" 2>/dev/null; do sleep 0.05; done
    rm -rf "$TMPDIR"/nocap-capture-*
}
events_of() { "$NOCAP" info "$1" 2>/dev/null | awk '$1 == "events" {print $2}'; }
# The writer may have just emptied the rings; then once more.
for _ in $(seq 10); do
    rm -f "$T/k.nocap.rings"
    cp "$T/same.nocap" "$T/k.nocap"
    capture_in_background "$T/k.nocap"
    "$NOCAP" info "$T/k.nocap" >"$T/out" 2>"$T/err"
    live=$(events_of "$T/k.nocap")
    kill_all
    "$NOCAP" check "$T/k.nocap" >"$T/left" 2>&1
    grep -q "its rings held the last" "$T/left" && break
done
err_has "a trace that is being captured is read" "still being captured"
check "it is not the old one" test "$live" != "$(events_of "$T/same.nocap")"
cp "$T/left" "$T/out"
out_has "check says what is left" "its capture was broken off; its rings held the last"
"$NOCAP" hang "$T/k.nocap" >"$T/out" 2>&1
out_has "so does hang" "its capture was broken off; its rings held the last"
events=$(events_of "$T/k.nocap")
"$NOCAP" capture -o "$T/k.nocap" -- true 2>/dev/null
check "a command that captures nothing leaves rings" test -e "$T/k.nocap.rings"
check "and the trace" test "$(events_of "$T/k.nocap")" = "$events"
cp "$T/k.nocap" "$T/bad.nocap"
cp --sparse=always "$T/k.nocap.rings" "$T/bad.nocap.rings"
status 0 "a new capture in its place" fake "$NOCAP" capture -o "$T/k.nocap" -- "$client" count 10
err_has "says where the old one is" "it is kept as $T/k.killed.nocap"
check "with all that it held" test "$(events_of "$T/k.killed.nocap")" = "$events"
check "the new one is whole" test ! -e "$T/k.nocap.rings"

# All records: those of the main thread and of the four that count, whichever has any at this moment.
ring=$((8 << 20)) head=$(($(stat -c %s "$T/bad.nocap.rings") % (8 << 20)))
tr '\0' '\377' </dev/zero | dd of="$T/bad.nocap.rings" bs=1M count=$((5 * ring >> 20)) iflag=fullblock \
    seek=$head oflag=seek_bytes conv=notrunc 2>/dev/null
status 1 "rings with bad records" "$NOCAP" capture --recover "$T/bad.nocap"
err_has "are told of" "what could not be read"
check "and kept" test -e "$T/bad.killed.nocap.rings"
"$NOCAP" check "$T/bad.nocap" >"$T/out" 2>&1
verdict "the trace is there" $(($? > 1))
out_has "check tells that it is cut" TRC-001
out_has "and of what is missing" TRC-003
status 3 "there is nothing more to recover" "$NOCAP" capture --recover "$T/bad.nocap"

# ---- a full disk ----

disk() { env LD_PRELOAD="$B/tests/libfake-kmd.so $B/tests/libfake-disk.so" "$@"; }
status 4 "a disk that fills up" disk FAKE_DISK_BYTES=5000 "$NOCAP" capture -o "$T/full.nocap" -- "$client" count 100000
check "is told in one line" test "$(wc -l <"$T/err")" = 1
err_has "with its cause" "No space left on device; the last events are in its rings"
sums=$(sed -n 's/nocap capture: \([0-9]*\) events, .* \([0-9]*\) dropped, .*/\1 \2/p' "$T/err")
"$NOCAP" info "$T/full.nocap" >"$T/out" 2>/dev/null
check "and true sums" test "$(awk '$1 == "events" {e = $2} $1 == "lost" {l = $2} END {print e, l + 0}' "$T/out")" = "$sums"
status 0 "which are recovered when there is room" "$NOCAP" capture --recover "$T/full.nocap"
check "all of them" test "$(events_of "$T/full.nocap")" = "${sums% *}"
status 7 "the command's own status counts more" disk FAKE_DISK_BYTES=5000 "$NOCAP" capture -o "$T/full2.nocap" -- "$client" count 10000 7
status 4 "no room for rings" disk FAKE_DISK_RINGS=0 "$NOCAP" capture -o "$T/none.nocap" -- "$client" count 1000
check "is told in one line" test "$(wc -l <"$T/err")" = 1
err_has "with its cause" "no room for the ring of a thread"
err_has "and what is lost" " 4012 dropped, "
cp "$T/same.nocap" "$T/none.nocap"
status 4 "no room at all" disk FAKE_DISK_BYTES=0 "$NOCAP" capture -o "$T/none.nocap" -- "$client" count 1000
err_has "is told" "0 events, 0 bytes, 0 dropped"
check "and the old trace stays" cmp "$T/none.nocap" "$T/same.nocap"
# All files of nocap itself are on the disk that is full, the trace is not; then the trace, too.
status 0 "no room for temporary files" disk FAKE_DISK_FULL="$TMPDIR" "$NOCAP" capture -o "$T/t.nocap" -- "$client" count 1000
err_has "the summary" "4012 events, "
status 4 "and none for rings" disk FAKE_DISK_FULL="$TMPDIR" FAKE_DISK_RINGS=0 "$NOCAP" capture -o "$T/t.nocap" -- "$client" count 1000
check "is told in one line" test "$(wc -l <"$T/err")" = 1
err_has "with what is lost" " 4012 dropped, "
"$NOCAP" check "$T/t.nocap" >"$T/out"
out_has "which check warns of" "warning TRC-003"
status 4 "none, and no end" disk FAKE_DISK_FULL="$TMPDIR" FAKE_DISK_RINGS=0 "$NOCAP" capture -o "$T/t.nocap" -- \
    env CLIENT_END=_exit "$client" count 1000
err_has "with what is lost" " 4012 dropped, "
err_has "and why" "there was no room for what was dropped"
disk FAKE_DISK_BYTES=5000 FAKE_DISK_FULL="$TMPDIR" "$NOCAP" capture -o "$T/t.nocap" -- env CLIENT_END=_exit "$client" count 20000 2>"$T/err"
verdict "no room but in the rings, and no end" $(($? != 4))
sums=$(sed -n 's/nocap capture: \([0-9]*\) events, .* \([0-9]*\) dropped, .*/\1 \2/p' "$T/err")
"$NOCAP" info "$T/t.nocap" >"$T/out" 2>/dev/null
check "has true sums" test "$(awk '$1 == "events" {e = $2} $1 == "lost" {l = $2} END {print e, l + 0}' "$T/out")" = "$sums"
status 0 "without /proc" env LD_PRELOAD="$B/tests/libfake-disk.so" FAKE_NO_PROC=1 "$NOCAP" capture -o "$T/noproc.nocap" -- true
check "nothing stays beside the traces" test -z "$(find "$T" -maxdepth 1 -name '.*' -type f)"

if command -v python3 >/dev/null; then
    cat >"$T/host.py" <<'END'
import ctypes, os, sys, time
lib = ctypes.CDLL(os.environ["TT_METAL_SIMULATOR"])
assert os.path.exists(os.path.dirname(os.environ["TT_METAL_SIMULATOR"]) + "/soc_descriptor.yaml")
write = lib.libttsim_pci_mem_wr_bytes
write.argtypes = [ctypes.c_uint64, ctypes.c_char_p, ctypes.c_uint32]
lib.libttsim_init()
def store(addr, value):
    write(0x100000000 + addr, value.to_bytes(4, "little"), 4)
def at(x, y, addr, value):
    for i, word in enumerate((0, x << 11 | y << 17, 0x40)):
        store(0x1FC00000 + 4 * i, word)
    store(addr, value)
    lib.libttsim_clock(10)
at(1, 2, 0x370, 0x40000000)
at(1, 2, 0x180000, 1)   # a gap
for pause in range(int(sys.argv[1])):   # until whoever follows has told of it
    time.sleep(0.1)
    at(1, 2, 0x1000, pause)
    if " error " in open(sys.argv[2]).read():
        break
else:
    sys.exit(9 if len(sys.argv) > 2 else 0)
lib.libttsim_exit()
END
    mkdir "$T/sim" && ln -s "$B/tests/libfake-ttsim.so" "$T/sim/libttsim_bh.so" && touch "$T/sim/soc_descriptor.yaml"
    status 0 "a host of the simulator" "$NOCAP" capture --ttsim "$T/sim/libttsim_bh.so" -o "$T/s.nocap" -- python3 "$T/host.py" 0
    err_has "the summary" "8 events, "
    "$NOCAP" dump "$T/s.nocap" --format jsonl >"$T/out"
    out_has "what it wrote" '"x":1,"y":2,"noc":0,"addr":"0x370","size":4,"value":"0x40000000"'
    export TT_METAL_SIMULATOR=$T/sim/libttsim_bh.so
    status 0 "the simulator from the environment" "$NOCAP" capture -o "$T/s.nocap" -- python3 "$T/host.py" 0
    err_has "the summary" "8 events, "
    "$NOCAP" check "$T/s.nocap" >"$T/out"
    found=$?
    status "$found" "followed" "$NOCAP" capture --follow -o "$T/f.nocap" -- python3 "$T/host.py" 200 "$T/err"
    err_has "the verdict changes" "verdict so far: errors were found"
    check "and is told when it does" test "$(grep -c 'verdict' "$T/err")" -le 3
    check "an error was found" test "$found" = 1
    "$NOCAP" check "$T/f.nocap" --format json >"$T/json"
    check "each finding is told once, before the command ends" test "$(grep -c ' error ' "$T/err")" = \
        "$(python3 -c 'import json,sys; print(json.load(sys.stdin)["summary"]["error"])' <"$T/json")"
    unset TT_METAL_SIMULATOR
else
    skip "simulator" "there is no python3"
fi

status 2 "without output" "$NOCAP" capture -- true
status 2 "to standard output" "$NOCAP" capture -o - -- true
status 2 "a command and a scenario" "$NOCAP" capture --sim boot -o "$T/x.nocap" -- true
status 2 "a command without --" "$NOCAP" capture -o "$T/x.nocap" true
status 4 "where nothing can be written" "$NOCAP" capture -o "$T/no/such/x.nocap" -- true
status 3 "a simulator that is not there" "$NOCAP" capture --ttsim "$T/nope.so" -o "$T/x.nocap" -- true
check "nothing is left behind" test -z "$(ls "$TMPDIR")"
finish
