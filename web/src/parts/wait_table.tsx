// Waits of what is selected, put together by what they were for, where, and who ended them.
import { useMemo } from 'preact/hooks';

import { count, duration, percent, plural } from '../format';
import type { Search } from '../search';
import { visitPieces, type Chosen } from '../selection_tree';
import { causeOf, functionOf, stateNames, threadName, throttledGroup, wokenBy } from '../state_words';
import { WAIT, type EventRef, type StreamData } from '../stream_data';
import type { State } from '../time_states';
import { Bar } from './bar';
import { Table, type Column } from './table';

interface WaitRow {
	key: string;
	state: State;
	cause: string;
	where: string;
	threads: Set<number>;
	waker: string;
	count: number;
	total: number;
	longest: EventRef;
	longestCost: number;
}

// What a wait ended by; why a thread that was ready had no processor. `quota`: where that may be for the quota of a control group.
function endText(data: StreamData, event: EventRef, state: State, quota: string): string {
	if (state === 'ready') {
		const behind = data.behindOf(event);

		return behind >= 0 ? `behind ${threadName(data, behind)}` : quota;
	}
	const stack = data.lists[WAIT].wakerStack?.[event.place] ?? 0;
	const where = stack ? functionOf(data, stack) : '';

	return [wokenBy(data, event), where && `in ${where}`].filter(Boolean).join(' ');
}

function rowsOf(data: StreamData, chosen: Chosen): WaitRow[] {
	const rows = new Map<string, WaitRow>();
	const throttled = throttledGroup(data);
	const quota = throttled ? `perhaps the quota of ${throttled.path}` : '';

	visitPieces(data, chosen, ({ type, place, state, cost }) => {
		if (state === 'running')
			return;
		const event = { type, place };
		const cause = state === 'ready' ? 'a processor' : causeOf(data, event, state);
		const where = functionOf(data, data.lists[type].stack[place]!);
		const waker = endText(data, event, state, quota);
		const key = [state, cause, where, waker].join('\n');
		const row = rows.get(key) ?? { key, state, cause, where, waker, threads: new Set(), count: 0, total: 0, longest: event, longestCost: 0 };

		rows.set(key, row);
		row.threads.add(data.threadOf(event));
		row.count++;
		row.total += cost;
		if (cost > row.longestCost) {
			row.longest = event;
			row.longestCost = cost;
		}
	});
	return [...rows.values()];
}

function whoText(data: StreamData, threads: Set<number>): string {
	const [first] = threads;

	return threads.size === 1 ? threadName(data, first!) : plural(threads.size, 'thread');
}

interface WaitTableProps {
	data: StreamData;
	chosen: Chosen;
	search: Search;
	onSelect: (event: EventRef) => void;
}

export function WaitTable({ data, chosen, search, onSelect }: WaitTableProps) {
	const all = useMemo(() => rowsOf(data, { ...chosen, kind: chosen.kind === 'run' || chosen.kind === 'all' ? 'all' : chosen.kind }), [data, chosen]);
	const rows = search.fits ? all.filter((row) => search.fits!(`${row.cause} ${row.where} ${row.waker} ${whoText(data, row.threads)}`)) : all;
	const whole = all.reduce((sum, { total }) => sum + total, 0) || 1;
	const columns: Column<WaitRow>[] = [
		{ key: 'total', title: 'Time', number: true, value: (row) => row.total, cell: (row) => <span class="share long"><Bar share={row.total / whole} />{percent(row.total / whole)} {duration(row.total)}</span> },
		{ key: 'count', title: 'Times', number: true, value: (row) => row.count, cell: (row) => count(row.count) },
		{ key: 'longest', title: 'Longest', number: true, value: (row) => row.longestCost, cell: (row) => <button type="button" class="link" onClick={() => onSelect(row.longest)}>{duration(row.longestCost)}</button> },
		{ key: 'cause', title: 'For', value: (row) => `${row.state} ${row.cause}`, cell: (row) => <><i class="time-state" style={{ background: `var(--time-${row.state})` }} title={stateNames[row.state]} /><bdi>{row.cause}</bdi></> },
		{ key: 'where', title: 'In', value: (row) => row.where, cell: (row) => <bdi class="mono wide-cell">{row.where || 'no stack'}</bdi> },
		{ key: 'who', title: 'Who waits', value: (row) => whoText(data, row.threads), cell: (row) => <bdi>{whoText(data, row.threads)}</bdi> },
		{ key: 'waker', title: 'Ended by', value: (row) => row.waker, cell: (row) => <bdi>{row.waker || 'not known'}</bdi> },
	];

	if (!all.length)
		return <p>No thread waited here, or was ready without a processor.</p>;
	return <Table columns={columns} rows={rows} label="Waits and wakers" sortBy="total" rowKey={(row) => row.key} onSelect={(row) => onSelect(row.longest)} shown={30} />;
}
