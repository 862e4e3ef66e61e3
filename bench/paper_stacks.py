"""StackMine's two studies on generated corpora as large as its own: from all stacks to clusters, signatures and coverage.

The analyst of the study read clusters in the order of their average cost and wrote a signature for what was worth one. Here
whoever reads so many clusters knows the planted bugs that these hold, and a signature is the functions at fault.
"""
import json
import os

import effort
import planted
from measuring import Run, fresh, say, table

# Study, its name for lode synth, clusters that were read, threshold, and what the paper has in the order of the rows.
STUDIES = [
    ('Windows Explorer', 'windows', 400, '0.05%',
     ['921', '140 million', '41 million', '689,000', '2,239', '1,215', '10 h', '400', '93', '58.26 %']),
    ('a third-party application', 'third-party', 60, '0.2%',
     ['54', '20 million', '13 million', '41,000', '371', '251', '10 min', '60 of each of four orders', '22', '66.69 %']),
]
ROWS = ['streams', 'stacks of waits', 'stacks of runs', 'stacks of waits in the area of interest', 'patterns', 'clusters',
        'time', 'clusters read', 'signatures', 'of the delay covered']


def count(number):
    return '{:,}'.format(number)


class Study:
    """A corpus, what is planted in it, and what mining makes of its waits."""

    def __init__(self, papers, name, threshold):
        self.lode, self.corpus = papers.lode, fresh(os.path.join(papers.work, 'study'))
        path = os.path.join(papers.work, 'truth.json')
        more = ['--events', '3000'] if papers.quick else []
        say('making the corpus of ' + name)
        Run([self.lode, 'synth', '-q', '--like', name, '-o', self.corpus, '--truth', path, *more])
        with open(path, encoding='utf-8') as file:
            self.truth = json.load(file)
        os.remove(path)
        say('mining it')
        self.run = Run([self.lode, 'mine', '-q', '--json', '--kind', 'wait', '--threshold', threshold, self.corpus],
                       keep=True)
        self.mined = self.run.json
        self.events = Run([self.lode, 'info', '-q', '--json', self.corpus], keep=True).json['events']

    def signatures(self, clusters):
        """Of the planted bugs that somebody sees who reads so many clusters."""
        score = planted.Score(self.mined, self.truth)
        seen = {one.bug['name'] for one in score.found if one.rank and one.average_rank < clusters}
        return list(effort.signatures(self.truth, lambda bug: [bug['key']] if bug['name'] in seen else [])), len(seen)

    def coverage(self, signatures):
        with open(os.path.join(self.corpus, 'signatures.txt'), 'w', encoding='utf-8') as file:
            file.writelines(signatures)
        return Run([self.lode, 'coverage', '-q', '--json', self.corpus], keep=True).json


def measure(papers, name, clusters, threshold):
    study = Study(papers, name, threshold)
    signatures, seen = study.signatures(clusters)
    covered = study.coverage(signatures) if seen else None
    mined, run = study.mined, study.run
    cells = [count(mined['input']['streams']), count(study.events['wait']), count(study.events['run']),
             count(mined['area']['events']), count(len(mined['patterns'])), count(len(mined['clusters'])),
             '%.0f s, %.0f s of the processors, %.0f MB' % (run.seconds, run.processor, run.peak_mb),
             count(min(clusters, len(mined['clusters']))), str(seen),
             '%.1f %%' % (100 * covered['coverage']) if covered else '']
    fresh(study.corpus)
    return cells, covered


def tell(papers):
    columns, orders = [], []
    for title, name, clusters, threshold, paper in STUDIES:
        cells, covered = measure(papers, name, clusters, threshold)
        columns += [(title + ', paper', paper), ('Lode, threshold ' + threshold, cells)]
        if covered:
            orders.append((title, effort.from_lode(covered)))
    yield '### The funnels'
    yield ''
    yield from table([[''] + [title for title, _ in columns]] +
                     [[row] + [cells[i] for _, cells in columns] for i, row in enumerate(ROWS)])
    yield '### Figure 4'
    yield ''
    yield from table(list(effort.rows(orders)))
