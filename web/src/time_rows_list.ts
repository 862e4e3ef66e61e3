// Which rows a timeline has, from top to bottom: threads by process, and the processors.
import { compareTexts, percent } from './format';
import { busyShare, isGpu } from './gpus';
import { searchOf } from './search';
import { threadName } from './state_words';
import { RUN, WAIT, READY, type StreamData } from './stream_data';
import type { StreamSymptom } from './results';
import { QUEUED, RUNNING, STATES, type TimeStates } from './time_states';

export type LineRow =
	| { kind: 'group'; key: string; title: string; detail: string; threads: number[]; open: boolean }
	| { kind: 'thread'; thread: number; pinned: boolean; states: number }
	| { kind: 'cpu'; cpu: number; states: number }; // `states`: its row there

export const sorts = { activity: 'most active', name: 'name', tid: 'thread id', running: 'running', ready: 'ready', waiting: 'waiting' } as const;
export type Sort = keyof typeof sorts;

// All of it is in the link.
export interface RowChoice {
	filter: string; // of thread and process names
	sort: Sort;
	grouped: boolean;
	folded: Set<string>; // groups that are closed
	pinned: Set<number>; // tids
	hidden: Set<number>;
	idle: boolean; // idle threads, too
}

export const CPUS = 'cpus';

const FEW_THREADS = 12; // so many are shown in any case

interface Weights {
	order: Float64Array; // how active, the path of the symptom first
	times: (thread: number) => Float64Array;
}

// What keeps a thread from being idle: it runs, wants to run, or waits for something that is used by others.
const busyStates = (['running', 'ready', 'lock', 'disk', 'network', 'gil', 'page', 'gpu'] as const).map((state) => STATES.indexOf(state));
const waitStates = STATES.map((state, place) => ({ state, place })).filter(({ state }) => !['running', 'ready', 'work', 'idle', 'not_recorded'].includes(state)).map(({ place }) => place);
const IDLE_SHARE = 0.0005; // of the stream: threads that do less, and wait only for work or nothing, are idle

const sumOf = (times: Float64Array, states: number[]) => states.reduce((sum, state) => sum + times[state]!, 0);

// By thread, how active it is: those on the path of the chosen symptom first, then those that are busy longest; 0: it has no event.
export function activityOf(data: StreamData, states: TimeStates, symptom: StreamSymptom | undefined): Float64Array {
	const weight = new Float64Array(data.head.threads.length);
	const times = new Float64Array(STATES.length);

	for (let thread = 0; thread < weight.length; thread++)
		if ([RUN, WAIT, READY].some((type) => data.lists[type]!.first[thread + 1]! > data.lists[type]!.first[thread]!)) {
			states.times(thread, 0, Math.max(states.span, 1), times);
			weight[thread] = 1 + sumOf(times, busyStates) + sumOf(times, waitStates) * 1e-3;
		}
	for (let i = symptom?.path_first ?? 0; symptom && i < symptom.path_first + symptom.path_count; i++)
		weight[data.path.thread[i]!]! += 1e15 + data.path.cost[i]!;
	if (symptom)
		weight[symptom.thread] = Infinity;
	return weight;
}

function sorted(data: StreamData, threads: number[], sort: Sort, { order, times }: Weights): number[] {
	const by = (value: (thread: number) => number) => [...threads].sort((a, b) => value(b) - value(a) || order[b]! - order[a]! || a - b);
	const known = new Map<number, Float64Array>();
	const timesOf = (thread: number) => known.get(thread) ?? (known.set(thread, times(thread)), known.get(thread)!);

	if (sort === 'name')
		return [...threads].sort((a, b) => compareTexts(threadName(data, a), threadName(data, b)));
	if (sort === 'tid')
		return by((thread) => -data.head.threads[thread]!.tid);
	if (sort === 'running')
		return by((thread) => timesOf(thread)[RUNNING]!);
	if (sort === 'ready')
		return by((thread) => timesOf(thread)[QUEUED]!);
	if (sort === 'waiting')
		return by((thread) => sumOf(timesOf(thread), waitStates));
	return by((thread) => order[thread]!);
}

// The name of a process: what it was started as, else its first thread, else the most active one.
export function processName(data: StreamData, pid: number, threads: number[]): string {
	const command = data.head.attributes[`command ${pid}`];
	const main = data.head.threads.find((each) => each.tid === pid);

	return String(command ?? (main?.name || data.head.threads[threads[0]!]!.name || 'process'));
}

interface Group {
	key: string;
	title: string;
	detail: string;
	gpu: boolean;
	threads: number[];
}

function groupsOf(data: StreamData, states: TimeStates, threads: number[]): Group[] {
	const byPid = new Map<string, number[]>();

	for (const thread of threads) {
		const key = String(data.head.threads[thread]!.pid ?? '');

		byPid.set(key, [...(byPid.get(key) ?? []), thread]);
	}
	return [...byPid].map(([key, own]) => {
		const title = key ? processName(data, Number(key), own) : 'no process known';
		const gpu = key !== '' && isGpu(Number(key));

		return { key, title, gpu, detail: gpu ? `busy ${percent(busyShare(states, own))}` : key, threads: own };
	});
}

// Threads that are shown even if their group is closed or a filter leaves them out: those of the selected event.
export function rowsOf(data: StreamData, states: TimeStates, order: Float64Array, choice: RowChoice, always: number[]): LineRow[] {
	const weights: Weights = { order, times: (thread) => states.times(thread, 0, Math.max(states.span, 1)) };
	const few = [...order].filter((weight) => weight > 0).sort((a, b) => b - a)[FEW_THREADS - 1] ?? 0;
	const least = choice.idle || choice.filter ? 0 : Math.min(states.span * IDLE_SHARE, few);
	const active = [...order.keys()].filter((thread) => order[thread]! > 0 && (order[thread]! >= least || always.includes(thread)));
	const tid = (thread: number) => data.head.threads[thread]!.tid;
	const thread = (each: number): LineRow => ({ kind: 'thread', thread: each, pinned: choice.pinned.has(tid(each)), states: each });
	const fits = searchOf(choice.filter).fits ?? (() => true);
	const groups = groupsOf(data, states, sorted(data, active, choice.sort, weights));
	const shown = groups.map((group) => ({
		...group,
		threads: group.threads.filter((each) => !choice.pinned.has(tid(each)) && (always.includes(each) || (!choice.hidden.has(tid(each)) && (!choice.filter || fits(data.head.threads[each]!.name) || fits(threadName(data, each)) || fits(`${group.title} ${group.key}`))))),
	}));
	const rows = active.filter((each) => choice.pinned.has(tid(each))).map(thread);

	for (const { key, title, detail, gpu, threads } of shown) {
		if (!threads.length)
			continue;
		const open = !choice.folded.has(key);

		// A process with one thread is that thread; of a GPU it is shown how busy it is.
		const headed = choice.grouped && shown.length > 1 && (threads.length > 1 || gpu || !open);

		if (headed)
			rows.push({ kind: 'group', key, title, detail, threads, open });
		rows.push(...threads.filter((each) => open || !headed || always.includes(each)).map(thread));
	}
	if (!choice.grouped)
		return [...rows.filter((row) => row.kind === 'thread' && row.pinned), ...sorted(data, rows.flatMap((row) => (row.kind === 'thread' && !row.pinned ? [row.thread] : [])), choice.sort, weights).map(thread), ...cpuRows(data, states, choice)];
	return [...rows, ...cpuRows(data, states, choice)];
}

// Closed at first: `folded` has it when it is open.
function cpuRows(data: StreamData, states: TimeStates, choice: RowChoice): LineRow[] {
	const first = data.head.threads.length;
	const open = choice.folded.has(CPUS);
	const cpus = states.cpus.map((cpu, place): LineRow => ({ kind: 'cpu', cpu, states: first + place }));

	if (!cpus.length || choice.filter)
		return [];
	return [{ kind: 'group', key: CPUS, title: cpus.length === 1 ? 'CPU' : 'CPUs', detail: String(cpus.length), threads: cpus.map((_, place) => first + place), open }, ...(open ? cpus : [])];
}

// The share of each of `bins` parts of a span in which rows run, summed over them.
export function usageOf(states: TimeStates, rows: number[], t0: number, t1: number, bins: number): Float32Array {
	const usage = new Float32Array(bins);
	const sums = new Float64Array(STATES.length);
	const bin = (t1 - t0) / bins;

	for (const row of rows) {
		let segment = states.at(row, t0);

		for (let i = 0; i < bins; i++) {
			const from = t0 + i * bin;
			const next = states.seek(row, segment, from + bin);

			if (next === segment)
				usage[i]! += segment >= 0 && states.state[segment] === RUNNING ? 1 : 0;
			else {
				states.between(row, from, segment, from + bin, next, sums);
				usage[i]! += sums[RUNNING]! / bin;
			}
			segment = next;
		}
	}
	return usage;
}
