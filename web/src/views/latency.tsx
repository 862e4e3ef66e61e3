// The result of `lode latency`: how long functions take, and in which context.
import { useMemo, useState } from 'preact/hooks';

import { treeOfCalls, type CallTree } from '../call_tree';
import { count, duration, percent, plural } from '../format';
import { culprit, FrameTable, type Frame } from '../frames';
import { Bar } from '../parts/bar';
import { FlameGraph } from '../parts/flame_graph';
import { FrameList, FrameName } from '../parts/frame_list';
import { HeatMap, type HeatRow } from '../parts/heat_map';
import { Help } from '../parts/help';
import { Layers } from '../parts/layers';
import { Table, type Column } from '../parts/table';
import type { LatencyContext, LatencyResult } from '../results';
import { go, linkHere, route } from '../route';
import { buildTree } from '../stack_tree';

interface Row extends LatencyContext {
	rank: number;
	stack: Frame[];
	culprit: Frame;
}

interface Model {
	table: FrameTable;
	rows: Row[];
	heat: HeatRow[];
}

const HEAT_ROWS = 20;

function makeModel(result: LatencyResult): Model {
	const table = new FrameTable(result.page);
	const rows = result.contexts.map((context, place) => {
		const stack = table.list(context.frames);

		return { ...context, rank: place + 1, stack, culprit: culprit(stack)! };
	});
	const heat = result.heat.rows.filter(({ rank }) => rank <= rows.length).slice(0, HEAT_ROWS).map(({ rank, hottest, own_ns }) => {
		const row = rows[rank - 1]!;

		return { key: String(rank), rank, name: row.culprit.name, cost: row.own_ns, frames: row.stack, values: own_ns, hottest };
	});

	return { table, rows, heat };
}

function time(key: Exclude<keyof LatencyContext & `${string}_ns`, 'own_mean_ns'>, title: string, help: string): Column<Row> {
	return { key, title, help, number: true, value: (row) => row[key], cell: (row) => duration(row[key]) };
}

function columnsOf(result: LatencyResult): Column<Row>[] {
	return [
		{ key: 'rank', title: '#', number: true, value: (row) => -row.rank, cell: (row) => row.rank },
		{
			key: 'culprit', title: 'Function', help: 'The last function of the program on the way to it', value: (row) => row.culprit.text,
			cell: (row) => (
				<a href={linkHere([String(row.rank)])}>
					<FrameName frame={row.culprit} />
					{row.stack.at(-1) !== row.culprit && <span class="dim"> … <bdi>{row.stack.at(-1)!.name}</bdi></span>}
				</a>
			),
		},
		{
			key: 'own_ns', title: 'Own', number: true, help: 'Its own time, as a share of all', value: (row) => row.own_ns,
			cell: (row) => <span class="share"><Bar share={row.own_ns / (result.own_ns || 1)} />{percent(row.own_ns / (result.own_ns || 1))} {duration(row.own_ns)}</span>,
		},
		time('estimate_ns', 'In all', 'With what it calls'),
		{
			key: 'interval', title: '95% interval', number: true, help: 'Of what it takes in all', value: (row) => row.high_ns,
			cell: (row) => `${duration(row.low_ns)}–${duration(row.high_ns)}`,
		},
		time('conservative_ns', 'Conservative', 'The least that the calls took'),
		time('aggressive_ns', 'Aggressive', 'The most that the calls can have taken'),
		{ key: 'count', title: 'Calls', number: true, value: (row) => row.count, cell: (row) => count(row.count) },
		time('mean_ns', 'Mean', 'Of a call'),
		time('median_ns', 'Median', 'Half of the calls are shorter'),
		time('p90_ns', '90%', 'This share of the calls is shorter'),
		time('p99_ns', '99%', 'This share of the calls is shorter'),
	];
}

function Summary({ result }: { result: LatencyResult }) {
	const { input, contexts } = result;

	return (
		<Help words={['context', 'own', 'conservative', 'aggressive', 'interval', 'layer', 'idle']}>
			{plural(input.instances, 'call')} in {plural(result.contexts_total, 'context')}, inferred from {plural(input.events, 'event')} of{' '}
			{plural(input.threads, 'thread')} in {plural(input.streams, 'stream')}; they took {duration(result.own_ns)} in all
			{result.idle_ns > 0 && <>, and {duration(result.idle_ns)} idle, which is counted separately</>}. Ranked by the time that a function takes by itself.
			{contexts.length < result.contexts_total && (
				<> {count(contexts.length)} contexts are here; the other {count(result.contexts_total - contexts.length)} take less.</>
			)}
		</Help>
	);
}

function Detail({ row }: { row: Row }) {
	const [all, setAll] = useState(false);

	return (
		<article class="detail" aria-label={`Context ${row.rank}`}>
			<h2>#{row.rank} <FrameName frame={row.culprit} /></h2>
			<p>
				<b>{duration(row.own_ns)}</b> by itself and {duration(row.estimate_ns)} with what it calls (95%: {duration(row.low_ns)} to{' '}
				{duration(row.high_ns)}), in {plural(row.count, 'call')} of {duration(row.mean_ns)} on average, {duration(row.longest_ns)} at most.
				{row.waited_ns > 0 && <> {percent(row.waited_ns / (row.estimate_ns || 1))} of it was waiting.</>}
			</p>
			<h3>Frames <label class="switch"><input type="checkbox" checked={all} onChange={() => setAll(!all)} /> all frames</label></h3>
			<FrameList frames={row.stack} all={all} />
		</article>
	);
}

function Calls({ tree: calls, table }: { tree: CallTree; table: FrameTable }) {
	const tree = useMemo(() => treeOfCalls(calls), [calls]);

	return (
		<>
			<h2>Calls</h2>
			<p class="dim">
				Width is what a call takes with all it calls. {count(calls.shown)} of {plural(calls.contexts, 'context')} take {duration(calls.least_ns)} or
				more; the others are counted as small calls.
			</p>
			<FlameGraph tree={tree} table={table} label="Flame graph of calls" />
		</>
	);
}

// Without the tree of all calls: that of the contexts that are here.
function OwnTimes({ result, table }: { result: LatencyResult; table: FrameTable }) {
	const tree = useMemo(() => buildTree(result.contexts.map(({ frames, own_ns }) => ({ frames, value: own_ns }))), [result]);

	return (
		<>
			<h2>Calls</h2>
			<p class="dim">Width is what the {plural(result.contexts.length, 'context')} below take by themselves, {percent(tree.whole / (result.own_ns || 1))} of all.</p>
			<FlameGraph tree={tree} table={table} label="Flame graph of contexts" />
		</>
	);
}

export function Latency({ result }: { result: LatencyResult }) {
	const model = useMemo(() => makeModel(result), [result]);
	const columns = useMemo(() => columnsOf(result), [result]);
	const [wanted, setWanted] = useState('');
	const word = wanted.trim().toLowerCase();
	const rows = word ? model.rows.filter(({ frames }) => frames.some((frame) => frame.toLowerCase().includes(word))) : model.rows;
	const chosen = model.rows[Number(route.value.parts[0] ?? 1) - 1] ?? model.rows[0];
	const choose = (rank: string) => go(linkHere([rank]));

	if (!chosen)
		return <><Summary result={result} /><p>There are no calls to show.</p></>;
	return (
		<>
			<Summary result={result} />
			<Layers layers={Object.fromEntries(Object.entries(result.layers).map(([name, slow]) => [name, { slow }]))} />
			{model.heat.length > 0 && (
				<>
					<h2>Hottest contexts</h2>
					<HeatMap rows={model.heat} label="Heat map of contexts" onSelect={choose} />
				</>
			)}
			{result.page ? <Calls tree={result.page.tree} table={model.table} /> : <OwnTimes result={result} table={model.table} />}
			<h2>Contexts</h2>
			<input type="search" placeholder="Only contexts with this frame" aria-label="Only contexts with this frame" value={wanted}
				onInput={(event) => setWanted(event.currentTarget.value)} />
			{word && <span class="dim" aria-live="polite"> {plural(rows.length, 'context')}</span>}
			<Detail key={chosen.rank} row={chosen} />
			<Table columns={columns} rows={rows} label="Contexts" sortBy="rank" rowKey={(row) => String(row.rank)} selected={String(chosen.rank)}
				onSelect={(row) => choose(String(row.rank))} shown={25} />
		</>
	);
}
