// The functions of a tree of calls, each with what it takes in itself and with what it calls.
import type { Frame, FrameTable } from './frames';
import type { StackTree } from './stack_tree';

export interface FunctionRow {
	frame: Frame;
	self: number;
	total: number; // with what it calls; recursion counts once
}

export function functionsOf(tree: StackTree, table: FrameTable): FunctionRow[] {
	const self = new Float64Array(tree.names.length);
	const total = new Float64Array(tree.names.length);

	for (let node = 0; node < tree.parent.length; node++)
		self[tree.frame[node]!]! += tree.self[node]!;
	// A function counts at its outermost call alone: nothing above it has the same name.
	for (let node = 0; node < tree.parent.length; node++) {
		let above = tree.parent[node]!;

		while (above >= 0 && tree.frame[above] !== tree.frame[node])
			above = tree.parent[above]!;
		if (above < 0)
			total[tree.frame[node]!]! += tree.total[node]!;
	}
	return tree.names.map((name, number) => ({ frame: table.get(name), self: self[number]!, total: total[number]! })).filter((row) => row.total > 0);
}
