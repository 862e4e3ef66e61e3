// What is in a corpus: what costs most, what is new, its streams by time, host or any attribute.
import { useMemo, useRef, useState } from 'preact/hooks';

import { count, duration, percent, plural } from '../format';
import { blocks, complete, isServed, useBlock } from '../page_data';
import { Bar } from '../parts/bar';
import { Help } from '../parts/help';
import { Later, useSeen } from '../parts/later';
import { Reading } from '../parts/reading';
import { Table, type Column } from '../parts/table';
import type { CoverageResult, InfoResult, InfoStream, MineResult } from '../results';
import { link } from '../route';
import { HOST, keysOf, TIME } from '../stream_groups';
import { ClusterName, makeModel } from './clusters';
import { knowsStates, Processes } from './processes';
import { StreamsBy } from './streams_by';
import { kinds, viewOfKind, WhatIsNew, type Kind } from './what_is_new';

export function delayOf(stream: InfoStream): number {
	return stream.symptoms.reduce((sum, { t0, t1 }) => sum + t1 - t0, 0);
}

// CPU time in slices of the stream, as a line of bars.
function Sparkline({ runs }: { runs: number[] }) {
	const most = Math.max(...runs, 1);

	return (
		<svg class="sparkline" viewBox={`0 0 ${runs.length} 10`} preserveAspectRatio="none" role="img" aria-label="CPU time from start to end">
			{runs.map((run, slice) => run > 0 && <rect x={slice} y={10 - (run / most) * 10} width="1" height={(run / most) * 10} />)}
		</svg>
	);
}

export function StreamName({ stream }: { stream: InfoStream }) {
	return blocks.value.has(`stream/${stream.id}`) ? <a href={link('stream', [stream.id])}><bdi>{stream.name}</bdi></a> : <bdi>{stream.name}</bdi>;
}

const delayColumn: Column<InfoStream> = {
	key: 'delay', title: 'Delay', number: true, help: 'The length of its symptoms', value: delayOf, cell: (row) => duration(delayOf(row)),
};

function columnsOf(keys: string[], hasDelay: boolean, runsOf: (stream: InfoStream) => number[] | undefined): Column<InfoStream>[] {
	return [
		{
			key: 'name', title: 'Stream', value: (row) => row.name,
			cell: (row) => <StreamName stream={row} />,
		},
		{ key: 'host', title: 'Host', value: (row) => row.host, cell: (row) => <bdi>{row.host}</bdi> },
		...keys.map((key): Column<InfoStream> => ({
			key: `attribute ${key}`, title: key, value: (row) => (typeof row.attrs[key] === 'number' ? row.attrs[key] : String(row.attrs[key] ?? '')),
			cell: (row) => <bdi>{String(row.attrs[key] ?? '')}</bdi>,
		})),
		...(hasDelay ? [delayColumn] : []),
		{ key: 'run', title: 'CPU time', number: true, value: (row) => row.cost_ns.run, cell: (row) => duration(row.cost_ns.run) },
		{ key: 'span', title: 'Length', number: true, value: (row) => row.last_t - row.first_t, cell: (row) => duration(row.last_t - row.first_t) },
		{ key: 'events', title: 'Events', number: true, value: (row) => row.events.run + row.events.wait + row.events.call, cell: (row) => count(row.events.run + row.events.wait + row.events.call) },
		{ key: 'line', title: 'CPU over time', value: () => 0, cell: (row) => <Sparkline runs={runsOf(row) ?? []} /> },
	];
}

const MAX_ATTRIBUTES = 6;

function fits(stream: InfoStream, wanted: string): boolean {
	const texts = [stream.name, stream.host, stream.id, ...Object.entries(stream.attrs).map(([key, value]) => `${key}=${value}`)];

	return wanted.split(/\s+/).every((word) => texts.some((text) => text.toLowerCase().includes(word)));
}

const TOP = 5;

// What of the streams clusters are made of, where it is not all.
const scopes: Record<string, string> = {
	'critical-path': 'on the critical paths of', graph: 'in the wait graphs of', thread: 'in the threads of',
};

function WhatCounts({ result }: { result: MineResult }) {
	const place = scopes[result.scope];

	return place && result.symptoms.count > 0 ? <p class="dim">of {duration(result.area.cost_ns)} {place} {plural(result.symptoms.count, 'symptom')}</p> : null;
}

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
			{model && <WhatCounts result={result as MineResult} />}
			{model && !model.rows.length && <p>No pattern costs enough to be shown.</p>}
			{model && (
				<ol class="top-list">
					{model.rows.slice(0, TOP).map((row) => (
						<li>
							<ClusterName row={row} href={link(viewOfKind[kind], [row.id])} />
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
	// What distinguishes streams is worth a column.
	const keys = useMemo(() => keysOf(result.streams).filter((key) => key !== TIME && key !== HOST).slice(0, MAX_ATTRIBUTES), [result]);
	const section = useRef<HTMLElement>(null);
	// A server says in brief what there is; the pictures take longer.
	const whole = useBlock('info', useSeen(section) && isServed()).result as InfoResult | undefined;
	const columns = useMemo(() => {
		const pictures = whole && new Map(whole.streams.map(({ id, timeline }) => [id, timeline]));

		return columnsOf(keys, result.symptoms > 0, (stream) => (pictures ? pictures.get(stream.id) : stream.timeline)?.run_ns);
	}, [keys, whole]);
	const rows = result.streams.filter((stream) => !wanted.trim() || fits(stream, wanted.trim().toLowerCase()));

	return (
		<section aria-label="All streams" ref={section}>
			<h2>All streams</h2>
			<input type="search" placeholder="Name, host or key=value" aria-label="Only streams with this name, host or attribute" value={wanted}
				onInput={(event) => setWanted(event.currentTarget.value)} />
			<Table columns={columns} rows={rows} label="Streams" sortBy={result.symptoms > 0 ? 'delay' : 'run'} rowKey={(row) => row.id} shown={25} />
		</section>
	);
}

export function Overview({ result }: { result: InfoResult }) {
	const delay = result.streams.reduce((sum, stream) => sum + delayOf(stream), 0);
	const shown = result.streams.filter(({ id }) => blocks.value.has(`stream/${id}`)).length;
	const keys = useMemo(() => keysOf(result.streams), [result]);
	const hosts = useMemo(() => new Set(result.streams.map(({ host }) => host)).size, [result]);
	const present = (Object.keys(kinds) as Kind[]).filter((kind) => blocks.value.has(kind) && result.events[kind === 'mine' ? 'wait' : 'run'] > 0);

	return (
		<>
			<Help words={['stream', 'symptom', 'cluster', 'culprit', 'signature', 'p and q']}>
				{plural(result.streams.length, 'stream')} of {plural(hosts, 'host')}, {plural(result.threads, 'thread')}: {plural(result.events.run, 'CPU sample')} ({duration(result.cost_ns.run)}) and{' '}
				{plural(result.events.wait, 'wait')} ({duration(result.cost_ns.wait)}){result.stacks !== undefined && <> in {plural(result.stacks, 'distinct stack')}</>}.
				{' '}{result.symptoms > 0 ? <>{plural(result.symptoms, 'symptom')} took {duration(delay)} in all.</> : 'The recordings mark no symptoms.'}
				{complete.value && shown > 0 && shown < result.streams.length && <> Time lines of {count(shown)} of them are in this file.</>}
			</Help>
			{present.length > 0 && <div class="two">{present.map((kind) => <TopClusters key={kind} kind={kind} />)}</div>}
			{knowsStates(result.states) && <Processes rows={result.states} />}
			{blocks.value.has('coverage') && <KnownShare />}
			{present.length > 0 && keys.length > 0 && <Later><WhatIsNew result={result} keys={keys} /></Later>}
			{keys.length > 0 && <Later><StreamsBy result={result} keys={keys} /></Later>}
			<Later><Streams result={result} /></Later>
		</>
	);
}
