#!/usr/bin/env python3
"""Compares `lode query` with plain tables that hold the same data.

	tests/oracle/query_oracle.py PROGRAM [CORPORA [SEED]]

Makes random corpora, reads them back as `lode export` writes them, fills ordinary tables of SQLite with that, and functions
of stacks written in Python; then asks both the same random statements. What the program filters, groups and leaves
out while reading, the plain tables decide row by row. Numbers of stacks and threads differ between the two, so
statements show their texts. The last corpus has streams of several blocks. Exits with 1 and shows the first difference.
"""
import json
import math
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

FRAMES = ['app!main', 'app!load', 'libc.so.6!read', 'app!lock', 'kernel!futex', 'plain', 'app!Größe', 'app!operator!=']
GLOBS = ['*', 'app!*', '*lock*', 'lo?d', 'kernel!*', 'read', 'nothing', '', '*!*', 'Gr?ße', 'libc*!r*d', '*=']
TYPES = ['run', 'wait', 'call']


# ---- data ----

def random_stack(rng, longest):
    return [rng.choice(FRAMES) for _ in range(rng.randint(0, longest))]


def random_event(rng, few, latest):
    kind = rng.choice(TYPES)
    event = {'type': kind, 't': rng.randint(0, latest), 'pid': 1, 'tid': rng.randint(1, 4), 'stack': rng.choice(few)}
    if kind == 'call':
        event['name'] = rng.choice(['openat', 'read', 'preempt', 'Write', 'é', 'zz'])
    else:
        event['cost'] = rng.choice([0, rng.randint(0, 30), rng.randint(0, 10 ** 12)])
    if kind == 'wait':
        event['waker'] = rng.randint(1, 4)
        event['delay'] = rng.randint(0, 5)
        if rng.random() < 0.5:
            event['object'] = rng.choice(['lock:a', 'file:/x'])
            event['holder'] = rng.randint(1, 4)
    if rng.random() < 0.3:
        event['weight'] = rng.randint(1, 9)
    if rng.random() < 0.3:
        event['cpu'] = rng.randint(0, 3)
    if rng.random() < 0.3:
        event['context'] = rng.choice(['query 1', 'query 2'])
    return event


def write_corpus(rng, path, streams, events, latest):
    with open(path, 'w', encoding='utf-8') as file:
        for number in range(streams):
            head = {'stream': 's%d' % rng.randint(0, 10 ** 6), 'host': 'h%d' % (number % 2)}
            head['attrs'] = {'version': '4.%d' % (number % 2), 'number': number, 'run': number}
            lines = [head] + [{'type': 'thread', 'pid': 1, 'tid': tid, 'name': 'thread %d' % (tid % 3)}
                              for tid in range(1, 5)]
            few = [random_stack(rng, 6) for _ in range(rng.randint(1, 8))]
            lines += [random_event(rng, few, latest) for _ in range(rng.randint(0, events))]
            if number % 2:
                lines.append({'type': 'symptom', 'pid': 1, 'tid': 1, 't0': 3, 't1': 30, 'name': 'slow'})
            file.writelines(json.dumps(line, ensure_ascii=False) + '\n' for line in lines)


# ---- plain tables ----

class Stacks:
    """Functions of stacks, from their definitions."""

    def __init__(self):
        self.all = []
        self.numbers = {}

    def number(self, frames):
        key = tuple(frames)
        if key not in self.numbers:
            self.numbers[key] = len(self.all)
            self.all.append(key)
        return self.numbers[key]

    def frames(self, stack):
        return self.all[stack]

    def has_frame(self, stack, glob):
        if glob is None:
            return None
        pattern = re.compile(''.join('.*' if c == '*' else '.' if c == '?' else re.escape(c) for c in glob), re.S)
        texts = []
        for frame in self.all[stack]:
            module, mark, function = frame.partition('!')
            if not mark:
                module, function = '', frame
            texts.append(function)
            if '!' in glob:
                texts.append(module + '!' + function)
        if '!' not in glob:
            texts = [frame.partition('!')[2] or frame for frame in self.all[stack]]
        else:
            texts = [text for text in texts if '!' in text]
        return int(any(pattern.fullmatch(text) for text in texts))


class Quantile:
    def __init__(self):
        self.numbers = []
        self.q = 0.5

    def step(self, number, q):
        if number is not None:
            self.numbers.append(number)
        self.q = q

    def finalize(self):
        if not self.numbers:
            return None
        ordered = sorted(self.numbers)
        place = self.q * (len(ordered) - 1)
        low = math.floor(place)
        high = min(low + 1, len(ordered) - 1)
        return float(ordered[low]) + (float(ordered[high]) - float(ordered[low])) * (place - low)


def plain_tables(lines):
    db = sqlite3.connect(':memory:')
    stacks = Stacks()
    db.create_function('text', 1, lambda stack: ';'.join(stacks.frames(stack)))
    db.create_function('leaf', 1, lambda stack: (stacks.frames(stack) or [None])[-1])
    db.create_function('root', 1, lambda stack: (stacks.frames(stack) or [None])[0])
    db.create_function('depth', 1, lambda stack: len(stacks.frames(stack)))
    db.create_function('has_frame', 2, stacks.has_frame)
    db.create_aggregate('quantile', 2, Quantile)
    db.execute('CREATE TABLE streams(stream, name, host, version, number, runs, waits, calls, symptoms)')
    db.execute('CREATE TABLE threads(thread, stream, pid, tid, name)')
    db.execute('CREATE TABLE symptoms(stream, name, thread, tid, t0, t1, took)')
    db.execute('CREATE TABLE events(stream INTEGER, type TEXT, t INTEGER, cost INTEGER, thread INTEGER, stack INTEGER, delay, waker,'
               ' name, cpu, weight, object, holder, context, until, tid, pid, kind)')
    stream, threads = -1, {}

    def thread(line, key='tid'):
        if key not in line:
            return None
        return threads.setdefault((stream, line[key]), len(threads))

    rows = []
    for line in lines:
        if 'stream' in line:
            stream += 1
            attributes = line['attrs']
            db.execute('INSERT INTO streams VALUES(?, ?, ?, ?, ?, 0, 0, 0, 0)',
                       (stream, line['stream'], line['host'], attributes['version'], attributes['number']))
        elif line['type'] == 'thread':
            db.execute('INSERT INTO threads VALUES(?, ?, ?, ?, ?)', (thread(line), stream, line['pid'], line['tid'], line['name']))
        elif line['type'] == 'symptom':
            db.execute('INSERT INTO symptoms VALUES(?, ?, ?, ?, ?, ?, ?)', (stream, line['name'], thread(line), line['tid'],
                                                                           line['t0'], line['t1'], line['t1'] - line['t0']))
        else:
            cost = line.get('cost', 0)
            rows.append((stream, line['type'], line['t'], cost, thread(line), stacks.number(line['stack']), line.get('delay', 0),
                         thread(line, 'waker'), line.get('name'), line.get('cpu'), line.get('weight', 1), line.get('object'),
                         thread(line, 'holder'), line.get('context'), line['t'] + cost, line['tid'], line['pid'], line['type']))
    db.executemany('INSERT INTO events VALUES(%s)' % ', '.join('?' * 18), rows)
    for type in TYPES:
        db.execute('UPDATE streams SET %ss = (SELECT count(*) FROM events e WHERE e.stream = streams.stream AND type = ?)' % type, (type,))
    db.execute('UPDATE streams SET symptoms = (SELECT count(*) FROM symptoms s WHERE s.stream = streams.stream)')
    db.execute('CREATE TABLE sums(stream INTEGER, thread INTEGER, kind TEXT, stack INTEGER, n INTEGER, cost INTEGER, tid, pid, type)')
    db.execute('INSERT INTO sums SELECT stream, thread, type, stack, sum(weight), sum(cost * weight), tid, pid, type FROM events'
               ' GROUP BY stream, thread, type, stack')
    return db


# ---- statements ----

def number(rng, latest):
    """Numbers in all the ways that SQL compares them."""
    return rng.choice([str(rng.randint(0, latest)), str(rng.randint(0, latest)), '%.1f' % (rng.random() * latest), "'%d'" % rng.randint(0, latest),
                       "'abc'", 'NULL', '-1', '1e30', '-1e30', str(2 ** 63 - 1)])


def costs(rng):
    """For each of these SQLite begins a new scan."""
    return 'cost IN (%s)' % ', '.join(str(rng.randint(0, 30)) for _ in range(rng.randint(2, 12)))


def condition(rng, events, latest):
    kind = 'type' if events else 'kind'
    choices = [
        lambda: "%s = '%s'" % (kind, rng.choice(TYPES + ['other'])),
        lambda: "%s IN ('%s', '%s')" % (kind, rng.choice(TYPES), rng.choice(TYPES)),
        lambda: "%s <> '%s'" % (kind, rng.choice(TYPES)),
        lambda: "%s = 'WAIT' COLLATE NOCASE" % kind,
        lambda: 'stream = %s' % number(rng, 4),
        lambda: 'stream IN (0, 2, %d)' % rng.randint(0, 5),
        lambda: 'stream > %d' % rng.randint(0, 3),
        lambda: "stream IN (SELECT stream FROM streams WHERE version = '4.1')",
        lambda: 'tid = %d' % rng.randint(1, 4),
        lambda: 'thread IN (SELECT thread FROM threads WHERE tid = %d)' % rng.randint(1, 5),
        lambda: 'thread = (SELECT max(thread) FROM threads WHERE tid = %d AND stream = %d)' % (rng.randint(1, 4), rng.randint(0, 3)),
        lambda: "has_frame(stack, '%s')" % rng.choice(GLOBS),
        lambda: "NOT has_frame(stack, '%s')" % rng.choice(GLOBS),
        lambda: "stack IN (SELECT stack FROM events WHERE cost > %d)" % rng.randint(0, 20),
        lambda: "leaf(stack) = '%s'" % rng.choice(FRAMES),
        lambda: 'cost %s %s' % (rng.choice(['<', '<=', '>', '>=', '=', '<>']), number(rng, 30)),
        lambda: costs(rng),
    ]
    if events:
        choices += [
            lambda: 't %s %s' % (rng.choice(['<', '<=', '>', '>=', '=', '<>']), number(rng, latest)),
            lambda: 't BETWEEN %d AND %d' % (rng.randint(0, latest), rng.randint(0, latest)),
            lambda: 'object IS NOT NULL',
            lambda: 'cpu = %d' % rng.randint(0, 3),
            lambda: "context = 'query 1'",
            lambda: 'until > %d' % rng.randint(0, latest),
        ]
    return rng.choice(choices)()


def where(rng, events, latest):
    conditions = [condition(rng, events, latest) for _ in range(rng.randint(0, 3))]
    word = rng.choice([' AND ', ' AND ', ' OR '])
    # SQLite 3.40 makes an IN of `x = 'A' COLLATE NOCASE OR x = 'b'` and forgets the collation, in tables with an index, too.
    if any('COLLATE' in text for text in conditions):
        word = ' AND '
    return ' WHERE ' + word.join(conditions) if conditions else ''


def aggregates(rng, events):
    if not events:
        return 'count(*), sum(n), sum(cost), min(cost), max(n)'
    return rng.choice(['count(*)', 'count(*), sum(cost * weight)', 'sum(cost), min(t), max(until), avg(delay)',
                       'count(object), count(waker), quantile(cost, 0.9)', 'count(DISTINCT stack), sum(depth(stack))'])


# Numbers of threads are in the order of streams and their threads on both sides; those of stacks are not.
HIDDEN = ['stack']


def ordered_groups(rng, events, table, chosen, latest):
    """Groups in an order that they determine, often the one in which they are made, and some of them."""
    visible = [column for column in chosen if column not in HIDDEN] or ['stream']
    terms = rng.sample(visible, len(visible)) if rng.random() < 0.3 else visible
    order = ', '.join(term + rng.choice(['', ' ASC', ' DESC', ' DESC', ' NULLS LAST']) for term in terms)
    limit = rng.choice(['', '', ' LIMIT %d' % rng.randint(1, 5)])
    names = ', '.join(shown(column, table) for column in visible)
    if rng.random() < 0.3:
        visible = [column for column in visible if column not in SHOWN] or ['stream']
        order = ', '.join(term + rng.choice(['', ' DESC']) for term in visible)
        return 'SELECT DISTINCT %s FROM %s%s ORDER BY %s%s' % (', '.join(visible), table, where(rng, events, latest), order, limit)
    return 'SELECT %s, %s FROM %s%s GROUP BY %s ORDER BY %s%s' % (names, aggregates(rng, events), table, where(rng, events, latest),
                                                                  ', '.join(visible), order, limit)


SHOWN = {'stack': 'text(stack)', 'thread': '(SELECT stream * 100 + tid FROM threads x WHERE x.thread = %s.thread)',
         'waker': '(SELECT stream * 100 + tid FROM threads x WHERE x.thread = events.waker)'}


def shown(column, table):
    text = SHOWN.get(column, column)
    return text % table if '%s' in text else text


def statement(rng, latest):
    events = rng.random() < 0.7
    table = 'events' if events else 'sums'
    columns = ['stream', 'stack', 'thread', 'type' if events else 'kind']
    if events:
        columns += ['cpu', 'name', 'object', 'context', 'waker', 'tid']
    chosen = rng.sample(columns, rng.randint(1, 3))
    names = ', '.join(shown(column, table) for column in chosen)
    kind = rng.randint(0, 8)
    if kind == 0:
        return 'SELECT %s FROM %s%s' % (aggregates(rng, events), table, where(rng, events, latest))
    if kind in (1, 2):
        wanted = where(rng, events, latest) if kind == 1 else ' WHERE ' + costs(rng)
        return 'SELECT %s, %s FROM %s%s GROUP BY %s' % (names, aggregates(rng, events), table, wanted, ', '.join(chosen))
    if kind == 3:
        plain = [column for column in chosen if column not in SHOWN] or ['stream']
        return 'SELECT DISTINCT %s FROM %s%s' % (', '.join(plain), table, where(rng, events, latest))
    if kind == 4:
        return 'SELECT count(*) FROM (SELECT DISTINCT %s FROM %s%s)' % (', '.join(chosen), table, where(rng, events, latest))
    if kind == 5:
        plain = [column for column in chosen if column not in SHOWN] or ['stream']
        return 'SELECT %s, cost FROM %s%s ORDER BY %s, cost' % (', '.join(plain), table, where(rng, events, latest), ', '.join(plain))
    if kind in (6, 7):
        return ordered_groups(rng, events, table, chosen, latest)
    return rng.choice([
        "SELECT s.name, count(*), sum(e.cost) FROM streams s JOIN events e USING (stream) WHERE version = '4.0' GROUP BY s.stream",
        'SELECT t.name, w.name, count(*) FROM events e JOIN threads t USING (thread) LEFT JOIN threads w ON w.thread = e.waker GROUP BY 1, 2',
        "SELECT count(*), sum(b.cost) FROM events a JOIN events b ON b.stream = a.stream AND b.t BETWEEN a.t AND a.until"
        " WHERE a.type = 'wait' AND a.cost < 20 AND has_frame(a.stack, '*lock*') AND b.type = 'run'",
        'SELECT s.name, y.name, took, tid FROM symptoms y JOIN streams s USING (stream)',
        'SELECT name, host, runs, waits, calls, version, number, symptoms FROM streams',
        'SELECT leaf(stack), root(stack), sum(cost) FROM sums GROUP BY 1, 2',
        'SELECT text(stack), sum(n) FROM sums s JOIN streams USING (stream) WHERE number = 1 GROUP BY stack',
        'SELECT name, tid, count(*) FROM threads JOIN sums USING (thread, stream, tid) GROUP BY threads.thread'])


# ---- comparing ----

def plain(value):
    """The same number in JSON and in SQLite: whole ones without a point, others as exact as sums in any order are."""
    if not isinstance(value, float):
        return value
    value = float('%.14g' % value)
    return int(value) if value.is_integer() else value


def comparable(rows, ordered):
    rows = [tuple(plain(value) for value in row) for row in rows]
    return rows if ordered else sorted(rows, key=lambda row: [(value is not None, isinstance(value, str), value) for value in row])


def asked(program, corpus, sql):
    done = subprocess.run([program, 'query', corpus, sql, '--json', '--max-time', '60s'], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        return None, done.stderr.decode()
    return [tuple(row) for row in json.loads(done.stdout)['rows']], ''


def compare(rng, program, folder, corpus_number, statements, large):
    recording, corpus = os.path.join(folder, 'in.jsonl'), os.path.join(folder, 'corpus%d' % corpus_number)
    latest = 10 ** 6 if large else 60
    if large:
        write_corpus(rng, recording, 2, 200000, latest)
    else: # some streams are so much longer than others that room made for one does not do for the next
        write_corpus(rng, recording, rng.randint(1, 5), 60 if corpus_number % 3 else 3000, latest)
    subprocess.run([program, 'import', '-q', recording, '-o', corpus], check=True)
    exported = subprocess.run([program, 'export', corpus], stdout=subprocess.PIPE, check=True).stdout
    db = plain_tables(json.loads(line) for line in exported.splitlines())
    for _ in range(statements):
        sql = statement(rng, latest)
        if large and ('JOIN events' in sql or 'NOT has_frame' in sql):
            continue
        got, message = asked(program, corpus, sql)
        ordered = ' ORDER BY ' in sql
        wanted = comparable(db.execute(sql).fetchall(), ordered)
        if got is None or comparable(got, ordered) != wanted:
            print('query oracle: %s\n  got    %s\n  wanted %s' % (sql, message or comparable(got, ordered)[:20], wanted[:20]))
            return 1
    shutil.rmtree(corpus)
    return 0


def main():
    program = os.path.abspath(sys.argv[1])
    corpora = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    with tempfile.TemporaryDirectory() as folder:
        for i in range(corpora):
            if compare(rng, program, folder, i, 25, False):
                return 1
        return compare(rng, program, folder, corpora, 12, True)


if __name__ == '__main__':
    sys.exit(main())
