// What the threads of each process did: every nanosecond in one state, as shares of their time.
import { duration, percent, plural } from '../format';
import { Table, type Column } from '../parts/table';
import type { ActivityProcess } from '../results';

const SHOWN = 10;
// A state that is nowhere more than this share of a process has no column.
const RARE = 0.005;

interface State {
	key: string;
	title: string;
	help?: string;
	time: (row: ActivityProcess) => number;
}

const waits: [string, string][] = [
	['lock', 'Lock'], ['reply', 'Reply'], ['disk', 'Disk'], ['network', 'Network'], ['timer', 'Timer'], ['gil', 'GIL'], ['page', 'Page'], ['child', 'Child'],
	['work', 'Work'], ['other', 'Other wait'],
];

const states: State[] = [
	{ key: 'running', title: 'Running', time: (row) => row.running_ns },
	{ key: 'kernel', title: 'In kernel', help: 'The part of running in the kernel, as samples tell', time: (row) => row.running_kernel_ns ?? 0 },
	{ key: 'ready', title: 'Ready', help: 'Could run, but had no processor', time: (row) => row.ready_ns },
	...waits.map(([key, title]): State => ({ key, title, time: (row) => row.waiting_ns[key] ?? 0 })),
	{ key: 'idle', title: 'Idle', help: 'Waits of threads that have nothing to do', time: (row) => row.idle_ns },
	{ key: 'unknown', title: 'Not recorded', time: (row) => row.not_recorded_ns },
];

function shareOf(row: ActivityProcess, state: State): number {
	return row.interval_ns > 0 ? state.time(row) / row.interval_ns : 0;
}

function columnsOf(rows: ActivityProcess[]): Column<ActivityProcess>[] {
	return [
		{ key: 'process', title: 'Process', value: (row) => row.process, cell: (row) => <bdi>{row.process || 'unknown'}</bdi> },
		{ key: 'time', title: 'Time', number: true, help: 'Of all its threads together', value: (row) => row.interval_ns, cell: (row) => duration(row.interval_ns) },
		...states.filter((state) => state.key === 'running' || state.key === 'ready' || rows.some((row) => shareOf(row, state) > RARE)).map((state): Column<ActivityProcess> => ({
			key: state.key, title: state.title, help: state.help, number: true, value: (row) => shareOf(row, state), cell: (row) => percent(shareOf(row, state)),
		})),
	];
}

// Whether more is known than that everything runs: recordings of samples alone know no other state.
export function knowsStates(rows: ActivityProcess[] | undefined): rows is ActivityProcess[] {
	return !!rows?.some((row) => row.ready_ns > 0 || row.idle_ns > 0 || Object.values(row.waiting_ns).some((time) => time > 0));
}

export function Processes({ rows }: { rows: ActivityProcess[] }) {
	// They come in the order of what counts most.
	const order = new Map(rows.map((row, place) => [row, -place]));
	const columns = columnsOf(rows);

	columns[0] = { ...columns[0]!, order: (a, b) => order.get(a)! - order.get(b)! };
	return (
		<section aria-label="Processes">
			<h2>All time of {plural(rows.length, 'process', 'processes')}, idle and slow or not</h2>
			<Table columns={columns} rows={rows} label="Processes" sortBy="process" rowKey={(row) => row.process} shown={SHOWN} />
		</section>
	);
}
