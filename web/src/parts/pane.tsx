// What is below the timeline: tabs that all show the same selected time of the same selected threads.
import { useMemo, useState } from 'preact/hooks';

import { duration, percent, plural } from '../format';
import { go, linkHere, replaceQuery, route } from '../route';
import { searchOf } from '../search';
import { kinds, selectionTree, type Chosen, type Kind } from '../selection_tree';
import type { StackTree } from '../stack_tree';
import { threadName } from '../state_words';
import type { EventRef, StreamData } from '../stream_data';
import { paneChoiceOf, spanText, tabs, type PaneChoice, type Tab } from '../stream_link';
import type { State } from '../time_states';
import { invertedTree, mergeFrames, transformed, transformNames, transformsText, type Transform } from '../transforms';
import { functionsOf, type FunctionRow } from '../tree_functions';
import { comparedTree } from '../tree_views';
import { Bar } from './bar';
import { FlameGraph } from './flame_graph';
import { FrameName } from './frame_list';
import { FrameMenu, type MenuPlace } from './frame_menu';
import { PathTable } from './path_table';
import { SourceOf } from './source';
import { Table, type Column } from './table';
import type { Span } from './time_gestures';
import { TreeTable } from './tree_table';
import { WaitTable } from './wait_table';

export interface PaneProps {
	data: StreamData;
	chosen: Omit<Chosen, 'kind' | 'idle'>;
	named: boolean; // threads were chosen, one by one
	span: Span | null; // selected time; null: that in view
	base: Span | null; // to compare with
	selected: EventRef | null;
	symptom: Chosen['symptom']; // the one whose path is drawn
	other: { data: StreamData; shift: number } | null; // another stream to compare with: the same time there
	onSelect: (event: EventRef) => void;
}

const to = (changes: Record<string, string>) => go(linkHere(route.value.parts, changes));

function Tabs({ tab }: { tab: Tab }) {
	const names = Object.keys(tabs) as Tab[];

	function onKey(event: KeyboardEvent): void {
		const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];

		if (!by)
			return;
		const next = names[(names.indexOf(tab) + by + names.length) % names.length]!;

		to({ tab: next });
		(event.currentTarget as HTMLElement).querySelector<HTMLElement>(`[data-tab=${next}]`)?.focus();
		event.preventDefault();
	}
	return (
		<div class="tabs" role="tablist" aria-label="What to show of it" onKeyDown={onKey}>
			{names.map((name) => (
				<button type="button" role="tab" id={`tab-${name}`} data-tab={name} aria-selected={name === tab} aria-controls="pane" tabIndex={name === tab ? 0 : -1} onClick={() => to({ tab: name })}>{tabs[name]}</button>
			))}
		</div>
	);
}

// What was done to the tree; each can be taken back.
function Transforms({ transforms }: { transforms: Transform[] }) {
	if (!transforms.length)
		return null;
	return (
		<p class="chips" aria-label="What was done to the calls" role="group">
			{transforms.map(({ kind, name }, place) => (
				<button type="button" class="chip" title="Take it back" onClick={() => to({ do: transformsText(transforms.filter((_, other) => other !== place)) })}>
					{transformNames[kind]} <bdi class="mono">{name.slice(name.indexOf('!') + 1).slice(0, 60)}</bdi> ✕
				</button>
			))}
		</p>
	);
}

function functionColumns(whole: number): Column<FunctionRow>[] {
	const share = (value: number) => <span class="share long"><Bar share={value / whole} />{percent(value / whole)} {duration(value)}</span>;

	return [
		{ key: 'self', title: 'In itself', number: true, value: (row) => row.self, cell: (row) => share(row.self) },
		{ key: 'total', title: 'With what it calls', number: true, value: (row) => row.total, cell: (row) => share(row.total) },
		{
			key: 'name', title: 'Function', help: 'A click shows its callers and callees', value: (row) => row.frame.text,
			cell: (row) => <a href={linkHere(route.value.parts, { function: row.frame.text, tab: 'flame' })}><FrameName frame={row.frame} /></a>,
		},
	];
}

interface Trees {
	tree: StackTree;
	compared: StackTree | null;
	states: Map<string, State>;
}

// The tree of what is chosen, with plumbing folded and everything done to it that was asked for.
function useTrees({ data, chosen, base, other: second }: PaneProps, { kind, all, transforms }: PaneChoice): Trees {
	const text = transformsText(transforms);
	const make = (of: StreamData, part: Omit<Chosen, 'kind' | 'idle'>) => {
		const { tree, states } = selectionTree(of, { ...part, kind, idle: all });
		const folded = all ? tree : mergeFrames(tree, (name) => !states.has(name) && of.table.get(name).plumbing);

		return { tree: transformed(folded, transforms), states };
	};
	const { tree, states } = useMemo(() => make(data, chosen), [data, chosen, kind, all, text]);
	const compared = useMemo(() => {
		if (second && tree.whole > 0) {
			const { data: of, shift } = second;

			return comparedTree(tree, make(of, { t0: chosen.t0 + shift, t1: chosen.t1 + shift, threads: [...of.head.threads.keys()], symptom: null }).tree);
		}
		const other = base && make(data, { ...chosen, ...base }).tree;

		return other && other.whole > 0 && tree.whole > 0 ? comparedTree(tree, other, tree.whole / other.whole) : null;
	}, [tree, second, base?.t0, base?.t1]);

	return { tree, compared, states };
}

function SearchBox({ find, onStep, error }: { find: string; onStep: (by: number) => void; error: string }) {
	return (
		<span class="find">
			<input type="search" placeholder="Find: text or /regex/" aria-label="Find in this tab" value={find} onInput={(event) => replaceQuery({ find: event.currentTarget.value })}
				onKeyDown={(event) => event.key === 'Enter' && onStep(event.shiftKey ? -1 : 1)} />
			{find && <button type="button" aria-label="Last found" onClick={() => onStep(-1)}>‹</button>}
			{find && <button type="button" aria-label="Next found" onClick={() => onStep(1)}>›</button>}
			{error && <span role="alert" class="error">{error}</span>}
		</span>
	);
}

export function Pane(props: PaneProps) {
	const { data, chosen, span, base, other: second, onSelect } = props;
	const choice = paneChoiceOf(route.value.query);
	const { tab, kind, all, find, transforms } = choice;
	const trees = useTrees(props, choice);
	const { tree, compared, states } = trees;
	const [menu, setMenu] = useState<MenuPlace | null>(null);
	const [step, setStep] = useState({ by: 1, count: 0 });
	const search = useMemo(() => searchOf(find), [find]);
	const inverted = useMemo(() => (tab === 'inverted' ? invertedTree(tree) : tree), [tab, tree]);
	const full: Chosen = useMemo(() => ({ ...chosen, kind, idle: all }), [chosen, kind, all]);
	const ofPath: Chosen = useMemo(() => ({ ...chosen, symptom: props.symptom, kind, idle: true }), [chosen, props.symptom]);
	const baseName = base && `${duration(base.t1 - base.t0)} from ${duration(base.t0)}`;
	const isTree = tab === 'flame' || tab === 'tree' || tab === 'inverted' || tab === 'functions';

	return (
		<section class="pane" aria-label="Selection">
			<div class="pane-head">
				<Tabs tab={tab} />
				{tab !== 'flame' && tab !== 'source' && <SearchBox find={find} error={search.error} onStep={(by) => setStep(({ count }) => ({ by, count: count + 1 }))} />}
			</div>
			<div class="pane-body" role="tabpanel" id="pane" aria-labelledby={`tab-${tab}`} tabIndex={0}>
				<div class="pane-title">
					<h2>
						{span ? 'Selected time' : 'Time in view'}: {duration(chosen.t1 - chosen.t0)} from {duration(chosen.t0)},{' '}
						{chosen.symptom ? 'critical path' : props.named && chosen.threads.length === 1 ? <bdi>{threadName(data, chosen.threads[0]!)}</bdi> : plural(chosen.threads.length, 'thread')}
					</h2>
					{isTree && (
						<span role="group" aria-label="Kind of time">
							{(Object.keys(kinds) as Kind[]).map((each) => (
								<button type="button" aria-pressed={each === kind} onClick={() => to({ time: each === 'all' ? '' : each })}>{kinds[each]}</button>
							))}
						</span>
					)}
					{isTree && !second && (base
						? <a href={linkHere(route.value.parts, { base: '' })}>Do not compare with {baseName}</a>
						: <a href={linkHere(route.value.parts, { base: spanText(chosen), span: '' })}>Compare other time with this</a>)}
				</div>
				{isTree && <Transforms transforms={transforms} />}
				{isTree && second && <p class="dim">Width is this stream; its colour is the difference from <bdi>{second.data.head.stream}</bdi> in the same time: blue less, orange more.</p>}
				{isTree && base && !second && (
					<p class="dim">
						{compared ? <>Width is what is selected; its colour is the difference from {baseName}, as if both had taken as long in all: blue less, orange more.</>
							: <>Select other time to compare it with {baseName}.</>}
					</p>
				)}
				{isTree && !(tree.whole > 0) && <p>{emptyText(data, full)}</p>}
				{tab === 'flame' && tree.whole > 0 && (
					<FlameGraph tree={compared ?? tree} table={data.table} label={`Flame graph, ${kinds[kind]}`} states={states} search={{ text: find, onSearch: (text) => replaceQuery({ find: text }) }} onMenu={setMenu}
						compare={compared ? (second ? { shown: 'this stream', other: second.data.head.stream, sign: 1 } : { shown: 'the selected time', other: 'the base, to scale', sign: 1 }) : undefined} />
				)}
				{(tab === 'tree' || tab === 'inverted') && tree.whole > 0 && <TreeTable tree={inverted} table={data.table} label={tabs[tab]} states={states} search={search} step={step} onMenu={setMenu} />}
				{tab === 'functions' && tree.whole > 0 && (
					<Table columns={functionColumns(tree.whole)} rows={functionsOf(tree, data.table).filter((row) => !search.fits || search.fits(row.frame.text))} label="Functions" sortBy="self" rowKey={(row) => row.frame.text} shown={40} />
				)}
				{tab === 'waits' && <WaitTable data={data} chosen={full} search={search} onSelect={onSelect} />}
				{tab === 'path' && <PathTable data={data} chosen={ofPath} search={search} selected={props.selected} onSelect={onSelect} />}
				{tab === 'source' && <SourceOf name={route.value.query.get('function') ?? ''} query={`&where=${encodeURIComponent(`name=${data.head.stream}`)}&time=${encodeURIComponent(`+${Math.round(chosen.t0)}ns..+${Math.round(chosen.t1)}ns`)}&include-idle`} />}
			</div>
			{menu && (
				<FrameMenu place={menu} onClose={() => setMenu(null)} onFind={(text) => replaceQuery({ find: text })} onFunction={(name) => to({ function: name, tab: 'flame' })} onSource={(name) => to({ function: name, tab: 'source' })}
					onTransform={(transform) => to({ do: transformsText([...transforms, transform]) })} />
			)}
		</section>
	);
}

// Why there is nothing to show.
function emptyText(data: StreamData, chosen: Chosen): string {
	const any = selectionTree(data, { ...chosen, kind: 'all', idle: true });

	if (!(any.tree.whole > 0))
		return 'No thread that is selected has an event in this time.';
	return chosen.kind === 'all' && !chosen.idle ? 'All of this time is idle: "idle and plumbing" shows it.' : `Nothing of this kind in this time; ${duration(any.tree.whole)} of other kinds.`;
}
