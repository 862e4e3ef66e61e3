"""How fast a budget follows a load that changes tenfold: two processes that take turns, slowly, ten times as fast, and slowly again."""
import os
import subprocess
import threading
import time

# Nanoseconds of computing before each turn, and seconds: some 5 s to settle, then the steps.
PHASES = (('slow', 60000, 7), ('tenfold', 4500, 6), ('slow again', 60000, 5))
LOOK_SECONDS = 0.25
# The time after which a change must be followed.
FOLLOWED_SECONDS = 2


class Looks:
    """What a recorder took, every quarter of a second: its programs in the kernel, and its own process."""

    def __init__(self, tool, program_times):
        self.tool = tool
        self.program_times = program_times
        self.found = []
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.look)

    def taken(self):
        return sum(one[1] for one in self.program_times(self.tool.process.pid).values()) / 1e9 + self.tool.spent()

    def look(self):
        before, last = self.taken(), time.monotonic()
        while not self.ending.wait(LOOK_SECONDS):
            taken, now = self.taken(), time.monotonic()
            self.found.append((now, (taken - before) / (now - last) / os.cpu_count()))
            before, last = taken, now

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.thread.join()


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else 0


def run_phases(turns):
    """Runs the load; yields the name of each phase, its begin and end, and its turns a second."""
    for name, pause, seconds in PHASES:
        began = time.monotonic()
        lines = subprocess.run([turns, str(seconds), str(os.cpu_count() - 1), str(pause)], check=True, text=True,
                               stdout=subprocess.PIPE).stdout.splitlines()
        yield name, began, time.monotonic(), sum(int(line.split()[1]) for line in lines) / seconds


def rows(tool, turns, program_times):
    """A row for each phase: turns a second, and what was taken of the machine."""
    with Looks(tool, program_times) as looks:
        phases = list(run_phases(turns))
    for name, began, ended, rate in phases:
        inside = [(t - began, share) for t, share in looks.found if began + LOOK_SECONDS <= t <= ended]
        yield [name, '%.0f' % rate, '%.2f %%' % (100 * mean(share for t, share in inside if t < FOLLOWED_SECONDS)),
               '%.2f %%' % (100 * max((share for t, share in inside if t < FOLLOWED_SECONDS), default=0)),
               '%.2f %%' % (100 * mean(share for t, share in inside if t >= FOLLOWED_SECONDS))]
