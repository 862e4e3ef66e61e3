"""What the benchmarks share: running commands, medians, tables in Markdown."""
import contextlib
import ctypes
import glob
import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

MB = 1000 * 1000
STATISTICS = '/proc/sys/kernel/bpf_stats_enabled'

# A benchmark that is ended by `timeout` ends its loads too: those that went on would spoil the next one.
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))


def say(text):
    print('bench: ' + text, file=sys.stderr, flush=True)


def run_seconds(pid):
    """Processor seconds so far of the threads that a process has now, to the nanosecond."""
    total = 0
    for path in glob.glob('/proc/%d/task/*/schedstat' % pid):
        with contextlib.suppress(OSError), open(path, encoding='ascii') as file:
            total += int(file.read().split()[0])
    return total / 1e9


@contextlib.contextmanager
def program_statistics():
    """Has the kernel count the runs of BPF programs and their time, which makes them slower; no longer than this process lives."""
    fd = ctypes.CDLL('libbpf.so.1').bpf_enable_stats(0)
    if fd < 0:
        sys.exit('bench: the kernel does not count the time of BPF programs: %s' % os.strerror(-fd))
    try:
        yield
    finally:
        os.close(fd)


def check_no_statistics():
    with contextlib.suppress(FileNotFoundError), open(STATISTICS, encoding='utf-8') as file:
        if file.read().strip() != '0':
            sys.exit('bench: kernel.bpf_stats_enabled makes BPF programs slower; set it to 0')


def start_recorder(command, **more):
    """Starts a recorder in a session of its own, as systemd and other terminals do.

    Where the kernel groups processes by session (kernel.sched_autogroup_enabled), a recorder in the load's own session
    makes each of its context switches slower, because the weight of the group on each processor changes all the time: two
    programs that take turns lost 1.4 % to a recorder that only slept.
    """
    return subprocess.Popen(command, start_new_session=True, **more)


class Run:
    """One run of a command: wall and processor seconds, and the largest memory of it and its children.

    With `keep` its output is kept. One that takes longer than `limit` seconds is ended and has `late` set.
    """

    def __init__(self, command, keep=False, limit=None):
        start = time.monotonic()
        self.late = False
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as messages:
            child = subprocess.Popen(command, stdout=out if keep else subprocess.DEVNULL, stderr=messages)
            status, usage = self.wait(child, start + limit if limit else None)
            self.output = read_all(out) if keep else b''
            self.messages = read_all(messages).decode(errors='replace')
        child.returncode = os.waitstatus_to_exitcode(status)
        self.seconds = time.monotonic() - start
        self.processor = usage.ru_utime + usage.ru_stime
        self.peak_mb = usage.ru_maxrss * 1024 / MB
        if child.returncode and not self.late:
            sys.exit('bench: %s: exit status %d\n%s' % (' '.join(command), child.returncode, self.messages))

    def wait(self, child, end):
        while end is not None:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                return status, usage
            if time.monotonic() > end:
                self.late = True
                child.kill()
                break
            time.sleep(0.01)
        return os.wait4(child.pid, 0)[1:]

    @property
    def json(self):
        return json.loads(self.output)


class Series:
    """Runs of the same thing; what counts is the median."""

    def __init__(self):
        self.runs = []

    def add(self, command, keep=False):
        self.runs.append(Run(command, keep))

    @property
    def seconds(self):
        return statistics.median(run.seconds for run in self.runs)

    @property
    def processor(self):
        return statistics.median(run.processor for run in self.runs)

    @property
    def peak_mb(self):
        return max(run.peak_mb for run in self.runs)

    @property
    def spread(self):
        times = [run.seconds for run in self.runs]
        return '%.2f to %.2f' % (min(times), max(times))


def read_all(file):
    file.seek(0)
    return file.read()


def folder_size(path):
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(path) for name in names)


def fresh(path):
    shutil.rmtree(path, ignore_errors=True)
    return path


def command_output(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ''


def machine(lode):
    """Where this was measured, and with what."""
    return '%s, %d processors, Linux %s; %s' % (platform.machine(), os.cpu_count(), platform.release(),
                                                command_output(lode, '--version').split('\n')[0])


def table(rows):
    yield '| ' + ' | '.join(rows[0]) + ' |'
    yield '|' + '---|' + '---:|' * (len(rows[0]) - 1)
    for row in rows[1:]:
        yield '| ' + ' | '.join(row) + ' |'
    yield ''


def seconds(series):
    return '%.2f s' % series.seconds
