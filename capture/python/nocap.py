# SPDX-License-Identifier: Apache-2.0
"""Records events of a running Python program into a .nocap trace, through libnocap.

    import nocap
    with nocap.Capture("run.nocap", observes=["host-mmio"]) as capture:
        capture.write(0x370, 0x80000000, tile=(1, 2))

Any thread may record. If the program is killed, `nocap` reads from run.nocap.rings every event whose
call had returned. The library is the one that is installed with the module, or where NOCAP_LIBRARY says.
"""
import ctypes
import json
import os

HOST, BRISC, NCRISC, TRISC0, TRISC1, TRISC2, NOC, DMA, PREFETCH, DISPATCH = range(1, 11)
UC0 = 32   # control processor n is UC0 + n
_X_LAST, _Y_LAST = 16, 11   # of the largest grid
# Fields whose numbers are strings of hex digits.
_HEX = {"addr", "value", "pc", "word", "entry", "ret", "saddr", "daddr", "raddr", "ctrl", "len_be",
        "at_data", "tag"}
_SPACES = ("tile", "sysmem", "bar0", "bar2", "bar4", "aie")
_ORDERS = ("relaxed", "strict", "posted")
_MAPS = ("uc", "wc")
_ENUM_OP, _ENUM_AGENT = 2, 3  # NOCAP_ENUM_OP, NOCAP_ENUM_AGENT
_U64 = ctypes.c_uint64


class Error(Exception):
    """What could not be done, in one sentence."""


class _XY(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint8), ("y", ctypes.c_uint8)]


class _Place(ctypes.Structure):
    _fields_ = [("at", _XY), ("to", _XY), ("chip", ctypes.c_uint16), ("space", ctypes.c_uint8),
                ("multicast", ctypes.c_bool), ("has_window", ctypes.c_bool),
                ("noc", ctypes.c_uint8), ("order", ctypes.c_uint8), ("map", ctypes.c_uint8)]


class _Header(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("arch", ctypes.c_int), ("board", ctypes.c_int),
                ("time_unit", ctypes.c_int), ("observes", ctypes.c_uint32), ("clock_hz", _U64),
                ("producer", ctypes.c_char_p), ("json", ctypes.c_char_p)]


class _Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("policy", ctypes.c_int), ("clock", ctypes.c_int),
                ("fork", ctypes.c_int), ("ring_bytes", _U64), ("flush_interval", ctypes.c_uint32),
                ("level", ctypes.c_int)]


class _Totals(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("events", _U64), ("bytes", _U64), ("dropped", _U64),
                ("seconds", ctypes.c_double)]


def _sized(structure, **members):
    """A struct of the library that begins with its size."""
    return structure(size=ctypes.sizeof(structure), **members)


def _find():
    """Where NOCAP_LIBRARY says, else in a folder above the module's, else where the loader looks."""
    name, folder = "libnocap.so.0", os.path.dirname(os.path.abspath(__file__))
    places = []
    while folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
        places += [os.path.join(folder, name), os.path.join(folder, "lib", name)]
    return os.environ.get("NOCAP_LIBRARY") or next(filter(os.path.exists, places), name)


def _load():
    lib = ctypes.CDLL(_find())
    p, u, c = ctypes.c_void_p, ctypes.c_uint, ctypes.c_char_p
    lib.nocap_capture_open.argtypes = [ctypes.POINTER(p), c, ctypes.POINTER(_Header),
                                       ctypes.POINTER(_Options), c]
    lib.nocap_capture_close.argtypes = [p, ctypes.POINTER(_Totals), c]
    lib.nocap_capture_flush.argtypes = [p, c]
    lib.nocap_capture_set_time.argtypes = [p, _U64]
    lib.nocap_capture_set_time.restype = None
    calls = {
        "write": [_Place, u, _U64, u, _U64], "read": [_Place, u, _U64, u, _U64],
        "write_data": [_Place, u, _U64, c, ctypes.c_size_t],
        "read_data": [_Place, u, _U64, c, ctypes.c_size_t],
        "noc": [u, _XY, u, u, u, _XY, _U64, _U64], "tensix": [u, _XY, u, ctypes.c_uint32],
        "kernel": [u, _XY, u, _U64], "reset": [u, _XY, u],
        "cq_record": [_U64, u, _U64, c, ctypes.c_size_t], "cq": [u, _U64, _U64, _U64],
        "cert": [u, u, _U64, _U64, _U64, c, ctypes.c_size_t],
        "mem": [_Place, _U64, c, ctypes.c_size_t], "note": [c],
    }
    for name, arguments in calls.items():
        function = getattr(lib, "nocap_capture_" + name)
        function.restype, function.argtypes = ctypes.c_bool, [p] + arguments
    lib.nocap_capture_event_json.argtypes = [p, c, ctypes.POINTER(ctypes.c_bool), c]
    lib.nocap_enum_value.argtypes = [ctypes.c_int, c]
    return lib


_lib = None


def _number(names, name, what):
    if name not in names:
        raise Error("%s %r is none of %s" % (what, name, ", ".join(names)))
    return names.index(name)


def _in(value, first, last, what):
    """A number of the range; ctypes would cut it to size."""
    if not isinstance(value, int) or not first <= value <= last:
        raise Error("%s %r is no number from %d to %d" % (what, value, first, last))
    return value


def _tile(tile):
    if len(tile) != 2:
        raise Error("a tile is (x, y), not %r" % (tile,))
    return _XY(_in(tile[0], 0, _X_LAST, "x of a tile"), _in(tile[1], 0, _Y_LAST, "y of a tile"))


def _agent(by):
    """A number of above, UC0 and up for control processors, or a name of docs/events.md."""
    if isinstance(by, str):
        number = _lib.nocap_enum_value(_ENUM_AGENT, by.encode())
        if number <= 0:
            raise Error("there is no agent %r" % by)
        return number
    if not isinstance(by, int) or not (HOST <= by <= DISPATCH or UC0 <= by <= 255):
        raise Error("there is no agent %r" % (by,))
    return by


def _word(value, size):
    _in(size, 1, 8, "size")
    return _in(value, 0, (1 << 8 * size) - 1, "value of %d bytes" % size)


def _address(addr):
    return _in(addr, 0, (1 << 64) - 1, "address")


def _place(tile, to, space, chip, noc, order, map_):
    window = order is not None or map_ is not None
    _in(noc, 0, 1, "noc")
    _in(chip, 0, 0xFFFF, "chip")
    return _Place(_tile(tile), _tile(to or (0, 0)), chip, _number(_SPACES, space, "space"),
                  to is not None, window, noc, _number(_ORDERS, order or "relaxed", "order"),
                  _number(_MAPS, map_ or "uc", "map"))


def _op(name):
    number = _lib.nocap_enum_value(_ENUM_OP, name.encode())
    if number < 0:
        raise Error("there is no op %r" % name)
    return number


class Capture:
    """A capture into the file `path`. Recording calls return whether the event is safe; False: it
    was dropped, and counted.

    header: keys of the trace's header (docs/events.md), such as observes=["host-mmio"].
    policy: "block" or "drop", what happens when a thread's ring is full.
    clock: "tsc" for nanoseconds, "user" for the times that set_time gives, or
        "tsc-coarse" (see nocap/capture.h).
    fork: "stop" or "follow", whether the child of a fork begins a trace of its own.
    """

    def __init__(self, path, policy="block", clock="tsc", fork="stop", ring_bytes=0, **header):
        global _lib
        self._capture = None
        self.totals = None
        if _lib is None:
            _lib = _load()
        header = dict({"nocap": 1, "arch": "blackhole"}, **header)
        why = ctypes.create_string_buffer(1024)
        handle = ctypes.c_void_p()
        options = _sized(_Options, policy=_number(("block", "drop"), policy, "policy"),
                         clock=_number(("tsc", "user", "tsc-coarse"), clock, "clock"),
                         fork=_number(("stop", "follow"), fork, "fork"), ring_bytes=ring_bytes)
        if _lib.nocap_capture_open(ctypes.byref(handle), os.fsencode(path),
                                   _sized(_Header, json=json.dumps(header).encode()), options,
                                   why) != 0:
            raise Error(why.value.decode(errors="replace"))
        self._capture = handle.value

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _open(self):
        if not self._capture:
            raise Error("the capture is closed")
        return self._capture

    def close(self):
        """Ends the trace; `totals` has events, bytes, dropped, seconds."""
        if self._capture:
            capture, self._capture = self._capture, None
            totals, why = _sized(_Totals), ctypes.create_string_buffer(1024)
            if _lib.nocap_capture_close(capture, ctypes.byref(totals), why) != 0:
                raise Error(why.value.decode(errors="replace"))
            self.totals = totals

    def flush(self):
        """Waits until everything recorded so far is in the file."""
        why = ctypes.create_string_buffer(1024)
        if _lib.nocap_capture_flush(self._open(), why) != 0:
            raise Error(why.value.decode(errors="replace"))

    def set_time(self, t):
        """The time of the events to come, with clock="user"."""
        _lib.nocap_capture_set_time(self._open(), t)

    def write(self, addr, value, size=4, tile=(0, 0), to=None, by=HOST, space="tile", chip=0, noc=0,
              order=None, map=None):
        """A store of `size` bytes, 1 to 8; or with `value` bytes, of all of them."""
        return self._access("write", addr, value, size, by,
                            _place(tile, to, space, chip, noc, order, map))

    def read(self, addr, value, size=4, tile=(0, 0), to=None, by=HOST, space="tile", chip=0, noc=0,
             order=None, map=None):
        """A load and what it gave."""
        return self._access("read", addr, value, size, by,
                            _place(tile, to, space, chip, noc, order, map))

    def _access(self, kind, addr, value, size, by, place):
        by = _agent(by)
        _address(addr)
        if isinstance(value, int):
            return getattr(_lib, "nocap_capture_" + kind)(self._open(), place, by, addr, size,
                                                          _word(value, size))
        data = bytes(value)
        return getattr(_lib, "nocap_capture_" + kind + "_data")(self._open(), place, by, addr, data,
                                                                len(data))

    def event(self, ev, t=0, **fields):
        """Any event with any of its fields, by the names of docs/events.md: numbers, names, bytes,
        (x, y). What is no event raises Error and is not recorded. `t` counts with clock="user"."""
        safe, why = ctypes.c_bool(), ctypes.create_string_buffer(1024)
        line = {"t": t, "ev": ev}
        for key, value in fields.items():
            key = key.rstrip("_")   # from_ for from
            line[key] = (bytes(value).hex() if isinstance(value, (bytes, bytearray, memoryview)) else
                         hex(value) if key in _HEX and type(value) is int else value)
        if _lib.nocap_capture_event_json(self._open(), json.dumps(line).encode(),
                                         ctypes.byref(safe), why) != 0:
            raise Error(why.value.decode(errors="replace"))
        return safe.value

    def noc(self, op, tile, target, daddr, size, by=BRISC, noc=0, buf=0):
        return _lib.nocap_capture_noc(self._open(), _op(op), _tile(tile), _agent(by),
                                      _in(noc, 0, 1, "noc"), _in(buf, 0, 3, "buf"),
                                      _tile(target), _address(daddr),
                                      _in(size, 0, (1 << 64) - 1, "size"))

    def tensix(self, op, tile, thread, word):
        return _lib.nocap_capture_tensix(self._open(), _op(op), _tile(tile),
                                         _in(thread, 0, 2, "thread"), _word(word, 4))

    def kernel(self, op, tile, by, pc=0):
        return _lib.nocap_capture_kernel(self._open(), _op(op), _tile(tile), _agent(by),
                                         _address(pc))

    def reset(self, op, tile, by):
        return _lib.nocap_capture_reset(self._open(), _op(op), _tile(tile), _agent(by))

    def cq_record(self, slot, entry, addr, data):
        return _lib.nocap_capture_cq_record(self._open(), slot, entry, addr, bytes(data), len(data))

    def cq(self, op, addr, size, slot=0):
        return _lib.nocap_capture_cq(self._open(), _op(op), slot, addr, size)

    def cert(self, op, uc, page, off, job=0, insn=b""):
        return _lib.nocap_capture_cert(self._open(), _op(op), uc, page, off, job, bytes(insn),
                                       len(insn))

    def mem(self, addr, data, tile=(0, 0), space="tile", chip=0):
        _address(addr)
        return _lib.nocap_capture_mem(self._open(), _place(tile, None, space, chip, 0, None, None),
                                      addr, bytes(data), len(data))

    def note(self, text):
        return _lib.nocap_capture_note(self._open(), text.encode())
