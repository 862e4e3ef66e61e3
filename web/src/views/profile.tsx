// All of a corpus as flame graphs: what ran, what waited, and the functions that cost most in themselves.
import { useMemo, useState } from 'preact/hooks';

import { Columns } from '../columns';
import { duration, percent, plural } from '../format';
import { FrameTable, type Frame, type ModuleLayer } from '../frames';
import { Bar } from '../parts/bar';
import { FlameGraph } from '../parts/flame_graph';
import { FrameName } from '../parts/frame_list';
import { Help } from '../parts/help';
import { Table, type Column } from '../parts/table';
import type { StackTree } from '../stack_tree';
import { usedTree } from '../stream_data';

interface ProfileHead {
	streams: number;
	stacks_cut: number;
	names: string[];
	modules: ModuleLayer[];
	plumbing: string[];
}

const kinds = { run: 'On-CPU', wait: 'Off-CPU', both: 'Both', work: 'Waiting for work', idle: 'Idle' } as const;
type Kind = keyof typeof kinds;

function valuesOf(columns: Columns<ProfileHead>, kind: Kind): Float64Array {
	if (kind !== 'both')
		return columns.f64(kind);
	const wait = columns.f64('wait');

	return columns.f64('run').map((value, node) => value + wait[node]!);
}

interface FunctionRow {
	frame: Frame;
	self: number;
	total: number; // with what it calls; recursion counts once
}

function functionsOf(tree: StackTree, table: FrameTable): FunctionRow[] {
	const self = new Float64Array(tree.names.length);
	const total = new Float64Array(tree.names.length);

	for (let node = 0; node < tree.parent.length; node++)
		self[tree.frame[node]!]! += tree.self[node]!;
	// A function counts at its outermost call alone: nothing above it has the same name.
	for (let node = 0; node < tree.parent.length; node++) {
		let above = tree.parent[node]!;

		while (above >= 0 && tree.frame[above] !== tree.frame[node])
			above = tree.parent[above]!;
		if (above < 0)
			total[tree.frame[node]!]! += tree.total[node]!;
	}
	return tree.names.map((name, number) => ({ frame: table.get(name), self: self[number]!, total: total[number]! })).filter((row) => row.total > 0);
}

function columnsOf(whole: number): Column<FunctionRow>[] {
	return [
		{ key: 'name', title: 'Function', value: (row) => row.frame.text, cell: (row) => <FrameName frame={row.frame} /> },
		{
			key: 'self', title: 'In itself', number: true, value: (row) => row.self,
			cell: (row) => <span class="share"><Bar share={row.self / whole} />{percent(row.self / whole)} {duration(row.self)}</span>,
		},
		{
			key: 'total', title: 'With what it calls', number: true, value: (row) => row.total,
			cell: (row) => <span class="share"><Bar share={row.total / whole} />{percent(row.total / whole)} {duration(row.total)}</span>,
		},
	];
}

export function Profile({ result }: { result: ArrayBuffer }) {
	const columns = useMemo(() => new Columns<ProfileHead>(result), [result]);
	const { head } = columns;
	const table = useMemo(() => new FrameTable(head.modules, head.plumbing), [columns]);
	const present = (Object.keys(kinds) as Kind[]).filter((kind) => valuesOf(columns, kind).some((value) => value > 0));
	const [kind, setKind] = useState<Kind>(present[0] ?? 'run');
	const tree = useMemo(
		() => usedTree(head.names, columns.u32('node_parent'), columns.u32('node_frame'), valuesOf(columns, kind).slice()),
		[columns, kind],
	);
	const rows = useMemo(() => functionsOf(tree, table), [tree]);

	return (
		<>
			<Help words={['stream', 'idle']}>
				All of {plural(head.streams, 'stream')}: {duration(tree.whole)} {kinds[kind].toLowerCase()} time, summed over threads. Width is time; a call is
				below (or above) its caller.
				{head.stacks_cut > 0 && <> {plural(head.stacks_cut, 'stack')} of less than 0.001% are counted for their callers.</>}
			</Help>
			<p role="group" aria-label="Kind of time">
				{present.map((each) => (
					<button type="button" aria-pressed={each === kind} onClick={() => setKind(each)}>{kinds[each]}</button>
				))}
			</p>
			<FlameGraph tree={tree} table={table} label={`Flame graph, ${kinds[kind]}`} />
			<h2>Functions</h2>
			<Table columns={columnsOf(tree.whole || 1)} rows={rows} label="Functions" sortBy="self" rowKey={(row) => row.frame.text} shown={20} />
		</>
	);
}
