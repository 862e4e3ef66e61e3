// The row above the timeline: which symptom, time and threads are shown, and how. What is filtered is always seen here, and
// removed by a click.
import { count, duration, percent } from '../format';
import { blocks, isServed, useBlock } from '../page_data';
import { go, link, linkHere, replaceQuery, route } from '../route';
import { stateNames, threadName } from '../state_words';
import type { InfoResult, StreamSymptom } from '../results';
import type { StreamData } from '../stream_data';
import { sorts, type RowChoice, type Sort } from '../time_rows_list';
import { STATES, type State } from '../time_states';
import { savePng } from './save_picture';
import type { Span } from './time_gestures';

const to = (changes: Record<string, string>) => go(linkHere(route.value.parts, changes));

interface TimeBarProps {
	data: StreamData;
	number: number; // of the symptom
	symptom: StreamSymptom | undefined;
	ofPath: boolean;
	span: Span | null;
	threads: Set<number>;
	shown: number; // threads
	active: number;
	choice: RowChoice;
	all: boolean;
	onSymptom: (number: number) => void;
	onView: (view: Span | 'whole' | 'symptom') => void;
}

const MAX_STREAMS = 500; // in a list to choose from

// The streams that can be shown here, by name.
function StreamChip({ data }: { data: StreamData }) {
	const info = useBlock(isServed() ? 'info?brief' : 'info', blocks.value.has('info')).result as InfoResult | undefined;
	const [id] = route.value.parts;
	const streams = (info?.streams ?? []).filter((stream) => isServed() || blocks.value.has(`stream/${stream.id}`)).slice(0, MAX_STREAMS);

	if (streams.length < 2 || !streams.some((stream) => stream.id === id))
		return <span class="chip">stream <b><bdi>{data.head.stream}</bdi></b></span>;
	const names = streams.map((stream) => <option value={stream.id}>{stream.name}{stream.host && ` on ${stream.host}`}</option>);

	return (
		<>
			<label class="chip">
				stream{' '}
				<select value={id} onChange={(event) => go(link('stream', [event.currentTarget.value], { symptom: route.value.query.get('symptom') ?? '' }))}>{names}</select>
			</label>
			<label class="chip">
				beside{' '}
				<select value={route.value.query.get('beside') ?? ''} onChange={(event) => to({ beside: event.currentTarget.value, turned: '' })}>
					<option value="">none</option>
					{names.filter((_, place) => streams[place]!.id !== id)}
				</select>
			</label>
		</>
	);
}

function Symptoms({ data, number, onSymptom, onView }: TimeBarProps) {
	const { symptoms } = data.head;

	return (
		<span class="chip">
			<label>
				symptom{' '}
				<select aria-label="Symptom" value={number} onChange={(event) => onSymptom(Number(event.currentTarget.value))}>
					{symptoms.map((symptom, place) => (
						<option value={place}>
							{symptom.name && `${symptom.name}: `}{threadName(data, symptom.thread)}, {duration(symptom.t1 - symptom.t0)} at {duration(symptom.t0)}
						</option>
					))}
				</select>
			</label>
			{symptoms.length > 1 && <button type="button" aria-label="The symptom before" disabled={number === 0} onClick={() => onSymptom(number - 1)}>‹</button>}
			{symptoms.length > 1 && <button type="button" aria-label="The next symptom" disabled={number === symptoms.length - 1} onClick={() => onSymptom(number + 1)}>›</button>}
			<button type="button" title="Show all of the symptom" onClick={() => onView('symptom')}>Zoom to it</button>
		</span>
	);
}

// Which threads have rows, and in which order.
function ThreadsChip({ choice, shown, active, all }: TimeBarProps) {
	return (
		<details class="chip-menu">
			<summary class="chip">
				threads <b>{shown < active ? `${count(shown)} of ${count(active)}` : count(shown)}</b>{shown < active && !all && !choice.filter && ', without idle ones'} ▾
			</summary>
			<div class="menu-box">
				<label>Sort <select value={choice.sort} onChange={(event) => to({ sort: event.currentTarget.value === 'activity' ? '' : event.currentTarget.value })}>
					{(Object.keys(sorts) as Sort[]).map((sort) => <option value={sort}>{sorts[sort]}</option>)}
				</select></label>
				<label><input type="checkbox" checked={choice.grouped} onChange={() => to({ flat: choice.grouped ? '1' : '' })} /> by process</label>
			</div>
		</details>
	);
}

// The timeline as it is seen, with the names of its rows.
function SaveTimeLine() {
	return <button type="button" title="Save the timeline as a picture (PNG)" onClick={() => savePng(document.querySelector<HTMLCanvasElement>('canvas.time-line')!, 'timeline.png', document.querySelectorAll<HTMLElement>('.time-label'))}>PNG</button>;
}

// What was chosen in the timeline; a click takes it back.
function Chosen({ data, span, threads, choice, onView }: TimeBarProps) {
	return (
		<span class="chips">
			{span && (
				<span class="chip set">
					selection <b>{duration(span.t1 - span.t0)} from {duration(span.t0)}</b>
					<button type="button" onClick={() => onView(span)}>Zoom to it</button>
					<button type="button" aria-label="Select no time" title="Select no time" onClick={() => to({ span: '' })}>✕</button>
				</span>
			)}
			{threads.size > 0 && <button type="button" class="chip set" title="Select all threads" onClick={() => to({ threads: '' })}>{threads.size === 1 ? <bdi>{threadName(data, [...threads][0]!)}</bdi> : `${threads.size} threads`} ✕</button>}
			{choice.hidden.size > 0 && <button type="button" class="chip set" title="Show them again" onClick={() => to({ hide: '' })}>{count(choice.hidden.size)} hidden ✕</button>}
			{choice.filter && <button type="button" class="chip set" title="Show all threads" onClick={() => to({ filter: '' })}>threads with "{choice.filter}" ✕</button>}
		</span>
	);
}

export function TimeBar(props: TimeBarProps) {
	const { data, symptom, choice, ofPath, all } = props;

	return (
		<div class="time-bar">
			<StreamChip data={data} />
			{data.head.symptoms.length > 0 && <Symptoms {...props} />}
			<ThreadsChip {...props} />
			<input type="search" class="thread-filter" placeholder="Filter threads" aria-label="Filter threads by name, a text or /regex/" value={choice.filter} onInput={(event) => replaceQuery({ filter: event.currentTarget.value })} />
			<label class="chip"><input type="checkbox" checked={all} onChange={() => to({ all: all ? '' : '1' })} /> idle and plumbing</label>
			{symptom && <label class="chip" title="The tabs below show its critical path alone"><input type="checkbox" checked={ofPath} onChange={() => to({ only: ofPath ? '' : 'symptom' })} /> only this symptom</label>}
			<button type="button" onClick={() => props.onView('whole')}>All of the stream</button>
			<SaveTimeLine />
			<Chosen {...props} />
		</div>
	);
}

const shareText = (share: number) => (share < 0.0005 ? '<0.1%' : percent(share));

// What the colours mean: the states that this stream has, with their shares of all threads' time.
export function StateKey({ times }: { times: Float64Array }) {
	const whole = times.reduce((sum, time) => sum + time, 0) || 1;
	const present = (STATES.filter((_, place) => times[place]! > 0) as State[]).filter((state) => state !== 'not_recorded');

	return (
		<span class="key time-key" role="group" aria-label="States of threads, with their shares of all time">
			{present.map((state) => (
				<span class="key-item"><i class="time-state" style={{ background: `var(--time-${state})` }} />{stateNames[state]} <span class="dim">{shareText(times[STATES.indexOf(state)]! / whole)}</span></span>
			))}
		</span>
	);
}
