// All of a stream in one line: how busy it was, its symptoms, and the part that the timeline shows, which can be moved.
import { useMemo, useRef } from 'preact/hooks';

import { palette } from '../colours';
import { duration } from '../format';
import type { StreamSymptom } from '../results';
import { usageOf } from '../time_rows_list';
import { RUNNING, type TimeStates } from '../time_states';
import { useDrawing } from './redraw';
import { MIN_SPAN, ordered, panned, type Span } from './time_gestures';
import { labelWidth } from './time_line';

interface MinimapProps {
	states: TimeStates;
	threads: number[];
	symptoms: StreamSymptom[];
	chosen: number;
	view: Span;
	onView: (view: Span) => void;
}

const BINS = 600;
const MAX_THREADS = 200; // those that did most tell enough
const HEIGHT = 26;

export function Minimap({ states, threads, symptoms, chosen, view, onView }: MinimapProps) {
	const canvas = useRef<HTMLCanvasElement>(null);
	const whole = Math.max(states.span, MIN_SPAN);
	const usage = useMemo(() => usageOf(states, threads.slice(0, MAX_THREADS), 0, whole, BINS), [states, threads]);
	const grabbed = useRef<{ t: number; view: Span; inside: boolean } | null>(null);

	useDrawing(canvas, (element) => {
		const context = element.getContext('2d')!;
		const width = element.clientWidth;
		const left = labelWidth(width);
		const ratio = devicePixelRatio;
		const x = (t: number) => left + (t / whole) * (width - left);
		const most = Math.max(...usage, 1e-9);
		const colours = palette.value;

		element.width = Math.round(width * ratio);
		element.height = Math.round(HEIGHT * ratio);
		context.scale(ratio, ratio);
		context.fillStyle = colours.times[RUNNING]!;
		usage.forEach((value, i) => {
			const height = (value / most) * (HEIGHT - 10);

			const from = Math.floor(x((i / BINS) * whole));

			context.fillRect(from, HEIGHT - 3 - height, Math.ceil(x(((i + 1) / BINS) * whole)) - from, height);
		});
		context.fillStyle = colours.accent;
		symptoms.forEach(({ t0, t1 }, number) => {
			context.globalAlpha = number === chosen ? 1 : 0.55;
			context.fillRect(x(t0), 1, Math.max(x(t1) - x(t0), 1.5), 4);
		});
		context.globalAlpha = 0.12;
		context.fillStyle = colours.text;
		context.fillRect(left, 0, x(view.t0) - left, HEIGHT);
		context.fillRect(x(view.t1), 0, width - x(view.t1), HEIGHT);
		context.globalAlpha = 1;
		context.strokeStyle = colours.accent;
		context.lineWidth = 2;
		context.beginPath();
		context.roundRect(x(view.t0) + (view.t0 > 0 ? 0 : 1), 1, Math.max(x(view.t1) - x(view.t0) - 2, 3), HEIGHT - 2, 3);
		context.stroke();
		context.fillStyle = colours.dim;
		context.font = '11px system-ui, sans-serif';
		context.textBaseline = 'middle';
		context.fillText(duration(whole), 2, HEIGHT / 2);
	});

	function timeAt(event: PointerEvent): number {
		const width = canvas.current!.clientWidth;
		const left = labelWidth(width);

		return Math.min(Math.max((event.offsetX - left) / (width - left), 0), 1) * whole;
	}
	function onDown(event: PointerEvent): void {
		const t = timeAt(event);

		grabbed.current = { t, view, inside: t >= view.t0 && t <= view.t1 && view.t1 - view.t0 < whole * 0.98 };
		canvas.current!.setPointerCapture(event.pointerId);
	}
	function onMove(event: PointerEvent): void {
		const from = grabbed.current;
		const t = timeAt(event);

		if (!from || Math.abs(t - from.t) < whole / 500)
			return;
		if (from.inside)
			onView(panned(from.view, t - from.t, whole));
		else
			onView({ ...ordered(from.t, t), ...(Math.abs(t - from.t) < MIN_SPAN ? { t1: Math.min(from.t, t) + MIN_SPAN } : {}) });
	}
	function onUp(event: PointerEvent): void {
		const from = grabbed.current;
		const t = timeAt(event);

		grabbed.current = null;
		if (from && Math.abs(t - from.t) < whole / 500)
			onView(panned(view, t - (view.t0 + view.t1) / 2, whole));
	}

	return (
		<canvas ref={canvas} class="minimap" style={{ height: `${HEIGHT}px` }} role="img"
			aria-label={`All of the stream, ${duration(whole)}; the timeline shows ${duration(view.t0)} to ${duration(view.t1)}. Drag to choose another part.`}
			onPointerDown={onDown} onPointerMove={onMove} onPointerUp={onUp} onPointerCancel={() => (grabbed.current = null)} />
	);
}
