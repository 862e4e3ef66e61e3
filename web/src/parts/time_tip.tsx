// What is under the pointer of a timeline. It is drawn on a canvas of its own and shown by a component of its own, so that a
// move of the pointer draws nothing else again.
import { signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import { palette } from '../colours';
import { duration } from '../format';
import { causeOf, functionOf, readyReason, stateNames, threadName, throttledGroup, wokenBy } from '../state_words';
import { READY, type StreamData } from '../stream_data';
import { NOT_RECORDED, QUEUED, RUNNING, STATES, type TimeStates } from '../time_states';
import { HEAD } from './time_picture';

export interface Hovered {
	row: number; // of `states`
	segment: number;
	t: number;
	x: number; // of the pointer, from the left and the top of the canvas
	y: number;
	box: { left: number; right: number; top: number; height: number } | null; // of the segment
}

export function makeHover() {
	return signal<Hovered | null>(null);
}

interface Said {
	title: string;
	rest: string;
	lines: string[];
}

function sayRunning(data: StreamData, states: TimeStates, { row, segment }: Hovered): Said {
	const event = states.eventOf(segment);
	const cpu = event && data.lists[event.type].cpu?.[event.place];
	const where = event ? functionOf(data, data.lists[event.type].stack[event.place]!) : '';

	return {
		title: `${threadName(data, row)} runs`,
		rest: where && `in ${where}`,
		lines: [event ? `a sample of ${duration(data.lists[event.type].cost[event.place]!)}` : 'between two waits, without a sample', cpu !== undefined && cpu !== null && cpu < 0xffff ? `on CPU ${cpu}` : ''],
	};
}

// Ready after a wait, or preempted.
function sayReady(data: StreamData, states: TimeStates, { row, segment }: Hovered): Said {
	const event = states.eventOf(segment)!;
	const reason = readyReason(data, event);
	const throttled = throttledGroup(data);
	const list = data.lists[event.type];

	return {
		title: `${threadName(data, row)} is ready ${duration(states.endOf(row, segment) - states.start[segment]!)}`,
		rest: 'but has no processor',
		lines: [
			event.type === READY ? `preempted in ${functionOf(data, list.stack[event.place]!) || 'an unknown function'}` : `after it waited ${duration(list.cost[event.place]!)}`,
			reason && `${reason}${data.behindOf(event) >= 0 ? ', which had the processor most of that time' : ''}`,
			throttled && !reason.includes('throttled') ? `${throttled.path} was throttled ${duration(throttled.ns)} in all` : '',
		],
	};
}

function sayWait(data: StreamData, states: TimeStates, { row, segment }: Hovered): Said {
	const event = states.eventOf(segment)!;
	const { cost, delay, stack, wakerStack } = data.lists[event.type];
	const where = functionOf(data, stack[event.place]!);
	const holder = data.holderOf(event);
	const waker = wokenBy(data, event);
	const wakerFunction = data.wakerOf(event) >= 0 && wakerStack?.[event.place] ? functionOf(data, wakerStack[event.place]!) : '';

	return {
		title: `${threadName(data, row)} waits ${duration(cost[event.place]!)}`,
		rest: `for ${causeOf(data, event, STATES[states.state[segment]!]!)}`,
		lines: [
			where && `in ${where}`,
			holder >= 0 ? `held by ${threadName(data, holder)}` : '',
			waker && `woken by ${waker}${wakerFunction && ` in ${wakerFunction}`}`,
			delay?.[event.place] ? `then ready ${duration(delay[event.place]!)} ${data.behindOf(event) >= 0 ? readyReason(data, event) : ''}` : '',
		],
	};
}

export function sayHovered(data: StreamData, states: TimeStates, hovered: Hovered): Said | null {
	const state = states.state[hovered.segment]!;

	if (hovered.segment < 0 || state === NOT_RECORDED)
		return null;
	if (hovered.row >= data.head.threads.length) {
		const thread = states.threadOn(hovered.segment);

		return { title: `CPU ${states.cpus[hovered.row - data.head.threads.length]}`, rest: `runs ${threadName(data, thread)}`, lines: [`for ${duration(states.endOf(hovered.row, hovered.segment) - states.start[hovered.segment]!)}`] };
	}
	return state === RUNNING ? sayRunning(data, states, hovered) : state === QUEUED ? sayReady(data, states, hovered) : sayWait(data, states, hovered);
}

interface TipProps {
	data: StreamData;
	states: TimeStates;
	hover: ReturnType<typeof makeHover>;
	onPath: (thread: number, t: number) => boolean;
}

const TIP_WIDTH = 380;

// The words; beside the pointer, on the side that has room.
export function TimeTip({ data, states, hover, onPath }: TipProps) {
	const hovered = hover.value;
	const said = hovered && sayHovered(data, states, hovered);
	const box = useRef<HTMLDivElement>(null);

	if (!hovered || !said)
		return null;
	const state = STATES[states.state[hovered.segment]!]!;
	const width = box.current?.parentElement?.clientWidth ?? innerWidth;
	const event = states.eventOf(hovered.segment);
	const context = event ? data.contextOf(event) : '';
	const left = Math.max(Math.min(hovered.x + 14, width - TIP_WIDTH - 8), 4);

	return (
		<div ref={box} class="time-tip" style={{ left: `${left}px`, top: `${hovered.y + 18}px`, maxWidth: `${Math.min(TIP_WIDTH, width - 8)}px` }}>
			<p><i class="time-state" style={{ background: `var(--time-${state})` }} /><b><bdi>{said.title}</bdi></b> <bdi>{said.rest}</bdi></p>
			{said.lines.filter(Boolean).map((line) => <p class="dim"><bdi>{line}</bdi></p>)}
			{context && <p class="dim">for the request <bdi class="mono">{context.slice(0, 200)}</bdi></p>}
			<p class="dim">{[stateNames[state], `at ${duration(hovered.t)}`, onPath(hovered.row, hovered.t) && 'on the critical path'].filter(Boolean).join(' · ')}</p>
		</div>
	);
}

// The line of the pointer and the outline of what is under it.
export function useHoverDrawing(overlay: RefObject<HTMLCanvasElement | null>, hover: ReturnType<typeof makeHover>): void {
	useEffect(() => hover.subscribe((hovered) => {
		const canvas = overlay.current;

		if (!canvas)
			return;
		const context = canvas.getContext('2d')!;
		const ratio = devicePixelRatio;
		const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];

		if (canvas.width !== width || canvas.height !== height) {
			canvas.width = width;
			canvas.height = height;
		}
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
		if (!hovered)
			return;
		context.strokeStyle = palette.value.dim;
		context.lineWidth = 1;
		context.beginPath();
		context.moveTo(Math.round(hovered.x) + 0.5, HEAD - 6);
		context.lineTo(Math.round(hovered.x) + 0.5, canvas.clientHeight);
		context.stroke();
		if (hovered.box) {
			context.strokeStyle = palette.value.text;
			context.beginPath();
			context.roundRect(hovered.box.left + 0.5, hovered.box.top + 0.5, Math.max(hovered.box.right - hovered.box.left - 1, 2), hovered.box.height - 1, 2);
			context.stroke();
		}
	}), [hover]);
}
