// The timeline of a stream on a canvas: a row per thread; running, waiting, on the run queue.
// Wheel or w and s zoom, a and d pan, a click selects an event; time_gestures.ts has what is done by hand.
import { useEffect, useRef, useState } from 'preact/hooks';

import { palette, type Palette } from '../colours';
import { duration, plural } from '../format';
import { useDrawing } from './redraw';
import { drawWakeArrows, wakeArrows, type WakeArrow } from './wake_arrows';
import { nextOnTheWay } from '../wake_chain';
import { threadRows } from './thread_rows';
import { MIN_SPAN, panned, useTimeGestures, zoomed, type Span } from './time_gestures';
import { lastAtOrBefore, RUN, WAIT, type EventRef, type StreamData } from '../stream_data';

export interface TimeLineProps {
	data: StreamData;
	rows: number[]; // threads, from top to bottom
	view: Span;
	onView: (view: Span) => void;
	selected: EventRef | null;
	// `step`: one of many on the way, which the history need not keep.
	onSelect: (event: EventRef | null, step: boolean) => void;
	span: Span | null; // selected time
	onSpan: (span: Span | null) => void;
	path: { first: number; count: number } | null; // the critical path to highlight
}

const ROW = 22;
const HEAD = 24; // the scale
const LABEL = 170;
const SCROLL_STEP = 300; // pixels that the page may scroll before more rows are drawn

function labelWidth(width: number): number {
	return width < 600 ? 90 : LABEL;
}

interface Drawing {
	context: CanvasRenderingContext2D;
	width: number;
	label: number;
	colours: Palette;
	x: (t: number) => number;
	pixel: number; // in ns
}

// Rows near the window, from the first to the one after the last: only they are drawn, however many there are.
function rowsOnScreen(canvas: HTMLCanvasElement, count: number): [number, number] {
	const { top } = canvas.getBoundingClientRect();
	const row = (y: number) => Math.min(Math.max(Math.floor((y - top - HEAD) / ROW), 0), count);

	return [row(-SCROLL_STEP), row(innerHeight + SCROLL_STEP + ROW)];
}

function drawThreads(drawing: Drawing, props: TimeLineProps, ratio: number, [first, end]: [number, number]): void {
	const { context, colours, width, label, pixel } = drawing;
	const left = Math.round(label * ratio);
	const insets = { run: Math.round(3 * ratio), queue: Math.round(5 * ratio), wait: Math.round(7 * ratio) };
	const shape = { width: Math.max(Math.round(width * ratio) - left, 1), height: ROW * ratio, insets };
	const image = threadRows(props.data, props.rows.slice(first, end), props.view.t0, pixel / ratio, shape, colours);

	context.putImageData(image, left, Math.round((HEAD + first * ROW) * ratio));
}

function niceStep(span: number, lines: number): number {
	const rough = span / lines;
	const power = 10 ** Math.floor(Math.log10(rough));
	const factor = [1, 2, 5, 10].find((each) => each * power >= rough)!;

	return factor * power;
}

// Where three digits do not tell the lines apart, they count from the first one.
function drawScale(drawing: Drawing, view: Span, height: number): void {
	const { context, colours, x, width, label } = drawing;
	const step = niceStep(view.t1 - view.t0, (width - label) / (width < 600 ? 60 : 85));
	const first = Math.ceil(view.t0 / step) * step;
	const fine = step < view.t1 / 500;

	context.fillStyle = colours.dim;
	context.strokeStyle = colours.line;
	context.lineWidth = 1;
	for (let t = first; t < view.t1; t += step) {
		context.beginPath();
		context.moveTo(Math.round(x(t)) + 0.5, HEAD - 4);
		context.lineTo(Math.round(x(t)) + 0.5, height);
		context.stroke();
		const text = fine && t > first ? `+${duration(t - first)}` : t === 0 ? '0' : duration(t);

		if (x(t) + 3 + context.measureText(text).width <= width)
			context.fillText(text, x(t) + 3, HEAD / 2);
	}
}

// The parts of the path within one pixel: one line from its highest to its lowest row.
function drawPath(drawing: Drawing, props: TimeLineProps, rowOf: Map<number, number>): void {
	const { context, colours, x, width, label } = drawing;
	const { path, data: { path: { t, cost, thread } }, view } = props;

	if (!path)
		return;
	const end = path.first + path.count;
	let before = NaN; // the row that the line comes from
	let column = NaN; // the pixel under way, and the rows that it goes through
	let highest = Infinity;
	let lowest = -Infinity;

	context.strokeStyle = colours.path;
	context.lineWidth = 2;
	context.beginPath();
	for (let i = lastAtOrBefore(t, path.first, end, view.t0); i < end && t[i]! <= view.t1; i++) {
		const row = rowOf.get(thread[i]!);
		const to = t[i]! + cost[i]!;

		if (row === undefined || to < view.t0) {
			before = NaN;
			continue;
		}
		const y = HEAD + row * ROW + ROW - 3;
		const left = Math.max(x(t[i]!), label);
		const right = Math.max(Math.min(x(to), width), left);

		if (Math.floor(left) !== column) {
			flush();
			column = Math.floor(left);
		}
		highest = Math.min(highest, y, before || y);
		lowest = Math.max(lowest, y, before || y);
		if (right - left >= 0.5) {
			context.moveTo(left, y);
			context.lineTo(right, y);
		}
		before = y;
	}
	flush();
	context.stroke();

	function flush(): void {
		if (lowest > highest) {
			context.moveTo(column + 0.5, highest);
			context.lineTo(column + 0.5, lowest);
		} else if (lowest === highest) {
			context.moveTo(column, lowest);
			context.lineTo(column + 1, lowest);
		}
		highest = Infinity;
		lowest = -Infinity;
	}
}

function drawArrow(drawing: Drawing, props: TimeLineProps, rowOf: Map<number, number>): void {
	const { context, colours, x } = drawing;
	const { selected, data } = props;

	if (!selected)
		return;
	const list = data.lists[selected.type];
	const thread = data.threadOf(selected);
	const row = rowOf.get(thread);
	const end = list.t[selected.place]! + list.cost[selected.place]!;

	if (row === undefined)
		return;
	const left = x(list.t[selected.place]!);

	context.strokeStyle = colours.text;
	context.lineWidth = 2;
	context.strokeRect(Math.max(left, drawing.label), HEAD + row * ROW + 1, Math.max(x(end) - Math.max(left, drawing.label), 3), ROW - 3);
	const from = rowOf.get(data.wakerOf(selected));

	if (from === undefined)
		return;
	const y0 = HEAD + from * ROW + ROW / 2;
	const y1 = HEAD + row * ROW + ROW / 2;
	const head = y1 > y0 ? -6 : 6;

	context.beginPath();
	context.moveTo(x(end), y0);
	context.lineTo(x(end), y1);
	context.moveTo(x(end) - 4, y1 + head);
	context.lineTo(x(end), y1);
	context.lineTo(x(end) + 4, y1 + head);
	context.stroke();
}

// Names of threads differ at their ends: what does not fit is left out in the middle.
function shortened(text: string, room: number): string {
	const end = Math.floor((room - 1) * 0.6);

	return text.length > room ? `${text.slice(0, room - 1 - end)}…${text.slice(-end)}` : text;
}

function drawLabels(drawing: Drawing, props: TimeLineProps, height: number, [first, end]: [number, number]): void {
	const { context, colours, label } = drawing;

	context.fillStyle = colours.background;
	context.fillRect(0, 0, label, height);
	props.rows.slice(first, end).forEach((thread, place) => {
		const row = first + place;
		const { name, tid } = props.data.head.threads[thread]!;
		const text = `${name || 'thread'} ${tid}`;
		const room = Math.floor((label - 10) / 7);

		context.fillStyle = colours.text;
		context.fillText(shortened(text, room), 2, HEAD + row * ROW + ROW / 2);
	});
}

function draw(canvas: HTMLCanvasElement, props: TimeLineProps, dragged: Span | null, arrows: WakeArrow[] | null): void {
	const context = canvas.getContext('2d')!;
	const width = canvas.clientWidth;
	const height = canvas.clientHeight;
	const ratio = devicePixelRatio;
	const label = labelWidth(width);
	const { view } = props;
	const scale = (width - label) / (view.t1 - view.t0);
	const drawing: Drawing = { context, width, label, colours: palette.value, x: (t) => label + (t - view.t0) * scale, pixel: 1 / scale };
	const rowOf = new Map(props.rows.map((thread, row) => [thread, row]));
	const marked = dragged ?? props.span;
	const onScreen = rowsOnScreen(canvas, props.rows.length);

	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(height * ratio);
	drawThreads(drawing, props, ratio, onScreen);
	context.scale(ratio, ratio);
	context.font = '12px ui-monospace, monospace';
	context.textBaseline = 'middle';
	context.globalCompositeOperation = 'destination-over'; // lines are behind bars
	drawScale(drawing, view, height);
	context.globalCompositeOperation = 'source-over';
	drawPath(drawing, props, rowOf);
	if (arrows)
		drawWakeArrows(context, arrows, drawing.x, (row) => HEAD + row * ROW + ROW / 2, drawing.colours.text);
	drawArrow(drawing, props, rowOf);
	if (marked) {
		context.globalAlpha = 0.2;
		context.fillStyle = drawing.colours.match;
		context.fillRect(drawing.x(marked.t0), 0, drawing.x(marked.t1) - drawing.x(marked.t0), height);
		context.globalAlpha = 1;
	}
	drawLabels(drawing, props, height, onScreen);
}

const MAX_ARROWS = 250;

export function TimeLine(props: TimeLineProps) {
	const canvas = useRef<HTMLCanvasElement>(null);
	const { data, view } = props;
	const whole = Math.max(data.head.span_ns, MIN_SPAN);
	const latest = useRef(props);
	const [, setScrolled] = useState(0);

	latest.current = props;
	useEffect(() => {
		const onScroll = () => setScrolled(Math.floor(scrollY / SCROLL_STEP));

		addEventListener('scroll', onScroll, { passive: true });
		return () => removeEventListener('scroll', onScroll);
	}, []);
	const { dragged, handlers } = useTimeGestures(canvas, {
		view, whole, timeAt, shareAt, onView: props.onView, onSpan: props.onSpan, onTap: (event) => props.onSelect(eventAt(event), false),
	});
	const arrows = wakeArrows(data, props.rows, view.t0, view.t1, MAX_ARROWS);

	useDrawing(canvas, (element) => draw(element, props, dragged, arrows));
	useEffect(() => {
		const element = canvas.current!;
		// Not passive: the page must not scroll when Ctrl and the wheel zoom.
		const onWheel = (event: WheelEvent) => {
			const now = latest.current.view;

			if (!event.ctrlKey && !event.metaKey && Math.abs(event.deltaX) < Math.abs(event.deltaY) && !event.shiftKey)
				return; // the page scrolls
			event.preventDefault();
			if (event.ctrlKey || event.metaKey)
				latest.current.onView(zoomed(now, timeAt(event.offsetX, now), 1.003 ** event.deltaY, whole));
			else
				latest.current.onView(panned(now, ((event.deltaX || event.deltaY) / element.clientWidth) * (now.t1 - now.t0), whole));
		};

		element.addEventListener('wheel', onWheel, { passive: false });
		return () => element.removeEventListener('wheel', onWheel);
	}, [data]);

	function shareAt(x: number): number {
		const width = canvas.current!.clientWidth;
		const label = labelWidth(width);

		return (x - label) / (width - label);
	}
	function timeAt(x: number, now: Span): number {
		return now.t0 + shareAt(x) * (now.t1 - now.t0);
	}
	function eventAt(event: MouseEvent): EventRef | null {
		const thread = props.rows[Math.floor((event.offsetY - HEAD) / ROW)];

		return thread === undefined ? null : data.eventAt(thread, timeAt(event.offsetX, view));
	}
	function onKey(event: KeyboardEvent): void {
		const middle = (view.t0 + view.t1) / 2;
		const length = view.t1 - view.t0;
		const keys: Record<string, () => void> = {
			w: () => props.onView(zoomed(view, middle, 0.7, whole)),
			s: () => props.onView(zoomed(view, middle, 1 / 0.7, whole)),
			a: () => props.onView(panned(view, -length / 5, whole)),
			d: () => props.onView(panned(view, length / 5, whole)),
			ArrowRight: () => step(1),
			ArrowLeft: () => step(-1),
			ArrowDown: () => change(1),
			ArrowUp: () => change(-1),
			Enter: () => props.selected && props.onSelect(nextOnTheWay(data, props.selected) ?? props.selected, false),
			Backspace: () => history.back(),
			Escape: () => (props.span ? props.onSpan(null) : props.onSelect(null, false)),
		};
		const act = keys[event.key];

		if (!act || event.ctrlKey || event.metaKey || event.altKey)
			return;
		act();
		event.preventDefault();
	}
	// To the next or the last event of the thread, or of the thread below or above.
	function step(by: number): void {
		const now = props.selected ?? data.eventAt(props.rows[0]!, (view.t0 + view.t1) / 2) ?? firstEvent(data, props.rows);

		if (!now || !props.selected) {
			props.onSelect(now, true);
			return;
		}
		const list = data.lists[now.type];
		const thread = data.threadOf(now);
		const place = now.place + by;

		if (place >= list.first[thread]! && place < list.first[thread + 1]!)
			props.onSelect({ type: now.type, place }, true);
	}
	function change(by: number): void {
		if (!props.selected) {
			step(by);
			return;
		}
		const list = data.lists[props.selected.type];
		const t = list.t[props.selected.place]!;
		let row = props.rows.indexOf(data.threadOf(props.selected));

		for (row += by; row >= 0 && row < props.rows.length; row += by) {
			const found = data.eventAt(props.rows[row]!, t);

			if (found) {
				props.onSelect(found, true);
				return;
			}
		}
	}

	return (
		<>
			<canvas ref={canvas} class="time-line" tabIndex={0} role="img" style={{ height: `${HEAD + props.rows.length * ROW}px` }}
				aria-label="Time line of threads. w and s zoom, a and d pan, arrows go from event to event, Enter goes to the waker, Backspace back."
				onKeyDown={onKey} {...handlers} />
			<p class="dim">
				{arrows ? (arrows.length > 0 ? `Arrows: ${plural(arrows.length, 'wakeup')} between these threads` : 'No wakeup between these threads here') : 'Too many wakeups to draw: zoom in to see their arrows'}
			</p>
		</>
	);
}

function firstEvent(data: StreamData, rows: number[]): EventRef | null {
	for (const thread of rows)
		for (const type of [WAIT, RUN] as const)
			if (data.lists[type].first[thread]! < data.lists[type].first[thread + 1]!)
				return { type, place: data.lists[type].first[thread]! };
	return null;
}
