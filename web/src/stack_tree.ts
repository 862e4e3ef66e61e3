// A tree of calls with a value at each node, for flame graphs: columns instead of objects, parents before children.

export interface StackTree {
	// The names that `frame` points into.
	names: string[];
	parent: Int32Array; // -1: a root
	frame: Int32Array;
	depth: Int32Array;
	self: Float64Array;
	total: Float64Array; // with all below
	// The other side of a comparison; absent: none.
	otherTotal?: Float64Array;
	whole: number; // of all roots
	deepest: number;
}

export interface WeightedStack {
	frames: string[]; // root first
	value: number;
}

export function buildTree(stacks: WeightedStack[]): StackTree {
	const names: string[] = [];
	const numbers = new Map<string, number>();
	const children: Map<number, number>[] = [];
	const roots = new Map<number, number>();
	const parent: number[] = [];
	const frame: number[] = [];
	const self: number[] = [];

	for (const stack of stacks) {
		let node = -1;
		let below = roots;

		for (const name of stack.frames) {
			let number = numbers.get(name);

			if (number === undefined) {
				number = names.push(name) - 1;
				numbers.set(name, number);
			}
			let next = below.get(number);

			if (next === undefined) {
				next = parent.push(node) - 1;
				frame.push(number);
				self.push(0);
				children.push(new Map());
				below.set(number, next);
			}
			node = next;
			below = children[next]!;
		}
		if (node >= 0)
			self[node]! += stack.value;
	}
	return finishTree(names, Int32Array.from(parent), Int32Array.from(frame), Float64Array.from(self));
}

// Fills in depths and totals. A parent has a lower number than its children.
export function finishTree(names: string[], parent: Int32Array, frame: Int32Array, self: Float64Array): StackTree {
	const depth = new Int32Array(parent.length);
	const total = self.slice();
	let whole = 0;
	let deepest = 0;

	for (let node = 0; node < parent.length; node++) {
		depth[node] = parent[node]! < 0 ? 0 : depth[parent[node]!]! + 1;
		deepest = Math.max(deepest, depth[node]! + 1);
	}
	for (let node = parent.length - 1; node >= 0; node--) {
		if (parent[node]! < 0)
			whole += total[node]!;
		else
			total[parent[node]!]! += total[node]!;
	}
	return { names, parent, frame, depth, self, total, whole, deepest };
}

export function stackOf(tree: StackTree, node: number): string[] {
	const frames: string[] = [];

	for (; node >= 0; node = tree.parent[node]!)
		frames.push(tree.names[tree.frame[node]!]!);
	return frames.reverse();
}

export interface Layout {
	order: Int32Array; // nodes by level, then from left to right
	levels: Int32Array; // where level i begins in `order`; one more than there are levels
	left: Float64Array; // of a node, in units of its value
	firstChild: Int32Array; // -1: none
}

// Places children beside each other, the largest first; ties by name, so that equal trees look equal.
export function layOut(tree: StackTree): Layout {
	const size = tree.parent.length;
	const byLevel: number[][] = Array.from({ length: tree.deepest }, () => []);
	const children: number[][] = Array.from({ length: size }, () => []);
	const left = new Float64Array(size);
	const roots: number[] = [];
	const name = (node: number) => tree.names[tree.frame[node]!]!;
	const larger = (a: number, b: number) => tree.total[b]! - tree.total[a]! || (name(a) < name(b) ? -1 : 1);

	for (let node = 0; node < size; node++)
		(tree.parent[node]! < 0 ? roots : children[tree.parent[node]!]!).push(node);
	place(roots.sort(larger), 0);

	function place(nodes: number[], start: number): void {
		for (const node of nodes) {
			left[node] = start;
			start += tree.total[node]!;
		}
	}
	let level = roots;

	for (let depth = 0; level.length; depth++) {
		byLevel[depth] = level;
		const next: number[] = [];

		for (const node of level) {
			const below = children[node]!.sort(larger);

			place(below, left[node]!);
			for (const child of below)
				next.push(child);
		}
		level = next;
	}
	const order = Int32Array.from(byLevel.flat());
	const levels = new Int32Array(tree.deepest + 1);

	byLevel.forEach((nodes, depth) => {
		levels[depth + 1] = levels[depth]! + nodes.length;
	});
	return { order, levels, left, firstChild: Int32Array.from(children, (nodes) => nodes[0] ?? -1) };
}
