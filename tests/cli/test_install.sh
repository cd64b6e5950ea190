#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make: nothing is made twice; install, use of the libraries, uninstall.
. tests/cli/lib.sh
sanitized && skip "install" "sanitizer builds are not installed" && finish
# Of the make that runs the tests its variables count (CC=..), its jobs and silence do not.
MAKEFLAGS=$(sed -n 's/^.*-- /-- /p' <<<"${MAKEFLAGS-}")
export MAKEFLAGS
# What pkg-config says of other packages below says nothing of this build.
mk() {
    env -u PKG_CONFIG_PATH -u PKG_CONFIG_SYSROOT_DIR make -s BUILD="$BUILD" DESTDIR="$T/root" PREFIX=/usr "$@"
}

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
#include <nocap/trace.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    struct nocap_trace *trace;
    const struct nocap_event *event;
    unsigned events = 0;
    if (argc != 2 || nocap_trace_open(&trace, argv[1], NULL, NULL) != NOCAP_OK) {
        return 1;
    }
    while (nocap_trace_next(trace, &event, NULL) == NOCAP_OK) {
        events++;
    }
    nocap_trace_close(trace);
    printf("%u\n", events);
    return 0;
}
END
make_trace "$T/a.jsonl"
export PKG_CONFIG_PATH=$T/root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$T/root
: "${CC:=gcc}"
check "pkg-config knows it" pkg-config --exists nocap
check "its version, too" test "$(pkg-config --modversion nocap)" = "$("$NOCAP" --version | sed 's/,.*//; s/^nocap //')"
check "the headers are the public ones" diff <(cd include/nocap && echo *) <(cd "$T/root/usr/include/nocap" && echo *)
record='import nocap
with nocap.Capture("'$T/p.nocap'") as capture:
    capture.write(0, 1, tile=(1, 2))'
check "the module finds the library that is installed with it" env -u NOCAP_LIBRARY PYTHONDONTWRITEBYTECODE=1 \
    PYTHONPATH="$(dirname "$(find "$T/root" -name nocap.py)")" python3 -c "$record"
eval "flags=($(pkg-config --cflags --libs nocap))"
status 0 "compiles with what pkg-config says" $CC -std=c99 "$T/use.c" "${flags[@]}" -o "$T/use"
check "it runs" test "$(LD_LIBRARY_PATH=$T/root/usr/lib "$T/use" "$T/a.jsonl")" = 9
status 0 "uninstall" mk uninstall
check "leaves no file" test -z "$(find "$T/root" -type f -o -type l)"

# ---- what the build needs: nothing is installed where nothing is missing ----
mkdir "$T/bin"
printf '#!/bin/sh\n[ "$4" = absent ] && exit 1\nprintf "install ok installed"\n' >"$T/bin/dpkg-query"
printf '#!/bin/sh\necho called >>"%s/apt"\n' "$T" >"$T/bin/apt-get"
chmod +x "$T/bin/dpkg-query" "$T/bin/apt-get"
status 0 "nothing is missing" env PATH="$T/bin:$PATH" .ci/deps one two
check "so nothing is installed" test ! -e "$T/apt"
env PATH="$T/bin:$PATH" .ci/deps one absent >"$T/out" 2>"$T/err"
err_has "what is missing is named" absent
if [ "$(id -u)" -eq 0 ]; then
    check "and installed" test -s "$T/apt"
else
    check "and not installed" test ! -e "$T/apt"
fi
rm -f "$T/apt"
status 0 "make asks that" env PATH="$T/bin:$PATH" make -s deps
check "and installs nothing either" test ! -e "$T/apt"

# Folders of a distribution.
status 0 "install elsewhere below PREFIX" mk LIBDIR=lib/machine PYTHONDIR=lib/python3 install
check "the libraries are there" test -e "$T/root/usr/lib/machine/libnocap.so" -a -s "$T/root/usr/lib/machine/libnocap.a"
check "the module is there" test -s "$T/root/usr/lib/python3/nocap.py"
check "it finds the library" env -u NOCAP_LIBRARY PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$T/root/usr/lib/python3" \
    LD_LIBRARY_PATH="$T/root/usr/lib/machine" python3 -c "$record"
check "pkg-config names the folder" test \
    "$(PKG_CONFIG_SYSROOT_DIR='' pkg-config --variable=libdir "$T/root/usr/lib/machine/pkgconfig/nocap.pc")" = /usr/lib/machine
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
eval "flags=($(pkg-config --cflags --libs nocap))"
status 0 "compiles with what pkg-config says" $CC -std=c99 "$T/use.c" "${flags[@]}" -o "$T/use"
check "it runs" test "$(LD_LIBRARY_PATH="$blank/lib" "$T/use" "$T/a.jsonl")" = 9
if [ -e "$($CC -print-file-name=libyajl_s.a)" ]; then
    eval "flags=($(pkg-config --static --cflags --libs nocap))"
    status 0 "links statically with what pkg-config says" $CC -static "$T/use.c" "${flags[@]}" -o "$T/use"
    check "it runs" test "$("$T/use" "$T/a.jsonl")" = 9
else
    skip "links statically with what pkg-config says" "no static yajl"
fi
status 0 "install into a root with blanks" make -s BUILD="$BUILD" DESTDIR="$T/ro ot" PREFIX=/usr install
check "the program runs" "$T/ro ot/usr/bin/nocap" --version
status 0 "uninstall" into uninstall
check "leaves no file" test -z "$(find "$blank" -type f -o -type l)"
make BUILD="$BUILD" all >"$T/out" 2>&1
check "nothing was made again by all that" bash -c "! grep '^  ' '$T/out'"
finish
