// The result of `lode diff`: what slow streams do that good ones do not.
import { useMemo, useState } from 'preact/hooks';

import { treeOfCalls, type CallTree } from '../call_tree';
import { count, duration, percent, plural, probability, signed, stated } from '../format';
import { culprit, FrameTable, type Frame } from '../frames';
import { FlameGraph } from '../parts/flame_graph';
import { FrameName } from '../parts/frame_list';
import { HeatMap, type HeatRow } from '../parts/heat_map';
import { Help } from '../parts/help';
import { Layers } from '../parts/layers';
import { ScrollBox } from '../parts/scroll_box';
import { Table, type Column } from '../parts/table';
import type { DiffPath, DiffResult, DiffSide } from '../results';
import { go, linkHere, route } from '../route';

interface Row extends DiffPath {
	key: string;
	stack: Frame[];
	hottest: number;
	culprit: Frame;
	base: number;
	slow: number;
	alike: number; // paths behind it with the same hottest function, reached in the same way
}

const SURE = 0.05;
const NO_CAUSE: Record<NonNullable<DiffResult['no_cause']>, string> = {
	'nothing-sure': 'No single function takes significantly more, so no cause is named.',
	'not-slower': 'The streams that are called slow do not take more time than the base, so nothing made them slow.',
	'total-unsure': 'A function takes significantly more, but the runs as a whole may do so by chance, so no cause is named.',
	moved: 'What takes more was only moved: its callers take no more than in the base.',
};
const HEAT_ROWS = 20;

function makeRows(result: DiffResult, table: FrameTable): Row[] {
	return result.paths.map((path) => {
		const stack = table.list(path.frames.map(({ frame }) => frame));
		const hottest = Math.max(0, path.frames.findIndex(({ distance }) => distance === 0));
		const sum = (key: 'base_ns' | 'slow_ns') => path.frames.reduce((all, each) => all + each[key], 0);

		return {
			...path, key: String(path.rank), stack, hottest, culprit: culprit(stack.slice(0, hottest + 1)) ?? stack[hottest]!, alike: 0,
			base: sum('base_ns'), slow: sum('slow_ns'),
		};
	}).filter(({ stack }) => stack.length > 0);
}

// Of paths that differ only behind their hottest function, the first.
function unlike(rows: Row[]): Row[] {
	const found = new Map<string, Row>();

	for (const row of rows) {
		const key = JSON.stringify(row.frames.slice(0, row.hottest + 1).map(({ frame }) => frame));
		const first = found.get(key);

		if (first)
			first.alike++;
		else
			found.set(key, row);
	}
	return [...found.values()];
}

// What is sure, with the sign of the difference.
export function verdictOf({ tested, chance, delta_ns: delta }: DiffResult): string {
	if (!tested)
		return 'Too few streams to tell';
	if (delta < 0)
		return 'The streams called slow take less time than the base';
	return chance.sure ? 'The slow streams take significantly more' : 'No significant difference';
}

// The options with base and slow streams exchanged.
function swapped(query: URLSearchParams): Record<string, string> {
	return Object.fromEntries(['where', 'stream'].flatMap((key) => [[`base-${key}`, query.get(`slow-${key}`) ?? ''], [`slow-${key}`, query.get(`base-${key}`) ?? '']]));
}

function Verdict({ result, table }: { result: DiffResult; table: FrameTable }) {
	const { chance, root_cause: cause } = result;
	const sure = cause?.sure ?? (cause?.q !== undefined ? cause.q < SURE : result.paths.some(({ q }) => q !== undefined && q < SURE));

	return (
		<section class="detail" aria-label="What is sure">
			<h2>{verdictOf(result)}</h2>
			{result.delta_ns < 0 && <p><a href={linkHere([], swapped(route.value.query))}>Compare the other way round</a>, to see what made these take longer.</p>}
			{cause ? (
				<p>
					{sure ? 'Look first at' : 'A guess, as it may be chance:'} <FrameName frame={table.get(cause.frame)} />: <b>{signed(cause.delta_ns)}</b> a stream
					{cause.new && ', and the base does not call it'}
					{cause.caller && <>; called from <FrameName frame={table.get(cause.caller)} /></>}.
					{cause.p !== undefined && <> {stated('p', cause.p)}{cause.q !== undefined && <>, {stated('q', cause.q)}</>}.</>}
				</p>
			) : (
				<p>{result.no_cause ? NO_CAUSE[result.no_cause] : result.paths.some(({ cost_ns }) => cost_ns > 0) ? 'No cause is named: what takes more may do so by chance.' : 'No path takes more than in the base.'}</p>
			)}
			{!result.tested && <p>There are too few streams to tell differences from chance; at least four per side are needed.</p>}
			{chance && result.tested && (
				<p>
					{chance.sure_paths ? plural(chance.sure_paths, 'path') : 'No path'} {chance.sure_paths > 1 ? 'take' : 'takes'} significantly more (level {percent(chance.level)} for all functions together)
					{chance.p !== undefined && <>; for the total time, {stated('p', chance.p)}</>}.
					{chance.detectable_ns !== null && (
						<> So many streams reveal a difference of {duration(chance.detectable_ns)}
							{chance.detectable_share !== null && <> ({percent(chance.detectable_share)})</>} or more in {percent(chance.power)} of cases
							{chance.streams_for_5_percent !== null && <>; one of 5% would need {plural(chance.streams_for_5_percent, 'stream')} a side</>}.</>
					)}
				</p>
			)}
		</section>
	);
}

function columnsOf(result: DiffResult): Column<Row>[] {
	return [
		{ key: 'rank', title: '#', number: true, value: (row) => -row.rank, cell: (row) => row.rank },
		{
			key: 'culprit', title: 'Function', help: 'The last function of the program on the way to what takes more', value: (row) => row.culprit.text,
			cell: (row) => (
				<a href={linkHere([row.key])}>
					<FrameName frame={row.culprit} />
					{row.stack[row.hottest] !== row.culprit && <span class="dim"> … <bdi>{row.stack[row.hottest]!.name}</bdi></span>}
				</a>
			),
		},
		{ key: 'cost', title: 'More', number: true, help: 'How much more time the path takes per stream', value: (row) => row.cost_ns, cell: (row) => signed(row.cost_ns) },
		{ key: 'base', title: 'Base', number: true, value: (row) => row.base, cell: (row) => (row.new ? 'new' : duration(row.base)) },
		{ key: 'slow', title: 'Slow', number: true, value: (row) => row.slow, cell: (row) => duration(row.slow) },
		...(result.tested
			? [
				{ key: 'p', title: 'p', number: true, help: 'How often chance alone shows such a difference', value: (row: Row) => -(row.p ?? 1), cell: (row: Row) => (row.p === undefined ? '' : probability(row.p)) },
				{ key: 'q', title: 'q', number: true, help: 'The same, for all functions together', value: (row: Row) => -(row.q ?? 1), cell: (row: Row) => (row.q === undefined ? '' : probability(row.q)) },
				{ key: 'sure', title: 'Sure', help: 'q below 0.05', value: (row: Row) => (row.q !== undefined && row.q < SURE ? 'yes' : ''), cell: (row: Row) => (row.q !== undefined && row.q < SURE ? 'yes' : '') },
			]
			: []),
	];
}

function Detail({ row }: { row: Row }) {
	return (
		<article class="detail" aria-label={`Path ${row.rank}`}>
			<h2>#{row.rank} <FrameName frame={row.culprit} /></h2>
			<p>
				<b>{signed(row.cost_ns)}</b> a stream.
				{row.q !== undefined && row.p !== undefined && <> {row.q < SURE ? 'It surely takes more' : 'It may take more by chance'} ({stated('p', row.p)}, {stated('q', row.q)}).</>}
				{row.new && ' The base does not have this path.'}
				{row.alike > 0 && <> {plural(row.alike, 'more path')} have the same hottest function.</>}
			</p>
			<ScrollBox label="Functions of the path">
				<table aria-label="Functions of the path">
					<thead>
						<tr><th scope="col">Function</th><th scope="col" class="number">More</th><th scope="col" class="number">Base</th><th scope="col" class="number">Slow</th></tr>
					</thead>
					<tbody>
						{row.frames.map((each, place) => (
							<tr aria-current={place === row.hottest ? 'true' : undefined}>
								<td><FrameName frame={row.stack[place]!} /></td>
								<td class="number">{each.delta_ns ? signed(each.delta_ns) : ''}</td>
								<td class="number">{each.base_ns ? duration(each.base_ns) : ''}</td>
								<td class="number">{each.slow_ns ? duration(each.slow_ns) : ''}</td>
							</tr>
						))}
					</tbody>
				</table>
			</ScrollBox>
		</article>
	);
}

const sideNames = { slow: 'the slow streams', base: 'the base' } as const;

function Calls({ calls, table }: { calls: CallTree; table: FrameTable }) {
	const [side, setSide] = useState<'slow' | 'base'>('slow');
	const tree = useMemo(() => treeOfCalls(calls, side), [calls, side]);
	const other = side === 'slow' ? 'base' : 'slow';

	return (
		<>
			<h2>Calls of both sides</h2>
			<p class="dim">
				Width is what a call takes in {sideNames[side]}, a stream; its colour is what slow streams take more or less. {count(calls.shown)} of{' '}
				{plural(calls.contexts, 'context')} take {duration(calls.least_ns)} or more on either side; the others are counted as small calls.
			</p>
			<p role="group" aria-label="Width">
				{(['slow', 'base'] as const).map((each) => (
					<button type="button" aria-pressed={each === side} onClick={() => setSide(each)}>Width of {sideNames[each]}</button>
				))}
			</p>
			<div class="key" aria-hidden="true">
				<i class="state less" /> less <i class="state same" /> the same <i class="state more" /> more
			</div>
			<FlameGraph tree={tree} table={table} label="Differential flame graph"
				compare={{ shown: sideNames[side], other: sideNames[other], sign: side === 'slow' ? 1 : -1 }} />
		</>
	);
}

function heatOf(rows: Row[]): HeatRow[] {
	return rows.filter(({ cost_ns }) => cost_ns > 0).slice(0, HEAT_ROWS).map((row) => ({
		key: row.key, rank: row.rank, name: row.culprit.name, cost: row.cost_ns, frames: row.stack, values: row.frames.map(({ delta_ns }) => delta_ns),
		hottest: row.hottest, notes: row.frames.map(({ base_ns, slow_ns }) => `${duration(base_ns)} in the base and ${duration(slow_ns)} in slow streams`),
	}));
}

export function Diff({ result }: { result: DiffResult }) {
	const table = useMemo(() => new FrameTable(result.page), [result]);
	const rows = useMemo(() => makeRows(result, table), [result]);
	const distinct = useMemo(() => unlike(rows), [rows]);
	const [wanted, setWanted] = useState('');
	const [all, setAll] = useState(false);
	const word = wanted.trim().toLowerCase();
	const shown = (all ? rows : distinct).filter(({ frames }) => !word || frames.some(({ frame }) => frame.toLowerCase().includes(word)));
	const chosen = rows.find(({ key }) => key === route.value.parts[0]) ?? rows[0];
	const heat = useMemo(() => heatOf(distinct), [distinct]);
	const choose = (key: string) => go(linkHere([key]));
	const sideText = ({ corpus, chosen, streams }: DiffSide) => <><bdi>{corpus}</bdi>{chosen && <> <bdi>{chosen.trim()}</bdi></>} ({plural(streams, 'stream')})</>;

	return (
		<>
			<Help words={['base', 'path', 'p and q', 'own', 'layer', 'stream']}>
				A stream of {sideText(result.slow)} takes <b>{duration(Math.abs(result.delta_ns))}</b>{' '}
				{result.delta_ns < 0 ? 'less' : 'more'} than one of {sideText(result.base)}; below: which calls differ.
				{result.paths.length < result.paths_total && <> {count(result.paths.length)} of {plural(result.paths_total, 'path')} are here, those that slowed down most.</>}
			</Help>
			<Verdict result={result} table={table} />
			<Layers layers={Object.fromEntries(Object.entries(result.layers).map(([name, { base_ns, slow_ns }]) => [name, { base: base_ns, slow: slow_ns }]))} />
			{heat.length > 0 && (
				<>
					<h2>Paths that take more</h2>
					<HeatMap rows={heat} label="Heat map of paths that take more" difference onSelect={choose} />
				</>
			)}
			{result.page && result.page.tree.items.length > 0 && <Calls calls={result.page.tree} table={table} />}
			{chosen && (
				<>
					<h2>Paths</h2>
					<p>
						<input type="search" placeholder="Only paths with this frame" aria-label="Only paths with this frame" value={wanted}
							onInput={(event) => setWanted(event.currentTarget.value)} />
						<label class="switch"><input type="checkbox" checked={all} onChange={() => setAll(!all)} /> also paths with the same hottest function</label>
					</p>
					<div class="two">
						<Table columns={columnsOf(result)} rows={shown} label="Paths" sortBy="rank" rowKey={({ key }) => key} selected={chosen.key}
							onSelect={({ key }) => choose(key)} shown={25} />
						<Detail key={chosen.key} row={chosen} />
					</div>
				</>
			)}
		</>
	);
}
