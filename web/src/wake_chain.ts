// From a wait to what ended it, and on: the waker, what that one had waited for meanwhile, and so forth.
import type { StreamSymptom } from './results';
import { lastAtOrBefore, READY, RUN, WAIT, type EventRef, type EventType, type StreamData } from './stream_data';

function endOf(data: StreamData, { type, place }: EventRef): number {
	const { t, cost } = data.lists[type];

	return t[place]! + cost[place]!;
}

// The last event of a type of a thread that begins at or before `t`; null: none.
function lastBegun(data: StreamData, type: EventType, thread: number, t: number): EventRef | null {
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

// The longest of what a thread did in a span of time, and how long all of that type took.
function longestOf(data: StreamData, type: EventType, thread: number, begin: number, end: number): { event: EventRef; sum: number } | null {
	const { t, cost, first } = data.lists[type];
	let longest = 0;
	let sum = 0;
	let found: EventRef | null = null;

	for (let place = lastAtOrBefore(t, first[thread]!, first[thread + 1]!, begin); place < first[thread + 1]! && t[place]! < end; place++) {
		const part = Math.min(t[place]! + cost[place]!, end) - Math.max(t[place]!, begin);

		if (part <= 0)
			continue;
		sum += part;
		if (part > longest)
			[longest, found] = [part, { type, place }];
	}
	return found && { event: found, sum };
}

// What the thread that held it did for most of a wait; null: nothing is known of it.
export function holderEvent(data: StreamData, event: EventRef): EventRef | null {
	const thread = data.holderOf(event);
	const types: EventType[] = [RUN, WAIT, READY];
	const parts = thread < 0 ? [] : types.flatMap((type) => longestOf(data, type, thread, data.lists[event.type].t[event.place]!, endOf(data, event)) ?? []);

	return parts.sort((a, b) => b.sum - a.sum)[0]?.event ?? null;
}

// What the thread that held it, or ended it, waited for while `event` went on, the longest of that: what kept it from being over
// earlier. The wait in which it is at the end began after the waking.
function waitBehind(data: StreamData, event: EventRef): EventRef | null {
	const holder = data.holderOf(event);
	const thread = holder >= 0 ? holder : data.wakerOf(event);
	const end = endOf(data, event);
	const found = thread < 0 ? null : longestOf(data, WAIT, thread, data.lists[event.type].t[event.place]!, end);

	return found && (holder >= 0 || endOf(data, found.event) <= end) ? found.event : null;
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

const isIn = (chain: EventRef[], { type, place }: EventRef) => chain.some((each) => each.type === type && each.place === place);

// The wait, what whoever held it or ended it had waited for, and so on.
export function wakeChain(data: StreamData, event: EventRef): EventRef[] {
	const chain = [event];

	for (let next = waitBehind(data, event); next && chain.length < LONGEST_CHAIN && !isIn(chain, next); next = waitBehind(data, next))
		chain.push(next);
	return chain;
}

// How much of a symptom's critical path lies in a wait: in itself, or in what those behind it did meanwhile. No more than that
// can be gained if nobody ever has to wait there. The path goes through a wait if it goes on in its thread at its end.
export function timeOnPath(data: StreamData, event: EventRef, { path_first: first, path_count: count }: StreamSymptom): number {
	const threads = new Set(wakeChain(data, event).flatMap((each) => [data.threadOf(each), data.wakerOf(each), data.holderOf(each)]));
	const begin = data.lists[event.type].t[event.place]!;
	const end = endOf(data, event);
	const { t, cost, thread, type, event: places } = data.path;
	let sum = 0;
	let isOn = false;

	for (let i = lastAtOrBefore(t, first, first + count, begin); count && i < first + count && t[i]! <= end; i++) {
		const part = Math.min(t[i]! + cost[i]!, end) - Math.max(t[i]!, begin);

		isOn ||= (type[i] === event.type && places[i] === event.place) || (t[i]! <= end && end < t[i]! + cost[i]! && thread[i] === data.threadOf(event));
		if (part > 0 && threads.has(thread[i]!))
			sum += part;
	}
	return isOn ? sum : 0;
}
