#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nocap top in a terminal of tmux: a trace that hangs, the keys, a trace that grows.
. tests/cli/lib.sh
status 2 "without a terminal" bash -c "'$NOCAP' top golden/fault-hang-trisc1.nocap </dev/null"
err_has "says what to do" "nocap hang, check and replay"
if ! command -v tmux >/dev/null; then
    skip "the screen" "install tmux"
    finish
fi
unset TMUX
sessions=0
term() { tmux -L "nocap-top-$$-$sessions" "$@"; }
trap 'term kill-server 2>/dev/null; rm -rf "$T"' EXIT
# screen NAME TEXT: waits until the screen has the text
screen() {
    for _ in $(seq 100); do
        term capture-pane -p >"$T/screen" 2>/dev/null
        grep -qF -- "$2" "$T/screen" && break
        sleep 0.1
    done
    grep -qF -- "$2" "$T/screen" || sed 's/^/# /' "$T/screen"
    grep -qF -- "$2" "$T/screen"
    verdict "$1" $?
}
start() {
    sessions=$((sessions + 1)) # a server of its own: one that ends takes no session any more
    term new-session -d -x 110 -y 40 "$1"
}

start "'$NOCAP' top golden/fault-hang-trisc1.nocap; echo status \$?; sleep 60"
screen "how far it is" "$(jq .events <("$NOCAP" info --format json golden/fault-hang-trisc1.nocap)) events"
screen "who waits" "host 1,3 waits for brisc 1,3: go signal DONE at 0x373"
check "as nocap hang says" grep -q "go signal DONE at 0x373" <("$NOCAP" hang golden/fault-hang-trisc1.nocap)
screen "the core" "core 1,2"
term send-keys j Enter
screen "the core of a wait" "core 1,3"
screen "its state" "busy"
term send-keys Left
screen "its neighbour" "core 0,3"
screen "of which nothing is known" "nothing was seen of it"
term send-keys f
screen "only what is about it" "waits: 0 of this core"
term send-keys q
screen "the end" "status 0"
term kill-server

start "'$NOCAP' top golden/fault-done-early.nocap"
screen "an error" "1 errors"
term send-keys Tab
screen "in the list" "error GO-004 #1575 brisc 1,3"
term send-keys Enter
screen "its core" "core 1,3"
term send-keys q
term kill-server 2>/dev/null

B=$(cd "${BUILD:-build}" && pwd)
case $B in
*asan* | *tsan*) skip "a capture under way" "a sanitizer's run time must come before the shim" ;;
*)
    ln -s "$B/tests/libfake-kmd.so" "$T/libfake-kmd.so"
    LD_PRELOAD=$T/libfake-kmd.so "$NOCAP" capture -o "$T/live.nocap" -- "$B/tests/kmd_client" count 4000000 2>"$T/null" &
    pid=$!
    for _ in $(seq 100); do [ -s "$T/live.nocap.rings" ] && break; sleep 0.05; done
    start "'$NOCAP' top '$T/live.nocap'"
    screen "a capture under way" "live.nocap  capturing"
    kill -TERM "$pid"
    wait "$pid" 2>/dev/null
    screen "its end" "live.nocap  ended"
    term send-keys q
    term kill-server 2>/dev/null
    ;;
esac

head -c 6000 golden/launch-dev.nocap >"$T/cut.nocap"
start "'$NOCAP' top '$T/cut.nocap'"
screen "a trace that is cut short" "cut.nocap  cut short, or still being written"
term send-keys q
term kill-server 2>/dev/null
"$NOCAP" capture --sim launch-host --tiles 4 -o "$T/gap.nocap" 2>/dev/null
printf XXXXXXXX | dd of="$T/gap.nocap" bs=1 seek=8000 conv=notrunc 2>/dev/null
start "'$NOCAP' top '$T/gap.nocap'"
screen "a damaged trace" "gap.nocap  ended, damaged at event 1024"
term send-keys q
term kill-server 2>/dev/null
"$NOCAP" capture --sim launch-host --tiles 1 --fault done-early -o "$T/one.nocap" 2>/dev/null
"$NOCAP" dump --format jsonl "$T/one.nocap" | sed '1!{p;s/^{/{"chip":1,/}' | "$NOCAP" import jsonl - -o "$T/two.nocap" 2>/dev/null
start "'$NOCAP' top '$T/two.nocap'"
screen "two chips" "two.nocap  ended; the board is chip 0 of 2"
term send-keys Tab
screen "the finding of the other" "brisc 1,2 chip 1: launch DONE stored with sync word 0x80000000"
term send-keys q
term kill-server 2>/dev/null
make_trace "$T/a.jsonl"
start "'$NOCAP' top '$T/a.jsonl'; sleep 60"
screen "JSON Lines" "top reads .nocap files alone; nocap import makes them of other forms"
term kill-server 2>/dev/null

start "'$NOCAP' top '$T/none.nocap'; echo status \$?; sleep 60"
screen "no such trace" "status 3"
term kill-server
finish
