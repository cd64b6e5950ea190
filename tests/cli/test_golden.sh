#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The tree's golden traces: they still check as recorded, the built-in device model still makes them, stock tools read them, and
# JSON Lines out and in again gives the same events.
. tests/cli/lib.sh
mkdir "$T/golden"
awk 'BEGIN { RS = ""; ORS = "\n\n" } NR == 1 || $2 ~ /^(launch|boot|aie)/' golden/manifest.txt >"$T/golden/manifest.txt"
sed -n 's/^trace  *//p' "$T/golden/manifest.txt" | while read -r name; do cp "golden/$name.nocap" "$T/golden"; done
check "a part of them" test "$(ls "$T/golden" | wc -l)" -ge 10
all=golden
sanitized && all=$T/golden
status 0 "golden verify" "$NOCAP" golden verify --run --jobs 2 "$all"
check "makes all again" test -z "$(grep 'stored trace only' "$T/out")"
for trace in $(share 10 golden/*.nocap); do
    name=$(basename "$trace" .nocap)
    zstd -dcq "$trace" | protoc -I formats/trace --decode=nocap.Trace nocap.proto >"$T/decoded" 2>"$T/err"
    check "$name: zstd and protoc read it" test -s "$T/decoded" -a ! -s "$T/err"
    "$NOCAP" dump "$trace" --format jsonl >"$T/a.jsonl"
    "$NOCAP" import jsonl "$T/a.jsonl" -o "$T/b.nocap" 2>/dev/null
    "$NOCAP" dump "$T/b.nocap" --format jsonl >"$T/b.jsonl"
    check "$name: JSON Lines and back" cmp -s "$T/a.jsonl" "$T/b.jsonl"
done
check "together under 2 MB" test "$(du -cb golden/* | tail -n 1 | cut -f1)" -lt 2000000
"$NOCAP" capture --sim launch-host --seed 1 --fault done-early -o "$T/other.nocap" 2>/dev/null
cp "$T/other.nocap" "$T/golden/launch-host.nocap"
status 1 "a trace that differs is told" "$NOCAP" golden verify --run "$T/golden"
out_has "by name" "launch-host"
out_has "with the events that differ" "A is the stored trace, B the new one"
status 1 "several at a time" "$NOCAP" golden verify --run --jobs 4 "$T/golden"
cp "$T/out" "$T/four"
"$NOCAP" golden verify --run "$T/golden" >"$T/one"
check "say the same" diff <(grep -v '^[AB]: /' "$T/one") <(grep -v '^[AB]: /' "$T/four")
status 1 "an update without a terminal only shows" "$NOCAP" golden update --run "$T/golden"
check "and changes nothing" cmp "$T/other.nocap" "$T/golden/launch-host.nocap"
status 0 "unless it may" "$NOCAP" golden update --run --yes -j 4 "$T/golden"
status 0 "after which all is well" "$NOCAP" golden verify --run "$T/golden"

ln -s "$NOCAP" "$T/nocap" # the path of the program may have blanks
made="$T/nocap capture --sim boot --tiles 1"
status 0 "a command makes a trace" "$NOCAP" golden record "$T/g" file --reason "it's" -- $made -o {}
status 0 "on standard output" "$NOCAP" golden record "$T/g" pipe --reason "why not" -- \
    sh -c "$made --seed \$((2 + 3)) -o - # it's"
status 0 "is verified as it stands" "$NOCAP" golden verify "$T/g"
out_has "which is said of each" "ok      pipe (stored trace only)"
out_has "and in the end" "2 of 2 traces were not made again: --run runs what made them"
check "and nothing else lies there" bash -c "! grep -q unknown '$T/out'"
cp "$T/g/pipe.nocap" "$T/g/copy.nocap"
status 0 "a trace that was put beside them" "$NOCAP" golden verify "$T/g"
out_has "is not verified" "unknown copy (not verified: the manifest does not name it)"
rm "$T/g/copy.nocap"
status 0 "and made again on demand" "$NOCAP" golden verify --run "$T/g"
check "both are" test "$(grep -c '^ok ' "$T/out")" -eq 2
sed -i 's/boot --tiles 1 -o/boot --tiles 2 -o/; s/^made     run sh.*/made     run false/' "$T/g/manifest.txt"
status 1 "another trace, and a command that fails" "$NOCAP" golden verify --run "$T/g"
check "both are told" test "$(grep -c '^DIFFERS ' "$T/out")" -eq 2
out_has "with the reason" "'false' ended with status 1"
printf garbage >"$T/g/file.nocap"
status 3 "a trace that cannot be read" "$NOCAP" golden verify "$T/g"
check "the others are told all the same" grep -q '^ok  *pipe' "$T/out"
status 3 "is not replaced without --run" "$NOCAP" golden update --yes "$T/g"
err_has "which is said" "it was not made again: --run runs what made it"
rm "$T/g/file.nocap"
status 3 "and one that is missing" "$NOCAP" golden verify "$T/g"
err_has "is named" "$T/g/file.nocap"
status 3 "a command that fails makes nothing" "$NOCAP" golden record "$T/g" none --reason x -- false
status 2 "a trace and a command" "$NOCAP" golden record "$T/g" both "$T/other.nocap" --reason x -- true
status 2 "no reason" "$NOCAP" golden record "$T/g" other "$T/other.nocap"
err_has "is said" "--reason is missing"
status 0 "a line goes to the shell as it stands" "$NOCAP" golden record "$T/g" line --reason x -- "$made -o - | cat"
status 3 "a command that makes no trace" "$NOCAP" golden record "$T/g" none --reason x -- echo hi
err_has "is named" "what 'run echo hi' made"
check "not the file behind it" test -z "$(grep nocap-golden "$T/err")"
mkdir "$T/tmp"
status 3 "a command that never ends writing" env TMPDIR="$T/tmp" "$NOCAP" golden record "$T/g" none --reason x -- yes
err_has "has a bound" "'yes' writes more than 256 MiB"
(TMPDIR="$T/tmp" exec "$NOCAP" golden record "$T/g" none --reason x -- sleep 2) 2>/dev/null &
until compgen -G "$T/tmp/nocap-golden-*" >/dev/null; do sleep 0.1; done
sleep 0.2
kill -TERM $!
wait $!
check "a signal ends it" test $? -eq $((128 + 15))
check "nothing is left behind" test -z "$(ls "$T/tmp")"
status 2 "no jobs" "$NOCAP" golden verify --jobs 0 "$T/g"

# What a manifest says is done only with --run, and within bounds.
mkdir -p "$T/m"
"$NOCAP" golden record "$T/m" long --sim boot --reason x
sed -i 's/^made .*/made     sim launch-host --launches 100000000/' "$T/m/manifest.txt"
status 0 "the device is not run unasked" timeout 30 env TMPDIR="$T/tmp" "$NOCAP" golden verify "$T/m"
out_has "which is said" "1 of 1 traces were not made again"
status 1 "a long run has a bound in bytes" timeout 30 env TMPDIR="$T/tmp" "$NOCAP" golden verify --run --max-mib 1 "$T/m"
out_has "which is told" "writes more than 1 MiB"
status 1 "and one in time" timeout 30 env TMPDIR="$T/tmp" "$NOCAP" golden verify --run --max-seconds 1 "$T/m"
out_has "which is told, too" "takes more than 1 s: --max-seconds"
status 3 "recording has the same" timeout 30 env TMPDIR="$T/tmp" "$NOCAP" golden record "$T/m" other --max-mib 1 \
    --sim launch-host --launches 100000000 --reason x
begin=$SECONDS
mapfile -t endless < <(share 2 "sleep 100 & echo \$! >$T/pid; wait" 'sleep 100; ls {}' \
    'trap "" TERM; while :; do sleep 1; done' 'sleep 100')
for how in "${endless[@]}"; do
    status 3 "a command has a bound in time: $how" timeout 30 "$NOCAP" golden record "$T/m" none --max-seconds 1 --reason x -- "$how"
    err_has "which is told" "takes more than 1 s"
done
check "they are ended" test $((SECONDS - begin)) -lt 60
check "with what they started" test ! -e "/proc/$(cat "$T/pid")/stat"
status 3 "a file that a command writes has a bound" timeout 30 env TMPDIR="$T/tmp" "$NOCAP" golden record "$T/m" none \
    --max-mib 1 --reason x -- 'yes >{}'
err_has "which is told" "writes more than 1 MiB"
status 3 "a command has no standard input" "$NOCAP" golden record "$T/m" none --reason x -- cat <"$T/other.nocap"
status 2 "no time at all" "$NOCAP" golden verify --run --max-seconds 0 "$T/m"
check "nothing is left behind by any" test -z "$(ls "$T/tmp")"
rm "$T/m/manifest.txt" && mkfifo "$T/m/manifest.txt"
status 3 "a manifest that is a FIFO" timeout 10 "$NOCAP" golden verify "$T/m"
err_has "is told" "it is no regular file"
rm "$T/m/manifest.txt" && echo secret >"$T/secret" && ln -s ../secret "$T/m/manifest.txt"
status 3 "a manifest that is a link" "$NOCAP" golden verify "$T/m"
check "does not show what it leads to" test -z "$(grep secret "$T/err")"
rm "$T/m/manifest.txt" "$T/m/long.nocap" && "$NOCAP" golden record "$T/m" long "$T/other.nocap" --reason x
ln -sf /dev/zero "$T/m/long.nocap"
status 3 "a trace that never ends" timeout 10 "$NOCAP" golden verify "$T/m"
out_has "is told" "it is no regular file"

# Several programs at once, and files that are there already.
"$NOCAP" capture --sim boot --tiles 1 -o "$T/small.nocap" 2>/dev/null
for i in 1 2 3 4 5 6 7 8; do
    "$NOCAP" golden record "$T/at-once" "trace$i" "$T/small.nocap" --reason x &
done
wait
check "eight at once are all in the manifest" test "$(grep -c '^trace ' "$T/at-once/manifest.txt")" -eq 8
status 0 "and verify" "$NOCAP" golden verify "$T/at-once"
check "no other file is left" test "$(ls -A "$T/at-once" | wc -l)" -eq 9
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
    for i in 1 2 3 4; do # as on a network file system, which locks no directories
        strace -qq -o /dev/null -e trace=flock -e inject=flock:error=EBADF:when=1 \
            "$NOCAP" golden record "$T/nfs" "trace$i" "$T/small.nocap" --reason x &
    done
    wait
    check "where directories cannot be locked, too" test "$(grep -c '^trace ' "$T/nfs/manifest.txt")" -eq 4
    check "with nothing left" test "$(ls -A "$T/nfs" | wc -l)" -eq 5
else
    skip "directories that cannot be locked" "strace cannot trace here"
fi
echo kept >"$T/victim"
mkdir "$T/links"
for name in .a.new .manifest.new .lock manifest.txt.new a.nocap.new; do ln -s ../victim "$T/links/$name"; done
status 0 "links under names of temporary files" "$NOCAP" golden record "$T/links" a "$T/small.nocap" --reason x
check "are not followed" test "$(cat "$T/victim")" = kept
echo mine >"$T/links/b.nocap"
status 2 "a file that the manifest does not name" "$NOCAP" golden record "$T/links" b "$T/small.nocap" --reason x
err_has "is refused" "b.nocap is there already, though the manifest does not name it"
check "and kept" test "$(cat "$T/links/b.nocap")" = mine
status 0 "unless it may go" "$NOCAP" golden record "$T/links" b "$T/small.nocap" --overwrite --reason x
status 2 "a name of the manifest is refused" "$NOCAP" golden record "$T/links" b "$T/small.nocap" --reason x
status 0 "unless it may go, too" "$NOCAP" golden record "$T/links" b "$T/small.nocap" --overwrite --reason new
check "and stands there once" test "$(grep -c '^trace ' "$T/links/manifest.txt")" -eq 2
status 0 "all verify" "$NOCAP" golden verify "$T/links"
finish
