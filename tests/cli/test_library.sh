#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The library's boundary: headers alone, exported names, the programs of the manual.
. tests/cli/lib.sh
: "${BUILD:=build}" "${CC:=gcc}" "${CXX:=g++}"
headers="status event trace import check hang capture tap"
warn="-Wall -Wextra -Wpedantic -Werror -Iinclude"

# ---- each header alone ----
for header in $headers; do
    echo "#include <nocap/$header.h>" >"$T/alone.c"
    cp "$T/alone.c" "$T/alone.cc"
    status 0 "nocap/$header.h is C99" $CC -std=c99 $warn -fsyntax-only "$T/alone.c"
    if command -v "$CXX" >/dev/null; then
        status 0 "nocap/$header.h is C++17" "$CXX" -std=c++17 $warn -fsyntax-only "$T/alone.cc"
    else
        skip "nocap/$header.h is C++17" "there is no $CXX"
    fi
    if command -v clang >/dev/null; then
        status 0 "nocap/$header.h is C99 to clang" clang -std=c99 $warn -fsyntax-only "$T/alone.c"
        status 0 "nocap/$header.h is C++17 to clang" clang -std=c++17 $warn -fsyntax-only "$T/alone.cc"
    else
        skip "nocap/$header.h, by clang" "there is no clang"
    fi
done
check "what is installed is that" test "$(cd include/nocap && echo *.h)" = "$(printf '%s.h\n' $headers | sort | xargs)"

# ---- the list ----
sed -n 's/^ *\(nocap_[a-z0-9_]*\);$/\1/p' libnocap.map | sort >"$T/list"
check "the list has names" test -s "$T/list"
check "each name once" test -z "$(uniq -d "$T/list")"
$CC -Iinclude -E -P - <<<"$(printf '#include <nocap/%s.h>\n' $headers)" | tr '\n' ' ' |
    grep -o '__attribute__((visibility("default")))[^;{]*' |
    sed 's/^__attribute__((visibility("default")))//; s/(.*//; s/^.*[ *]//' | sort -u >"$T/declared"
check "the headers declare what is listed" diff "$T/list" "$T/declared"
while read -r name; do
    grep '^| `nocap/' docs/library.md | grep -qE "\`($name|_${name#nocap_*_})\`" || echo "$name"
done <"$T/list" >"$T/out"
check "the table of the manual has them all" test ! -s "$T/out"
case $BUILD in
*asan* | *tsan*) skip "linking" "sanitizer builds are not installed" && finish ;;
esac
nm -D --defined-only "$BUILD/libnocap.so" | awk '{ print $3 }' | grep -v '^NOCAP_' |
    sed 's/@@*NOCAP_0\.1$//' | sort >"$T/shared"
check "the shared library exports that" diff "$T/list" "$T/shared"
nm -g --defined-only "$BUILD/libnocap.a" | awk 'NF == 3 { print $3 }' | sort >"$T/static"
check "and the static one" diff "$T/list" "$T/static"

# ---- names of a user's own ----
nm -g --defined-only "$BUILD/internal.a" | awk 'NF == 3 && $2 == "T" { print $3 }' |
    grep -vxF -f "$T/list" | grep -v '^nocap__' | sort -u >"$T/private"
check "there are internal names" test "$(wc -l <"$T/private")" -gt 100
{
    echo '#include <nocap/check.h>'
    sed 's/.*/int &(void); int &(void) { return 1; }/' "$T/private"
    echo 'int now(void);'
    echo 'int now(void) { return 0; }'
    echo 'int main(void) { return nocap_check_rule_find("GO-001") >= 0 ? now() : 1; }'
} >"$T/own.c"
static="$BUILD/libnocap.a $(pkg-config --libs libzstd libprotobuf-c libelf libdw yajl)"
status 0 "a program with all these names links statically" $CC -Iinclude -fno-builtin -w "$T/own.c" $static -o "$T/own"
check "and runs" "$T/own"

# ---- the programs of the manual ----
mkdir "$T/lib"
ln -s "$(cd "$BUILD" && pwd)/libnocap.so" "$T/lib/libnocap.so.0"
for header in $headers; do
    awk -v h="## nocap/$header.h" '$0 == h { on = 1 } on && /^```$/ { exit } code { print }
        on && /^```c$/ { code = 1 }' docs/library.md >"$T/$header.c"
    check "the program for nocap/$header.h includes it" grep -qF "#include <nocap/$header.h>" "$T/$header.c"
    status 0 "compiles" $CC -std=c99 $warn "$T/$header.c" "$BUILD/libnocap.so" -o "$T/$header"
    status 0 "links statically" $CC -std=c99 $warn "$T/$header.c" $static -o "$T/$header-static"
done
runs() {
    local wanted=$1 name=$2
    shift 2
    (cd "$T" && "./$name-static" "$@") >"$T/out.static" 2>&1
    status "$wanted" "the program for nocap/$name.h runs" env -C "$T" LD_LIBRARY_PATH="$T/lib" "./$name" "$@"
    check "linked statically it says the same" diff "$T/out" "$T/out.static"
}
runs 0 status
out_has "it names a space" "space 1: sysmem"
runs 0 event
out_has "it says what is missing" 'without a size: "size" is missing'
out_has "and prints the event" '"addr":"0x370","size":4,"value":"0x80000000"}'
runs 0 trace
out_has "it prints the header" '"observes":["host-mmio"]'
out_has "and the event that matches" "event 1: "
check "and no other" test "$(grep -c '^event' "$T/out")" -eq 1
runs 1 check
out_has "it finds the fault" "error MAP-004 at event 1: "
"$NOCAP" capture --sim launch-host --fault hang-trisc1 -o "$T/hang.nocap" 2>/dev/null
runs 1 hang hang.nocap
out_has "it says that it hangs" "hung: "
out_has "and who waits" "waits for"
status 0 "the program for nocap/import.h runs" env -C "$T" LD_LIBRARY_PATH="$T/lib" ./import
out_has "it counts" "2 events, 1 of them malformed, the first in line 3"
status 0 "the program for nocap/capture.h runs" env -C "$T" LD_LIBRARY_PATH="$T/lib" ./capture
out_has "it counts" "1 events, 0 dropped"
status 0 "its trace is whole" "$NOCAP" check "$T/run.nocap" --rules TRC
runs 0 tap
out_has "its taps are off" "taps are off"
runs 0 tap tap.nocap
out_has "its taps are on" "taps are on"
status 0 "its trace is whole and clean" "$NOCAP" check "$T/tap.nocap"
status 0 "all stores are in it" "$NOCAP" info "$T/tap.nocap"
out_has "at their cycles" "0 .. 99 cycles"
finish
