"""IntroPerf, Figure 9: what recording costs `7zr b`, Apache with ab, and SQL (a client's statements in MariaDB)."""
import statistics

from measuring import Run, fresh, say, table
from sources import Missing, need

RUNS = 5
KINDS = [('waits and samples', []), ('system calls, too', ['--calls'])]


def seven_zip(quick):
    need('7zr')
    return ['7zr', 'b', '-mmt=1', '-md=%d' % (18 if quick else 22), '1']


PROGRAMS = [('7zr b', seven_zip)]


def measure(papers, command):
    """Percent of processor time more than alone, for each kind: medians of pairs of runs."""
    corpus = papers.work + '/overhead'
    for _, options in KINDS:
        more = []
        for _ in range(2 if papers.quick else RUNS):
            alone = Run(command)
            recorded = Run([papers.lode, 'record', '-q', '-o', fresh(corpus), *options, '--', *command])
            more.append((100 * (recorded.seconds / alone.seconds - 1), 100 * (recorded.processor / alone.processor - 1)))
        yield '%+.1f %%, %+.1f %%' % tuple(statistics.median(column) for column in zip(*more))
    fresh(corpus)


def tell(papers):
    rows = [['it takes longer, elapsed and of the processors', *(title for title, _ in KINDS)]]
    for name, command in PROGRAMS:
        try:
            say('recording ' + name)
            rows.append([name, *measure(papers, command(papers.quick))])
        except Missing as missing:
            say('%s is skipped: %s' % (name, missing))
    yield from table(rows)
