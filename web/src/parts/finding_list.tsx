// Findings, a card each: one sentence, what it costs, who waits for whom, and the way to its slowest example.
import { useEffect, useRef } from 'preact/hooks';

import { newText, extent, functionOf, linkText, overGroups, slowestShown, stepText, hasSymptoms, type Since } from '../findings';
import { duration, percent } from '../format';
import { blocks } from '../page_data';
import type { Finding, MineResult } from '../results';
import { link, route } from '../route';
import { AT_EVENT } from '../stream_link';
import { Sentence } from './sentence';

function Step({ state, who, what }: { state: string; who: string; what: string }) {
	return <span class="step"><i class={`swatch fill-${state}`} /> {who && <b><bdi>{who}</bdi></b>} <bdi class="dim">{what}</bdi></span>;
}

// Who waits for whom; of a thread that runs, what it calls.
function Chain({ finding }: { finding: Finding }) {
	const steps = finding.chain.map((step) => ({ state: step.state, who: step.who.thread || step.who.process, what: stepText(step), then: linkText(step) }));
	const [callee] = finding.callees;

	if (finding.kind === 'run' && callee && finding.frame)
		return (
			<p class="steps">
				<Step state="running" who={steps[0]!.who} what={functionOf(finding.frame)} />
				<span class="then">calls →</span>
				<Step state="running" who="" what={`${functionOf(callee.frame)} ${duration(callee.cost_ns)} of ${duration(finding.cost_ns)}`} />
			</p>
		);
	if (steps.length < 2)
		return null;
	return (
		<p class="steps">
			{steps.map(({ state, who, what, then }, place) => (
				<>
					<Step state={state} who={who} what={what} />
					{place + 1 < steps.length && <span class="then">{then} →</span>}
				</>
			))}
		</p>
	);
}

const MAX_BARS = 24;

// What it costs a stream, by version or whatever streams differ in.
function OverGroups({ finding, result, since }: { finding: Finding; result: MineResult; since: Since }) {
	const groups = overGroups(finding, result, since.groups);
	const most = Math.max(...groups.map(({ mean }) => mean), 1);

	if (groups.length < 2 || groups.length > MAX_BARS)
		return null;
	return (
		<span class="over" role="img" aria-label={`A stream, by ${since.key}: ${groups.map(({ text, mean }) => `${text} ${duration(mean)}`).join(', ')}`}>
			{groups.map(({ text, mean }) => <i title={`${since.key} ${text}: ${duration(mean)} a stream`} style={{ height: `${Math.max((mean / most) * 100, 2)}%` }} />)}
		</span>
	);
}

// To the slowest example on the timeline. The options of this place go along: they say what was slow.
function Ways({ finding, result }: { finding: Finding; result: MineResult }) {
	const example = slowestShown(finding, (id) => blocks.value.has(`stream/${id}`));
	const symptom = route.value.query.get('symptom') ?? '';

	return (
		<>
			{example && (
				<a href={link('stream', [example.stream_id], { at: String(example.t), tid: String(example.tid), view: AT_EVENT, symptom })}>
					Show the slowest on the timeline
				</a>
			)}{' '}
			{example && <span class="dim">where it took {duration(example.slowest_ns)}{result.input.streams > 1 && <> in <bdi>{example.stream}</bdi></>}</span>}{' '}
			{finding.kind === 'run' && finding.frame && blocks.value.has('profile') && <a href={link('profile', [], { kind: 'run', function: finding.frame })}>Flame graph</a>}
		</>
	);
}

// From a finding of many streams to those where it is slowest, and to the very wait there.
function SlowestStreams({ finding }: { finding: Finding }) {
	const symptom = route.value.query.get('symptom') ?? '';

	if (finding.streams < 2)
		return null;
	return (
		<details>
			<summary>Slowest streams</summary>
			<table class="narrow" aria-label="Slowest streams of the finding">
				<thead><tr><th scope="col">Stream</th><th scope="col">Host</th><th scope="col" class="number">Slowest</th><th scope="col" class="number">In all</th></tr></thead>
				<tbody>
					{finding.examples.map(({ stream, stream_id: id, host, t, tid, slowest_ns: slowest, cost_ns: cost }) => (
						<tr>
							<td>{blocks.value.has(`stream/${id}`) ? <a href={link('stream', [id], { at: String(t), tid: String(tid), view: AT_EVENT, symptom })}><bdi>{stream}</bdi></a> : <bdi>{stream}</bdi>}</td>
							<td><bdi>{host}</bdi></td><td class="number">{duration(slowest)}</td><td class="number">{duration(cost)}</td>
						</tr>
					))}
				</tbody>
			</table>
		</details>
	);
}

function Card({ finding, rank, result, since }: { finding: Finding; rank: number; result: MineResult; since: Since | null }) {
	const news = newText(since?.changes.get(finding.id), since);

	const element = useRef<HTMLLIElement>(null);
	const named = route.value.query.get('finding') === finding.id;

	useEffect(() => {
		if (named)
			element.current!.scrollIntoView({ block: 'center' });
	}, [named]);
	return (
		<li ref={element} class="card finding" data-id={finding.id} aria-current={named || undefined}>
			<span class="rank">{rank}</span>
			<div>
				<p class="sentence"><Sentence parts={finding.sentence_parts} />.</p>
				<Chain finding={finding} />
				<p class="evidence">
					<span class="dim">{extent(finding, result).join(' · ')}</span>{news && <> <span class="badge">{news}</span></>} <Ways finding={finding} result={result} />
				</p>
				<SlowestStreams finding={finding} />
			</div>
			<div class="cost">
				<b class="figure">{duration(finding.cost_ns)}</b>
				<span class="dim">{percent(finding.share)} of {hasSymptoms(result) ? 'the slow time' : 'the time'}</span>
				{since && <OverGroups finding={finding} result={result} since={since} />}
			</div>
		</li>
	);
}

export function FindingList({ result, since }: { result: MineResult; since: Since | null }) {
	return (
		<>
			<ol class="findings" aria-label="Findings">
				{result.findings!.map((finding, place) => <Card key={finding.id} finding={finding} rank={place + 1} result={result} since={since} />)}
			</ol>
			{result.hint && <p class="dim">{result.hint}</p>}
		</>
	);
}
