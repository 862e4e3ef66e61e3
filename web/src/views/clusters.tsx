// The result of `lode mine`: clusters of costly call-stack patterns, ranked.
import { useMemo, useState } from 'preact/hooks';

import { count, duration, percent, plural } from '../format';
import { culprit, FrameTable, type Frame } from '../frames';
import { blocks } from '../page_data';
import { Bar } from '../parts/bar';
import { FindingList } from '../parts/finding_list';
import { FlameGraph } from '../parts/flame_graph';
import { FrameList, FrameName } from '../parts/frame_list';
import { Help } from '../parts/help';
import { MakeSignature } from '../parts/signature';
import { Table, type Column } from '../parts/table';
import type { MineCluster, MinePattern, MineResult } from '../results';
import { go, link, linkBack, linkHere, route } from '../route';
import { buildTree } from '../stack_tree';
import { AT_EVENT } from '../stream_link';

export interface Row extends MineCluster {
	rank: number;
	culprit: Frame; // of its costliest pattern
	otherWays: number; // patterns without it
	leading: Frame[]; // the costliest pattern
	apart?: Frame; // another function of it, where several clusters have the same culprit
}

// The innermost function of a cluster that others of the same name lack, by which they are told apart.
function tellApart(rows: Row[]): Row[] {
	const byName = new Map<string, Row[]>();

	for (const row of rows)
		byName.set(row.culprit.text, [...(byName.get(row.culprit.text) ?? []), row]);
	return rows.map((row) => {
		const namesakes = byName.get(row.culprit.text)!.filter((each) => each !== row);
		const lacked = (frame: Frame) => namesakes.filter(({ leading }) => !leading.includes(frame)).length;
		const own = row.leading.filter((frame) => !frame.plumbing && frame !== row.culprit);
		const best = Math.max(0, ...own.map(lacked));

		return namesakes.length && best > 0 ? { ...row, apart: own.filter((frame) => lacked(frame) === best).at(-1) } : row;
	});
}

interface Model {
	result: MineResult;
	table: FrameTable;
	patterns: Map<string, MinePattern>;
	rows: Row[];
}

export function makeModel(result: MineResult): Model {
	const table = new FrameTable(result);
	const patterns = new Map(result.patterns.map((pattern) => [pattern.id, pattern]));
	const rows = tellApart(result.clusters.map((cluster, place): Row => {
		const members = cluster.patterns.map((id) => patterns.get(id)!);
		const costliest = members.reduce((best, each) => (each.cost_ns > best.cost_ns ? each : best), members[0]!);
		const leading = table.list(costliest.frames);
		const head = culprit(leading)!;

		return { ...cluster, rank: place + 1, leading, culprit: head, otherWays: members.filter(({ frames }) => !frames.includes(head.text)).length };
	}));

	return { result, table, patterns, rows };
}

// Its culprit; where that is not in all of its patterns, how many others there are: the cost is that of all.
export function ClusterName({ row, href }: { row: Row; href?: string }) {
	const name = <FrameName frame={row.culprit} />;

	return (
		<>
			{href === undefined ? name : <a href={href}>{name}</a>}
			{row.apart && <span class="dim apart"> with <bdi class="mono">{row.apart.name}</bdi></span>}
			{row.otherWays > 0 && <span class="dim other-ways" title="Patterns of the cluster without this function; the cost is that of all"> +{plural(row.otherWays, 'pattern')}</span>}
		</>
	);
}

const words = { run: ['sample', 'CPU time'], wait: ['wait', 'waiting'], both: ['event', 'time'], ready: ['delay', 'time without a processor'] } as const;

function sharesOverlap({ clusters }: MineResult): boolean {
	return clusters.reduce((sum, { share }) => sum + share, 0) > 1.0005;
}

function Summary({ result }: { result: MineResult }) {
	const { symptoms, area, input } = result;
	const [event] = words[result.kind];

	return (
		<Help words={['pattern', 'cluster', 'culprit', 'area', 'symptom', 'critical path', 'idle', 'interval', 'variant']}>
			{symptoms.count > 0 && <>{plural(symptoms.count, 'symptom')} took {duration(symptoms.delay_ns)} together. </>}
			{plural(area.events, event)} ({duration(area.cost_ns)}) in {plural(input.streams, 'stream')}, scope {result.scope}:
			{' '}{plural(result.patterns_total, 'costly call-stack pattern')} in {plural(result.clusters_total, 'cluster')}, the costliest first.
			{result.end !== 'complete' && <b> The search ended early ({result.end}): there may be more.</b>}
			{sharesOverlap(result) && ' Clusters overlap: an event that fits several counts in each, so shares add up to more than all.'}
			{result.clusters.length < result.clusters_total && <b> Only the first {result.clusters.length} are here.</b>}
		</Help>
	);
}

function columnsOf(result: MineResult): Column<Row>[] {
	const whole = result.area.cost_ns || 1;

	return [
		{ key: 'rank', title: '#', number: true, value: (row) => -row.rank, cell: (row) => row.rank },
		{
			key: 'culprit', title: 'Culprit', value: (row) => row.culprit.text, help: 'The last function of the program before libraries and the kernel, in the costliest pattern',
			cell: (row) => <ClusterName row={row} href={linkHere([row.id])} />,
		},
		{
			key: 'share', title: 'Share', number: true, value: (row) => row.share, help: `Of the ${words[result.kind][1]} that was analysed`,
			cell: (row) => (
				<span class="share">
					<Bar share={row.share} low={row.low_ns === null ? undefined : row.low_ns / whole}
						high={row.high_ns === null ? undefined : row.high_ns / whole} />
					{percent(row.share)}
				</span>
			),
		},
		{ key: 'total', title: 'Total', number: true, value: (row) => row.cost_ns, cell: (row) => duration(row.cost_ns) },
		{ key: 'streams', title: 'Streams', number: true, value: (row) => row.streams, cell: (row) => count(row.streams) },
		{ key: 'events', title: { wait: 'Waits', run: 'Samples', both: 'Events', ready: 'Delays' }[result.kind], number: true, value: (row) => row.events, cell: (row) => count(row.events) },
		{ key: 'average', title: 'Average', number: true, value: (row) => row.average_ns, cell: (row) => duration(row.average_ns) },
	];
}

function fits(row: Row, model: Model, wanted: string): boolean {
	return row.patterns.some((id) => model.patterns.get(id)!.frames.some((frame) => frame.toLowerCase().includes(wanted)));
}

// What the patterns of a cluster have between the frames that all of them share.
function variantsOf(members: MinePattern[], common: string[]): { gap: number; frames: string[]; patterns: number; cost: number }[] {
	const found = new Map<string, { gap: number; frames: string[]; patterns: number; cost: number }>();

	for (const pattern of members) {
		let gap = 0;
		let between: string[] = [];
		const note = () => {
			const key = JSON.stringify([gap, between]);
			const known = found.get(key) ?? { gap, frames: between, patterns: 0, cost: 0 };

			found.set(key, { ...known, patterns: known.patterns + 1, cost: Math.max(known.cost, pattern.cost_ns) });
			between = [];
		};

		for (const frame of pattern.frames) {
			if (gap < common.length && frame === common[gap]) {
				note();
				gap++;
			} else {
				between.push(frame);
			}
		}
		note();
	}
	return [...found.values()].filter(({ frames }) => frames.length).sort((a, b) => a.gap - b.gap || b.cost - a.cost);
}

const SHOWN_VARIANTS = 5;

function Variants({ list, of, table, all: allFrames }: { list: ReturnType<typeof variantsOf>; of: number; table: FrameTable; all: boolean }) {
	const [all, setAll] = useState(false);
	const shown = all ? list : list.slice(0, SHOWN_VARIANTS);

	return (
		<li class="variants">
			{shown.map((variant) => (
				<div class="variant">
					<span class="dim">{variant.patterns} of {of}</span>
					{table.list(variant.frames).filter((frame) => allFrames || !frame.plumbing).map((frame) => <FrameName frame={frame} />)}
				</div>
			))}
			{list.length > shown.length && (
				<button type="button" onClick={() => setAll(true)}>{list.length - shown.length} other ways</button>
			)}
		</li>
	);
}

function CommonFrames({ row, model, all }: { row: Row; model: Model; all: boolean }) {
	const members = row.patterns.map((id) => model.patterns.get(id)!);
	const variants = useMemo(() => variantsOf(members, row.common), [row]);
	const at = (gap: number) => variants.filter((variant) => variant.gap === gap);
	const common = model.table.list(row.common);

	if (members.length === 1)
		return <FrameList frames={row.leading} all={all} />;
	return (
		<ol class="frames">
			{common.map((frame, place) => (
				<>
					{at(place).length > 0 && <Variants list={at(place)} of={members.length} table={model.table} all={all} />}
					{(all || !frame.plumbing) && <li><FrameName frame={frame} /></li>}
				</>
			))}
			{at(common.length).length > 0 && <Variants list={at(common.length)} of={members.length} table={model.table} all={all} />}
		</ol>
	);
}

function Examples({ row }: { row: Row }) {
	return (
		<table aria-label="Streams where it costs most">
			<thead>
				<tr><th scope="col">Stream</th><th scope="col" class="number">Cost</th><th scope="col" class="number">Longest</th><th scope="col" class="number">Thread</th></tr>
			</thead>
			<tbody>
				{row.examples.map((example) => (
					<tr>
						<td>{blocks.value.has(`stream/${example.stream_id}`) ? <a href={link('stream', [example.stream_id], { at: String(example.t), tid: String(example.tid), view: AT_EVENT })}><bdi>{example.stream}</bdi></a> : <bdi>{example.stream}</bdi>}</td>
						<td class="number">{duration(example.cost_ns)}</td>
						<td class="number">{duration(example.longest_ns)}</td>
						<td class="number">{example.tid}</td>
					</tr>
				))}
			</tbody>
		</table>
	);
}

function Detail({ row, model }: { row: Row; model: Model }) {
	const [all, setAll] = useState(false);
	const { result } = model;
	const tree = useMemo(
		() => buildTree(row.patterns.map((id) => model.patterns.get(id)!).map(({ frames, cost_ns }) => ({ frames, value: cost_ns }))),
		[row],
	);

	return (
		<article class="detail" aria-label={`Cluster ${row.rank}`}>
			<h2>#{row.rank} <ClusterName row={row} /></h2>
			<p>
				<b>{duration(row.cost_ns)}</b>, {percent(row.share)} of the {words[result.kind][1]}
				{row.low_ns !== null && row.high_ns !== null && <> (95%: {duration(row.low_ns)} to {duration(row.high_ns)})</>},
				in {plural(row.events, words[result.kind][0])} of {duration(row.average_ns)} on average,
				in {row.streams} of {plural(result.input.streams, 'stream')}; {plural(row.patterns.length, 'pattern')}.
				{' '}Link: <a href={linkHere([row.id])}><code>{row.id}</code></a>
			</p>
			<h3>
				Frames
				<label class="switch"><input type="checkbox" checked={all} onChange={() => setAll(!all)} /> all frames</label>
			</h3>
			<CommonFrames row={row} model={model} all={all} />
			{row.patterns.length > 1 && (
				<>
					<h3>Its patterns as one graph</h3>
					<FlameGraph tree={tree} table={model.table} label={`Patterns of cluster ${row.rank}`} />
				</>
			)}
			<h3>Where it costs most</h3>
			<Examples row={row} />
			<MakeSignature kind={result.kind} patterns={row.patterns.map((id) => model.patterns.get(id)!.frames)} name={row.culprit.name} />
		</article>
	);
}

// `view`: its name in links.
export function Clusters({ result, view }: { result: MineResult; view: string }) {
	const model = useMemo(() => makeModel(result), [result]);
	const columns = useMemo(() => columnsOf(result), [result]);
	const [wanted, setWanted] = useState('');
	const rows = useMemo(
		() => (wanted.trim() ? model.rows.filter((row) => fits(row, model, wanted.trim().toLowerCase())) : model.rows),
		[model, wanted],
	);
	const id = route.value.view === view ? route.value.parts[0] : undefined;
	const chosen = model.rows.find((row) => row.id === id) ?? model.rows[0];

	return (
		<>
			<Summary result={result} />
			{!!result.findings?.length && <FindingList result={result} since={null} />}
			{!model.rows.length && <p>No pattern costs more than {duration(result.threshold_ns)}. <a href={linkBack('overview')}>Overview</a> says where the time went.</p>}
			{model.rows.length > 0 && (
				<div class="two">
					<div>
						<input type="search" placeholder="Only clusters with this frame" aria-label="Only clusters with this frame" value={wanted}
							onInput={(event) => setWanted(event.currentTarget.value)} />
						{wanted.trim() && <span class="dim" aria-live="polite"> {plural(rows.length, 'cluster')}</span>}
						<Table columns={columns} rows={rows} label="Clusters" sortBy="rank" rowKey={(row) => row.id} selected={chosen?.id}
							onSelect={(row) => go(linkHere([row.id]))} shown={25} />
					</div>
					{chosen && <Detail key={chosen.id} row={chosen} model={model} />}
				</div>
			)}
		</>
	);
}
