// The field in the header that finds anything by its name: functions, findings, streams, and threads of the stream that is
// shown. What can be found is read when the field is first used.
import { useMemo, useRef, useState } from 'preact/hooks';

import type { Columns } from '../columns';
import { functionOf } from '../findings';
import { duration } from '../format';
import { blocks, isServed, useBlock } from '../page_data';
import type { InfoResult, MineResult, ProfileHead } from '../results';
import { go, link, linkHere, route } from '../route';
import { searchOf } from '../search';

interface Found {
	kind: string;
	name: string;
	detail: string;
	to: string;
}

const MAX_OF_KIND = 6;

function streamsOf(info: InfoResult | undefined): Found[] {
	return (info?.streams ?? []).filter(({ id }) => blocks.value.has(`stream/${id}`) || isServed())
		.map(({ id, name, host }) => ({ kind: 'stream', name, detail: host, to: link('stream', [id]) }));
}

function findingsOf(mined: MineResult | undefined): Found[] {
	return (mined?.findings ?? []).map(({ id, sentence, cost_ns: cost }) => ({ kind: 'finding', name: sentence, detail: duration(cost), to: link('overview', [], { finding: id }) }));
}

function functionsOf(profile: Columns<ProfileHead> | undefined): Found[] {
	return (profile?.head.names ?? []).map((name) => ({ kind: 'function', name: functionOf(name), detail: name.slice(0, Math.max(name.indexOf('!'), 0)), to: link('profile', [], { kind: 'both', function: name }) }));
}

// What can be asked of the stream that is shown.
function hereOf(text: string): Found[] {
	const { view, parts } = route.value;

	return view !== 'stream' || !text ? [] : [
		{ kind: 'this timeline', name: `threads with "${text}"`, detail: '', to: linkHere(parts, { filter: text }) },
		{ kind: 'this timeline', name: `calls with "${text}"`, detail: '', to: linkHere(parts, { find: text }) },
	];
}

function useFound(text: string, wanted: boolean): Found[] {
	const has = (name: string) => wanted && blocks.value.has(name);
	const info = useBlock(isServed() ? 'info?brief' : 'info', has('info')).result as InfoResult | undefined;
	const mined = useBlock(isServed() ? 'findings?page-data' : 'findings', has('findings')).result as MineResult | undefined;
	const profile = useBlock('profile', has('profile'), 'columns').result as Columns<ProfileHead> | undefined;
	const all = useMemo(() => [findingsOf(mined), functionsOf(profile), streamsOf(info)], [info, mined, profile]);

	return useMemo(() => {
		const { fits } = searchOf(text);

		return fits ? [...hereOf(text), ...all.flatMap((each) => each.filter(({ name, detail }) => fits(name) || fits(detail)).slice(0, MAX_OF_KIND))] : [];
	}, [all, text, route.value]);
}

export function Finder() {
	const [text, setText] = useState('');
	const [used, setUsed] = useState(false);
	const [open, setOpen] = useState(false);
	const [at, setAt] = useState(0);
	const input = useRef<HTMLInputElement>(null);
	const found = useFound(text.trim(), used);
	const shown = open && text.trim() !== '';

	function choose({ to }: Found): void {
		go(to);
		setOpen(false);
		setText('');
		input.current!.blur();
	}
	function onKey(event: KeyboardEvent): void {
		const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];

		if (step && found.length)
			setAt((at + step + found.length) % found.length);
		else if (event.key === 'Enter' && found[at])
			choose(found[at]);
		else if (event.key === 'Escape')
			setOpen(false);
		else
			return;
		event.preventDefault();
	}
	return (
		<div class="finder" onFocusOut={(event) => !event.currentTarget.contains(event.relatedTarget as Node | null) && setOpen(false)}>
			<input ref={input} type="search" placeholder="Find…" role="combobox" list={undefined} aria-label="Find a function, a stream or a finding" aria-expanded={shown} aria-controls="found"
				aria-activedescendant={shown && found.length ? `found-${at}` : undefined} value={text}
				onFocus={() => (setUsed(true), setOpen(true))} onInput={(event) => (setText(event.currentTarget.value), setAt(0), setOpen(true))} onKeyDown={onKey} />
			<kbd aria-hidden="true">/</kbd>
			{shown && (
				<ul id="found" role="listbox" aria-label="Found">
					{found.map((each, place) => (
						<li id={`found-${place}`} role="option" aria-selected={place === at} onPointerDown={(event) => (event.preventDefault(), choose(each))}>
							<span class="dim">{each.kind}</span> <bdi class={each.kind === 'function' ? 'mono' : ''}>{each.name.slice(0, 160)}</bdi> <bdi class="dim">{each.detail}</bdi>
						</li>
					))}
					{!found.length && <li class="dim" role="option" aria-selected={false}>Nothing has such a name.</li>}
				</ul>
			)}
		</div>
	);
}
