// The critical path of a symptom as lines: samples of a thread in a row are one, and a wait that
// the path stepped into holds what its waker did meanwhile.
import type { ScopePagePart } from './results';

// A part, or a step, which has the stack of its waker, too.
export type PathPart = ScopePagePart & { waker_stack?: number };

export type LineKind = 'run' | 'wait' | 'queue' | 'step';

export interface PathLine {
	kind: LineKind;
	depth: number; // how many waits were stepped into to come here
	t: number;
	end: number;
	cost: number; // what was seen of it
	parts: PathPart[]; // by cost, the costliest first
	parent: number; // the step that it is in; -1: none
}

function kindOf(part: PathPart): LineKind {
	return part.type === 'run' ? 'run' : part.queued ? 'queue' : 'wait';
}

export function pathLines(path: PathPart[], steps: PathPart[]): PathLine[] {
	const entries = [...steps.map((part) => ({ part, step: true })), ...path.map((part) => ({ part, step: false }))];
	const lines: PathLine[] = [];
	const open: number[] = []; // steps, the innermost last

	// A step before what it holds.
	entries.sort((a, b) => a.part.t - b.part.t || Number(b.step) - Number(a.step) || b.part.cost_ns - a.part.cost_ns);
	for (const { part, step } of entries) {
		while (open.length && lines[open.at(-1)!]!.end <= part.t)
			open.pop();
		const last = lines.at(-1);
		const parent = open.at(-1) ?? -1;

		if (!step && part.type === 'run' && last?.kind === 'run' && last.parts[0]!.tid === part.tid && last.parent === parent) {
			last.parts.push(part);
			last.cost += part.cost_ns;
			last.end = part.t + part.cost_ns;
			continue;
		}
		lines.push({
			kind: step ? 'step' : kindOf(part), depth: open.length, t: part.t, end: part.t + part.cost_ns, cost: part.cost_ns, parts: [part], parent,
		});
		if (step)
			open.push(lines.length - 1);
	}
	return lines;
}

// The longest lines, and the steps that they are in.
export function longestLines(lines: PathLine[], most: number): Set<number> {
	const shown = new Set<number>();

	for (const number of [...lines.keys()].sort((a, b) => lines[b]!.cost - lines[a]!.cost || a - b).slice(0, most))
		for (let at = number; at >= 0 && !shown.has(at); at = lines[at]!.parent)
			shown.add(at);
	return shown;
}
