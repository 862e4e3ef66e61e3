// What the link of a stream says: the selected event and time, the part in view, the threads, the rows, the tab and its tree.
import type { Span } from './parts/time_gestures';
import { kinds, type Kind } from './selection_tree';
import { READY, RUN, WAIT, type EventRef, type EventType, type StreamData } from './stream_data';
import { sorts, type RowChoice, type Sort } from './time_rows_list';
import { transformsOf, type Transform } from './transforms';

const typeNames = ['run', 'wait', 'ready'];

// The link of an event. Its time is as the stream has it, which is too large for a number.
export function placeOf(data: StreamData, event: EventRef | null): Record<string, string> {
	if (!event)
		return { at: '', tid: '', kind: '' };
	return {
		at: String(BigInt(data.head.start_ns) + BigInt(Math.round(data.lists[event.type].t[event.place]!))),
		tid: String(data.head.threads[data.threadOf(event)]!.tid),
		kind: typeNames[event.type]!,
	};
}

export function sinceStart(data: StreamData, text: string | null): number {
	return text && /^\d+$/.test(text) ? Number(BigInt(text) - BigInt(data.head.start_ns)) : NaN;
}

// What a link has as `view` that leads to an event from elsewhere: the part of the stream around it.
export const AT_EVENT = 'at';

// The event that a link names.
export function eventOf(data: StreamData, query: URLSearchParams): EventRef | null {
	const at = sinceStart(data, query.get('at'));
	const tid = Number(query.get('tid') ?? NaN);
	const type = typeNames.indexOf(query.get('kind') ?? '');
	const types: readonly EventType[] = type >= 0 ? [type as EventType] : [WAIT, READY, RUN];

	for (const [thread, each] of data.head.threads.entries()) {
		const found = each.tid === tid && at >= 0 ? data.eventAt(thread, at, types) : null;

		if (found)
			return found;
	}
	return null;
}

// A span in a link, in nanoseconds from the start.
export function spanOf(text: string | null): Span | null {
	const [t0, t1] = (text ?? '').split('-').map(Number);

	return text && t1! > t0! ? { t0: t0!, t1: t1! } : null;
}

export function spanText(span: Span | null): string {
	return span ? `${Math.round(span.t0)}-${Math.round(span.t1)}` : '';
}

const list = (text: string | null) => (text ?? '').split(',').filter(Boolean);

export function rowChoiceOf(query: URLSearchParams): RowChoice {
	const sort = query.get('sort') ?? '';

	return {
		filter: query.get('filter') ?? '',
		sort: sort in sorts ? (sort as Sort) : 'activity',
		grouped: query.get('flat') !== '1',
		folded: new Set(list(query.get('fold'))),
		pinned: new Set(list(query.get('pin')).map(Number)),
		hidden: new Set(list(query.get('hide')).map(Number)),
		idle: query.get('all') === '1',
	};
}

// A list in a link with one of its parts switched on or off.
export function toggled(list: Set<string | number>, part: string | number): string {
	const next = new Set(list);

	if (!next.delete(part))
		next.add(part);
	return [...next].join(',');
}

export const tabs = { flame: 'Flame graph', tree: 'Call tree', inverted: 'Inverted', functions: 'Functions', waits: 'Waits and wakers', path: 'Critical path', source: 'Source' } as const;
export type Tab = keyof typeof tabs;

export interface PaneChoice {
	tab: Tab;
	kind: Kind;
	all: boolean; // idle waits and plumbing, too
	find: string;
	transforms: Transform[];
}

export function paneChoiceOf(query: URLSearchParams): PaneChoice {
	const tab = query.get('tab') ?? '';
	const kind = query.get('time') ?? '';

	return {
		tab: tab in tabs ? (tab as Tab) : 'flame',
		kind: kind in kinds ? (kind as Kind) : 'all',
		all: query.get('all') === '1',
		find: query.get('find') ?? '',
		transforms: transformsOf(query.get('do')),
	};
}

export function threadsOf(data: StreamData, text: string | null): Set<number> {
	const tids = new Set(list(text).map(Number));

	return new Set([...data.head.threads.keys()].filter((thread) => tids.has(data.head.threads[thread]!.tid)));
}

// What a link asks for and the stream does not have, as a sentence; empty: it has all.
export function missingOf(data: StreamData, query: URLSearchParams): string {
	const tids = new Set(data.head.threads.map(({ tid }) => tid));
	const strangers = list(query.get('threads')).filter((tid) => !tids.has(Number(tid)));

	if (query.get('at') && query.get('tid') && !eventOf(data, query))
		return `This link names an event of thread ${query.get('tid')} that is not in this stream.`;
	if (query.get('span') && !spanOf(query.get('span')))
		return `This link names a time that cannot be read: ${query.get('span')}.`;
	return strangers.length ? `This link names threads that are not in this stream: ${strangers.join(', ')}.` : '';
}
