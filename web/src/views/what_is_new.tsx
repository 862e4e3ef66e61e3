// Clusters that occur only since a point, or cost more since then: a time, a version, any attribute.
import { useMemo, useState } from 'preact/hooks';

import { changesOf, isSure, type Change } from '../changes';
import { count, duration, plural, probability, signed } from '../format';
import { blocks, isServed, useBlock } from '../page_data';
import { Reading } from '../parts/reading';
import { Table, type Column } from '../parts/table';
import type { InfoResult, MineCluster, MineResult } from '../results';
import { link, replaceQuery, route } from '../route';
import { compareValues, groupsOf, TIME, usualKey, valueOf, valueText, type Value } from '../stream_groups';
import { ClusterName, makeModel, type Row } from './clusters';

// The blocks of clusters, and the views that show them.
export const kinds = { mine: 'Waits', 'mine-run': 'CPU time' } as const;
export type Kind = keyof typeof kinds;

export const viewOfKind: Record<Kind, string> = { mine: 'clusters', 'mine-run': 'cpu-clusters' };

interface ChangeRow extends Change<MineCluster> {
	row: Row;
	word: string;
}

function wordOf(change: Change<MineCluster>): string {
	const { before, after } = change;
	const sure = isSure(change);

	if (before === 0 && after > 0)
		return sure ? 'new' : 'new, perhaps by chance';
	if (after === before)
		return 'the same';
	return `${after > before ? 'more' : 'less'}${sure ? '' : ', perhaps by chance'}`;
}

function changeColumns(kind: Kind): Column<ChangeRow>[] {
	return [
		{ key: 'culprit', title: 'Cluster', value: ({ row }) => row.culprit.text, cell: ({ row }) => <ClusterName row={row} href={link(viewOfKind[kind], [row.id])} /> },
		{ key: 'word', title: 'Since then', value: (row) => row.word },
		{ key: 'change', title: 'Change', number: true, help: 'A stream', value: (row) => row.after - row.before, cell: (row) => signed(row.after - row.before) },
		{ key: 'before', title: 'Before', number: true, help: 'A stream', value: (row) => row.before, cell: (row) => `${duration(row.before)} in ${count(row.beforeStreams)}` },
		{ key: 'after', title: 'After', number: true, help: 'A stream', value: (row) => row.after, cell: (row) => `${duration(row.after)} in ${count(row.afterStreams)}` },
		{ key: 'q', title: 'q', number: true, help: 'How often chance alone shows such differences, for all clusters together', value: (row) => -(row.q ?? 1), cell: (row) => (row.q === null ? '' : probability(row.q)) },
	];
}

// What is sure, in words.
function verdict(sure: ChangeRow[]): string {
	const fresh = sure.filter(({ before, after }) => before === 0 && after > 0).length;
	const more = sure.filter(({ before, after }) => before > 0 && after > before).length;
	const less = sure.length - fresh - more;

	if (!sure.length)
		return 'Nothing is surely new, and nothing surely costs more or less.';
	return [fresh ? `${plural(fresh, 'cluster')} ${fresh === 1 ? 'is' : 'are'} surely new` : 'Nothing is surely new', more && `${count(more)} surely ${more === 1 ? 'costs' : 'cost'} more`, less && `${count(less)} surely ${less === 1 ? 'costs' : 'cost'} less`]
		.filter(Boolean).join('; ') + '.';
}

// Clusters that occur only since a point, or cost more since then.
function Changes({ result, mined, by, from, only, kind }: { result: InfoResult; mined: MineResult; by: string; from: Value; only: boolean; kind: Kind }) {
	const { rows, before, after } = useMemo(() => {
		const sides = new Map(result.streams.map((stream) => {
			const order = compareValues(valueOf(stream, by), from);

			return [stream.id, only ? order === 0 : order >= 0] as const;
		}));
		const known = mined.stream_ids.map((id) => sides.get(id));
		const model = makeModel(mined);
		const clusters = new Map(model.rows.map((row) => [row.id, row]));
		const changes = changesOf(mined.clusters, mined.stream_ids, (id) => sides.get(id) ?? null);

		return {
			rows: changes.map((change): ChangeRow => ({ ...change, row: clusters.get(change.item.id)!, word: wordOf(change) })),
			before: known.filter((side) => side === false).length, after: known.filter((side) => side === true).length,
		};
	}, [mined, by, from, only]);

	const [all, setAll] = useState(false);
	const sure = rows.filter(isSure);
	const others = rows.length - sure.length;

	if (!before || !after)
		return <p>There are no streams on one of the sides: choose another point.</p>;
	return (
		<>
			<p>{verdict(sure)}</p>
			<p class="dim">
				{plural(after, 'stream')} since then, {plural(before, 'stream')} {only ? 'otherwise' : 'before'}; times are per stream, with the number of streams it occurs in; the change that costs most first.
				{before < 4 || after < 4 ? ' These are too few to tell most changes from chance.' : ''}
			</p>
			{(all || sure.length > 0) && <Table columns={changeColumns(kind)} rows={all ? rows : sure} label="Changes" sortBy="change" rowKey={({ item }) => item.id} shown={10} />}
			{others > 0 && !all && <button type="button" onClick={() => setAll(true)}>Show {plural(others, 'cluster')} that may have changed by chance</button>}
		</>
	);
}

export function WhatIsNew({ result, keys }: { result: InfoResult; keys: string[] }) {
	const { query } = route.value;
	const present = (Object.keys(kinds) as Kind[]).filter((kind) => blocks.value.has(kind));
	const kind = present.find((each) => each === query.get('kind')) ?? present[0]!;
	const asked = query.get('since');
	const by = asked && keys.includes(asked) ? asked : usualKey(result.streams, keys);
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
