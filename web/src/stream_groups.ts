// Streams by time, host or any attribute: groups of them, and which ones are later than a point.
import { compareTexts } from './format';
import type { InfoStream } from './results';

export const TIME = 'time';
export const HOST = 'host';

const MAX_GROUPS = 24; // more values than this are put together
const BINS = 12;

export type Value = string | number | null;

export function valueOf(stream: InfoStream, key: string): Value {
	if (key === TIME)
		return stream.added ?? null;
	if (key === HOST)
		return stream.host || null;
	const value = stream.attrs[key];

	return value === undefined ? null : typeof value === 'number' ? value : String(value);
}

// Numbers by size, text as people count. What is unknown comes first.
export function compareValues(a: Value, b: Value): number {
	if (a === null || b === null)
		return Number(a !== null) - Number(b !== null);
	return typeof a === 'number' && typeof b === 'number' ? a - b : compareTexts(String(a), String(b));
}

// What the recorder counted or noted of processes and groups ("behind_ns ui <- x", "command 17"): facts for findings, not for
// people to compare.
export function isNote(key: string): boolean {
	return /[ /]/.test(key);
}

// What streams differ in: the time, the host, and attributes with more than one value.
export function keysOf(streams: InfoStream[]): string[] {
	const keys = [TIME, HOST, ...new Set(streams.flatMap(({ attrs }) => Object.keys(attrs)))].filter((key) => !isNote(key));

	return keys.filter((key) => new Set(streams.map((stream) => valueOf(stream, key))).size > 1);
}

const FEW_VALUES = 6;

// What to group by unless the user chooses: versions, else what has a few values, else the time.
export function usualKey(streams: InfoStream[], keys: string[]): string {
	const few = (key: string) => key !== TIME && key !== HOST && new Set(streams.map((stream) => valueOf(stream, key))).size <= Math.min(FEW_VALUES, streams.length / 2);

	return keys.find((key) => key === 'version') ?? keys.find(few) ?? keys[0]!;
}

export function isNumeric(streams: InfoStream[], key: string): boolean {
	return streams.every((stream) => typeof valueOf(stream, key) !== 'string');
}

export function valueText(key: string, value: Value): string {
	if (value === null)
		return 'not known';
	if (key !== TIME)
		return String(value);
	return new Date(Number(value) * 1000).toISOString().replace('T', ' ').slice(0, 19);
}

export interface StreamGroup {
	text: string;
	from: Value; // its least value
	streams: InfoStream[];
}

// By value; numbers with very many values by twelve parts of about the same size.
export function groupsOf(streams: InfoStream[], key: string): StreamGroup[] {
	const sorted = [...streams].sort((a, b) => compareValues(valueOf(a, key), valueOf(b, key)));
	const byValue: InfoStream[][] = [];

	for (const stream of sorted) {
		const last = byValue.at(-1);

		if (last && valueOf(last[0]!, key) === valueOf(stream, key))
			last.push(stream);
		else
			byValue.push([stream]);
	}
	const text = (stream: InfoStream) => valueText(key, valueOf(stream, key));

	if (byValue.length <= MAX_GROUPS || !isNumeric(streams, key))
		return byValue.map((group) => ({ text: text(group[0]!), from: valueOf(group[0]!, key), streams: group }));
	const groups: StreamGroup[] = [];
	const size = streams.length / BINS;
	let filling: InfoStream[] = [];

	byValue.forEach((group, place) => {
		filling = [...filling, ...group];
		if (filling.length >= size || place === byValue.length - 1) {
			groups.push({ text: `${text(filling[0]!)} to ${text(filling.at(-1)!)}`, from: valueOf(filling[0]!, key), streams: filling });
			filling = [];
		}
	});
	return groups;
}
