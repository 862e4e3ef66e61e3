// What is new: clusters that occur only in later streams, or cost more there.
import type { MineCluster, MineResult } from './results';
import { allTogether, rankTest } from './statistics';

export interface ClusterChange {
	cluster: MineCluster;
	before: number; // ns per stream
	after: number;
	beforeStreams: number; // where it occurs
	afterStreams: number;
	p: number | null;
	q: number | null;
}

// `isLater` says on which side the stream with an id is; null: on none.
export function changesOf(result: MineResult, isLater: (id: string) => boolean | null): ClusterChange[] {
	const sides = (result.stream_ids ?? []).map(isLater);
	const count = [false, true].map((later) => sides.filter((side) => side === later).length) as [number, number];
	const changes = result.clusters.map((cluster) => {
		const costs: [number[], number[]] = [[], []];
		const list = cluster.by_stream ?? [];

		for (let i = 0; i + 1 < list.length; i += 2) {
			const side = sides[list[i]!];

			if (typeof side === 'boolean')
				costs[Number(side)]!.push(list[i + 1]!);
		}
		const [before, after] = costs.map((values, side) => ({ streams: values.length, sum: values.reduce((sum, value) => sum + value, 0), all: [...values, ...Array<number>(count[side]! - values.length).fill(0)] }));

		return {
			cluster, before: before!.sum / (count[0] || 1), after: after!.sum / (count[1] || 1), beforeStreams: before!.streams, afterStreams: after!.streams,
			p: rankTest(before!.all, after!.all), q: null,
		};
	});
	const qs = allTogether(changes.map(({ p }) => p));

	return changes.map((change, i) => ({ ...change, q: qs[i]! })).sort((a, b) => b.after - b.before - (a.after - a.before));
}
