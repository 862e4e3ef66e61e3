"""Tests that are functions, several at a time.

	from side_by_side import Tests

Most tests of recording wait for programs that sleep, so that as many as JOBS of them run side by side: test()
marks these. What alone() marks is run afterwards, one at a time: tests that count what the machine does,
or that need a processor whenever they ask for it.
"""
import concurrent.futures
import threading
import time

JOBS = 3


class Tests:
    def __init__(self):
        self.all = {}
        self.apart = set()
        self.printing = threading.Lock()

    def test(self, function):
        self.all[function.__name__] = function
        return function

    def alone(self, function):
        self.apart.add(function.__name__)
        return self.test(function)

    def say(self, line):
        with self.printing:
            print(line, flush=True)

    def run(self, wanted, attempt):
        """Runs the tests of these names, or all; returns how many failed. attempt(function) returns what went wrong, or None."""
        names = wanted or list(self.all)

        def timed(name):
            began = time.monotonic()
            problem = attempt(self.all[name])
            took = time.monotonic() - began
            self.say('%s %s (%.1f s)%s' % ('FAIL' if problem else 'ok  ', name, took, ': ' + problem if problem else ''))
            return problem

        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            problems = list(pool.map(timed, [name for name in names if name not in self.apart]))
        problems += [timed(name) for name in names if name in self.apart]
        failed = sum(problem is not None for problem in problems)
        print('%d of %d failed' % (failed, len(names)))
        return failed


def place(error):
    """The line at which an exception was raised."""
    line = error.__traceback__
    while line.tb_next:
        line = line.tb_next
    return line.tb_lineno
