// One stream: its threads on a timeline, the critical path of its symptoms, and flame graphs of what is selected.
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';

import type { Columns } from '../columns';
import { count, duration, percent, plural } from '../format';
import { culprit } from '../frames';
import { FlameGraph } from '../parts/flame_graph';
import { FrameList, FrameName } from '../parts/frame_list';
import { Help } from '../parts/help';
import { useSettled } from '../parts/redraw';
import type { Span } from '../parts/time_gestures';
import { TimeLine } from '../parts/time_line';
import type { StreamHead, StreamSymptom } from '../results';
import { go, linkHere, replaceQuery, route } from '../route';
import type { StackTree } from '../stack_tree';
import { pathTree, RUN, WAIT, StreamData, type EventRef } from '../stream_data';
import { comparedTree } from '../tree_views';
import { nextOnTheWay, wakeChain } from '../wake_chain';

const SHOWN_THREADS = 16; // what is below should be seen, too
const MAX_THREADS = 1000; // browsers have no higher canvas

// Threads on the path of the chosen symptom first, then those that did most.
function orderThreads(data: StreamData, symptom: StreamSymptom | undefined): number[] {
	const weight = new Float64Array(data.head.threads.length);

	for (const list of data.lists)
		for (let thread = 0; thread < weight.length; thread++)
			weight[thread]! += list.first[thread + 1]! - list.first[thread]!;
	for (let i = symptom?.path_first ?? 0; symptom && i < symptom.path_first + symptom.path_count; i++)
		weight[data.path.thread[i]!]! += 1e12 + data.path.cost[i]!;
	if (symptom)
		weight[symptom.thread] = Infinity;
	return [...weight.keys()].filter((thread) => weight[thread]! > 0).sort((a, b) => weight[b]! - weight[a]! || a - b);
}

function threadName(data: StreamData, thread: number): string {
	const { name, tid } = data.head.threads[thread]!;

	return `${name || 'thread'} ${tid}`;
}

// Thread 0 is the kernel's idle loop, which wakes no thread: an interrupt did.
function wakerName(data: StreamData, thread: number) {
	return data.head.threads[thread]!.tid === 0 ? 'an interrupt, while the CPU was idle' : <bdi>{threadName(data, thread)}</bdi>;
}

// The link of an event. Its time is as the stream has it, which is too large for a number.
function placeOf(data: StreamData, event: EventRef | null): Record<string, string> {
	if (!event)
		return { at: '', tid: '', kind: '' };
	return {
		at: String(BigInt(data.head.start_ns) + BigInt(Math.round(data.lists[event.type].t[event.place]!))),
		tid: String(data.head.threads[data.threadOf(event)]!.tid),
		kind: event.type === WAIT ? 'wait' : 'run',
	};
}

function sinceStart(data: StreamData, text: string | null): number {
	return text && /^\d+$/.test(text) ? Number(BigInt(text) - BigInt(data.head.start_ns)) : NaN;
}

// The event that a link names.
function eventOf(data: StreamData, query: URLSearchParams): EventRef | null {
	const at = sinceStart(data, query.get('at'));
	const tid = Number(query.get('tid') ?? NaN);
	const kind = query.get('kind');
	const types = kind === 'run' ? ([RUN] as const) : kind === 'wait' ? ([WAIT] as const) : ([WAIT, RUN] as const);

	for (const [thread, each] of data.head.threads.entries()) {
		const found = each.tid === tid && at >= 0 ? data.eventAt(thread, at, types) : null;

		if (found)
			return found;
	}
	return null;
}

function EventLink({ data, event, children }: { data: StreamData; event: EventRef; children: ComponentChildren }) {
	return <a href={linkHere(route.value.parts, placeOf(data, event))}>{children}</a>;
}

function eventFrame(data: StreamData, { type, place }: EventRef) {
	return culprit(data.table.list(data.stackNames(data.lists[type].stack[place]!)));
}

// What was waited for in turn, from the wait that is selected to the first cause that is known.
function Chain({ data, event }: { data: StreamData; event: EventRef }) {
	const chain = useMemo(() => wakeChain(data, event), [data, event.place]);
	const { cost } = data.lists[WAIT];

	if (chain.length < 2)
		return null;
	return (
		<>
			<h3>What it waited for in turn</h3>
			<ol class="chain">
				{chain.map((each, place) => {
					const frame = eventFrame(data, each);
					const text = <><bdi>{threadName(data, data.threadOf(each))}</bdi> waited {duration(cost[each.place]!)}</>;

					return (
						<li>
							{place ? <EventLink data={data} event={each}>{text}</EventLink> : text}
							{frame && <> in <FrameName frame={frame} /></>}
							{data.wakerOf(each) >= 0 && <span class="dim">, woken by {wakerName(data, data.wakerOf(each))}</span>}
						</li>
					);
				})}
			</ol>
		</>
	);
}

function EventDetail({ data, event }: { data: StreamData; event: EventRef }) {
	const [all, setAll] = useState(false);
	const list = data.lists[event.type];
	const waker = data.wakerOf(event);
	const next = nextOnTheWay(data, event);
	const delay = list.delay?.[event.place] ?? 0;
	const wakerStack = list.wakerStack?.[event.place] ?? 0;

	return (
		<article class="detail" aria-live="polite">
			<h2>{event.type === WAIT ? 'Waited' : 'Ran'} {duration(list.cost[event.place]!)}</h2>
			<p>
				<bdi>{threadName(data, data.threadOf(event))}</bdi> at {duration(list.t[event.place]!)}
				{delay > 0 && <>, then {duration(delay)} on the run queue</>}
				{event.type === WAIT && (waker < 0 ? '; what woke it is not known' : <>; woken by {wakerName(data, waker)}</>)}
			</p>
			{next && <EventLink data={data} event={next}>{event.type === WAIT ? 'Go to the waker' : 'Go to the wait before it'}</EventLink>}
			{event.type === WAIT && <Chain data={data} event={event} />}
			<div class="two">
				<div>
					<h3>Stack <label class="switch"><input type="checkbox" checked={all} onChange={() => setAll(!all)} /> all frames</label></h3>
					<FrameList frames={data.table.list(data.stackNames(list.stack[event.place]!))} all={all} />
				</div>
				{wakerStack > 0 && (
					<div>
						<h3>Stack of the waker</h3>
						<FrameList frames={data.table.list(data.stackNames(wakerStack))} all={all} />
					</div>
				)}
			</div>
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

const kinds = { both: 'Both', run: 'On-CPU', wait: 'Off-CPU' } as const;
type Kind = keyof typeof kinds;

// Which events count: of all threads, of one, or the critical path of a symptom.
interface Chosen {
	span: Span;
	kind: Kind;
	thread: number; // -1: all
	symptom: StreamSymptom | null;
}

function treeOf(data: StreamData, rows: number[], { span, kind, thread, symptom }: Chosen): StackTree {
	const type = kind === 'both' ? 'both' : kind === 'run' ? RUN : WAIT;

	if (symptom)
		return pathTree(data, symptom, type, span.t0, span.t1);
	return data.tree(type, thread >= 0 ? [thread] : rows, span.t0, span.t1);
}

// A span in a link, in nanoseconds from the start.
function spanOf(text: string | null): Span | null {
	const [t0, t1] = (text ?? '').split('-').map(Number);

	return text && t1! > t0! ? { t0: t0!, t1: t1! } : null;
}

function spanText(span: Span | null): string {
	return span ? `${Math.round(span.t0)}-${Math.round(span.t1)}` : '';
}

interface SelectionProps {
	data: StreamData;
	rows: number[];
	view: Span;
	span: Span | null;
	base: Span | null; // to compare with
	thread: number;
	symptom: StreamSymptom | null;
}

// Flame graphs of what is in view or selected, also compared with another span.
function Selection({ data, rows, view, span, base, thread, symptom }: SelectionProps) {
	const [kind, setKind] = useState<Kind>('both');
	const shown = span ?? view;
	const tree = useMemo(() => treeOf(data, rows, { span: shown, kind, thread, symptom }), [data, kind, shown.t0, shown.t1, thread, symptom, rows]);
	const compared = useMemo(() => {
		const other = base && treeOf(data, rows, { span: base, kind, thread, symptom });

		return other && other.whole > 0 && tree.whole > 0 ? comparedTree(tree, other, tree.whole / other.whole) : null;
	}, [tree, base?.t0, base?.t1]);
	const baseName = base && `${duration(base.t1 - base.t0)} from ${duration(base.t0)}`;

	return (
		<section>
			<h2>
				{span ? 'Selected time' : 'Time in view'}: {duration(shown.t1 - shown.t0)} from {duration(shown.t0)},{' '}
				{symptom ? 'critical path' : thread >= 0 ? <bdi>{threadName(data, thread)}</bdi> : plural(rows.length, 'thread')}
			</h2>
			<p role="group" aria-label="Kind of time">
				{(Object.keys(kinds) as Kind[]).map((each) => (
					<button type="button" aria-pressed={each === kind} onClick={() => setKind(each)}>{kinds[each]}</button>
				))}{' '}
				{base
					? <a href={linkHere(route.value.parts, { base: '' })}>Do not compare with {baseName}</a>
					: <a href={linkHere(route.value.parts, { base: spanText(shown), span: '' })}>Compare other time with this</a>}
			</p>
			{base && (
				<p class="dim">
					{compared ? <>Width is what is selected; its colour is the difference from {baseName}, as if both had taken as long in all: blue less, orange more.</>
						: <>Select other time to compare it with {baseName}.</>}
				</p>
			)}
			{tree.whole > 0 ? (
				<FlameGraph tree={compared ?? tree} table={data.table} label={`Flame graph, ${kinds[kind]}`}
					compare={compared ? { shown: 'the selected time', other: 'the base, to scale', sign: 1 } : undefined} />
			) : (
				<p>Nothing happened here.</p>
			)}
		</section>
	);
}

const MIN_VIEW = 1000; // ns

function viewOf(symptom: StreamSymptom): Span {
	return { t0: symptom.t0, t1: Math.max(symptom.t1, symptom.t0 + MIN_VIEW) };
}

// The same length, moved so that the event is seen; longer if it is longer.
function viewWith(data: StreamData, view: Span, event: EventRef): Span {
	const { t, cost } = data.lists[event.type];
	const from = t[event.place]!;
	const to = from + cost[event.place]!;

	if (to >= view.t0 && from <= view.t1)
		return view;
	const length = Math.max(view.t1 - view.t0, (to - from) * 1.5);
	const start = Math.min(Math.max((from + to - length) / 2, 0), Math.max(data.head.span_ns - length, 0));

	return { t0: start, t1: start + length };
}

// Threads that are shown, with those of the event and its waker, however little they did.
function shownThreads(data: StreamData, rows: number[], most: number, event: EventRef | null): number[] {
	const first = rows.slice(0, most);
	const more = event ? [data.threadOf(event), data.wakerOf(event)].filter((thread) => thread >= 0 && !first.includes(thread)) : [];

	return [...first, ...more];
}

function symptomAt(data: StreamData, query: URLSearchParams): number {
	const number = Number(query.get('number') ?? NaN);
	const at = sinceStart(data, query.get('at'));

	return data.head.symptoms[number] ? number : Math.max(0, data.head.symptoms.findIndex(({ t0, t1 }) => at >= t0 && at <= t1));
}

const isTouch = matchMedia('(pointer: coarse)').matches;

export function StreamView({ result }: { result: Columns<StreamHead> }) {
	const data = useMemo(() => new StreamData(result), [result]);
	const { query, parts } = route.value;
	const number = symptomAt(data, query);
	const symptom = data.head.symptoms[number];
	const rows = useMemo(() => orderThreads(data, symptom), [data, symptom]);
	const [shown, setShown] = useState(SHOWN_THREADS);
	const whole = { t0: 0, t1: Math.max(data.head.span_ns, MIN_VIEW) };
	const selected = useMemo(() => eventOf(data, query), [data, query.get('at'), query.get('tid'), query.get('kind')]);
	const [view, setView] = useState<Span>(() => spanOf(query.get('span')) ?? (symptom ? viewOf(symptom) : whole));
	const settled = useSettled(view);
	const only = query.get('only');
	const thread = only === 'thread' && selected ? data.threadOf(selected) : -1;
	const span = useMemo(() => spanOf(query.get('span')), [query.get('span')]);
	const base = useMemo(() => spanOf(query.get('base')), [query.get('base')]);
	const ofSymptom = only === 'symptom' && symptom ? symptom : null;
	// The same element is not drawn again while the timeline moves.
	const selection = useMemo(
		() => <Selection data={data} rows={rows} view={settled} span={span} base={base} thread={thread} symptom={ofSymptom} />,
		[data, rows, settled, span, base, thread, ofSymptom, query.get('function')],
	);
	const to = (changes: Record<string, string>) => go(linkHere(parts, changes));

	useEffect(() => {
		if (selected)
			setView((now) => viewWith(data, now, selected));
	}, [selected]);

	function select(event: EventRef | null, step: boolean): void {
		const changes = { ...placeOf(data, event), number: String(number) };

		if (step)
			replaceQuery(changes);
		else
			to(changes);
	}
	function choose(next: number): void {
		setView(viewOf(data.head.symptoms[next]!));
		to({ ...placeOf(data, null), number: String(next), span: '' });
	}

	return (
		<>
			<Help words={['stream', 'symptom', 'critical path', 'waker', 'run queue']}>
				<bdi>{data.head.stream}</bdi>{data.head.host && <> on <bdi>{data.head.host}</bdi></>}: {plural(data.head.threads.length, 'thread')},
				{' '}{plural(data.lists[WAIT].t.length, 'wait')} and {plural(data.lists[RUN].t.length, 'sample')} in {duration(data.head.span_ns)}.
				{' '}Wide bars are CPU time, narrow ones waits; arrows point from waker to woken thread; the blue line is the critical path.
				{' '}{isTouch ? 'Tap a wait for its stack and its waker. Drag to move, pinch to zoom; hold, then drag, to select time.'
					: 'Click a wait, then Enter walks to its waker and on, Backspace back. w and s zoom, a and d pan; Shift and drag selects time.'}
			</Help>
			{data.head.symptoms.length > 0 && <Symptoms data={data} chosen={number} onChoose={choose} />}
			{symptom && (
				<p class="dim">
					{symptom.unknown_ns > 0 ? `No event explains ${duration(symptom.unknown_ns)} (${percent(symptom.unknown_ns / (symptom.t1 - symptom.t0 || 1))}) of it.` : 'Its critical path explains all of it.'}
				</p>
			)}
			<p role="group" aria-label="Zoom">
				<button type="button" onClick={() => setView(whole)}>All of the stream</button>
				{symptom && <button type="button" onClick={() => setView(viewOf(symptom))}>The symptom</button>}
				{span && <button type="button" onClick={() => setView(span)}>The selected time</button>}
				{selected && <label class="switch"><input type="checkbox" checked={thread >= 0} onChange={() => to({ only: thread >= 0 ? '' : 'thread' })} /> only this thread</label>}
				{symptom && <label class="switch"><input type="checkbox" checked={!!ofSymptom} onChange={() => to({ only: ofSymptom ? '' : 'symptom' })} /> only this symptom</label>}
			</p>
			<div class="key" aria-hidden="true">
				<span class="key-item"><i class="state run" /> running</span> <span class="key-item"><i class="state wait" /> waiting</span>{' '}
				<span class="key-item"><i class="state queue" /> on the run queue</span>
			</div>
			<TimeLine data={data} rows={thread >= 0 ? [thread] : shownThreads(data, rows, shown, selected)} view={view} onView={setView} selected={selected} onSelect={select}
				span={span} onSpan={(next) => to({ span: spanText(next) })} path={symptom ? { first: symptom.path_first, count: symptom.path_count } : null} />
			{rows.length > shown && (
				<p>
					{count(shown)} of {count(rows.length)} threads shown{shown < MAX_THREADS ? '. ' : ', those that did most; others are shown alone.'}
					{shown < MAX_THREADS && <button type="button" onClick={() => setShown(Math.min(rows.length, MAX_THREADS))}>{rows.length > MAX_THREADS ? `Show ${count(MAX_THREADS)}` : 'Show all'}</button>}
				</p>
			)}
			{selected && <EventDetail data={data} event={selected} />}
			{selection}
		</>
	);
}
