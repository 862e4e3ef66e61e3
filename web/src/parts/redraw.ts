// Hooks for what is drawn on a canvas.
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

import { palette } from '../colours';

// Draws after each change of the page and when the size of the canvas changes.
export function useDrawing(canvas: RefObject<HTMLCanvasElement | null>, draw: (canvas: HTMLCanvasElement) => void): void {
	const latest = useRef(draw);

	palette.value; // its change draws again
	latest.current = draw;
	useLayoutEffect(() => draw(canvas.current!));
	useEffect(() => {
		const element = canvas.current!;
		const observer = new ResizeObserver(() => latest.current(element));

		observer.observe(element);
		return () => observer.disconnect();
	}, []);
}

// A value once it has not changed for a while: for what is too slow to follow every step of the mouse.
export function useSettled<Value>(value: Value, ms = 150): Value {
	const [settled, setSettled] = useState(value);

	useEffect(() => {
		const timer = setTimeout(() => setSettled(value), ms);

		return () => clearTimeout(timer);
	}, [value]);
	return settled;
}
