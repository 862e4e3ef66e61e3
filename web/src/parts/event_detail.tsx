// The selected event: what it was, for what and behind whom it waited, what it waited for in turn, and the stacks of both sides.
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';

import { duration, percent } from '../format';
import { culprit, type Frame } from '../frames';
import type { StreamSymptom } from '../results';
import { linkHere, route } from '../route';
import { stateOfWait } from '../selection_tree';
import { causeOf, neighboursOf, threadName, throttledGroup, wokenBy } from '../state_words';
import { READY, RUN, WAIT, type EventRef, type StreamData } from '../stream_data';
import { placeOf } from '../stream_link';
import { holderEvent, nextOnTheWay, timeOnPath, wakeChain } from '../wake_chain';
import { FrameList, FrameName } from './frame_list';

// The frames of a stack, root first. What a wait does in the kernel counts as plumbing: what it is for is said above.
function framesOf(data: StreamData, stack: number, waits: boolean): Frame[] {
	const frames = data.table.list(data.stackNames(stack));

	return waits && frames.some(({ layer }) => layer !== 'kernel') ? frames.map((frame) => (frame.layer === 'kernel' ? { ...frame, plumbing: true } : frame)) : frames;
}

function EventLink({ data, event, children, strong = false }: { data: StreamData; event: EventRef; children: ComponentChildren; strong?: boolean }) {
	return <a class={strong ? 'action' : undefined} href={linkHere(route.value.parts, placeOf(data, event))}>{children}</a>;
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
					const state = stateOfWait(data, each.place);
					const text = <><bdi>{threadName(data, data.threadOf(each))}</bdi> waited {duration(cost[each.place]!)}</>;

					return (
						<li>
							<i class="time-state" style={{ background: `var(--time-${state})` }} />
							{place ? <EventLink data={data} event={each}>{text}</EventLink> : text} <bdi>for {causeOf(data, each, state)}</bdi>
							{frame && <> in <FrameName frame={frame} /></>}
							{wokenBy(data, each) && <span class="dim">, woken by <bdi>{wokenBy(data, each)}</bdi></span>}
						</li>
					);
				})}
			</ol>
		</>
	);
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
	return (
		<>
			<dt>{name}</dt>
			<dd>{children}</dd>
		</>
	);
}

// Who had the processor while the thread was ready, for how long.
function ReadyFacts({ data, event, ready }: { data: StreamData; event: EventRef; ready: number }) {
	const behind = data.behindOf(event);
	const throttled = throttledGroup(data);
	const neighbours = neighboursOf(data, data.head.threads[data.threadOf(event)]!.name).slice(0, 3);

	return (
		<>
			{event.type === WAIT && <Fact name="then ready">{duration(ready)}</Fact>}
			{behind >= 0 && <Fact name="behind"><bdi>{threadName(data, behind)}</bdi>, which had the processor most of that time</Fact>}
			{throttled && <Fact name="throttled"><bdi>{throttled.path}</bdi>: {duration(throttled.ns)} in all of the recording</Fact>}
			{behind < 0 && neighbours.length > 0 && (
				<Fact name="often behind">{neighbours.map(({ program, ns }) => `${program} (${duration(ns)})`).join(', ')}, in all of the recording</Fact>
			)}
		</>
	);
}

function WaitFacts({ data, event }: { data: StreamData; event: EventRef }) {
	const holder = data.holderOf(event);

	return (
		<>
			<Fact name="for"><bdi>{causeOf(data, event, stateOfWait(data, event.place))}</bdi></Fact>
			{holder >= 0 && <Fact name="held by"><bdi>{threadName(data, holder)}</bdi></Fact>}
			<Fact name="woken by"><bdi>{wokenBy(data, event) || 'not known'}</bdi></Fact>
		</>
	);
}

const verbs = { [RUN]: 'ran', [WAIT]: 'waited', [READY]: 'was ready' };
const doing = { [RUN]: 'runs', [WAIT]: 'waits', [READY]: 'is ready' };

// What it has to do with the symptom: no more than this can be gained.
function Gain({ data, event, symptom }: { data: StreamData; event: EventRef; symptom: StreamSymptom | null }) {
	const onPath = symptom ? timeOnPath(data, event, symptom) : 0;

	if (!symptom)
		return null;
	if (!(onPath > 0))
		return <p class="dim">It is not on the critical path of the symptom.</p>;
	return (
		<p class="gain">
			{duration(onPath)} of the critical path, {percent(onPath / (symptom.t1 - symptom.t0 || 1))} of the symptom.
			{event.type === WAIT && <> Without this wait it would end at most {duration(onPath)} earlier.</>}
		</p>
	);
}

function Stack({ data, title, stack, waits, all }: { data: StreamData; title: ComponentChildren; stack: number; waits: boolean; all: boolean }) {
	return (
		<>
			<h3>{title}</h3>
			{stack > 0 ? <FrameList frames={framesOf(data, stack, waits)} all={all} sourceLink={({ text }) => linkHere(route.value.parts, { tab: 'source', function: text })} /> : <p class="dim">No stack was recorded.</p>}
		</>
	);
}

interface EventDetailProps {
	data: StreamData;
	event: EventRef;
	symptom: StreamSymptom | null;
	onClose: () => void;
}

export function EventDetail({ data, event, symptom, onClose }: EventDetailProps) {
	const [all, setAll] = useState(false);
	const list = data.lists[event.type];
	const next = nextOnTheWay(data, event);
	const holder = data.holderOf(event);
	const held = holderEvent(data, event);
	const ready = event.type === READY ? list.cost[event.place]! : (list.delay?.[event.place] ?? 0);
	const wakerStack = list.wakerStack?.[event.place] ?? 0;
	const cpu = list.cpu?.[event.place] ?? 0xffffffff;
	const begin = list.t[event.place]!;

	return (
		<article class="detail event-detail" aria-live="polite" aria-label="Selected event">
			<h2><bdi>{threadName(data, data.threadOf(event))}</bdi> {verbs[event.type]} {duration(list.cost[event.place]!)}</h2>
			<p class="dim">from {duration(begin)} to {duration(begin + list.cost[event.place]!)}{cpu < 0xffff && <>, {event.type === RUN ? 'on' : 'then on'} CPU {cpu}</>}</p>
			<button type="button" class="close" aria-label="Close" onClick={onClose}>✕</button>
			<dl class="facts">
				{event.type === WAIT && <WaitFacts data={data} event={event} />}
				{event.type === READY && <Fact name="for">a processor: it was preempted</Fact>}
				{data.contextOf(event) && <Fact name="request"><bdi class="mono">{data.contextOf(event)}</bdi></Fact>}
				{ready > 0 && <ReadyFacts data={data} event={event} ready={ready} />}
			</dl>
			<Gain data={data} event={event} symptom={symptom} />
			<p class="ways">
				{held && <EventLink data={data} event={held} strong>Follow the holder</EventLink>}
				{next && <EventLink data={data} event={next} strong={!held}>{event.type === WAIT ? 'Go to the waker ↵' : 'Go to the wait before it ↵'}</EventLink>}
				<label class="switch"><input type="checkbox" checked={all} onChange={() => setAll(!all)} /> all frames</label>
			</p>
			<Stack data={data} title={event.type === WAIT ? 'Waiting in' : event.type === READY ? 'Preempted in' : 'Running in'} stack={list.stack[event.place]!} waits={event.type !== RUN} all={all} />
			{held && <Stack data={data} title={<>The holder meanwhile: <bdi>{threadName(data, holder)}</bdi> {doing[held.type]} in</>} stack={data.lists[held.type].stack[held.place]!} waits={held.type !== RUN} all={all} />}
			{wakerStack > 0 && <Stack data={data} title={<>Woken by <bdi>{wokenBy(data, event)}</bdi> in</>} stack={wakerStack} waits all={all} />}
			{event.type === WAIT && <Chain data={data} event={event} />}
		</article>
	);
}
