// Any question, as SQL: a box that completes tables and columns, and the answer as a table.
import { useMemo, useRef, useState } from 'preact/hooks';

import { count, duration } from '../format';
import { blocks, useBlock } from '../page_data';
import { Help } from '../parts/help';
import { saveText } from '../parts/save_picture';
import { Table, type Column } from '../parts/table';
import type { QueryResult } from '../results';
import { go, link, linkHere, route } from '../route';
import { completions, sqlWords, TABLES_SQL, wordBefore, type SqlWord } from '../sql_words';

const examples: [string, string][] = [
	['Functions that use the CPU', "SELECT leaf(stack) AS function, sum(cost) AS cost_ns\nFROM sums WHERE kind = 'run'\nGROUP BY function ORDER BY cost_ns DESC LIMIT 20"],
	['What threads wait for', "SELECT object, count(*) AS waits, quantile(cost, 0.99) AS p99_ns, sum(cost * weight) AS cost_ns\nFROM events WHERE type = 'wait'\nGROUP BY object ORDER BY cost_ns DESC LIMIT 20"],
	['Who wakes whom', 'SELECT w.name AS waker, t.name AS woken, count(*) AS waits\nFROM events e JOIN threads t USING (thread) JOIN threads w ON w.thread = e.waker\nGROUP BY 1, 2 ORDER BY waits DESC LIMIT 20'],
	['Tables and columns', 'SELECT * FROM tables'],
];

type Value = QueryResult['rows'][number][number];
type Row = { place: number; values: Value[] };

const isTime = (name: string) => /(^|_)ns$/.test(name);
const isId = (name: string, value: Value) => name === 'id' && blocks.value.has(`stream/${value}`);

function cellOf(name: string, value: Value) {
	if (value === null)
		return <span class="dim">NULL</span>;
	if (isId(name, value))
		return <a class="mono" href={link('stream', [String(value)])}>{value}</a>;
	if (typeof value === 'number')
		return isTime(name) ? <span title={`${count(value)} ns`}>{duration(value)}</span> : Number.isInteger(value) ? count(value) : String(value);
	return <bdi class="wide-cell">{String(value)}</bdi>;
}

function columnsOf({ columns, rows }: QueryResult): Column<Row>[] {
	return columns.map((name, place) => ({
		key: String(place), title: name, number: rows.some(({ [place]: value }) => typeof value === 'number'),
		value: ({ values }) => { const value = values[place]; return typeof value === 'number' ? value : String(value ?? ''); },
		cell: ({ values }) => cellOf(name, values[place]!),
	}));
}

const quotedCell = (value: Value) => (/[",\n\r]/.test(String(value ?? '')) ? `"${String(value).replace(/"/g, '""')}"` : String(value ?? ''));

function csvOf({ columns, rows }: QueryResult): string {
	return [columns, ...rows].map((row) => row.map(quotedCell).join(',')).join('\n') + '\n';
}

// In the order of the answer until a column is chosen.
export function Query({ result }: { result: QueryResult }) {
	const columns = useMemo(() => columnsOf(result), [result]);
	const rows = useMemo(() => result.rows.map((values, place) => ({ place, values })), [result]);
	const order: Column<Row> = { key: 'order', title: '#', number: true, value: ({ place }) => place + 1 };

	return (
		<section aria-label="Answer">
			<p class="dim">
				{count(rows.length)} {rows.length === 1 ? 'row' : 'rows'}{result.complete ? '' : '; there are more, and a LIMIT or WHERE chooses which'}.{' '}
				{rows.length > 0 && <button type="button" onClick={() => saveText(csvOf(result), 'answer.csv', 'text/csv')}>CSV</button>}
			</p>
			{rows.length > 0 && <Table columns={[order, ...columns]} rows={rows} label="Answer" sortBy="order" ascending rowKey={({ place }) => String(place)} shown={100} />}
		</section>
	);
}

function Offered({ words, at, onTake }: { words: SqlWord[]; at: number; onTake: (word: SqlWord) => void }) {
	return (
		<ul class="offered" id="sql-words" role="listbox" aria-label="May come next">
			{words.map((each, place) => (
				<li id={`sql-word-${place}`} role="option" aria-selected={place === at} onPointerDown={(event) => (event.preventDefault(), onTake(each))}>
					<span class="mono">{each.word}</span> <span class="dim">{each.table && `${each.table}: `}{each.meaning}</span>
				</li>
			))}
		</ul>
	);
}

export function QueryForm() {
	const asked = route.value.query.get('sql') ?? '';
	const [text, setText] = useState(asked || examples[0]![1]);
	const [caret, setCaret] = useState(-1); // -1: nothing is offered
	const [at, setAt] = useState(0);
	const box = useRef<HTMLTextAreaElement>(null);
	const { result } = useBlock(`query?sql=${encodeURIComponent(TABLES_SQL)}`);
	const words = useMemo(() => sqlWords(result as QueryResult | undefined), [result]);
	const offered = caret < 0 ? [] : completions(words, text, caret);

	// What was typed a moment ago is in the box before it is in `text`.
	const typed = () => box.current?.value ?? text;

	function run(sql: string): void {
		setText(sql);
		setCaret(-1);
		go(linkHere([], { sql: sql.trim() }));
	}
	function take({ word }: SqlWord): void {
		const before = typed();
		const end = box.current?.selectionStart ?? caret;
		const from = end - wordBefore(before, end).length;

		setText(`${before.slice(0, from)}${word}${before.slice(end)}`);
		setCaret(-1);
		requestAnimationFrame(() => box.current?.setSelectionRange(from + word.length, from + word.length));
	}
	function onKey(event: KeyboardEvent): void {
		const step = offered.length ? { ArrowDown: 1, ArrowUp: -1 }[event.key] : undefined;

		if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
			run(typed());
		else if (step)
			setAt((at + step + offered.length) % offered.length);
		else if (event.key === 'Tab' && offered.length && !event.shiftKey)
			take(offered[Math.min(at, offered.length - 1)]!);
		else if (event.key === 'Escape' && offered.length)
			setCaret(-1);
		else
			return;
		event.preventDefault();
	}
	return (
		<div class="query">
			<Help words={['stream', 'symptom']}>Ask the recordings anything, as SQL. Tab completes a word, Ctrl and Enter ask; times are nanoseconds, and columns that end in _ns are shown with a unit.</Help>
			<p class="filters">{examples.map(([name, sql]) => <button type="button" class="chip" onClick={() => run(sql)}>{name}</button>)}</p>
			<div class="sql">
				<textarea ref={box} rows={Math.min(Math.max(text.split('\n').length, 4), 14)} spellcheck={false} aria-label="SQL" aria-autocomplete="list" aria-controls={offered.length ? 'sql-words' : undefined}
					aria-activedescendant={offered.length ? `sql-word-${at}` : undefined} value={text} onKeyDown={onKey} onBlur={() => setCaret(-1)}
					onInput={(event) => (setText(event.currentTarget.value), setCaret(event.currentTarget.selectionStart), setAt(0))} />
				{offered.length > 0 && <Offered words={offered} at={at} onTake={take} />}
			</div>
			<p><button type="button" class="primary" onClick={() => run(typed())}>Ask</button> <span class="dim">Ctrl + Enter</span></p>
		</div>
	);
}
