// How time is moved, zoomed and selected by hand. Mouse: drag moves, Shift and drag selects. Touch: drag moves, two
// fingers zoom, holding and then dragging selects.
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

export interface Span {
	t0: number;
	t1: number;
}

export const MIN_SPAN = 1000; // ns across the screen

const HOLD = 400; // ms until a finger selects
const STILL = 3; // pixels that are no movement of a mouse
const STILL_FINGER = 8;

export function ordered(a: number, b: number): Span {
	return a < b ? { t0: a, t1: b } : { t0: b, t1: a };
}

// A span of this length within the whole, beginning near `t0`. `whole` may be Infinity: then it may begin before 0, too.
function within(t0: number, length: number, whole: number): Span {
	if (whole === Infinity)
		return { t0, t1: t0 + length };
	const start = Math.min(Math.max(t0, 0), whole - length);

	return { t0: start, t1: start + length };
}

export function zoomed(view: Span, at: number, factor: number, whole: number): Span {
	const length = Math.min(Math.max((view.t1 - view.t0) * factor, MIN_SPAN), whole);

	return within(at - ((at - view.t0) / (view.t1 - view.t0)) * length, length, whole);
}

export function panned(view: Span, by: number, whole: number): Span {
	return within(view.t0 + by, view.t1 - view.t0, whole);
}

// A moment and where it is to be seen, from 0 at the left to 1 at the right of the view.
export interface Anchor {
	t: number;
	at: number;
}

// The view in which two fingers still hold their moments.
export function pinched(a: Anchor, b: Anchor, whole: number): Span {
	const length = Math.min(Math.max((b.t - a.t) / (b.at - a.at || 1e-9), MIN_SPAN), whole);

	return within((a.t + b.t) / 2 - ((a.at + b.at) / 2) * length, length, whole);
}

interface Finger {
	x: number;
	t: number; // what it touched first
}

interface Gesture {
	fingers: Map<number, Finger>;
	start: number; // x of the first one
	view: Span; // at the start
	selecting: boolean;
	moved: boolean;
	pinching: boolean;
	holding: ReturnType<typeof setTimeout> | undefined;
}

interface Owner {
	view: Span;
	whole: number;
	timeAt: (x: number, view: Span) => number;
	shareAt: (x: number) => number; // from 0 at the left to 1 at the right
	onView: (view: Span) => void;
	onSpan: (span: Span) => void;
	onTap: (event: PointerEvent) => void;
}

// Handlers for a canvas, and the span that is being selected.
export function useTimeGestures(canvas: RefObject<HTMLCanvasElement | null>, owner: Owner) {
	const gesture = useRef<Gesture | null>(null);
	const [dragged, setDragged] = useState<Span | null>(null);

	// Once a gesture is ours the page must not scroll: that can only be said to the first touch that moves.
	useEffect(() => {
		const element = canvas.current!;
		const keep = (event: TouchEvent) => {
			if (gesture.current?.selecting || gesture.current?.pinching || event.touches.length > 1)
				event.preventDefault();
		};

		element.addEventListener('touchmove', keep, { passive: false });
		return () => element.removeEventListener('touchmove', keep);
	}, []);

	function end(): void {
		clearTimeout(gesture.current?.holding);
		gesture.current = null;
		setDragged(null);
	}
	function begin(event: PointerEvent): Gesture {
		const made: Gesture = { fingers: new Map(), start: event.offsetX, view: owner.view, selecting: event.shiftKey, moved: false, pinching: false, holding: undefined };

		if (event.pointerType === 'touch')
			made.holding = setTimeout(() => {
				made.selecting = true;
				setDragged(ordered(owner.timeAt(made.start, made.view), owner.timeAt(made.start, made.view)));
				navigator.vibrate?.(10);
			}, HOLD);
		return made;
	}
	function onPointerDown(event: PointerEvent): void {
		const now = (gesture.current ??= begin(event));

		now.fingers.set(event.pointerId, { x: event.offsetX, t: owner.timeAt(event.offsetX, owner.view) });
		canvas.current!.setPointerCapture(event.pointerId);
		if (now.fingers.size === 2 && !now.selecting) {
			clearTimeout(now.holding);
			now.pinching = true;
			for (const finger of now.fingers.values())
				finger.t = owner.timeAt(finger.x, owner.view);
		}
	}
	function pinch({ fingers }: Gesture): void {
		const [a, b] = [...fingers.values()].sort((left, right) => left.t - right.t);

		if (a && b)
			owner.onView(pinched({ t: a.t, at: owner.shareAt(a.x) }, { t: b.t, at: owner.shareAt(b.x) }, owner.whole));
	}
	function onPointerMove(event: PointerEvent): void {
		const now = gesture.current;
		const finger = now?.fingers.get(event.pointerId);

		if (!now || !finger)
			return;
		finger.x = event.offsetX;
		if (now.pinching) {
			pinch(now);
			return;
		}
		now.moved ||= Math.abs(event.offsetX - now.start) > (event.pointerType === 'touch' ? STILL_FINGER : STILL);
		if (!now.moved)
			return;
		clearTimeout(now.holding);
		if (now.selecting)
			setDragged(ordered(owner.timeAt(now.start, owner.view), owner.timeAt(event.offsetX, owner.view)));
		else
			owner.onView(panned(now.view, owner.timeAt(now.start, now.view) - owner.timeAt(event.offsetX, now.view), owner.whole));
	}
	function onPointerUp(event: PointerEvent): void {
		const now = gesture.current;

		if (!now?.fingers.delete(event.pointerId) || now.fingers.size > 0)
			return; // a pinch ends with its last finger
		end();
		if (now.pinching)
			return;
		if (!now.moved)
			owner.onTap(event);
		else if (now.selecting)
			owner.onSpan(ordered(owner.timeAt(now.start, owner.view), owner.timeAt(event.offsetX, owner.view)));
	}
	// A finger that holds opens no menu.
	function onContextMenu(event: MouseEvent): void {
		if (gesture.current?.fingers.size)
			event.preventDefault();
	}

	return { dragged, handlers: { onPointerDown, onPointerMove, onPointerUp, onPointerCancel: end, onContextMenu } };
}
