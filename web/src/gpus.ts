// GPUs among threads: each is a process, and each of its streams a thread (src/trace/gpu_threads.h).
import { RUNNING, type TimeStates } from './time_states';

const FIRST_ID = 0x40000000;

export const isGpu = (pid: number | null | undefined): boolean => pid !== null && pid !== undefined && pid >= FIRST_ID && pid < 2 * FIRST_ID;

const known = new WeakMap<TimeStates, Map<string, number>>();

// The share of the time from the first to the last thing that these rows have in which at least one of them runs.
export function busyShare(states: TimeStates, rows: number[]): number {
	const shares = known.get(states) ?? known.set(states, new Map()).get(states)!;
	const key = rows.join();
	const share = shares.get(key) ?? timeOfAny(states, rows) / lifeOf(states, rows);

	shares.set(key, share);
	return share;
}

function lifeOf({ start, first }: TimeStates, rows: number[]): number {
	const used = rows.filter((row) => first[row + 1]! > first[row]!);
	const from = Math.min(...used.map((row) => start[first[row]!]!));
	const until = Math.max(...used.map((row) => start[first[row + 1]! - 1]!)); // the last segment has no end

	return Math.max(until - from, 1);
}

function timeOfAny({ start, state, first }: TimeStates, rows: number[]): number {
	const spans = rows
		.flatMap((row) => {
			const running: [number, number][] = [];

			for (let segment = first[row]!; segment + 1 < first[row + 1]!; segment++)
				if (state[segment] === RUNNING)
					running.push([start[segment]!, start[segment + 1]!]);
			return running;
		})
		.sort((a, b) => a[0] - b[0]);
	let time = 0;
	let reach = -Infinity;

	for (const [from, until] of spans) {
		time += Math.max(until - Math.max(from, reach), 0);
		reach = Math.max(reach, until);
	}
	return time;
}
