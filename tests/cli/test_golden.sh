#!/bin/bash
# The tree's golden traces: they still check as recorded, the embedded device still makes them, stock tools read them, and
# JSON Lines out and in again gives the same events.
. tests/cli/lib.sh
status 0 "golden verify" "$NOCAP" golden verify golden
for trace in golden/*.nocap; do
    name=$(basename "$trace" .nocap)
    zstd -dcq "$trace" | protoc -I formats/trace --decode=nocap.Trace nocap.proto >"$T/decoded" 2>"$T/err"
    check "$name: zstd and protoc read it" test -s "$T/decoded" -a ! -s "$T/err"
    "$NOCAP" dump "$trace" --format jsonl >"$T/a.jsonl"
    "$NOCAP" import jsonl "$T/a.jsonl" -o "$T/b.nocap" 2>/dev/null
    "$NOCAP" dump "$T/b.nocap" --format jsonl >"$T/b.jsonl"
    check "$name: JSON Lines and back" cmp -s "$T/a.jsonl" "$T/b.jsonl"
done
check "together under 2 MB" test "$(du -cb golden/* | tail -n 1 | cut -f1)" -lt 2000000
cp -r golden "$T/golden"
"$NOCAP" capture --sim launch-host --seed 1 --fault done-early -o "$T/other.nocap" 2>/dev/null
cp "$T/other.nocap" "$T/golden/launch-host.nocap"
status 1 "a trace that differs is told" "$NOCAP" golden verify "$T/golden"
out_has "by name" "launch-host"
out_has "with the events that differ" "A is the stored trace, B the new one"
status 1 "several at a time" "$NOCAP" golden verify --jobs 4 "$T/golden"
cp "$T/out" "$T/four"
"$NOCAP" golden verify "$T/golden" >"$T/one"
check "say the same" diff <(grep -v '^[AB]: /' "$T/one") <(grep -v '^[AB]: /' "$T/four")
status 1 "an update without a terminal only shows" "$NOCAP" golden update "$T/golden"
check "and changes nothing" cmp "$T/other.nocap" "$T/golden/launch-host.nocap"
status 0 "unless it may" "$NOCAP" golden update --yes -j 4 "$T/golden"
status 0 "after which all is well" "$NOCAP" golden verify "$T/golden"

made="$NOCAP capture --sim boot --tiles 1"
status 0 "a command makes a trace" "$NOCAP" golden record "$T/g" file --reason "it's" -- $made -o {}
status 0 "on standard output" "$NOCAP" golden record "$T/g" pipe --reason "why not" -- \
    sh -c "$made --seed \$((2 + 3)) -o - # it's"
status 0 "is verified as it stands" "$NOCAP" golden verify "$T/g"
status 0 "and made again on demand" "$NOCAP" golden verify --run "$T/g"
check "both are" test "$(grep -c '^ok ' "$T/out")" -eq 2
sed -i 's/boot --tiles 1 -o/boot --tiles 2 -o/; s/^made     run sh.*/made     run false/' "$T/g/manifest.txt"
status 1 "another trace, and a command that fails" "$NOCAP" golden verify --run "$T/g"
check "both are told" test "$(grep -c '^DIFFERS ' "$T/out")" -eq 2
out_has "with the reason" "'false' ended with status 1"
printf garbage >"$T/g/file.nocap"
status 3 "a trace that cannot be read" "$NOCAP" golden verify "$T/g"
check "the others are told all the same" grep -q '^ok  *pipe' "$T/out"
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
finish
