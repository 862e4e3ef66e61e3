"""How many streams somebody has to look into to cover a share of the delay (StackMine, Figure 4).

Who looks into a stream understands the bugs that are in it, and these explain what they cost in all streams.
Random takes streams as they come, Greedy-Total those with the largest delay first, Greedy-Max those with the
longest single delay first. StackMine has the bugs by their cost, from mining: it takes a stream with the costliest
bug, then one with the costliest bug not yet seen, and so on; of the streams with this bug it takes the one where
the bugs not yet seen cost most in all.
"""
import random
import statistics

LEVELS = 100
ORDERS = 100


class Costs:
    """What was planted, as far as `names` were found."""

    def __init__(self, truth, names):
        self.delay = sum(stream['delay_ns'] for stream in truth['streams'])
        self.streams = {stream['name']: stream for stream in truth['streams']}
        self.total = {}
        self.bugs_in = {name: set() for name in self.streams}
        self.where = {}
        for bug in truth['bugs']:
            if bug['name'] not in names:
                continue
            self.total[bug['name']] = bug['cost_ns']
            self.where[bug['name']] = [stream['name'] for stream in bug['streams']]
            for stream in bug['streams']:
                self.bugs_in[stream['name']].add(bug['name'])

    def curve(self, order):
        """Coverage after each stream of `order`."""
        seen, covered = set(), 0
        for name in order:
            for bug in self.bugs_in[name] - seen:
                seen.add(bug)
                covered += self.total[bug]
            yield covered / self.delay

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
    result, number = [], 0
    for level in levels:
        while number < len(curve) and curve[number] < level - 1e-12:
            number += 1
        result.append(number + 1)
    return result


def compare(truth, names):
    """Coverage that can be reached, and the streams that each technique needs, level by level."""
    costs = Costs(truth, names)
    best = sum(costs.total.values()) / costs.delay
    levels = [best * (level + 1) / LEVELS for level in range(LEVELS)]
    pick = random.Random(1)
    orders = [pick.sample(sorted(costs.streams), len(costs.streams)) for _ in range(ORDERS)]
    shuffled = [needed(list(costs.curve(order)), levels) for order in orders]
    counts = {
        'Random': [statistics.mean(column) for column in zip(*shuffled)],
        'Greedy-Total': needed(list(costs.curve(costs.greedy('delay_ns'))), levels),
        'Greedy-Max': needed(list(costs.curve(costs.greedy('longest_ns'))), levels),
        'StackMine': needed(list(costs.curve(costs.stackmine())), levels),
    }
    return best, counts


def rows(best, counts):
    paper = {'Random': ('193', '7.2 %'), 'Greedy-Total': ('238', '5.8 %'), 'Greedy-Max': ('220', '6.3 %'),
             'StackMine': ('14', '')}
    mine = counts['StackMine']
    yield ['streams to look into', 'for %.0f %% of the delay' % (50 * best), 'for %.0f %%' % (90 * best),
           'for %.0f %%' % (100 * best), 'in the paper for 58 %', 'StackMine needs of these', 'on average over levels',
           'in the paper']
    for name, numbers in counts.items():
        ratios = [a / b for a, b in zip(mine, numbers)]
        yield [name, '%.0f' % numbers[LEVELS // 2 - 1], '%.0f' % numbers[LEVELS * 9 // 10 - 1], '%.0f' % numbers[-1],
               paper[name][0], '' if numbers is mine else '%.1f %%' % (100 * ratios[-1]),
               '' if numbers is mine else '%.1f %%' % (100 * statistics.mean(ratios)), paper[name][1]]
