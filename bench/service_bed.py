"""What the problems of bench/services stand on: a temporary folder, processes and control groups that end with it."""
import contextlib
import glob
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'demo', 'services')
POSTGRES = '/usr/lib/postgresql'
# Debian's own, for which its modules are installed.
PYTHON = '/usr/bin/python3' if os.access('/usr/bin/python3', os.X_OK) else 'python3'


class Skipped(Exception):
    """This machine cannot show the problem; the text says why."""


def find_program(name):
    """The path of a program, also of those that Debian keeps out of PATH; None if it is not installed."""
    if name == 'php-fpm':
        return max(glob.glob('/usr/sbin/php-fpm*'), default=None)
    found = shutil.which(name, path=os.environ.get('PATH', '') + ':/usr/sbin:/sbin')
    if found or not os.path.isdir(POSTGRES):
        return found
    for version in sorted(os.listdir(POSTGRES), reverse=True):
        path = os.path.join(POSTGRES, version, 'bin', name)
        if os.access(path, os.X_OK):
            return path
    return None


def free_port():
    with socket.socket() as listener:
        listener.bind(('127.0.0.1', 0))
        return listener.getsockname()[1]


def machine_is_busy():
    """Whether other programs keep the processors so busy that those of a problem must queue for them."""
    def times():
        with open('/proc/stat', encoding='ascii') as file:
            numbers = [int(word) for word in file.readline().split()[1:9]]
        return sum(numbers), numbers[3] + numbers[4]
    total, idle = times()
    time.sleep(1)
    total_after, idle_after = times()
    return idle_after - idle < 0.6 * (total_after - total)


class Bed:
    """One problem's surroundings. Everything that it started is ended, and its folder removed, by `close`."""

    def __init__(self, lode):
        self.lode = lode
        self.folder = tempfile.mkdtemp(prefix='lode-services-')
        os.chmod(self.folder, 0o755)
        self.children = []
        self.groups = []
        self.mounts = []
        self.corpus = self.path('corpus')

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        with open(self.path(name), 'w', encoding='utf-8') as file:
            file.write(text)
        return self.path(name)

    def user_folder(self, name, user):
        os.mkdir(self.path(name), 0o700)
        shutil.chown(self.path(name), user, user)
        return self.path(name)

    def start(self, *command, user=None, **more):
        """Starts a program that runs until `close`. What it says goes to a file of the folder."""
        if user:
            more.update(user=user, group=user, extra_groups=[])
        more.setdefault('stdin', subprocess.DEVNULL)
        with open(self.path('log-%d' % len(os.listdir(self.folder))), 'wb') as log:
            more.setdefault('stdout', log)
            child = subprocess.Popen([find_program(command[0]) or command[0], *map(str, command[1:])], stderr=log,
                                     process_group=0, cwd='/', **more)
        self.children.append(child)
        return child

    def python(self, name, *arguments, **more):
        return self.start(PYTHON, os.path.join(DATA, name), *arguments, **more)

    def run(self, *command, user=None, **more):
        """Runs a command to its end; what it prints. Its failure ends the problem."""
        if user:
            more.update(user=user, group=user, extra_groups=[])
        done = subprocess.run([find_program(command[0]) or command[0], *map(str, command[1:])], cwd='/', text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False, **more)
        if done.returncode:
            raise RuntimeError('%s: exit status %d: %s' % (command[0], done.returncode, done.stderr.strip()[-300:]))
        return done.stdout

    def await_true(self, check, what, seconds=20):
        end = time.monotonic() + seconds
        while not check():
            if time.monotonic() > end:
                raise RuntimeError('%s: nothing after %d seconds' % (what, seconds))
            time.sleep(0.05)

    def await_port(self, port):
        def answers():
            with contextlib.suppress(OSError), socket.create_connection(('127.0.0.1', port), 1):
                return True
            return False
        self.await_true(answers, 'port %d' % port)

    def group(self, controller, **settings):
        """A control group of version 1 or 2 with these settings; the file that takes a process into it."""
        roots = ['/sys/fs/cgroup/' + controller, '/sys/fs/cgroup']
        root = next((root for root in roots if os.path.exists(os.path.join(root, 'cgroup.procs'))), None)
        if not root:
            raise Skipped('there is no control group for %s' % controller)
        path = os.path.join(root, 'lode-services-%d' % os.getpid())
        try:
            os.mkdir(path)
            self.groups.append(path)
            for name, value in settings[('v1' if root == roots[0] else 'v2')].items():
                with open(os.path.join(path, name), 'w', encoding='ascii') as file:
                    file.write(str(value))
        except OSError as error:
            raise Skipped('control group %s: %s' % (path, error.strerror)) from error
        return os.path.join(path, 'cgroup.procs')

    def record(self, *what, seconds=5, **more):
        """Records processes (Popen), or a command behind '--'."""
        targets = []
        for one in what:
            targets += ['-p', str(one.pid)] if isinstance(one, subprocess.Popen) else [one]
        limit = [] if '--' in targets else ['--duration', '%ds' % seconds]
        done = subprocess.run([self.lode, 'record', '-q', '-o', self.corpus, *limit, *targets], cwd=self.folder,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              timeout=180, check=False, **more)
        if done.returncode:
            raise RuntimeError('lode record: exit status %d: %s' % (done.returncode, done.stderr.strip()[-300:]))

    def watch(self, trigger, *what, seconds=5):
        """Watches processes (Popen) with a trigger; there is no corpus unless it fired."""
        targets = [word for one in what for word in ('-p', str(one.pid))]
        done = subprocess.run([self.lode, 'watch', '-q', '-o', self.corpus, '-t', trigger, '--duration', '%ds' % seconds,
                               *targets], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, timeout=180, check=False)
        if done.returncode:
            raise RuntimeError('lode watch: exit status %d: %s' % (done.returncode, done.stderr.strip()[-300:]))

    def findings(self, options):
        """What `lode mine` finds, as JSON."""
        done = subprocess.run([self.lode, 'mine', '-q', '--json', *options, self.corpus], capture_output=True, text=True,
                              timeout=180, check=False)
        if done.returncode:
            raise RuntimeError('lode mine: exit status %d: %s' % (done.returncode, done.stderr.strip()[-300:]))
        return json.loads(done.stdout)['findings']

    def end(self, child):
        """Ends a process that was started here, with its process group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, 15)
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            pass
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, 9)
        child.wait()

    def end_all(self):
        while self.children:
            self.end(self.children.pop())

    def close(self, keep):
        self.end_all()
        for path in self.mounts:
            subprocess.run(['umount', '-l', path], check=False)
        for path in self.groups:
            for _ in range(20):
                with contextlib.suppress(OSError):
                    os.rmdir(path)
                    break
                time.sleep(0.1)
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)
