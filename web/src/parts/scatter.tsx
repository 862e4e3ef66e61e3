// x against y by cluster, with the functions drawn, on a canvas. The pointer finds the nearest
// point; by keyboard, arrow keys go from point to point in the order of x.
import { useMemo, useRef, useState } from 'preact/hooks';

import { clusterColour, palette } from '../colours';
import type { ExplainCurves } from '../results';
import { useDrawing } from './redraw';
import { SavePng } from './save_png';

export interface ScatterData {
	x: number[];
	y: number[];
	cluster: number[];
	curves: ExplainCurves;
	logarithmic: boolean;
	xName: string;
	yName: string;
	yText: (y: number) => string;
	xText: (x: number) => string;
}

interface ScatterProps {
	data: ScatterData;
	only: number | null; // the cluster that stands out
	selected: number; // a point; -1: none
	onSelect: (point: number) => void;
}

const HEIGHT = 420;
const BOTTOM = 34;
const TOP = 26;
const RIGHT = 14;

interface Range {
	least: number;
	most: number;
}

function rangeOf(values: number[]): Range {
	const least = values.reduce((a, b) => Math.min(a, b), Infinity);
	const most = values.reduce((a, b) => Math.max(a, b), -Infinity);

	return most > least ? { least, most } : { least: least - 0.5, most: least + 0.5 };
}

// From 0 on where that is not far: distances then show proportions.
function fromZero({ least, most }: Range): Range {
	return { least: least > 0 && least < most / 2 ? 0 : least, most };
}

interface Place {
	left: number;
	x: (value: number) => number;
	y: (value: number) => number;
}

function placeOf(data: ScatterData, xRange: Range, yRange: Range, width: number): Place {
	const left = width < 600 ? 62 : 84;
	const scale = (value: number) => (data.logarithmic ? Math.log(Math.max(value, yRange.least / 10)) : value);
	const low = scale(yRange.least);
	const high = scale(yRange.most);

	return {
		left,
		x: (value) => left + ((value - xRange.least) / (xRange.most - xRange.least)) * (width - left - RIGHT),
		y: (value) => HEIGHT - BOTTOM - ((scale(value) - low) / (high - low || 1)) * (HEIGHT - BOTTOM - TOP),
	};
}

// Round numbers between two others; powers of ten where the scale is logarithmic.
function ticks({ least, most }: Range, wanted: number, logarithmic: boolean): number[] {
	if (logarithmic) {
		const first = Math.ceil(Math.log10(least));
		const powers = Array.from({ length: Math.max(0, Math.floor(Math.log10(most)) - first + 1) }, (_, i) => 10 ** (first + i));

		if (powers.length > 1)
			return powers;
	}
	const rough = (most - least) / wanted;
	const power = 10 ** Math.floor(Math.log10(rough));
	const step = [1, 2, 5, 10].find((factor) => factor * power >= rough)! * power;
	const first = Math.ceil(least / step - 1e-9);

	return Array.from({ length: Math.floor(most / step + 1e-9) - first + 1 }, (_, i) => (first + i) * step);
}

function drawAxes(context: CanvasRenderingContext2D, data: ScatterData, place: Place, xRange: Range, yRange: Range, width: number): void {
	const colours = palette.value;

	context.strokeStyle = colours.line;
	context.lineWidth = 1;
	context.fillStyle = colours.dim;
	context.textAlign = 'right';
	for (const y of ticks(yRange, 6, data.logarithmic)) {
		const at = Math.round(place.y(y)) + 0.5;

		context.beginPath();
		context.moveTo(place.left, at);
		context.lineTo(width - RIGHT, at);
		context.stroke();
		context.fillText(data.yText(y), place.left - 6, at);
	}
	context.textAlign = 'center';
	const longest = Math.max(data.xText(xRange.least).length, data.xText(xRange.most).length) * 7.3 + 16;

	for (const x of ticks(xRange, Math.max((width - place.left) / longest, 1), false)) {
		const at = Math.round(place.x(x)) + 0.5;

		context.beginPath();
		context.moveTo(at, HEIGHT - BOTTOM);
		context.lineTo(at, HEIGHT - BOTTOM + 4);
		context.stroke();
		context.fillText(data.xText(x), at, HEIGHT - BOTTOM + 12);
	}
	context.fillStyle = colours.text;
	context.textAlign = 'left';
	context.fillText(data.yName + (data.logarithmic ? ' (logarithmic)' : ''), 2, 10);
	context.textAlign = 'right';
	context.fillText(data.xName, width - RIGHT, HEIGHT - 6);
}

function draw(canvas: HTMLCanvasElement, { data, only, selected }: ScatterProps, xRange: Range, yRange: Range): void {
	const context = canvas.getContext('2d')!;
	const width = canvas.clientWidth;
	const ratio = devicePixelRatio;
	const place = placeOf(data, xRange, yRange, width);
	const colours = palette.value;
	const dot = data.x.length > 3000 ? 1.6 : 2.6;

	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(HEIGHT * ratio);
	context.scale(ratio, ratio);
	context.font = '12px ui-monospace, monospace';
	context.textBaseline = 'middle';
	drawAxes(context, data, place, xRange, yRange, width);
	for (let i = 0; i < data.x.length; i++) {
		context.globalAlpha = only === null || only === data.cluster[i] ? 0.7 : 0.12;
		context.fillStyle = clusterColour(data.cluster[i]!, colours);
		context.beginPath();
		context.arc(place.x(data.x[i]!), place.y(data.y[i]!), dot, 0, 7);
		context.fill();
	}
	context.globalAlpha = 1;
	context.save();
	context.beginPath();
	context.rect(place.left, TOP - 4, width - place.left - RIGHT, HEIGHT - TOP - BOTTOM + 8);
	context.clip();
	data.curves.y.forEach((curve, cluster) => {
		context.strokeStyle = clusterColour(cluster, colours);
		context.lineWidth = only === cluster ? 3 : 1.5;
		context.beginPath();
		curve.forEach((y, piece) => {
			if (y !== null && (!data.logarithmic || y > 0))
				context.lineTo(place.x(data.curves.x[piece]!), place.y(y));
		});
		context.stroke();
	});
	context.restore();
	if (selected >= 0) {
		context.strokeStyle = colours.text;
		context.lineWidth = 2;
		context.beginPath();
		context.arc(place.x(data.x[selected]!), place.y(data.y[selected]!), 6, 0, 7);
		context.stroke();
	}
}

const REACH = 20; // pixels from the pointer to a point that it means

export function Scatter(props: ScatterProps) {
	const { data, selected, onSelect } = props;
	const canvas = useRef<HTMLCanvasElement>(null);
	const xRange = useMemo(() => fromZero(rangeOf(data.x)), [data]);
	const yRange = useMemo(() => (data.logarithmic ? rangeOf(data.y) : fromZero(rangeOf(data.y))), [data]);
	const order = useMemo(() => [...data.x.keys()].sort((a, b) => data.x[a]! - data.x[b]! || data.y[a]! - data.y[b]!), [data]);
	const [pinned, setPinned] = useState(false); // a click holds a point, so that what it says can be reached

	useDrawing(canvas, (element) => draw(element, props, xRange, yRange));

	function atPointer(event: MouseEvent): number {
		const place = placeOf(data, xRange, yRange, canvas.current!.clientWidth);
		let best = -1;
		let reach = REACH ** 2;

		for (let i = 0; i < data.x.length; i++) {
			const distance = (place.x(data.x[i]!) - event.offsetX) ** 2 + (place.y(data.y[i]!) - event.offsetY) ** 2;

			if (distance < reach) {
				best = i;
				reach = distance;
			}
		}
		return best;
	}
	function onClick(event: MouseEvent): void {
		const point = atPointer(event);

		setPinned(point >= 0);
		onSelect(point);
	}
	function onKey(event: KeyboardEvent): void {
		const steps: Record<string, number> = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 50, PageDown: -50 };
		const step = steps[event.key];

		if (step === undefined)
			return;
		const now = selected < 0 ? (step > 0 ? -1 : order.length) : order.indexOf(selected);

		setPinned(true);
		onSelect(order[Math.min(Math.max(now + step, 0), order.length - 1)] ?? -1);
		event.preventDefault();
	}

	return (
		<>
			<canvas ref={canvas} class="scatter" tabIndex={0} role="img" style={{ height: `${HEIGHT}px` }}
				aria-label={`${data.yName} against ${data.xName}. Arrow keys go from point to point.`} onKeyDown={onKey}
				onClick={onClick} onMouseMove={(event) => !pinned && onSelect(atPointer(event))} />
			<SavePng canvas={canvas} name="points" />
		</>
	);
}
