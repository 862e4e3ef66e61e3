"""Planted bugs: which of them `lode mine` finds, at what rank, in how many clusters, and how pure these are.

A pattern is of a bug when it holds the bug's key frames in their order (lode-synth(1)). A bug can be found when
what it costs on the critical paths reaches the threshold. Whether patterns that belong together are together is
measured by B-cubed precision and recall: for each pattern of a bug, what share of its cluster is of the same bug, and
what share of the bug's patterns is in its cluster; averaged over patterns, then over bugs, so that all bugs count
alike. F1 is their harmonic mean. Whether a cluster shows what its bug costs is measured by the ratio of the two costs,
the smaller to the larger one, for the costliest cluster of each bug: clusters that were torn apart show too little,
those that swallowed others too much. The similarity to cut at is the one where F1 and this ratio together, their
harmonic mean, are largest.
"""
import statistics


def holds(frames, key):
    """Whether `key` is a subsequence of `frames`."""
    rest = iter(frames)
    return all(frame in rest for frame in key)


class Found:
    """What one mining says of one bug."""

    def __init__(self, bug, patterns, clusters, by_average):
        self.bug = bug
        self.clusters = [number for number, cluster in enumerate(clusters) if patterns & set(cluster['patterns'])]
        self.rank = self.clusters[0] + 1 if self.clusters else None
        ranks = [by_average[clusters[number]['id']] for number in self.clusters]
        self.average_rank = min(ranks) if ranks else None
        cost = max((clusters[number]['cost_ns'] for number in self.clusters), default=0)
        self.agreement = min(cost, bug['cost_ns']) / max(cost, bug['cost_ns'])


class Score:
    """A mining of one kind of events held against the truth."""

    def __init__(self, mined, truth):
        bugs = [bug for bug in truth['bugs'] if bug['kind'] == mined['kind']]
        clusters = mined['clusters']
        averages = sorted(clusters, key=lambda cluster: -cluster['average_ns'])
        by_average = {cluster['id']: number for number, cluster in enumerate(averages, 1)}
        self.patterns = len(mined['patterns'])
        self.clusters = len(clusters)
        self.of_bug = {bug['name']: {pattern['id'] for pattern in mined['patterns'] if holds(pattern['frames'], bug['key'])}
                       for bug in bugs}
        self.found = [Found(bug, self.of_bug[bug['name']], clusters, by_average)
                      for bug in bugs if bug['cost_ns'] >= mined['threshold_ns']]
        self.small = len(bugs) - len(self.found)
        self.members = [set(cluster['patterns']) for cluster in clusters]
        self.precision, self.recall = self.b_cubed()
        self.mixed = [bugs_in for bugs_in in self.bugs_in_clusters() if bugs_in]

    def b_cubed(self):
        precisions, recalls = [], []
        for patterns in self.of_bug.values():
            homes = [next(members for members in self.members if pattern in members) for pattern in sorted(patterns)]
            if homes:
                precisions.append(statistics.mean(len(home & patterns) / len(home) for home in homes))
                recalls.append(statistics.mean(len(home & patterns) / len(patterns) for home in homes))
        return precisions, recalls

    def bugs_in_clusters(self):
        for members in self.members:
            yield sum(1 for patterns in self.of_bug.values() if members & patterns)


def mean(values):
    values = list(values)
    return statistics.mean(values) if values else 0.0


def harmonic(a, b):
    return 2 * a * b / (a + b) if a + b else 0.0


class Sum:
    """Scores of several corpora and both kinds at one similarity."""

    def __init__(self, scores):
        found = [one for score in scores for one in score.found]
        seen = [one for one in found if one.rank]
        self.findable = len(found)
        self.seen = len(seen)
        self.small = sum(score.small for score in scores)
        self.patterns = sum(score.patterns for score in scores)
        self.clusters = sum(score.clusters for score in scores)
        self.precision = mean(value for score in scores for value in score.precision)
        self.recall = mean(value for score in scores for value in score.recall)
        self.f1 = harmonic(self.precision, self.recall)
        self.agreement = mean(one.agreement for one in seen)
        self.quality = harmonic(self.f1, self.agreement)
        self.clusters_per_bug = mean(len(one.clusters) for one in seen)
        self.bugs_per_cluster = mean(value for score in scores for value in score.mixed)
        self.ranks = sorted(one.rank for one in seen)
        self.average_ranks = sorted(one.average_rank for one in seen)


def worst(ranks, share):
    """The rank that this share of the bugs is within."""
    return '%d' % ranks[max(0, -int(-len(ranks) * share // 1) - 1)] if ranks else '-'


def sweep_rows(sums):
    """A row a similarity; `sums` by similarity."""
    yield ['similarity', 'patterns', 'clusters', 'found', 'clusters a bug', 'bugs a cluster', 'precision', 'recall', 'F1',
           'cost agrees', 'together']
    for similarity, one in sorted(sums.items()):
        yield ['%.2f' % similarity, '%d' % one.patterns, '%d' % one.clusters, '%d of %d' % (one.seen, one.findable),
               '%.2f' % one.clusters_per_bug, '%.2f' % one.bugs_per_cluster, '%.3f' % one.precision,
               '%.3f' % one.recall, '%.3f' % one.f1, '%.3f' % one.agreement, '%.3f' % one.quality]


def rank_rows(one):
    yield ['rank of the planted bugs', 'half of them within', '90 % within', 'all within']
    for name, ranks in (('by total cost', one.ranks), ('by average cost', one.average_ranks)):
        yield [name, worst(ranks, 0.5), worst(ranks, 0.9), worst(ranks, 1.0)]


def key_patterns(truth, kind):
    """The key frames of the bugs as a file for `lode mine --patterns`."""
    return '\n\n'.join('\n'.join(bug['key']) for bug in truth['bugs'] if bug['kind'] == kind) + '\n'


def check_costs(mined, truth, field):
    """How many bugs cost, by their key frames, exactly what was planted; and how many there are."""
    costs = {tuple(pattern['frames']): pattern['cost_ns'] for pattern in mined['patterns']}
    bugs = [bug for bug in truth['bugs'] if bug['kind'] == mined['kind']]
    return sum(costs.get(tuple(bug['key']), 0) == bug[field] for bug in bugs), len(bugs)
