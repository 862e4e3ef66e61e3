// What is in a corpus: what costs most, what is new, its streams by time, host or any attribute.
import { useMemo, useState } from 'preact/hooks';

import { count, duration, percent, plural, probability, signed } from '../format';
import type { Frame } from '../frames';
import { changesOf, type ClusterChange } from '../new_clusters';
import { blocks, isServed, useBlock } from '../page_data';
import { Bar } from '../parts/bar';
import { FrameName } from '../parts/frame_list';
import { Help } from '../parts/help';
import { Reading } from '../parts/reading';
import { Scatter, type ScatterData } from '../parts/scatter';
import { Table, type Column } from '../parts/table';
import { link, replaceQuery, route } from '../route';
import { compareValues, groupsOf, isNumeric, keysOf, TIME, valueOf, valueText, type StreamGroup, type Value } from '../stream_groups';
import { makeModel, type MineResult } from './clusters';
import type { CoverageResult } from './coverage';

export interface StreamInfo {
	id: string;
	name: string;
	host: string;
	events: { run: number; wait: number; call: number };
	cost_ns: { run: number; wait: number };
	first_t: number;
	last_t: number;
	added?: number; // seconds since 1970: when it came into the corpus
	attrs: Record<string, string | number | boolean>;
	symptoms: { name: string; t0: number; t1: number }[];
	timeline?: { slice_ns: number; run_ns: number[]; wait_ns: number[] };
}

export interface InfoResult {
	path: string;
	events: { run: number; wait: number; call: number };
	cost_ns: { run: number; wait: number };
	threads: number;
	symptoms: number;
	stacks?: number; // unknown at first
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

function StreamName({ stream }: { stream: StreamInfo }) {
	return blocks.value.has(`stream/${stream.id}`) ? <a href={link('stream', [stream.id])}><bdi>{stream.name}</bdi></a> : <bdi>{stream.name}</bdi>;
}

function columnsOf(keys: string[]): Column<StreamInfo>[] {
	return [
		{
			key: 'name', title: 'Stream', value: (row) => row.name,
			cell: (row) => <StreamName stream={row} />,
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

// Delay where symptoms are known, else CPU time.
interface Measure {
	name: string;
	of: (stream: StreamInfo) => number;
}

function measureOf(result: InfoResult): Measure {
	return result.symptoms > 0 ? { name: 'delay', of: delayOf } : { name: 'CPU time', of: (stream) => stream.cost_ns.run };
}

function groupColumns(key: string, measure: Measure, most: number): Column<StreamGroup>[] {
	const mean = ({ streams }: StreamGroup) => streams.reduce((sum, stream) => sum + measure.of(stream), 0) / streams.length;
	const longest = ({ streams }: StreamGroup) => streams.reduce((most, stream) => Math.max(most, measure.of(stream)), 0);

	return [
		{ key: 'value', title: key, value: (row) => row.text, order: (a, b) => compareValues(a.from, b.from), cell: (row) => <bdi>{row.text}</bdi> },
		{ key: 'streams', title: 'Streams', number: true, value: (row) => row.streams.length, cell: (row) => count(row.streams.length) },
		{
			key: 'mean', title: `Mean ${measure.name}`, number: true, value: mean, help: 'A stream; a full bar is the largest of these groups',
			cell: (row) => <span class="share"><Bar share={mean(row) / (most || 1)} />{duration(mean(row))}</span>,
		},
		{ key: 'longest', title: 'Longest', number: true, value: longest, cell: (row) => duration(longest(row)) },
		{ key: 'hosts', title: 'Hosts', number: true, value: (row) => new Set(row.streams.map(({ host }) => host)).size },
	];
}

// A stream each, over time or another number; a point leads into its stream.
function OverNumber({ streams, by, measure }: { streams: StreamInfo[]; by: string; measure: Measure }) {
	const [point, setPoint] = useState(-1);
	const known = useMemo(() => streams.filter((stream) => typeof valueOf(stream, by) === 'number'), [streams, by]);
	const data = useMemo<ScatterData>(
		() => ({
			x: known.map((stream) => valueOf(stream, by) as number), y: known.map(measure.of), cluster: known.map(() => 0), curves: [], logarithmic: false,
			xName: by, yName: measure.name, xText: (x) => (by === TIME ? valueText(by, x).slice(5, 16) : Number(x.toPrecision(4)).toLocaleString('en-US')), yText: duration,
		}),
		[known],
	);
	const stream = known[point];

	return (
		<>
			<Scatter data={data} only={null} selected={point < known.length ? point : -1} onSelect={setPoint} />
			{stream ? (
				<p class="flame-details" aria-live="polite">
					Stream <StreamName stream={stream} />: <bdi>{by}</bdi> {valueText(by, valueOf(stream, by))}, {measure.name} <b>{duration(measure.of(stream))}</b>
				</p>
			) : (
				<p class="dim flame-details">Point at a stream, or press the arrow keys, to see which one it is.</p>
			)}
		</>
	);
}

function ByAttribute({ result, keys }: { result: InfoResult; keys: string[] }) {
	const chosen = route.value.query.get('by');
	const by = chosen && keys.includes(chosen) ? chosen : keys.find((key) => key === 'version') ?? keys[0]!;
	const measure = useMemo(() => measureOf(result), [result]);
	const groups = useMemo(() => groupsOf(result.streams, by), [result, by]);
	const most = Math.max(...groups.map(({ streams }) => streams.reduce((sum, stream) => sum + measure.of(stream), 0) / streams.length));

	return (
		<section aria-label="Streams by attribute">
			<h2>
				<label>
					Streams by{' '}
					<select value={by} onChange={(event) => replaceQuery({ by: event.currentTarget.value })}>
						{keys.map((key) => <option value={key}>{key === TIME ? 'time added' : key}</option>)}
					</select>
				</label>
			</h2>
			{isNumeric(result.streams, by) && result.streams.length > 2 && <OverNumber key={by} streams={result.streams} by={by} measure={measure} />}
			<Table key={by} columns={groupColumns(by, measure, most)} rows={groups} label="Groups of streams" sortBy="value" ascending rowKey={({ text }) => text} shown={12} />
		</section>
	);
}

const kinds = { mine: 'Waits', 'mine-run': 'CPU time' } as const;
type Kind = keyof typeof kinds;

const viewOfKind: Record<Kind, string> = { mine: 'clusters', 'mine-run': 'cpu-clusters' };

interface ChangeRow extends ClusterChange {
	culprit: Frame;
	word: string;
}

const SURE = 0.05;

function wordOf({ before, after, q }: ClusterChange): string {
	const sure = q !== null && q < SURE;

	if (before === 0 && after > 0)
		return sure ? 'new' : 'new, perhaps by chance';
	if (after === before)
		return 'the same';
	return `${after > before ? 'more' : 'less'}${sure ? '' : ', perhaps by chance'}`;
}

function changeColumns(kind: Kind): Column<ChangeRow>[] {
	return [
		{ key: 'culprit', title: 'Cluster', value: (row) => row.culprit.text, cell: (row) => <a href={link(viewOfKind[kind], [row.cluster.id])}><FrameName frame={row.culprit} /></a> },
		{ key: 'word', title: 'Since then', value: (row) => row.word },
		{ key: 'change', title: 'Change', number: true, help: 'A stream', value: (row) => row.after - row.before, cell: (row) => signed(row.after - row.before) },
		{ key: 'before', title: 'Before', number: true, help: 'A stream', value: (row) => row.before, cell: (row) => `${duration(row.before)} in ${count(row.beforeStreams)}` },
		{ key: 'after', title: 'After', number: true, help: 'A stream', value: (row) => row.after, cell: (row) => `${duration(row.after)} in ${count(row.afterStreams)}` },
		{ key: 'q', title: 'q', number: true, help: 'How often chance alone shows such differences, for all clusters together', value: (row) => -(row.q ?? 1), cell: (row) => (row.q === null ? '' : probability(row.q)) },
	];
}

// Clusters that occur only since a point, or cost more since then.
function Changes({ result, mined, by, from, only, kind }: { result: InfoResult; mined: MineResult; by: string; from: Value; only: boolean; kind: Kind }) {
	const { rows, before, after } = useMemo(() => {
		const sides = new Map(result.streams.map((stream) => {
			const order = compareValues(valueOf(stream, by), from);

			return [stream.id, only ? order === 0 : order >= 0] as const;
		}));
		const known = (mined.stream_ids ?? []).map((id) => sides.get(id));
		const model = makeModel(mined);
		const culprits = new Map(model.rows.map((row) => [row.id, row.culprit]));
		const changes = changesOf(mined, (id) => sides.get(id) ?? null);

		return {
			rows: changes.map((change): ChangeRow => ({ ...change, culprit: culprits.get(change.cluster.id)!, word: wordOf(change) })),
			before: known.filter((side) => side === false).length, after: known.filter((side) => side === true).length,
		};
	}, [mined, by, from, only]);

	if (!before || !after)
		return <p>There are no streams on one of the sides: choose another point.</p>;
	return (
		<>
			<p class="dim">
				{plural(after, 'stream')} since then, {plural(before, 'stream')} {only ? 'otherwise' : 'before'}; the change that costs most a stream first.
				{before < 4 || after < 4 ? ' These are too few to tell most changes from chance.' : ''}
			</p>
			<Table columns={changeColumns(kind)} rows={rows} label="Changes" sortBy="change" rowKey={({ cluster }) => cluster.id} shown={10} />
		</>
	);
}

function WhatIsNew({ result, keys }: { result: InfoResult; keys: string[] }) {
	const { query } = route.value;
	const present = (Object.keys(kinds) as Kind[]).filter((kind) => blocks.value.has(kind));
	const kind = present.find((each) => each === query.get('kind')) ?? present[0]!;
	const asked = query.get('since');
	const by = asked && keys.includes(asked) ? asked : keys.find((key) => key === 'version') ?? keys[0]!;
	const groups = useMemo(() => groupsOf(result.streams, by), [result, by]);
	const place = groups.findIndex(({ from }) => String(from) === query.get('from'));
	const start = groups[place > 0 ? place : groups.length - 1]!;
	const only = !!query.get('only');
	const [wanted, setWanted] = useState(!isServed() || !!asked);
	const name = kind + (isServed() ? '?page-data' : '');
	const { result: mined, error } = useBlock(name, wanted);

	return (
		<section aria-label="What is new">
			<h2>What is new since</h2>
			<p>
				<select aria-label="Since which attribute" value={by} onChange={(event) => replaceQuery({ since: event.currentTarget.value, from: '' })}>
					{keys.map((key) => <option value={key}>{key === TIME ? 'time added' : key}</option>)}
				</select>{' '}
				<select aria-label="Since which value" value={String(start.from)} onChange={(event) => replaceQuery({ since: by, from: event.currentTarget.value })}>
					{groups.slice(only ? 0 : 1).map(({ from }) => <option value={String(from)}>{valueText(by, from)}</option>)}
				</select>
				<label class="switch"><input type="checkbox" checked={only} onChange={() => replaceQuery({ since: by, only: only ? '' : 'yes' })} /> only this value, against all others</label>{' '}
				<span role="group" aria-label="Kind of cost">
					{present.length > 1 && present.map((each) => <button type="button" aria-pressed={each === kind} onClick={() => replaceQuery({ kind: each })}>{kinds[each]}</button>)}
				</span>
			</p>
			{!wanted ? <button type="button" onClick={() => setWanted(true)}>Look for new clusters</button>
				: error ? <p role="alert" class="error">{error}</p>
					: mined ? <Changes key={name} result={result} mined={mined as MineResult} by={by} from={start.from} only={only} kind={kind} /> : <Reading name={name} />}
		</section>
	);
}

const TOP = 5;

// The costliest clusters, each a way on.
function TopClusters({ kind }: { kind: Kind }) {
	const name = kind + (isServed() ? '?page-data' : '');
	const { result, error } = useBlock(name);
	const model = useMemo(() => (result ? makeModel(result as MineResult) : null), [result]);

	return (
		<section aria-label={`Top clusters, ${kinds[kind]}`}>
			<h2>{kind === 'mine' ? 'Waits that cost most' : 'CPU time: what costs most'}</h2>
			{error && <p class="error">{error}</p>}
			{!error && !model && <Reading name={name} />}
			{model && !model.rows.length && <p>No pattern costs enough to be shown.</p>}
			{model && (
				<ol class="top-list">
					{model.rows.slice(0, TOP).map((row) => (
						<li>
							<a href={link(viewOfKind[kind], [row.id])}><FrameName frame={row.culprit} /></a>
							<span class="share"><Bar share={row.share} />{percent(row.share)} {duration(row.cost_ns)}</span>
						</li>
					))}
				</ol>
			)}
		</section>
	);
}

// How much of the delay signatures explain; where there is a server it is asked on demand.
function KnownShare() {
	const [wanted, setWanted] = useState(!isServed());
	const { result, error } = useBlock('coverage', wanted);
	const coverage = result as CoverageResult | undefined;

	return (
		<section aria-label="Coverage by signatures">
			<h2>Known causes</h2>
			{!wanted && <button type="button" onClick={() => setWanted(true)}>How much do signatures explain?</button>}
			{error && <p>{/no signatures/.test(error) ? 'There are no signatures yet: a cluster has "Make a signature".' : error}</p>}
			{wanted && !error && !coverage && <Reading name="coverage" />}
			{coverage && (
				<p>
					{coverage.coverage !== null && <span class="share"><Bar share={coverage.coverage} />{percent(coverage.coverage)}</span>} {duration(coverage.cost_ns)} of{' '}
					{duration(coverage.whole_ns)} match {plural(coverage.signatures.length, 'signature')}. <a href={link('coverage')}>Coverage</a>
				</p>
			)}
		</section>
	);
}

function Streams({ result }: { result: InfoResult }) {
	const [wanted, setWanted] = useState('');
	const keys = useMemo(() => [...new Set(result.streams.flatMap(({ attrs }) => Object.keys(attrs)))].slice(0, MOST_ATTRIBUTES), [result]);
	const columns = useMemo(() => columnsOf(keys), [keys]);
	const rows = result.streams.filter((stream) => !wanted.trim() || fits(stream, wanted.trim().toLowerCase()));

	return (
		<section aria-label="All streams">
			<h2>All streams</h2>
			<input type="search" placeholder="Name, host or key=value" aria-label="Only streams with this name, host or attribute" value={wanted}
				onInput={(event) => setWanted(event.currentTarget.value)} />
			<Table columns={columns} rows={rows} label="Streams" sortBy="delay" rowKey={(row) => row.id} shown={25} />
		</section>
	);
}

export function Overview({ result }: { result: InfoResult }) {
	const delay = result.streams.reduce((sum, stream) => sum + delayOf(stream), 0);
	const shown = result.streams.filter(({ id }) => blocks.value.has(`stream/${id}`)).length;
	const keys = useMemo(() => keysOf(result.streams), [result]);
	const present = (Object.keys(kinds) as Kind[]).filter((kind) => blocks.value.has(kind) && result.events[kind === 'mine' ? 'wait' : 'run'] > 0);

	return (
		<>
			<Help words={['stream', 'symptom', 'cluster', 'culprit', 'signature', 'p and q']}>
				{plural(result.streams.length, 'stream')}, {plural(result.threads, 'thread')}, {plural(result.events.run, 'sample')} and{' '}
				{plural(result.events.wait, 'wait')}{result.stacks !== undefined && <> in {plural(result.stacks, 'distinct stack')}</>}; {plural(result.symptoms, 'symptom')} of {duration(delay)} in all.
				{shown > 0 && shown < result.streams.length && <> Time lines of {count(shown)} of them are in this file.</>}
			</Help>
			{present.length > 0 && <div class="two">{present.map((kind) => <TopClusters key={kind} kind={kind} />)}</div>}
			{blocks.value.has('coverage') && <KnownShare />}
			{present.length > 0 && keys.length > 0 && <WhatIsNew result={result} keys={keys} />}
			{keys.length > 0 && <ByAttribute result={result} keys={keys} />}
			<Streams result={result} />
		</>
	);
}
