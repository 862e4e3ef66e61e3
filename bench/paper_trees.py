"""Discriminant regression trees, Tables 1, 2 and 4: the authors' data, explained by Lode.

The data are in their repository: nine tables of micro-benchmarks, with a column for each function, and the table of
SnapBuddy. Columns without influence, for Table 2, are made here: coins, as many as make up the paper's number.
"""
import csv
import json
import os
import random

from measuring import Run, say, table

REPOSITORY = 'https://github.com/cuplv/DPDEBUGGER'
MICRO = 'Micro-benchmark/CART/RegEx_%s.csv'
SNAPBUDDY = 'KLinear/SnapBuddy/SnapBuddy_Initials.csv'

# Name, table, then as printed: T, A, R2, H, models of K-linear and of spectral clustering.
TABLE_1 = [
    ('R_2', '2_1', '0.7 99% 0.99 2 3', '0.2 96% 0.98 2 3'),
    ('R_3#1', '3_1_ver.1', '1.3 100% 0.99 3 2', '0.7 100% 0.99 3 2'),
    ('R_3#2', '3_1_ver.2', '1.7 100% 0.99 3 3', '0.8 99% 0.99 3 3'),
    ('R_4#2', '4_1_ver.2', '2.9 100% 0.99 4 4', '1.6 98% 0.99 4 4'),
    ('R_4#1', '4_1_ver.1', '3.5 99% 0.99 4 3', '3.0 98% 0.99 4 3'),
    ('R_4#3', '4_1_ver.3', '3.5 99% 0.99 4 3', '2.8 99% 0.99 4 3'),
    ('R_5', '5_1', '6.7 99% 0.99 5 3', '11.3 99% 0.99 5 3'),
    ('R_6', '6_1', '16.3 99% 0.99 6 4', '42.5 98% 0.99 6 4'),
    ('R_7', '7_1', '31.8 97.9% 0.98 7 4', '210.1 95.5% 0.97 7 4'),
]
# Name, table, all functions, then as printed of K-linear clustering: T, A, R2, H, models.
TABLE_2 = [
    ('R_200', '2_1', 200, '0.7 99.6% 0.99 2 3'),
    ('R_400#1', '3_1_ver.1', 400, '1.3 95.0% 0.99 3 2'),
    ('R_400#2', '3_1_ver.2', 400, '1.8 100% 0.99 3 3'),
    ('R_600', '4_1_ver.2', 600, '3.4 100% 0.99 4 4'),
    ('R_800#1', '4_1_ver.1', 800, '3.9 98.9% 0.99 4 3'),
    ('R_800#2', '4_1_ver.3', 800, '4.0 98.3% 0.99 4 3'),
    ('R_1600', '5_1', 1600, '9.1 98.3% 0.99 5 3'),
    ('R_3200', '6_1', 3200, '59.5 99.1% 0.99 6 4'),
    ('R_6400', '7_1', 6400, '261.2 98.0% 0.99 7 4'),
]
HEAD = ['T', 'A', 'R2', 'H', 'models']


def read_table(path):
    """Names and rows, without numbers of rows, and without columns that are there twice."""
    with open(path, encoding='utf-8') as file:
        rows = list(csv.reader(file))
    names = rows[0]
    kept = [i for i, name in enumerate(names) if name and name != 'id' and name not in names[:i]]
    return [[row[i] for i in kept] for row in rows if len(row) == len(names)]


def write_table(rows, path, functions=0):
    """With columns of coins until there are so many functions."""
    coins = random.Random(1)
    more = max(0, functions + 2 - len(rows[0]))
    with open(path, 'w', encoding='utf-8') as file:
        file.write(','.join(rows[0] + ['dummy%d' % i for i in range(more)]) + '\n')
        for row in rows[1:]:
            bits = format(coins.getrandbits(more), '0%db' % more) if more else ''
            file.write(','.join([*row, *bits]) + '\n')


def explain(lode, rows, work, method, functions=0, more=()):
    """Cells as in the paper's tables, and the result."""
    path = os.path.join(work, 'table.csv')
    write_table(rows, path, functions)
    run = Run([lode, 'explain', path, '--x', 'size', '--y', 'mean', '--method', method, '-q', '--json', *more], keep=True)
    os.remove(path)
    result = run.json
    return ['%.1f' % run.processor, '%.1f %%' % (100 * result['accuracy']), '%.3f' % result['validated_r2'],
            str(result['height']), str(len(result['clusters']))], result


def micro_benchmarks(lode, data, work):
    head = ['set', 'functions', 'rows', 'leaves']
    yield '### Table 1'
    yield ''
    rows_of_table = [head + ['paper, K-linear: ' + ' '.join(HEAD), 'Lode, klinear', 'paper, spectral', 'Lode, spectral']]
    for name, file, linear, spectral in TABLE_1:
        say(name)
        rows = read_table(os.path.join(data, MICRO % file))
        ours = [explain(lode, rows, work, method) for method in ('klinear', 'spectral')]
        rows_of_table.append([name, str(len(rows[0]) - 2), str(len(rows) - 1), str(ours[0][1]['leaves']), linear,
                              ' '.join(ours[0][0]), spectral, ' '.join(ours[1][0])])
    yield from table(rows_of_table)


def dummies(lode, data, work, quick):
    yield '### Table 2'
    yield ''
    rows_of_table = [['set', 'functions', 'rows', 'paper: ' + ' '.join(HEAD), 'Lode', 'of the tree, without influence']]
    for name, file, functions, paper in TABLE_2:
        if quick and functions > 1000:
            continue
        say(name)
        rows = read_table(os.path.join(data, MICRO % file))
        cells, result = explain(lode, rows, work, 'klinear', functions)
        rows_of_table.append([name, str(functions), str(len(rows) - 1), paper, ' '.join(cells),
                              str(json.dumps(result['tree']).count('"dummy'))])
    yield from table(rows_of_table)


def applications(lode, data, work):
    yield '### Table 4, SnapBuddy'
    yield ''
    rows = read_table(os.path.join(data, SNAPBUDDY))
    lines = [['', 'K', *HEAD, 'leaves'], ['paper', '5 asked', '1.6', '88.6 %', '0.995', '5', '4', '']]
    for who, more in (('Lode, 5 functions asked', ['--clusters', '5']), ('Lode, by itself', [])):
        cells, result = explain(lode, rows, work, 'klinear', more=more)
        lines.append([who, '5' if more else 'auto', *cells, str(result['leaves'])])
    yield from table(lines)


def tell(papers):
    data = papers.sources.repository('DPDEBUGGER', REPOSITORY, ['Micro-benchmark', 'KLinear/SnapBuddy'])
    yield from micro_benchmarks(papers.lode, data, papers.work)
    yield from dummies(papers.lode, data, papers.work, papers.quick)
    yield from applications(papers.lode, data, papers.work)
