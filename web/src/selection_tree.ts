// Time by stack of what is selected: some threads, or the critical path of a symptom, within a span of time. Below the stack
// of a wait is what it was for.
import { isMachinery } from './frames';
import type { StreamSymptom } from './results';
import { objectName, stateNames } from './state_words';
import type { StackTree } from './stack_tree';
import { lastAtOrBefore, READY, RUN, usedTree, WAIT, type EventType, type StreamData } from './stream_data';
import { STATES, type State } from './time_states';

export const kinds = { all: 'All', run: 'On-CPU', ready: 'Ready', wait: 'Off-CPU' } as const;
export type Kind = keyof typeof kinds;

export interface Chosen {
	t0: number;
	t1: number;
	kind: Kind;
	threads: number[];
	symptom: StreamSymptom | null; // its critical path instead
	idle: boolean; // waits of idle threads and for work, too, and all frames
}

// One wait, sample or preemption, as far as it is selected.
export interface Piece {
	type: EventType;
	place: number;
	state: State;
	t: number;
	cost: number;
}

function isIdle(state: State): boolean {
	return state === 'idle' || state === 'work';
}

export function stateOfWait(data: StreamData, place: number): State {
	return (data.head.states[data.lists[WAIT].state![place]!] as State | undefined) ?? 'other';
}

// The parts of an event within a span: a wait is blocked, then ready.
function visitEvent(data: StreamData, type: EventType, place: number, t0: number, t1: number, { kind, idle }: Chosen, visit: (piece: Piece) => void): void {
	const list = data.lists[type];
	const begin = list.t[place]!;
	const end = begin + list.cost[place]!;
	const give = (state: State, from: number, to: number) => {
		const t = Math.max(from, t0);

		if (Math.min(to, t1) > t)
			visit({ type, place, state, t, cost: Math.min(to, t1) - t });
	};

	if (type === RUN) {
		if (kind === 'all' || kind === 'run')
			give('running', begin, end);
		return;
	}
	const ready = kind === 'all' || kind === 'ready';

	if (type === READY) {
		if (ready)
			give('ready', begin, end);
		return;
	}
	const state = stateOfWait(data, place);

	if ((kind === 'all' || kind === 'wait') && (idle || !isIdle(state)))
		give(state, begin, end);
	if (ready)
		give('ready', end, end + list.delay![place]!);
}

export function visitPieces(data: StreamData, chosen: Chosen, visit: (piece: Piece) => void): void {
	const { t0, t1, symptom } = chosen;

	if (symptom) {
		for (let i = symptom.path_first; i < symptom.path_first + symptom.path_count; i++) {
			const from = Math.max(data.path.t[i]!, t0);
			const to = Math.min(data.path.t[i]! + data.path.cost[i]!, t1);

			if (to > from)
				visitEvent(data, data.path.type[i]! as EventType, data.path.event[i]!, from, to, { ...chosen, idle: true }, visit);
		}
		return;
	}
	for (const type of [RUN, WAIT, READY] as const) {
		const { t, first } = data.lists[type];

		for (const thread of chosen.threads) {
			const end = first[thread + 1]!;

			// Events may overlap, so an earlier one may reach into the span: all are looked at, those after it are not.
			for (let i = first[thread]!, last = end > i ? lastAtOrBefore(t, i, end, t1) : -1; i <= last; i++)
				visitEvent(data, type, i, t0, t1, chosen, visit);
		}
	}
}

export interface SelectionTree {
	tree: StackTree;
	states: Map<string, State>; // of frames that say what was waited for
}

// The stack of a wait without the functions that only wait for their caller: the kernel's and the C library's. What it
// waits for is said below it.
function callersOfWaits(data: StreamData): (stack: number) => number {
	const known = new Map<number, number>();

	return (stack) => {
		let caller = known.get(stack);

		if (caller === undefined) {
			caller = stack;
			while (caller > 0 && isMachinery(data.table.get(data.head.names[data.frame[caller]!]!)))
				caller = data.parent[caller]!;
			known.set(stack, (caller = caller || stack));
		}
		return caller;
	};
}

const STACK = 2 ** 21; // more than there are causes
const STATE = 2 ** 17; // more than there are objects, as a rule: others share

export function selectionTree(data: StreamData, chosen: Chosen): SelectionTree {
	const self: number[] = Array(data.parent.length).fill(0);
	const parent: number[] = Array.from(data.parent);
	const frame: number[] = Array.from(data.frame);
	const names = [...data.head.names];
	const numbers = new Map<string, number>();
	const states = new Map<string, State>();
	const leaves = new Map<number, number>(); // by stack and cause: its node
	const add = (stack: number, name: string, state: State): number => {
		let number = numbers.get(name);

		if (number === undefined) {
			numbers.set(name, (number = names.push(name) - 1));
			states.set(name, state);
		}
		frame.push(number);
		self.push(0);
		return parent.push(stack) - 1;
	};

	const callerOf = chosen.idle ? (stack: number) => stack : callersOfWaits(data);

	visitPieces(data, chosen, ({ type, place, state, cost }) => {
		const own = data.lists[type].stack[place]!;
		const stack = state === 'running' ? own : callerOf(own);
		const object = (type === WAIT && state !== 'ready' && data.lists[WAIT].object?.[place]) || 0;

		if (state === 'running' && stack) {
			self[stack]! += cost;
			return;
		}
		const key = stack * STACK + STATES.indexOf(state) * STATE + Math.min(object, STATE - 1);
		let leaf = leaves.get(key);

		if (leaf === undefined) {
			const name = state === 'running' ? 'runs, without a stack' : state === 'ready' ? 'ready: no processor' : `waits: ${[stateNames[state], object && objectName(data.head.objects[object - 1]!)].filter(Boolean).join(' ')}`;

			leaves.set(key, (leaf = add(stack, name, state)));
		}
		self[leaf]! += cost;
	});
	return { tree: usedTree(names, parent, frame, Float64Array.from(self)), states };
}
