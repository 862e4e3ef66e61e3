// Frames as text. Names come from traces: they are shown as text, each in its own direction of writing.
import { useState } from 'preact/hooks';

import { culprit, isStarter, type Frame } from '../frames';
import { blocks, isServed } from '../page_data';
import { link } from '../route';

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

// What folded frames are: of the kernel, of the C library that starts a program, of an interpreter.
function foldedText(frames: Frame[]): string {
	const inKernel = frames.filter(({ layer }) => layer === 'kernel').length;
	const what = inKernel === frames.length ? 'of the kernel' : inKernel ? 'of the scheduler and the kernel' : frames.every(isStarter) ? 'of start-up' : 'of the interpreter';

	return `${frames.length === 1 ? '1 frame' : `${frames.length} frames`} ${what}`;
}

function Folded({ frames }: { frames: Frame[] }) {
	const [open, setOpen] = useState(false);

	return (
		<>
			<li><button type="button" class="folded" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? '▾' : '▸'} {foldedText(frames)}</button></li>
			{open && frames.map((frame) => <li><FrameName frame={frame} /></li>)}
		</>
	);
}

// A server shows the source of a function.
function SourceLink({ address }: { address: string }) {
	return isServed() && blocks.value.has('annotate') ? <> <a class="source-link" href={address}>Source</a></> : null;
}

interface FrameListProps {
	frames: Frame[];
	all: boolean; // plumbing, too
	sourceLink?: (frame: Frame) => string; // where its source is shown: without it, that of the whole corpus
}

// One below the other, root first; a run of plumbing becomes one line, which a click opens, unless all are asked for. The
// one to look at first is set apart, and leads to its source.
export function FrameList({ frames, all, sourceLink = ({ text }) => link('source', [], { function: text }) }: FrameListProps) {
	const rows: (Frame | Frame[])[] = [];
	const first = culprit(frames);

	for (const frame of frames) {
		const last = rows.at(-1);

		if (all || !frame.plumbing)
			rows.push(frame);
		else if (Array.isArray(last))
			last.push(frame);
		else
			rows.push([frame]);
	}
	const marked = first ? rows.lastIndexOf(first) : -1;

	return (
		<ol class="frames">
			{rows.map((row, place) => (Array.isArray(row) ? <Folded frames={row} /> : <li class={place === marked ? 'culprit' : undefined}><FrameName frame={row} />{place === marked && row.layer !== 'kernel' && <SourceLink address={sourceLink(row)} />}</li>))}
		</ol>
	);
}
