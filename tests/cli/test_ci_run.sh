#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# .ci/run adds up what its steps say, those that fail included; .ci/deps installs nothing that is there;
# tests/run counts results against the plan.
. tests/cli/lib.sh
mkdir -p "$T/tree/.ci" "$T/bin"
cp .ci/run "$T/tree/.ci"
stub() { # NAME: a program of the text on standard input
    { echo '#!/bin/sh' && cat; } >"$T/bin/$1"
    chmod +x "$T/bin/$1"
}
echo "echo \"\$*\" >>'$T/installed'" | stub apt-get
cp "$T/bin/apt-get" "$T/tree/.ci/deps"
stub make <<'END'
for target; do :; done
case $target in
test) echo '70 passed, 2 failed, 1 skipped'; echo 'make: *** [Makefile:1: test] Error 1' >&2; exit 2 ;;
asan) echo '50 passed, 0 failed, 3 skipped' ;;
tsan) echo '30 passed, 0 failed, 0 skipped'; exit 2 ;;
analyse) exit 2 ;;
esac
END
steps=$(grep -c '^ *step "' .ci/run)
[ "$(id -u)" -eq 0 ] || steps=$((steps - 1)) # its package lists
status 1 "a run with steps that fail" env PATH="$T/bin:$PATH" "$T/tree/.ci/run"
check "ends with all sums" test "$(tail -n 1 "$T/out")" = "$((70 + 50 + 30 + steps - 4)) passed, $((2 + 1 + 1)) failed"
check "names the steps" test "$(grep -c '^FAILED: ' "$T/out")" -eq 3
out_has "by their names" "FAILED: tests, threads"

rm -f "$T/installed"
echo 'echo install ok installed' | stub dpkg-query
status 0 "packages that are there" env PATH="$T/bin:$PATH" .ci/deps make gcc
check "are not installed" test ! -e "$T/installed"
echo '[ "$4" = gcc ] || echo install ok installed' | stub dpkg-query
env PATH="$T/bin:$PATH" .ci/deps make gcc >"$T/out" 2>"$T/err"
err_has "a package that is missing is named" gcc

printf 'echo "ok 1 - a"\necho "1..%s"\n' '$RESULTS' | stub results
status 0 "as many results as planned" env RESULTS=1 tests/run "$T/runs" "$T/bin/results"
status 1 "fewer" env RESULTS=2 tests/run "$T/runs" "$T/bin/results"
out_has "is a failure" "results printed 1 results of 2"
finish
