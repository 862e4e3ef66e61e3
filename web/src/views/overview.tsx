// A corpus at a glance: where the time went, what is new, its streams by time, host or any attribute.
import { useMemo, useRef, useState } from 'preact/hooks';

import { functionOf, hasSymptoms, headline, newText, questionText, sinceLatest, type Since } from '../findings';
import { count, duration, percent, plural, stated } from '../format';
import { blocks, complete, isServed, useBlock } from '../page_data';
import { Bar } from '../parts/bar';
import { Failure } from '../parts/failure';
import { FindingList } from '../parts/finding_list';
import { Help } from '../parts/help';
import { Later, useSeen } from '../parts/later';
import { queryOf, symptom, where, type Field } from '../parts/options';
import { Reading } from '../parts/reading';
import { StateBars } from '../parts/state_bars';
import { Table, type Column } from '../parts/table';
import type { CoverageResult, InfoResult, InfoStream, MineResult, QueryResult } from '../results';
import { link, route } from '../route';
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

// What the findings are asked with. The list of streams, which the view is about, has none of it.
export const overviewFields: Field[] = [{ ...symptom, own: true }, { ...where, own: true }];

const MAX_ATTRIBUTES = 4;

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
	const signatures = useBlock(`query?sql=${encodeURIComponent('SELECT count(*) FROM signatures')}`, isServed() && blocks.value.has('query')).result as QueryResult | undefined;
	const coverage = result as CoverageResult | undefined;

	return (
		<section aria-label="Coverage by signatures">
			<h2>Known bugs</h2>
			{signatures?.rows[0]?.[0] === 0 && <p class="dim">None yet: a cluster of Waits or CPU time has "Name this bug…".</p>}
			{!wanted && signatures?.rows[0]?.[0] !== 0 && <button type="button" onClick={() => setWanted(true)}>How much do signatures explain?</button>}
			{error && <p class="error">{error}</p>}
			{wanted && !error && !coverage && <Reading name="coverage" />}
			{coverage && (
				<p class="card">
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

// Which findings are surely new, or that none is.
function NewFindings({ mined, since }: { mined: MineResult; since: Since }) {
	const fresh = mined.findings!.filter(({ id }) => newText(since.changes.get(id), since));
	const before = since.groups.slice(0, -1).reduce((sum, { streams }) => sum + streams.length, 0);
	const after = since.from.streams.length;

	return (
		<section aria-label="New findings">
			<h2>New since <bdi>{since.key}</bdi> <bdi>{since.from.text}</bdi></h2>
			<div class="card">
				{fresh.map((finding) => {
					const change = since.changes.get(finding.id)!;

					return (
						<p><span class="badge">{newText(change, since)}</span> {finding.frame && <bdi class="mono">{functionOf(finding.frame)}</bdi>} {duration(change.before)} → {duration(change.after)} a stream, {stated('q', change.q!)}</p>
					);
				})}
				{!fresh.length && <p>Nothing is surely new.</p>}
				<p class="dim">{plural(after, 'stream')} compared with {plural(before, 'stream')} before{before < 4 || after < 4 ? ', too few to tell most changes from chance' : ''}.</p>
			</div>
		</section>
	);
}

// What was asked for in this place, as a server wants it.
function findingsBlock(): string {
	return `findings${isServed() ? queryOf(overviewFields.map((field) => ({ ...field, own: false })), 'page-data', route.value.query) : ''}`;
}

function Findings({ info }: { info: InfoResult }) {
	const name = findingsBlock();
	const { result, error } = useBlock(name);
	const mined = result as MineResult | undefined;
	const since = useMemo(() => (mined?.findings ? sinceLatest(mined, info.streams) : null), [mined, info]);

	if (error)
		return <Failure error={error} />;
	if (!mined)
		return <Reading name={name} what="Where did the time go?" />;
	return (
		<div class="answer">
			<section aria-label="Where the time went">
				<h2><bdi>{questionText(mined)}</bdi></h2>
				<p class="headline">{headline(mined)}</p>
				{mined.machine && <p><bdi>{mined.machine.sentence}</bdi></p>}
				<FindingList result={mined} since={since} />
			</section>
			<aside>
				{mined.states && mined.states.length > 0 && (
					<section aria-label="States of processes">
						<h2>Where the {hasSymptoms(mined) && 'slow '}time went</h2>
						<div class="card"><StateBars rows={mined.states} /></div>
					</section>
				)}
				{since?.ordered && mined.findings!.length > 0 && <NewFindings mined={mined} since={since} />}
				{blocks.value.has('coverage') && <KnownShare />}
			</aside>
		</div>
	);
}

// Symptoms that came with the recordings; findings tell of those that were asked for.
function recordedSymptoms(result: InfoResult, delay: number): string {
	return result.symptoms > 0 ? ` ${plural(result.symptoms, 'symptom')} of ${duration(delay)} ${result.symptoms === 1 ? 'was' : 'were'} recorded with them.` : '';
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
				{recordedSymptoms(result, delay)}
				{complete.value && shown > 0 && shown < result.streams.length && <> Timelines of {count(shown)} of them are in this file.</>}
			</Help>
			{blocks.value.has('findings') ? <Findings info={result} />
				: present.length > 0 && <div class="two">{present.map((kind) => <TopClusters key={kind} kind={kind} />)}</div>}
			{knowsStates(result.states) && <Processes rows={result.states} />}
			{blocks.value.has('coverage') && !blocks.value.has('findings') && <KnownShare />}
			{present.length > 0 && keys.length > 0 && <Later><WhatIsNew result={result} keys={keys} /></Later>}
			{keys.length > 0 && <Later><StreamsBy result={result} keys={keys} /></Later>}
			<Later><Streams result={result} /></Later>
		</>
	);
}
