"""The problems of bench/services: each sets up a service with one known cause of slowness, puts load on it and records it."""
import collections
import os
import time

from service_bed import free_port

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


@problem('a1', 'PostgreSQL: a row lock held by a thinking client', 'psql sleeps in its transaction',
         ['postgres', 'psql', 'pgbench'], ['psql', 'sleep'])
def postgres_row_lock(bed):
    server, where = start_postgres(bed)
    sql(bed, where, 'create table account (id int primary key, v int)', 'insert into account select i, 0 from generate_series(1, 9) i')
    turn = 'begin;\nupdate account set v = v + 1 where id = 1;\n\\! sleep 0.4\ncommit;\n\\! sleep 0.05\n'
    thinker = bed.start('psql', '-q', '-f', bed.write('think.sql', turn * 100), *where)
    script = bed.write('update.sql', 'update account set v = v + 1 where id = 1;\n')
    load = bed.start('pgbench', '-n', '-c', 4, '-T', 60, '-f', script, *where)
    time.sleep(0.5)
    bed.record(server, thinker, load)


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
         ['nginx', 'php-fpm8.2', 'ab'], ['look_up_slowly|python3.*sleep'])
def php_slow_backend(bed):
    names = {'folder': bed.folder, 'port': free_port(), 'fpm': free_port()}
    back = free_port()
    backend = bed.python('slow_backend.py', back, 0.05)
    bed.write('page.php', '<?php $s = stream_socket_client("tcp://127.0.0.1:%d"); fwrite($s, "x\\n"); echo fgets($s);\n' % back)
    pool = bed.start('php-fpm8.2', '-y', bed.write('fpm.conf', FPM % names))
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


# ---- commands ----

@problem('f1', 'tar | gzip | xz', 'xz compresses', ['tar', 'gzip', 'xz'], ['xz.* runs|liblzma'])
def slow_pipe(bed):
    os.mkdir(bed.path('tree'))
    for i in range(24):
        with open(bed.path('tree', str(i)), 'wb') as file:
            file.write(os.urandom(60000) + b'some text that repeats itself ' * 10000)
    bed.record('--', 'sh', '-c', 'tar cf - -C %s tree | gzip -1 | xz -9 > %s' % (bed.folder, bed.path('out.xz')))


@problem('f2', 'make -j4 with one long file', 'the compiler of that file', ['make', 'g++'], ['cc1plus'])
def make_long_file(bed):
    long = '#include <map>\n#include <string>\ntemplate <int N> struct step { std::map<int, std::string> m[N + 1]; int run(int i) ' \
           '{ return (int)m[N][i].size() + step<N - 1>().run(i); } };\ntemplate <> struct step<0> { int run(int i) { return i; } };\n' \
           'int run_long(int i) { return step<60>().run(i); }\n'
    bed.write('long.cc', long)
    for i in range(6):
        bed.write('short%d.cc' % i, 'int run%d(int i) { return i + %d; }\n' % (i, i))
    bed.write('Makefile', 'all: long.o %s\n%%.o: %%.cc\n\tg++ -O1 -c $< -o $@\n' % ' '.join('short%d.o' % i for i in range(6)))
    bed.record('--', 'make', '-s', '-j4', '-C', bed.folder)
