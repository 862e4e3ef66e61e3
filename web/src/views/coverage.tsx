// The result of `lode coverage`: how much of the delay signatures explain, and which streams to open first.
import { useMemo, useState } from 'preact/hooks';

import { count, duration, percent, plural } from '../format';
import { blocks, isServed } from '../page_data';
import { Bar } from '../parts/bar';
import { Help } from '../parts/help';
import { ScrollBox } from '../parts/scroll_box';
import { sign } from '../parts/signature';
import { Table, type Column } from '../parts/table';
import type { CoverageLevel, CoverageResult, CoverageSignature, CoverageStep } from '../results';
import { link } from '../route';

function Share({ share }: { share: number | null }) {
	return share === null ? <>–</> : <span class="share"><Bar share={share} />{percent(share)}</span>;
}

const states = ['open', 'fixed', 'ignored'];

// A server keeps what is chosen.
function State({ row: { name, state } }: { row: CoverageSignature }) {
	const [error, setError] = useState('');

	return (
		<>
			<select aria-label={`State of ${name}`} value={state} onChange={(event) => void sign({ name, state: event.currentTarget.value }).catch((failure: Error) => setError(failure.message))}>
				{states.map((each) => <option value={each}>{each}</option>)}
			</select>
			{error && <span role="alert" class="error"> {error}</span>}
		</>
	);
}

function Bug({ bug }: { bug: string }) {
	return /^https?:\/\//.test(bug) ? <a href={bug} rel="noopener noreferrer"><bdi>{bug}</bdi></a> : <bdi>{bug}</bdi>;
}

// One more note, which a server keeps.
function AddNote({ name }: { name: string }) {
	const [note, setNote] = useState('');
	const [error, setError] = useState('');

	function save(event: Event): void {
		event.preventDefault();
		setError('');
		sign({ name, note: note.trim() }).then(() => setNote(''), (failure: Error) => setError(failure.message));
	}
	return (
		<details class="add-note">
			<summary>Add a note…</summary>
			<form onSubmit={save}>
				<input aria-label={`Note on ${name}`} value={note} onInput={(event) => setNote(event.currentTarget.value)} />{' '}
				<button type="submit" disabled={!note.trim()}>Save</button>
				{error && <span role="alert" class="error"> {error}</span>}
			</form>
		</details>
	);
}

function Notes({ row: { name, bug, notes } }: { row: CoverageSignature }) {
	return (
		<div class="notes">
			{bug !== null && <p><Bug bug={bug} /></p>}
			{notes.map((note) => <p><bdi>{note}</bdi></p>)}
			{isServed() && <AddNote name={name} />}
		</div>
	);
}

const columns: Column<CoverageSignature>[] = [
	{ key: 'name', title: 'Signature', value: (row) => row.name, cell: (row) => <bdi>{row.name}</bdi> },
	{ key: 'state', title: 'State', value: (row) => row.state, cell: (row) => (isServed() ? <State row={row} /> : row.state) },
	{ key: 'coverage', title: 'Covers', number: true, help: 'Of the delay', value: (row) => row.cost_ns, cell: (row) => <Share share={row.coverage} /> },
	{ key: 'together', title: 'Cumulative', number: true, help: 'With those that cover more', value: (row) => row.cumulative ?? 0, cell: (row) => <Share share={row.cumulative} /> },
	{ key: 'cost', title: 'Time', number: true, value: (row) => row.cost_ns, cell: (row) => duration(row.cost_ns) },
	{ key: 'run', title: 'CPU time', number: true, value: (row) => row.run_ns, cell: (row) => duration(row.run_ns) },
	{ key: 'wait', title: 'Waiting', number: true, value: (row) => row.wait_ns, cell: (row) => duration(row.wait_ns) },
	{ key: 'events', title: 'Events', number: true, value: (row) => row.events, cell: (row) => count(row.events) },
	{ key: 'streams', title: 'Streams', number: true, value: (row) => row.streams, cell: (row) => count(row.streams) },
	{ key: 'notes', title: 'Bug and notes', value: (row) => [row.bug ?? '', ...row.notes].join(' '), cell: (row) => <Notes row={row} /> },
];

const openedColumns: Column<CoverageStep>[] = [
	{ key: 'number', title: '#', number: true, value: (row) => -row.streams, cell: (row) => row.streams },
	{
		key: 'stream', title: 'Stream', value: (row) => row.stream,
		cell: (row) => (blocks.value.has(`stream/${row.stream_id}`) ? <a href={link('stream', [row.stream_id])}><bdi>{row.stream}</bdi></a> : <bdi>{row.stream}</bdi>),
	},
	{ key: 'coverage', title: 'Seen so far', number: true, value: (row) => row.cost_ns, cell: (row) => <Share share={row.coverage} /> },
	{ key: 'reveals', title: 'Shows for the first time', value: (row) => row.reveals.join(', '), cell: (row) => <bdi class="wide-cell">{row.reveals.join(', ')}</bdi> },
];

const openings = ['stackmine', 'random', 'greedy_total', 'greedy_max'];

const openingWords: Record<string, string> = { stackmine: 'As above', random: 'By chance', greedy_total: 'Most delay first', greedy_max: 'Longest symptom first' };

// How many streams each order of opening needs for so much coverage.
function Levels({ result }: { result: CoverageResult }) {
	const names = (Object.keys(result.levels[0] ?? {}) as (keyof CoverageLevel)[]).filter((key) => key !== 'coverage' && key !== 'cost_ns')
		.sort((a, b) => openings.indexOf(a) - openings.indexOf(b));

	if (!result.levels.length)
		return null;
	return (
		<>
			<h2>Streams to open, by order of opening</h2>
			<p class="dim">How many streams one has to open to see so much of the delay; by chance, the mean of {plural(result.shuffles, 'shuffle')}.</p>
			<ScrollBox label="Streams to open">
				<table aria-label="Streams to open" class="narrow">
					<thead><tr><th scope="col" class="number">To see</th>{names.map((name) => <th scope="col" class="number">{openingWords[name] ?? name}</th>)}</tr></thead>
					<tbody>
						{result.levels.map((level) => (
							<tr>
								<td class="number">{level.coverage === null ? duration(level.cost_ns) : percent(level.coverage)}</td>
								{names.map((name) => <td class="number">{level[name] === null || level[name] === undefined ? '' : Number(level[name]!.toFixed(1))}</td>)}
							</tr>
						))}
					</tbody>
				</table>
			</ScrollBox>
		</>
	);
}

export function Coverage({ result }: { result: CoverageResult }) {
	const [order] = useMemo(() => Object.entries(result.curves).sort(([a], [b]) => openings.indexOf(a) - openings.indexOf(b)).map(([, steps]) => steps), [result]);

	return (
		<>
			<Help words={['signature', 'symptom', 'stream', 'area']}>
				Signatures match {duration(result.cost_ns)} of {duration(result.whole_ns)} that {result.whole === 'symptoms' ? 'symptoms took' : 'all events cost'} in{' '}
				{plural(result.streams, 'stream')} (scope {result.scope}){result.coverage !== null && <>: <b>{percent(result.coverage)}</b> of it is explained</>}.
				{result.ignored > 0 && <> {plural(result.ignored, 'signature')} are ignored.</>}
			</Help>
			<Table columns={columns} rows={result.signatures} label="Signatures" sortBy="coverage" rowKey={({ name }) => name} shown={25} />
			{order && order.length > 0 && (
				<>
					<h2>Streams to open first</h2>
					<Table columns={openedColumns} rows={order} label="Streams to open first" sortBy="number" rowKey={({ stream_id: id }) => id} shown={10} />
				</>
			)}
			<Levels result={result} />
		</>
	);
}
