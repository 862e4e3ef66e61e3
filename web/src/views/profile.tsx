// All of a corpus as flame graphs: what ran, what waited, and the functions that cost most in themselves.
import { useMemo } from 'preact/hooks';

import type { Columns } from '../columns';
import { duration, percent, plural } from '../format';
import { FrameTable } from '../frames';
import { isServed, useBlock } from '../page_data';
import { Bar } from '../parts/bar';
import { FlameGraph } from '../parts/flame_graph';
import { FrameName } from '../parts/frame_list';
import { Help } from '../parts/help';
import { exclude, match, queryOf, where, type Field } from '../parts/options';
import { Reading } from '../parts/reading';
import { Table, type Column } from '../parts/table';
import type { ProfileHead } from '../results';
import { linkHere, replaceQuery, route } from '../route';
import type { StackTree } from '../stack_tree';
import { usedTree } from '../stream_data';
import { mergeFrames } from '../transforms';
import { functionsOf, type FunctionRow } from '../tree_functions';
import { comparedTree } from '../tree_views';

const kinds = { run: 'On-CPU', wait: 'Off-CPU', both: 'Both', work: 'Waiting for work', idle: 'Idle' } as const;
type Kind = keyof typeof kinds;

function valuesOf(columns: Columns<ProfileHead>, kind: Kind): Float64Array {
	if (kind !== 'both')
		return columns.f64(kind);
	const wait = columns.f64('wait');

	return columns.f64('run').map((value, node) => value + wait[node]!);
}

export const profileFields: Field[] = [where, { key: 'compare', label: 'Compared with streams with', hint: 'version=4.1', suggest: 'where', own: true }, match, exclude];

function columnsOf(whole: number): Column<FunctionRow>[] {
	return [
		{
			key: 'name', title: 'Function', help: 'A click shows its callers and callees', value: (row) => row.frame.text,
			cell: (row) => <a href={linkHere([], { function: row.frame.text })}><FrameName frame={row.frame} /></a>,
		},
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

// `table`: plumbing goes to its callers; null: it stays.
function treeOf(columns: Columns<ProfileHead>, kind: Kind, table: FrameTable | null): StackTree {
	const tree = usedTree(columns.head.names, columns.u32('node_parent'), columns.u32('node_frame'), valuesOf(columns, kind).slice());

	return table ? mergeFrames(tree, (name) => table.get(name).plumbing) : tree;
}

// The profile of the streams to compare with; null: none, or not there yet.
function useOther(): { name: string; other: Columns<ProfileHead> | null; error?: string; block: string } {
	const { query } = route.value;
	const name = isServed() ? (query.get('compare')?.trim() ?? '') : '';
	const asked = new URLSearchParams(query);

	asked.set('where', name);
	const block = `profile${queryOf(profileFields, '', asked)}`;
	const { result, error } = useBlock(block, !!name, 'columns');

	return { name, other: (result as Columns<ProfileHead> | undefined) ?? null, error, block };
}

export function Profile({ result: columns }: { result: Columns<ProfileHead> }) {
	const { head } = columns;
	const table = useMemo(() => new FrameTable(head), [columns]);
	const present = (Object.keys(kinds) as Kind[]).filter((kind) => valuesOf(columns, kind).some((value) => value > 0));
	const kind = present.find((each) => each === route.value.query.get('kind')) ?? present[0] ?? 'run';
	const { name, other, error, block } = useOther();
	const all = route.value.query.get('all') === '1';
	const folding = all ? null : table;
	const tree = useMemo(() => treeOf(columns, kind, folding), [columns, kind, folding]);
	const compared = useMemo(
		() => (other ? comparedTree(tree, treeOf(other, kind, folding), head.streams / (other.head.streams || 1)) : null),
		[tree, other],
	);
	const rows = useMemo(() => functionsOf(tree, table), [tree]);

	return (
		<>
			<Help words={['stream', 'idle', 'callers and callees']}>
				All of {plural(head.streams, 'stream')}: {duration(tree.whole)} {kind === 'both' ? '' : `${kinds[kind]} `}time, summed over threads. Width is time; a call is
				below (or above) its caller.
				{head.stacks_cut > 0 && <> {plural(head.stacks_cut, 'stack')} of less than 0.001% are counted for their callers.</>}
			</Help>
			<p role="group" aria-label="Kind of time">
				{present.map((each) => (
					<button type="button" aria-pressed={each === kind} onClick={() => replaceQuery({ kind: each })}>{kinds[each]}</button>
				))}
				<label class="switch"><input type="checkbox" checked={all} onChange={() => replaceQuery({ all: all ? '' : '1' })} /> plumbing</label>
			</p>
			{error && <p role="alert" class="error">{error}</p>}
			{name && !other && !error && <Reading name={block} />}
			{compared && (
				<>
					<p class="dim">
						Colour is the difference from {plural(other!.head.streams, 'stream')} with <bdi class="mono">{name}</bdi>, as if there were as many of them as of these.
					</p>
					<div class="key" aria-hidden="true"><i class="state less" /> less <i class="state same" /> the same <i class="state more" /> more</div>
				</>
			)}
			<FlameGraph tree={compared ?? tree} table={table} label={`Flame graph, ${kinds[kind]}`}
				compare={compared ? { shown: 'these streams', other: `streams with ${name}, to scale`, sign: 1 } : undefined} />
			<h2>Functions</h2>
			<Table columns={columnsOf(tree.whole || 1)} rows={rows} label="Functions" sortBy="self" rowKey={(row) => row.frame.text} shown={20} />
		</>
	);
}
