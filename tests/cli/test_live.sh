#!/bin/bash
# nocap capture -- CMD: a program under the driver shim, a host of a simulator, a fault while they run.
. tests/cli/lib.sh
case ${BUILD:-build} in
*asan* | *tsan*) skip "live" "a sanitizer's run time must come before the shim and the proxy" && finish ;;
esac
B=$(cd "$BUILD" && pwd)
client=$B/tests/kmd_client
mkdir "$T/tmp" && export TMPDIR=$T/tmp
# The fake driver goes behind the shim.
fake() { LD_PRELOAD=$B/tests/libfake-kmd.so "$@"; }

status 0 "a client of the driver" fake "$NOCAP" capture -o "$T/a.nocap" -- "$client" count 1000
err_has "the summary" "4012 events, "
err_has "its drops" " 0 dropped, "
err_has "its path" "$T/a.nocap"
check "one line" test "$(wc -l <"$T/err")" = 1
status 0 "a whole trace" "$NOCAP" info "$T/a.nocap"
out_has "who made it" kmd_client
status 7 "the exit status" fake "$NOCAP" capture -o "$T/a.nocap" -- "$client" count 10 7
status 127 "no such command" "$NOCAP" capture -o "$T/a.nocap" -- no-such-command
check "one line" test "$(wc -l <"$T/err")" = 1
status 0 "a command without device" "$NOCAP" capture -o "$T/b.nocap" -- true
err_has "is told" "nothing was captured"
check "and leaves no trace" test ! -e "$T/b.nocap"
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
    LD_PRELOAD=$B/tests/libfake-kmd.so "$NOCAP" capture -o "$1" -- "$client" count 4000000 2>"$T/err" &
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
    mkdir "$T/sim" && ln -s "$B/tests/libfake-ttsim.so" "$T/sim/libttsim_bh.so" && touch "$B/tests/soc_descriptor.yaml"
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
    check "an error was found" test "$found" = 1
    "$NOCAP" check "$T/f.nocap" --format json >"$T/json"
    check "each finding is told once, before the command ends" test "$(grep -c ' error ' "$T/err")" = \
        "$(python3 -c 'import json,sys; print(json.load(sys.stdin)["summary"]["error"])' <"$T/json")"
    unset TT_METAL_SIMULATOR
    rm -f "$B/tests/soc_descriptor.yaml"
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
