"""A busy machine to record: many short processes, deep stacks, waits of all kinds.

	python3 bench/workload.py FOLDER

Runs until it is ended (SIGTERM), and then ends all it started. FOLDER holds what
it makes. Every part is a loop of its own: compilers, an interpreter with threads
and recursion, a database, packers, copying, and processes that send each other
messages. Nothing depends on the network or on what the machine is used for.
"""
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

# A compiler has deep stacks and many distinct ones: the more kinds of code, the more.
FUNCTION = '''
struct s{n} {{ int a; double b[{m}]; struct s{n} *next; char name[{m}]; }};
static int f{n}(struct s{n} *list, int x)
{{
	int sum = 0;
	for (struct s{n} *p = list; p; p = p->next) {{
		switch ((p->a + x) % {m}) {{
		case 0: sum += snprintf(p->name, sizeof(p->name), "%d", x); break;
		case 1: p->b[x % {m}] = p->b[(x + 1) % {m}] * {n}.5; break;
		case 2: memset(p->name, x, sizeof(p->name)); break;
		default: for (int i = 0; i < {m}; i++) sum += (int)(p->b[i] * i) ^ p->name[i];
		}}
	}}
	return sum > {n} ? sum : {call};
}}
'''


def c_program(seed, functions=150):
    pick = random.Random(seed)
    text = '#include <stdio.h>\n#include <string.h>\n#include <stdlib.h>\n#include <math.h>\n'
    for number in range(functions):
        call = 'f%d(NULL, x - 1)' % pick.randrange(number) if number else '0'
        text += FUNCTION.format(n=number, m=pick.randrange(4, 40), call=call)
    return text + 'int main(int c, char **v) { (void)v; return f%d(NULL, c); }\n' % (functions - 1)


def compile_forever(folder):
    compiler = shutil.which('gcc') or shutil.which('cc')
    number = 0
    while compiler:
        source = os.path.join(folder, 'program%d.c' % (number % 8))
        with open(source, 'w', encoding='ascii') as file:
            file.write(c_program(number))
        for flags in (['-O0', '-g'], ['-O2']):
            subprocess.run([compiler, '-w', *flags, source, '-o', source[:-2], '-lm'], check=False)
        number += 1


def tree(depth, pick):
    return None if depth == 0 else [tree(depth - 1, pick), pick.random(), tree(depth - pick.randrange(1, 2), pick)]


def visit(node):
    return 0 if node is None else visit(node[0]) + node[1] + visit(node[2])


def interpret_forever(folder):
    del folder
    lock = threading.Lock()
    found = []

    def work(seed):
        pick = random.Random(seed)
        while True:
            total = visit(tree(9, pick))
            words = sorted('%x' % pick.getrandbits(40) for _ in range(400))
            with lock:
                found.append((total, words[0]))
                del found[:-50]
            time.sleep(0.001)

    threads = [threading.Thread(target=work, args=(seed,), daemon=True) for seed in range(4)]
    for thread in threads:
        thread.start()
    threads[0].join()


def database_forever(folder):
    path = os.path.join(folder, 'data.sqlite')
    database = sqlite3.connect(path)
    database.execute('CREATE TABLE IF NOT EXISTS word (text TEXT, size INTEGER)')
    database.execute('CREATE INDEX IF NOT EXISTS by_size ON word (size, text)')
    pick = random.Random(1)
    while True:
        with database:
            database.executemany('INSERT INTO word VALUES (?, ?)',
                                 [('%x' % pick.getrandbits(64), pick.randrange(1000)) for _ in range(300)])
        list(database.execute('SELECT size, count(*), max(text) FROM word WHERE size BETWEEN ? AND ? GROUP BY size '
                              'ORDER BY 2', (pick.randrange(500), pick.randrange(500, 1000))))
        with database:
            database.execute('DELETE FROM word WHERE rowid % 7 = ?', (pick.randrange(7),))


def shell_forever(command):
    def loop(folder):
        while True:
            subprocess.run(['sh', '-c', command], cwd=folder, check=False)
    return loop


# Whoever talks most fills the recording: pauses keep the messages from being all there is.
PARTS = [
    compile_forever,
    compile_forever,
    interpret_forever,
    database_forever,
    shell_forever('tar cf - /usr/include 2>/dev/null | gzip -1 | tail -c 1'),
    shell_forever('tar cf - /usr/share/doc 2>/dev/null | head -c 20000000 | xz -1 -T2 | tail -c 1'),
    shell_forever('dd if=/dev/zero of=copy bs=64k count=200 conv=fsync; dd if=copy of=copy2 bs=4k count=2000'),
    shell_forever('find /usr /etc -xdev -name "*.so*" -newer / | sort | uniq -c | wc -l'),
    shell_forever('perf bench -f simple sched messaging -g 2 -l 40; sleep 0.4'),
    shell_forever('perf bench -f simple sched pipe -l 1000; sleep 0.3'),
]


def main():
    os.setpgid(0, 0)
    folder = tempfile.mkdtemp(dir=sys.argv[1])
    children = []
    sink = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(sink, descriptor)

    def end(number, frame):
        del number, frame
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(0, signal.SIGTERM)
        for child in children:
            os.waitpid(child, 0)
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    for part in PARTS:
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            own = tempfile.mkdtemp(dir=folder)
            part(own)
            os._exit(0)
        children.append(child)
    while True:
        signal.pause()


if __name__ == '__main__':
    main()
