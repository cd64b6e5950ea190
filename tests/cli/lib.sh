# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the program tests share: sourced by tests/cli/test_*.sh, which tests/run starts at the top
# of the tree with $NOCAP naming the program. Results are TAP lines on standard output; $T is a
# directory for the test's files.
set -u
: "${NOCAP:=$PWD/build/nocap}"
T=$(mktemp -d) || exit 1
trap 'rm -rf "$T"' EXIT
tests=0 failures=0
# The end of a pipeline runs in this shell, so that results there are counted, too.
shopt -s lastpipe

# verdict NAME RESULT: RESULT 0 is a pass. In a subshell nobody would count it.
verdict() {
    if [ "$BASH_SUBSHELL" -gt 0 ]; then
        echo "not ok 0 - $1 is checked in a subshell"
        kill $$
        exit 1
    fi
    tests=$((tests + 1))
    if [ "$2" -eq 0 ]; then
        echo "ok $tests - $1"
    else
        echo "not ok $tests - $1"
        failures=$((failures + 1))
    fi
}

# check NAME COMMAND...: passes if COMMAND succeeds.
check() {
    local name=$1
    shift
    "$@"
    verdict "$name" $?
}

# status WANTED NAME COMMAND...: passes if COMMAND ends with that status; its output is in $T/out
# and $T/err.
status() {
    local wanted=$1 name=$2 got
    shift 2
    "$@" >"$T/out" 2>"$T/err"
    got=$?
    [ "$got" -eq "$wanted" ] || sed "s/^/# status $got: /" "$T/err" "$T/out" | head -n 5
    verdict "$name" $((got != wanted))
}

# has FILE TEXT: whether a line of $T/FILE has TEXT. Most do, near the start: a process less.
has() {
    local start
    IFS= read -r -d '' -n 8192 start <"$T/$1"
    [[ $start == *"$2"* ]] || grep -qF -- "$2" "$T/$1"
}

# out_has NAME TEXT, err_has NAME TEXT: passes if the last output has a line with TEXT.
out_has() {
    has out "$2"
    local missing=$?
    [ $missing -eq 0 ] || sed 's/^/# out: /' "$T/out" | head -n 20
    verdict "$1" $missing
}
err_has() {
    has err "$2"
    local missing=$?
    [ $missing -eq 0 ] || sed 's/^/# err: /' "$T/err" | head -n 20
    verdict "$1" $missing
}

# sanitized: whether the program has sanitizers, which make all of it several times as slow.
sanitized() {
    case ${BUILD:-build} in *asan* | *tsan*) ;; *) return 1 ;; esac
}

# long: whether this is `make long-seeds`.
long() { [ -n "${NOCAP_LONG_SEEDS-}" ]; }

# share N WORD...: one in N of them, and all in `make long-seeds`.
share() {
    local n=$1 i
    shift
    ! long || n=1
    for ((i = 1; i <= $#; i += n)); do echo "${!i}"; done
}

# Whether all memory is given back, replay_fuzz_program asks, which calls the program as a function: to
# ask at each end of it takes as long as a short command.
export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}

# skip NAME REASON
skip() {
    tests=$((tests + 1))
    echo "ok $tests - $1 # SKIP $1: $2"
}

finish() {
    echo "1..$tests"
    exit $((failures > 0))
}

# A small trace of one tile: a launch message field, GO, a kernel, DONE; one source, times in order.
make_trace() {
    cat >"$1" <<'END'
{"nocap":1,"arch":"blackhole","board":"p100","layout":"bh-launch96","time_unit":"cycles","observes":["host-mmio","core-store","kernel"],"scope":[[1,2]],"producer":"program test"}
{"t":90,"ev":"note","text":"a \"quoted\" note, with a comma"}
{"t":100,"ev":"write","by":"host","x":1,"y":2,"addr":"0xbc","size":4,"value":"0x1f","order":"strict","map":"uc"}
{"t":110,"ev":"write","by":"host","x":1,"y":2,"addr":"0x370","size":4,"value":"0x80000000"}
{"t":120,"ev":"write","by":"brisc","x":1,"y":2,"addr":"0x68","size":1,"value":"0x1","pc":"0x4124"}
{"t":130,"ev":"kernel","op":"enter","x":1,"y":2,"by":"trisc1","pc":"0x8410"}
{"t":140,"ev":"tensix","op":"issue","x":1,"y":2,"thread":1,"word":"0xa4000008","sem":[0,1,0,0,0,0,0,0]}
{"t":150,"ev":"kernel","op":"exit","x":1,"y":2,"by":"trisc1","pc":"0x8420","ret":"0x0"}
{"t":160,"ev":"noc","op":"inline","x":1,"y":2,"noc":0,"buf":3,"posted":true,"dx":2,"dy":2,"daddr":"0xffb70438","size":4,"value":"0x40"}
{"t":170,"ev":"write","by":"brisc","x":1,"y":2,"addr":"0x373","size":1,"value":"0x0"}
END
}
