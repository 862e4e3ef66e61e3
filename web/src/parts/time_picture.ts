// What a timeline draws on its canvas: the scale, rows, words in bars, the critical path, wakeups, the selected event.
import { textOn, type Palette } from '../colours';
import { duration } from '../format';
import type { StreamSymptom } from '../results';
import { barWords, threadName } from '../state_words';
import { lastAtOrBefore, WAIT, type EventRef, type StreamData } from '../stream_data';
import { usageOf, type LineRow } from '../time_rows_list';
import { IDLE, RUNNING, WORK, type TimeStates } from '../time_states';
import type { Span } from './time_gestures';
import { paintRows, type WideBar } from './time_rows';
import { drawWakeArrows, type WakeArrow } from './wake_arrows';

export const ROW = 24;
export const HEAD = 26; // the scale
const BAR = 16;
const THIN = 6;
const WORDS = 34; // pixels of a bar that has words

export interface TimePicture {
	data: StreamData;
	states: TimeStates;
	rows: LineRow[];
	view: Span;
	scroll: number; // pixels
	label: number; // width of the names
	selected: EventRef | null;
	span: Span | null; // selected time, or what is being selected
	symptom: StreamSymptom | null; // the chosen one
	path: { first: number; count: number } | null;
	arrows: WakeArrow[] | null;
}

interface Drawing {
	context: CanvasRenderingContext2D;
	width: number;
	height: number;
	ratio: number;
	colours: Palette;
	x: (t: number) => number;
	pixel: number; // in ns
	y: (row: number) => number; // top of a row
	first: number; // rows on screen
	end: number;
}

export function niceStep(span: number, lines: number): number {
	const rough = span / lines;
	const power = 10 ** Math.floor(Math.log10(rough));
	const factor = [1, 2, 5, 10].find((each) => each * power >= rough)!;

	return factor * power;
}

// Where three digits do not tell the lines apart, they count from the first one.
function drawScale({ context, colours, x, width, height }: Drawing, { view, label }: TimePicture): void {
	const step = niceStep(view.t1 - view.t0, (width - label) / (width < 600 ? 64 : 90));
	const first = Math.ceil(view.t0 / step) * step;
	const fine = step < view.t1 / 500;

	context.strokeStyle = colours.line;
	context.lineWidth = 1;
	context.font = '11px system-ui, sans-serif';
	for (let t = first; t < view.t1; t += step) {
		const text = fine && t > first ? `+${duration(t - first)}` : t === 0 ? '0' : duration(t);
		const at = Math.round(x(t)) + 0.5;

		context.beginPath();
		context.moveTo(at, HEAD - 8);
		context.lineTo(at, height);
		context.stroke();
		context.fillStyle = colours.dim;
		if (at + 4 + context.measureText(text).width <= width)
			context.fillText(text, at + 4, HEAD / 2);
	}
}

function drawBars(drawing: Drawing, picture: TimePicture): WideBar[] {
	const { context, ratio, colours, width, first, end, pixel } = drawing;
	const left = Math.round(picture.label * ratio);
	const top = drawing.y(first);
	const shape = { width: Math.max(Math.round(width * ratio) - left, 1), height: ROW * ratio, bar: Math.round(BAR * ratio), thin: Math.round(THIN * ratio) };
	const rows = picture.rows.slice(first, end).map((row) => (row.kind === 'group' ? -1 : row.states));
	const wide: WideBar[] = [];
	const image = paintRows(picture.states, rows, picture.view.t0, pixel / ratio, shape, colours.times, WORDS * ratio, wide);

	// What is scrolled beneath the scale is cut off.
	const cut = Math.max(Math.round((HEAD - top) * ratio), 0);

	context.putImageData(image, left, Math.round(top * ratio), 0, cut, shape.width, image.height - cut);
	return wide;
}

function shorten(context: CanvasRenderingContext2D, text: string, room: number): string {
	if (context.measureText(text).width <= room)
		return text;
	let letters = Math.floor((text.length * room) / context.measureText(text).width);

	while (letters > 2 && context.measureText(`${text.slice(0, letters)}…`).width > room)
		letters--;
	return letters > 2 ? `${text.slice(0, letters)}…` : '';
}

// Bars next to each other with the same words, such as samples of one function, have them once.
function drawWords({ context, ratio, colours, y, first }: Drawing, picture: TimePicture, wide: WideBar[]): void {
	const left = Math.round(picture.label * ratio);

	context.font = '11px system-ui, sans-serif';
	for (let i = 0; i < wide.length; i++) {
		const { place, segment, x0 } = wide[i]!;
		const row = picture.rows[first + place]!;
		const state = picture.states.state[segment]!;

		if (row.kind === 'group' || state === IDLE || state === WORK)
			continue;
		const words = barWords(picture.data, picture.states, row.states, segment);
		let { x1 } = wide[i]!;

		while (state === RUNNING && wide[i + 1]?.place === place && wide[i + 1]!.x0 - x1 <= 2 && barWords(picture.data, picture.states, row.states, wide[i + 1]!.segment) === words)
			x1 = wide[++i]!.x1;
		const text = words && shorten(context, words, (x1 - x0) / ratio - 10);

		context.fillStyle = textOn(colours.times[state]!);
		context.fillText(text, (left + x0) / ratio + 5, y(first + place) + ROW / 2 + 0.5);
	}
}

// How many threads of a process run, as an area; for processors, what share of them is busy.
function drawUsage({ context, colours, width, y }: Drawing, picture: TimePicture, number: number, row: LineRow & { kind: 'group' }): void {
	const step = 3;
	const bins = Math.max(Math.floor((width - picture.label) / step), 1);
	const usage = usageOf(picture.states, row.threads, picture.view.t0, picture.view.t1, bins);
	const most = Math.max(1, ...usage);
	const base = y(number) + ROW - 3;

	context.fillStyle = colours.times[RUNNING]!;
	context.beginPath();
	context.moveTo(picture.label, base);
	usage.forEach((value, i) => {
		const at = base - (value / most) * (ROW - 7);

		context.lineTo(picture.label + i * step, at);
		context.lineTo(picture.label + (i + 1) * step, at);
	});
	context.lineTo(picture.label + bins * step, base);
	context.fill();
}

const MAX_USAGE = 400_000; // rows times bins that one picture may ask for

function drawGroups(drawing: Drawing, picture: TimePicture): void {
	const { context, colours, width, y, first, end } = drawing;
	let left = MAX_USAGE;

	picture.rows.slice(first, end).forEach((row, place) => {
		if (row.kind !== 'group')
			return;
		context.fillStyle = colours.line;
		context.fillRect(0, y(first + place), width, 1);
		left -= (row.threads.length * width) / 3;
		if (left > 0)
			drawUsage(drawing, picture, first + place, row);
	});
}

const MAX_CROSSINGS = 60; // more of them would hide what threads do

// The parts of the path within one pixel: one line from its highest to its lowest row.
function drawPath({ context, colours, x, width, y }: Drawing, picture: TimePicture, rowOf: Map<number, number>): void {
	const { path, data: { path: { t, cost, thread } }, view, label } = picture;

	if (!path)
		return;
	const end = path.first + path.count;
	let before = NaN; // the row that the line comes from
	let column = NaN; // the pixel under way, and the rows that it goes through
	let highest = Infinity;
	let lowest = -Infinity;
	const along = new Path2D(); // threads
	const across = new Path2D(); // from one to another
	let crossings = 0;

	for (let i = lastAtOrBefore(t, path.first, end, view.t0); i < end && t[i]! <= view.t1; i++) {
		const row = rowOf.get(thread[i]!);
		const to = t[i]! + cost[i]!;

		if (row === undefined || to < view.t0) {
			before = NaN;
			continue;
		}
		const at = y(row) + ROW - 2;
		const left = Math.max(x(t[i]!), label);
		const right = Math.max(Math.min(x(to), width), left);

		if (Math.floor(left) !== column) {
			flush();
			column = Math.floor(left);
		}
		highest = Math.min(highest, at, before || at);
		lowest = Math.max(lowest, at, before || at);
		if (right - left >= 0.5) {
			along.moveTo(left, at);
			along.lineTo(right, at);
		}
		before = at;
	}
	flush();
	context.strokeStyle = colours.accent;
	context.lineWidth = 2;
	context.stroke(along);
	if (crossings <= MAX_CROSSINGS)
		context.stroke(across);

	function flush(): void {
		if (lowest > highest) {
			across.moveTo(column + 0.5, highest);
			across.lineTo(column + 0.5, lowest);
			crossings++;
		} else if (lowest === highest) {
			along.moveTo(column, lowest);
			along.lineTo(column + 1, lowest);
		}
		highest = Infinity;
		lowest = -Infinity;
	}
}

// The selected event, if it is in view, and an arrow from its waker.
function drawSelected({ context, colours, x, y, width }: Drawing, { selected, data, label, view }: TimePicture, rowOf: Map<number, number>): void {
	if (!selected)
		return;
	const list = data.lists[selected.type];
	const row = rowOf.get(data.threadOf(selected));
	const start = list.t[selected.place]!;
	const end = start + list.cost[selected.place]!;

	if (row === undefined || end < view.t0 || start > view.t1)
		return;
	const left = Math.max(x(start), label - 3);

	context.strokeStyle = colours.text;
	context.lineWidth = 2;
	context.beginPath();
	context.roundRect(left, y(row) + 3, Math.max(Math.min(x(end), width + 3) - left, 3), ROW - 6, 3);
	context.stroke();
	const from = selected.type === WAIT ? rowOf.get(data.wakerOf(selected)) : undefined;

	if (from === undefined || from === row || end > view.t1)
		return;
	const y0 = y(from) + ROW / 2;
	const y1 = y(row) + (from < row ? 3 : ROW - 3);
	const head = y1 > y0 ? -6 : 6;

	context.beginPath();
	context.moveTo(x(end), y0);
	context.lineTo(x(end), y1);
	context.moveTo(x(end) - 4, y1 + head);
	context.lineTo(x(end), y1);
	context.lineTo(x(end) + 4, y1 + head);
	context.stroke();
}

function shade({ context, x, width, height }: Drawing, { t0, t1 }: Span, label: number, colour: string, alpha: number): void {
	const left = Math.max(x(t0), label);
	const right = Math.min(x(t1), width);

	if (right < left)
		return;
	context.globalAlpha = alpha;
	context.fillStyle = colour;
	context.fillRect(left, HEAD - 6, Math.max(right - left, 1), height);
	context.globalAlpha = 1;
}

// All symptoms, as lines below the scale.
function drawSymptoms({ context, x, width, colours }: Drawing, { data, view, label, symptom }: TimePicture): void {
	context.fillStyle = colours.accent;
	for (const each of data.head.symptoms) {
		if (each.t1 < view.t0 || each.t0 > view.t1)
			continue;
		const left = Math.max(x(each.t0), label);

		context.globalAlpha = each === symptom ? 1 : 0.45;
		context.fillRect(left, HEAD - 4, Math.max(Math.min(x(each.t1), width) - left, 1.5), 3);
	}
	context.globalAlpha = 1;
}

function drawBehind(drawing: Drawing, picture: TimePicture): void {
	const { context, colours, x, height } = drawing;
	const { symptom, label } = picture;

	if (symptom) {
		shade(drawing, symptom, label, colours.accent, 0.08);
		context.font = '11px system-ui, sans-serif';
		context.fillStyle = colours.accent;
		context.fillText(`symptom: ${[symptom.name, duration(symptom.t1 - symptom.t0)].filter(Boolean).join(', ')}`, Math.max(x(symptom.t0), label) + 4, height - 9);
	}
	drawScale(drawing, picture);
	drawSymptoms(drawing, picture);
}

export function drawTimeLine(canvas: HTMLCanvasElement, picture: TimePicture, colours: Palette, ratio = devicePixelRatio): void {
	const context = canvas.getContext('2d')!;
	const width = canvas.clientWidth || canvas.width / ratio;
	const height = canvas.clientHeight || canvas.height / ratio;
	const { view, rows, label, scroll } = picture;
	const scale = (width - label) / (view.t1 - view.t0);
	const first = Math.max(Math.floor(scroll / ROW), 0);
	const end = Math.min(Math.ceil((scroll + height - HEAD) / ROW), rows.length);
	const drawing: Drawing = {
		context, width, height, ratio, colours, x: (t) => label + (t - view.t0) * scale, pixel: 1 / scale, y: (row) => HEAD + row * ROW - scroll, first, end,
	};
	const rowOf = new Map<number, number>();

	rows.forEach((row, number) => row.kind === 'thread' && rowOf.set(row.thread, number));
	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(height * ratio);
	const wide = end > first ? drawBars(drawing, picture) : [];

	context.scale(ratio, ratio);
	context.textBaseline = 'middle';
	context.save();
	context.beginPath();
	context.rect(0, HEAD, width, height);
	context.clip();
	drawGroups(drawing, picture);
	drawWords(drawing, picture, wide);
	context.restore();
	context.globalCompositeOperation = 'destination-over'; // lines are behind bars
	drawBehind(drawing, picture);
	context.globalCompositeOperation = 'source-over';
	context.save();
	context.beginPath();
	context.rect(label, HEAD, width, height);
	context.clip();
	drawPath(drawing, picture, rowOf);
	if (picture.arrows)
		drawWakeArrows(context, picture.arrows, drawing.x, (row) => drawing.y(row) + ROW / 2, colours.text);
	drawSelected(drawing, picture, rowOf);
	if (picture.span)
		shade(drawing, picture.span, label, colours.match, 0.22);
	context.restore();
}

// The name of a row, for people who cannot see it and for pictures that are saved.
export function rowTitle(data: StreamData, row: LineRow): string {
	return row.kind === 'group' ? `${row.title} ${row.detail}`.trim() : row.kind === 'cpu' ? `CPU ${row.cpu}` : threadName(data, row.thread);
}
