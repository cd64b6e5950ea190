#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every source file names its licence.
. tests/cli/lib.sh
status 0 "every source file names its licence" tests/licence
mkdir "$T/tree"
cp -R .ci api capture checker cli debian formats include replay tests Makefile libnocap.map nocap.pc.in "$T/tree/"
grep -v SPDX cli/main.c >"$T/tree/cli/main.c"
status 1 "one that does not is listed" "$T/tree/tests/licence"
check "and nothing else" test "$(cat "$T/out")" = cli/main.c
finish
