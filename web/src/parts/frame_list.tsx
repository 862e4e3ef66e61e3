// Frames as text. Names come from traces: they are shown as text, each in its own direction of writing.
import type { Frame } from '../frames';

const LONGEST = 300; // letters of a name that are shown at once

export function FrameName({ frame }: { frame: Frame }) {
	const name = frame.name.length > LONGEST ? `${frame.name.slice(0, LONGEST)}…` : frame.name;

	return (
		<span class="frame" title={frame.name.length > LONGEST ? undefined : frame.text}>
			<i class={`layer ${frame.layer.replace('-', '')}`} title={frame.layer} />
			<bdi class="mono">{name}</bdi>
			{frame.module && <bdi class="module">{frame.module}</bdi>}
		</span>
	);
}

// One below the other, root first; a run of plumbing becomes one line unless all are asked for.
export function FrameList({ frames, all }: { frames: Frame[]; all: boolean }) {
	const rows: (Frame | number)[] = [];

	for (const frame of frames) {
		const last = rows.at(-1);

		if (all || !frame.plumbing)
			rows.push(frame);
		else if (typeof last === 'number')
			rows[rows.length - 1] = last + 1;
		else
			rows.push(1);
	}
	return (
		<ol class="frames">
			{rows.map((row) =>
				typeof row === 'number' ? (
					<li class="dim">{row === 1 ? '1 frame' : `${row} frames`} of the scheduler, the kernel's entry or the start of a program</li>
				) : (
					<li><FrameName frame={row} /></li>
				),
			)}
		</ol>
	);
}
