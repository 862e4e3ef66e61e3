// The result of `lode scope`: for each symptom, what kept its thread from being done earlier.
import { useMemo, useState } from 'preact/hooks';

import { count, duration, percent, plural } from '../format';
import { culprit, type FrameTable } from '../frames';
import { blocks } from '../page_data';
import { Bar } from '../parts/bar';
import { FlameGraph } from '../parts/flame_graph';
import { FrameList, FrameName } from '../parts/frame_list';
import { Help } from '../parts/help';
import { PathBar } from '../parts/path_bar';
import { ScrollBox } from '../parts/scroll_box';
import { Table, type Column } from '../parts/table';
import { longestLines, pathLines, type PathLine } from '../path_lines';
import type { ScopePageSymptom, ScopeResult } from '../results';
import { go, link, linkHere, route } from '../route';
import { StackTable } from '../stack_table';
import { buildTree } from '../stack_tree';

interface Row {
	rank: number;
	symptom: ScopePageSymptom;
	length: number;
}

const columns: Column<Row>[] = [
	{ key: 'rank', title: '#', number: true, value: (row) => -row.rank, cell: (row) => row.rank },
	{
		key: 'stream', title: 'Stream', value: (row) => row.symptom.stream,
		cell: (row) => <a href={linkHere([String(row.rank)])}><bdi>{row.symptom.stream}</bdi></a>,
	},
	{ key: 'name', title: 'Symptom', value: (row) => row.symptom.name ?? '', cell: (row) => <bdi>{row.symptom.name ?? ''}</bdi> },
	{ key: 'thread', title: 'Thread', value: (row) => row.symptom.thread ?? '', cell: (row) => <bdi>{row.symptom.thread ?? row.symptom.tid}</bdi> },
	{ key: 'length', title: 'Length', number: true, value: (row) => row.length, cell: (row) => duration(row.length) },
	{
		key: 'unknown', title: 'Not explained', number: true, help: 'Time in which no event was seen', value: (row) => row.symptom.unknown_ns,
		cell: (row) => percent(row.symptom.unknown_ns / (row.length || 1)),
	},
];

interface Model {
	symptom: ScopePageSymptom;
	stacks: StackTable;
	table: FrameTable;
	lines: PathLine[];
	threads: Map<number, string>;
}

function makeModel(symptom: ScopePageSymptom, stacks: StackTable): Model {
	const threads = new Map(symptom.facts.threads.map(({ tid, name }) => [tid, name]));

	return { symptom, stacks, table: stacks.frames, lines: pathLines(symptom.path, symptom.steps ?? []), threads };
}

function threadName({ threads }: Model, tid: number): string {
	return threads.has(tid) ? `${threads.get(tid)} ${tid}` : `thread ${tid}`;
}

function stackOf(model: Model, stack: number | undefined) {
	return model.table.list(stack === undefined ? [] : model.stacks.names(stack));
}

// The function that most of a line is about.
function mainFrame(model: Model, line: PathLine) {
	const costs = new Map<string, number>();
	const frames = line.parts.map((part) => ({ frame: culprit(stackOf(model, part.stack)), cost: part.cost_ns }));

	for (const { frame, cost } of frames)
		if (frame)
			costs.set(frame.text, (costs.get(frame.text) ?? 0) + cost);
	const [text] = [...costs].sort((a, b) => b[1] - a[1])[0] ?? [];

	return text === undefined ? undefined : model.table.get(text);
}

const verbs = { run: 'runs', wait: 'waits in', queue: 'is on the run queue after', step: 'waits in' } as const;

function What({ model, line }: { model: Model; line: PathLine }) {
	const part = line.parts[0]!;
	const frame = mainFrame(model, line);
	const waker = part.waker_stack === undefined ? undefined : culprit(stackOf(model, part.waker_stack));

	return (
		<>
			<bdi>{threadName(model, part.tid)}</bdi> {verbs[line.kind]} {frame ? <FrameName frame={frame} /> : 'an unknown function'}
			{line.kind !== 'run' && line.kind !== 'queue' && part.waker !== undefined && !part.interrupt && (
				<>, woken by <bdi>{threadName(model, part.waker)}</bdi>{waker && <> in <FrameName frame={waker} /></>}</>
			)}
			{part.interrupt && ', woken by an interrupt'}
			{line.parts.length > 1 && <span class="dim"> {plural(line.parts.length, 'sample')}</span>}
		</>
	);
}

const SHOWN_LINES = 15;

function Lines({ model, selected, onSelect }: { model: Model; selected: number; onSelect: (line: number) => void }) {
	const [all, setAll] = useState(false);
	const { symptom, lines } = model;
	const whole = symptom.t1 - symptom.t0 || 1;
	const shown = useMemo(() => (all ? null : longestLines(lines, SHOWN_LINES)), [lines, all]);
	const numbers = [...lines.keys()].filter((number) => !shown || shown.has(number) || number === selected);

	return (
		<ScrollBox label="Critical path">
			<table aria-label="Critical path">
				<thead>
					<tr><th scope="col" class="number">At</th><th scope="col" class="number">Time</th><th scope="col" class="number">Share</th><th scope="col">What</th></tr>
				</thead>
				<tbody>
					{numbers.map((number) => {
						const line = lines[number]!;

						return (
							<tr key={number} aria-current={number === selected ? 'true' : undefined} onClick={() => onSelect(number)}>
								<td class="number">{duration(line.t - symptom.t0)}</td>
								<td class="number">{duration(line.cost)}</td>
								<td class="number"><span class="share"><Bar share={line.cost / whole} />{percent(line.cost / whole)}</span></td>
								<td><div class="path-line" style={{ paddingLeft: `${Math.min(line.depth, 12) * 0.9}rem` }}><What model={model} line={line} /></div></td>
							</tr>
						);
					})}
				</tbody>
			</table>
			{numbers.length < lines.length && (
				<p>The {count(numbers.length)} longest of {plural(lines.length, 'step')}. <button type="button" onClick={() => setAll(true)}>Show all</button></p>
			)}
		</ScrollBox>
	);
}

function LineDetail({ model, line }: { model: Model; line: PathLine }) {
	const [all, setAll] = useState(false);
	const part = line.parts.reduce((best, each) => (each.cost_ns > best.cost_ns ? each : best));

	return (
		<article class="detail" aria-live="polite">
			<h3><What model={model} line={line} />: {duration(line.cost)}</h3>
			<label class="switch"><input type="checkbox" checked={all} onChange={() => setAll(!all)} /> all frames</label>
			<FrameList frames={stackOf(model, part.stack)} all={all} />
			{part.waker_stack !== undefined && part.waker_stack > 0 && (
				<>
					<h3>Stack of the waker</h3>
					<FrameList frames={stackOf(model, part.waker_stack)} all={all} />
				</>
			)}
		</article>
	);
}

// What the path consists of, by state.
function shares({ symptom }: Model): { run: number; wait: number; queue: number } {
	const sums = { run: 0, wait: 0, queue: 0 };

	for (const part of symptom.path)
		sums[part.type === 'run' ? 'run' : part.queued ? 'queue' : 'wait'] += part.cost_ns;
	return sums;
}

function SymptomView({ symptom, stacks }: { symptom: ScopePageSymptom; stacks: StackTable }) {
	const model = useMemo(() => makeModel(symptom, stacks), [symptom]);
	const [selected, setSelected] = useState(-1);
	const whole = symptom.t1 - symptom.t0 || 1;
	const sums = useMemo(() => shares(model), [model]);
	const tree = useMemo(() => buildTree(symptom.path.map(({ stack, cost_ns }) => ({ frames: stacks.names(stack), value: cost_ns }))), [symptom]);
	const tiles = symptom.scope === 'critical-path';
	const line = model.lines[selected];

	return (
		<section aria-label="Symptom">
			<h2><bdi>{symptom.name ?? 'Symptom'}</bdi>: <bdi>{threadName(model, symptom.tid)}</bdi>, {duration(whole)}</h2>
			<p>
				{tiles ? <>Its critical path: {percent(sums.run / whole)} running, {percent(sums.wait / whole)} waiting, {percent(sums.queue / whole)} on the run queue, {percent(symptom.unknown_ns / whole)} not explained.</>
					: <>{plural(symptom.events, 'event')} belong to it (scope {symptom.scope}).</>}
				{blocks.value.has(`stream/${symptom.id}`) && <> <a href={link('stream', [symptom.id], { at: String(symptom.t0), tid: String(symptom.tid) })}>Its timeline</a></>}
			</p>
			<div class="key" aria-hidden="true">
				<span class="key-item"><i class="state run" /> running</span> <span class="key-item"><i class="state wait" /> waiting</span>{' '}
				<span class="key-item"><i class="state queue" /> on the run queue</span> <span class="key-item"><i class="state step" /> a wait whose waker is followed</span>
			</div>
			<PathBar t0={symptom.t0} t1={symptom.t1} path={symptom.path} lines={model.lines} selected={selected} onSelect={setSelected} label="Critical path of the symptom" />
			{line ? <LineDetail key={selected} model={model} line={line} /> : <p class="dim">{tiles && 'The wide row is the path. Below it, row by row: the slow thread, the threads that woke it, and those that woke them. '}Click on a part, or press the arrow keys, to see its stack.</p>}
			<Lines model={model} selected={selected} onSelect={setSelected} />
			<h2>All of the path as a flame graph</h2>
			<FlameGraph tree={tree} table={model.table} label="Flame graph of the critical path" />
		</section>
	);
}

export function Scope({ result }: { result: ScopeResult }) {
	const rows = useMemo(() => result.symptoms.map((symptom, place): Row => ({ rank: place + 1, symptom, length: symptom.t1 - symptom.t0 })), [result]);
	const stacks = useMemo(() => new StackTable(result.stacks), [result]);
	const chosen = rows[Number(route.value.parts[0] ?? 1) - 1] ?? rows[0];

	return (
		<>
			<Help words={['symptom', 'critical path', 'culprit', 'stream']}>
				What delayed slow threads: {plural(result.symptoms_total, 'symptom')}
				{rows.length < result.symptoms_total && <>, the {count(rows.length)} longest of them here</>}. A critical path follows the slow thread, and where
				it waited, the thread that woke it; its parts add up to the delay.
			</Help>
			{rows.length > 1 && (
				<Table columns={columns} rows={rows} label="Symptoms" sortBy="rank" rowKey={({ rank }) => String(rank)} selected={String(chosen?.rank)}
					onSelect={({ rank }) => go(linkHere([String(rank)]))} shown={10} />
			)}
			{chosen && <SymptomView key={chosen.rank} symptom={chosen.symptom} stacks={stacks} />}
		</>
	);
}
