// A heat map on a canvas: a row is a stack, a cell one of its functions, from root to leaf; its
// colour is the logarithm of its value. Arrow keys go from cell to cell, Enter chooses the row.
import { useRef, useState } from 'preact/hooks';

import { heatColour, palette, type Palette } from '../colours';
import { duration, signed } from '../format';
import type { Frame } from '../frames';
import { useDrawing } from './redraw';
import { SavePng } from './save_png';

export interface HeatRow {
	key: string;
	rank: number;
	name: string; // the function that the row is about
	cost: number;
	frames: Frame[];
	values: number[]; // of each frame
	hottest: number;
	notes?: string[]; // more about each frame
}

interface HeatMapProps {
	rows: HeatRow[];
	label: string;
	difference?: boolean; // values may be below 0
	onSelect: (key: string) => void;
}

interface Cell {
	row: number;
	column: number;
}

const ROW = 22;
const WIDEST_CELL = 22;
const DECADES = 4; // powers of ten below the hottest cell that are distinguished
const MARKS = 3; // neighbours of the hottest function that are marked, on either side

interface Geometry {
	left: number;
	cell: number;
}

function geometry(rows: HeatRow[], width: number): Geometry {
	const left = width < 700 ? 92 : 340;
	const widest = Math.max(...rows.map(({ frames }) => frames.length), 1);

	return { left, cell: Math.min(WIDEST_CELL, (width - left) / widest) };
}

// Whether cells have room for a number.
function hasMarks({ cell }: Geometry): boolean {
	return cell >= 18;
}

// From 0, nothing, to 1, the hottest cell of all.
function level(value: number, most: number): number {
	return value > 0 && most > 0 ? Math.max(0, 1 + Math.log10(value / most) / DECADES) : 0;
}

function clipped(context: CanvasRenderingContext2D, text: string, x: number, y: number, room: number): void {
	const letters = Math.floor(room / context.measureText('m').width);

	context.fillText(text.length > letters ? `${text.slice(0, Math.max(letters - 1, 0))}…` : text, x, y);
}

function drawRow(context: CanvasRenderingContext2D, row: HeatRow, y: number, place: Geometry, most: number, difference: boolean, colours: Palette): void {
	const middle = y + ROW / 2;
	const cost = difference ? signed(row.cost) : duration(row.cost);

	context.textAlign = 'left';
	context.fillStyle = colours.dim;
	context.fillText(`#${row.rank}`, 0, middle);
	context.fillStyle = colours.text;
	context.textAlign = 'right';
	context.fillText(cost, 86, middle);
	context.textAlign = 'left';
	if (place.left > 200)
		clipped(context, row.name, 96, middle, place.left - 106);
	row.values.forEach((value, column) => {
		const heat = level(value, most);
		const x = place.left + column * place.cell;
		const distance = column - row.hottest;

		context.fillStyle = heat > 0 ? heatColour(heat, colours) : colours.line;
		context.fillRect(x, y + 1, Math.max(place.cell - 1, 1), ROW - 2);
		if (!hasMarks(place) || Math.abs(distance) > MARKS)
			return;
		context.fillStyle = heat > 0 ? colours.heatText[heat > 0.65 ? 1 : 0]! : colours.text;
		context.textAlign = 'center';
		context.fillText(distance > 0 ? `+${distance}` : String(distance), x + place.cell / 2, middle);
		context.textAlign = 'left';
	});
}

function draw(canvas: HTMLCanvasElement, { rows, difference = false }: HeatMapProps, chosen: Cell | null): void {
	const context = canvas.getContext('2d')!;
	const width = canvas.clientWidth;
	const ratio = devicePixelRatio;
	const place = geometry(rows, width);
	const most = Math.max(...rows.flatMap(({ values }) => values), 0);

	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(canvas.clientHeight * ratio);
	context.scale(ratio, ratio);
	context.font = '12px ui-monospace, monospace';
	context.textBaseline = 'middle';
	rows.forEach((row, number) => drawRow(context, row, number * ROW, place, most, difference, palette.value));
	if (chosen) {
		context.strokeStyle = palette.value.text;
		context.lineWidth = 2;
		context.strokeRect(place.left + chosen.column * place.cell, chosen.row * ROW + 1, Math.max(place.cell - 1, 2), ROW - 2);
	}
}

function Details({ row, column, difference, marked }: { row: HeatRow | undefined; column: number; difference: boolean; marked: boolean }) {
	const frame = row?.frames[column];

	if (!row || !frame)
		return <p class="dim flame-details">A row is a call path, its root at the left; colour is {difference ? 'the added time' : 'the time'} of the function itself.{marked && ' 0 marks the one with the most, -1 its caller.'} Point at a cell, or press the arrow keys, to see it.</p>;
	const distance = column - row.hottest;

	return (
		<p class="flame-details" aria-live="polite">
			#{row.rank} <bdi class="mono">{frame.text}</bdi>: <b>{difference ? signed(row.values[column]!) : duration(row.values[column]!)}</b> by itself
			{row.notes?.[column] && <>, {row.notes[column]}</>}
			{distance !== 0 && <>; {Math.abs(distance)} {distance > 0 ? 'below' : 'above'} the hottest function</>}
		</p>
	);
}

function Scale({ difference }: { difference: boolean }) {
	const colours = palette.value;

	return (
		<div class="key" aria-hidden="true">
			<span class="key-item"><i class="state" style={{ background: colours.line }} /> {difference ? 'no more' : 'nothing'}, or less than 1/10,000 of the most</span>
			<span class="key-item"><i class="heat-scale" style={{ background: `linear-gradient(to right, ${colours.heat.join(', ')})` }} /> most {difference ? 'added ' : ''}time (logarithmic)</span>
		</div>
	);
}

export function HeatMap(props: HeatMapProps) {
	const canvas = useRef<HTMLCanvasElement>(null);
	const [chosen, setChosen] = useState<Cell | null>(null);
	const { rows } = props;

	useDrawing(canvas, (element) => draw(element, props, chosen));

	function move(rowStep: number, columnStep: number): void {
		const row = Math.min(Math.max((chosen?.row ?? 0) + (chosen ? rowStep : 0), 0), rows.length - 1);
		const wanted = chosen ? (rowStep ? rows[row]!.hottest : chosen.column + columnStep) : rows[row]!.hottest;

		setChosen({ row, column: Math.min(Math.max(wanted, 0), rows[row]!.frames.length - 1) });
	}
	function onKey(event: KeyboardEvent): void {
		const steps: Record<string, [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
		const step = steps[event.key];

		if (step)
			move(...step);
		else if (event.key === 'Enter' && chosen)
			props.onSelect(rows[chosen.row]!.key);
		else
			return;
		event.preventDefault();
	}
	function atPointer(event: MouseEvent): Cell | null {
		const place = geometry(rows, canvas.current!.clientWidth);
		const row = Math.floor(event.offsetY / ROW);
		const column = Math.floor((event.offsetX - place.left) / place.cell);

		return rows[row] && column >= 0 && column < rows[row].frames.length ? { row, column } : null;
	}
	function onClick(event: MouseEvent): void {
		const row = rows[Math.floor(event.offsetY / ROW)];

		if (row)
			props.onSelect(row.key);
	}

	return (
		<section class="flame" aria-label={props.label}>
			<Scale difference={props.difference ?? false} />
			<canvas ref={canvas} tabIndex={0} role="img" aria-label={`${props.label}. Arrow keys go from cell to cell, Enter chooses the row.`}
				style={{ height: `${rows.length * ROW}px` }} onKeyDown={onKey} onClick={onClick}
				onMouseMove={(event) => setChosen(atPointer(event))} />
			<Details row={chosen ? rows[chosen.row] : undefined} column={chosen?.column ?? 0} difference={props.difference ?? false}
				marked={hasMarks(geometry(rows, canvas.current?.clientWidth ?? innerWidth))} />
			<SavePng canvas={canvas} name="heat-map" />
		</section>
	);
}
