// What a thread did, in words: for bars, tooltips and details.
import { duration } from './format';
import { culprit } from './frames';
import { isGpu } from './gpus';
import { RUN, type EventRef, type StreamData } from './stream_data';
import { QUEUED, RUNNING, STATES, type State, type TimeStates } from './time_states';

export const stateNames: Record<State, string> = {
	running: 'running', ready: 'ready', lock: 'lock', reply: 'reply', disk: 'disk', network: 'network', timer: 'timer', gil: 'GIL',
	page: 'memory', child: 'child', gpu: 'GPU', other: 'other wait', work: 'waiting for work', idle: 'idle', not_recorded: 'not recorded',
};

const causes: Record<State, string> = {
	running: '', ready: 'a processor', lock: 'a lock', reply: 'another thread', disk: 'the disk', network: 'the network', timer: 'a timer',
	gil: "the interpreter's lock (GIL)", page: 'memory (a page)', child: 'a child process', gpu: 'the GPU', other: 'something', work: 'work', idle: 'nothing: it is idle', not_recorded: '',
};

export function threadName(data: StreamData, thread: number): string {
	const { name, tid, pid } = data.head.threads[thread]!;

	return isGpu(pid) ? name : `${name || 'thread'} ${tid}`;
}

// What ended a wait; empty: it is not known.
export function wokenBy(data: StreamData, event: EventRef): string {
	const waker = data.wakerOf(event);

	if (data.isInterrupted(event))
		return 'an interrupt or a timer';
	if (waker >= 0)
		return threadName(data, waker);
	return data.lists[event.type].wakerStack?.[event.place] ? 'a thread that is not recorded' : '';
}

// The name of an object without its kind: `lock:folder_list` → folder_list; without an address that words explain.
export function objectName(object: string): string {
	return object.slice(object.indexOf(':') + 1).replace(/^0x[0-9a-f]+ (?=.)/, '');
}

export function objectKind(object: string): string {
	return object.slice(0, Math.max(object.indexOf(':'), 0));
}

// A lock that is waited for by other means, such as a socket that wakes: what that is says nothing.
const isByWay = (state: State, object: string) => state === 'lock' && objectKind(object) !== 'lock';

const articles: Record<string, string> = { lock: 'the lock', gil: 'the GIL of' };

// What a wait was for: "the lock folder_list", "the disk".
export function causeOf(data: StreamData, event: EventRef, state: State): string {
	const object = data.objectOf(event);
	const name = objectName(object);

	if (!object || isByWay(state, object))
		return causes[state];
	return name ? `${articles[objectKind(object)] ?? objectKind(object)} ${name}` : causes[state] || objectKind(object);
}

const functions = new WeakMap<StreamData, Map<number, string>>();

// The function to look at first in a stack; empty: it has none. Kept, since bars ask for it at each move.
export function functionOf(data: StreamData, stack: number): string {
	let known = functions.get(data);

	if (!known)
		functions.set(data, (known = new Map()));
	let name = known.get(stack);

	if (name === undefined)
		known.set(stack, (name = culprit(data.table.list(data.stackNames(stack)))?.name ?? ''));
	return name;
}

// The control group that was throttled longest while this was recorded; null: none was.
export function throttledGroup(data: StreamData): { path: string; ns: number } | null {
	const groups = Object.entries(data.head.attributes)
		.filter(([key, value]) => key.startsWith('throttled_ns ') && Number(value) > 0)
		.map(([key, value]) => ({ path: key.slice('throttled_ns '.length), ns: Number(value) }));

	return groups.sort((a, b) => b.ns - a.ns || b.path.length - a.path.length)[0] ?? null;
}

// Programs that had a processor while threads of this name were ready, the longest first.
export function neighboursOf(data: StreamData, name: string): { program: string; ns: number }[] {
	const begin = `behind_ns ${name} <- `;

	return Object.entries(data.head.attributes)
		.filter(([key]) => key.startsWith(begin))
		.map(([key, value]) => ({ program: key.slice(begin.length), ns: Number(value) }))
		.sort((a, b) => b.ns - a.ns);
}

// Who had the processor while a thread was ready, as far as it is known; empty: it is not.
export function readyReason(data: StreamData, event: EventRef): string {
	const behind = data.behindOf(event);

	if (behind >= 0)
		return `behind ${threadName(data, behind)}`;
	const throttled = throttledGroup(data);

	if (throttled)
		return `perhaps throttled: ${throttled.path}`;
	const neighbours = neighboursOf(data, data.head.threads[data.threadOf(event)]!.name);

	return neighbours[0] ? `often behind ${neighbours[0].program}` : '';
}

// The words in a bar, the most important first.
export function barWords(data: StreamData, states: TimeStates, row: number, segment: number): string {
	const state = states.state[segment]!;
	const event = states.eventOf(segment);
	const name = STATES[state]!;

	if (row >= data.head.threads.length) {
		const thread = states.threadOn(segment);

		return thread >= 0 ? threadName(data, thread) : '';
	}
	if (!event)
		return '';
	const where = functionOf(data, data.lists[event.type].stack[event.place]!);

	if (state === RUNNING)
		return event.type === RUN ? where : '';
	const length = duration(states.endOf(row, segment) - states.start[segment]!);

	if (state === QUEUED)
		return [`ready ${readyReason(data, event)}`.trim(), length].join(' · ');
	const holder = data.holderOf(event);
	const object = data.objectOf(event);
	const what = [stateNames[name], !isByWay(name, object) && objectName(object)].filter(Boolean).join(' ');

	return [name === 'lock' || name === 'gil' ? what : where ? `${where} · ${what}` : what, holder >= 0 && `held by ${threadName(data, holder)}`, length].filter(Boolean).join(' · ');
}
