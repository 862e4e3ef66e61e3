// A stream's events, thread by thread, in order of time; and what may be asked of them.
import type { Columns } from './columns';
import { Coverage } from './coverage';
import { FrameTable } from './frames';
import type { StreamHead, StreamSymptom } from './results';
import { finishTree, type StackTree } from './stack_tree';

export const RUN = 0;
export const WAIT = 1;
const NONE = 0xffffffff;

// Events of one type, sorted by thread, then by time.
export interface EventList {
	t: Float64Array;
	cost: Float64Array;
	delay: Float64Array | null; // waits: on the run queue after it
	stack: Uint32Array;
	first: Uint32Array; // of thread i; one more than threads
	waker: Uint32Array | null;
	wakerStack: Uint32Array | null;
}

export interface EventRef {
	type: typeof RUN | typeof WAIT;
	place: number; // in its list
}

export class StreamData {
	readonly head: StreamHead;
	readonly table: FrameTable;
	readonly lists: [EventList, EventList];
	readonly parent: Uint32Array;
	readonly frame: Uint32Array;
	readonly path: { t: Float64Array; cost: Float64Array; type: Uint8Array; event: Uint32Array; thread: Uint32Array };
	readonly coverage: { run: Coverage; wait: Coverage; queue: Coverage };

	constructor(columns: Columns<StreamHead>) {
		const list = (name: string, wait: boolean): EventList => ({
			t: columns.f64(`${name}_t`),
			cost: columns.f64(`${name}_cost`),
			delay: wait ? columns.f64(`${name}_delay`) : null,
			stack: columns.u32(`${name}_stack`),
			first: columns.u32(`${name}_first`),
			waker: wait ? columns.u32(`${name}_waker`) : null,
			wakerStack: wait ? columns.u32(`${name}_waker_stack`) : null,
		});

		this.head = columns.head;
		this.table = new FrameTable(columns.head.modules, columns.head.plumbing);
		this.lists = [list('run', false), list('wait', true)];
		this.parent = columns.u32('node_parent');
		this.frame = columns.u32('node_frame');
		this.path = {
			t: columns.f64('path_t'),
			cost: columns.f64('path_cost'),
			type: columns.u8('path_type'),
			event: columns.u32('path_event'),
			thread: columns.u32('path_event').slice(),
		};
		for (let i = 0; i < this.path.thread.length; i++)
			this.path.thread[i] = this.threadOf({ type: this.path.type[i]! as typeof RUN | typeof WAIT, place: this.path.event[i]! });
		const [run, wait] = this.lists;

		this.coverage = {
			run: new Coverage(run.t, (i) => run.t[i]! + run.cost[i]!, run.first),
			wait: new Coverage(wait.t, (i) => wait.t[i]! + wait.cost[i]!, wait.first),
			queue: queueCoverage(wait),
		};
		columns.forget();
	}

	threadOf(event: EventRef): number {
		const { first } = this.lists[event.type];

		return lastAtOrBefore(first, 0, first.length, event.place);
	}

	// The thread that ended a wait; -1: unknown.
	wakerOf(event: EventRef): number {
		const waker = this.lists[event.type].waker?.[event.place] ?? NONE;

		return waker === NONE ? -1 : waker;
	}

	stackNames(node: number): string[] {
		const names: string[] = [];

		for (let at = node; at > 0; at = this.parent[at]!)
			names.push(this.head.names[this.frame[at]!]!);
		return names.reverse();
	}

	// What a thread did at a moment: the wait that covers it, else the sample that does.
	eventAt(thread: number, t: number, types: readonly (typeof RUN | typeof WAIT)[] = [WAIT, RUN]): EventRef | null {
		for (const type of types) {
			const list = this.lists[type];
			const from = list.first[thread]!;
			const to = list.first[thread + 1]!;

			if (from === to || list.t[from]! > t)
				continue;
			const place = lastAtOrBefore(list.t, from, to, t);

			if (t <= list.t[place]! + list.cost[place]! + (list.delay?.[place] ?? 0))
				return { type, place };
		}
		return null;
	}

	// Time by stack, of some threads and a span of time. Parts of events count.
	tree(type: typeof RUN | typeof WAIT | 'both', threads: number[], t0: number, t1: number): StackTree {
		const self = new Float64Array(this.parent.length);

		for (const each of type === 'both' ? ([RUN, WAIT] as const) : [type]) {
			const list = this.lists[each];

			for (const thread of threads) {
				for (let i = list.first[thread]!; i < list.first[thread + 1]!; i++) {
					const part = Math.min(list.t[i]! + list.cost[i]!, t1) - Math.max(list.t[i]!, t0);

					if (part > 0)
						self[list.stack[i]!]! += part;
				}
			}
		}
		return usedTree(this.head.names, this.parent, this.frame, self);
	}
}

// The critical path of a symptom as a tree, within a span of time.
export function pathTree(data: StreamData, symptom: StreamSymptom, type: typeof RUN | typeof WAIT | 'both', t0: number, t1: number): StackTree {
	const self = new Float64Array(data.parent.length);

	for (let i = symptom.path_first; i < symptom.path_first + symptom.path_count; i++) {
		const kind = data.path.type[i]! as typeof RUN | typeof WAIT;
		const part = Math.min(data.path.t[i]! + data.path.cost[i]!, t1) - Math.max(data.path.t[i]!, t0);

		if (part > 0 && (type === 'both' || type === kind))
			self[data.lists[kind].stack[data.path.event[i]!]!]! += part;
	}
	return usedTree(data.head.names, data.parent, data.frame, self);
}

// The time on the run queue after waits, where there was any.
function queueCoverage({ t, cost, delay, first }: EventList): Coverage {
	const kept = delay!.reduce((sum, each) => sum + (each > 0 ? 1 : 0), 0);
	const start = new Float64Array(kept);
	const end = new Float64Array(kept);
	const firsts = new Uint32Array(first.length);
	let place = 0;

	for (let thread = 0; thread + 1 < first.length; thread++) {
		firsts[thread] = place;
		for (let i = first[thread]!; i < first[thread + 1]!; i++) {
			if (!(delay![i]! > 0))
				continue;
			const from = t[i]! + cost[i]!;

			// Waits of a thread rarely overlap; where they do, starts must still be in order.
			start[place] = place > firsts[thread]! ? Math.max(from, start[place - 1]!) : from;
			end[place] = Math.max(from + delay![i]!, start[place]!);
			place++;
		}
	}
	firsts[first.length - 1] = place;
	return new Coverage(start, (i) => end[i]!, firsts);
}

// The last place in values[from..to) whose value is at most `wanted`; `from` when there is none.
export function lastAtOrBefore(values: ArrayLike<number>, from: number, to: number, wanted: number): number {
	while (to - from > 1) {
		const middle = (from + to) >> 1;

		if (values[middle]! <= wanted)
			from = middle;
		else
			to = middle;
	}
	return from;
}

// Only the nodes that have a value, or something below that has one. Node 0 is the empty stack.
export function usedTree(names: string[], parent: ArrayLike<number>, frame: ArrayLike<number>, self: Float64Array): StackTree {
	const used = new Uint8Array(parent.length);
	const numbers = new Int32Array(parent.length).fill(-1);
	let kept = 0;

	for (let node = parent.length - 1; node > 0; node--) {
		if (self[node]! > 0)
			used[node] = 1;
		if (used[node])
			used[parent[node]!] = 1;
	}
	for (let node = 1; node < parent.length; node++)
		if (used[node])
			numbers[node] = kept++;
	const parents = new Int32Array(kept);
	const frames = new Int32Array(kept);
	const values = new Float64Array(kept);

	for (let node = 1; node < parent.length; node++) {
		const number = numbers[node]!;

		if (number < 0)
			continue;
		parents[number] = parent[node]! > 0 ? numbers[parent[node]!]! : -1;
		frames[number] = frame[node]!;
		values[number] = self[node]!;
	}
	return finishTree(names, parents, frames, values);
}
