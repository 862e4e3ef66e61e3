// The result of `lode hunt`: what was found, and the search history graph that led there.
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { count, duration, percent, plural } from '../format';
import { Help } from '../parts/help';
import { HistoryGraph, type HistoryNode, type State } from '../parts/history_graph';
import { Table, type Column } from '../parts/table';
import type { HuntExperiment, HuntResult, HuntWords } from '../results';
import { go, linkHere, route } from '../route';

interface Row {
	rank: number;
	specific: boolean;
	sentence: string;
	experiment: HuntExperiment;
	words: HuntWords;
}

const marks: Record<State, string> = { 'never-run': '·', running: '◌', true: '●', false: '○', deferred: '◔', impossible: '×' };
const stateWords: Record<State, string> = {
	'never-run': 'not examined', running: 'running', true: 'true', false: 'false', deferred: 'deferred', impossible: 'impossible',
};

// From when to when it was true, within the hunt.
function TrueSpan({ experiment, whole }: { experiment: HuntExperiment; whole: number }) {
	const from = (experiment.found_ns ?? whole) / (whole || 1);
	const to = (experiment.lost_ns ?? whole) / (whole || 1);

	return (
		<span class="bar" role="img" aria-label={`True from ${percent(from)} to ${percent(to)} of the hunt`}>
			<i style={{ left: `${from * 100}%`, width: `${Math.max((to - from) * 100, 1)}%` }} />
		</span>
	);
}

function columnsOf(whole: number): Column<Row>[] {
	return [
		{ key: 'rank', title: '#', number: true, value: (row) => -row.rank, cell: (row) => row.rank },
		{
			key: 'where', title: 'Where', value: (row) => row.words.focus,
			cell: (row) => <a class="wide-cell" href={linkHere([String(row.experiment.experiment)])}><bdi>{row.words.focus}</bdi></a>,
		},
		{ key: 'what', title: 'What it does', help: 'The hypothesis that was tested', value: (row) => row.words.claim },
		{ key: 'value', title: 'Measured', number: true, help: 'Of the time; more than 100%: summed over threads', value: (row) => row.experiment.value ?? 0, cell: (row) => <span title={row.words.measured}>{row.words.value}</span> },
		{ key: 'threshold', title: 'Threshold', number: true, value: (row) => row.experiment.threshold, cell: (row) => row.words.threshold },
		{
			key: 'confidence', title: 'Confidence', number: true, value: (row) => row.experiment.confidence ?? 0,
			cell: (row) => (row.experiment.confidence === null ? '' : row.experiment.confidence > 0.9999 ? '>99.99%' : percent(row.experiment.confidence)),
		},
		{ key: 'evidence', title: 'Evidence', value: (row) => row.experiment.evidence },
		{ key: 'origin', title: 'Found by', value: (row) => row.words.origin, cell: (row) => <span class="key-item">{row.words.origin || 'step by step'}</span> },
		{
			key: 'found', title: 'True from', number: true, value: (row) => -(row.experiment.found_ns ?? 0),
			cell: (row) => <span class="share">{duration(row.experiment.found_ns ?? 0)}<TrueSpan experiment={row.experiment} whole={whole} /></span>,
		},
	];
}

interface Graph {
	children: number[][];
	roots: number[];
	leadsToTrue: boolean[]; // it or something below it was true
}

function makeGraph(experiments: HuntExperiment[]): Graph {
	const children: number[][] = experiments.map(() => []);
	const roots: number[] = [];
	const leadsToTrue = experiments.map(({ found_ns, state }) => found_ns !== null || state === 'true');

	experiments.forEach(({ parent }, id) => (parent === null ? roots : children[parent]!).push(id));
	// A parent is made before its children.
	for (let id = experiments.length - 1; id >= 0; id--) {
		const parent = experiments[id]!.parent;

		if (leadsToTrue[id] && parent !== null)
			leadsToTrue[parent] = true;
	}
	return { children, roots, leadsToTrue };
}

interface NodeProps {
	id: number;
	result: HuntResult;
	graph: Graph;
	shows: (id: number) => boolean;
}

const BETWEEN_LOOKS = 500; // ms

// The latest state of a hunt that is served; `lost`: its server has gone.
function useLive(first: HuntResult): { result: HuntResult; lost: boolean } {
	const [state, setState] = useState({ result: first, lost: false });
	const live = state.result.live;

	useEffect(() => {
		let ended = false;

		if (!live?.running || state.lost)
			return undefined;
		const look = async () => {
			try {
				const answer = await fetch(`/api/hunt?seen=${live.version}`);

				if (ended)
					return;
				if (answer.status === 200)
					setState({ result: (await answer.json()) as HuntResult, lost: false });
				else if (answer.status >= 400)
					setState({ ...state, lost: true }); // another server has its port now
				else
					timer = setTimeout(look, BETWEEN_LOOKS);
			} catch {
				if (!ended)
					setState({ ...state, lost: true });
			}
		};
		let timer = setTimeout(look, BETWEEN_LOOKS);

		return () => {
			ended = true;
			clearTimeout(timer);
		};
	}, [live?.version, state.lost]);
	return state;
}

function time(ns: number | null | undefined): string {
	return ns === null || ns === undefined ? '' : duration(ns);
}

const FEW_BELOW = 12;

// What refines an experiment, true ones and large values first.
function Below({ id, result }: { id: number; result: HuntResult }) {
	const [all, setAll] = useState(false);
	const below = result.experiments.filter(({ parents }) => parents.includes(id))
		.sort((a, b) => Number(b.state === 'true') - Number(a.state === 'true') || (b.value ?? -1) - (a.value ?? -1));

	if (!below.length)
		return null;
	return (
		<>
			<h3>{plural(below.length, 'experiment')} below it</h3>
			<ul class="history">
				{below.slice(0, all ? undefined : FEW_BELOW).map(({ experiment, state }) => (
					<li key={experiment}>
						<span class={`experiment ${state}`} aria-hidden="true">{marks[state]}</span>{' '}
						<a href={linkHere([String(experiment)])}><bdi class="mono">{result.words[experiment]!.step}</bdi></a>{' '}
						{result.words[experiment]!.measured} <span class="dim">{stateWords[state]}</span>
					</li>
				))}
			</ul>
			{below.length > FEW_BELOW && !all && <button type="button" onClick={() => setAll(true)}>Show all</button>}
		</>
	);
}

// All that is known of one experiment. It comes into sight when it is chosen elsewhere on the page.
function ExperimentDetail({ id, result }: { id: number; result: HuntResult }) {
	const experiment = result.experiments[id]!;
	const words = result.words[id]!;
	const article = useRef<HTMLElement>(null);

	useEffect(() => article.current!.scrollIntoView({ block: 'nearest' }), []);
	const rows: [string, ComponentChildren][] = [
		['State', `${stateWords[experiment.state]}${experiment.why ? `: ${experiment.why}` : ''}`],
		['Measured', words.measured],
		['Threshold', words.threshold],
		['Confidence', experiment.confidence === null ? '' : experiment.confidence > 0.9999 ? '>99.99%' : percent(experiment.confidence)],
		['Evidence', experiment.runs > 0 ? `${experiment.evidence}, in ${plural(experiment.runs, 'run')} of ${duration(experiment.observed_ns)} together` : ''],
		['Calls', experiment.calls ? count(experiment.calls) : ''],
		['Cost of its probes', experiment.cost === null ? '' : percent(experiment.cost)],
		['Not probed', experiment.not_probed ?? ''],
		['Found by', words.origin || 'step by step'],
		['Asked at', time(experiment.created_ns)],
		['Concluded at', time(experiment.concluded_ns)],
		['True from', time(experiment.found_ns)],
		['True until', experiment.found_ns === null ? '' : experiment.lost_ns === null ? 'the end' : time(experiment.lost_ns)],
		...Object.entries(experiment.focus).filter(([, value]) => value !== null).map(([axis, value]): [string, ComponentChildren] => [`Focus: ${axis}`, <bdi class="mono">{value}</bdi>]),
	];

	return (
		<article class="detail" aria-label={`Experiment ${id}`} ref={article}>
			<h2><bdi>{words.focus}</bdi> {words.claim}</h2>
			<table class="narrow" aria-label="Facts">
				<tbody>{rows.filter(([, value]) => value !== '').map(([name, value]) => <tr><th scope="row">{name}</th><td>{value}</td></tr>)}</tbody>
			</table>
			{experiment.parents.length > 0 && (
				<p>Refines {experiment.parents.map((parent, place) => <>{place > 0 && ', '}<a href={linkHere([String(parent)])}><bdi>{result.words[parent]?.focus}</bdi></a></>)}.</p>
			)}
			<Below id={id} result={result} />
		</article>
	);
}

function Facts({ experiment, words }: { experiment: HuntExperiment; words: HuntWords }) {
	return (
		<>
			{words.measured && <b> {words.measured}</b>}
			<span class="dim">
				{words.measured && `, threshold ${words.threshold},`} {stateWords[experiment.state]}
				{experiment.runs > 0 && `, by ${experiment.evidence}`}
				{words.origin && `, ${words.origin}`}
				{experiment.confidence !== null && `, confidence ${experiment.confidence > 0.9999 ? '>99.99%' : percent(experiment.confidence)}`}
				{experiment.concluded_ns !== null && `, at ${duration(experiment.concluded_ns)}`}
				{experiment.state === 'deferred' && experiment.cost !== null && `, would cost ${percent(experiment.cost)}`}
				{experiment.not_probed && `; not probed: ${experiment.not_probed}`}
				{experiment.why && `; ${experiment.why}`}
				{experiment.parents.length > 1 && `; ${plural(experiment.parents.length, 'parent')}`}
			</span>
		</>
	);
}

function Node({ id, result, graph, shows }: NodeProps) {
	const experiment = result.experiments[id]!;
	const words = result.words[id]!;
	const below = graph.children[id]!.filter(shows);
	const hidden = graph.children[id]!.length - below.length;
	const line = (
		<>
			<span class={`experiment ${experiment.state}`} title={stateWords[experiment.state]} aria-hidden="true">{marks[experiment.state]}</span>{' '}
			<a href={linkHere([String(id)])} aria-current={route.value.parts[0] === String(id) ? 'true' : undefined}><bdi class="mono">{words.step}</bdi></a>
			<Facts experiment={experiment} words={words} />
			{hidden > 0 && <span class="dim"> ({hidden} not shown)</span>}
		</>
	);

	if (!below.length)
		return <li>{line}</li>;
	return (
		<li>
			{line}
			<details open={graph.leadsToTrue[id]}>
				<summary class="dim">{plural(below.length, 'experiment')} below</summary>
				<ul>{below.map((child) => <Node key={child} id={child} result={result} graph={graph} shows={shows} />)}</ul>
			</details>
		</li>
	);
}

const FEW = 120; // experiments that can be seen at a glance
const FEW_LAYERS = 5;

// Which experiments are drawn: those that lead to a bottleneck, and where they are few, those that may yet.
function shownOf(result: HuntResult, graph: Graph, all: boolean, chosen: number): Set<number> {
	const ids = [...result.experiments.keys()];
	const shown = new Set(ids.filter((id) => all || graph.leadsToTrue[id] || result.experiments[id]!.parent === null));
	const undecided = ids.filter((id) => !shown.has(id) && (result.experiments[id]!.state === 'running' || (result.experiments[id]!.state === 'deferred' && result.experiments[id]!.runs > 0)));

	for (const id of [...(shown.size + undecided.length <= FEW ? undecided : []), ...(result.experiments[chosen] ? [chosen] : [])])
		for (let at: number | null = id; at !== null; at = result.experiments[at]!.parent)
			shown.add(at);
	return shown;
}

function depthOf(experiments: HuntExperiment[], shown: Set<number>): number {
	const depth = new Map<number, number>();

	for (const id of shown)
		depth.set(id, 0);
	experiments.forEach(({ parent }, id) => {
		if (shown.has(id) && parent !== null)
			depth.set(id, depth.get(parent)! + 1);
	});
	return Math.max(0, ...depth.values()) + 1;
}

function nodesOf(result: HuntResult, graph: Graph, shown: Set<number>): HistoryNode[] {
	return result.experiments.map(({ parent, parents, state, focus }, id) => {
		const words = result.words[id]!;
		const hidden = graph.children[id]!.filter((child) => !shown.has(child)).length;
		const value = words.value || stateWords[state];

		return {
			id, parent, parents, state, name: words.step, where: focus.code === words.step ? '' : focus.code ?? '', value, hidden,
			says: `${words.step}${parent === null ? '' : `, ${words.claim}`}: ${stateWords[state]}${words.measured && `, measured ${words.measured}, threshold ${words.threshold}`}${hidden ? `; ${plural(hidden, 'experiment')} below not shown` : ''}`,
		};
	});
}

function History({ result, chosen }: { result: HuntResult; chosen: number }) {
	const [all, setAll] = useState(false);
	const [size, setSize] = useState<'small' | 'large' | null>(null);
	const [listed, setListed] = useState(false);
	const graph = useMemo(() => makeGraph(result.experiments), [result]);
	const shown = useMemo(() => shownOf(result, graph, all, chosen), [result, all, chosen]);
	const nodes = useMemo(() => nodesOf(result, graph, shown), [result, shown]);
	const shows = useMemo(() => (id: number) => shown.has(id), [shown]);
	const large = size ? size === 'large' : depthOf(result.experiments, shown) <= FEW_LAYERS;

	return (
		<>
			<h2>
				The search
				<label class="switch"><input type="checkbox" checked={all} onChange={() => setAll(!all)} /> all experiments, also false ones</label>
				<label class="switch"><input type="checkbox" checked={large} onChange={() => setSize(large ? 'small' : 'large')} /> large, with names</label>
			</h2>
			<p class="dim">
				Each hypothesis is refined from left to right, by function, thread or object; {shown.size < nodes.length ? `${count(shown.size)} of ${count(nodes.length)} experiments are drawn, those that led to a bottleneck` : `all ${plural(nodes.length, 'experiment')}`}.
				{' '}+N: so many more below. Thin lines: other ways to the same experiment.
			</p>
			<p class="key">
				{(Object.keys(marks) as State[]).filter((state) => result.summary.states[state] > 0).map((state) => (
					<span class="key-item"><span class={`experiment ${state}`} aria-hidden="true">{marks[state]}</span> {stateWords[state]}: {count(result.summary.states[state])}</span>
				))}
			</p>
			<div class={result.experiments[chosen] ? 'graph-and-detail' : undefined}>
				<HistoryGraph nodes={nodes} shows={shows} chosen={chosen} linkTo={(id) => linkHere([String(id)])} large={large} />
				{result.experiments[chosen] && <ExperimentDetail key={chosen} id={chosen} result={result} />}
			</div>
			<details onToggle={(event) => setListed(event.currentTarget.open)}>
				<summary>The same as a list</summary>
				{listed && <ul class="history">{graph.roots.map((id) => <Node key={id} id={id} result={result} graph={graph} shows={shows} />)}</ul>}
			</details>
		</>
	);
}

function Summary({ result, lost }: { result: HuntResult; lost: boolean }) {
	const { summary, live } = result;

	return (
		<>
			<Help words={['hypothesis', 'experiment', 'evidence', 'found from samples', 'confidence']}>
				Where <bdi class="mono">{summary.target}</bdi> spends its time, found while it ran for {duration(summary.t_ns)}: {count(summary.attempted)} of{' '}
				{plural(summary.experiments, 'experiment')} were made, {count(summary.states.true ?? 0)} are true. Probes cost it up to{' '}
				{percent(summary.highest_cost ?? 0)} of its time (the limit is {percent(summary.cost_limit)}). {live?.running ? 'The hunt goes on.' : `It ended: ${summary.end}.`}
			</Help>
			{live?.running && !lost && <p role="status"><progress aria-label="The hunt goes on" /> The search is shown here while it runs.</p>}
			{lost && <p role="alert">The server has ended. This is its last state.</p>}
		</>
	);
}

export function Hunt({ result: first }: { result: HuntResult }) {
	const { result, lost } = useLive(first);
	const { summary } = result;
	const chosen = Number(route.value.parts[0] ?? NaN);
	const rows = useMemo(
		() => summary.bottlenecks.map((id, place): Row => ({
			rank: place + 1, specific: place < summary.specific, sentence: result.sentences[place] ?? '', experiment: result.experiments[id]!, words: result.words[id]!,
		})),
		[result],
	);

	return (
		<>
			<Summary result={result} lost={lost} />
			{rows.length > 0 ? (
				<>
					<h2>Bottlenecks, most specific first</h2>
					<ol class="sentences">
						{rows.filter(({ specific }) => specific).map(({ sentence }) => <li><bdi>{sentence}</bdi></li>)}
					</ol>
					<Table columns={columnsOf(summary.t_ns)} rows={rows} label="Bottlenecks" sortBy="rank" rowKey={({ rank }) => String(rank)} shown={25}
						selected={String(rows.find(({ experiment }) => experiment.experiment === chosen)?.rank)} onSelect={({ experiment }) => go(linkHere([String(experiment.experiment)]))} />
				</>
			) : (
				<h2>{result.live?.running ? 'No bottleneck was found yet' : 'No bottleneck was found'}</h2>
			)}
			<History result={result} chosen={chosen} />
		</>
	);
}
