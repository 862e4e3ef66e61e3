// Trees of calls made simpler: by functions that are focused on, merged into their callers or dropped, by recursion and
// modules that are collapsed, and upside down. They are applied one after the other and are part of the link.
import { finishTree, type StackTree } from './stack_tree';
import { PairTree } from './tree_views';

export const transformNames = {
	focus: 'Focus on function',
	merge: 'Merge function into its callers',
	drop: 'Drop samples with function',
	recursion: 'Collapse recursion',
	module: 'Collapse module',
} as const;

export type TransformKind = keyof typeof transformNames;

export interface Transform {
	kind: TransformKind;
	name: string; // a frame, `module!function`; of `module`: the module
}

const letters: Record<TransformKind, string> = { focus: 'f', merge: 'm', drop: 'd', recursion: 'r', module: 'o' };
const kindsByLetter = Object.fromEntries(Object.entries(letters).map(([kind, letter]) => [letter, kind])) as Record<string, TransformKind>;

// `f-app!main~m-app!lock`, with % for what would end a part.
export function transformsText(transforms: Transform[]): string {
	return transforms.map(({ kind, name }) => `${letters[kind]}-${name.replace(/[%~]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`)}`).join('~');
}

export function transformsOf(text: string | null): Transform[] {
	return (text ?? '').split('~').flatMap((part) => {
		const kind = kindsByLetter[part[0] ?? ''];

		return kind && part[1] === '-' ? [{ kind, name: part.slice(2).replace(/%(25|7e)/g, (_, code: string) => String.fromCharCode(parseInt(code, 16))) }] : [];
	});
}

const LEFT_OUT = -2;
const ROOT = -1;

// Where each node goes in the new tree: its node there, ROOT for what has no caller left, or LEFT_OUT.
type Placing = (node: number, parent: number, made: PairTree) => number;

// Without calls that have lost all their time.
function pruned(tree: StackTree): StackTree {
	const kept = [...tree.parent.keys()].filter((node) => tree.total[node]! > 0);
	const numbers = new Int32Array(tree.parent.length).fill(-1);

	if (kept.length === tree.parent.length)
		return tree;
	kept.forEach((node, number) => (numbers[node] = number));
	return finishTree(tree.names, Int32Array.from(kept, (node) => (tree.parent[node]! < 0 ? -1 : numbers[tree.parent[node]!]!)),
		Int32Array.from(kept, (node) => tree.frame[node]!), Float64Array.from(kept, (node) => tree.self[node]!));
}

function rebuilt(tree: StackTree, names: string[], place: Placing): StackTree {
	const made = new PairTree(names);
	const to = new Int32Array(tree.parent.length);

	for (let node = 0; node < to.length; node++) {
		const parent = tree.parent[node]! < 0 ? ROOT : to[tree.parent[node]!]!;

		to[node] = place(node, parent, made);
		if (to[node] === LEFT_OUT || !(tree.self[node]! > 0))
			continue;
		// What has lost all its frames keeps its last one, so that its time is not lost.
		made.add(to[node] === ROOT ? made.child(ROOT, tree.frame[node]!) : to[node]!, tree.self[node]!, 0);
	}
	return pruned(made.finish(false));
}

// Frames that fit go; their time is their callers'.
export function mergeFrames(tree: StackTree, fits: (name: string) => boolean): StackTree {
	const gone = tree.names.map(fits);

	return rebuilt(tree, tree.names, (node, parent, made) => (gone[tree.frame[node]!] ? parent : made.child(parent, tree.frame[node]!)));
}

function focused(tree: StackTree, frame: number): StackTree {
	return rebuilt(tree, tree.names, (node, parent, made) => {
		const inside = tree.parent[node]! >= 0 && parent !== LEFT_OUT;

		return inside ? made.child(parent, tree.frame[node]!) : tree.frame[node] === frame ? made.child(ROOT, frame) : LEFT_OUT;
	});
}

function dropped(tree: StackTree, frame: number): StackTree {
	return rebuilt(tree, tree.names, (node, parent, made) => (parent === LEFT_OUT || tree.frame[node] === frame ? LEFT_OUT : made.child(parent, tree.frame[node]!)));
}

// A call of the function within a call of it is the outer one; what lies between goes.
function withoutRecursion(tree: StackTree, frame: number): StackTree {
	const outer = new Int32Array(tree.parent.length).fill(-1); // the outermost call of it that a node is in
	const inner = new Map<number, number>(); // of that: the new node

	return rebuilt(tree, tree.names, (node, parent, made) => {
		const above = tree.parent[node]!;

		outer[node] = above >= 0 ? outer[above]! : -1;
		if (tree.frame[node] !== frame)
			return made.child(parent, tree.frame[node]!);
		if (outer[node]! >= 0)
			return inner.get(outer[node]!)!;
		outer[node] = node;
		inner.set(node, made.child(parent, frame));
		return inner.get(node)!;
	});
}

function withoutModule(tree: StackTree, module: string): StackTree {
	const isIn = tree.names.map((name) => name === module || name.startsWith(`${module}!`)); // it may have been collapsed before
	const known = tree.names.indexOf(module);
	const names = known < 0 ? [...tree.names, module] : tree.names;
	const frame = known < 0 ? names.length - 1 : known;

	return rebuilt(tree, names, (node, parent, made) => {
		if (!isIn[tree.frame[node]!])
			return made.child(parent, tree.frame[node]!);
		return tree.parent[node]! >= 0 && isIn[tree.frame[tree.parent[node]!]!] ? parent : made.child(parent, frame);
	});
}

// Leaves become roots: the callers of each function are below it.
export function invertedTree(tree: StackTree): StackTree {
	const made = new PairTree(tree.names);

	for (let node = 0; node < tree.parent.length; node++) {
		if (!(tree.self[node]! > 0))
			continue;
		let at = ROOT;

		for (let above = node; above >= 0; above = tree.parent[above]!)
			at = made.child(at, tree.frame[above]!);
		made.add(at, tree.self[node]!, 0);
	}
	return made.finish(false);
}

export function transformed(tree: StackTree, transforms: Transform[]): StackTree {
	for (const { kind, name } of transforms) {
		const frame = tree.names.indexOf(name);

		if (kind === 'module')
			tree = withoutModule(tree, name);
		else if (kind === 'focus')
			tree = focused(tree, frame);
		else if (frame < 0)
			continue;
		else if (kind === 'merge')
			tree = mergeFrames(tree, (each) => each === name);
		else
			tree = kind === 'drop' ? dropped(tree, frame) : withoutRecursion(tree, frame);
	}
	return tree;
}
