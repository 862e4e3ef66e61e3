// From a wait to what ended it, and on: the waker, what that one had waited for meanwhile, and so forth.
import { lastAtOrBefore, RUN, WAIT, type EventRef, type StreamData } from './stream_data';

function endOf(data: StreamData, { type, place }: EventRef): number {
	const { t, cost } = data.lists[type];

	return t[place]! + cost[place]!;
}

// The last event of a type of a thread that begins at or before `t`; null: none.
function lastBegun(data: StreamData, type: typeof RUN | typeof WAIT, thread: number, t: number): EventRef | null {
	const list = data.lists[type];
	const from = list.first[thread]!;
	const to = list.first[thread + 1]!;

	return from === to || list.t[from]! > t ? null : { type, place: lastAtOrBefore(list.t, from, to, t) };
}

// What the thread that ended a wait did at that moment; where nothing was seen then, what it did last.
export function wakerEvent(data: StreamData, event: EventRef): EventRef | null {
	const thread = data.wakerOf(event);

	if (thread < 0)
		return null;
	const t = endOf(data, event);
	const found = data.eventAt(thread, t);

	if (found)
		return found;
	const run = lastBegun(data, RUN, thread, t);
	const wait = lastBegun(data, WAIT, thread, t);

	return !run || (wait && endOf(data, wait) > endOf(data, run)) ? wait : run;
}

// The last wait of the waker that ended while `event` went on: what kept the waker from waking it earlier.
export function waitOfWaker(data: StreamData, event: EventRef): EventRef | null {
	const thread = data.wakerOf(event);
	const begin = data.lists[event.type].t[event.place]!;
	const end = endOf(data, event);
	let wait = thread < 0 ? null : lastBegun(data, WAIT, thread, end);

	// The wait it is in at that moment began after the waking.
	if (wait && endOf(data, wait) > end)
		wait = wait.place > data.lists[WAIT].first[thread]! ? { type: WAIT, place: wait.place - 1 } : null;
	return wait && endOf(data, wait) > begin && endOf(data, wait) <= end ? wait : null;
}

// The wait before a sample, in its own thread: why it did not run earlier.
export function waitBefore(data: StreamData, event: EventRef): EventRef | null {
	const wait = lastBegun(data, WAIT, data.threadOf(event), data.lists[event.type].t[event.place]!);

	return wait && endOf(data, wait) <= data.lists[event.type].t[event.place]! ? wait : null;
}

// Where to go from an event: from a wait to its waker, from a sample to the wait before.
export function nextOnTheWay(data: StreamData, event: EventRef): EventRef | null {
	return event.type === WAIT ? wakerEvent(data, event) : waitBefore(data, event);
}

const LONGEST_CHAIN = 20;

// The wait, what its waker had waited for, and so on.
export function wakeChain(data: StreamData, event: EventRef): EventRef[] {
	const chain = [event];

	for (let next = waitOfWaker(data, event); next && chain.length < LONGEST_CHAIN; next = waitOfWaker(data, next))
		chain.push(next);
	return chain;
}
