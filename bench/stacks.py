"""Mining speed on given stacks, and SPMF beside on the same sequences.

Wait stacks count one each, regardless of their cost, as SPMF counts sequences; CPU samples count what they cost.
"""
import gzip
import os
import statistics

from measuring import Run, fresh, say

# File, kind, whether each stack counts one, threshold in percent, aim in milliseconds.
CASES = [
    ('wait', True, 1.0, 50),
    ('wait', True, 0.5, 100),
    ('cpu', False, 1.0, 300),
    ('cpu', False, 0.5, 3000),
]
# SPMF's algorithm and the percentages it is asked for.
SPMF = [('BIDE+', 1.0), ('VMSP', 10.0), ('MaxSP', 10.0)]
SPMF_SECONDS = 300


def open_stacks(path):
    return gzip.open(path, 'rt', encoding='utf-8', errors='replace') if path.endswith('.gz') else open(
        path, encoding='utf-8', errors='replace')


def find(folder, name):
    for end in ('.folded.gz', '.folded'):
        path = os.path.join(folder, name + end)
        if os.path.exists(path):
            return path
    return None


def generate(lode, folder):
    """Stacks of a generated stream, where no others are given."""
    corpus = fresh(os.path.join(folder, 'corpus'))
    os.makedirs(folder, exist_ok=True)
    Run([lode, 'synth', '-q', '-o', corpus, '-s', '8', '-e', '60000', '--tasks', '400'])
    for name, kind in (('wait', 'wait'), ('cpu', 'run')):
        Run([lode, 'export', '-q', corpus, '--format', 'folded', '--kind', kind, '-o', os.path.join(folder, name + '.folded')])
    return folder


def import_stacks(lode, path, corpus, count_one):
    """A corpus of the stacks; returns how many there are."""
    plain = corpus + '.folded'
    lines = 0
    with open_stacks(path) as source, open(plain, 'w', encoding='utf-8') as target:
        for line in source:
            stack, _, value = line.rstrip('\n').rpartition(' ')
            target.write('%s %s\n' % (stack, '1' if count_one else value))
            lines += 1
    Run([lode, 'import', '-q', plain, '--kind', 'wait' if count_one else 'run', '-o', fresh(corpus)])
    os.unlink(plain)
    return lines


def measure(lode, folder, work, repeat):
    """Rows: what, patterns, median of mining alone and of the whole command, aim."""
    yield ['mining given stacks', 'stacks', 'patterns', 'mining', 'the whole command', 'aim']
    counts = {}
    for name, count_one, percent, aim in CASES:
        path, corpus = find(folder, name), os.path.join(work, 'stacks-' + name)
        if not path:
            say('%s has no %s.folded.gz; left out' % (folder, name))
            continue
        if name not in counts:
            counts[name] = import_stacks(lode, path, corpus, count_one)
        command = [lode, 'mine', '-q', corpus, '--json', '--timing', '--include-idle', '--threshold', '%g%%' % percent]
        runs = [Run(command, keep=True) for _ in range(repeat)]
        mined = runs[0].json
        mining = statistics.median(run.json['timing']['mining_ns'] for run in runs) / 1e6
        yield ['%s, at %g %% of %s' % (name, percent, 'their number' if count_one else 'their cost'),
               '{:,}'.format(mined['area']['distinct_stacks']), '{:,}'.format(len(mined['patterns'])),
               '%.0f ms' % mining, '%.2f s' % statistics.median(run.seconds for run in runs), '%d ms' % aim]


def write_sequences(path, target):
    """The distinct stacks as SPMF wants them: numbers, -1 behind each, -2 at the end."""
    numbers = {}
    with open_stacks(path) as source, open(target, 'w', encoding='ascii') as out:
        for line in source:
            frames = line.rpartition(' ')[0].split(';')
            out.write(''.join('%d -1 ' % numbers.setdefault(frame, len(numbers) + 1) for frame in frames) + '-2\n')


def measure_spmf(jar, folder, work):
    path = find(folder, 'wait')
    sequences, result = os.path.join(work, 'spmf.txt'), os.path.join(work, 'spmf.out')
    yield ['SPMF on the wait stacks', 'at', 'time', 'patterns']
    write_sequences(path, sequences)
    for algorithm, percent in SPMF:
        say('SPMF %s at %g %%' % (algorithm, percent))
        run = Run(['java', '-Xmx8g', '-jar', jar, 'run', algorithm, sequences, result, '%g%%' % percent],
                  limit=SPMF_SECONDS)
        count = '-'
        if not run.late:
            with open(result, encoding='ascii', errors='replace') as file:
                count = '{:,}'.format(sum(1 for _ in file))
        yield [algorithm, '%g %%' % percent, 'more than %d s' % SPMF_SECONDS if run.late else '%.1f s' % run.seconds, count]
