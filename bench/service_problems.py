"""The problems of bench/services: each sets up a service with one known cause of slowness, puts load on it and records it."""
import collections
import os
import shutil
import socket
import time

from service_bed import DATA, PYTHON, Skipped, find_program, free_port

Problem = collections.namedtuple('Problem', 'name title cause needs words function')
PROBLEMS = []


def problem(name, title, cause, needs, words):
    """Registers a function that makes the problem and records it; it may return options of `lode mine`."""
    def register(function):
        PROBLEMS.append(Problem(name, title, cause, needs, words, function))
        return function
    return register


# ---- Redis ----

def start_redis(bed, *options, **more):
    port = free_port()
    server = bed.start('redis-server', '--port', port, '--bind', '127.0.0.1', '--dir', bed.folder, '--save', '',
                       '--enable-debug-command', 'yes', *options, **more)
    bed.await_port(port)
    return server, port


def load_redis(bed, port, tests='get,set', clients=4):
    return bed.start('redis-benchmark', '-p', port, '-c', clients, '-n', 100000000, '-t', tests, '-q')


@problem('c1', 'Redis: KEYS in a Lua script', 'keysCommand', ['redis-server', 'redis-benchmark'], ['keysCommand'])
def redis_keys_in_lua(bed):
    server, port = start_redis(bed)
    bed.run('redis-cli', '-p', port, 'DEBUG', 'POPULATE', 200000)
    load_redis(bed, port)
    bed.start('redis-cli', '-p', port, '-r', '-1', '-i', '0.3', 'EVAL', "return #redis.call('keys', '*9')", 0)
    time.sleep(0.5)
    bed.record(server)


@problem('c2', 'Redis: appendfsync always', 'the append-only file is synced for each write',
         ['redis-server', 'redis-benchmark'], ['flushAppendOnlyFile|fsync|fdatasync|appendonly'])
def redis_sync_always(bed):
    server, port = start_redis(bed, '--appendonly', 'yes', '--appendfsync', 'always')
    load_redis(bed, port, 'set')
    time.sleep(0.5)
    bed.record(server)


@problem('g1', 'Redis with a tenth of a processor', 'the quota of its control group', ['redis-server', 'redis-benchmark'],
         ['ready', 'quota|throttled'])
def redis_throttled(bed):
    group = bed.group('cpu', v1={'cpu.cfs_period_us': 100000, 'cpu.cfs_quota_us': 10000}, v2={'cpu.max': '10000 100000'})
    server, port = start_redis(bed)
    with open(group, 'w', encoding='ascii') as file:
        file.write(str(server.pid))
    load_redis(bed, port)
    time.sleep(0.5)
    bed.record(server)


# ---- PostgreSQL ----

def start_postgres(bed, *settings, folder=None):
    port = free_port()
    data = folder or bed.user_folder('data', 'postgres')
    bed.run('initdb', '-N', '-A', 'trust', '-D', data, user='postgres')
    server = bed.start('postgres', '-D', data, '-p', port, '-k', data, '-c', 'listen_addresses=127.0.0.1',
                       *[word for setting in settings for word in ('-c', setting)], user='postgres')
    bed.await_port(port)
    bed.await_true(lambda: os.path.exists(os.path.join(data, '.s.PGSQL.%d' % port)), 'PostgreSQL')
    time.sleep(0.5)
    return server, ['-h', data, '-p', port, '-U', 'postgres', 'postgres']


def sql(bed, where, *statements):
    bed.run('psql', '-q', '-v', 'ON_ERROR_STOP=1', *[word for text in statements for word in ('-c', text)], *where)


def start_thinking_client(bed):
    """A client that has a row lock while it thinks, and others that want it; all processes."""
    server, where = start_postgres(bed)
    sql(bed, where, 'create table account (id int primary key, v int)', 'insert into account select i, 0 from generate_series(1, 9) i')
    turn = 'begin;\nupdate account set v = v + 1 where id = 1;\n\\! sleep 0.4\ncommit;\n\\! sleep 0.05\n'
    thinker = bed.start('psql', '-q', '-f', bed.write('think.sql', turn * 100), *where)
    script = bed.write('update.sql', 'update account set v = v + 1 where id = 1;\n')
    load = bed.start('pgbench', '-n', '-c', 4, '-T', 60, '-f', script, *where)
    time.sleep(0.5)
    return server, thinker, load


@problem('a1', 'PostgreSQL: a row lock held by a thinking client', 'psql sleeps in its transaction',
         ['postgres', 'psql', 'pgbench'], ['psql', 'sleep'])
def postgres_row_lock(bed):
    bed.record(*start_thinking_client(bed))


@problem('a1w', 'the same, watched with a budget of 1 %', 'psql sleeps in its transaction',
         ['postgres', 'psql', 'pgbench'], ['psql', 'sleep'])
def postgres_row_lock_watched(bed):
    bed.watch(find_program('postgres') + ':ProcSleep > 200ms', *start_thinking_client(bed), seconds=8)


# ---- nginx and PHP ----

NGINX = """worker_processes 1; daemon off; pid %(folder)s/nginx.pid; error_log %(folder)s/nginx.log;
events {}
http {
	access_log off;
	client_body_temp_path %(folder)s/body; proxy_temp_path %(folder)s/proxy; fastcgi_temp_path %(folder)s/fastcgi;
	uwsgi_temp_path %(folder)s/uwsgi; scgi_temp_path %(folder)s/scgi;
	server {
		listen 127.0.0.1:%(port)d;
		location / {
			fastcgi_pass 127.0.0.1:%(fpm)d;
			fastcgi_param SCRIPT_FILENAME %(folder)s/page.php;
			fastcgi_param REQUEST_METHOD GET;
		}
	}
}
"""
FPM = """[global]
daemonize = no
error_log = %(folder)s/fpm.log
[www]
user = www-data
group = www-data
listen = 127.0.0.1:%(fpm)d
pm = static
pm.max_children = 2
"""


@problem('d', 'nginx, php-fpm with two workers, a slow TCP backend', 'the backend sleeps',
         ['nginx', 'php-fpm', 'ab'], ['look_up_slowly|python3.*sleep'])
def php_slow_backend(bed):
    names = {'folder': bed.folder, 'port': free_port(), 'fpm': free_port()}
    back = free_port()
    backend = bed.python('slow_backend.py', back, 0.05)
    bed.write('page.php', '<?php $s = stream_socket_client("tcp://127.0.0.1:%d"); fwrite($s, "x\\n"); echo fgets($s);\n' % back)
    pool = bed.start('php-fpm', '-y', bed.write('fpm.conf', FPM % names))
    web = bed.start('nginx', '-c', bed.write('nginx.conf', NGINX % names), '-e', bed.path('nginx.log'))
    for port in (back, names['fpm'], names['port']):
        bed.await_port(port)
    load = bed.start('ab', '-q', '-c', 8, '-t', 60, '-n', 1000000, 'http://127.0.0.1:%d/' % names['port'])
    time.sleep(0.5)
    bed.record(backend, pool, web, load)


# ---- Python ----

@problem('e1', 'Python: one thread hogs the GIL', 'score_everything has the GIL', ['python3'], ['GIL', 'score_everything'])
def python_gil(bed):
    port = free_port()
    server = bed.python('gil_server.py', port)
    bed.await_port(port)
    for _ in range(3):
        bed.python('ping.py', port, 0.01)
    time.sleep(0.5)
    bed.record(server)


@problem('e4', 'Python: quadratic removal of duplicates', 'remove_duplicates', ['python3'], ['remove_duplicates'])
def python_quadratic(bed):
    bed.record('--', PYTHON, os.path.join(DATA, 'dedupe.py'), '8000')


@problem('e5', 'PHP: in_array in a loop', 'in_array, or the function that calls it', ['php'], ['in_array|find_known'])
def php_in_array(bed):
    script = '<?php function find_known($n) { $a = []; for ($i = 0; $i < $n; $i++) if (!in_array($i, $a)) $a[] = $i; ' \
             'return count($a); } echo find_known(20000);'
    bed.record('--', 'php', bed.write('known.php', script))


# ---- commands ----

@problem('f1', 'tar | gzip | xz', 'xz compresses', ['tar', 'gzip', 'xz'], ['xz.* runs|liblzma'])
def slow_pipe(bed):
    os.mkdir(bed.path('tree'))
    for i in range(24):
        with open(bed.path('tree', str(i)), 'wb') as file:
            file.write(os.urandom(60000) + b'some text that repeats itself ' * 10000)
    bed.record('--', 'sh', '-c', 'tar cf - -C %s tree | gzip -1 | xz -9 > %s' % (bed.folder, bed.path('out.xz')))


@problem('f2', 'make -j4 with one long file', 'the compiler of that file', ['make', 'g++'], ['cc1plus, which runs|cc1plus runs'])
def make_long_file(bed):
    long = '#include <map>\n#include <string>\ntemplate <int N> struct step { std::map<int, std::string> m[N + 1]; int run(int i) ' \
           '{ return (int)m[N][i].size() + step<N - 1>().run(i); } };\ntemplate <> struct step<0> { int run(int i) { return i; } };\n' \
           'int run_long(int i) { return step<60>().run(i); }\n'
    bed.write('long.cc', long)
    for i in range(6):
        bed.write('short%d.cc' % i, 'int run%d(int i) { return i + %d; }\n' % (i, i))
    bed.write('Makefile', 'all: long.o %s\n%%.o: %%.cc\n\tg++ -O1 -c $< -o $@\n' % ' '.join('short%d.o' % i for i in range(6)))
    bed.record('--', 'make', '-s', '-j4', '-C', bed.folder)


# ---- MariaDB ----

def start_mariadb(bed, *options):
    data = bed.path('mysql')
    bed.run('mariadb-install-db', '--no-defaults', '--datadir=' + data, '--user=root', '--auth-root-authentication-method=normal',
            '--skip-test-db')
    server = bed.start('mariadbd', '--no-defaults', '--datadir=' + data, '--user=root', '--skip-networking',
                       '--socket=' + bed.path('sql.sock'), '--pid-file=' + bed.path('sql.pid'), *options)
    bed.await_true(lambda: os.path.exists(bed.path('sql.sock')), 'MariaDB')
    return server, ['--no-defaults', '-u', 'root', '-S', bed.path('sql.sock')]


@problem('b1', 'MariaDB: a long transaction blocks updates', 'the client sleeps in its transaction',
         ['mariadbd', 'mariadb', 'mariadb-install-db'], ['mariadbd waits', 'sleep'])
def mariadb_row_lock(bed):
    server, where = start_mariadb(bed)
    bed.run('mariadb', *where, '-e', 'create database d; create table d.a (id int primary key, v int) engine=innodb;'
                                     'insert into d.a values (1, 0), (2, 0)')
    turn = 'begin;\nupdate a set v = v + 1 where id = 1;\nsystem sleep 0.4\ncommit;\nsystem sleep 0.05\n'
    with open(bed.write('think.sql', turn * 100), encoding='ascii') as script:
        thinker = bed.start('mariadb', *where, 'd', stdin=script)
    with open(bed.write('update.sql', 'update a set v = v + 1 where id = 1;\n' * 100000), encoding='ascii') as script:
        load = bed.start('mariadb', *where, 'd', stdin=script)
    time.sleep(0.5)
    bed.record(server, thinker, load)


@problem('b2', 'MariaDB: a small buffer pool, and a machine that is busy', 'others have the processors',
         ['mariadbd', 'mariadb', 'mariadb-install-db', 'sha256sum'], ['mariadbd is ready', 'cruncher'])
def mariadb_busy_machine(bed):
    server, where = start_mariadb(bed, '--innodb-buffer-pool-size=8M')
    bed.run('mariadb', *where, '-e', 'create database d; use d; create table a (id int primary key, v int, t char(200)) engine=innodb;'
                                     "insert into a select seq, seq, repeat('x', 200) from seq_1_to_60000")
    queries = ''.join('select sum(v) from a where id between %d and %d;\n' % (i, i + 500) for i in range(0, 60000, 607))
    for i in range(3):
        with open(bed.write('load%d.sql' % i, queries * 400), encoding='ascii') as script:
            bed.start('mariadb', *where, 'd', stdin=script)
    os.symlink(find_program('sha256sum'), bed.path('cruncher'))
    noise = [bed.start(bed.path('cruncher'), '/dev/zero') for _ in range(3 * os.cpu_count())]
    time.sleep(0.5)
    bed.record(server, *noise)


# ---- Node and Java ----

@problem('e2', 'Node: a synchronous hash in a handler', 'pbkdf2Sync', ['node', 'python3'], ['pbkdf2|PBKDF2|hashPasswordSync'])
def node_blocking(bed):
    port = free_port()
    server = bed.start('node', os.path.join(DATA, 'blocking.js'), port)
    bed.await_port(port)
    for _ in range(3):
        bed.python('ping.py', port, 0.002)
    time.sleep(0.5)
    bed.record(server)


@problem('e3', 'Java: a file synced under a monitor', 'a handler syncs the journal and has the monitor', ['java', 'javac'],
         ['fsync|journal|FileDescriptor'])
def java_monitor(bed):
    port = free_port()
    bed.run('javac', '-d', bed.folder, os.path.join(DATA, 'Monitor.java'))
    server = bed.start('java', '-cp', bed.folder, 'Monitor', port, bed.path('journal'))
    bed.await_port(port)
    for _ in range(4):
        bed.python('ping.py', port)
    time.sleep(1)
    bed.record(server)


# ---- memory ----

@problem('g2', 'a reader of a mapped file with too little memory', 'pages of the file are read again and again', ['python3'],
         ['page|fault', 'records.bin|memory limit'])
def mapped_reader(bed):
    group = bed.group('memory', v1={'memory.limit_in_bytes': 40 << 20}, v2={'memory.max': 40 << 20})
    with open(bed.path('records.bin'), 'wb') as file:
        for _ in range(160):
            file.write(os.urandom(1 << 20))
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    reader = bed.python('mapped_reader.py', bed.path('records.bin'))
    with open(group, 'w', encoding='ascii') as file:
        file.write(str(reader.pid))
    time.sleep(1)
    bed.record(reader)


@problem('a2', 'PostgreSQL: one of several queries has no index', 'the sequential scan', ['postgres', 'psql', 'pgbench'],
         ['SeqScan|seqscan|ExecScan|heap_?get|heapgettup|ExecInterpExpr'])
def postgres_no_index(bed):
    server, where = start_postgres(bed)
    sql(bed, where, 'create table item (id int primary key, owner int, t text)',
        "insert into item select i, i % 5000, repeat('x', 50) from generate_series(1, 60000) i", 'analyze item')
    quick = bed.write('quick.sql', '\\set i random(1, 60000)\nselect t from item where id = :i;\n')
    slow = bed.write('slow.sql', '\\set i random(1, 5000)\nselect count(*) from item where owner = :i;\n')
    bed.start('pgbench', '-n', '-c', 2, '-T', 60, '-f', quick + '@49', '-f', slow + '@1', *where)
    time.sleep(0.5)
    bed.record(server)


# ---- more of the same kinds ----

@problem('n1', 'a pool of two connections for eight clients', 'handlers wait for a connection, its holders for the backend',
         ['python3'], ['take_connection|echo_slowly'])
def small_pool(bed):
    port, back = free_port(), free_port()
    backend = bed.python('echo_slowly.py', back, 0.02)
    bed.await_port(back)
    server = bed.python('pooled_server.py', port, back)
    bed.await_port(port)
    for _ in range(8):
        bed.python('ping.py', port)
    time.sleep(0.5)
    bed.record(server, backend)


@problem('n2', 'a lock held while a file is synced', 'write_journal syncs and has table_lock', ['gcc'],
         ['table_lock', 'write_journal|fdatasync'])
def lock_during_sync(bed):
    bed.run('gcc', '-O1', '-g', '-pthread', os.path.join(DATA, 'journal.c'), '-o', bed.path('tabled'))
    server = bed.start(bed.path('tabled'), bed.path('journal'))
    time.sleep(0.3)
    bed.record(server)
    return ['--symptom', 'wait > 1ms in look_up']


@problem('n3', 'a name server that does not answer', 'getaddrinfo waits for the name server', ['python3', 'unshare'],
         ['getaddrinfo|getaddrinfo_a|res_|:53'])
def name_server_silent(bed):
    bed.write('resolv.conf', 'nameserver 127.77.0.1\noptions timeout:1 attempts:2\n')
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with listener:
        listener.bind(('127.77.0.1', 53))
        script = 'import socket\ntry:\n    socket.getaddrinfo("slow.example.org", 80)\nexcept OSError:\n    pass\n'
        bed.record('--', 'unshare', '-m', 'sh', '-c', 'mount --bind %s /etc/resolv.conf && exec python3 %s' % (
            bed.path('resolv.conf'), bed.write('ask.py', script)))


@problem('n4', 'a noisy neighbour on the same processor', 'others have the processor', ['python3', 'taskset'],
         ['redis-server is ready', 'cruncher'])
def noisy_neighbour(bed):
    port = free_port()
    server = bed.start('taskset', '-c', 0, 'redis-server', '--port', port, '--save', '', '--dir', bed.folder)
    bed.await_port(port)
    os.symlink(find_program('sha256sum'), bed.path('cruncher'))
    noise = [bed.start('taskset', '-c', 0, bed.path('cruncher'), '/dev/zero') for _ in range(3)]
    load_redis(bed, port)
    time.sleep(0.3)
    bed.record(server, *noise, seconds=4)


@problem('n5', 'a script that starts a program for each line', 'starting programs', ['sh'],
         ['for true|for its child|exec'])
def fork_storm(bed):
    bed.record('--', 'sh', '-c', 'for i in $(seq 600); do /bin/true $i; done')


@problem('n6', 'a log pipe whose reader is slow', 'write_log waits until ship_log has read', ['python3'],
         ['write_log|pipe', 'ship_log|slow_log_reader'])
def slow_log_pipe(bed):
    port = free_port()
    reading, writing = os.pipe()
    reader = bed.python('slow_log_reader.py', stdin=reading)
    server = bed.python('logging_server.py', port, stdout=writing)
    os.close(reading)
    os.close(writing)
    bed.await_port(port)
    for _ in range(3):
        bed.python('ping.py', port)
    time.sleep(1)
    bed.record(server, reader)


@problem('n7', 'a mount whose server is slow', 'fetch_from_afar sleeps', ['python3', 'fusermount3', 'dd'],
         ['fetch_from_afar'])
def slow_mount(bed):
    os.mkdir(bed.path('mount'))
    server = bed.python('slow_mount.py', bed.path('mount'))
    try:
        bed.await_true(lambda: os.path.ismount(bed.path('mount')), 'the mount', 5)
    except RuntimeError as error:
        raise Skipped('no FUSE mount: needs python3-fusepy and /dev/fuse') from error
    try:
        reader = bed.start('dd', 'if=' + bed.path('mount', 'records'), 'of=/dev/null', 'bs=4096')
        time.sleep(0.3)
        bed.record(server, reader, seconds=4)
        bed.end(reader)
    finally:
        bed.run('fusermount3', '-u', '-z', bed.path('mount'))
    return ['--symptom', 'thread dd']


# ---- slow disks ----

def limited_disk(bed, writes):
    """A file system on a loop device of which a control group can write `writes` times a second; its folder and the group."""
    image, folder = bed.path('disk.img'), bed.path('disk')
    with open(image, 'wb') as file:
        file.truncate(300 << 20)
    os.mkdir(folder)
    try:
        bed.run('mkfs.ext4', '-q', '-F', image)
        bed.run('mount', '-o', 'loop', image, folder)
    except RuntimeError as error:
        raise Skipped('no loop device: %s' % error) from error
    bed.mounts.append(folder)
    number = os.stat(folder).st_dev
    device = '%d:%d' % (os.major(number), os.minor(number))
    return folder, bed.group('blkio', v1={'blkio.throttle.write_iops_device': '%s %d' % (device, writes)},
                             v2={'io.max': '%s wiops=%d' % (device, writes)})


@problem('a3', 'PostgreSQL: a disk with 20 writes a second', 'commits wait for fdatasync of the log', ['postgres', 'pgbench'],
         ['fdatasync|pg_wal|XLogFlush|issue_xlog_fsync'])
def postgres_slow_disk(bed):
    folder, group = limited_disk(bed, 20)
    os.mkdir(os.path.join(folder, 'data'), 0o700)
    shutil.chown(os.path.join(folder, 'data'), 'postgres', 'postgres')
    server, where = start_postgres(bed, folder=os.path.join(folder, 'data'))
    sql(bed, where, 'create table t (i int)')
    with open(group, 'w', encoding='ascii') as file:
        file.write(str(server.pid))
    script = bed.write('insert.sql', 'insert into t values (1);\n')
    load = bed.start('pgbench', '-n', '-c', 3, '-T', 60, '-f', script, *where)
    time.sleep(0.5)
    bed.record(server)
    bed.end(load)


@problem('n8', 'a writer on a disk with 20 writes a second', 'each write of out waits for the disk', ['dd'],
         ['dd waits', 'disk/out|loop'])
def slow_writer(bed):
    folder, group = limited_disk(bed, 20)
    writer = bed.start('dd', 'if=/dev/zero', 'of=' + os.path.join(folder, 'out'), 'bs=4096', 'oflag=dsync')
    with open(group, 'w', encoding='ascii') as file:
        file.write(str(writer.pid))
    time.sleep(0.3)
    bed.record(writer, seconds=4)


# ---- wakings for nothing, memory ----

@problem('n9', 'a connection wakes all processes of a server', 'each connection wakes all, one gets it', ['gcc', 'ab'],
         ['herd', 'woken'])
def thundering_herd(bed):
    bed.run('gcc', '-O1', '-g', os.path.join(DATA, 'herd.c'), '-o', bed.path('herd'))
    port = free_port()
    server = bed.start(bed.path('herd'), port, 24)
    bed.await_port(port)
    bed.start('ab', '-q', '-c', 2, '-t', 60, '-n', 1000000, 'http://127.0.0.1:%d/' % port)
    time.sleep(0.5)
    bed.record(server)


@problem('n10', 'a writer of reports with too little memory', 'its control group reclaims memory', ['python3'],
         ['memory|reclaim', 'write_report'])
def memory_limit(bed):
    group = bed.group('memory', v1={'memory.limit_in_bytes': 14 << 20}, v2={'memory.high': 14 << 20})
    port = free_port()
    server = bed.python('report_writer.py', port, bed.path('report'))
    bed.await_port(port)
    with open(group, 'w', encoding='ascii') as file:
        file.write(str(server.pid))
    for _ in range(2):
        bed.python('ping.py', port)
    time.sleep(0.5)
    bed.record(server)
