#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `make demo` shows: the built-in device model boots and runs kernels, its trace is checked; then a
# fault is found.
set -u
build=$1
nocap=$build/nocap

show() {
    local word
    printf '\n$ nocap'
    for word in "${@:2}"; do
        case $word in *" "*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac
    done
    echo
    "$@"
}

show "$nocap" capture --sim launch-host --tiles 4 --launches 8 -o "$build/demo.nocap" || exit 1
show "$nocap" check "$build/demo.nocap" || exit 1
show "$nocap" dump "$build/demo.nocap" --limit 16 \
    --filter 'tile==1,2 && ev==write && addr in {0x68..0x6b, 0x370..0x373}' || exit 1

echo
echo "The same device, which once reports DONE while its RISCs still work:"
show "$nocap" capture --sim launch-host --fault done-early -o "$build/demo-fault.nocap" || exit 1
show "$nocap" check "$build/demo-fault.nocap"
[ $? -eq 1 ] || { echo "the fault was not found" >&2; exit 1; }
printf '\nThe rules behind the findings: nocap explain GO-004\n'
