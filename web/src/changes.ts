// What is new: findings or clusters that occur only in later streams, or cost more there.
import { allTogether, rankTest } from './statistics';

// What it costs in streams: a place in the list of streams, ns, the next place, and so on.
interface Costly {
	by_stream: number[];
}

export interface Change<Item> {
	item: Item;
	before: number; // ns per stream
	after: number;
	beforeStreams: number; // where it occurs
	afterStreams: number;
	p: number | null;
	q: number | null;
}

// Below this chance for all of them together a change is called sure.
const SURE = 0.05;

export function isSure({ q }: { q: number | null }): boolean {
	return q !== null && q < SURE;
}

// `isLater` says on which side the stream with an id is; null: on none. What grew most comes first.
export function changesOf<Item extends Costly>(items: Item[], streamIds: string[], isLater: (id: string) => boolean | null): Change<Item>[] {
	const sides = streamIds.map(isLater);
	const count = [false, true].map((later) => sides.filter((side) => side === later).length) as [number, number];
	const changes = items.map((item): Change<Item> => {
		const costs: [number[], number[]] = [[], []];
		const list = item.by_stream;

		for (let i = 0; i + 1 < list.length; i += 2) {
			const side = sides[list[i]!];

			if (typeof side === 'boolean')
				costs[Number(side)]!.push(list[i + 1]!);
		}
		const [before, after] = costs.map((values, side) => ({ streams: values.length, sum: values.reduce((sum, value) => sum + value, 0), all: [...values, ...Array<number>(count[side]! - values.length).fill(0)] }));

		return {
			item, before: before!.sum / (count[0] || 1), after: after!.sum / (count[1] || 1), beforeStreams: before!.streams, afterStreams: after!.streams,
			p: rankTest(before!.all, after!.all), q: null,
		};
	});
	const qs = allTogether(changes.map(({ p }) => p));

	return changes.map((change, i) => ({ ...change, q: qs[i]! })).sort((a, b) => b.after - b.before - (a.after - a.before));
}
