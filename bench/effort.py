"""How many streams have to be opened to cover a share of the delay (StackMine, Figure 4).

Who looks into a stream understands the bugs that are in it, and these explain what they cost in all streams.
Random takes streams as they come, Greedy-Total those with the largest delay first, Greedy-Max those with the
longest single delay first. StackMine has the bugs by their cost, from mining: it takes a stream with the costliest
bug, then one with the costliest bug not yet seen, and so on. `lode coverage` computes this from signatures: here of
the patterns just as they were mined, and of the functions at fault, which a person would take from them. It is
computed once more from what was planted, to hold beside it; of the streams with a bug StackMine then takes the one
where the bugs not yet seen cost most in all.
"""
import random
import statistics

ORDERS = 200
TECHNIQUES = {'stackmine': 'StackMine', 'random': 'Random', 'greedy_total': 'Greedy-Total', 'greedy_max': 'Greedy-Max'}
# Streams for 58.26 % of the delay, and what StackMine needed of them on average.
PAPER = {'stackmine': ('14', ''), 'random': ('193', '7.2 %'), 'greedy_total': ('238', '5.8 %'),
         'greedy_max': ('220', '6.3 %')}


class Planted:
    """The truth about a corpus, asked for orders of streams."""

    def __init__(self, truth):
        self.delay = sum(stream['delay_ns'] for stream in truth['streams'])
        self.streams = {stream['name']: stream for stream in truth['streams']}
        self.total = {bug['name']: bug['cost_ns'] for bug in truth['bugs']}
        self.where = {bug['name']: [stream['name'] for stream in bug['streams']] for bug in truth['bugs']}
        self.bugs_in = {name: set() for name in self.streams}
        for bug, streams in self.where.items():
            for stream in streams:
                self.bugs_in[stream].add(bug)

    def curve(self, order):
        """Cost that is covered after each stream of `order`."""
        seen, covered, result = set(), 0, []
        for name in order:
            for bug in self.bugs_in[name] - seen:
                seen.add(bug)
                covered += self.total[bug]
            result.append(covered)
        return result

    def stackmine(self):
        seen = set()
        for bug in sorted(self.total, key=lambda name: -self.total[name]):
            if bug not in seen:
                best = max(self.where[bug], key=lambda stream: sum(self.total[one] for one in self.bugs_in[stream] - seen))
                seen |= self.bugs_in[best]
                yield best

    def greedy(self, field):
        return sorted(self.streams, key=lambda name: -self.streams[name][field])


def needed(curve, levels):
    """Streams needed for each level."""
    return [next(number for number, cost in enumerate(curve, 1) if cost >= level) for level in levels]


class Effort:
    """Coverage that can be reached, streams that each technique needs for it, and StackMine's share on average."""

    def __init__(self, coverage, streams, shares):
        self.coverage = coverage
        self.streams = streams
        self.shares = shares


def from_truth(truth):
    planted = Planted(truth)
    levels = planted.curve(planted.stackmine())
    pick = random.Random(1)
    orders = [pick.sample(sorted(planted.streams), len(planted.streams)) for _ in range(ORDERS)]
    counts = {
        'stackmine': list(range(1, len(levels) + 1)),
        'random': [statistics.mean(column) for column in zip(*(needed(planted.curve(order), levels) for order in orders))],
        'greedy_total': needed(planted.curve(planted.greedy('delay_ns')), levels),
        'greedy_max': needed(planted.curve(planted.greedy('longest_ns')), levels),
    }
    shares = {name: statistics.mean(mine / other for mine, other in zip(counts['stackmine'], others))
              for name, others in counts.items()}
    return Effort(levels[-1] / planted.delay, {name: numbers[-1] for name, numbers in counts.items()}, shares)


def from_lode(coverage):
    """The same from `lode coverage --json`."""
    return Effort(coverage['coverage'], coverage['levels'][-1], coverage['stackmine_share_of'])


def signatures(truth, patterns_of):
    """A signature a bug, as CORPUS/signatures.txt has them; patterns_of(bug) gives its patterns."""
    for bug in truth['bugs']:
        patterns = list(patterns_of(bug))
        if patterns:
            yield 'signature %s\nstate open\nkind %s\n' % (bug['name'], bug['kind'])
            yield from ('pattern\n%s\n' % '\n'.join('\t' + frame for frame in frames) for frames in patterns)


def rows(columns):
    """`columns`: title and Effort of each."""
    yield (['streams to look into'] + [text for title, one in columns
                                       for text in ('%s: for %.0f %%' % (title, 100 * one.coverage), 'StackMine needs')]
           + ['paper: for 58 %', 'StackMine needed'])
    for name, title in TECHNIQUES.items():
        cells = []
        for _, one in columns:
            cells += ['%.0f' % one.streams[name], '' if name == 'stackmine' else '%.1f %%' % (100 * one.shares[name])]
        yield [title, *cells, *PAPER[name]]
