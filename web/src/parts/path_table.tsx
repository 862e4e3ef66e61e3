// The critical path of a symptom, step by step: which thread it went through, what that did, and for how long.
import { useMemo } from 'preact/hooks';

import { duration, percent } from '../format';
import type { Search } from '../search';
import { visitPieces, type Chosen, type Piece } from '../selection_tree';
import { causeOf, functionOf, stateNames, threadName } from '../state_words';
import type { EventRef, StreamData } from '../stream_data';
import { Bar } from './bar';
import { Table, type Column } from './table';

interface Step extends Piece {
	number: number;
	thread: number;
	where: string;
	what: string;
}

// Samples of one function after each other are one step.
function stepsOf(data: StreamData, chosen: Chosen): Step[] {
	const steps: Step[] = [];

	visitPieces(data, chosen, (piece) => {
		const event = { type: piece.type, place: piece.place };
		const thread = data.threadOf(event);
		const where = functionOf(data, data.lists[piece.type].stack[piece.place]!);
		const last = steps.at(-1);
		const what = piece.state === 'running' ? 'runs' : piece.state === 'ready' ? 'is ready' : `waits for ${causeOf(data, event, piece.state)}`;

		if (last && last.thread === thread && last.where === where && last.what === what)
			last.cost += piece.cost;
		else
			steps.push({ ...piece, number: steps.length + 1, thread, where, what });
	});
	return steps;
}

interface PathTableProps {
	data: StreamData;
	chosen: Chosen;
	search: Search;
	selected: EventRef | null;
	onSelect: (event: EventRef) => void;
}

export function PathTable({ data, chosen, search, selected, onSelect }: PathTableProps) {
	const all = useMemo(() => stepsOf(data, { ...chosen, kind: 'all' }), [data, chosen]);
	const whole = all.reduce((sum, { cost }) => sum + cost, 0) || 1;
	const rows = search.fits ? all.filter((step) => search.fits!(`${step.what} ${step.where} ${threadName(data, step.thread)}`)) : all;
	const columns: Column<Step>[] = [
		{ key: 'number', title: 'Step', number: true, value: (step) => step.number },
		{ key: 'at', title: 'At', number: true, value: (step) => step.t, cell: (step) => duration(step.t) },
		{ key: 'cost', title: 'Time', number: true, value: (step) => step.cost, cell: (step) => <span class="share long"><Bar share={step.cost / whole} />{percent(step.cost / whole)} {duration(step.cost)}</span> },
		{ key: 'thread', title: 'Thread', value: (step) => threadName(data, step.thread), cell: (step) => <button type="button" class="link" onClick={() => onSelect(step)}><bdi>{threadName(data, step.thread)}</bdi></button> },
		{ key: 'what', title: 'What it does', value: (step) => step.what, cell: (step) => <><i class="time-state" style={{ background: `var(--time-${step.state})` }} title={stateNames[step.state]} /><bdi>{step.what}</bdi></> },
		{ key: 'where', title: 'In', value: (step) => step.where, cell: (step) => <bdi class="mono">{step.where || 'no stack'}</bdi> },
	];

	if (!chosen.symptom)
		return <p>This stream has no symptoms, so there is no critical path.</p>;
	if (!all.length)
		return <p>The critical path has no event in this time.</p>;
	const current = all.find((step) => selected && step.type === selected.type && step.place === selected.place);

	return <Table columns={columns} rows={rows} label="Critical path" sortBy="number" ascending rowKey={(step) => String(step.number)} selected={current ? String(current.number) : undefined} onSelect={onSelect} shown={50} />;
}
