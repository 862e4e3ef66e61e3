// A symptom as a bar on a canvas: its critical path tiles the first row; below, each wait that
// the path stepped into is drawn over what its waker did meanwhile. Arrow keys go from line to line.
import { useRef } from 'preact/hooks';

import { palette } from '../colours';
import { duration } from '../format';
import type { PathLine, PathPart } from '../path_lines';
import { useDrawing } from './redraw';
import { SavePng } from './save_png';

interface PathBarProps {
	t0: number;
	t1: number;
	path: PathPart[];
	lines: PathLine[];
	selected: number; // a line; -1: none
	onSelect: (line: number) => void;
	label: string;
}

const TILES = 26;
const ROW = 14;
const SCALE = 18;
const MAX_ROWS = 10;

function rowsOf(lines: PathLine[]): number {
	return Math.min(lines.reduce((most, { depth }) => Math.max(most, depth + 1), 1), MAX_ROWS);
}

function draw(canvas: HTMLCanvasElement, props: PathBarProps): void {
	const context = canvas.getContext('2d')!;
	const width = canvas.clientWidth;
	const ratio = devicePixelRatio;
	const colours = palette.value;
	const scale = width / (props.t1 - props.t0 || 1);
	const bar = (from: number, to: number, y: number, height: number, colour: string) => {
		context.fillStyle = colour;
		context.fillRect((from - props.t0) * scale, y, Math.max((to - from) * scale, 0.7), height);
	};

	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(canvas.clientHeight * ratio);
	context.scale(ratio, ratio);
	bar(props.t0, props.t1, 0, TILES, colours.line);
	for (const part of props.path)
		bar(part.t, part.t + part.cost_ns, 0, TILES, colours.states[part.type === 'run' ? 'run' : part.queued ? 'queue' : 'wait']!);
	props.lines.forEach((line, number) => {
		if (line.depth >= MAX_ROWS)
			return;
		const y = TILES + 3 + line.depth * ROW;

		bar(line.t, line.end, y, ROW - 2, line.kind === 'step' ? colours.path : colours.states[line.kind]!);
		if (number === props.selected) {
			context.strokeStyle = colours.text;
			context.lineWidth = 2;
			context.strokeRect((line.t - props.t0) * scale, y - 1, Math.max((line.end - line.t) * scale, 3), ROW);
		}
	});
	context.fillStyle = colours.dim;
	context.font = '12px ui-monospace, monospace';
	context.textBaseline = 'bottom';
	context.fillText('0', 0, canvas.clientHeight);
	context.textAlign = 'right';
	context.fillText(duration(props.t1 - props.t0), width, canvas.clientHeight);
}

export function PathBar(props: PathBarProps) {
	const canvas = useRef<HTMLCanvasElement>(null);
	const { lines, selected, onSelect } = props;

	useDrawing(canvas, (element) => draw(element, props));

	// The innermost line at a place of the tiles, else the one of the row.
	function atPointer(event: MouseEvent): number {
		const t = props.t0 + (event.offsetX / canvas.current!.clientWidth) * (props.t1 - props.t0);
		const row = Math.floor((event.offsetY - TILES - 3) / ROW);
		let found = -1;

		lines.forEach((line, number) => {
			if (line.t <= t && t < line.end && (row < 0 ? found < 0 || line.depth >= lines[found]!.depth : line.depth === row))
				found = number;
		});
		return found;
	}
	function onKey(event: KeyboardEvent): void {
		const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];

		if (!step)
			return;
		onSelect(Math.min(Math.max(selected + step, 0), lines.length - 1));
		event.preventDefault();
	}

	return (
		<>
			<canvas ref={canvas} class="scatter" tabIndex={0} role="img" aria-label={`${props.label}. Arrow keys go from part to part.`}
				style={{ height: `${TILES + 3 + rowsOf(lines) * ROW + SCALE}px` }} onKeyDown={onKey}
				onClick={(event) => onSelect(atPointer(event))} />
			<SavePng canvas={canvas} name="critical-path" />
		</>
	);
}
