"""The C library by ctypes: its structs and functions, as in include/lode/*.h."""
from __future__ import annotations

import ctypes
import ctypes.util
import os

u16, u32, u64, size_t = ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_size_t
pointer, text = ctypes.c_void_p, ctypes.c_char_p

OK, FOUND, UNSURE, USAGE, BAD_INPUT, SYSTEM, STOPPED = 0, 1, 2, -2, -3, -4, -5
TYPES = ("run", "wait", "call")
NONE = 0xFFFFFFFF

Progress = ctypes.CFUNCTYPE(ctypes.c_int, pointer, text, text, u64, u64)


class ErrorStruct(ctypes.Structure):
    _fields_ = [("message", ctypes.c_char * 1024)]


class Sized(ctypes.Structure):
    """A struct whose first field is its size."""

    def __init__(self) -> None:
        super().__init__(ctypes.sizeof(type(self)))


class StreamInfo(Sized):
    _fields_ = [("size", size_t)] + [(name, text) for name in ("id", "name", "host", "source", "path")] + [
        ("events", u64 * 3), ("cost_ns", u64 * 3)] + [
        (name, u64) for name in ("first_t", "last_t", "threads", "stacks", "symptoms", "file_bytes", "added_s")]


class Events(Sized):
    _fields_ = [("size", size_t), ("count", size_t)] + [(name, pointer) for name in (
        "t", "cost", "delay", "thread", "stack", "waker", "waker_stack", "name", "cpu", "weight", "object",
        "holder", "context")]


class Thread(Sized):
    _fields_ = [("size", size_t), ("pid", u32), ("tid", u32), ("name", text)]


class Symptom(Sized):
    _fields_ = [("size", size_t), ("thread", u32), ("t0", u64), ("t1", u64), ("name", text)]


class Frame(Sized):
    _fields_ = [("size", size_t), ("module", text), ("function", text)]


class Attribute(Sized):
    _fields_ = [("size", size_t), ("key", text), ("value", text), ("is_text", ctypes.c_int)]


class RunOptions(Sized):
    _fields_ = [("size", size_t), ("progress", Progress), ("context", pointer)]


FUNCTIONS = {
    "liblode_version": (text, []),
    "liblode_corpus_open": (ctypes.c_int, [pointer, text, pointer]),
    "liblode_corpus_close": (None, [pointer]),
    "liblode_corpus_refresh": (ctypes.c_int, [pointer, pointer]),
    "liblode_corpus_count": (size_t, [pointer]),
    "liblode_corpus_stream": (ctypes.c_int, [pointer, size_t, pointer, pointer]),
    "liblode_stream_open": (ctypes.c_int, [pointer, text, pointer]),
    "liblode_stream_close": (None, [pointer]),
    "liblode_stream_name": (text, [pointer]),
    "liblode_stream_host": (text, [pointer]),
    "liblode_stream_events": (ctypes.c_int, [pointer, ctypes.c_int, pointer, pointer]),
    "liblode_stream_string": (text, [pointer, u32]),
    "liblode_stream_stacks": (pointer, [pointer, pointer]),
    "liblode_analyse": (ctypes.c_int, [text] + [pointer] * 5),
    "liblode_import": (ctypes.c_int, [text] + [pointer] * 5),
    "liblode_record": (ctypes.c_int, [text] + [pointer] * 5),
    "liblode_recording_start": (ctypes.c_int, [pointer, text] + [pointer] * 3),
    "liblode_recording_wait": (ctypes.c_int, [pointer, ctypes.c_int, pointer]),
    "liblode_recording_finish": (ctypes.c_int, [pointer] * 3),
    "liblode_export": (ctypes.c_int, [pointer] * 5),
    "liblode_query": (ctypes.c_int, [pointer, text] + [pointer] * 4),
    "liblode_report": (ctypes.c_int, [pointer] * 5),
    "liblode_hunt": (ctypes.c_int, [pointer] * 5),
    "liblode_result_bytes": (pointer, [pointer, pointer]),
    "liblode_result_message_count": (size_t, [pointer]),
    "liblode_result_message": (text, [pointer, size_t]),
    "liblode_result_free": (None, [pointer]),
}
for _thing in ("thread", "symptom", "attribute", "frame"):
    FUNCTIONS["liblode_stream_%s_count" % _thing] = (size_t, [pointer])
    FUNCTIONS["liblode_stream_" + _thing] = (ctypes.c_int, [pointer, size_t, pointer])


def load() -> ctypes.CDLL:
    """The library that $LODE_LIBRARY names, or the installed one."""
    path = os.environ.get("LODE_LIBRARY") or ctypes.util.find_library("lode") or "liblode.so.0"
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError("%s; install Lode ('meson install'), or name its library in LODE_LIBRARY" % error) from None
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


library = load()
