// Other trees made of a tree of calls: one function's callers and callees, and two trees as one to compare.
import { finishTree, type StackTree } from './stack_tree';

// Builds a tree with two values a node, from any order of frames.
export class PairTree {
	private roots = new Map<number, number>();
	private below: Map<number, number>[] = [];
	private parent: number[] = [];
	private frame: number[] = [];
	private self: number[] = [];
	private other: number[] = [];

	constructor(private names: string[]) {}

	child(parent: number, frame: number): number {
		const among = parent < 0 ? this.roots : this.below[parent]!;
		let node = among.get(frame);

		if (node === undefined) {
			node = this.parent.push(parent) - 1;
			this.frame.push(frame);
			this.self.push(0);
			this.other.push(0);
			this.below.push(new Map());
			among.set(frame, node);
		}
		return node;
	}

	add(node: number, self: number, other: number): void {
		this.self[node]! += self;
		this.other[node]! += other;
	}

	finish(compared: boolean): StackTree {
		const parent = Int32Array.from(this.parent);
		const frame = Int32Array.from(this.frame);
		const tree = finishTree(this.names, parent, frame, Float64Array.from(this.self));

		if (compared)
			tree.otherTotal = finishTree(this.names, parent, frame, Float64Array.from(this.other)).total;
		return tree;
	}
}

// What the other side of a comparison takes in each call itself.
function otherSelf({ parent, otherTotal }: StackTree): Float64Array | null {
	const self = otherTotal?.slice() ?? null;

	for (let node = 0; self && node < parent.length; node++)
		if (parent[node]! >= 0)
			self[parent[node]!]! -= otherTotal![node]!;
	return self;
}

export interface Sandwich {
	callers: StackTree; // the function is the root, its callers are below it
	callees: StackTree;
	self: number;
	total: number; // a call within another call of the function counts once
}

// Callers and callees of a function; null: it is not in the tree.
export function sandwichOf(tree: StackTree, name: string): Sandwich | null {
	const wanted = tree.names.indexOf(name);
	const callers = new PairTree(tree.names);
	const callees = new PairTree(tree.names);
	const others = otherSelf(tree);
	const copy = new Int32Array(tree.parent.length).fill(-1); // of a call within the function: its place among the callees
	let self = 0;
	let total = 0;

	if (wanted < 0)
		return null;
	for (let node = 0; node < tree.parent.length; node++) {
		const parent = tree.parent[node]!;
		const inside = parent >= 0 && copy[parent]! >= 0;

		if (tree.frame[node] === wanted)
			self += tree.self[node]!;
		if (!inside && tree.frame[node] !== wanted)
			continue;
		copy[node] = callees.child(inside ? copy[parent]! : -1, tree.frame[node]!);
		callees.add(copy[node]!, tree.self[node]!, others?.[node] ?? 0);
		if (inside)
			continue;
		let at = callers.child(-1, wanted);

		for (let above = parent; above >= 0; above = tree.parent[above]!)
			at = callers.child(at, tree.frame[above]!);
		callers.add(at, tree.total[node]!, tree.otherTotal?.[node] ?? 0);
		total += tree.total[node]!;
	}
	const compared = !!tree.otherTotal;
	const found = callees.finish(compared);

	return found.parent.length ? { callers: callers.finish(compared), callees: found, self, total } : null;
}

// Both trees as one: the first one's values, beside them the second one's, times `scale`.
export function comparedTree(tree: StackTree, other: StackTree, scale = 1): StackTree {
	const names = [...tree.names];
	const numbers = new Map(names.map((name, number) => [name, number]));
	const made = new PairTree(names);
	const numberOf = (name: string) => {
		const number = numbers.get(name) ?? names.push(name) - 1;

		numbers.set(name, number);
		return number;
	};

	for (const [side, from] of [tree, other].entries()) {
		const copy = new Int32Array(from.parent.length);
		const known = from.names.map(() => -1);

		for (let node = 0; node < copy.length; node++) {
			const frame = from.frame[node]!;

			if (known[frame]! < 0)
				known[frame] = numberOf(from.names[frame]!);
			copy[node] = made.child(from.parent[node]! < 0 ? -1 : copy[from.parent[node]!]!, known[frame]!);
			made.add(copy[node]!, side ? 0 : from.self[node]!, side ? from.self[node]! * scale : 0);
		}
	}
	return made.finish(true);
}
