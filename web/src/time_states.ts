// Every nanosecond of a thread in one state: segments without gaps, as src/scope/states.h defines them. Waits and
// preemptions were measured, so they win over samples; what lies between two of them was running, unless the samples
// stopped for too long. A processor is a row, too: its segments say which thread ran.
import { lastAtOrBefore, NONE, READY, RUN, WAIT, type EventList, type EventRef, type StreamData } from './stream_data';

export const STATES = [
	'running', 'ready', 'lock', 'reply', 'disk', 'network', 'timer', 'gil', 'page', 'child', 'gpu', 'other', 'work', 'idle', 'not_recorded',
] as const;
export type State = (typeof STATES)[number];

const number = Object.fromEntries(STATES.map((state, place) => [state, place])) as Record<State, number>;

export const RUNNING = number.running;
export const QUEUED = number.ready;
export const IDLE = number.idle;
export const WORK = number.work;
export const NOT_RECORDED = number.not_recorded;

const UNSAMPLED_PERIODS = 10; // as LODE_UNSAMPLED_PERIODS
const STRIDE = 32; // segments between two sums
const NO_EVENT = 3; // what a segment without an event is of; of a processor: `place` is the thread

// What a wait or preemption takes: blocked until `mid`, then ready until `end`.
interface Absence {
	start: number;
	mid: number;
	end: number;
	type: typeof WAIT | typeof READY;
	place: number;
}

class Writer {
	start: Float64Array;
	state: Uint8Array;
	of: Uint8Array;
	place: Int32Array;
	count = 0;
	private begin = 0; // of the row

	constructor(capacity: number) {
		this.start = new Float64Array(capacity);
		this.state = new Uint8Array(capacity);
		this.of = new Uint8Array(capacity);
		this.place = new Int32Array(capacity);
	}

	private grow(): void {
		const copy = <List extends Float64Array | Uint8Array | Int32Array>(list: List, next: List): List => (next.set(list as never), next);
		const size = this.start.length * 2 + 16;

		this.start = copy(this.start, new Float64Array(size));
		this.state = copy(this.state, new Uint8Array(size));
		this.of = copy(this.of, new Uint8Array(size));
		this.place = copy(this.place, new Int32Array(size));
	}

	beginRow(): void {
		this.begin = this.count;
	}

	// The same as before goes on.
	put(start: number, state: number, of: number, place: number): void {
		const last = this.count - 1;

		if (last >= this.begin) {
			if (this.state[last] === state && this.of[last] === of && this.place[last] === place)
				return;
			if (this.start[last] === start)
				this.count--; // it had no length
		}
		if (this.count === this.start.length)
			this.grow();
		this.start[this.count] = start;
		this.state[this.count] = state;
		this.of[this.count] = of;
		this.place[this.count++] = place;
	}
}

// The waits and preemptions of a thread by their starts.
function* absencesOf(wait: EventList, ready: EventList, thread: number): Generator<Absence> {
	let w = wait.first[thread]!;
	let r = ready.first[thread]!;

	while (w < wait.first[thread + 1]! || r < ready.first[thread + 1]!) {
		if (r === ready.first[thread + 1]! || (w < wait.first[thread + 1]! && wait.t[w]! <= ready.t[r]!)) {
			const mid = wait.t[w]! + wait.cost[w]!;

			yield { start: wait.t[w]!, mid, end: mid + wait.delay![w]!, type: WAIT, place: w++ };
		} else {
			yield { start: ready.t[r]!, mid: ready.t[r]!, end: ready.t[r]! + ready.cost[r]!, type: READY, place: r++ };
		}
	}
}

class ThreadSweep {
	private sample: number; // the first that may reach into what comes
	private cursor = -Infinity;
	private open: Absence[] = [];

	constructor(private run: EventList, private thread: number, private stateOfWait: Uint8Array, private longestGap: number, private to: Writer) {
		this.sample = run.first[thread]!;
	}

	// Where the next sample overlaps this one and is not over before it, the next one counts from its start.
	private sampleEnd(i: number, end: number): number {
		const { t, cost } = this.run;
		const over = t[i]! + cost[i]!;

		return i + 1 < end && t[i + 1]! < over && t[i + 1]! + cost[i + 1]! >= over ? t[i + 1]! : over;
	}

	// From the last absence to the next; at the start and the end of a thread only samples are known.
	private gap(from: number, until: number, followed: boolean): void {
		const { run, to } = this;
		const end = run.first[this.thread + 1]!;
		let at = from;
		const between = (next: number) => {
			if (next > at && at > -Infinity)
				to.put(at, followed && next - at <= this.longestGap ? RUNNING : NOT_RECORDED, NO_EVENT, -1);
		};

		while (this.sample < end && run.t[this.sample]! + run.cost[this.sample]! <= from)
			this.sample++;
		for (let i = this.sample; i < end && run.t[i]! < until; i++) {
			const begin = Math.max(run.t[i]!, at);
			const over = Math.min(this.sampleEnd(i, end), until);

			if (over <= begin)
				continue;
			between(begin);
			to.put(begin, RUNNING, RUN, i);
			at = over;
		}
		if (until < Infinity)
			between(until);
		else if (at > -Infinity)
			to.put(at, NOT_RECORDED, NO_EVENT, -1);
	}

	private piece({ mid, type, place }: Absence, from: number, until: number): void {
		if (from < mid)
			this.to.put(from, this.stateOfWait[place]!, type, place);
		if (until > mid)
			this.to.put(Math.max(from, mid), QUEUED, type, place);
	}

	// Of absences that overlap, the one that began last wins; then the other one goes on.
	private advance(until: number): void {
		while (this.open.length) {
			const top = this.open[this.open.length - 1]!;

			if (top.end > this.cursor) {
				this.piece(top, this.cursor, Math.min(top.end, until));
				this.cursor = Math.min(top.end, until);
			}
			if (top.end > until)
				return;
			this.open.pop();
		}
	}

	sweep(absences: Iterable<Absence>): void {
		for (const absence of absences) {
			this.advance(absence.start);
			if (!this.open.length)
				this.gap(this.cursor, absence.start, this.cursor > -Infinity);
			this.cursor = Math.max(absence.start, this.cursor);
			this.open.push(absence);
		}
		this.advance(Infinity);
		this.gap(this.cursor, Infinity, false);
	}
}

interface Stay {
	start: number;
	end: number;
	thread: number;
}

// Who ran on each processor, by start: what lies between two absences of a thread, else its samples.
function staysByCpu(data: StreamData): Stay[][] {
	const cpus: Stay[][] = [];
	const [run, wait, ready] = data.lists;
	const add = (cpu: number, stay: Stay) => cpu !== NONE && stay.end > stay.start && (cpus[cpu] ??= []).push(stay);

	for (let thread = 0; thread < data.head.threads.length; thread++) {
		let last: Absence | null = null;

		for (const absence of absencesOf(wait, ready, thread)) {
			if (last)
				add(data.lists[last.type].cpu?.[last.place] ?? NONE, { start: last.end, end: absence.start, thread });
			last = absence;
		}
		if (!last && run.cpu)
			for (let i = run.first[thread]!; i < run.first[thread + 1]!; i++)
				add(run.cpu[i]!, { start: run.t[i]!, end: run.t[i]! + run.cost[i]!, thread });
	}
	for (const stays of cpus)
		stays?.sort((a, b) => a.start - b.start);
	return cpus;
}

export class TimeStates {
	readonly cpus: number[]; // those that are known; the row of the first follows the last thread
	readonly start: Float64Array;
	readonly state: Uint8Array;
	readonly first: Uint32Array; // segment of row i; one more than rows
	private of: Uint8Array;
	private place: Int32Array;
	private sums: Float64Array; // by block of STRIDE segments: the time in each state before it, from the row's start
	private firstSum: Uint32Array;

	constructor(private data: StreamData) {
		const [run, wait, ready] = data.lists;
		const threads = data.head.threads.length;
		const writer = new Writer(run.t.length + 2 * wait.t.length + ready.t.length + threads);
		const states = data.head.states.map((key) => number[key as State] ?? number.other);
		const stateOfWait = wait.state!.map((state) => states[state]!);
		const mean = run.cost.length ? run.cost.reduce((sum, cost) => sum + cost, 0) / run.cost.length : Infinity;
		const firsts = [0];

		for (let thread = 0; thread < threads; thread++) {
			writer.beginRow();
			new ThreadSweep(run, thread, stateOfWait, mean * UNSAMPLED_PERIODS, writer).sweep(absencesOf(wait, ready, thread));
			firsts.push(writer.count);
		}
		const stays = staysByCpu(data);

		this.cpus = Object.keys(stays).map(Number);
		for (const cpu of this.cpus) {
			let reach = -Infinity;

			writer.beginRow();
			for (const { start, end, thread } of stays[cpu]!) {
				if (start > reach && reach > -Infinity)
					writer.put(reach, NOT_RECORDED, NO_EVENT, -1);
				if (end > reach) {
					writer.put(Math.max(start, reach), RUNNING, NO_EVENT, thread);
					reach = end;
				}
			}
			writer.put(reach, NOT_RECORDED, NO_EVENT, -1);
			firsts.push(writer.count);
		}
		this.start = writer.start.slice(0, writer.count);
		this.state = writer.state.slice(0, writer.count);
		this.of = writer.of.slice(0, writer.count);
		this.place = writer.place.slice(0, writer.count);
		this.first = Uint32Array.from(firsts);
		[this.sums, this.firstSum] = this.sumUp();
	}

	private sumUp(): [Float64Array, Uint32Array] {
		const rows = this.first.length - 1;
		const firstSum = new Uint32Array(rows + 1);

		for (let row = 0; row < rows; row++)
			firstSum[row + 1] = firstSum[row]! + Math.ceil((this.first[row + 1]! - this.first[row]!) / STRIDE);
		const sums = new Float64Array(firstSum[rows]! * STATES.length);
		const sum = new Float64Array(STATES.length);

		for (let row = 0; row < rows; row++) {
			sum.fill(0);
			for (let i = this.first[row]!, end = this.first[row + 1]!; i < end; i++) {
				if ((i - this.first[row]!) % STRIDE === 0)
					sums.set(sum, (firstSum[row]! + (i - this.first[row]!) / STRIDE) * STATES.length);
				if (i + 1 < end)
					sum[this.state[i]!]! += this.start[i + 1]! - this.start[i]!;
			}
		}
		return [sums, firstSum];
	}

	// The segment of a row at a moment; -1: before the first one. The last one of a row has no end: nothing is known from there on.
	at(row: number, t: number): number {
		const from = this.first[row]!;
		const to = this.first[row + 1]!;

		return from === to || this.start[from]! > t ? -1 : lastAtOrBefore(this.start, from, to, t);
	}

	endOf(row: number, segment: number): number {
		return segment + 1 < this.first[row + 1]! ? this.start[segment + 1]! : Infinity;
	}

	// What a segment is part of; null: no event.
	eventOf(segment: number): EventRef | null {
		return this.of[segment] === NO_EVENT ? null : { type: this.of[segment]! as EventRef['type'], place: this.place[segment]! };
	}

	// The thread that has a processor in a segment; -1: not known.
	threadOn(segment: number): number {
		return this.of[segment] === NO_EVENT ? this.place[segment]! : -1;
	}

	// Adds `sign` times the time in each state, from the row's start to `t` within this segment, to `into`.
	private addBefore(row: number, segment: number, t: number, sign: number, into: Float64Array): void {
		const from = this.first[row]!;
		const block = Math.floor((segment - from) / STRIDE);
		const sum = (this.firstSum[row]! + block) * STATES.length;

		for (let state = 0; state < STATES.length; state++)
			into[state]! += sign * this.sums[sum + state]!;
		for (let i = from + block * STRIDE; i < segment; i++)
			into[this.state[i]!]! += sign * (this.start[i + 1]! - this.start[i]!);
		into[this.state[segment]!]! += sign * (t - this.start[segment]!);
	}

	// The time in each state from `t0` to `t1`, where the segments of both are known (-1: before the row's start). The work is bounded.
	between(row: number, t0: number, first: number, t1: number, last: number, into: Float64Array): void {
		into.fill(0);
		if (last < 0)
			return;
		if (first < 0) {
			first = this.first[row]!;
			t0 = this.start[first]!;
		}
		if (last - first <= 2 * STRIDE) {
			for (let i = first; i <= last; i++)
				into[this.state[i]!]! += (i < last ? this.start[i + 1]! : t1) - Math.max(this.start[i]!, t0);
			return;
		}
		this.addBefore(row, last, t1, 1, into);
		this.addBefore(row, first, t0, -1, into);
	}

	// The time in each state of a row within a span.
	times(row: number, t0: number, t1: number, into = new Float64Array(STATES.length)): Float64Array {
		this.between(row, t0, this.at(row, t0), t1, this.at(row, t1), into);
		return into;
	}

	// The next segment at or after `t`, from one that is known: faster than a search where it is near.
	seek(row: number, from: number, t: number): number {
		const end = this.first[row + 1]!;
		let at = Math.max(from, this.first[row]! - 1);
		let step = 1;

		for (; at + step < end && this.start[at + step]! <= t; step *= 2)
			at += step;
		for (; step > 1; ) {
			step >>= 1;
			if (at + step < end && this.start[at + step]! <= t)
				at += step;
		}
		return at < this.first[row]! ? -1 : at;
	}

	get span(): number {
		return this.data.head.span_ns;
	}
}
