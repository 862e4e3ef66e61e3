"""Waits and spins in known stacks, and writes down which, and when.

	python_program.py LOG SECONDS [CASE...]

Each line of LOG is {"case", "kind", "tid", "from", "to", "stack", "lines"}: in this span of CLOCK_MONOTONIC the thread was
in this stack of Python functions, root first, as "file!function", with "python3!(await)" between coroutines. Of each the
lines that it may be at are listed, none for what is no function. A line {"case", "disagrees"} says that faulthandler has
another stack. Makes a file LOG.begun when it begins, and ends early when there is a file LOG.stop. tests/record/python_truth compares.
"""
import asyncio
import contextlib
import ctypes
import faulthandler
import functools
import json
import operator
import os
import re
import sys
import tempfile
import threading
import time

try:
    import numpy
except ImportError:
    numpy = None

LOG, SECONDS = sys.argv[1], float(sys.argv[2])
SPIN_NS = 8_000_000
SLEEP = 0.002
noted = []
witnessed = set()
others = []
case = ''


# Which coroutine awaits which, as the case below has it.
AWAITS = {('top', 'middle'), ('middle', 'leaf'), ('top', 'stream'), ('top', '__aenter__'), ('top', '__aexit__'),
          ('__aenter__', 'opened'), ('__aexit__', 'opened')}

with open(__file__, encoding='utf-8') as source:
    # Where functions without callees of their own are while they run or wait.
    HERE = [number for number, line in enumerate(source, 1) if line.rstrip().endswith('# here')]


def frames_of(frame):
    while frame:
        yield frame
        frame = frame.f_back


def own_stack(leaf):
    stack, lines = [], []
    for frame in frames_of(leaf):
        code, caller = frame.f_code, frame.f_back.f_code if frame.f_back else None
        name = os.path.basename(code.co_filename).replace('<', '{').replace('>', '}')
        stack.append(f'{name}!{code.co_qualname}')
        first, last = code.co_firstlineno, frame.f_lineno
        lines.append([frame.f_lineno] if frame is not leaf else [line for line in HERE if first < line < last])
        if caller and (caller.co_name, code.co_name) in AWAITS:
            stack.append('python3!(await)')
            lines.append([])
    return stack[::-1], lines[::-1]


def witness(leaf):
    """The stack as faulthandler has it, which reads the interpreter's structs itself."""
    with tempfile.TemporaryFile('w+') as file:
        faulthandler.dump_traceback(file, all_threads=False)
        file.seek(0)
        lines = re.findall(r'File "(.*)", line (\d+) in (.*)', file.read())
    own = [(frame.f_code.co_filename, str(frame.f_lineno), frame.f_code.co_name) for frame in frames_of(leaf)]
    seen = lines[len(lines) - len(own):] if len(lines) < 100 else own
    if seen != own:
        noted.append({'case': case, 'disagrees': [own, seen]})


def note(kind, begun, ended, leaf):
    stack, lines = own_stack(leaf)
    noted.append({'case': case, 'kind': kind, 'tid': threading.get_native_id(), 'from': begun, 'to': ended,
                  'stack': stack, 'lines': lines})
    if tuple(stack) not in witnessed:
        witnessed.add(tuple(stack))
        witness(leaf)


def spin():
    begun = now = time.monotonic_ns()  # here
    while now < begun + SPIN_NS:  # here
        now = time.monotonic_ns()  # here
    note('run', begun, now, sys._getframe())


def wait():
    for _ in range(4):
        begun = time.monotonic_ns()  # here
        time.sleep(SLEEP)  # here
        ended = time.monotonic_ns()  # here
        note('wait', begun, ended, sys._getframe())


def work(*_):
    spin()
    wait()
    return 0


# ---- cases ----

def recursion(depth=40):
    if depth:
        recursion(depth - 1)
    else:
        work()


def generators():
    def numbers():
        work()
        yield 1
        yield from inner()

    def inner():
        work()
        yield 2

    for _ in numbers():
        work()
    list(numbers())
    next(x for x in numbers() if x)


def coroutines():
    async def leaf():
        work()
        await asyncio.sleep(0)
        work()

    async def middle():
        await leaf()

    async def stream():
        yield 1
        work()
        yield 2

    @contextlib.asynccontextmanager
    async def opened():
        work()
        yield
        work()

    async def top():
        await middle()
        await asyncio.gather(middle(), leaf())
        async for _ in stream():
            pass
        async with opened():
            list(map(work, [1]))

    asyncio.run(top())


def decorators():
    def plain(function):
        @functools.wraps(function)
        def wrapper(*arguments, **options):
            return function(*arguments, **options)
        return wrapper

    @plain
    @functools.lru_cache(maxsize=0)
    @plain
    def decorated(number, key=1):
        work()
        return number + key

    decorated(1)
    decorated(2, key=3)
    functools.partial(decorated, 4)()


def comprehensions():
    [work() for _ in range(1)]
    {work() for _ in range(1)}
    {1: work() for _ in range(1)}
    any(work() for _ in range(1))
    (lambda: work())()


def callbacks():
    sorted([2, 1], key=lambda x: work() or x)
    max([1, 2], key=work)
    list(map(work, [1]))
    list(filter(work, [1]))
    functools.reduce(lambda a, b: work(), [1, 2, 3])
    re.sub('a', lambda match: work() or '', 'a')
    sorted([Comparable(), Comparable()])
    operator.methodcaller('method')(Comparable())


class Comparable:
    def __init__(self, works=False):
        if works:
            work()

    def __lt__(self, other):
        work()
        return False

    def method(self):
        work()

    @property
    def computed(self):
        return work()

    def __getattr__(self, name):
        work()
        return name

    def __del__(self):
        pass


class Element:
    def __lt__(self, other):
        work()
        return False

    def __add__(self, other):
        work()
        return self


class Nested:
    class Inner:
        @staticmethod
        def static():
            work()

        @classmethod
        def of_class(cls):
            work()


def classes():
    Comparable(works=True)
    Comparable().computed
    Comparable().anything
    Nested.Inner.static()
    Nested.Inner.of_class()
    type('Made', (), {'__init__': lambda self: work() or None})()
    str(type('Text', (), {'__str__': lambda self: str(work())})())


def exceptions():
    def fails(depth):
        try:
            if depth:
                fails(depth - 1)
            raise ValueError(depth)
        except ValueError:
            if not depth:
                work()
                raise
            try:
                raise KeyError(depth)
            except KeyError:
                work()
        finally:
            work()

    with contextlib.suppress(ValueError):
        fails(2)
    with manager():
        work()


@contextlib.contextmanager
def manager():
    work()
    yield
    work()


def native_callbacks():
    """Python from C from Python: qsort calls back."""
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(work)
    ctypes.CDLL(None).qsort((ctypes.c_int * 2)(2, 1), 2, 4, compare)


def arrays():
    """Python from numpy's C code from Python, which numpy's own Python functions call in part."""
    if numpy is None:
        return
    objects = numpy.array([Element(), Element()], dtype=object)
    numpy.frompyfunc(work, 1, 1)(numpy.zeros(1))
    numpy.vectorize(work, otypes=[int])(numpy.zeros(1))
    numpy.apply_along_axis(work, 0, numpy.zeros((2, 1)))
    numpy.fromfunction(work, (1, 1))
    numpy.sort(objects)
    numpy.add.reduce(objects)
    numpy.less(objects, objects[::-1])


def executed():
    scope = {'work': work}
    exec(compile('def made():\n\twork()\nmade()\n', 'made.py', 'exec'), scope)
    eval('work()', scope)


def threads():
    def run(number):
        for _ in range(3):
            recursion(number)

    several = [threading.Thread(target=run, args=(i * 5,)) for i in range(4)]
    for thread in several:
        thread.start()
    for thread in several:
        thread.join()


def pause(seconds=SLEEP / 4):
    begun = time.monotonic_ns()  # here
    time.sleep(seconds)  # here
    ended = time.monotonic_ns()  # here
    note('wait', begun, ended, sys._getframe())


def replaced():
    """Functions that are gone, and others whose code objects take their addresses; the C stack is the same each time.

    They live for some time: their names are read while they do. And they are few: one in 256 cannot be told from another that had
    its address.
    """
    files = [f'made_{i}.py' for i in range(6)]
    for i, file in enumerate(files):
        body = f'def made_{i}():\n\tpause({SLEEP * 5})\n\tpause()\nmade_{i}()\n'
        exec(compile('\n' * i + body, file, 'exec'), {'pause': pause})


def alike():
    """The C stack is the same each time: only the Python functions differ."""
    def one():
        pause()

    def other():
        pause()

    def first(function):
        function()

    def second(function):
        function()

    for i in range(40):
        (first, second)[i // 8 & 1]((one, other)[i * 5 // 3 & 1])


def interpreters():
    """Another interpreter has a state for this thread, too, which runs nothing. It stays, unless a fork follows, which may hang then."""
    try:
        import _xxsubinterpreters as module
    except ImportError:
        import _interpreters as module
    if not others:
        others.append(module.create())
    work()
    recursion(3)
    if len(sys.argv) == 3:
        module.destroy(others.pop())


def forked():
    if pid := os.fork():
        work()
        os.waitpid(pid, 0)
        return
    noted.clear()
    for _ in range(4):
        recursion(3)
        decorators()
    append()
    os._exit(0)


def append():
    with open(LOG, 'a', encoding='utf-8') as log:
        log.write(''.join(json.dumps(line) + '\n' for line in noted))


CASES = (recursion, generators, coroutines, decorators, comprehensions, callbacks, classes, exceptions, native_callbacks,
         arrays, executed, replaced, alike, threads, interpreters, forked)


def main():
    global case
    time.sleep(0.3)
    chosen = [function for function in CASES if not sys.argv[3:] or function.__name__ in sys.argv[3:]]
    end = time.monotonic() + SECONDS
    with open(LOG + '.begun', 'w', encoding='utf-8'):
        pass
    while True:
        for function in chosen:
            case = function.__name__
            function()
        if time.monotonic() > end or os.path.exists(LOG + '.stop'):
            break
    append()


main()
