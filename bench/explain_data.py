#!/usr/bin/env python3
"""Makes tables like the micro-benchmarks of the paper on discriminant regression trees.

	bench/explain_data.py [OPTIONS] FILE.csv

A row is a run: its size x, its time y, and for each of n functions whether it was
called. Which functions are called decides the level of the run, and y is about
unit · level · x, with multiplicative noise; level 0 is a small constant with outliers.
Dummies are functions that have no influence. Next to FILE.csv is FILE.truth.csv
with the level of each row, numbered from 0.
"""
import argparse
import random


def level_table(kind, functions, clusters, rng):
    """The level of each of the 2^n patterns; every level occurs."""
    patterns = range(1 << functions)
    if kind == 'parity':
        return [bin(p).count('1') % clusters for p in patterns]
    if kind == 'count':
        return [min(bin(p).count('1'), clusters - 1) for p in patterns]
    if kind == 'tree':
        return tree_levels(functions, clusters, rng)
    while True:
        levels = [rng.randrange(clusters) for _ in patterns]
        if len(set(levels)) == clusters:
            return levels


def tree_levels(functions, clusters, rng):
    """The leaves of a random tree, which is not complete."""
    while True:
        levels = [0] * (1 << functions)

        def grow(patterns, left):
            if not left or len(patterns) == 1 or rng.random() < 0.25:
                level = rng.randrange(clusters)
                for pattern in patterns:
                    levels[pattern] = level
                return
            bit = rng.choice(left)
            rest = [b for b in left if b != bit]
            grow([p for p in patterns if p >> bit & 1], rest)
            grow([p for p in patterns if not p >> bit & 1], rest)

        grow(list(range(1 << functions)), list(range(functions)))
        if len(set(levels)) == clusters:
            return levels


def time_of(level, x, options, rng):
    noise = rng.gauss(0, options.noise)
    if rng.random() < options.tails:
        noise += rng.uniform(-0.2, 0.2)
    if level == 0:
        value = options.constant * (1 + noise)
        return value * rng.uniform(1, 3) if rng.random() < options.outliers else value
    return options.unit * level * x * (1 + noise)


def make(options):
    rng = random.Random(options.seed)
    functions = options.functions
    levels = level_table(options.kind, functions, options.clusters, rng)
    if options.no_zero:
        levels = [level + 1 for level in levels]
    columns = list(range(functions + options.dummies))
    rng.shuffle(columns)
    width = len(columns)
    places = [columns.index(f) for f in range(functions)]
    names = ['f%d' % i for i in range(width)]
    sizes = max(1, options.rows // (1 << functions))
    lowest = min(levels)
    with open(options.file, 'w') as table, open(options.file.replace('.csv', '.truth.csv'), 'w') as truth:
        table.write('size,time,' + ','.join(names) + '\n')
        truth.write('label\n')
        for row in range(options.rows):
            x = 1 + row * sizes // options.rows * max(1, options.largest // sizes)
            bits = rng.getrandbits(width)
            text = format(bits, '0%db' % width)
            pattern = sum(1 << f for f in range(functions) if text[places[f]] == '1')
            y = time_of(levels[pattern], x, options, rng)
            table.write('%d,%.5g,%s\n' % (x, y, ','.join(text)))
            truth.write('%d\n' % (levels[pattern] - lowest))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('file')
    parser.add_argument('--kind', choices=['random', 'parity', 'count', 'tree'], default='random')
    parser.add_argument('--functions', type=int, default=3, help='that matter')
    parser.add_argument('--dummies', type=int, default=0)
    parser.add_argument('--clusters', type=int, default=3)
    parser.add_argument('--rows', type=int, default=800)
    parser.add_argument('--largest', type=int, default=100, help='size, about')
    parser.add_argument('--unit', type=float, default=1200)
    parser.add_argument('--constant', type=float, default=130)
    parser.add_argument('--noise', type=float, default=0.02)
    parser.add_argument('--tails', type=float, default=0.02, help='share of rows with noise up to 20 %%')
    parser.add_argument('--outliers', type=float, default=0.05, help='share of rows of level 0 that are too slow')
    parser.add_argument('--no-zero', action='store_true', help='levels from 1')
    parser.add_argument('--seed', type=int, default=1)
    make(parser.parse_args())


if __name__ == '__main__':
    main()
