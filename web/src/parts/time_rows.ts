// Rows of a timeline as pixels. A column of pixels that one segment covers has its colour; one with several shows their
// shares, one above the other, as an area chart does: dense rows show where time went, sparse ones bars. The work is
// that of the pixels, however many events there are.
import { channels } from '../colours';
import { IDLE, NOT_RECORDED, RUNNING, STATES, WORK, type TimeStates } from '../time_states';

const little = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

export function packColour(colour: string): number {
	const [red, green, blue] = channels(colour) as [number, number, number];

	return (little ? (255 << 24) | (blue << 16) | (green << 8) | red : (red << 24) | (green << 16) | (blue << 8) | 255) >>> 0;
}

export interface RowShape {
	width: number; // all in pixels of the screen
	height: number; // of a row; may have a fraction
	bar: number; // height of bars
	thin: number; // of what is nearly background: idle
}

// A segment that has room for words.
export interface WideBar {
	place: number; // of its row in the picture
	segment: number;
	x0: number;
	x1: number;
}

const WIDE = 3; // pixels from which bars are kept apart

class RowPainter {
	private sums = new Float64Array(STATES.length);

	constructor(private pixels: Uint32Array, private shape: RowShape, private colours: Uint32Array) {}

	// A bar of one state.
	private bar(top: number, x0: number, x1: number, state: number): void {
		const { width, height, bar, thin } = this.shape;
		const size = state === IDLE || state === WORK ? thin : bar;
		const from = top + Math.round((height - size) / 2);

		if (state === NOT_RECORDED)
			return;
		for (let y = from; y < from + size; y++)
			this.pixels.fill(this.colours[state]!, y * width + x0, y * width + x1);
	}

	// States one above the other, running at the bottom; each that is there is seen.
	private column(top: number, x: number): void {
		const { width, height, bar } = this.shape;
		const { sums } = this;
		let whole = 0;
		let y = top + Math.round((height - bar) / 2) + bar;
		const least = y - bar;

		for (let state = 0; state < STATES.length; state++)
			whole += sums[state]!;
		// What is nearly background stays the line that it is elsewhere; the others are drawn over it.
		if (sums[IDLE]! > 0 || sums[WORK]! > 0)
			this.bar(top, x, x + 1, sums[IDLE]! > 0 ? IDLE : WORK);
		for (let state = 0; state < NOT_RECORDED; state++) {
			if (!(sums[state]! > 0) || state === IDLE || state === WORK)
				continue;
			const size = Math.min(Math.max(Math.round((sums[state]! / whole) * bar), 1), y - least);

			for (let i = 0; i < size; i++)
				this.pixels[--y * width + x] = this.colours[state]!;
		}
	}

	// Returns the bars of at least `words` pixels.
	paint(states: TimeStates, row: number, top: number, t0: number, pixel: number, words: number, place: number, wide: WideBar[]): void {
		const { width } = this.shape;
		let segment = states.at(row, t0);

		for (let x = 0; x < width; ) {
			const from = t0 + x * pixel;
			const end = segment < 0 ? (states.first[row] === states.first[row + 1] ? Infinity : states.start[states.first[row]!]!) : states.endOf(row, segment);
			const until = Math.min(Math.floor((end - t0) / pixel), width);

			if (until > x) {
				if (segment >= 0) {
					this.bar(top, x, until, states.state[segment]!);
					if (until - x >= words)
						wide.push({ place, segment, x0: x, x1: until });
				}
				x = until;
				if (x < width)
					segment = states.seek(row, segment, t0 + x * pixel);
				continue;
			}
			const next = states.seek(row, segment, from + pixel);

			if (!this.isEdge(states, row, segment, next, from, pixel)) {
				states.between(row, from, segment, from + pixel, next, this.sums);
				this.column(top, x);
			}
			segment = next;
			x++;
		}
	}

	// Where two wide bars meet, a pixel is left free between them. Samples go on without one.
	private isEdge(states: TimeStates, row: number, segment: number, next: number, t: number, pixel: number): boolean {
		if (segment < 0 || next !== segment + 1 || (states.state[segment] === RUNNING && states.state[next] === RUNNING))
			return false;
		return t - states.start[segment]! >= WIDE * pixel && states.endOf(row, next) - t >= WIDE * pixel;
	}
}

// Draws rows of `states`, from `t0` on, a pixel being `pixel` ns; -1: an empty row. Bars of at least `words` pixels go to `wide`.
export function paintRows(states: TimeStates, rows: number[], t0: number, pixel: number, shape: RowShape, colours: string[], words: number, wide: WideBar[]): ImageData {
	const top = (place: number) => Math.round(place * shape.height);
	const image = new ImageData(shape.width, Math.max(top(rows.length), 1));
	const painter = new RowPainter(new Uint32Array(image.data.buffer), shape, Uint32Array.from(colours, packColour));

	rows.forEach((row, place) => {
		if (row >= 0)
			painter.paint(states, row, top(place), t0, pixel, words, place, wide);
	});
	return image;
}
