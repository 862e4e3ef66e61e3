"""Lode in Python: corpora, events as NumPy arrays, results of analyses as dicts.

    import lode

    lode.import_files("corpus", ["perf.data"])
    corpus = lode.Corpus("corpus")
    waits = corpus[0].open().events("wait")
    waits.cost.sum()
    corpus.mine(kind="run", threshold="0.5%")["clusters"]

Options are those of the commands (`lode help mine`), with `_` for `-`: `fold_recursion=True`, `where=["version=4.2"]`.
"""
from __future__ import annotations

import ctypes
import json
from typing import Any, Callable, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _library
from ._library import library as _lib

__all__ = ["Attribute", "Corpus", "Error", "Events", "Recording", "Result", "Stopped", "Stream", "StreamInfo", "Symptom", "Table", "Thread",
           "analyse", "export", "import_files", "query", "record", "report", "version"]

Option = Union[str, int, float, bool, None, Sequence[str]]
Progress = Callable[[str, str, int, int], Any]


class Error(Exception):
    """What the library could not do; the text says what is wrong and what to do. `code` is that of lode/error.h."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class Stopped(Error):
    """The progress function asked to stop."""


def version() -> str:
    """The version of the library."""
    return _text(_lib.liblode_version())


def _text(value: Optional[bytes]) -> str:
    return (value or b"").decode("utf-8", "surrogateescape")


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogateescape")


def _check(code: int, error: _library.ErrorStruct) -> int:
    if code >= _library.OK:
        return code
    raise (Stopped if code == _library.STOPPED else Error)(_text(error.message), code)


class StreamInfo(NamedTuple):
    """What the catalogue says about a stream; times and costs in ns."""
    id: str
    name: str
    host: str
    source: str
    path: str
    events: Tuple[int, int, int]
    cost_ns: Tuple[int, int, int]
    first_t: int
    last_t: int
    threads: int
    stacks: int
    symptoms: int
    file_bytes: int
    added_s: int

    def open(self) -> "Stream":
        """Its events."""
        return Stream(self.path)


class Thread(NamedTuple):
    pid: Optional[int]
    tid: int
    name: str


class Symptom(NamedTuple):
    thread: int
    t0: int
    t1: int
    name: str


class Attribute(NamedTuple):
    key: str
    value: Union[str, float, bool]


class Events(NamedTuple):
    """Columns of all events of one type, ordered by t. The arrays are read-only views of the library's memory, which
    they keep alive. `weight` is how many events each represents; `object` what a wait was for, `holder` who had it,
    `context` the request it belonged to."""
    t: "np.ndarray[Any, np.dtype[np.uint64]]"
    cost: "np.ndarray[Any, np.dtype[np.uint64]]"
    delay: "np.ndarray[Any, np.dtype[np.uint64]]"
    thread: "np.ndarray[Any, np.dtype[np.uint32]]"
    stack: "np.ndarray[Any, np.dtype[np.uint32]]"
    waker: "np.ndarray[Any, np.dtype[np.uint32]]"
    waker_stack: "np.ndarray[Any, np.dtype[np.uint32]]"
    name: "np.ndarray[Any, np.dtype[np.uint32]]"
    cpu: "np.ndarray[Any, np.dtype[np.uint16]]"
    weight: "np.ndarray[Any, np.dtype[np.uint32]]"
    object: "np.ndarray[Any, np.dtype[np.uint32]]"
    holder: "np.ndarray[Any, np.dtype[np.uint32]]"
    context: "np.ndarray[Any, np.dtype[np.uint32]]"


_DTYPES = dict(t=np.uint64, cost=np.uint64, delay=np.uint64, thread=np.uint32, stack=np.uint32, waker=np.uint32,
               waker_stack=np.uint32, name=np.uint32, cpu=np.uint16, weight=np.uint32, object=np.uint32, holder=np.uint32,
               context=np.uint32)


class _Handle:
    """A handle of the library, closed when nobody refers to it any more."""

    def __init__(self, opening: Callable[..., int], closing: Callable[[Any], None], path: str) -> None:
        self.pointer = ctypes.c_void_p()
        self._closing = closing
        error = _library.ErrorStruct()
        _check(opening(ctypes.byref(self.pointer), _bytes(path), ctypes.byref(error)), error)

    def __del__(self) -> None:
        if self.pointer:
            self._closing(self.pointer)
            self.pointer = ctypes.c_void_p()


def _view(handle: _Handle, address: Optional[int], count: int, dtype: Any) -> "np.ndarray[Any, Any]":
    """`count` items at `address`, without copying; the array keeps the handle open."""
    if not count or not address:
        return np.empty(0, dtype)
    memory: Any = (ctypes.c_char * (count * np.dtype(dtype).itemsize)).from_address(address)
    memory.handle = handle
    array: "np.ndarray[Any, Any]" = np.frombuffer(memory, dtype)
    array.flags.writeable = False
    return array


class Stream:
    """One stream file: its events and what their numbers mean."""

    def __init__(self, path: str) -> None:
        self._handle = _Handle(_lib.liblode_stream_open, _lib.liblode_stream_close, path)
        self._frames: Optional[List[str]] = None

    @property
    def name(self) -> str:
        return _text(_lib.liblode_stream_name(self._handle.pointer))

    @property
    def host(self) -> str:
        return _text(_lib.liblode_stream_host(self._handle.pointer))

    def events(self, type: str) -> Events:
        """The events of a type: "run", "wait" or "call"."""
        if type not in _library.TYPES:
            raise ValueError("%r is not a type of events; choose one of %s" % (type, ", ".join(_library.TYPES)))
        events, error = _library.Events(), _library.ErrorStruct()
        _check(_lib.liblode_stream_events(self._handle.pointer, _library.TYPES.index(type), ctypes.byref(events),
                                          ctypes.byref(error)), error)
        columns = {name: _view(self._handle, getattr(events, name), events.count, dtype) for name, dtype in _DTYPES.items()}
        if events.count and not events.weight:
            columns["weight"] = np.broadcast_to(np.uint32(1), events.count)
        return Events(**columns)

    def _all(self, thing: str, struct: Any) -> Iterator[Any]:
        for i in range(getattr(_lib, "liblode_stream_%s_count" % thing)(self._handle.pointer)):
            one = struct()
            getattr(_lib, "liblode_stream_" + thing)(self._handle.pointer, i, ctypes.byref(one))
            yield one

    @property
    def threads(self) -> List[Thread]:
        """What `Events.thread` and `Events.waker` are indexes of."""
        return [Thread(None if one.pid == _library.NONE else one.pid, one.tid, _text(one.name))
                for one in self._all("thread", _library.Thread)]

    @property
    def symptoms(self) -> List[Symptom]:
        return [Symptom(one.thread, one.t0, one.t1, _text(one.name)) for one in self._all("symptom", _library.Symptom)]

    @property
    def attributes(self) -> List[Attribute]:
        def value(one: Any) -> Union[str, float, bool]:
            written = _text(one.value)
            return written if one.is_text else json.loads(written)
        return [Attribute(_text(one.key), value(one)) for one in self._all("attribute", _library.Attribute)]

    @property
    def frames(self) -> List[str]:
        """`module!function`, or `function` where the module is not known."""
        if self._frames is None:
            self._frames = [(_text(one.module) + "!" if one.module else "") + _text(one.function)
                            for one in self._all("frame", _library.Frame)]
        return self._frames

    @property
    def stacks(self) -> "np.ndarray[Any, Any]":
        """The stack tree: `parent` and `frame` of each node. Node 0 is the empty stack; parents come before children."""
        count = ctypes.c_size_t()
        address = _lib.liblode_stream_stacks(self._handle.pointer, ctypes.byref(count))
        return _view(self._handle, address, count.value, np.dtype([("parent", np.uint32), ("frame", np.uint32)]))

    def stack(self, node: int) -> List[str]:
        """The frames of a stack, root first."""
        nodes, frames, names = self.stacks, [], self.frames
        if not 0 <= node < len(nodes):
            raise IndexError("there is no stack %d" % node)
        while node:
            frames.append(names[nodes[node]["frame"]])
            node = int(nodes[node]["parent"])
        return frames[::-1]

    def string(self, id: int) -> str:
        """The name of an event (`Events.name`)."""
        return _text(_lib.liblode_stream_string(self._handle.pointer, id))


class Result(dict):  # type: ignore[type-arg]
    """The JSON of an analysis, and the messages that came with it: what was lost or left out."""
    messages: List[str]
    found: bool  # an option such as exit_code=True or gate=… asked to tell whether something was found, and it was
    unsure: bool  # of gate=…: its rules are neither surely kept nor surely broken


def _words(options: "dict[str, Option]") -> List[str]:
    words = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(option)
        elif isinstance(value, (str, int, float)):
            words.append("%s=%s" % (option, value))
        else:
            words.extend("%s=%s" % (option, one) for one in value)
    return words


def _array(words: Sequence[Any]) -> Any:
    return (ctypes.c_char_p * (len(words) + 1))(*[_bytes(word) for word in words], None)


def _run(function: Callable[..., int], first: Sequence[Any], options: "dict[str, Option]",
         progress: Optional[Progress]) -> Tuple[bytes, List[str], int]:
    """Calls a task. What the progress function raises ends the work and is raised again."""
    run, error, result, raised = _library.RunOptions(), _library.ErrorStruct(), ctypes.c_void_p(), []

    def report(_: Any, phase: bytes, unit: bytes, done: int, total: int) -> int:
        try:
            return 1 if progress and progress(_text(phase), _text(unit), done, total) else 0
        except BaseException as exception:
            raised.append(exception)
            return 1

    if progress:
        run.progress = _library.Progress(report)
    code = function(*first, _array(_words(options)), ctypes.byref(run), ctypes.byref(result), ctypes.byref(error))
    if raised:
        _lib.liblode_result_free(result)
        raise raised[0]
    return _take(code, result, error)


def _take(code: int, result: ctypes.c_void_p, error: _library.ErrorStruct) -> Tuple[bytes, List[str], int]:
    """What a task gave: its bytes, its messages, its code."""
    try:
        _check(code, error)
        size = ctypes.c_size_t()
        address = _lib.liblode_result_bytes(result, ctypes.byref(size))
        messages = [_text(_lib.liblode_result_message(result, i)) for i in range(_lib.liblode_result_message_count(result))]
        return ctypes.string_at(address, size.value), messages, code
    finally:
        _lib.liblode_result_free(result)


def _json(data: bytes) -> Any:
    """An object; or, where there is one per line, a list of them."""
    lines = [json.loads(line) for line in data.decode("utf-8", "surrogateescape").splitlines() if line]
    return lines[0] if len(lines) == 1 else lines


def _paths(paths: Union[str, Sequence[Any]]) -> List[Any]:
    return [paths] if isinstance(paths, (str, bytes)) or not hasattr(paths, "__iter__") else list(paths)


def analyse(analysis: str, corpora: Union[str, Sequence[Any]], progress: Optional[Progress] = None,
            **options: Option) -> Result:
    """Runs an analysis as `lode ANALYSIS --json` does: mine, latency, diff, scope, explain, coverage, info, signatures.

    Analyses that give a row of objects (scope, mine with show=) have them in `["lines"]`.
    `progress(phase, unit, done, total)` is called now and then; a true value stops the work (Stopped).
    """
    data, messages, code = _run(_lib.liblode_analyse, [_bytes(analysis), _array(_paths(corpora))], options, progress)
    lines = analysis == "scope" or (analysis == "mine" and options.get("show")) or (
        analysis == "latency" and options.get("instances"))
    parsed = _json(data)
    result = Result({"lines": parsed if isinstance(parsed, list) else [parsed]} if lines else parsed)
    result.messages = messages
    result.found, result.unsure = code == _library.FOUND, code == _library.UNSURE
    return result


def _plain(data: bytes, messages: List[str], code: int) -> Result:
    """A result that is one object."""
    result = Result(_json(data))
    result.messages = messages
    result.found, result.unsure = code == _library.FOUND, code == _library.UNSURE
    return result


def import_files(corpus: str, files: Union[str, Sequence[Any]], progress: Optional[Progress] = None,
                 **options: Option) -> Result:
    """Imports recordings of other tools into a corpus, as `lode import` does."""
    return _plain(*_run(_lib.liblode_import, [_bytes(corpus), _array(_paths(files))], options, progress))


def record(corpus: str, command: Sequence[Any] = (), progress: Optional[Progress] = None, **options: Option) -> Result:
    """Records a command (its words), or what options choose (pid=123, all=True), into a new stream of a corpus.

    As `lode record` does, with its privileges. Returns when the command or the processes have ended, after
    `duration="10s"`, or when `progress("recording", "events", done, 0)` returns a true value, which here is no
    failure. This process is left out of the recording.
    """
    return _plain(*_run(_lib.liblode_record, [_bytes(corpus), _array(command)], options, progress))


def hunt(command: Sequence[Any] = (), progress: Optional[Progress] = None, **options: Option) -> Result:
    """Hunts for bottlenecks of a command (its words), or of what options choose (pid=123, comm="worker").

    As `lode hunt --json` does, with its privileges. `["steps"]` has a dict for each step; the other keys are those of the
    summary, its last line. Ends when nothing is left to examine or the program has ended, after `duration="10s"`, or when
    `progress("hunting", "experiments", count, 0)` returns a true value, which here is no failure.
    """
    data, messages, code = _run(_lib.liblode_hunt, [_array(command)], options, progress)
    lines = _json(data)
    steps = lines if isinstance(lines, list) else [lines]
    result = Result(steps.pop())
    result["steps"] = steps
    result.messages = messages
    result.found, result.unsure = code == _library.FOUND, code == _library.UNSURE
    return result


class Recording:
    """A recording that goes on beside the program, from its start to `stop`, or to the end of a `with` block.

        with lode.Recording("corpus", pid=4711) as recording:
            send_requests()
        print(recording.result["wait"])

    Arguments are those of `record`.
    """
    result: Optional[Result] = None  # once it is stopped

    def __init__(self, corpus: str, command: Sequence[Any] = (), **options: Option) -> None:
        self._pointer = ctypes.c_void_p()
        error = _library.ErrorStruct()
        _check(_lib.liblode_recording_start(ctypes.byref(self._pointer), _bytes(corpus), _array(command),
                                            _array(_words(options)), ctypes.byref(error)), error)

    def wait(self, timeout: Optional[float] = None) -> bool:
        """Waits until it is over by itself, so many seconds at most; returns whether it is."""
        if not self._pointer:
            return True
        milliseconds = -1 if timeout is None else min(int(timeout * 1000), 2**31 - 1)
        return bool(_lib.liblode_recording_wait(self._pointer, milliseconds, None))

    @property
    def events(self) -> int:
        """How many events there are so far; 0 once it is stopped, when the result has them."""
        count = ctypes.c_uint64()
        if self._pointer:
            _lib.liblode_recording_wait(self._pointer, 0, ctypes.byref(count))
        return count.value

    def stop(self) -> Result:
        """Ends it, if it is not over, and returns what `record` does."""
        if self._pointer:
            pointer, self._pointer = self._pointer, ctypes.c_void_p()
            result, error = ctypes.c_void_p(), _library.ErrorStruct()
            code = _lib.liblode_recording_finish(pointer, ctypes.byref(result), ctypes.byref(error))
            self.result = _plain(*_take(code, result, error))
        if self.result is None:
            raise Error("the recording failed, and was stopped before", _library.USAGE)
        return self.result

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()

    def __del__(self) -> None:
        if getattr(self, "_pointer", None):
            _lib.liblode_recording_finish(self._pointer, None, None)
            self._pointer = ctypes.c_void_p()


def export(corpora: Union[str, Sequence[Any]], format: str = "events", progress: Optional[Progress] = None,
           **options: Option) -> bytes:
    """Corpora in the format of another tool, as `lode export` writes it."""
    return _run(_lib.liblode_export, [_array(_paths(corpora))], dict(options, format=format), progress)[0]


def report(corpora: Union[str, Sequence[Any]], progress: Optional[Progress] = None, **options: Option) -> bytes:
    """The page of corpora that `lode report` writes: one HTML file, all views in it."""
    return _run(_lib.liblode_report, [_array(_paths(corpora))], options, progress)[0]


class Table(dict):  # type: ignore[type-arg]
    """The result of a query: NumPy arrays by the names of their columns, in order; `pandas.DataFrame(table)` takes it.

    Integers are int64 (masked arrays where there are NULLs), fractions float64 (NaN for NULL), texts objects (None for NULL).
    """
    messages: List[str]
    complete: bool  # False: max_rows cut the result


def _column(data: bytes, at: int, rows: int, head: "dict[str, Any]") -> Tuple["np.ndarray[Any, Any]", int]:
    """A column of the binary format of lode-query(1), and where the next one may begin."""
    at += -at % 8
    values: "np.ndarray[Any, Any]" = np.frombuffer(data, np.float64 if head["type"] == "real" else np.int64, rows, at)
    at += 8 * rows
    nulls: "np.ndarray[Any, Any]" = np.zeros(rows, bool)
    if head["nulls"]:
        nulls = np.frombuffer(data, np.uint8, rows, at).astype(bool)
        at += rows
    at += -at % 8
    texts = data[at:at + head["text_bytes"]]
    at += len(texts)
    if head["type"] == "text":
        made = np.empty(rows, object)
        starts: Any = values.tolist()
        for i, (start, null) in enumerate(zip(starts, nulls.tolist())):
            made[i] = None if null else _text(texts[start:texts.index(b"\0", start)])
        return made, at
    if head["nulls"] and head["type"] == "real":
        values = np.where(nulls, np.nan, values)
    elif head["nulls"]:
        masked: Any = np.ma.masked_array
        values = masked(values, nulls)
    return values, at


def query(corpora: Union[str, Sequence[Any]], sql: str, progress: Optional[Progress] = None, **options: Option) -> Table:
    """Runs an SQL statement, as `lode query` does, and returns its columns.

        waits = lode.query("corpus", "SELECT t, cost, leaf(stack) AS f FROM events WHERE type = 'wait'")
        waits["cost"].sum()
    """
    data, messages, _ = _run(_lib.liblode_query, [_array(_paths(corpora)), _bytes(sql)], dict(options, format="columns"), progress)
    at = data.index(b"\n") + 1
    head = json.loads(data[:at])
    table = Table()
    for one in head["columns"]:
        name, number = one["name"], 2
        while name in table:
            name, number = "%s_%d" % (one["name"], number), number + 1
        table[name], at = _column(data, at, head["rows"], one)
    table.messages, table.complete = messages, head["complete"]
    return table


class Corpus(Sequence[StreamInfo]):
    """A corpus: a row of streams, by name. The analyses are methods."""

    def __init__(self, path: str) -> None:
        self._handle = _Handle(_lib.liblode_corpus_open, _lib.liblode_corpus_close, path)
        self.path = path

    def refresh(self) -> None:
        """Lists the streams again, to see what was added or removed meanwhile."""
        error = _library.ErrorStruct()
        _check(_lib.liblode_corpus_refresh(self._handle.pointer, ctypes.byref(error)), error)

    def __len__(self) -> int:
        return int(_lib.liblode_corpus_count(self._handle.pointer))

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[one] for one in range(*i.indices(len(self)))]
        i = i + len(self) if i < 0 else i
        if not 0 <= i < len(self):
            raise IndexError("%s has %d streams" % (self.path, len(self)))
        info, error = _library.StreamInfo(), _library.ErrorStruct()
        _check(_lib.liblode_corpus_stream(self._handle.pointer, i, ctypes.byref(info), ctypes.byref(error)), error)
        values: List[Any] = [getattr(info, name) for name in StreamInfo._fields]
        return StreamInfo._make(_text(v) if isinstance(v, bytes) else v if isinstance(v, int) else tuple(v) for v in values)

    def __repr__(self) -> str:
        return "lode.Corpus(%r)" % self.path

    def mine(self, **options: Any) -> Result:
        """The call-stack patterns that cost the most."""
        return analyse("mine", self.path, **options)

    def latency(self, **options: Any) -> Result:
        """How long functions take, and in which context."""
        return analyse("latency", self.path, **options)

    def scope(self, **options: Any) -> List[Any]:
        """For each symptom, what kept its thread from finishing earlier."""
        return list(analyse("scope", self.path, **options)["lines"])

    def explain(self, **options: Any) -> Result:
        """Why some streams are slow and others not."""
        return analyse("explain", self.path, **options)

    def coverage(self, **options: Any) -> Result:
        """What patterns and signatures cover."""
        return analyse("coverage", self.path, **options)

    def query(self, sql: str, **options: Any) -> Table:
        """The answer to an SQL statement, as NumPy columns."""
        return query(self.path, sql, **options)

    def info(self, **options: Any) -> Result:
        """What is in the corpus."""
        return analyse("info", self.path, **options)

    def diff(self, slow: str, **options: Any) -> Result:
        """Which paths take longer in another corpus than in this one."""
        return analyse("diff", [self.path, slow], **options)
