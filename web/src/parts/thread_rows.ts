// The rows of a timeline as pixels: what share of its time a thread ran, waited and was on the run queue.
// Dense rows show the mix, sparse ones bars; either way the work is that of the pixels.
import { channels, type Palette } from '../colours';
import type { StreamData } from '../stream_data';

const states = ['run', 'queue', 'wait'] as const;
const MIN_ALPHA = 90; // of 255: short events must be seen
const little = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

// Colours of pixels in the byte order of this machine. Lane n of a row shows the first n + 1 states.
function mixLanes(shares: Float32Array[], colours: number[][], lanes: Uint32Array[]): void {
	for (let x = 0; x < lanes[0]!.length; x++) {
		let red = 0;
		let green = 0;
		let blue = 0;
		let sum = 0;

		for (let i = 0; i < lanes.length; i++) {
			const share = shares[i]![x]!;

			if (share > 0) {
				const colour = colours[i]!;

				red += share * colour[0]!;
				green += share * colour[1]!;
				blue += share * colour[2]!;
				sum += share;
			}
			lanes[i]![x] = sum > 0 ? packed(red / sum, green / sum, blue / sum, Math.min(MIN_ALPHA + sum * (255 - MIN_ALPHA), 255)) : 0;
		}
	}
}

function packed(red: number, green: number, blue: number, alpha: number): number {
	return little ? (alpha << 24) | (blue << 16) | (green << 8) | red : (red << 24) | (green << 16) | (blue << 8) | alpha;
}

export interface RowShape {
	width: number; // all in pixels of the screen
	height: number; // of a row; may have a fraction
	insets: { run: number; queue: number; wait: number }; // from its edges: the widest bar has the smallest
}

// The rows of these threads, from `t0` on, a pixel being `pixel` ns.
export function threadRows(data: StreamData, threads: number[], t0: number, pixel: number, shape: RowShape, palette: Palette): ImageData {
	const { width, height, insets } = shape;
	const top = (row: number) => Math.round(row * height);
	const image = new ImageData(width, Math.max(top(threads.length), 1));
	const pixels = new Uint32Array(image.data.buffer);
	const colours = states.map((state) => channels(palette.states[state]!));
	const shares = states.map(() => new Float32Array(width));
	const lanes = states.map(() => new Uint32Array(width));

	threads.forEach((thread, row) => {
		const half = (top(row + 1) - top(row)) / 2;

		states.forEach((state, i) => data.coverage[state].fill(thread, t0, pixel, shares[i]!));
		mixLanes(shares, colours, lanes);
		lanes.forEach((lane, i) => {
			const next = i + 1 < states.length ? insets[states[i + 1]!] : half;

			for (let y = insets[states[i]!]; y < next; y++) {
				pixels.set(lane, (top(row) + y) * width);
				pixels.set(lane, (top(row + 1) - 1 - y) * width);
			}
		});
	});
	return image;
}
