"""Real programs with planted delays (bench/planted), for bench/diff and bench/thinned.

A case is recorded with or without its delay: what is compiled and configured for it is in a folder of its own. The delays are
part of a function of the program itself, of a library, or of something that it opens. What is not installed raises Missing.
"""
import contextlib
import glob
import os
import shutil
import socket
import subprocess
import time

from measuring import say
from sources import Missing, need, replace_in, run

HERE = os.path.dirname(os.path.abspath(__file__))
PLANTED = os.path.join(HERE, 'planted')
SERVER = 'planted-server'
KEEP_FRAMES = ['-O2', '-g', '-fno-omit-frame-pointer', '-fno-optimize-sibling-calls']


def environment(percent):
    """With so much of the delay."""
    names = dict(os.environ, LC_ALL='C')
    names.pop('LODE_PLANTED', None)
    if percent:
        names['LODE_PLANTED'] = str(percent)
    return names


def build_shared(folder, name, output, *flags):
    need('gcc')
    path = os.path.join(folder, output)
    run(['gcc', '-shared', '-fPIC', *KEEP_FRAMES, '-o', path, os.path.join(PLANTED, name), *flags])
    return path


def wait_for(socket_kind, address, process, seconds=30):
    """Until a server answers there."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is not None:
            raise Missing('the server ended with status %d' % process.returncode)
        with socket.socket(socket_kind) as trial:
            try:
                trial.connect(address)
                return
            except OSError:
                time.sleep(0.05)
    raise Missing('the server does not answer')


@contextlib.contextmanager
def server(command, percent, kind, address, **more):
    process = subprocess.Popen(command, env=environment(percent), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, **more)
    try:
        wait_for(kind, address, process)
        yield process.pid
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Case:
    """What is recorded: with `command` from its start to its end, else by `serve` while `load` runs."""

    name = culprit = ''
    internal = True
    command = None

    def __init__(self, folder, build, sources):
        self.folder = os.path.join(folder, self.name.replace(',', '').replace(' ', '-'))
        self.build, self.sources = build, sources
        os.makedirs(self.folder, exist_ok=True)
        self.prepare()

    def prepare(self):
        pass

    def record(self, lode, corpus, name, percent, options=(), whole=False):
        """With so much of the delay: 0 is without; `whole`: the load as well as the server."""
        words = [lode, 'record', '-q', '-o', corpus, '--name', name, *options]
        if self.command:
            run(words + ['--'] + self.command_of(percent), env=environment(percent), cwd=self.folder)
            return
        # The load begins when recording has begun.
        with self.serve(percent):
            self.load([])
            self.load(words + ['-a', *(() if whole else ('--comm', SERVER)), '--'])

    def called_server(self, program):
        """A name for the program by which its threads are known."""
        need(program)
        link = os.path.join(self.folder, SERVER)
        with contextlib.suppress(FileExistsError):
            os.symlink(shutil.which(program), link)
        return link

    def command_of(self, percent):
        del percent
        return self.command


# ---- Apache httpd ----

class Apache(Case):
    module = ''
    requests = 150

    def prepare(self):
        need('ab', 'apxs', 'apr-1-config')
        self.httpd = self.called_server('apache2')
        flags = ['-I' + run(['apxs', '-q', 'INCLUDEDIR']).strip()]
        flags += run(['apr-1-config', '--includes', '--cppflags']).split()
        library = build_shared(self.folder, self.module + '.c', self.module + '.so', *flags, '-lz')
        modules = run(['apxs', '-q', 'LIBEXECDIR']).strip()
        self.port = 8910 + os.getpid() % 500
        os.makedirs(os.path.join(self.folder, 'pages'), exist_ok=True)
        with open(os.path.join(self.folder, 'pages', 'page.html'), 'w', encoding='utf-8') as file:
            file.write('<p>%s</p>\n' % ' '.join('word %d of a page' % i for i in range(2000)))
        os.chmod(self.folder, 0o755)
        with open(os.path.join(self.folder, 'httpd.conf'), 'w', encoding='utf-8') as file:
            file.write('''ServerRoot "{0}"
ServerName localhost
PidFile "{0}/httpd.pid"
ErrorLog "{0}/error.log"
Listen 127.0.0.1:{1}
User nobody
LoadModule mpm_prefork_module "{2}/mod_mpm_prefork.so"
LoadModule authz_core_module "{2}/mod_authz_core.so"
LoadModule {3}_module "{4}"
DocumentRoot "{0}/pages"
'''.format(self.folder, self.port, modules, self.module[4:], library))

    def serve(self, percent):
        return server([self.httpd, '-X', '-f', os.path.join(self.folder, 'httpd.conf')], percent, socket.AF_INET,
                      ('127.0.0.1', self.port))

    def load(self, before):
        run(before + ['ab', '-q', '-n', str(self.requests), '-c', '1', 'http://127.0.0.1:%d/page.html' % self.port])


class ApacheLog(Apache):
    name, module, internal = 'Apache, log module waits', 'mod_planted_log', False
    culprit = 'mod_planted_log.so!write_log_entry'


class ApacheDeflate(Apache):
    name, module, internal = 'Apache, deflate module burns', 'mod_planted_deflate', False
    culprit = 'mod_planted_deflate.so!compress_block'


# ---- MariaDB ----

class MariaDB(Case):
    internal = False
    sql = ''

    def prepare(self):
        need('mariadb-install-db', 'mariadb')
        self.mariadbd = self.called_server('mariadbd')
        self.data = os.path.join(self.folder, 'data')
        self.socket = os.path.join(self.folder, 's')
        self.library()
        if not os.path.isdir(os.path.join(self.data, 'mysql')):
            run(['mariadb-install-db', '--no-defaults', '--datadir=' + self.data, '--user=root', '--skip-test-db',
                 '--auth-root-authentication-method=normal'])
        with self.serve(0):
            self.query(self.set_up())

    def set_up(self):
        return '''CREATE DATABASE IF NOT EXISTS bench; USE bench;
CREATE OR REPLACE TABLE pages (id INT PRIMARY KEY, body TEXT);
INSERT INTO pages SELECT seq, REPEAT(CONCAT('word ', seq, ' of page '), 40) FROM seq_1_to_250;'''

    def preload(self):
        return {}

    def serve(self, percent):
        command = ['env'] + ['%s=%s' % pair for pair in self.preload().items()]
        return server(command + [self.mariadbd, '--no-defaults', '--user=root', '--datadir=' + self.data,
                                 '--socket=' + self.socket, '--skip-networking', '--plugin-dir=' + self.folder,
                                 '--innodb-buffer-pool-size=32M', '--pid-file=' + self.folder + '/pid'],
                      percent, socket.AF_UNIX, self.socket)

    def query(self, text, before=()):
        run([*before, 'mariadb', '--no-defaults', '--socket=' + self.socket, '-uroot', '-e', text])

    def load(self, before):
        self.query('USE bench; ' + self.sql, before)


class MariaDBPlugin(MariaDB):
    name, culprit = 'MariaDB, plug-in burns', 'udf_planted.so!count_words'
    sql = 'SELECT SUM(word_count(body)) FROM pages; SELECT COUNT(DISTINCT MD5(body)) FROM pages;'

    def library(self):
        flags = ['-I' + path for path in ('/usr/include/mariadb', '/usr/include/mariadb/server')]
        build_shared(self.folder, 'udf_planted.c', 'udf_planted.so', *flags)

    def set_up(self):
        return super().set_up() + "CREATE OR REPLACE FUNCTION word_count RETURNS INTEGER SONAME 'udf_planted.so';"


class MariaDBLibrary(MariaDB):
    name, culprit = 'MariaDB, library waits', 'libslow.so.1!deflate'
    sql = 'SELECT SUM(LENGTH(COMPRESS(body))) FROM pages; SELECT COUNT(DISTINCT MD5(body)) FROM pages;'

    def library(self):
        self.slow = build_shared(self.folder, 'slow_deflate.c', 'libslow.so.1', '-lz')

    def preload(self):
        return {'LD_PRELOAD': self.slow}


# ---- SQLite ----

class SQLite(Case):
    name, culprit = 'SQLite, LIKE burns', 'speedtest1!patternCompare'

    def prepare(self):
        need('gcc')
        made, source = self.sources.sqlite()
        program, path = [os.path.join(self.folder, name) for name in ('speedtest1', 'sqlite3.c')]
        self.command = [program, '--memdb', '--size', '8']
        if os.path.exists(program):
            return
        for text, old, new in (
                (os.path.join(made, 'sqlite3.c'), '\nstatic int patternCompare(\n',
                 '\n#include "planted.h"\nstatic PLANTED_FRAME int patternCompare(\n'),
                (path, '  const u8 *zEscaped = 0;          /* One past the last escaped input char */\n\n',
                 '  const u8 *zEscaped = 0;\n  planted_burn(1500);\n\n')):
            replace_in(text, old, new, path)
        run(['gcc', *KEEP_FRAMES, '-DSQLITE_THREADSAFE=0', '-I' + made, '-I' + PLANTED, '-o',
             program, path, os.path.join(source, 'test/speedtest1.c'), '-lm', '-ldl'])


class SQLiteExtension(Case):
    name, culprit, internal = 'SQLite, extension waits', 'soundex.so!sound_code', False

    def prepare(self):
        need('sqlite3')
        library = build_shared(self.folder, 'sqlite_extension.c', 'soundex.so')
        script = os.path.join(self.folder, 'script.sql')
        with open(script, 'w', encoding='utf-8') as file:
            file.write('''.load %s
CREATE TABLE words(word TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
INSERT INTO words SELECT lower(hex(i * 7919)) FROM n;
CREATE INDEX by_word ON words(word);
SELECT count(DISTINCT soundex_of(word)) FROM (SELECT word FROM words LIMIT 250);
SELECT sum(length(a.word)) FROM words a JOIN words b ON a.word = b.word;
''' % library)
        self.command = ['sqlite3', ':memory:', '.read ' + script]


# ---- p7zip ----

class SevenZip(Case):
    name, culprit = 'p7zip, codec burns', '7zr!FillDistancesPrices'

    def prepare(self):
        need('make', 'g++')
        source = self.sources.get('p7zip')
        place = os.path.join(source, 'CPP/7zip/Bundles/Alone7z')
        mark = '\nZ7_NO_INLINE static void FillDistancesPrices(CLzmaEnc *p)\n{\n'
        text = os.path.join(source, 'C/LzmaEnc.c')
        if not os.path.exists(os.path.join(place, 'b/g/7zr')):
            if not os.path.exists(text + '.orig'):
                shutil.copy(text, text + '.orig')
            replace_in(text + '.orig', mark, mark + '  planted_burn(1000000);\n', text)
            flags = ['%s=%s -I%s -include planted.h' % (name, ' '.join(KEEP_FRAMES), PLANTED)
                     for name in ('DEB_7Z_CFLAGS', 'DEB_7Z_CXXFLAGS')]
            say('building p7zip')
            run(['make', '-j%d' % (os.cpu_count() or 1), '-f', '../../cmpl_gcc.mak', 'DISABLE_RAR=1', *flags],
                cwd=place)
        program = shutil.copy(os.path.join(place, 'b/g/7zr'), os.path.join(self.folder, '7zr'))
        with open(os.path.join(self.folder, 'text'), 'wb') as out:
            for path in sorted(glob.glob(os.path.join(source, 'C/*.c')))[:40]:
                with open(path, 'rb') as file:
                    out.write(file.read())
        self.command = [program, 'a', '-mmt=1', '-mx=5', '-bd', 'out.7z', 'text']

    def command_of(self, percent):
        with contextlib.suppress(FileNotFoundError):
            os.remove(os.path.join(self.folder, 'out.7z'))
        return self.command


# ---- the demo programs ----

class Demo(Case):
    size = 100

    def prepare(self):
        self.command = [os.path.join(os.path.abspath(self.build), 'demo', self.name), '--good', '--size',
                        str(self.size)]

    def command_of(self, percent):
        return [word if word != '--good' else '--bad' if percent else '--good' for word in self.command]


class LockChain(Demo):
    name, culprit, size = 'lock_chain', 'lock_chain!refresh_folder_holding_lock', 40


class PathHash(Demo):
    name, culprit = 'path_hash', 'path_hash!component_hash'


class NameScan(Demo):
    name, culprit, size = 'name_scan', 'name_scan!scan_whole_list', 4000


class PluginHost(Demo):
    name, culprit, internal, size = 'plugin_host', 'spell.so!reload_word_list', False, 40


CASES = [ApacheLog, ApacheDeflate, MariaDBPlugin, MariaDBLibrary, SQLite, SQLiteExtension, SevenZip, LockChain, PathHash,
         NameScan, PluginHost]
