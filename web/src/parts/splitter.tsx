// The line between the timeline and what is below it: it can be dragged, and moved by the arrow keys.
import { useRef } from 'preact/hooks';

interface SplitterProps {
	height: number; // of what is above
	least: number;
	most: number;
	onHeight: (height: number) => void;
}

export function Splitter({ height, least, most, onHeight }: SplitterProps) {
	const grabbed = useRef<{ y: number; height: number } | null>(null);
	const set = (next: number) => onHeight(Math.round(Math.min(Math.max(next, least), most)));

	return (
		<div class="splitter" role="separator" aria-orientation="horizontal" aria-label="Height of the timeline" aria-valuenow={height} aria-valuemin={least} aria-valuemax={most} tabIndex={0}
			onKeyDown={(event) => {
				const by = { ArrowUp: -24, ArrowDown: 24 }[event.key];

				if (by) {
					set(height + by);
					event.preventDefault();
				}
			}}
			onPointerDown={(event) => {
				grabbed.current = { y: event.clientY, height };
				event.currentTarget.setPointerCapture(event.pointerId);
			}}
			onPointerMove={(event) => grabbed.current && set(grabbed.current.height + event.clientY - grabbed.current.y)}
			onPointerUp={() => (grabbed.current = null)} onPointerCancel={() => (grabbed.current = null)} />
	);
}
