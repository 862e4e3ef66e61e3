// What is in a corpus: its streams with their attributes and delays, each a way into its time line.
import { useMemo, useState } from 'preact/hooks';

import { count, duration, plural } from '../format';
import { Help } from '../parts/help';
import { Table, type Column } from '../parts/table';
import { blocks } from '../page_data';
import { link } from '../route';

type Value = string | number | boolean;

interface StreamInfo {
	id: string;
	name: string;
	host: string;
	events: { run: number; wait: number; call: number };
	cost_ns: { run: number; wait: number };
	first_t: number;
	last_t: number;
	attrs: Record<string, Value>;
	threads: unknown[];
	symptoms: { name: string; t0: number; t1: number }[];
	timeline: { slice_ns: number; run_ns: number[]; wait_ns: number[] } | null;
}

export interface InfoResult {
	events: { run: number; wait: number; call: number };
	cost_ns: { run: number; wait: number };
	threads: number;
	symptoms: number;
	stacks: number;
	streams: StreamInfo[];
}

function delayOf(stream: StreamInfo): number {
	return stream.symptoms.reduce((sum, { t0, t1 }) => sum + t1 - t0, 0);
}

// CPU time in slices of the stream, as a line of bars.
function Sparkline({ stream }: { stream: StreamInfo }) {
	const runs = stream.timeline?.run_ns ?? [];
	const most = Math.max(...runs, 1);

	return (
		<svg class="sparkline" viewBox={`0 0 ${runs.length} 10`} preserveAspectRatio="none" role="img" aria-label="CPU time from start to end">
			{runs.map((run, slice) => run > 0 && <rect x={slice} y={10 - (run / most) * 10} width="1" height={(run / most) * 10} />)}
		</svg>
	);
}

function columnsOf(keys: string[]): Column<StreamInfo>[] {
	return [
		{
			key: 'name', title: 'Stream', value: (row) => row.name,
			cell: (row) => (blocks.value.has(`stream/${row.id}`) ? <a href={link('stream', [row.id])}><bdi>{row.name}</bdi></a> : <bdi>{row.name}</bdi>),
		},
		{ key: 'host', title: 'Host', value: (row) => row.host, cell: (row) => <bdi>{row.host}</bdi> },
		...keys.map((key): Column<StreamInfo> => ({
			key: `attribute ${key}`, title: key, value: (row) => (typeof row.attrs[key] === 'number' ? row.attrs[key] : String(row.attrs[key] ?? '')),
			cell: (row) => <bdi>{String(row.attrs[key] ?? '')}</bdi>,
		})),
		{ key: 'delay', title: 'Delay', number: true, help: 'The length of its symptoms', value: delayOf, cell: (row) => duration(delayOf(row)) },
		{ key: 'run', title: 'CPU time', number: true, value: (row) => row.cost_ns.run, cell: (row) => duration(row.cost_ns.run) },
		{ key: 'span', title: 'Length', number: true, value: (row) => row.last_t - row.first_t, cell: (row) => duration(row.last_t - row.first_t) },
		{ key: 'events', title: 'Events', number: true, value: (row) => row.events.run + row.events.wait + row.events.call, cell: (row) => count(row.events.run + row.events.wait + row.events.call) },
		{ key: 'line', title: 'CPU over time', value: () => 0, cell: (row) => <Sparkline stream={row} /> },
	];
}

const MOST_ATTRIBUTES = 6;

function fits(stream: StreamInfo, wanted: string): boolean {
	const texts = [stream.name, stream.host, stream.id, ...Object.entries(stream.attrs).map(([key, value]) => `${key}=${value}`)];

	return wanted.split(/\s+/).every((word) => texts.some((text) => text.toLowerCase().includes(word)));
}

export function Overview({ result }: { result: InfoResult }) {
	const [wanted, setWanted] = useState('');
	const keys = useMemo(() => [...new Set(result.streams.flatMap(({ attrs }) => Object.keys(attrs)))].slice(0, MOST_ATTRIBUTES), [result]);
	const columns = useMemo(() => columnsOf(keys), [keys]);
	const rows = result.streams.filter((stream) => !wanted.trim() || fits(stream, wanted.trim().toLowerCase()));
	const delay = result.streams.reduce((sum, stream) => sum + delayOf(stream), 0);
	const shown = result.streams.filter(({ id }) => blocks.value.has(`stream/${id}`)).length;

	return (
		<>
			<Help words={['stream', 'symptom']}>
				{plural(result.streams.length, 'stream')}, {plural(result.threads, 'thread')}, {plural(result.events.run, 'sample')} and{' '}
				{plural(result.events.wait, 'wait')} in {plural(result.stacks, 'distinct stack')}; {plural(result.symptoms, 'symptom')} of {duration(delay)} in all.
				{shown < result.streams.length && <> Time lines of {count(shown)} of them are in this file.</>}
			</Help>
			<input type="search" placeholder="Name, host or key=value" aria-label="Only streams with this name, host or attribute" value={wanted}
				onInput={(event) => setWanted(event.currentTarget.value)} />
			<Table columns={columns} rows={rows} label="Streams" sortBy="delay" rowKey={(row) => row.id} shown={50} />
		</>
	);
}
