// One stream: its threads on a time line, the critical path of its symptoms, and flame graphs of what is selected.
import { useMemo, useState } from 'preact/hooks';

import { count, duration, percent, plural } from '../format';
import { FlameGraph } from '../parts/flame_graph';
import { FrameList } from '../parts/frame_list';
import { Help } from '../parts/help';
import { useSettled } from '../parts/redraw';
import { TimeLine, wakerEvent, type Span } from '../parts/time_line';
import { route } from '../route';
import { RUN, WAIT, StreamData, type EventRef, type Symptom } from '../stream_data';

const SHOWN_THREADS = 40;

// Threads on the path of the chosen symptom first, then those that did most.
function orderThreads(data: StreamData, symptom: Symptom | undefined): number[] {
	const weight = new Float64Array(data.head.threads.length);

	for (const list of data.lists)
		for (let thread = 0; thread < weight.length; thread++)
			weight[thread]! += list.first[thread + 1]! - list.first[thread]!;
	for (let i = symptom?.path_first ?? 0; symptom && i < symptom.path_first + symptom.path_count; i++) {
		const thread = data.threadOf({ type: data.path.type[i]! as 0 | 1, place: data.path.event[i]! });

		weight[thread]! += 1e12 + data.path.cost[i]!;
	}
	if (symptom)
		weight[symptom.thread] = Infinity;
	return [...weight.keys()].filter((thread) => weight[thread]! > 0).sort((a, b) => weight[b]! - weight[a]! || a - b);
}

function threadName(data: StreamData, thread: number): string {
	const { name, tid } = data.head.threads[thread]!;

	return `${name || 'thread'} ${tid}`;
}

function EventDetail({ data, event, onSelect }: { data: StreamData; event: EventRef; onSelect: (event: EventRef) => void }) {
	const [all, setAll] = useState(false);
	const list = data.lists[event.type];
	const waker = data.wakerOf(event);
	const next = wakerEvent(data, event);
	const delay = list.delay?.[event.place] ?? 0;
	const wakerStack = list.wakerStack?.[event.place] ?? 0;

	return (
		<article class="detail" aria-live="polite">
			<h2>{event.type === WAIT ? 'Waited' : 'Ran'} {duration(list.cost[event.place]!)}</h2>
			<p>
				<bdi>{threadName(data, data.threadOf(event))}</bdi> at {duration(list.t[event.place]!)}
				{delay > 0 && <>, then {duration(delay)} on the run queue</>}
				{event.type === WAIT && (waker < 0 ? '; what woke it is not known' : <>; woken by <bdi>{threadName(data, waker)}</bdi></>)}
			</p>
			{next && <button type="button" onClick={() => onSelect(next)}>Go to the waker</button>}
			<h3>Stack <label class="switch"><input type="checkbox" checked={all} onChange={() => setAll(!all)} /> all frames</label></h3>
			<FrameList frames={data.table.list(data.stackNames(list.stack[event.place]!))} all={all} />
			{wakerStack > 0 && (
				<>
					<h3>Stack of the waker</h3>
					<FrameList frames={data.table.list(data.stackNames(wakerStack))} all={all} />
				</>
			)}
		</article>
	);
}

function Symptoms({ data, chosen, onChoose }: { data: StreamData; chosen: number; onChoose: (number: number) => void }) {
	return (
		<p>
			<label>
				Symptom:{' '}
				<select value={chosen} onChange={(event) => onChoose(Number(event.currentTarget.value))}>
					{data.head.symptoms.map((symptom, number) => (
						<option value={number}>
							{symptom.name || 'symptom'}: {threadName(data, symptom.thread)}, {duration(symptom.t1 - symptom.t0)} at {duration(symptom.t0)}
						</option>
					))}
				</select>
			</label>
		</p>
	);
}

const kinds = { both: 'running and waiting', run: 'on-CPU', wait: 'off-CPU' } as const;

// Flame graphs of what is in view or selected.
function Selection({ data, rows, view, span, onlyThread }: { data: StreamData; rows: number[]; view: Span; span: Span | null; onlyThread: number }) {
	const [kind, setKind] = useState<keyof typeof kinds>('both');
	const shown = span ?? view;
	const type = kind === 'both' ? 'both' : kind === 'run' ? RUN : WAIT;
	const threads = onlyThread >= 0 ? [onlyThread] : rows;
	const tree = useMemo(() => data.tree(type, threads, shown.t0, shown.t1), [data, kind, shown.t0, shown.t1, onlyThread, rows]);

	return (
		<section>
			<h2>
				{span ? 'Selected time' : 'Time in view'}: {duration(shown.t1 - shown.t0)} from {duration(shown.t0)},{' '}
				{onlyThread >= 0 ? <bdi>{threadName(data, onlyThread)}</bdi> : plural(threads.length, 'thread')}
			</h2>
			<p role="group" aria-label="Kind of time">
				{(Object.keys(kinds) as (keyof typeof kinds)[]).map((each) => (
					<button type="button" aria-pressed={each === kind} onClick={() => setKind(each)}>{kinds[each]}</button>
				))}
			</p>
			{tree.whole > 0 ? <FlameGraph tree={tree} table={data.table} label={`Flame graph, ${kinds[kind]}`} /> : <p>Nothing happened here.</p>}
		</section>
	);
}

// A link has the time as the stream has it: too large for a number, so the start is taken off first.
function sinceStart(data: StreamData, text: string | null): number {
	return text && /^\d+$/.test(text) ? Number(BigInt(text) - BigInt(data.head.start_ns)) : NaN;
}

export function StreamView({ result }: { result: ArrayBuffer }) {
	const data = useMemo(() => new StreamData(result), [result]);
	const at = sinceStart(data, route.value.query.get('at'));
	const tid = Number(route.value.query.get('tid') ?? NaN);
	const [number, setNumber] = useState(() => Math.max(0, data.head.symptoms.findIndex(({ t0, t1 }) => at >= t0 && at <= t1)));
	const symptom = data.head.symptoms[number];
	const rows = useMemo(() => orderThreads(data, symptom), [data, symptom]);
	const [shown, setShown] = useState(SHOWN_THREADS);
	const whole = { t0: 0, t1: Math.max(data.head.span_ns, 1000) };
	const [view, setView] = useState<Span>(symptom ? { t0: symptom.t0, t1: Math.max(symptom.t1, symptom.t0 + 1000) } : whole);
	const settled = useSettled(view);
	const [span, setSpan] = useState<Span | null>(null);
	const [selected, setSelected] = useState<EventRef | null>(() => {
		const thread = data.head.threads.findIndex((each) => each.tid === tid);

		return thread >= 0 && at >= 0 ? data.eventAt(thread, at) : null;
	});
	const [alone, setAlone] = useState(false);

	const onlyThread = alone && selected ? data.threadOf(selected) : -1;
	// The same element is not drawn again while the time line moves.
	const selection = useMemo(
		() => <Selection data={data} rows={rows} view={settled} span={span} onlyThread={onlyThread} />,
		[data, rows, settled, span, onlyThread],
	);

	function choose(next: number): void {
		const { t0, t1 } = data.head.symptoms[next]!;

		setNumber(next);
		setView({ t0, t1: Math.max(t1, t0 + 1000) });
	}

	return (
		<>
			<Help words={['stream', 'symptom', 'critical path']}>
				<bdi>{data.head.stream}</bdi>{data.head.host && <> on <bdi>{data.head.host}</bdi></>}: {plural(data.head.threads.length, 'thread')},
				{' '}{plural(data.lists[WAIT].t.length, 'wait')} and {plural(data.lists[RUN].t.length, 'sample')} in {duration(data.head.span_ns)}.
				{' '}Wide bars are CPU time, narrow ones waits; the blue line is the critical path. Keys: w and s zoom, a and d pan; Shift and drag selects time.
			</Help>
			{data.head.symptoms.length > 0 && <Symptoms data={data} chosen={number} onChoose={choose} />}
			{symptom && (
				<p class="dim">
					{symptom.unknown_ns > 0 ? `No event explains ${duration(symptom.unknown_ns)} (${percent(symptom.unknown_ns / (symptom.t1 - symptom.t0 || 1))}) of it.` : 'Its critical path explains all of it.'}
				</p>
			)}
			<p role="group" aria-label="Zoom">
				<button type="button" onClick={() => setView(whole)}>All of the stream</button>
				{symptom && <button type="button" onClick={() => choose(number)}>The symptom</button>}
				{selected && (
					<label class="switch"><input type="checkbox" checked={alone} onChange={() => setAlone(!alone)} /> only the selected thread</label>
				)}
			</p>
			<div class="key" aria-hidden="true">
				<i class="state run" /> running <i class="state wait" /> waiting <i class="state queue" /> on the run queue
			</div>
			<TimeLine data={data} rows={rows.slice(0, shown)} view={view} onView={setView} selected={selected} onSelect={setSelected} span={span}
				onSpan={setSpan} path={symptom ? { first: symptom.path_first, count: symptom.path_count } : null} />
			{rows.length > shown && (
				<p>{shown} of {count(rows.length)} threads shown. <button type="button" onClick={() => setShown(rows.length)}>Show all</button></p>
			)}
			{selected && <EventDetail data={data} event={selected} onSelect={setSelected} />}
			{selection}
		</>
	);
}
