// The result of `lode explain`: the few functions of x that y follows, and the tree that says which runs follow which.
import { useMemo, useState } from 'preact/hooks';

import { clusterColour, palette } from '../colours';
import { count, duration, percent, plural } from '../format';
import { blocks } from '../page_data';
import { Bar } from '../parts/bar';
import { Help } from '../parts/help';
import { ScrollBox } from '../parts/scroll_box';
import { Scatter, type ScatterData } from '../parts/scatter';
import type { ExplainNode, ExplainPage, ExplainResult } from '../results';
import { link } from '../route';

type PageResult = ExplainResult & { page: ExplainPage };

// A number with four digits that count.
function number(value: number): string {
	const size = Math.abs(value);

	return size >= 1e7 || (size > 0 && size < 1e-4) ? value.toExponential(2) : Number(value.toPrecision(4)).toLocaleString('en-US', { maximumFractionDigits: 8 });
}

// The name of a column gives its unit: time_ms, time (ms).
function formatOf(name: string): (value: number) => string {
	const unit = /(?:_|\()(ns|us|ms|s|seconds|bytes|kB|MB)\)?$/.exec(name)?.[1];
	const toNs: Record<string, number> = { ns: 1, us: 1e3, ms: 1e6, s: 1e9, seconds: 1e9 };

	if (unit && toNs[unit])
		return (value) => duration(value * toNs[unit]!);
	return (value) => (unit ? `${number(value)} ${unit}` : number(value));
}

// Columns that Lode adds to each stream, as people call them.
const columnNames: Record<string, string> = { delay_ns: 'delay', span_ns: 'length', run_ns: 'CPU time', wait_ns: 'time waiting' };

// A column's name, or a text with names of columns.
export function plain(text: string): string {
	return text.replace(/\b(delay|span|run|wait)_ns\b/g, (name) => columnNames[name]!);
}

function Swatch({ cluster }: { cluster: number }) {
	return <i class="layer" style={{ background: clusterColour(cluster, palette.value) }} />;
}

function Clusters({ result, only, onOnly }: { result: PageResult; only: number | null; onOnly: (cluster: number | null) => void }) {
	const yText = formatOf(result.page.y);

	return (
		<ScrollBox label="Functions">
			<table aria-label="Functions">
				<thead>
					<tr>
						<th scope="col">Cluster</th><th scope="col">Function</th><th scope="col" class="number">Rows</th>
						<th scope="col" class="number">R²</th><th scope="col" class="number">Median <bdi>{plain(result.page.y)}</bdi></th>
					</tr>
				</thead>
				<tbody>
					{result.clusters.map((cluster) => (
						<tr>
							<td>
								<button type="button" aria-pressed={only === cluster.id} onClick={() => onOnly(only === cluster.id ? null : cluster.id)}>
									<Swatch cluster={cluster.id} />{cluster.id}
								</button>
							</td>
							<td><bdi class="mono wide-cell">{plain(result.page.functions[cluster.id]!)}</bdi></td>
							<td class="number"><span class="share long"><Bar share={cluster.share} />{count(cluster.size)} ({percent(cluster.share)})</span></td>
							<td class="number">{cluster.r2 === null ? '' : cluster.r2.toFixed(3)}</td>
							<td class="number">{cluster.median_y === null ? '' : yText(cluster.median_y)}</td>
						</tr>
					))}
				</tbody>
			</table>
		</ScrollBox>
	);
}

// How many of a node's rows are of each cluster.
function Counts({ counts }: { counts: number[] }) {
	const whole = counts.reduce((sum, each) => sum + each, 0) || 1;
	const words = counts.map((each, cluster) => `cluster ${cluster}: ${percent(each / whole)}`).join(', ');

	return (
		<span class="counts" role="img" aria-label={words} title={words}>
			{counts.map((each, cluster) => each > 0 && <i style={{ width: `${(each / whole) * 100}%`, background: clusterColour(cluster, palette.value) }} />)}
		</span>
	);
}

interface NumberedNode {
	node: ExplainNode;
	test: string | null;
	left?: NumberedNode;
	right?: NumberedNode;
}

function withTests(node: ExplainNode, tests: Iterator<string | null>): NumberedNode {
	const test = (tests.next().value as string | null) ?? null;
	const left = 'left' in node ? withTests(node.left, tests) : undefined;
	const right = 'right' in node ? withTests(node.right, tests) : undefined;

	return { node, test, left, right };
}

function Tree({ at, onOnly }: { at: NumberedNode; onOnly: (cluster: number) => void }) {
	const rows = at.node.counts.reduce((sum, each) => sum + each, 0);

	if ('cluster' in at.node || !at.left || !at.right) {
		const cluster = 'cluster' in at.node ? at.node.cluster : 0;

		return (
			<div class="leaf-box">
				<button type="button" onClick={() => onOnly(cluster)}><Swatch cluster={cluster} />cluster {cluster}</button>{' '}
				<span class="dim">{plural(rows, 'row')}</span> <Counts counts={at.node.counts} />
			</div>
		);
	}
	return (
		<div class="node-box">
			<div><bdi class="mono">{at.test}</bdi>? <span class="dim">{plural(rows, 'row')}</span> <Counts counts={at.node.counts} /></div>
			<div class="branch"><span class="dim">yes</span><Tree at={at.right} onOnly={onOnly} /></div>
			<div class="branch"><span class="dim">no</span><Tree at={at.left} onOnly={onOnly} /></div>
		</div>
	);
}

function Confusion({ matrix }: { matrix: number[][] }) {
	return (
		<>
			<h3>By its x and y alone (rows), and by the tree (columns)</h3>
			<ScrollBox label="Confusion matrix">
				<table aria-label="Confusion matrix" class="narrow">
					<thead>
						<tr><th scope="col">Cluster</th>{matrix.map((_, cluster) => <th scope="col" class="number">{cluster}</th>)}</tr>
					</thead>
					<tbody>
						{matrix.map((row, cluster) => (
							<tr>
								<th scope="row"><Swatch cluster={cluster} />{cluster}</th>
								{row.map((value, column) => <td class="number">{column === cluster ? <b>{count(value)}</b> : count(value)}</td>)}
							</tr>
						))}
					</tbody>
				</table>
			</ScrollBox>
		</>
	);
}

// What a point is: a stream, a symptom of one, or a row of the table.
function Point({ result, point }: { result: PageResult; point: number }) {
	const { points, page: { x, y } } = result;
	const row = points.row[point];

	if (row === undefined)
		return <p class="dim flame-details">Point at a run, or press the arrow keys, to see which one it is.</p>;
	const stream = result.streams?.[row];
	const name = stream && <bdi>{stream.name}</bdi>;
	const query: Record<string, string> = stream?.t0 === undefined ? {} : { at: String(stream.t0), tid: String(stream.tid ?? '') };

	return (
		<p class="flame-details" aria-live="polite">
			<Swatch cluster={points.cluster[point]!} />
			{stream ? (
				<>
					Stream {blocks.value.has(`stream/${stream.id}`) ? <a href={link('stream', [stream.id], query)}>{name}</a> : name}
					{stream.symptom && <>, symptom <bdi>{stream.symptom}</bdi></>}
				</>
			) : (
				<>Row {count(row + 1)}</>
			)}: <bdi>{plain(x)}</bdi> {formatOf(x)(points.x[point]!)}, <bdi>{plain(y)}</bdi> <b>{formatOf(y)(points.y[point]!)}</b>, cluster {points.cluster[point]}
		</p>
	);
}

function Quality({ result }: { result: PageResult }) {
	const { accuracy, cross_validated: validated } = result;

	return (
		<p>
			{!result.explained && <b>No tree separates the clusters. </b>}
			{accuracy !== null && result.explained && result.clusters.length > 1 && <>The tree puts {percent(accuracy)} of {validated ? 'rows that it has not seen' : 'rows'} where their x and y do. </>}
			{result.r2 !== null && <>It explains {percent(result.r2)} of the variance{result.validated_r2 !== null && <>, {result.validated_r2 > 0 ? `${percent(result.validated_r2)} of that of rows it has not seen` : 'and nothing of rows it has not seen'}</>}. </>}
			{result.relative_error !== null && <>The typical error is {percent(result.relative_error)}. </>}
			{result.left_out > 0 && <>{plural(result.left_out, 'row')} without x or y are left out. </>}
			{!!result.copies && <>{plural(result.copies, 'row')} that equal others do not count. </>}
		</p>
	);
}

const MIN_R2 = 0.1; // below, x explains nothing worth speaking of

export function Explain({ result }: { result: PageResult }) {
	const { page } = result;
	const [only, setOnly] = useState<number | null>(null);
	const [point, setPoint] = useState(-1);
	const data = useMemo<ScatterData>(
		() => ({
			...result.points, curves: result.curves, logarithmic: page.logarithmic, xName: plain(page.x), yName: plain(page.y), xText: formatOf(page.x), yText: formatOf(page.y),
		}),
		[result],
	);
	const holds = (result.validated_r2 ?? result.r2 ?? 1) >= MIN_R2;
	const tree = useMemo(() => withTests(result.tree, page.tests[Symbol.iterator]()), [result]);

	return (
		<>
			<Help words={['cluster of rows', 'tree', 'R²', 'accuracy']}>
				{holds ? <>Why some runs of <bdi>{page.name}</bdi> are slow: in {plural(result.rows, 'row')} <bdi>{plain(page.y)}</bdi> follows{' '}
					{plural(result.clusters.length, 'function')} of <bdi>{plain(page.x)}</bdi>{result.clusters.length > 1 && ', and the tree says which run follows which'}</>
					: <><bdi>{plain(page.x)}</bdi> says next to nothing about the <bdi>{plain(page.y)}</bdi> of {plural(result.rows, 'row')} of <bdi>{page.name}</bdi></>}
				{result.r2 !== null && <> (R² {result.r2.toFixed(2)}{result.validated_r2 !== null && <>, {Math.max(result.validated_r2, 0).toFixed(2)} on unseen rows</>})</>}.
				{result.points.left_out > 0 && <> {count(result.points.x.length)} of them are drawn.</>}
			</Help>
			{page.sentences.length > 0 && <ul class="sentences">{page.sentences.map((sentence) => <li><bdi>{plain(sentence)}</bdi></li>)}</ul>}
			<Clusters result={result} only={only} onOnly={setOnly} />
			<div class="two">
				<section aria-label="Runs">
					<h2>Runs</h2>
					<Scatter data={data} only={only} selected={point} onSelect={setPoint} />
					<Point result={result} point={point} />
				</section>
				<section aria-label="Tree">
					<h2>Which runs follow which</h2>
					<Tree at={tree} onOnly={(cluster) => setOnly(only === cluster ? null : cluster)} />
					<Quality result={result} />
					{result.confusion && result.explained && result.clusters.length > 1 && <Confusion matrix={result.confusion} />}
				</section>
			</div>
			<details>
				<summary>The same as text</summary>
				<pre class="mono">{page.text}</pre>
			</details>
		</>
	);
}
