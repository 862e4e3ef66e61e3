// The result of `lode hunt`: what was found, and the search history graph that led there.
import { useMemo, useState } from 'preact/hooks';

import { count, duration, percent, plural } from '../format';
import { Help } from '../parts/help';
import { Table, type Column } from '../parts/table';

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
			cell: (row) => <span class={row.specific ? 'wide-cell' : 'wide-cell dim'}><bdi>{row.words.focus}</bdi></span>,
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
			<bdi class="mono">{words.step}</bdi>
			<Facts experiment={experiment} words={words} />
			{hidden > 0 && <span class="dim"> ({hidden} not shown)</span>}
		</>
	);

	if (!below.length)
		return <li>{line}</li>;
	return (
		<li>
			<details open={graph.leadsToTrue[id]}>
				<summary>{line}</summary>
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
	const roots = graph.roots; // each hypothesis about the whole program is told, also if it was false

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

export function Hunt({ result }: { result: HuntResult }) {
	const { summary } = result;
	const rows = useMemo(
		() => summary.bottlenecks.map((id, place): Row => ({
			rank: place + 1, specific: place < summary.specific, sentence: result.sentences[place] ?? '', experiment: result.experiments[id]!, words: result.words[id]!,
		})),
		[result],
	);

	return (
		<>
			<Help words={['hypothesis', 'experiment', 'evidence', 'deep start', 'confidence']}>
				Where <bdi class="mono">{summary.target}</bdi> spends its time, found while it ran for {duration(summary.t_ns)}: {count(summary.attempted)} of{' '}
				{plural(summary.experiments, 'experiment')} were made, {count(summary.states.true ?? 0)} are true. Probes cost it up to{' '}
				{percent(summary.highest_cost ?? 0)} of its time (the limit is {percent(summary.cost_limit)}). It ended: {summary.end}.
			</Help>
			{rows.length > 0 ? (
				<>
					<h2>Bottlenecks, most specific first</h2>
					<ol class="sentences">
						{rows.filter(({ specific }) => specific).map(({ sentence }) => <li><bdi>{sentence}</bdi></li>)}
					</ol>
					<Table columns={columnsOf(summary.t_ns)} rows={rows} label="Bottlenecks" sortBy="rank" rowKey={({ rank }) => String(rank)} shown={25} />
				</>
			) : (
				<h2>No bottleneck was found</h2>
			)}
			<History result={result} />
		</>
	);
}
