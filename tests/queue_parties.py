# SPDX-License-Identifier: Apache-2.0
"""Host, prefetcher, dispatcher and workers of a command queue, written from the fact sheet alone: what each does, one
act after the other, as a trace of any view. A fault is a function that changes one act, which the parties then go on
from. See tests/queue_faults."""
import heapq
import json
import random

ACCESSES = ["host-mmio", "sysmem", "core-store", "core-load", "core-mmio", "noc"]
VIEWS = {"raw": ACCESSES, "both": ACCESSES + ["cq"], "cq": ["cq"], "cq-host": ["cq-host"],
         "host": ["host-mmio", "cq-host"], "mmio": ["host-mmio"], "memory": ["host-mmio", "sysmem"],
         "network": ["host-mmio", "sysmem", "noc"], "no-loads": [c for c in ACCESSES if c != "core-load"],
         "cq-noc": ["cq", "noc"], "device": ["core-store", "core-load", "core-mmio", "noc"]}
CORES = {"core-store", "core-load", "core-mmio", "noc"}
STREAM, SPACE = 0xffb70438, 0xffb704a4


def le(value, size):
    return (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")


def number(data):
    return int.from_bytes(data, "little")


def align(n, unit):
    return -(-n // unit) * unit


def noc_xy(tile):
    return tile[1] << 6 | tile[0]


def rectangle(r):
    return r[3] << 18 | r[2] << 12 | r[1] << 6 | r[0]


# ---- commands of the dispatcher ----

def timestamp(address):
    return b"\x12\0\0\0" + le(0x1000613, 4) + le(address, 4) + bytes(4)


def large(rects, address, data):
    subs = b"".join(le(rectangle(r), 4) + le(address, 4) + le(len(data) - 1, 2) +
                    bytes([(r[2] - r[0] + 1) * (r[3] - r[1] + 1), 1]) for r in rects)
    head = b"\6\2" + le(len(rects), 2) + le(16, 2) + bytes(10) + subs
    return head.ljust(align(len(head), 16), b"\0") + data.ljust(align(len(data), 16), b"\0") * len(rects)


def packed(tiles, address, data):
    head = b"\5\0" + le(len(tiles), 2) + bytes(2) + le(len(data), 2) + le(address, 4) + bytes(4)
    head += b"".join(le(noc_xy(t), 4) for t in tiles)
    return head.ljust(align(len(head), 16), b"\0") + data.ljust(align(len(data), 16), b"\0") * len(tiles)


def wait(flags, stream=0, count=0):
    return bytes([7, flags]) + le(stream, 2) + bytes(4) + le(count, 4) + bytes(4)


def table(tiles):
    return b"\x11\0\0\0" + le(len(tiles), 4) + bytes(8) + b"".join(le(noc_xy(t), 4) for t in tiles)


def send_go(word, count):
    return b"\x0e" + le(word, 4) + bytes([255, count, 0]) + bytes(4) + le(48, 4)


def linear(tile, address, data):
    return b"\1\0\0\0" + le(noc_xy(tile), 4) + le(address, 8) + le(len(data), 8) + bytes(8) + data


def message(mode, text):
    m = bytearray(96)
    m[0:4], m[0xc:0xe], m[0x12:0x16], m[0x2a] = le(0x86b0, 4), le(16, 2), le(0x600060, 4), mode
    m[0x2c:0x30], m[0x44], m[0x4c:0x50] = le(text, 4), 1 - mode, le(1, 4)
    return bytes(m)


def record(command):
    stride = align(16 + len(command), 64)
    return (b"\5\0\0\0" + le(len(command), 4) + le(stride, 4) + bytes(4) + command).ljust(stride, b"\0")


class Queue:
    def __init__(self, profile, faults, programs=3, board="p100", rects=((1, 2, 2, 3),), rings=None, seed=1, times=()):
        self.profile, self.faults, self.programs, self.board, self.rects = profile, faults, programs, board, rects
        self.times = times  # ("times",): worker cores write theirs to host memory
        self.random, self.named, self.t, self.turn = random.Random(seed), rings is not None, 1000, 0
        profile["queue"].update(rings or {})
        self.n = {k: int(str(v), 0) for k, v in profile["queue"].items()}
        x = 14 if board == "p100" else 16
        self.prefetch_at, self.dispatch_at = (x, 2), (x, 3)
        self.tiles = [(a, b) for r in rects for b in range(r[1], r[3] + 1) for a in range(r[0], r[2] + 1)]
        self.sem = self.n["kernel_config"] + 16
        self.first = (self.n["sysmem"] + self.n["completion"]) // 16
        self.slots, self.credits, self.ready, self.count = [0] * self.n["queue_slots"], self.n["buffer_pages"], 0, 0
        self.completion_wr = self.shown_wr = self.completion_rd = self.first
        self.events, self.agents, self.ids, self.seqs, self.under_way, self.ends = [], [], 0, 0, 0, None
        self.memory, self.records, self.relayed = {}, [], []
        self.workers = {t: {"busy": False, "runs": 0, "rd": 0, "mode": 0} for t in self.tiles}

    # ---- time and events ----

    def later(self, agent, delay=0):
        self.turn += 1
        heapq.heappush(self.agents, (self.t + delay, self.turn, agent))

    def after(self, delay, act):
        self.later(iter(act, None), delay)  # its None ends it

    def some(self, least, most):
        return self.random.randint(least, most)

    def act(self, name, key, **how):
        fault = self.faults.get((name, key))
        return {**how, **fault(self, how)} if fault else how

    def emit(self, kind, **event):
        self.turn += 1
        self.events.append((self.t, self.turn, kind, {k: v for k, v in event.items() if v is not None}))

    def access(self, ev, by, where, address, size=4, value=None, data=None, seq=None, kind=None):
        at = {"space": "sysmem"} if where == "sysmem" else {"x": where[0], "y": where[1]}
        if data is not None and len(data) in (2, 4):
            value, data = number(data), None
        host = "sysmem" if where == "sysmem" else "host-mmio"
        core = "core-load" if ev == "read" else "core-mmio" if address >= 0xffb10000 else "core-store"
        self.emit(kind or (host if by in ("host", "dma") else core), ev=ev, by=by, **at, addr=hex(address), size=size,
                  value=None if data is not None else hex(value & 0xffffffff),
                  data=data.hex() if data is not None else None, seq=seq)

    def request(self, tile, network, op, seq=None, number=None, **more):
        self.ids += number is None
        self.emit("noc", ev="noc", x=tile[0], y=tile[1], by="brisc", noc=network, op=op, id=number or self.ids, seq=seq,
                  **{k: hex(v) if k in ("saddr", "daddr", "value") else v.hex() if k == "data" else v
                     for k, v in more.items()})
        return number or self.ids

    def unit(self, op, **more):
        self.seqs += 1
        hexed = {k: hex(v) if k in ("addr", "value", "entry") else v.hex() if k == "data" else v for k, v in more.items()}
        self.emit("cq-host" if op == "record" else "cq", ev="cq", op=op, seq=self.seqs, **hexed)
        return self.seqs

    def poll(self, tile, address, get, until, size=4):
        """Looks until the value is as it must be; equal looks are one event."""
        while not until(get()):
            self.access("read", "brisc", tile, address, size, get())
            old = get()
            while get() == old:
                yield 9
        self.access("read", "brisc", tile, address, size, get())

    def pcie(self, offset):
        return 1 << 60 | self.n["sysmem"] + offset

    # ---- the host ----

    def boot(self):
        n, p, d = self.n, self.prefetch_at, self.dispatch_at
        for tile in self.tiles + [p, d]:
            for address, size in ((0x60, 16), (0x370, 36), (0x3a0, 4)):
                self.emit("mem", ev="mem", x=tile[0], y=tile[1], addr=hex(address), data="00" * size)
        end = n["queue"] + n["queue_slots"] * n["entry_bytes"]
        for where, address, data in (
                (p, n["rd_ptr_echo"], le(end, 4)), (p, n["pcie_ptr_echo"], le(n["sysmem"] + n["issue"], 4)),
                (p, n["queue"], bytes(n["queue_slots"] * n["entry_bytes"])), ("sysmem", n["host_wr"], le(self.first, 4)),
                ("sysmem", n["host_rd"], le(self.first, 4)), (p, self.sem - 16, bytes(16) + le(self.credits, 4) + bytes(28)),
                (p, self.sem + 32, b"\x13\1\0\0" * 64), (p, 0x70, message(1, 0x30)), (p, 0x370, le(0x80000000, 4)),
                (d, n["completion_wr"], le(self.first, 4)), (d, n["completion_rd"], le(self.first, 4)),
                (d, n["sync_sems"], bytes(128)), (d, self.sem - 16, bytes(48)), (d, self.sem + 32, b"\x13\2\0\0" * 64),
                (d, 0x70, message(1, 0x30)), (d, 0x370, le(0x80000000, 4))):
            self.access("write", "host", where, address, len(data), data=data)
            self.t += 40
        for k in range(8):
            self.access("read", "brisc", d, SPACE + 0x1000 * k, value=0)
            self.access("write", "brisc", d, STREAM + 0x1000 * k, value=0)
        self.access("read", "brisc", d, n["completion_wr"], value=self.first)

    def program(self, i):
        base = self.n["kernel_config"]
        stamps = self.n["sysmem"] + self.n["timestamps"] + 32 * i
        steps = [("stamp", timestamp(stamps))]
        for name, address, data in (("reset", 0x370, le(0xe0000000, 4)), ("index", 0x3a0, bytes(4)),
                                    ("message", 0x70, message(0, 0x80)), ("blob", base + 0x60, b"\x13\5\0\0" * 256)):
            steps += [(name, large(self.rects, address, data)), (name + " barrier", wait(1))]
        steps += [("arguments", packed(self.tiles, base, b"\x77" * 16)), ("table", table(self.tiles)),
                  ("clear", wait(0x18, 48)), ("go", send_go(0x80000000 | noc_word(self.dispatch_at), len(self.tiles))),
                  ("wait", wait(0x18, 48, len(self.tiles))), ("stamp after", timestamp(stamps + 16)),
                  ("event", b"\3\1" + bytes(6) + le(32, 8) + le(i + 1, 4) + bytes(12))]
        return self.act("program", i, steps=steps)["steps"]

    def host(self):
        n, slot, wr, ahead = self.n, 0, 0, b""
        for i in range(self.programs):
            commands = self.program(i)
            for k, (name, command) in enumerate(commands):
                data = self.act("record", (name, i), data=record(command))["data"]
                wr = 0 if wr + len(data) > n["issue_size"] else wr
                a = self.act("publish", (name, i), place=wr, entry=len(data) // n["entry_unit"], slot=slot,
                             core=self.prefetch_at, steps=("data", "look", "store"))
                for step in a["steps"]:
                    address = n["queue"] + n["entry_bytes"] * slot
                    if step == "data" and ahead == data:
                        ahead = b""  # it was written with the one before
                    elif step in ("data", "draft", "two"):
                        ahead = record(commands[k + 1][1]) if step == "two" else ahead
                        written = bytes(b ^ 255 for b in data) if step == "draft" else data + ahead
                        self.access("write", "host", "sysmem", n["issue"] + a["place"], len(written), data=written)
                    elif step == "look":
                        while self.slots[slot]:
                            yield 60
                        self.access("read", "host", self.prefetch_at, address, n["entry_bytes"], 0)
                    else:
                        seq = self.unit("record", slot=a["slot"], entry=a["entry"], addr=n["issue"] + a["place"],
                                        size=len(data), data=data)
                        self.access("write", "host", a["core"], address, n["entry_bytes"], a["entry"], seq=seq)
                        self.records.append(((name, i), a["place"], data))
                        self.slots[slot] = a["entry"]
                    yield self.some(5, 150)
                slot, wr = (slot + 1) % n["queue_slots"], a["place"] + len(data)
            yield from self.take_event(i)
        self.ends = self.t + 3000

    def take_event(self, i):
        n = self.n
        while self.shown_wr == self.completion_rd:
            yield 90
        self.access("read", "host", "sysmem", n["host_wr"], value=self.shown_wr)
        offset = (self.completion_rd & 0x7fffffff) * 16 - n["sysmem"]
        a = self.act("take", i, steps=("page", *self.times, "pointer", "copy"), pages=1, core=self.dispatch_at)
        for step in a["steps"]:
            yield 20
            if step == "page":
                self.access("read", "host", "sysmem", offset + 16, value=number(self.memory.get(offset, bytes(32))[16:20]))
            elif step == "times":
                for tile in self.tiles:
                    self.access("read", "host", "sysmem", self.timing(tile, i), 8, 0)
            elif step == "pointer":
                for _ in range(a["pages"]):
                    self.completion_rd = self.next_page(self.completion_rd)
                self.access("write", "host", a["core"], n["completion_rd"], value=self.completion_rd)
            else:
                self.access("write", "host", "sysmem", n["host_rd"], value=self.completion_rd)

    def next_page(self, pointer):
        pointer += 0x100
        size = self.n["completion_size"] // 16
        return pointer if (pointer & 0x7fffffff) < self.first + size else (pointer - size) ^ 0x80000000

    # ---- the prefetcher ----

    def prefetch(self):
        n, me, acquired, page, at = self.n, self.prefetch_at, 0, 0, {"slot": 0, "rd": 0, "fence": 0}
        for k in range(1 << 30):
            yield from self.poll(me, n["queue"] + n["entry_bytes"] * at["slot"], lambda: self.slots[at["slot"]],
                                 lambda v: v != 0, n["entry_bytes"])
            key, _, data = self.records[k]
            landed = []
            yield from self.fetch(key, at, landed)
            while not landed:
                yield 5
            self.access("read", "brisc", me, n["cmddat"] + landed[0], 16, data=data[:16])
            command = data[16:16 + number(data[4:8])]
            pages = align(len(command), n["page"]) // n["page"]
            yield from self.poll(me, self.sem, lambda: self.credits, lambda v: v - acquired >= pages)
            acquired += pages
            a = self.act("relay", key, steps=("relay", "sent", "ready"), to=self.dispatch_at, place=0, counts=pages)
            for step in a["steps"]:
                if step == "relay":
                    seq = self.unit("relay", addr=n["buffer"] + page * n["page"], size=len(command))
                    last = self.request(me, 0, "write", seq, sx=me[0], sy=me[1], saddr=n["cmddat"] + landed[0] + 16,
                                        dx=me[0], dy=3, daddr=n["buffer"] + page * n["page"] + a["place"], size=len(command),
                                        data=command)
                elif step == "sent":
                    self.request(me, 0, "write", number=last, phase="sent")
                else:
                    x, y = a["to"]
                    seq = self.unit("credit", x=x, y=y, sem=0, by="prefetch", value=pages)
                    self.request(me, 0, "atomic", seq, dx=x, dy=y, daddr=self.sem, size=4, value=a["counts"])
                    self.ready += pages
                yield 20
            self.relayed.append((key, command, pages))
            page = (page + pages) % n["buffer_pages"]

    def fetch(self, key, at, landed):
        n, me, slot = self.n, self.prefetch_at, at["slot"]
        size = (self.slots[slot] & 0x7fff) * n["entry_unit"]
        at["rd"] = 0 if at["rd"] + size > n["issue_size"] else at["rd"]
        at["fence"] = 0 if at["fence"] + size > n["cmddat_size"] else at["fence"]
        a = self.act("fetch", key, size=size, place=at["rd"], unit=0, slot=slot, steps=("read", "zero", "entry", "next"))
        for step in a["steps"]:
            yield 6
            if step == "read":
                where = n["issue"] + a["place"]
                seq = self.unit("fetch", slot=a["slot"], addr=where + a["unit"], size=a["size"])
                read = self.request(me, 0, "read", seq, sx=19, sy=24, saddr=self.pcie(where), dx=me[0], dy=me[1],
                                    daddr=n["cmddat"] + at["fence"], size=a["size"])
                self.after(self.some(300, 900), lambda fence=at["fence"]: self.land(where, a["size"], read, slot, landed, fence))
            elif step == "zero":
                self.access("write", "brisc", me, n["queue"] + n["entry_bytes"] * slot, n["entry_bytes"], 0)
                self.slots[slot] = 0
            elif step == "entry":
                self.access("write", "brisc", me, n["rd_ptr_echo"], value=n["queue"] + n["entry_bytes"] * slot)
            else:
                self.access("write", "brisc", me, n["pcie_ptr_echo"], value=n["sysmem"] + n["issue"] + a["place"] + a["size"])
        at["slot"] = (slot + 1) % n["queue_slots"]
        at["rd"], at["fence"] = at["rd"] + size, at["fence"] + size

    def land(self, where, size, read, slot, landed, fence):
        self.access("read", "dma", "sysmem", where, size, data=bytes(0))
        self.events[-1][3].pop("data")
        seq = self.unit("landed", slot=slot, addr=where, size=size)
        self.request(self.prefetch_at, 0, "read", seq, number=read, phase="done")
        landed.append(fence)

    # ---- the dispatcher ----

    def dispatch(self):
        n, me, taken, finished, go_table = self.n, self.dispatch_at, 0, 0, [0] * 256
        while True:
            yield from self.poll(me, self.sem, lambda: self.ready, lambda v: v > taken)
            while not self.relayed:
                yield 5
            self.key, command, pages = self.relayed.pop(0)
            key = self.key
            address = n["buffer"] + taken % n["buffer_pages"] * n["page"]
            a = self.act("begin", key, place=address, load=0)
            seq = self.unit("exec", addr=a["place"], data=command[:16])
            self.access("read", "brisc", me, a["place"] + a["load"], 16, data=command[:16], seq=seq)
            blocks = (taken + pages) // n["block_pages"] - taken // n["block_pages"]
            taken += pages
            yield from self.execute(key, command, address, go_table)
            self.unit("done", addr=address)
            for _ in range(blocks):
                finished += 1
                while finished > 1 and self.under_way:
                    yield 4
                if finished > 1:
                    seq = self.unit("credit", x=me[0], y=2, sem=0, by="dispatch", value=n["block_pages"])
                    word = self.act("release", finished - 2, word=self.sem)["word"]
                    self.request(me, 0, "atomic", seq, dx=me[0], dy=2, daddr=word, size=4, value=n["block_pages"])
                    self.credits += n["block_pages"]

    def write(self, to, address, data, source, other=None):
        me, self.under_way = self.dispatch_at, self.under_way + 1
        a = self.act("write", self.key, to=to, other=other, address=address)
        to, other, address = a["to"], a["other"], a["address"]
        more = {"mcast": True, "dx2": other[0], "dy2": other[1]} if other else {}
        sent = self.request(me, 1, "write", buf=3, sx=me[0], sy=me[1], saddr=source, dx=to[0], dy=to[1], daddr=address,
                            size=len(data), vc=5 if other else 1, data=data, **more)
        self.after(self.some(60, 400), lambda: self.written(sent))
        self.after(self.some(20, 50), lambda: self.arrive(to, other or to, address, data))
        return sent

    def written(self, sent):
        self.request(self.dispatch_at, 1, "write", number=sent, phase="done")
        self.under_way -= 1

    def arrive(self, low, high, address, data):
        for tile in self.tiles:
            if low[0] <= tile[0] <= high[0] and low[1] <= tile[1] <= high[1]:
                w = self.workers[tile]
                if address == 0x70:
                    w["mode"] = data[0x2a]
                elif address == 0x370 and data[3] == 0xe0:
                    w["rd"] = 0
                    self.access("write", "brisc", tile, 0x6c, value=0)
                elif address == 0x370 and data[3] == 0x80 and not w["busy"]:
                    w["busy"] = True
                    self.later(self.worker(tile, w, data), self.some(300, 1500))

    def timing(self, tile, run):
        return self.n["timestamps"] + 0x10000 + 16 * (len(self.tiles) * run + self.tiles.index(tile))

    def worker(self, tile, w, go):
        a = self.act("work", (tile, w["runs"]), steps=(*self.times, "done", "enables", "preload", "notify", "pointer"))
        w["runs"] += 1
        for step in a["steps"][:1 if w["mode"] else 6]:
            if step == "done":
                self.access("write", "brisc", tile, 0x373, 1, 0)
                w["busy"] = False
            elif step == "enables":
                self.access("write", "brisc", tile, 0xbc + 96 * w["rd"], value=0)
            elif step == "preload":
                self.access("write", "brisc", tile, 0xcf + 96 * w["rd"], 1, 0)
            elif step == "times":
                self.request(tile, 1, "write", buf=2, sx=tile[0], sy=tile[1], saddr=0x9000, dx=19, dy=24, size=16, vc=1,
                             daddr=self.pcie(self.timing(tile, w["runs"] - 1)), data=bytes(16))
            elif step == "notify":
                self.request(tile, 1, "inline", buf=2, posted=True, dx=go[1], dy=go[2], daddr=STREAM + 0x1000 * go[0],
                             size=4, value=0x40, vc=1)
                self.count += go[0] == 0 and (go[1], go[2]) == self.dispatch_at
            else:
                w["rd"] = (w["rd"] + 1) % 8
                self.access("write", "brisc", tile, 0x6c, value=w["rd"])
            yield 5

    def execute(self, key, c, address, go_table):
        me = self.dispatch_at
        if c[0] == 18:
            data, offset = le(self.t, 8), number(c[8:12]) - self.n["sysmem"]
            self.access("read", "brisc", me, 0xffb121f0, value=self.t)
            self.access("read", "brisc", me, 0xffb121f8, value=0)
            self.access("write", "brisc", me, address, value=number(data[:4]))
            self.access("write", "brisc", me, address + 4, value=0)
            self.write((19, 24), self.pcie(offset), data, address)
            self.after(50, lambda: self.access("write", "dma", "sysmem", offset, 8, data=data))
        elif c[0] in (5, 6):
            count, each = number(c[2:4]), 4 if c[0] == 5 else 12
            at = align(16 + each * count, 16)
            for k in range(count):
                sub = c[16 + each * k:16 + each * (k + 1)]
                xy, size = number(sub[:4]), number(c[6:8]) if c[0] == 5 else number(sub[8:10]) + 1
                low, high = (xy & 63, xy >> 6 & 63), (xy >> 12 & 63, xy >> 18 & 63)
                while c[0] == 6 and self.under_way:
                    yield 6
                self.write(low, number(c[8:12] if c[0] == 5 else sub[4:8]), c[at:at + size], address + at,
                           high if c[0] == 6 else None)
                at += align(size, 16)
                yield 10
        elif c[0] == 1:
            yield 10  # no fault of the tests gets so far
        elif c[0] == 7:
            while c[1] & 1 and self.under_way:
                yield 6
            if c[1] & 0x18:
                yield from self.poll(me, SPACE, lambda: self.count, lambda v: v >= number(c[8:12]))
                self.access("read", "brisc", me, SPACE, value=self.count)
                self.access("write", "brisc", me, STREAM, value=-self.count << 6)
                self.count = 0
        elif c[0] == 17:
            go_table[:number(c[4:8])] = [number(c[k:k + 4]) for k in range(16, 16 + 4 * number(c[4:8]), 4)]
        elif c[0] == 14:
            yield from self.poll(me, SPACE, lambda: self.count, lambda v: v >= number(c[8:12]))
            self.access("write", "brisc", me, address, value=number(c[1:5]))
            for xy in go_table[c[7]:c[7] + c[6]]:
                self.write((xy & 63, xy >> 6), 0x370, c[1:5], address)
                yield 10
        elif c[0] == 3:
            yield from self.complete(key, c, address)
        yield self.some(10, 40)

    def complete(self, key, c, address):
        me, n = self.dispatch_at, self.n
        self.access("read", "brisc", me, n["completion_rd"], value=self.completion_rd)
        offset = (self.completion_wr & 0x7fffffff) * 16 - n["sysmem"]
        self.completion_wr = self.next_page(self.completion_wr)
        a = self.act("complete", key, steps=("page", "pointer", "copy"), lands=200, pointer=self.completion_wr)
        pointer = a["pointer"]
        for step in a["steps"]:
            if step == "page":
                self.write((19, 24), self.pcie(offset), c[:32], address)
                if a["lands"] is not None:
                    self.after(a["lands"], lambda: self.come(offset, c[:32]))
            elif step == "pointer":
                self.access("write", "brisc", me, n["completion_wr"], value=pointer)
            else:
                self.write((19, 24), self.pcie(n["host_wr"]), le(pointer, 4), n["completion_wr"])
                self.after(250, lambda: self.come(n["host_wr"], le(pointer, 4)))
            yield 8

    def come(self, offset, data):
        self.access("write", "dma", "sysmem", offset, len(data), data=data)
        self.memory[offset] = data
        self.shown_wr = number(data) if offset == self.n["host_wr"] else self.shown_wr

    # ---- all of them ----

    def run(self):
        self.boot()
        for agent in (self.host(), self.prefetch(), self.dispatch()):
            self.later(agent, 50)
        while self.agents and self.t < (self.ends or 1 << 20):
            self.t, _, agent = heapq.heappop(self.agents)
            delay = next(agent, None)
            if delay is not None:
                self.later(agent, delay)
        return self

    def lines(self, view, as_bytes=False):
        """The trace: header, events; `as_bytes`: the bytes of values in their place."""
        classes = VIEWS[view]
        shown = set(classes) | ({"cq-host"} if "cq" in classes else set()) | ({"mem"} if CORES & set(classes) else set())
        restates = "cq-host" in shown and {"host-mmio", "noc"} & shown
        header = {"nocap": 1, "arch": "blackhole", "board": self.board, "time_unit": "cycles", "observes": classes,
                  "complete": False, "cq": {"prefetch": self.prefetch_at, "dispatch": self.dispatch_at,
                                            "sysmem": hex(self.n["sysmem"]), "kernel_config": hex(self.sem - 16)}}
        if CORES & set(classes):
            header["scope"] = self.tiles + [self.prefetch_at, self.dispatch_at]
        if self.named:
            header["profile"] = {**self.profile, "name": "small-rings", "source": "a test"}
        yield json.dumps(header)
        for t, _, kind, event in sorted(self.events, key=lambda e: e[:2]):
            if kind in shown:
                shows = {k: v for k, v in event.items() if k != "seq" or restates}
                if as_bytes and kind in ACCESSES and "value" in shows:
                    shows["data"] = le(int(shows.pop("value"), 16), shows["size"]).hex()
                yield json.dumps({"t": t, **shows})


def noc_word(tile):
    return tile[1] << 16 | tile[0] << 8
