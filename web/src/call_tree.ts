// The tree of calls that comes with a page, as a tree for flame graphs. What the page leaves out
// is a separate node, so that widths still add up.
import { plural } from './format';
import type { CallTreeItemOfTwo, CallTreeOfTwo } from './results';
import { finishTree, type StackTree } from './stack_tree';

// Of one side, or of two.
type Optional<Type, Keys extends keyof Type> = Omit<Type, Keys> & Partial<Pick<Type, Keys>>;
type Item = Optional<CallTreeItemOfTwo, 'base_whole_ns' | 'base_own_ns'>;
export type CallTree = Optional<Omit<CallTreeOfTwo, 'items'>, 'base_whole_ns' | 'base_hidden_ns'> & { items: Item[] };

class TreeMaker {
	private numbers = new Map<string, number>();
	readonly names: string[] = [];
	readonly parent: number[] = [];
	readonly frame: number[] = [];
	readonly self: number[] = [];
	readonly other: number[] = [];

	add(parent: number, name: string, self: number, other: number): number {
		let number = this.numbers.get(name);

		if (number === undefined) {
			number = this.names.push(name) - 1;
			this.numbers.set(name, number);
		}
		this.frame.push(number);
		this.self.push(self);
		this.other.push(other);
		return this.parent.push(parent) - 1;
	}

	finish(withOther: boolean): StackTree {
		const parent = Int32Array.from(this.parent);
		const frame = Int32Array.from(this.frame);
		const tree = finishTree(this.names, parent, frame, Float64Array.from(this.self));

		if (withOther)
			tree.otherTotal = finishTree(this.names, parent, frame, Float64Array.from(this.other)).total;
		return tree;
	}
}

// `side` is the one that widths show; the other one, if there is one, is compared with it.
export function treeOfCalls(calls: CallTree, side: 'slow' | 'base' = 'slow'): StackTree {
	const maker = new TreeMaker();
	const open: number[] = []; // by depth: the node of the item
	const value = (slow = 0, base = 0): [number, number] => (side === 'slow' ? [slow, base] : [base, slow]);

	for (const item of calls.items) {
		let node = item.depth > 0 ? open[item.depth - 1]! : -1;

		item.frames.forEach((name, place) => {
			const last = place === item.frames.length - 1;

			node = maker.add(node, name, ...value(last ? item.own_ns : 0, last ? item.base_own_ns : 0));
		});
		open[item.depth] = node;
		if (item.hidden)
			maker.add(node, plural(item.hidden, 'small call'), ...value(item.hidden_ns, item.base_hidden_ns));
	}
	if (calls.hidden_ns || calls.base_hidden_ns)
		maker.add(-1, 'small calls', ...value(calls.hidden_ns, calls.base_hidden_ns));
	return maker.finish(calls.base_whole_ns !== undefined);
}
