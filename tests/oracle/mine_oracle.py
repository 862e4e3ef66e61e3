#!/usr/bin/env python3
"""Compares `lode mine` and `lode scope` with an obvious, slow reading of their definitions.

	tests/oracle/mine_oracle.py PROGRAM [CORPORA [SEED]]

Makes random corpora of plain events, small enough that every subsequence of every
stack can be listed, and works out what the program should say: the area of each
scope straight from Figure 2 of the StackMine paper, patterns by brute force, metrics
by looking at each event. Shares no code with the program. Exits with 1 and shows the
corpus of the first difference.
"""
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

FRAMES = ['app!main', 'app!load', 'libc.so.6!read', 'app!lock', 'kernel!futex', 'plain', 'm!odd "name"\n<b>',
          'app!Größe']


def random_stack(rng, alphabet, longest):
    return [rng.choice(alphabet) for _ in range(rng.randint(0, longest))]


def random_stream(rng, number, alphabet, longest):
    events = []
    symptoms = []
    tids = range(1, 1 + rng.randint(1, 4))
    few = [random_stack(rng, alphabet, longest) for _ in range(rng.randint(1, 6))]
    for _ in range(rng.randint(0, 25)):
        kind = rng.choice(['run', 'wait', 'wait', 'call'])
        event = {'type': kind, 't': rng.randint(0, 60), 'tid': rng.choice(tids), 'stack': rng.choice(few)}
        if kind != 'call':
            event['cost'] = rng.randint(0, 25)
        if kind == 'wait' and rng.random() < 0.7:
            event['waker'] = rng.choice(tids)
        events.append(event)
    for _ in range(rng.randint(0, 2)):
        t0 = rng.randint(0, 60)
        symptoms.append({'type': 'symptom', 'tid': rng.choice(tids), 't0': t0, 't1': t0 + rng.randint(0, 60)})
    return {'stream': f's{number}', 'host': f'h{number % 2}', 'attrs': {'version': number % 3}}, events, symptoms


def end(event):
    return event['t'] + event['cost']


def costed(events):
    return [i for i, event in enumerate(events) if event['type'] != 'call']


def thread_scope(events, symptom):
    return {i for i in costed(events) if events[i]['tid'] == symptom['tid'] and
            symptom['t0'] <= events[i]['t'] and end(events[i]) <= symptom['t1']}


def graph_scope(events, symptom):
    """Figure 2 as printed: a fixed point over all pairs."""
    vertices = thread_scope(events, symptom)
    edges = set()
    done = set()
    while vertices != done:
        for i in vertices - done:
            done = done | {i}
            wait = events[i]
            if wait['type'] != 'wait' or 'waker' not in wait:
                continue
            for j in costed(events):
                if events[j]['tid'] == wait['waker'] and wait['t'] <= end(events[j]) <= end(wait):
                    vertices = vertices | {j}
                    edges.add((i, j))
    return vertices, edges


def area(streams, scope, kind):
    """(stream, stack, cost) of each event in the area."""
    result = []
    for number, (_, events, symptoms) in enumerate(streams):
        if scope == 'all':
            chosen = set(costed(events))
        else:
            chosen = set()
            for symptom in symptoms:
                chosen |= thread_scope(events, symptom) if scope == 'thread' else graph_scope(events, symptom)[0]
        result += [(number, tuple(events[i]['stack']), events[i]['cost']) for i in sorted(chosen)
                   if events[i]['type'] == kind]
    return result


def contains(stack, pattern):
    rest = iter(stack)
    return all(frame in rest for frame in pattern)


def subsequences(stack, longest):
    for length in range(1, min(len(stack), longest) + 1):
        yield from itertools.combinations(stack, length)


def fold(stack):
    return tuple(dict.fromkeys(stack))


def maximal_patterns(rows, threshold, longest, shortest):
    costs = {}
    for _, stack, cost in rows:
        for pattern in set(subsequences(stack, longest)):
            costs[pattern] = costs.get(pattern, 0) + cost
    costly = [pattern for pattern, cost in costs.items() if cost >= threshold]
    return {pattern: costs[pattern] for pattern in costly if len(pattern) >= shortest and
            not any(len(other) > len(pattern) and contains(other, pattern) for other in costly)}


def metrics(rows, patterns):
    matching = [row for row in rows if any(contains(row[1], pattern) for pattern in patterns)]
    cost = sum(row[2] for row in matching)
    return {'cost_ns': cost, 'events': len(matching), 'streams': len({row[0] for row in matching})}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


class Difference(Exception):
    pass


def same(what, expected, found):
    if expected != found:
        raise Difference(f'{what}:\nexpected {expected}\nfound    {found}')


def check_result(result, rows, expected):
    found = {tuple(pattern['frames']): pattern for pattern in result['patterns']}
    same('patterns', dict(sorted(expected.items())),
         {frames: pattern['cost_ns'] for frames, pattern in sorted(found.items())})
    same('number of patterns', len(found), len(result['patterns']))
    order = [(-pattern['cost_ns'], [frame.encode() for frame in pattern['frames']]) for pattern in result['patterns']]
    same('order of patterns', sorted(order), order)
    same('area', {'events': len(rows), 'distinct_stacks': len({row[1] for row in rows}),
                  'cost_ns': sum(row[2] for row in rows)}, result['area'])
    by_id = {pattern['id']: tuple(pattern['frames']) for pattern in result['patterns']}
    same('clusters hold each pattern once', sorted(by_id),
         sorted(name for cluster in result['clusters'] for name in cluster['patterns']))
    for group in result['patterns']:
        same('metrics of a pattern', metrics(rows, [tuple(group['frames'])]),
             {key: group[key] for key in ('cost_ns', 'events', 'streams')})
    for cluster in result['clusters']:
        patterns = [by_id[name] for name in cluster['patterns']]
        numbers = metrics(rows, patterns)
        same('metrics of a cluster', numbers, {key: cluster[key] for key in numbers})
        same('average', (numbers['cost_ns'] + numbers['events'] // 2) // numbers['events'], cluster['average_ns'])
        if not all(contains(pattern, cluster['common']) for pattern in patterns):
            raise Difference(f'common part {cluster["common"]} is not in all of {patterns}')
    same('order of clusters', sorted((-cluster['cost_ns'] for cluster in result['clusters'])),
         [-cluster['cost_ns'] for cluster in result['clusters']])


def check_mine(program, corpus, streams, rng):
    scope = rng.choice(['all', 'all', 'thread', 'graph'])
    kind = rng.choice(['run', 'wait'])
    rows = area(streams, scope, kind)
    folded = rng.random() < 0.2
    if folded:
        rows = [(stream, fold(stack), cost) for stream, stack, cost in rows]
    total = sum(row[2] for row in rows)
    threshold = rng.choice([1, max(1, total // 10), max(1, total // 3), max(1, total), total + 1])
    longest, shortest = rng.choice([99, 99, 3]), rng.choice([1, 1, 2])
    command = [program, 'mine', corpus, '--json', '--include-idle', '--scope', scope, '--kind', kind,
               '--threshold', f'{threshold}ns', '--jobs', str(rng.choice([1, 2, 3]))]
    command += ['--max-length', '3'] if longest == 3 else []
    command += ['--min-length', '2'] if shortest == 2 else []
    command += ['--fold-recursion'] if folded else []
    code, out, err = run(*command)
    has_symptoms = any(symptoms for _, _, symptoms in streams)
    if scope != 'all' and not has_symptoms:
        same('exit status without symptoms', 2, code)
        return command
    if code:
        raise Difference(f'{command} exited with {code}: {err}')
    check_result(json.loads(out), rows, maximal_patterns(rows, threshold, longest, shortest))
    return command


def check_scope(program, corpus, streams):
    if not any(symptoms for _, _, symptoms in streams):
        return
    for scope in ('thread', 'graph', 'critical-path'):
        code, out, err = run(program, 'scope', corpus, '--json', '--scope', scope)
        if code:
            raise Difference(f'scope {scope} exited with {code}: {err}')
        found = sorted((json.loads(line) for line in out.splitlines()),
                       key=lambda item: (item['stream'], item['tid'], item['t0'], item['t1']))
        wanted = sorted([((meta['stream'], symptom['tid'], symptom['t0'], symptom['t1']), events, symptom)
                         for meta, events, symptoms in streams for symptom in symptoms], key=lambda item: item[0])
        same('symptoms', [item[0] for item in wanted],
             [(item['stream'], item['tid'], item['t0'], item['t1']) for item in found])
        for (_, events, symptom), item in zip(wanted, found):
            if scope == 'thread':
                same('events of the thread', len(thread_scope(events, symptom)), item['events'])
            elif scope == 'graph':
                vertices, edges = graph_scope(events, symptom)
                same('vertices and edges', (len(vertices), len(edges)), (item['events'], item['edges']))
            else:
                same('the path tiles the symptom', symptom['t1'] - symptom['t0'],
                     sum(part['cost_ns'] for part in item['path']) + item['unknown_ns'])


def write_events(path, streams):
    with open(path, 'w', encoding='utf-8') as file:
        for meta, events, symptoms in streams:
            for line in [meta] + events + symptoms:
                file.write(json.dumps(line, ensure_ascii=False) + '\n')


def check_corpus(program, folder, number, seed):
    rng = random.Random(seed * 1000003 + number)
    alphabet = rng.sample(FRAMES, rng.randint(1, len(FRAMES)))
    longest = rng.choice([2, 5, 8])
    streams = [random_stream(rng, i, alphabet, longest) for i in range(rng.randint(1, 4))]
    events, corpus = os.path.join(folder, 'events.jsonl'), os.path.join(folder, f'corpus{number}')
    write_events(events, streams)
    code, _, err = run(program, 'import', '-q', events, '-o', corpus)
    command = 'import'
    try:
        if code:
            raise Difference(f'import exited with {code}: {err}')
        for _ in range(3):
            command = check_mine(program, corpus, streams, rng)
        command = 'scope'
        check_scope(program, corpus, streams)
    except Difference as difference:
        with open(events, encoding='utf-8') as file:
            print(file.read())
        print(f'corpus {number} of seed {seed}: {command}\n{difference}')
        return False
    shutil.rmtree(corpus)
    return True


def main():
    program = os.path.abspath(sys.argv[1])
    corpora = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    place = '/dev/shm' if os.access('/dev/shm', os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix='lode-oracle-', dir=place) as folder:
        for number in range(corpora):
            if not check_corpus(program, folder, number, seed):
                return 1
    print(f'{corpora} corpora agree')
    return 0


if __name__ == '__main__':
    sys.exit(main())
