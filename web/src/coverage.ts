// How much of each pixel of a timeline events cover. The work depends on the number of pixels, hardly on
// that of events: two sums that are made once answer for any span.

export class Coverage {
	// By event: the time that the earlier ones of its thread cover before its start, and the latest end up to it.
	private before: Float64Array;
	private reach: Float64Array;

	// Spans [start, end) of thread i begin at first[i], sorted by start; they may overlap.
	constructor(private start: Float64Array, end: (place: number) => number, private first: Uint32Array) {
		this.before = new Float64Array(start.length);
		this.reach = new Float64Array(start.length);
		for (let thread = 0; thread + 1 < first.length; thread++) {
			for (let i = first[thread]!; i < first[thread + 1]!; i++) {
				if (i === first[thread]) {
					this.reach[i] = end(i);
					continue;
				}
				this.before[i] = this.before[i - 1]! + Math.min(start[i]!, this.reach[i - 1]!) - start[i - 1]!;
				this.reach[i] = Math.max(this.reach[i - 1]!, end(i));
			}
		}
	}

	// The covered share of each of the pixels, `pixel` ns long, from `t0` on. An event without a length counts
	// for a trace, so that it is seen.
	fill(thread: number, t0: number, pixel: number, shares: Float32Array): void {
		const { start, before, reach } = this;
		const first = this.first[thread]!;
		const last = this.first[thread + 1]!;
		let place = first - 1; // the last event that starts at or before the pixel's end
		let covered = 0;

		for (let i = -1; i < shares.length; i++) {
			const end = t0 + (i + 1) * pixel;
			const from = place;
			let step = 1;

			for (; place + step < last && start[place + step]! <= end; step *= 2)
				place += step;
			for (; step > 1; ) {
				step >>= 1;
				if (place + step < last && start[place + step]! <= end)
					place += step;
			}
			const now = place < first ? 0 : before[place]! + Math.min(end, reach[place]!) - start[place]!;

			if (i >= 0)
				shares[i] = Math.min(Math.max((now - covered) / pixel, place > from ? 1e-6 : 0), 1);
			covered = now;
		}
	}
}
