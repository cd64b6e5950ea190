#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The commands of the documents, in their order, as a reader copies them; links between documents.
. tests/cli/lib.sh

program=$(realpath "$NOCAP")
root=$PWD
mkdir "$T/bin" "$T/work"
ln -s "$program" "$T/bin/nocap"
export PATH=$T/bin:$PATH

# What the reader has and a test has not: files of his own.
own='matmul_trisc2|kernel_trisc1|watcher\.log|l1-dump|run\.nocap --elf|jsonl|noc_trace|noc\.nocap|dot -T|uc_log_0'
follow() {
    rm -rf "$T/work" && mkdir "$T/work" && cd "$T/work" || exit
    nocap capture --sim launch-host --seed 2 -o good.nocap 2>/dev/null
    while IFS= read -r line; do
        bash -c "$line" >"$T/out" 2>"$T/err"
        result=$?
        verdict "$1: $line" $((result > 1))
    done < <(sed -n 's/^    \(nocap .*\)/\1/p' "$root/docs/$1" | grep -Ev "$own")
    cd "$root" || exit
}
# What they quote is what the program says.
quotes() { # PAGE PATTERN COMMAND: the page's lines of that pattern stand in what the command says
    bash -c "$3" >"$T/said" 2>&1
    while IFS= read -r line; do
        check "$1 quotes: ${line:0:60}" grep -qF -- "${line%..}" "$T/said"
    done < <(sed -n 's/^    //p' "$1" | grep -E "$2")
}
follow look.md
quotes README.md '^error|expected|^verdict' "nocap check '$T/work/fault.nocap'"
follow hang.md
for page in README.md docs/hang.md; do
    quotes "$page" '^HUNG|^root|waits for|TNX-040 at' "nocap hang '$T/work/hang.nocap'"
done

# What docs/ci.md says of a run that fails: the parts of its trace have the finding, too.
cd "$T/work" && mkdir -p golden out/traces
nocap capture --sim launch-host -o golden/launch.nocap 2>/dev/null
nocap capture --sim launch-host --fault done-early -o out/traces/launch.nocap 2>/dev/null
while IFS= read -r line; do
    bash -c "$line" >"$T/out" 2>"$T/err"
    result=$?
    verdict "ci.md: $line" $((result > 1))
done < <(sed -n '/^## When it fails/,/^## What/s/^    \(nocap .*\)/\1/p' "$root/docs/ci.md")
for part in small part; do
    status 1 "$part.nocap checks the same" nocap check $part.nocap
    out_has "with the finding" GO-004
done
cd "$root" || exit

for page in README.md docs/*.md; do
    for link in $(grep -o '](\([a-z][A-Za-z_./-]*\)' "$page" | sed 's/](//'); do
        check "$page: link to $link" test -e "$(dirname "$page")/$link"
    done
done
for page in docs/*.md; do
    name=${page#docs/}
    test "$name" = README.md || check "docs/README.md lists $name" grep -q "($name)" docs/README.md
done
finish
