// Findings: where the time went, as `lode mine` tells it. Words are made from fields, as in src/result/finding_words.c.
import { changesOf, isSure, type Change } from './changes';
import { count, duration, percent, plural } from './format';
import type { Finding, FindingExample, FindingStates, FindingStep, InfoStream, MineResult } from './results';
import { compareValues, groupsOf, keysOf, usualKey, valueOf, type StreamGroup } from './stream_groups';

// "12 clicks", "1 run".
export function symptomsText(result: MineResult): string {
	return plural(result.symptoms.count, result.symptom_word ?? 'symptom');
}

// Whether it is about symptoms, or about all that threads did.
export function hasSymptoms(result: MineResult): boolean {
	return result.symptom_word !== undefined;
}

// What the findings answer.
export function questionText({ symptom_word: word, gpus_ran_ns: gpus }: MineResult): string {
	return gpus !== undefined ? 'What kept GPUs waiting' : word === undefined ? 'What takes the time' : word === 'symptom' ? 'What was slow, and why' : `What makes ${word}s slow`;
}

// "The GPU ran 37.1 % of 204 ms and was idle 62.9 %".
function subjectOf(result: MineResult, total: number): string {
	const together = result.symptoms.count > 1 ? ' together' : '';

	if (result.gpus_ran_ns !== undefined) {
		const ran = result.gpus_ran_ns / (total || 1);

		return `${together ? plural(result.symptoms.count, 'GPU') : 'The GPU'} ran ${percent(ran)} of ${duration(total)}${together} and ${together ? 'were' : 'was'} idle ${percent(1 - ran)}`;
	}
	return hasSymptoms(result) ? `${symptomsText(result)} took ${duration(total)}${together}` : `Threads ran, were ready or waited for ${duration(total)}`;
}

export function headline(result: MineResult): string {
	const total = result.total_ns ?? 0;
	const explained = result.explained_ns ?? 0;
	const found = result.findings?.length ?? 0;
	const subject = subjectOf(result, total);

	if (!found)
		return `${subject}; no finding explains a hundredth of it.`;
	const share = explained / (total || 1) > 0.9995 ? 'all' : percent(explained / (total || 1));

	return `${subject}; ${plural(found, 'finding')} ${found === 1 ? 'explains' : 'explain'} ${share} of it.`;
}

// How often and where: "12 of 12 clicks", "3 hosts".
export function extent(finding: Finding, result: MineResult): string[] {
	return [
		...(hasSymptoms(result) && result.symptoms.count > 1 ? [`${count(finding.symptoms)} of ${symptomsText(result)}`] : []),
		plural(finding.events, 'event'),
		...(result.input.streams > 1 ? [`${count(finding.streams)} of ${plural(result.input.streams, 'stream')}`] : []),
		...(finding.hosts > 1 ? [plural(finding.hosts, 'host')] : []),
	];
}

// The slowest example whose timeline is there.
export function slowestShown(finding: Finding, has: (streamId: string) => boolean): FindingExample | undefined {
	return finding.examples.find(({ stream_id }) => has(stream_id));
}

// The function of `module!function`.
export function functionOf(frame: string): string {
	return frame.slice(frame.indexOf('!') + 1);
}

const goals: Record<string, string> = {
	lock: 'lock', gil: 'the GIL', reply: 'a reply', disk: 'disk', network: 'network', timer: 'sleeps', page: 'memory', child: 'its child', work: 'work', ready: 'ready, not running',
};

// What a thread of the chain does, in a few words: its lock, or the function in which it is.
export function stepText(step: FindingStep): string {
	const name = step.object?.name ?? '';
	const named = step.object && name && !/^(0x|\[)/.test(name) && ['lock', 'file', 'tcp', 'udp', 'unix'].includes(step.object.kind) ? `${step.object.kind} ${name}` : '';

	return named || (step.frame && step.state !== 'ready' ? functionOf(step.frame) : goals[step.state] ?? '');
}

// How a thread of the chain is related to the next.
export function linkText(step: FindingStep): string {
	return step.state === 'lock' || step.state === 'gil' ? 'held by' : 'waits for';
}

// ---- states of processes ----

export interface StateShare {
	state: string;
	ns: number;
}

// In the order of the palette; states without time are left out.
export function statesOf(row: FindingStates, order: readonly string[]): StateShare[] {
	const times: Record<string, number> = { running: row.running_ns, ready: row.ready_ns, idle: row.idle_ns, ...row.waiting_ns };

	return order.filter((state) => times[state]! > 0).map((state) => ({ state, ns: times[state]! }));
}

// ---- what is new ----

export interface Since {
	key: string;
	ordered: boolean; // later values are newer: of versions, not of any attribute
	from: StreamGroup; // the latest value
	groups: StreamGroup[];
	changes: Map<string, Change<Finding>>; // by id of the finding
}

// What changed with the latest version, or whatever streams differ in; null: there is nothing to compare.
export function sinceLatest(result: MineResult, streams: InfoStream[]): Since | null {
	const keys = keysOf(streams);

	if (!keys.length || !result.findings)
		return null;
	const key = usualKey(streams, keys);
	const groups = groupsOf(streams, key);
	const from = groups.at(-1)!;

	if (groups.length < 2)
		return null;
	const later = new Map(streams.map((stream) => [stream.id, compareValues(valueOf(stream, key), from.from) >= 0]));
	const changes = changesOf(result.findings, result.stream_ids, (id) => later.get(id) ?? null);

	return { key, ordered: /version|release|build|revision/i.test(key), from, groups, changes: new Map(changes.map((change) => [change.item.id, change])) };
}

// A change that is sure and for the worse, in words; '' otherwise.
export function newText(change: Change<Finding> | undefined, since: Since | null): string {
	if (!change || !since?.ordered || !isSure(change) || change.after <= change.before)
		return '';
	return `surely ${change.before === 0 ? 'new' : 'more'} since ${since.key} ${since.from.text}`;
}

// What a finding costs a stream in each group, for a small chart.
export function overGroups(finding: Finding, result: MineResult, groups: StreamGroup[]): { text: string; mean: number }[] {
	const costs = new Map<string, number>();

	for (let i = 0; i + 1 < finding.by_stream.length; i += 2)
		costs.set(result.stream_ids[finding.by_stream[i]!]!, finding.by_stream[i + 1]!);
	return groups.map(({ text, streams }) => ({ text, mean: streams.reduce((sum, { id }) => sum + (costs.get(id) ?? 0), 0) / (streams.length || 1) }));
}
