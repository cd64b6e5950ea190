#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make: nothing is made twice; install, use of the libraries, uninstall.
. tests/cli/lib.sh
case ${BUILD:-build} in
*asan* | *tsan*) skip "install" "sanitizer builds are not installed" && finish ;;
esac
# Of the make that runs the tests its variables count (CC=..), its jobs and silence do not.
MAKEFLAGS=$(sed -n 's/^.*-- /-- /p' <<<"${MAKEFLAGS-}")
export MAKEFLAGS
mk() { make -s BUILD="$BUILD" DESTDIR="$T/root" PREFIX=/usr "$@"; }

make BUILD="$BUILD" all >"$T/out" 2>&1
check "nothing is made twice" bash -c "! grep '^  ' '$T/out'"
status 0 "install" mk install
check "the program runs" "$T/root/usr/bin/nocap" --version
check "there is a page of each command" test -s "$T/root/usr/share/man/man1/nocap-check.1"
check "the manual is of its version" grep -qF "\"$("$NOCAP" --version | sed 's/,.*//')\"" "$T/root/usr/share/man/man1/nocap.1"
status 0 "a capture finds its libraries" "$T/root/usr/bin/nocap" capture -o "$T/none.nocap" -- true
err_has "and runs with them" "nothing was captured"
check "the completion is there" test -s "$T/root/usr/share/bash-completion/completions/nocap"
cat >"$T/use.c" <<'END'
#include <stdio.h>
#include "formats/import/import.h"
int main(int argc, char **argv)
{
    struct nocap_reader *reader;
    struct nocap_error err;
    if (argc != 2 || nocap_trace_open(&reader, argv[1], false, NULL, &err) != NOCAP_OK) {
        return 1;
    }
    const struct nocap_event *events;
    size_t count, sum = 0;
    while (nocap_reader_next(reader, &events, &count, &err) == NOCAP_OK) {
        sum += count;
    }
    nocap_reader_close(reader);
    printf("%zu\n", sum);
    return 0;
}
END
make_trace "$T/a.jsonl"
export PKG_CONFIG_PATH=$T/root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$T/root
: "${CC:=gcc}"
# The sysroot goes before every path, also before those of other packages: only libnocap's own are
# wanted here.
check "pkg-config knows it" pkg-config --exists libnocap
flags="-I$T/root/usr/include/nocap"
status 0 "compiles against the headers" $CC -std=c11 -D_GNU_SOURCE $flags -c "$T/use.c" -o "$T/use.o"
echo '#include <nocap/capture.h>' >"$T/capture.c"
status 0 "<nocap/capture.h> compiles" $CC -std=c11 -Wall -Werror "-I$T/root/usr/include" $flags -fsyntax-only "$T/capture.c"
(
    cd "$T/root/usr/include/nocap" || exit
    for header in $(find . -name '*.h'); do
        $CC -std=c11 -D_GNU_SOURCE -Wall -Werror -I. -fsyntax-only -x c - <<<"#include \"$header\"" ||
            echo "$header cannot be used alone"
    done
) >"$T/out" 2>&1
check "every installed header stands alone" test ! -s "$T/out"
sed 's/^/# /' "$T/out" | head -n 20
status 0 "links with the shared library" $CC "$T/use.o" -L"$T/root/usr/lib" -lnocap -o "$T/use"
check "it runs" test "$(LD_LIBRARY_PATH=$T/root/usr/lib "$T/use" "$T/a.jsonl")" = 9
status 0 "links with the static library" $CC "$T/use.o" "$T/root/usr/lib/libnocap.a" \
    $(PKG_CONFIG_SYSROOT_DIR='' pkg-config --libs libzstd libprotobuf-c libelf libdw yajl) -o "$T/use"
check "it runs" test "$("$T/use" "$T/a.jsonl")" = 9
sed -n '/^```c$/,/^```$/{/^```/!p}' docs/library.md >"$T/tool.c"
status 0 "the program of the manual compiles" $CC -std=c11 $flags "$T/tool.c" -L"$T/root/usr/lib" -lnocap -o "$T/tool"
(cd "$T" && LD_LIBRARY_PATH=$T/root/usr/lib ./tool) >"$T/out"
check "it finds the fault that it makes" test $? -eq 1
out_has "and says which" "MAP-004 at event 1: "
if command -v g++ >/dev/null; then
    printf '#include "%s"\n' checker/checker.h formats/import/import.h formats/trace/jsonl.h formats/trace/filter.h >"$T/use.cc"
    echo 'int main() { nocap_report_free(nullptr); }' >>"$T/use.cc"
    status 0 "C++ can use it" g++ -Wall -Werror $flags "$T/use.cc" -L"$T/root/usr/lib" -lnocap -o "$T/use"
else
    skip "C++ can use it" "g++ is not installed"
fi
nm -D --defined-only "$T/root/usr/lib/libnocap.so" | awk '{ print $3 }' >"$T/symbols"
check "the shared library has the interface" grep -q '^nocap_check' "$T/symbols"
check "and nothing else" bash -c "! grep -v '^nocap_[a-z]\|^NOCAP_' '$T/symbols'"
status 0 "uninstall" mk uninstall
check "leaves no file" test -z "$(find "$T/root" -type f -o -type l)"

# Folders of a distribution.
status 0 "install elsewhere below PREFIX" mk LIBDIR=lib/machine PYTHONDIR=lib/python3 install
check "the libraries are there" test -e "$T/root/usr/lib/machine/libnocap.so" -a -s "$T/root/usr/lib/machine/libnocap.a"
check "the module is there" test -s "$T/root/usr/lib/python3/nocap.py"
check "pkg-config names the folder" test \
    "$(PKG_CONFIG_SYSROOT_DIR='' pkg-config --variable=libdir "$T/root/usr/lib/machine/pkgconfig/libnocap.pc")" = /usr/lib/machine
status 0 "a capture finds its libraries" "$T/root/usr/bin/nocap" capture -o "$T/none.nocap" -- true
status 0 "uninstall" mk LIBDIR=lib/machine PYTHONDIR=lib/python3 uninstall
check "leaves no file" test -z "$(find "$T/root" -type f -o -type l)"

# A path with blanks, in front and behind.
unset PKG_CONFIG_SYSROOT_DIR
blank="$T/a b/c d"
into() { make -s BUILD="$BUILD" DESTDIR= PREFIX="$blank" "$@"; }
status 0 "install into a path with blanks" into install
check "nothing goes elsewhere" test "$(ls "$T/a b")" = "c d"
check "the program runs" "$blank/bin/nocap" --version
export PKG_CONFIG_PATH="$blank/lib/pkgconfig"
eval "flags=($(pkg-config --cflags libnocap))"
status 0 "compiles with what pkg-config says" $CC -std=c11 -D_GNU_SOURCE "${flags[@]}" -c "$T/use.c" -o "$T/use.o"
eval "flags=($(pkg-config --libs libnocap))"
status 0 "links with what pkg-config says" $CC "$T/use.o" "${flags[@]}" -o "$T/use"
check "it runs" test "$(LD_LIBRARY_PATH="$blank/lib" "$T/use" "$T/a.jsonl")" = 9
if [ -e "$($CC -print-file-name=libyajl_s.a)" ]; then
    eval "flags=($(pkg-config --static --libs libnocap))"
    status 0 "links statically with what pkg-config says" $CC -static "$T/use.o" "${flags[@]}" -o "$T/use"
    check "it runs" test "$("$T/use" "$T/a.jsonl")" = 9
else
    skip "links statically with what pkg-config says" "no static yajl"
fi
status 0 "install into a root with blanks" make -s BUILD="$BUILD" DESTDIR="$T/ro ot" PREFIX=/usr install
check "the program runs" "$T/ro ot/usr/bin/nocap" --version
status 0 "uninstall" into uninstall
check "leaves no file" test -z "$(find "$blank" -type f -o -type l)"
finish
