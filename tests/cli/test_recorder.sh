#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Recording from programs: C++, Python, a kill, and what the program then says.
. tests/cli/lib.sh
sanitized && skip "recorder" "sanitizers cannot be loaded into other programs" && finish
library=$(cd "$BUILD" && pwd)/libnocap.so
: "${CXX:=g++}"
cat >"$T/use.cpp" <<'END'
#include <nocap/capture.h>
#include <cstdio>
#include <cstdlib>
#include <csignal>
int main(int argc, char **argv)
{
    struct nocap_trace_header header = {};
    struct nocap_capture *capture;
    struct nocap_error err;
    header.size = sizeof header;
    if (argc < 2 || nocap_capture_open(&capture, argv[1], &header, nullptr, &err) != NOCAP_OK) {
        return 1;
    }
    for (int i = 0; i < 100000; i++) {
        nocap_capture_write(capture, nocap_at_tile(1, 2), NOCAP_BY_HOST, 0x100, 4, (uint64_t)i);
    }
    if (argc > 2) {
        raise(SIGKILL);
    }
    return nocap_capture_close(capture, nullptr, &err) == NOCAP_OK ? 0 : 1;
}
END
if command -v "$CXX" >/dev/null; then
    status 0 "C++ compiles" "$CXX" -std=c++17 -Wall -Wextra -Wpedantic -Werror -Iinclude "$T/use.cpp" "$library" -o "$T/use"
    ln -s "$library" "$T/libnocap.so.0"
    export LD_LIBRARY_PATH=$T
    status 0 "C++ records" "$T/use" "$T/a.nocap"
    status 0 "its trace is whole" "$NOCAP" info "$T/a.nocap"
    out_has "with all events" 100000
    "$T/use" "$T/b.nocap" kill 2>/dev/null
    check "a kill leaves the rings" test -s "$T/b.nocap.rings"
    status 0 "what they hold is read" "$NOCAP" info "$T/b.nocap"
    out_has "all of it" 100000
    err_has "and told" "--recover"
    status 0 "recovered into another file" "$NOCAP" capture --recover "$T/b.nocap" -o "$T/c.nocap"
    status 0 "recovered in place" "$NOCAP" capture --recover "$T/b.nocap"
    check "the rings are gone" test ! -e "$T/b.nocap.rings"
    status 0 "the trace is whole" "$NOCAP" info "$T/b.nocap"
    out_has "and complete" 100000
    status 0 "as the other" "$NOCAP" dump "$T/c.nocap" -o "$T/c.txt"
    "$NOCAP" dump "$T/b.nocap" -o "$T/b.txt"
    check "equal" cmp "$T/b.txt" "$T/c.txt"
    status 3 "nothing more to recover" "$NOCAP" capture --recover "$T/b.nocap"
else
    skip "C++" "there is no $CXX"
fi

export NOCAP_LIBRARY=$library PYTHONPATH=capture/python PYTHONDONTWRITEBYTECODE=1
cat >"$T/use.py" <<'END'
import array, sys, threading
import nocap

class Whole:   # a number of a type of its own, as numpy has them
    def __init__(self, value): self.value = value
    def __index__(self): return self.value

with nocap.Capture(sys.argv[1], observes=["host-mmio"], board="p100") as c:
    assert c.write(0x370, 0x80000000, tile=(1, 2), order="strict", map="uc")
    assert c.write(0x100, b"\x01\x02\x03", tile=(1, 2), to=(3, 4))
    assert c.read(0x104, 7, space="bar2")
    assert c.noc("write", (1, 2), (2, 3), 0x200, 32)
    assert c.tensix("issue", (1, 2), 1, 0xa4000008)
    assert c.kernel("enter", (1, 2), nocap.TRISC1, 0x8410)
    assert c.reset("run", (1, 2), nocap.BRISC)
    assert c.cq_record(1, 16, 0x40, b"record")
    assert c.cq("fetch", 0x40, 16, slot=1)
    assert c.cert("start", 0, 1, 16, insn=b"abcd")
    assert c.mem(0x68, b"abcd", tile=(1, 2))
    assert c.note("a note")
    assert c.read(0x370, 0, size=1, tile=(1, 2), by="ncrisc")
    assert c.event("noc", op="atomic", phase="done", x=1, y=2, noc=1, id=7, dx=2, dy=2, daddr=0x40,
                   value=0x10)
    assert c.event("tensix", op="issue", x=1, y=2, thread=1, word=0xa4000008,
                   sem=[0, 1, 0, 0, 0, 0, 0, 0])
    assert c.event("write", by="brisc", x=1, y=2, addr=0x68, size=1, value=1, pc=0x4124)
    assert c.event("read", by="noc", x=1, y=2, addr=0x100, size=3, data=b"abc", from_=[2, 2])
    assert c.read(0x370, None, tile=(1, 2))
    assert c.write(0x400, None, size=64, tile=(1, 2))
    assert c.write(Whole(0x500), Whole(5), size=Whole(2), tile=[Whole(3), 4], chip=Whole(1))
    assert c.write(0x600, array.array("I", [1, 2]), tile=(1, 2))
    assert c.write(0x700, [1, 2, 255], tile=(1, 2))
    assert c.event("write", by="host", x=Whole(1), y=2, addr=Whole(0x704), size=4, value=1)
    assert c.cq_record(0, 0x80000010, 0x80, b"record")
    assert c.mem(0, bytes(5 << 20), tile=(1, 2))
    threads = [threading.Thread(target=lambda: [c.read(0, i, tile=(1, 2)) for i in range(1000)])
               for _ in range(3)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    c.flush()
assert c.totals.events == 3027 and c.totals.dropped == 0
wrong_events = (
    lambda c: c.write(0, 0, tile=(99, 2)), lambda c: c.write(0, 0, tile=(-1, 2)),
    lambda c: c.write(0, 0, tile=(1, 2, 3)), lambda c: c.write(0, 0, size=9),
    lambda c: c.write(0, 256, size=1), lambda c: c.write(-4, 0), lambda c: c.write(0, 0, by=77 + 256),
    lambda c: c.read(0, 0, by="risc"), lambda c: c.kernel("enter", (1, 2), 0),
    lambda c: c.kernel("jump", (1, 2), nocap.BRISC), lambda c: c.tensix("issue", (1, 2), 3, 0),
    lambda c: c.noc("read", (1, 2), (1, 300), 0, 4), lambda c: c.event("wrote", x=1),
    lambda c: c.event("write", by="host", x=1, y=2, address=4),
    lambda c: c.event("write", by="nobody", x=1, y=2, addr=4), lambda c: c.event("kernel"),
    lambda c: c.event("note", text=c), lambda c: c.write(0, 0, tile=None),
    lambda c: c.write(0, 0, tile=(1, 2), to=()), lambda c: c.write(0, 1.5), lambda c: c.write(0, "ab"),
    lambda c: c.write(0, b""), lambda c: c.read(0, None, size=0), lambda c: c.read(0, [256]),
    lambda c: c.write((1 << 64) - 2, 0), lambda c: c.set_time(-1), lambda c: c.set_time(1.5),
    lambda c: c.cq("fetch", -1, 16), lambda c: c.cq_record(-1, 16, 0, b"r"),
    lambda c: c.cq_record(1, 1 << 32, 0, b"r"), lambda c: c.cq_record(1, 16, 0, "r"),
    lambda c: c.cert("start", 224, 0, 0), lambda c: c.cert("start", 0, -1, 0),
    lambda c: c.mem(0, 5), lambda c: c.note(None), lambda c: c.note("a\0b"))
with nocap.Capture(sys.argv[1] + ".wrong.nocap") as c:
    for number, wrong in enumerate(wrong_events):
        try:
            wrong(c)
        except nocap.Error:
            continue
        sys.exit("number %d was taken" % number)
assert c.totals.events == 0
for wrong in (lambda: nocap.Capture("/no/such/file"), lambda: c.note("closed"),
              lambda: nocap.Capture(sys.argv[1], policy="both"),
              lambda: nocap.Capture(sys.argv[1], ring_bytes=-1),
              lambda: nocap.Capture(sys.argv[1], board=c),
              lambda: nocap.Capture(sys.argv[1], observes=["host-mmio", "host-mmoi"])):
    try:
        wrong()
    except nocap.Error:
        continue
    sys.exit(1)
END
if command -v python3 >/dev/null; then
    status 0 "Python records" python3 "$T/use.py" "$T/p.nocap"
    status 0 "its trace is whole" "$NOCAP" info "$T/p.nocap"
    out_has "with all events" 3027
    "$NOCAP" dump "$T/p.nocap" --format jsonl >"$T/out"
    out_has "a header" '"observes":["host-mmio"]'
    out_has "a register write" '"addr":"0x370","size":4,"value":"0x80000000"'
    out_has "a multicast" '"x2":3,"y2":4'
    out_has "a phase" '"phase":"done","id":7'
    out_has "semaphores" '"sem":[0,1,0,0,0,0,0,0]'
    out_has "a program counter" '"pc":"0x4124"'
    out_has "a payload" '"data":"616263"'
    out_has "an instruction" '"insn":"61626364"'
    out_has "a value that is not known" '"addr":"0x370","size":4}'
    out_has "bytes that are not known" '"addr":"0x400","size":64}'
    out_has "numbers of other types" '"x":3,"y":4,"addr":"0x500","size":2,"value":"0x5","chip":1'
    out_has "an array's bytes" '"data":"0100000002000000"'
    out_has "a list of bytes" '"data":"0102ff"'
    out_has "an entry of four bytes" '"entry":"0x80000010"'
    check "no event is malformed" bash -c "! '$NOCAP' check '$T/p.nocap' --rules TRC | grep -q TRC-005"
else
    skip "Python" "there is no python3"
fi
finish
