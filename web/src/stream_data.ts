// A stream's events, thread by thread, in order of time; and what may be asked of them.
import type { Columns } from './columns';
import { FrameTable } from './frames';
import type { StreamHead } from './results';
import { finishTree, type StackTree } from './stack_tree';

export const RUN = 0;
export const WAIT = 1;
export const READY = 2; // a preemption
export const NONE = 0xffffffff;
const INTERRUPT = NONE - 1; // instead of a waker: no thread ended the wait

export type EventType = typeof RUN | typeof WAIT | typeof READY;

// Events of one type, sorted by thread, then by time. Columns that a recording lacks are null.
export interface EventList {
	t: Float64Array;
	cost: Float64Array;
	stack: Uint32Array;
	first: Uint32Array; // of thread i; one more than threads
	cpu: Uint32Array | null; // a sample: where it was; else where the thread went on
	behind: Uint32Array | null; // who had the processor while the thread was ready
	delay: Float64Array | null; // waits: on the run queue after it
	waker: Uint32Array | null;
	wakerStack: Uint32Array | null;
	state: Uint8Array | null; // waits: what for, a place in head.states
	object: Uint32Array | null; // waits: a place in head.objects plus 1
	holder: Uint32Array | null;
	context: Uint32Array | null; // the request: a place in head.contexts plus 1
}

export interface EventRef {
	type: EventType;
	place: number; // in its list
}

function readList(columns: Columns<StreamHead>, name: string): EventList {
	const wait = name === 'wait';
	const numbers = (column: string) => (columns.has(`${name}_${column}`) ? columns.u32(`${name}_${column}`) : null);

	return {
		t: columns.f64(`${name}_t`),
		cost: columns.f64(`${name}_cost`),
		stack: columns.u32(`${name}_stack`),
		first: columns.u32(`${name}_first`),
		cpu: numbers('cpu'),
		behind: numbers('behind'),
		delay: wait ? columns.f64('wait_delay') : null,
		waker: numbers('waker'),
		wakerStack: numbers('waker_stack'),
		state: wait ? columns.u8('wait_state') : null,
		object: numbers('object'),
		holder: numbers('holder'),
		context: numbers('context'),
	};
}

export class StreamData {
	readonly head: StreamHead;
	readonly table: FrameTable;
	readonly lists: [EventList, EventList, EventList];
	readonly parent: Uint32Array;
	readonly frame: Uint32Array;
	readonly path: { t: Float64Array; cost: Float64Array; type: Uint8Array; event: Uint32Array; thread: Uint32Array };

	constructor(columns: Columns<StreamHead>) {
		this.head = columns.head;
		this.table = new FrameTable(columns.head);
		this.lists = [readList(columns, 'run'), readList(columns, 'wait'), readList(columns, 'ready')];
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
			this.path.thread[i] = this.threadOf({ type: this.path.type[i]! as EventType, place: this.path.event[i]! });
		columns.forget();
	}

	threadOf(event: EventRef): number {
		const { first } = this.lists[event.type];

		return lastAtOrBefore(first, 0, first.length, event.place);
	}

	// The thread that ended a wait; -1: unknown.
	wakerOf(event: EventRef): number {
		return threadIn(this.lists[event.type].waker, event);
	}

	// Whether an interrupt or a timer ended a wait.
	isInterrupted({ type, place }: EventRef): boolean {
		return this.lists[type].waker?.[place] === INTERRUPT;
	}

	// The thread that held what was waited for; -1: unknown.
	holderOf(event: EventRef): number {
		return threadIn(this.lists[event.type].holder, event);
	}

	// The thread that had the processor while this one was ready; -1: unknown.
	behindOf(event: EventRef): number {
		return threadIn(this.lists[event.type].behind, event);
	}

	// What was waited for, `kind:name`; empty: unknown.
	objectOf({ type, place }: EventRef): string {
		const object = this.lists[type].object?.[place] ?? 0;

		return object ? this.head.objects[object - 1]! : '';
	}

	// The request that an event belonged to; empty: unknown.
	contextOf({ type, place }: EventRef): string {
		const context = this.lists[type].context?.[place] ?? 0;

		return context ? this.head.contexts[context - 1]! : '';
	}

	stackNames(node: number): string[] {
		const names: string[] = [];

		for (let at = node; at > 0; at = this.parent[at]!)
			names.push(this.head.names[this.frame[at]!]!);
		return names.reverse();
	}

	// What a thread did at a moment: the wait or preemption that covers it, else the sample that does.
	eventAt(thread: number, t: number, types: readonly EventType[] = [WAIT, READY, RUN]): EventRef | null {
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
}

function threadIn(column: Uint32Array | null, { place }: EventRef): number {
	const thread = column?.[place] ?? NONE;

	return thread >= INTERRUPT ? -1 : thread;
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
