// Who woke whom: an arrow for each wait that ends in view, as long as they can be distinguished.
import { lastAtOrBefore, WAIT, type StreamData } from '../stream_data';

export interface WakeArrow {
	t: number;
	from: number; // rows
	to: number;
}

const MAX_WAITS = 20000; // that are looked at for one picture

// The wake-ups between threads that are shown, by their rows, within [t0, t1]; null: more than `most`, or too many waits to look at.
export function wakeArrows(data: StreamData, rowOf: Map<number, number>, t0: number, t1: number, most: number): WakeArrow[] | null {
	const { t, cost, first, waker } = data.lists[WAIT];
	const arrows: WakeArrow[] = [];
	let looked = 0;

	for (const [thread, to] of rowOf) {
		const last = first[thread + 1]!;

		if (first[thread] === last)
			continue;
		for (let i = lastAtOrBefore(t, first[thread]!, last, t0); i < last && t[i]! <= t1; i++) {
			const end = t[i]! + cost[i]!;
			const from = rowOf.get(waker![i]!);

			if (++looked > MAX_WAITS)
				return null;
			if (end < t0 || end > t1 || from === undefined || from === to)
				continue;
			if (arrows.length === most)
				return null;
			arrows.push({ t: end, from, to });
		}
	}
	return arrows;
}

// `middle` is where a row's middle is.
export function drawWakeArrows(context: CanvasRenderingContext2D, arrows: WakeArrow[], x: (t: number) => number, middle: (row: number) => number, colour: string): void {
	context.strokeStyle = colour;
	context.fillStyle = colour;
	context.lineWidth = 1;
	context.globalAlpha = 0.8;
	for (const arrow of arrows) {
		const at = Math.round(x(arrow.t)) + 0.5;
		const down = arrow.to > arrow.from ? 1 : -1;
		const tip = middle(arrow.to) - 3 * down;

		context.beginPath();
		context.moveTo(at, middle(arrow.from));
		context.lineTo(at, tip - 4 * down);
		context.stroke();
		context.beginPath();
		context.moveTo(at - 3, tip - 5 * down);
		context.lineTo(at + 3, tip - 5 * down);
		context.lineTo(at, tip);
		context.fill();
	}
	context.globalAlpha = 1;
}
