// The timeline of a stream: rows of threads and processors on a canvas (time_picture.ts), their names beside it, and
// what is under the pointer above it (time_tip.tsx). However many rows there are, only those on screen are drawn.
// Wheel or w and s zoom, a and d pan, a click selects an event; time_gestures.ts has what is done by hand.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

import { palette } from '../colours';
import { duration, plural } from '../format';
import { isGpu } from '../gpus';
import type { StreamSymptom } from '../results';
import { threadName } from '../state_words';
import { lastAtOrBefore, RUN, WAIT, type EventRef, type StreamData } from '../stream_data';
import type { LineRow } from '../time_rows_list';
import { type TimeStates } from '../time_states';
import { nextOnTheWay } from '../wake_chain';
import { useDrawing } from './redraw';
import { MIN_SPAN, panned, useTimeGestures, zoomed, type Span } from './time_gestures';
import { drawTimeLine, HEAD, ROW, type TimePicture } from './time_picture';
import { makeHover, TimeTip, useHoverDrawing } from './time_tip';
import { wakeArrows } from './wake_arrows';

export interface TimeLineProps {
	data: StreamData;
	states: TimeStates;
	rows: LineRow[];
	view: Span;
	onView: (view: Span) => void;
	selected: EventRef | null;
	// `step`: one of many on the way, which the history need not keep.
	onSelect: (event: EventRef | null, step: boolean) => void;
	span: Span | null; // selected time
	onSpan: (span: Span | null) => void;
	symptom: StreamSymptom | null; // the chosen one
	path: { first: number; count: number } | null; // the critical path to highlight
	threads: Set<number>; // selected threads; empty: all
	onThread: (thread: number, more: boolean) => void;
	onFold: (key: string) => void;
	onPin: (thread: number) => void;
	onHide: (thread: number) => void;
	height: number;
	free?: boolean; // the view may lie outside of the stream, since that of another decides
}

export function labelWidth(width: number): number {
	return width < 600 ? 96 : 190;
}

const isTouch = matchMedia('(pointer: coarse)').matches;

const MAX_ARROWS = 250;

function RowLabel({ row, number, props, top }: { row: LineRow; number: number; props: TimeLineProps; top: number }) {
	const style = { top: `${top}px`, height: `${ROW}px` };

	if (row.kind === 'group')
		return (
			<div key={`g${row.key}`} class="time-label group" style={style}>
				<button type="button" aria-expanded={row.open} onClick={() => props.onFold(row.key)}>
					<span aria-hidden="true">{row.open ? '▾' : '▸'}</span> <bdi>{row.title}</bdi> <span class="dim">{row.key === 'cpus' ? row.detail : row.open ? row.detail : `· ${row.threads.length}`}</span>
				</button>
			</div>
		);
	if (row.kind === 'cpu')
		return <div key={`c${number}`} class="time-label" style={style}><span class="name">CPU {row.cpu}</span></div>;
	const { name, tid, pid } = props.data.head.threads[row.thread]!;

	return (
		<div key={`t${row.thread}`} class="time-label" style={style}>
			<button type="button" class="name" aria-pressed={props.threads.has(row.thread)} title={`${threadName(props.data, row.thread)}: click selects it, Ctrl and click several`}
				onClick={(event) => props.onThread(row.thread, event.ctrlKey || event.metaKey || event.shiftKey)}><bdi>{name || 'thread'}</bdi></button>
			{!isGpu(pid) && <span class="dim tid">{tid}</span>}
			<span class="row-actions">
				<button type="button" aria-pressed={row.pinned} aria-label={`Pin ${threadName(props.data, row.thread)} at the top`} title="Pin at the top" onClick={() => props.onPin(row.thread)}>▲</button>
				<button type="button" aria-label={`Hide ${threadName(props.data, row.thread)}`} title="Hide" onClick={() => props.onHide(row.thread)}>✕</button>
			</span>
		</div>
	);
}

// Whether the critical path is in a thread at a moment.
function pathAt({ data: { path: { t, cost, thread } }, path }: TimeLineProps, wanted: number, at: number): boolean {
	if (!path?.count)
		return false;
	const i = lastAtOrBefore(t, path.first, path.first + path.count, at);

	return thread[i] === wanted && at >= t[i]! && at <= t[i]! + cost[i]!;
}

export function TimeLine(props: TimeLineProps) {
	const canvas = useRef<HTMLCanvasElement>(null);
	const overlay = useRef<HTMLCanvasElement>(null);
	const box = useRef<HTMLDivElement>(null);
	const hover = useMemo(makeHover, []);
	const { data, states, rows, view } = props;
	const whole = props.free ? Infinity : Math.max(data.head.span_ns, MIN_SPAN);
	const latest = useRef(props);
	const [scroll, setScroll] = useState(0);
	const [width, setWidth] = useState(1000);
	const label = labelWidth(width);
	const height = Math.min(props.height, HEAD + rows.length * ROW + 22);
	const first = Math.max(Math.floor(scroll / ROW), 0);
	const end = Math.min(Math.ceil((scroll + height - HEAD) / ROW), rows.length);

	latest.current = props;
	useHoverDrawing(overlay, hover);
	useLayoutEffect(() => {
		const observer = new ResizeObserver(() => setWidth(canvas.current?.clientWidth ?? 1000));

		setWidth(canvas.current!.clientWidth);
		observer.observe(canvas.current!);
		return () => observer.disconnect();
	}, []);
	const { dragged, handlers } = useTimeGestures(canvas, {
		view, whole, timeAt, shareAt, onView: props.onView, onSpan: props.onSpan, onTap: (event) => props.onSelect(eventAt(event), false),
	});
	const arrows = useMemo(() => {
		const rowOf = new Map<number, number>();

		rows.slice(first, end).forEach((row, place) => row.kind === 'thread' && rowOf.set(row.thread, first + place));
		return wakeArrows(data, rowOf, view.t0, view.t1, MAX_ARROWS);
	}, [data, rows, first, end, view.t0, view.t1]);
	const picture: TimePicture = {
		data, states, rows, view, scroll, label, selected: props.selected, span: dragged ?? props.span, symptom: props.symptom, path: props.path, arrows,
	};

	useDrawing(canvas, (element) => drawTimeLine(element, picture, palette.value));
	useEffect(() => {
		hover.value = null; // what was under the pointer has moved
	}, [view, rows, scroll]);
	// The selected event comes into sight.
	useEffect(() => {
		const thread = props.selected ? data.threadOf(props.selected) : -1;
		const number = rows.findIndex((row) => row.kind === 'thread' && row.thread === thread);
		const element = box.current!;

		if (number < 0)
			return;
		if (number * ROW < element.scrollTop)
			element.scrollTop = number * ROW;
		else if ((number + 1) * ROW + HEAD > element.scrollTop + element.clientHeight)
			element.scrollTop = (number + 2) * ROW + HEAD - element.clientHeight;
	}, [props.selected, rows]);
	useEffect(() => {
		const element = canvas.current!;
		// Not passive: the page must not scroll when Ctrl and the wheel zoom.
		const onWheel = (event: WheelEvent) => {
			const now = latest.current.view;

			if (!event.ctrlKey && !event.metaKey && Math.abs(event.deltaX) < Math.abs(event.deltaY) && !event.shiftKey)
				return; // the list scrolls
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
		const all = canvas.current!.clientWidth;

		return (x - labelWidth(all)) / (all - labelWidth(all));
	}
	function timeAt(x: number, now: Span): number {
		return now.t0 + shareAt(x) * (now.t1 - now.t0);
	}
	function rowAt(y: number): number {
		return y < HEAD ? -1 : Math.floor((y - HEAD + scroll) / ROW);
	}
	// The event under the pointer, else one that is near: short ones are hard to hit.
	function eventAt(event: MouseEvent): EventRef | null {
		const row = rows[rowAt(event.offsetY)];

		if (row?.kind !== 'thread')
			return null;
		for (const by of [0, 1, -1, 2, -2, 3, -3]) {
			const segment = states.at(row.states, timeAt(event.offsetX + by, view));
			const found = segment < 0 ? null : states.eventOf(segment);

			if (found)
				return found;
		}
		return null;
	}
	function onMove(event: PointerEvent): void {
		handlers.onPointerMove(event);
		const number = rowAt(event.offsetY);
		const row = rows[number];
		const t = timeAt(event.offsetX, view);

		if (event.offsetX < label || event.pointerType === 'touch' || event.buttons) {
			hover.value = null;
			return;
		}
		const segment = row && row.kind !== 'group' ? states.at(row.states, t) : -1;
		const x = (at: number) => label + ((at - view.t0) / (view.t1 - view.t0)) * (canvas.current!.clientWidth - label);

		hover.value = {
			row: row && row.kind !== 'group' ? row.states : -1, segment, t, x: event.offsetX, y: event.offsetY,
			box: segment < 0 ? null : {
				left: Math.max(x(states.start[segment]!), label), right: Math.min(x(states.endOf(row!.kind === 'group' ? 0 : row!.states, segment)), canvas.current!.clientWidth),
				top: HEAD + number * ROW - scroll + 3, height: ROW - 6,
			},
		};
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
	const threads = rows.flatMap((row) => (row.kind === 'thread' ? [row.thread] : []));

	// To the next or the last event of the thread, or of the thread below or above.
	function step(by: number): void {
		const now = props.selected;

		if (!now) {
			props.onSelect((threads.length ? data.eventAt(threads[0]!, (view.t0 + view.t1) / 2) : null) ?? firstEvent(data, threads), true);
			return;
		}
		const thread = data.threadOf(now);
		const list = data.lists[now.type];

		for (let segment = states.at(thread, list.t[now.place]!) + by; segment >= states.first[thread]! && segment < states.first[thread + 1]!; segment += by) {
			const found = states.eventOf(segment);

			if (found && (found.type !== now.type || found.place !== now.place)) {
				props.onSelect(found, true);
				return;
			}
		}
	}
	function change(by: number): void {
		if (!props.selected) {
			step(by);
			return;
		}
		const t = data.lists[props.selected.type].t[props.selected.place]!;

		for (let place = threads.indexOf(data.threadOf(props.selected)) + by; place >= 0 && place < threads.length; place += by) {
			const found = data.eventAt(threads[place]!, t);

			if (found) {
				props.onSelect(found, true);
				return;
			}
		}
	}

	return (
		<div class="time-box-outer" onPointerLeave={() => (hover.value = null)}>
			<div ref={box} class="time-box" style={{ height: `${height}px` }} onScroll={(event) => setScroll(event.currentTarget.scrollTop)}>
				<div class="time-stack" style={{ height: `${height}px` }}>
					<canvas ref={canvas} class="time-line" tabIndex={0} role="img"
						aria-label={`Timeline of ${plural(threads.length, 'thread')} from ${duration(view.t0)} to ${duration(view.t1)}. w and s zoom, a and d pan, arrows go from event to event, Enter goes to the waker, Backspace back.`}
						onKeyDown={onKey} {...handlers} onPointerMove={onMove} />
					<canvas ref={overlay} class="time-overlay" aria-hidden="true" />
					<div class="time-labels" style={{ width: `${label}px`, top: `${HEAD}px`, height: `${height - HEAD}px` }}>
						{rows.slice(first, end).map((row, place) => <RowLabel row={row} number={first + place} props={props} top={(first + place) * ROW - scroll} />)}
					</div>
				</div>
				<div style={{ height: `${Math.max(HEAD + rows.length * ROW - height, 0)}px` }} />
			</div>
			<TimeTip data={data} states={states} hover={hover} onPath={(thread, t) => pathAt(latest.current, thread, t)} />
			<p class="dim time-note">
				{arrows ? (arrows.length > 0 ? `Arrows: ${plural(arrows.length, 'wakeup')} between these threads` : 'No wakeup between these threads here') : 'Too many wakeups to draw: zoom in to see their arrows'}.{' '}
				{isTouch ? 'Tap a wait for its stack and its waker. Drag to move, pinch to zoom; hold, then drag, to select time.'
					: 'Click a wait, Enter walks to its waker; Shift and drag selects time; ? shows all keys.'}
			</p>
		</div>
	);
}

function firstEvent(data: StreamData, rows: number[]): EventRef | null {
	for (const thread of rows)
		for (const type of [WAIT, RUN] as const)
			if (data.lists[type].first[thread]! < data.lists[type].first[thread + 1]!)
				return { type, place: data.lists[type].first[thread]! };
	return null;
}
