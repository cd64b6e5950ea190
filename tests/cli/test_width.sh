#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Text follows the width of the terminal: on one of 80 columns no line is longer, no word is broken, and none is lost.
. tests/cli/lib.sh
# on WIDTH COMMAND...: what a terminal of that width is sent. The terminal stays open in the reader, and the end is a byte
# in it, because what a terminal still holds when its last writer leaves can be lost.
on() {
    python3 - "$@" <<'END'
import fcntl, os, pty, struct, subprocess, sys, termios
fd, terminal = pty.openpty()
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
command = ["sh", "-c", '"$@"; status=$?; printf "\\001"; exit $status', "sh", *sys.argv[2:]]
child = subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, env={**os.environ, "NO_COLOR": "1"})
out = b""
while not out.endswith(b"\1"):
    out += os.read(fd, 65536)
sys.stdout.buffer.write(out[:-1].replace(b"\r\n", b"\n"))
sys.exit(child.wait())
END
}
# words FILE: one a line
words() { tr -s ' \n' '\n\n' <"$1" | sed '/^$/d'; }
# longest FILE: of lines that could be shorter
longest() { awk '{ if (length($0) > most && NF > 1) most = length($0) } END { print most + 0 }' "$1"; }

"$NOCAP" capture --sim launch-host --tiles 3 --fault hang-sem -o "$T/hang.nocap" 2>/dev/null
"$NOCAP" capture --sim launch-host --tiles 3 -o "$T/well.nocap" 2>/dev/null
for command in "check -v $T/hang.nocap" "check golden/noc-race-wrong-barrier.nocap" "hang $T/hang.nocap" \
    "dump golden/noc-kernel-leaves-writes.nocap" "who 1,2 0x373 $T/hang.nocap" "info --noc $T/well.nocap" "explain GO-004" \
    "coverage $T/well.nocap" rules "replay $T/hang.nocap" --help "check --help" "aie lint --help" "capture --sim list" "profile list" "profile diff blackhole-py tt-metal-2026-03" "import list"; do
    # shellcheck disable=SC2086
    "$NOCAP" $command >"$T/piped" 2>/dev/null
    [ "$command" != rules ] || widths=80 # from there on
    for width in ${widths-$(share 2 80 132)}; do
        # shellcheck disable=SC2086
        on $width "$NOCAP" $command >"$T/shown"
        check "$width columns: ${command%% *}" test "$(longest "$T/shown")" -le $width -a -s "$T/shown"
        check "all words" cmp <(words "$T/piped") <(words "$T/shown")
    done
done
"$NOCAP" hang "$T/hang.nocap" >"$T/piped"
check "piped it is as wide as it needs" test "$(longest "$T/piped")" -gt 80
"$NOCAP" dump --format jsonl "$T/hang.nocap" | sed '1s/"time_unit":"cycles"/&,"clock_hz":1000000000/' >"$T/clock.jsonl"
"$NOCAP" hang "$T/clock.jsonl" >"$T/out"
quiet=$("$NOCAP" hang --format json "$T/hang.nocap" | jq .quiet)
check "cycles have their time beside them" grep -q "no progress for $quiet cycles ([0-9.]* us)" "$T/out"
"$NOCAP" check "$T/clock.jsonl" >"$T/out"
out_has "in a report too" " cycles (1"
"$NOCAP" capture --sim launch-host --tiles 3 --fault done-early -o "$T/early.nocap" 2>/dev/null
for width in $(share 2 45 80 100); do
    for color in never always; do
        on $width "$NOCAP" diff --color $color "$T/well.nocap" "$T/early.nocap" |
            sed 's/\x1b\[[0-9;]*m//g' | sed '1,/^1\. /d; /^ *after /d; /^$/,$d' >"$T/shown"
        check "both sides of a comparison find room in $width columns" test "$(longest "$T/shown")" -le $width
        check "each row is one line, colours $color" test -s "$T/shown" -a "$(grep -cvE '^  [0-9]' "$T/shown")" -eq 0
    done
done
check "what is cut says so" grep -qF ... "$T/shown"
"$NOCAP" capture --sim launch-host --tiles 2 -o "$T/two.nocap" 2>/dev/null
on 80 "$NOCAP" diff "$T/well.nocap" "$T/two.nocap" >"$T/shown"
check "where one side has nothing the other one has its room" grep -qE '^  [0-9]+ .{70,} <$' "$T/shown"
on 80 "$NOCAP" export --help >"$T/shown"
check "the text of an option goes on in its column" test "$(sed -n '/^options/,/^exit/p' "$T/shown" | grep -cE '^ {7,25}[^ -]')" -eq 0
check "no line of the text is torn" test "$(sed -n '/^perfetto/,/^options/p' "$T/shown" | grep -cE '^    ')" -eq 0
on 80 "$NOCAP" sql "$T/well.nocap" "select * from launches limit 2" >"$T/shown"
check "a table that is too wide has a line a value" test "$(longest "$T/shown")" -le 80 -a "$(grep -c '^done_t  *[0-9]' "$T/shown")" -eq 2
on 80 "$NOCAP" sql "$T/well.nocap" "select n, duration from launches limit 2" >"$T/shown"
check "one that is not has a line a row" test "$(wc -l <"$T/shown")" -eq 3
on 20 "$NOCAP" hang "$T/hang.nocap" >"$T/shown"
check "a terminal that is too narrow breaks lines itself" cmp <("$NOCAP" hang "$T/hang.nocap") "$T/shown"
on 80 "$NOCAP" check --format json "$T/hang.nocap" >"$T/shown"
check "JSON is not folded" test "$(wc -l <"$T/shown")" -eq 1
# Paragraphs and options are written for 80 columns, so that no terminal folds them in the middle.
wide=$("$NOCAP" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p' | while read -r command; do
    "$NOCAP" "$command" --help | sed '1,3d; /^exit status/,$d' | awk 'length > 80'
done)
check "paragraphs and options of --help have 80 columns: $wide" test -z "$wide"
finish
