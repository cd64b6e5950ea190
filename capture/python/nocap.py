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
import operator
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


def _whole(value):
    """The int of a whole number of any type, also of numpy's; None: it is none."""
    try:
        return operator.index(value)
    except TypeError:
        return None


def _in(value, first, last, what):
    """A number of the range; ctypes would cut it to size."""
    number = _whole(value)
    if number is None or not first <= number <= last:
        raise Error("%s %r is no number from %d to %d" % (what, value, first, last))
    return number


def _word(value, size, what=None):
    return _in(value, 0, (1 << 8 * size) - 1, what or "value of %d bytes" % size)


def _bytes(data):
    """bytes() would make zeros of a number."""
    try:
        return bytes(data) if isinstance(data, (list, tuple)) else memoryview(data).tobytes()
    except (TypeError, ValueError):
        raise Error("%s is no bytes, nor a list of numbers up to 255" % type(data).__name__) from None


def _json(value, what):
    try:
        return json.dumps(value).encode()
    except (TypeError, ValueError) as why:
        raise Error("%s: %s" % (what, why)) from None


def _tile(tile):
    if not isinstance(tile, (list, tuple)) or len(tile) != 2:
        raise Error("a core is (x, y), not %r" % (tile,))
    return _XY(_in(tile[0], 0, _X_LAST, "x of a core"), _in(tile[1], 0, _Y_LAST, "y of a core"))


def _agent(by):
    """A number of above, UC0 and up for control processors, or a name of docs/events.md."""
    if isinstance(by, str):
        number = _lib.nocap_enum_value(_ENUM_AGENT, by.encode())
        if number <= 0:
            raise Error("there is no agent %r" % by)
        return number
    number = _whole(by)
    if number is None or not (HOST <= number <= DISPATCH or UC0 <= number <= 255):
        raise Error("there is no agent %r" % (by,))
    return number


def _address(addr, size=1):
    return _in(addr, 0, (1 << 64) - size, "address")


def _place(tile, to, space, chip, noc, order, map_):
    window = order is not None or map_ is not None
    return _Place(_tile(tile), _tile((0, 0) if to is None else to), _word(chip, 2, "chip"),
                  _number(_SPACES, space, "space"), to is not None, window, _in(noc, 0, 1, "noc"),
                  _number(_ORDERS, order or "relaxed", "order"), _number(_MAPS, map_ or "uc", "map"))


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
                         fork=_number(("stop", "follow"), fork, "fork"),
                         ring_bytes=_word(ring_bytes, 8, "ring_bytes"))
        if _lib.nocap_capture_open(ctypes.byref(handle), os.fsencode(path),
                                   _sized(_Header, json=_json(header, "the header")), options,
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
        _lib.nocap_capture_set_time(self._open(), _word(t, 8, "time"))

    def write(self, addr, value, size=4, tile=(0, 0), to=None, by=HOST, space="tile", chip=0, noc=0,
              order=None, map=None):
        """A store of `size` bytes, 1 to 8; or with `value` bytes, of all of them; or with None, of
        `size` bytes that are not known."""
        return self._access("write", addr, value, size, by,
                            _place(tile, to, space, chip, noc, order, map))

    def read(self, addr, value, size=4, tile=(0, 0), to=None, by=HOST, space="tile", chip=0, noc=0,
             order=None, map=None):
        """A load and what it gave: `value` as for write."""
        return self._access("read", addr, value, size, by,
                            _place(tile, to, space, chip, noc, order, map))

    def _access(self, kind, addr, value, size, by, place):
        record = getattr(_lib, "nocap_capture_" + kind)
        record_data = getattr(_lib, "nocap_capture_%s_data" % kind)
        number = _whole(value)
        if number is not None:
            size = _in(size, 1, 8, "size")
            return record(self._open(), place, _agent(by), _address(addr, size), size,
                          _word(number, size))
        data = None if value is None else _bytes(value)
        size = _in(size if data is None else len(data), 1, (1 << 32) - 1, "size")
        return record_data(self._open(), place, _agent(by), _address(addr, size), data, size)

    def event(self, ev, t=0, **fields):
        """Any event with any of its fields, by the names of docs/events.md: numbers, names, bytes,
        (x, y). What is no event raises Error and is not recorded. `t` counts with clock="user"."""
        safe, why = ctypes.c_bool(), ctypes.create_string_buffer(1024)
        line = {"t": t, "ev": ev}
        for key, value in fields.items():
            key = key.rstrip("_")   # from_ for from
            number = None if isinstance(value, bool) else _whole(value)
            line[key] = (bytes(value).hex() if isinstance(value, (bytes, bytearray, memoryview)) else
                         value if number is None else hex(number) if key in _HEX else number)
        if _lib.nocap_capture_event_json(self._open(), _json(line, "the event"),
                                         ctypes.byref(safe), why) != 0:
            raise Error(why.value.decode(errors="replace"))
        return safe.value

    def noc(self, op, tile, target, daddr, size, by=BRISC, noc=0, buf=0):
        return _lib.nocap_capture_noc(self._open(), _op(op), _tile(tile), _agent(by),
                                      _in(noc, 0, 1, "noc"), _in(buf, 0, 3, "buf"),
                                      _tile(target), _address(daddr),
                                      _word(size, 8, "size"))

    def tensix(self, op, tile, thread, word):
        return _lib.nocap_capture_tensix(self._open(), _op(op), _tile(tile),
                                         _in(thread, 0, 2, "thread"), _word(word, 4))

    def kernel(self, op, tile, by, pc=0):
        return _lib.nocap_capture_kernel(self._open(), _op(op), _tile(tile), _agent(by),
                                         _address(pc))

    def reset(self, op, tile, by):
        return _lib.nocap_capture_reset(self._open(), _op(op), _tile(tile), _agent(by))

    def cq_record(self, slot, entry, addr, data):
        data = _bytes(data)
        return _lib.nocap_capture_cq_record(self._open(), _word(slot, 8, "slot"),
                                            _word(entry, 4, "entry"), _address(addr, len(data)),
                                            data, len(data))

    def cq(self, op, addr, size, slot=0):
        return _lib.nocap_capture_cq(self._open(), _op(op), _word(slot, 8, "slot"), _address(addr),
                                     _word(size, 8, "size"))

    def cert(self, op, uc, page, off, job=0, insn=b""):
        insn = _bytes(insn)
        return _lib.nocap_capture_cert(self._open(), _op(op), _in(uc, 0, 255 - UC0, "uc"),
                                       _word(page, 8, "page"), _word(off, 8, "off"),
                                       _word(job, 8, "job"), insn, len(insn))

    def mem(self, addr, data, tile=(0, 0), space="tile", chip=0):
        """What memory held."""
        data = _bytes(data)
        return _lib.nocap_capture_mem(self._open(), _place(tile, None, space, chip, 0, None, None),
                                      _address(addr, len(data)), data, len(data))

    def note(self, text):
        if not isinstance(text, str) or "\0" in text:
            raise Error("a note is a string without NUL")
        return _lib.nocap_capture_note(self._open(), text.encode(errors="replace"))
