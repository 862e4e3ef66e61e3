// One stream as a workspace: its threads on a timeline above, tabs below that show what is selected there, and beside
// both the selected event. The link has all of it.
import { useEffect, useMemo, useState } from 'preact/hooks';

import type { Columns } from '../columns';
import { duration, percent, plural } from '../format';
import { Beside, shiftTo, useOther } from '../parts/beside';
import { EventDetail } from '../parts/event_detail';
import { Help } from '../parts/help';
import { Minimap } from '../parts/minimap';
import { Pane } from '../parts/pane';
import { useSettled } from '../parts/redraw';
import { Splitter } from '../parts/splitter';
import { StateKey, TimeBar } from '../parts/time_bar';
import type { Span } from '../parts/time_gestures';
import { TimeLine } from '../parts/time_line';
import type { StreamHead, StreamSymptom } from '../results';
import { go, linkHere, replaceQuery, route } from '../route';
import { RUN, StreamData, WAIT, type EventRef } from '../stream_data';
import { AT_EVENT, eventOf, missingOf, placeOf, rowChoiceOf, sinceStart, spanOf, spanText, threadsOf, toggled } from '../stream_link';
import { activityOf, CPUS, rowsOf } from '../time_rows_list';
import { STATES, TimeStates } from '../time_states';
import { timeOnPath } from '../wake_chain';

const MIN_VIEW = 1000; // ns

const MARGIN = 0.04; // of a symptom, on both sides

// A symptom, and a little of what was before and after it.
function viewOf(data: StreamData, { t0, t1 }: StreamSymptom): Span {
	const margin = (t1 - t0) * MARGIN;
	const start = Math.max(t0 - margin, 0);

	return { t0: start, t1: Math.max(Math.min(t1 + margin, data.head.span_ns), start + MIN_VIEW) };
}

const AROUND = 0.75; // of a wait's length, on both sides of it
const AROUND_SAMPLE = 20; // a sample is a part of what the thread ran
const MANY = 20; // a symptom that is so many times longer hides the event

// What a link to an event shows: its symptom, or where that is much longer or unknown, the event.
function viewAt(data: StreamData, event: EventRef, symptom: StreamSymptom | undefined): Span {
	const { t, cost } = data.lists[event.type];
	const from = t[event.place]!;
	const length = Math.max(cost[event.place]!, MIN_VIEW);

	if (symptom && symptom.t0 <= from && from < symptom.t1 && symptom.t1 - symptom.t0 <= MANY * length)
		return viewOf(data, symptom);
	const margin = (event.type === RUN ? AROUND_SAMPLE : AROUND) * length;
	const start = Math.max(from - margin, 0);

	return { t0: start, t1: Math.max(Math.min(from + length + margin, data.head.span_ns), start + MIN_VIEW) };
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

// The symptom that a link names; else the one whose critical path lies most in the event that it leads to, else one at that time.
function symptomAt(data: StreamData, query: URLSearchParams, selected: EventRef | null): number {
	const { symptoms } = data.head;
	const number = Number(query.get('number') ?? NaN);
	const at = sinceStart(data, query.get('at'));

	if (symptoms[number])
		return number;
	const around = [...symptoms.keys()].filter((i) => at >= symptoms[i]!.t0 && at <= symptoms[i]!.t1);
	const times = around.map((i) => (selected ? timeOnPath(data, selected, symptoms[i]!) : 0));
	const most = Math.max(0, ...times);

	return around[most > 0 ? times.indexOf(most) : 0] ?? 0;
}

// Time by state of all threads, from the first to the last event of each.
function timesOf(data: StreamData, states: TimeStates): Float64Array {
	const all = new Float64Array(STATES.length);
	const one = new Float64Array(STATES.length);

	for (let thread = 0; thread < data.head.threads.length; thread++) {
		const last = states.first[thread + 1]! - 1;

		if (last < states.first[thread]!)
			continue;
		states.times(thread, -1, states.start[last]!, one);
		one.forEach((time, state) => (all[state]! += time));
	}
	return all;
}

const WIDE = matchMedia('(min-width: 1000px) and (min-height: 500px)');
const MIN_HEIGHT = 120;

// On a wide screen the workspace fills the window: the timeline stays, what is below it scrolls.
function useWide(): boolean {
	const [wide, setWide] = useState(WIDE.matches);

	useEffect(() => {
		const note = () => setWide(WIDE.matches);

		WIDE.addEventListener('change', note);
		return () => WIDE.removeEventListener('change', note);
	}, []);
	useEffect(() => {
		document.body.classList.toggle('fills-window', wide);
		return () => document.body.classList.remove('fills-window');
	}, [wide]);
	return wide;
}

// The part that is in view: as the link says when it is opened or gone back to, and what it says follows.
function useView(initial: () => Span): [Span, (view: Span | ((now: Span) => Span)) => void, Span] {
	const text = route.value.query.get('view');
	const [view, setView] = useState<Span>(() => spanOf(text) ?? initial());
	const [written, setWritten] = useState(text);
	const settled = useSettled(view);

	useEffect(() => {
		if (text === written)
			return;
		setWritten(text);
		setView(spanOf(text) ?? initial());
	}, [text]);
	useEffect(() => {
		const next = spanText(settled);

		if (next === written || (!written && next === spanText(initial())))
			return;
		setWritten(next);
		replaceQuery({ view: next });
	}, [settled]);
	return [view, setView, settled];
}

export function StreamView({ result }: { result: Columns<StreamHead> }) {
	const data = useMemo(() => new StreamData(result), [result]);
	const states = useMemo(() => new TimeStates(data), [data]);
	const times = useMemo(() => timesOf(data, states), [states]);
	const { query, parts } = route.value;
	const selected = useMemo(() => eventOf(data, query), [data, query.get('at'), query.get('tid'), query.get('kind')]);
	const number = useMemo(() => symptomAt(data, query, selected), [selected, query.get('at'), query.get('number')]);
	const symptom = data.head.symptoms[number];
	const activity = useMemo(() => activityOf(data, states, symptom), [data, symptom]);
	const active = useMemo(() => [...activity.keys()].filter((thread) => activity[thread]! > 0).sort((a, b) => activity[b]! - activity[a]! || a - b), [activity]);
	const whole = { t0: 0, t1: Math.max(data.head.span_ns, MIN_VIEW) };
	const [view, setView, settled] = useView(() => spanOf(query.get('span')) ?? (selected && query.get('view') === AT_EVENT ? viewAt(data, selected, symptom) : symptom ? viewOf(data, symptom) : whole));
	const wide = useWide();
	const [height, setHeight] = useState(() => Math.max(Math.round(innerHeight * 0.42), MIN_HEIGHT));
	const span = useMemo(() => spanOf(query.get('span')), [query.get('span')]);
	const base = useMemo(() => spanOf(query.get('base')), [query.get('base')]);
	const threads = useMemo(() => threadsOf(data, query.get('threads')), [data, query.get('threads')]);
	const ofSymptom = query.get('only') === 'symptom' && symptom ? symptom : null;
	const choice = rowChoiceOf(query);
	const always = selected ? [data.threadOf(selected), data.wakerOf(selected), data.holderOf(selected)].filter((thread) => thread >= 0) : [];
	const rows = useMemo(() => rowsOf(data, states, activity, choice, always),
		[data, states, activity, selected, ...['filter', 'sort', 'flat', 'fold', 'pin', 'hide', 'all'].map((key) => query.get(key))]);
	const shown = rows.reduce((sum, row) => sum + (row.kind === 'thread' ? 1 : 0), 0);
	const chosen = useMemo(() => {
		const listed = rows.flatMap((row) => (row.kind === 'thread' ? [row.thread] : row.kind === 'group' && row.key !== CPUS && !row.open ? row.threads : []));

		return { ...(span ?? settled), threads: threads.size ? [...threads] : [...new Set(listed)], symptom: ofSymptom };
	}, [rows, span, settled, threads, ofSymptom]);
	const to = (changes: Record<string, string>) => go(linkHere(parts, changes));
	const tid = (thread: number) => data.head.threads[thread]!.tid;
	const missing = missingOf(data, query);
	const second = useOther();
	const turned = query.get('turned') === '1';
	const beside = second.id && <Beside wanted={second} symptom={symptom} view={view} onView={setView} choice={choice} height={Math.round(height / 2)} />;
	const compared = useMemo(() => second.other && { data: second.other.data, shift: shiftTo(second.other, symptom) }, [second.other, symptom]);
	// The same element is not drawn again while the timeline moves.
	const pane = useMemo(
		() => <Pane data={data} chosen={chosen} named={threads.size > 0} span={span} base={base} selected={selected} symptom={symptom ?? null} other={compared} onSelect={(event) => select(event, false)} />,
		[data, chosen, span, base, selected, compared, query.toString()],
	);

	useEffect(() => {
		if (selected)
			setView((now) => viewWith(data, now, selected));
	}, [selected]);

	function select(event: EventRef | null, step: boolean): void {
		const changes = { ...placeOf(data, event), number: data.head.symptoms.length ? String(number) : '' };

		if (step)
			replaceQuery(changes);
		else
			to(changes);
	}
	function choose(next: number): void {
		setView(viewOf(data, data.head.symptoms[next]!));
		to({ ...placeOf(data, null), number: String(next), span: '', view: '' });
	}
	function onThread(thread: number, more: boolean): void {
		const now = new Set([...threads].map(tid));

		to({ threads: more ? toggled(now, tid(thread)) : now.size === 1 && now.has(tid(thread)) ? '' : String(tid(thread)) });
	}

	return (
		<div class={`workspace${selected ? ' with-detail' : ''}`}>
			<div class="workspace-main">
				{missing && <p role="alert" class="error">{missing}</p>}
				<TimeBar data={data} number={number} symptom={symptom} ofPath={!!ofSymptom} span={span} threads={threads} shown={shown} active={active.length} choice={choice} all={query.get('all') === '1'}
					onSymptom={choose} onView={(next) => setView(next === 'whole' ? whole : next === 'symptom' ? viewOf(data, symptom!) : next)} />
				<Help words={['stream', 'symptom', 'critical path', 'waker', 'run queue']}>
					<StateKey times={times} />{' '}
					<span class="dim">
						{data.head.host && <>on <bdi>{data.head.host}</bdi>: </>}{plural(data.head.threads.length, 'thread')}, {plural(data.lists[WAIT].t.length, 'wait')},{' '}
						{plural(data.lists[RUN].t.length, 'sample')} in {duration(data.head.span_ns)}.
						{symptom && <> {symptom.unknown_ns > 0 ? `No event explains ${duration(symptom.unknown_ns)} (${percent(symptom.unknown_ns / (symptom.t1 - symptom.t0 || 1))}) of the symptom.` : 'The critical path explains all of the symptom.'}</>}
					</span>
				</Help>
				<Minimap states={states} threads={active} symptoms={data.head.symptoms} chosen={number} view={view} onView={setView} />
				{turned && beside}
				{second.id && <p class="time-note beside-name"><b><bdi>{data.head.stream}</bdi></b></p>}
				<TimeLine data={data} states={states} rows={rows} view={view} onView={setView} selected={selected} onSelect={select} height={second.id ? Math.round(height / 2) : height}
					span={span} onSpan={(next) => to({ span: spanText(next) })} symptom={symptom ?? null} path={symptom ? { first: symptom.path_first, count: symptom.path_count } : null}
					threads={threads} onThread={onThread} onFold={(key) => replaceQuery({ fold: toggled(choice.folded, key) })}
					onPin={(thread) => to({ pin: toggled(choice.pinned, tid(thread)) })} onHide={(thread) => to({ hide: toggled(choice.hidden, tid(thread)) })} free={!!second.id} />
				{!turned && beside}
				{wide && <Splitter height={height} least={MIN_HEIGHT} most={Math.max(innerHeight - 250, MIN_HEIGHT)} onHeight={setHeight} />}
				{!wide && selected && <EventDetail data={data} event={selected} symptom={symptom ?? null} onClose={() => select(null, false)} />}
				{pane}
			</div>
			{wide && selected && <EventDetail data={data} event={selected} symptom={symptom ?? null} onClose={() => select(null, false)} />}
		</div>
	);
}
