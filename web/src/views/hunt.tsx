// The result of `lode hunt`: what was found, and the search history graph that led there.
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';

import { count, duration, percent, plural } from '../format';
import { Help } from '../parts/help';
import { Table, type Column } from '../parts/table';
import { go, linkHere, route } from '../route';

type State = 'never-run' | 'running' | 'true' | 'false' | 'deferred' | 'impossible';

interface Experiment {
	experiment: number;
	parent: number | null;
	parents: number[];
	hypothesis: string;
	focus: Record<string, string | null>;
	origin: string;
	state: State;
	evidence: string;
	value: number | null;
	threshold: number;
	confidence: number | null;
	cost: number | null;
	observed_ns: number;
	calls: number;
	runs: number;
	created_ns: number | null;
	concluded_ns: number | null;
	found_ns: number | null;
	lost_ns: number | null;
	not_probed?: string;
	why?: string;
}

interface Words {
	step: string; // what its focus adds to that of its parent
	focus: string;
	measured: string;
	threshold: string;
}

export interface HuntResult {
	summary: {
		t_ns: number;
		target: string;
		end: string;
		strategy: string;
		cost_limit: number;
		experiments: number;
		attempted: number;
		states: Record<State, number>;
		samples: number;
		cost: number | null;
		highest_cost: number | null;
		specific: number;
		bottlenecks: number[];
	};
	experiments: Experiment[];
	words: Words[];
	sentences: string[];
	live?: { version: number; running: boolean }; // from `lode hunt --serve`
}

interface Row {
	rank: number;
	specific: boolean;
	sentence: string;
	experiment: Experiment;
	words: Words;
}

const marks: Record<State, string> = { 'never-run': '·', running: '◌', true: '●', false: '○', deferred: '◔', impossible: '×' };
const stateWords: Record<State, string> = {
	'never-run': 'not examined', running: 'running', true: 'true', false: 'false', deferred: 'deferred', impossible: 'impossible',
};

// From when to when it was true, within the hunt.
function TrueSpan({ experiment, whole }: { experiment: Experiment; whole: number }) {
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
		{ key: 'what', title: 'Hypothesis', value: (row) => row.experiment.hypothesis },
		{ key: 'value', title: 'Measured', number: true, value: (row) => row.experiment.value ?? 0, cell: (row) => row.words.measured },
		{ key: 'threshold', title: 'Threshold', number: true, value: (row) => row.experiment.threshold, cell: (row) => row.words.threshold },
		{
			key: 'confidence', title: 'Confidence', number: true, value: (row) => row.experiment.confidence ?? 0,
			cell: (row) => (row.experiment.confidence === null ? '' : row.experiment.confidence > 0.9999 ? '>99.99%' : percent(row.experiment.confidence)),
		},
		{ key: 'evidence', title: 'Evidence', value: (row) => row.experiment.evidence },
		{ key: 'origin', title: 'Found by', value: (row) => row.experiment.origin, cell: (row) => <span class="key-item">{row.experiment.origin}</span> },
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

function makeGraph(experiments: Experiment[]): Graph {
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

// All that is known of one experiment.
function ExperimentDetail({ id, result }: { id: number; result: HuntResult }) {
	const experiment = result.experiments[id]!;
	const words = result.words[id]!;
	const rows: [string, ComponentChildren][] = [
		['State', `${stateWords[experiment.state]}${experiment.why ? `: ${experiment.why}` : ''}`],
		['Measured', words.measured],
		['Threshold', words.threshold],
		['Confidence', experiment.confidence === null ? '' : experiment.confidence > 0.9999 ? '>99.99%' : percent(experiment.confidence)],
		['Evidence', experiment.runs > 0 ? `${experiment.evidence}, in ${plural(experiment.runs, 'run')} of ${duration(experiment.observed_ns)} together` : ''],
		['Calls', experiment.calls ? count(experiment.calls) : ''],
		['Cost of its probes', experiment.cost === null ? '' : percent(experiment.cost)],
		['Not probed', experiment.not_probed ?? ''],
		['Found by', experiment.origin],
		['Asked at', time(experiment.created_ns)],
		['Concluded at', time(experiment.concluded_ns)],
		['True from', time(experiment.found_ns)],
		['True until', experiment.found_ns === null ? '' : experiment.lost_ns === null ? 'the end' : time(experiment.lost_ns)],
		...Object.entries(experiment.focus).filter(([, value]) => value !== null).map(([axis, value]): [string, ComponentChildren] => [`Focus: ${axis}`, <bdi class="mono">{value}</bdi>]),
	];

	return (
		<article class="detail" aria-label={`Experiment ${id}`}>
			<h2>{experiment.hypothesis}: <bdi>{words.focus}</bdi></h2>
			<table class="narrow" aria-label="Facts">
				<tbody>{rows.filter(([, value]) => value !== '').map(([name, value]) => <tr><th scope="row">{name}</th><td>{value}</td></tr>)}</tbody>
			</table>
			{experiment.parents.length > 0 && (
				<p>Refines {experiment.parents.map((parent, place) => <>{place > 0 && ', '}<a href={linkHere([String(parent)])}><bdi>{result.words[parent]?.focus}</bdi></a></>)}.</p>
			)}
		</article>
	);
}

function Facts({ experiment, words }: { experiment: Experiment; words: Words }) {
	return (
		<>
			{words.measured && <b> {words.measured}</b>}
			<span class="dim">
				{words.measured && `, threshold ${words.threshold},`} {stateWords[experiment.state]}
				{experiment.runs > 0 && `, by ${experiment.evidence}`}
				{experiment.origin !== 'call-graph' && `, ${experiment.origin}`}
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

function History({ result }: { result: HuntResult }) {
	const [all, setAll] = useState(false);
	const graph = useMemo(() => makeGraph(result.experiments), [result]);
	const shows = (id: number) => {
		const { state, runs } = result.experiments[id]!;

		return all || graph.leadsToTrue[id]! || state === 'running' || (state === 'deferred' && runs > 0);
	};
	const roots = graph.roots; // show each hypothesis about the whole program, also false ones

	return (
		<>
			<h2>
				The search
				<label class="switch"><input type="checkbox" checked={all} onChange={() => setAll(!all)} /> all experiments, also false ones</label>
			</h2>
			<p class="key">
				{(Object.keys(marks) as State[]).filter((state) => result.summary.states[state] > 0).map((state) => (
					<span class="key-item"><span class={`experiment ${state}`} aria-hidden="true">{marks[state]}</span> {stateWords[state]}: {count(result.summary.states[state])}</span>
				))}
			</p>
			<ul class="history">{roots.map((id) => <Node key={id} id={id} result={result} graph={graph} shows={shows} />)}</ul>
		</>
	);
}

function Summary({ result, lost }: { result: HuntResult; lost: boolean }) {
	const { summary, live } = result;

	return (
		<>
			<Help words={['hypothesis', 'experiment', 'evidence', 'deep start', 'confidence']}>
				Where <bdi class="mono">{summary.target}</bdi> spends its time, found while it ran for {duration(summary.t_ns)}: {count(summary.attempted)} of{' '}
				{plural(summary.experiments, 'experiment')} were made, {count(summary.states.true ?? 0)} are true. Probes cost it up to{' '}
				{percent(summary.highest_cost ?? 0)} of its time (the limit is {percent(summary.cost_limit)}). {live?.running ? 'The hunt goes on.' : `It ended: ${summary.end}.`}
			</Help>
			{live?.running && !lost && <p role="status"><progress aria-label="The hunt goes on" /> The search grows here as it goes on.</p>}
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
			{result.experiments[chosen] && <ExperimentDetail id={chosen} result={result} />}
			<History result={result} />
		</>
	);
}
