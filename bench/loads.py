"""The loads under which the recorder is measured: programs that switch, wake and call much, and one that does not.

Each load is a context: entering it starts the servers that it needs, on sockets and a port of their own in a
temporary folder; leaving it ends them. `run` does the work once and returns what it took.
"""
import os
import re
import shutil
import socket
import subprocess
import sys
import time

TICKS = os.sysconf('SC_CLK_TCK')


def find(program):
    return shutil.which(program, path=os.environ.get('PATH', '') + ':/usr/sbin:/sbin')


def processor_time(pids):
    """Seconds that these processes, with all their threads, have run so far; to a hundredth."""
    total = 0
    for pid in pids:
        try:
            with open('/proc/%d/stat' % pid, encoding='utf-8') as file:
                fields = file.read().rsplit(')', 1)[1].split()
        except OSError:
            continue
        total += int(fields[11]) + int(fields[12])
    return total / TICKS


def descendants(pid):
    found = [pid]
    for parent in found:
        try:
            with open('/proc/%d/task/%d/children' % (parent, parent), encoding='utf-8') as file:
                found += map(int, file.read().split())
        except OSError:
            continue
    return found


class Work:
    """What one run of a load took: seconds by the clock, and processor seconds of its client and servers."""

    def __init__(self, command, servers, pattern=None):
        before = processor_time(servers)
        start = time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as child:
            output = child.stdout.read().decode(errors='replace')
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        self.seconds = time.monotonic() - start
        if child.returncode:
            raise RuntimeError('%s: exit status %d\n%s' % (' '.join(command), child.returncode, output))
        if pattern:
            self.seconds = float(re.search(pattern, output).group(1))
        self.processor = usage.ru_utime + usage.ru_stime + processor_time(servers) - before


class Load:
    """A command without servers."""

    needs = ()
    pattern = None # where the command prints its seconds

    def __init__(self, folder, size):
        self.folder = folder
        self.size = size
        self.server = None

    def command(self):
        raise NotImplementedError

    def run(self):
        servers = descendants(self.server.pid) if self.server else []
        return Work(self.command(), servers, self.pattern)

    def __enter__(self):
        return self

    def __exit__(self, *why):
        if self.server:
            self.server.terminate()
            try:
                self.server.wait(20)
            except subprocess.TimeoutExpired:
                self.server.kill()
                self.server.wait()
            self.server = None
        return False

    def path(self, name):
        return os.path.join(self.folder, name)

    def serve(self, command, answers):
        """Starts a server and waits until it answers."""
        with open(self.path('server.log'), 'wb') as log:
            self.server = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        for _ in range(300):
            if self.server.poll() is not None:
                break
            if answers():
                return
            time.sleep(0.1)
        with open(self.path('server.log'), encoding='utf-8', errors='replace') as log:
            text = log.read()
        self.__exit__()
        raise RuntimeError('%s does not start\n%s' % (command[0], text[-2000:]))


class Pipe(Load):
    """Two processes that wake each other in turn, through pipes."""

    needs = ('perf',)
    pattern = r'Total time: ([0-9.]+)'

    def command(self):
        return ['perf', 'bench', 'sched', 'pipe', '-l', str(100000 // self.size)]


class Turns(Pipe):
    """The same two on one processor, while the recorder has another: nothing but switches and wakings."""

    def command(self):
        return ['taskset', '-c', str(max(os.sched_getaffinity(0))), *super().command()]


class Messaging(Load):
    """Eighty processes that send each other messages through sockets: as many messages as the processors can handle."""

    needs = ('perf',)
    pattern = r'Total time: ([0-9.]+)'

    def command(self):
        return ['perf', 'bench', 'sched', 'messaging', '-g', '2', '-l', str(2000 // self.size)]


class Processor(Load):
    """One thread that only computes."""

    def command(self):
        return [sys.executable, '-c', 'sum(i * i for i in range(%d))' % (20000000 // self.size)]


class Web(Load):
    """Apache, asked by ab for a small file, eight at a time."""

    needs = ('apache2', 'ab')
    pattern = r'Time taken for tests: +([0-9.]+)'

    CONFIGURATION = '''
ServerRoot {folder}
ServerName localhost
Listen 127.0.0.1:{port}
PidFile {folder}/apache.pid
DefaultRuntimeDir {folder}
Mutex file:{folder}
ErrorLog {folder}/error.log
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
StartServers 1
ServerLimit 1
ThreadsPerChild 16
MaxRequestWorkers 16
DocumentRoot {folder}/pages
{user}
'''

    def __enter__(self):
        with socket.socket() as probe:
            probe.bind(('127.0.0.1', 0))
            self.port = probe.getsockname()[1]
        os.makedirs(self.path('pages'), exist_ok=True)
        with open(self.path('pages/index.html'), 'w', encoding='utf-8') as page:
            page.write('<p>hello</p>\n' * 80)
        # Workers of a server that root starts are another user's; they must reach the page.
        user = ''
        if os.geteuid() == 0:
            user = 'User nobody\nGroup nogroup'
            os.chmod(self.folder, 0o755)
        with open(self.path('apache.conf'), 'w', encoding='utf-8') as file:
            file.write(self.CONFIGURATION.format(folder=self.folder, port=self.port, user=user,
                                                 modules='/usr/lib/apache2/modules'))
        self.serve([find('apache2'), '-f', self.path('apache.conf'), '-DFOREGROUND'], self.answers)
        return self

    def answers(self):
        with socket.socket() as client:
            return client.connect_ex(('127.0.0.1', self.port)) == 0

    def command(self):
        return ['ab', '-q', '-n', str(20000 // self.size), '-c', '8', 'http://127.0.0.1:%d/index.html' % self.port]


class Database(Load):
    """MariaDB, asked by sysbench with transactions that read, four at a time."""

    needs = ('mariadbd', 'mariadb-install-db', 'mariadb', 'sysbench')
    pattern = r'total time: +([0-9.]+)s'

    def __enter__(self):
        data = self.path('data')
        user = ['--user=root'] if os.geteuid() == 0 else []
        subprocess.run([find('mariadb-install-db'), '--no-defaults', '--datadir=' + data,
                        '--auth-root-authentication-method=normal', '--skip-test-db', *user],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.serve([find('mariadbd'), '--no-defaults', '--datadir=' + data, '--socket=' + self.socket(),
                    '--pid-file=' + self.path('mariadb.pid'), '--skip-networking', '--thread-cache-size=16',
                    '--innodb-flush-log-at-trx-commit=0', *user], self.answers)
        self.ask('create database lode')
        subprocess.run(self.sysbench('prepare'), check=True, stdout=subprocess.DEVNULL)
        return self

    def socket(self):
        return self.path('mariadb.sock')

    def ask(self, query):
        return subprocess.run(['mariadb', '--no-defaults', '--user=root', '--socket=' + self.socket(),
                               '--execute=' + query], capture_output=True, check=False).returncode == 0

    def answers(self):
        return self.ask('select 1')

    def sysbench(self, *words):
        return ['sysbench', 'oltp_read_only', '--db-driver=mysql', '--mysql-user=root', '--mysql-db=lode',
                '--mysql-socket=' + self.socket(), '--tables=1', '--table-size=10000', '--threads=4', *words]

    def command(self):
        return self.sysbench('--time=0', '--events=%d' % (2000 // self.size), 'run')


LOADS = {'pipe': Pipe, 'turns': Turns, 'messaging': Messaging, 'web': Web, 'database': Database, 'processor': Processor}
