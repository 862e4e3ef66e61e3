// The source of a function, or its instructions, with what each line costs, running and waiting.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { duration, percent, plural } from '../format';
import { isServed, useBlock } from '../page_data';
import type { AnnotateResult, AnnotateRow } from '../results';
import { Bar } from './bar';
import { Reading } from './reading';

const HOT = 0.1; // of what the function takes: a line to look at
const FOLDED = 30; // lines in a row without a cost that are not shown at first
const AROUND = 8; // lines with a cost that stay

function costOf(row: AnnotateRow): number {
	return (row.total_run_ns ?? 0) + (row.total_wait_ns ?? 0);
}

function timesText(result: AnnotateResult): string {
	const part = (verb: string, self: number, total: number) => (total ? `${verb} ${duration(total)}${self && self < total ? `, ${duration(self)} of it by itself` : self ? '' : ' in what it calls'}` : `does not ${verb.slice(0, -1)}`);

	return `${part('runs', result.run_ns, result.total_run_ns)}; ${part('waits', result.wait_ns, result.total_wait_ns)}`;
}

// Stretches of rows: those to show, and those to fold.
function stretchesOf(rows: AnnotateRow[]): { from: number; to: number; folded: boolean }[] {
	const shown = new Uint8Array(rows.length);
	const any = rows.some((row) => costOf(row) > 0);
	const stretches: { from: number; to: number; folded: boolean }[] = [];

	rows.forEach((row, i) => {
		if (!any || costOf(row) > 0)
			shown.fill(1, Math.max(i - AROUND, 0), i + AROUND + 1);
	});
	for (let from = 0, to = 0; from < rows.length; from = to) {
		for (to = from; to < rows.length && shown[to] === shown[from]; to++);
		stretches.push({ from, to, folded: !shown[from] && to - from > FOLDED });
	}
	return stretches;
}

function Cost({ time, whole, kind }: { time?: number; whole: number; kind: 'run' | 'wait' }) {
	const part = time && whole ? time / whole : 0;

	return <td class={`number ${kind}${part >= HOT ? ' hot' : ''}`} title={time ? `${percent(part)} of what the function takes` : undefined}>{time ? duration(time) : ''}</td>;
}

function Row({ row, result, isHottest }: { row: AnnotateRow; result: AnnotateResult; isHottest: boolean }) {
	const line = useRef<HTMLTableRowElement>(null);
	const whole = result.total_run_ns + result.total_wait_ns;

	useEffect(() => {
		if (isHottest)
			line.current?.scrollIntoView({ block: 'center' });
	}, [isHottest]);
	return (
		<tr ref={line} class={costOf(row) >= HOT * whole ? 'hot' : ''}>
			<Cost time={row.run_ns} whole={result.total_run_ns} kind="run" />
			<Cost time={row.total_run_ns} whole={result.total_run_ns} kind="run" />
			<Cost time={row.wait_ns} whole={result.total_wait_ns} kind="wait" />
			<Cost time={row.total_wait_ns} whole={result.total_wait_ns} kind="wait" />
			<td class="meter">{costOf(row) > 0 && <Bar share={costOf(row) / (whole || 1)} />}</td>
			<td class="number dim">{row.line ?? ''}</td>
			{result.kind === 'code' && <td class="number dim mono">{row.address}</td>}
			<td><code>{row.text || ' '}</code></td>
		</tr>
	);
}

const titles: [string, string][] = [
	['Runs', 'CPU time at this line'], ['with calls', 'CPU time, with what the line calls'], ['Waits', 'Waiting at this line'], ['with calls', 'Waiting, with what the line calls'],
];

export function SourceTable({ result }: { result: AnnotateResult }) {
	const stretches = useMemo(() => stretchesOf(result.rows), [result]);
	const hottest = useMemo(() => result.rows.reduce((best, row, i) => (costOf(row) > (best < 0 ? 0 : costOf(result.rows[best]!)) ? i : best), -1), [result]);
	const [open, setOpen] = useState<Set<number>>(new Set());
	const columns = result.kind === 'code' ? 8 : 7;

	useEffect(() => setOpen(new Set()), [result]);
	return (
		<>
			<p>
				<bdi class="mono">{result.function}</bdi>
				{result.file && <> in <bdi class="mono">{result.file}</bdi></>}: {timesText(result)}.
				{result.other_count > 0 && <> {plural(result.other_count, 'other function')} fit, too: <bdi class="mono">{result.others.join(', ')}</bdi>.</>}
			</p>
			{result.why_no_lines && <p class="dim">No line has a cost: {result.why_no_lines}.</p>}
			{result.why_no_code && <p class="dim">There are no instructions: {result.why_no_code}.</p>}
			{result.why_no_source && <p class="dim">There is no source: {result.why_no_source}.</p>}
			{result.rows.length > 0 && (
				<div class="table-box" tabIndex={0} role="group" aria-label="Source">
					<table class="source">
						<thead>
							<tr>
								{titles.map(([title, help]) => <th class="number" title={help}>{title}</th>)}
								<th>Share</th>
								<th class="number">Line</th>
								{result.kind === 'code' && <th class="number">Address</th>}
								<th>{result.kind === 'code' ? 'Instruction' : 'Source'}</th>
							</tr>
						</thead>
						<tbody>
							{stretches.map(({ from, to, folded }) =>
								folded && !open.has(from)
									? <tr class="folded"><td colSpan={columns}><button type="button" onClick={() => setOpen(new Set([...open, from]))}>… {plural(to - from, 'line')} without a cost</button></td></tr>
									: result.rows.slice(from, to).map((row, i) => <Row row={row} result={result} isHottest={from + i === hottest} />),
							)}
						</tbody>
					</table>
				</div>
			)}
		</>
	);
}

// That of one stream in some time, which is asked for when it is shown.
export function SourceOf({ name, query }: { name: string; query: string }) {
	const block = `annotate?function=${encodeURIComponent(name)}${query}`;
	const { result, error } = useBlock(block, isServed() && !!name);

	if (!isServed())
		return <p>Sources are not in this file. `lode serve` shows them, and `lode annotate` in a terminal.</p>;
	if (!name)
		return <p>Choose a function: a right click on it in the flame graph or a tree, then "Source".</p>;
	if (error)
		return <p role="alert" class="error">{error}</p>;
	return result ? <SourceTable result={result as AnnotateResult} /> : <Reading name={block} />;
}
