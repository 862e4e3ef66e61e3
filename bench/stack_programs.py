"""Programs of distributions, built without frame pointers or making code at run time, whose user stacks are recorded.

Each is a context: entering it starts the program, which then works until it is left. `pids` are the processes to
record, with the children that they start later.
"""
import os
import shutil
import signal
import subprocess
import time

from loads import Database, Web, descendants, find


class Program:
    """A command that works until it is ended, in a session of its own."""

    needs = ()
    seconds_to_start = 1

    def __init__(self, folder):
        self.folder = folder
        self.child = None

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), 'w', encoding='utf-8') as file:
            file.write(text)
        return self.path(name)

    def prepare(self):
        """What has to be there before the command runs."""

    def command(self):
        raise NotImplementedError

    def start(self, command, **more):
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                cwd=self.folder, start_new_session=True, **more)

    def end(self, child):
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()

    def __enter__(self):
        self.prepare()
        self.child = self.start(self.command())
        time.sleep(self.seconds_to_start)
        if self.child.poll() is not None:
            raise RuntimeError('%s ended with %d' % (self.command()[0], self.child.returncode))
        return self

    def __exit__(self, *why):
        if self.child:
            self.end(self.child)
        return False

    def pids(self):
        return descendants(self.child.pid)


def again(command):
    """A shell that runs a command over and over."""
    return ['sh', '-c', 'while :; do %s; done' % command]


class Python(Program):
    """python3 with SQLite: inserts, joins, sorts."""

    needs = ('/usr/bin/python3',)
    SCRIPT = '''
import random, sqlite3
database = sqlite3.connect('words.sqlite')
database.execute('pragma synchronous = off')
database.execute('create table if not exists word (text text, size integer)')
while True:
    with database:
        database.executemany('insert into word values (?, ?)',
                             [('%x' % random.getrandbits(64), random.randrange(500)) for _ in range(2000)])
    sorted(database.execute('select a.text, count(*) from word a join word b on a.size = b.size group by a.size'),
           key=lambda row: row[0][::-1])
    with database:
        database.execute('delete from word where rowid % 3 > 0')
'''

    def command(self):
        return ['/usr/bin/python3', self.write('words.py', self.SCRIPT)]


class Xz(Program):
    """xz, two threads."""

    needs = ('xz',)

    def prepare(self):
        with open(self.path('data'), 'wb') as file:
            for name in ('/usr/bin/perl', '/usr/bin/git', '/usr/bin/python3'):
                if os.path.exists(name):
                    with open(name, 'rb') as source:
                        file.write(source.read())

    def command(self):
        return again('xz -kc -6 -T2 data')


class Perl(Program):
    """perl: regular expressions, hashes, sorting, small files."""

    needs = ('/usr/bin/perl',)
    SCRIPT = r'''
while (1) {
	my %count;
	for my $i (1 .. 20000) {
		my $text = sprintf("%x-%s", $i * 2654435761, "word" x ($i % 7));
		$count{$1}++ if $text =~ /^([0-9a-f]+?)(?:0|1).*(?:word)*$/;
	}
	open(my $file, '>', 'counts') or die;
	print $file "$_ $count{$_}\n" for sort { $count{$a} <=> $count{$b} || $a cmp $b } keys %count;
	close($file);
}
'''

    def command(self):
        return ['/usr/bin/perl', self.write('count.pl', self.SCRIPT)]


class Gcc(Program):
    """g++, compiling over and over: its processes live for a second or less."""

    needs = ('g++',)
    SOURCE = '''
#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
#include <string>
int main(int count, char **words)
{
	std::map<std::string, std::vector<int>> found;
	for (int i = 0; i < count; i++)
		found[std::regex_replace(words[i], std::regex("a+(b|c)*"), "x")].push_back(i);
	for (auto &[word, places] : found) {
		std::sort(places.begin(), places.end(), std::greater<>());
		std::cout << word << places.size() << std::endl;
	}
}
'''

    def command(self):
        source = self.write('words.cc', self.SOURCE)
        return again('g++ -std=c++17 -O2 -c %s -o words.o' % source)


class Git(Program):
    """git: packing, searching, differences; many short processes."""

    needs = ('git',)

    def prepare(self):
        here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        for name in ('src', 'docs'):
            shutil.copytree(os.path.join(here, name), self.path('repository/' + name))
        git = ['git', '-C', self.path('repository'), '-c', 'user.name=bench', '-c', 'user.email=bench@localhost']
        for words in (['init', '-q'], ['add', '.'], ['commit', '-q', '-m', 'all']):
            subprocess.run([*git, *words], check=True, stdout=subprocess.DEVNULL)

    def command(self):
        return again('git -C repository repack -adfq; git -C repository grep -c return; git -C repository log -p; '
                     'git -C repository status')


class Redis(Program):
    """redis-server, asked by redis-benchmark."""

    needs = ('redis-check-rdb', 'redis-benchmark')

    def __enter__(self):
        # One program of two names; the package of its tools, which starts no server, has it under the other one.
        self.child = self.start(['redis-server', '--port', '0', '--unixsocket', self.path('socket'), '--save', ''],
                                executable=find('redis-check-rdb'))
        time.sleep(self.seconds_to_start)
        self.client = self.start(['redis-benchmark', '-s', self.path('socket'), '-l', '-q', '-c', '20', '-t',
                                  'set,get,lpush,lrange_100,zadd'])
        time.sleep(self.seconds_to_start)
        if self.child.poll() is not None or self.client.poll() is not None:
            self.__exit__()
            raise RuntimeError('redis does not start')
        return self

    def __exit__(self, *why):
        self.end(self.client)
        return super().__exit__(*why)


class Served(Program):
    """A server of loads.py, with a client that asks it over and over."""

    load_class = None

    def __enter__(self):
        self.load = self.load_class(self.folder, 1)
        self.load.__enter__()
        self.client = self.start(again(' '.join(self.load.command())))
        time.sleep(self.seconds_to_start)
        return self

    def __exit__(self, *why):
        self.end(self.client)
        return self.load.__exit__(*why)

    def pids(self):
        return descendants(self.load.server.pid)


class Apache(Served):
    """Apache, asked by ab for a small file."""

    needs = Web.needs
    load_class = Web


class MariaDB(Served):
    """MariaDB, asked by sysbench."""

    needs = Database.needs
    load_class = Database


class Node(Program):
    """node with --perf-basic-prof: code made at run time."""

    needs = ('node',)
    SCRIPT = '''
const fs = require('fs');
function* words(count) { for (let i = 0; i < count; i++) yield 'word' + (i * 7919) % 1009; }
function count(text) {
	const found = new Map();
	for (const word of words(20000)) found.set(word, (found.get(word) || 0) + text.indexOf(word.slice(4)));
	return [...found.entries()].sort((a, b) => a[1] - b[1]);
}
async function work() {
	for (;;) {
		const found = count(JSON.stringify([...words(300)]));
		await fs.promises.writeFile('found', JSON.stringify(found));
		await new Promise(resolve => setTimeout(resolve, 1));
	}
}
work();
'''

    def command(self):
        return ['node', '--perf-basic-prof', self.write('count.js', self.SCRIPT)]


class Java(Program):
    """java with -XX:+PreserveFramePointer: code made at run time, an interpreter."""

    needs = ('java', 'javac')
    seconds_to_start = 3
    SOURCE = '''
import java.util.*;
import java.util.stream.*;
public class Count {
	static Map<String, Long> count(int seed) {
		return IntStream.range(0, 20000).mapToObj(i -> Integer.toHexString((1 << 20) + i * 31 + seed % 97))
			.collect(Collectors.groupingBy(text -> text.substring(text.length() - 2), Collectors.counting()));
	}
	public static void main(String[] words) throws Exception {
		for (int thread = 0; thread < 2; thread++)
			new Thread(() -> {
				for (int seed = 0; ; seed++) {
					List<Map.Entry<String, Long>> found = new ArrayList<>(count(seed).entrySet());
					found.sort(Map.Entry.comparingByValue());
					try { Thread.sleep(1); } catch (InterruptedException e) { return; }
				}
			}).start();
	}
}
'''

    def prepare(self):
        subprocess.run(['javac', '-d', self.folder, self.write('Count.java', self.SOURCE)], check=True)

    def command(self):
        return ['java', '-XX:+PreserveFramePointer', '-cp', self.folder, 'Count']


PROGRAMS = {'python': Python, 'xz': Xz, 'perl': Perl, 'gcc': Gcc, 'git': Git, 'redis': Redis, 'apache': Apache,
            'mariadb': MariaDB, 'node': Node, 'java': Java}
