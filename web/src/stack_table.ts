// The stacks of a result that has them as numbers: each frame once, each stack its caller and its frame.
import { FrameTable } from './frames';
import type { SharedStacks } from './results';

export class StackTable {
	readonly frames: FrameTable;
	private nodes = new Map<number, { caller: number; name: string }>();
	private known = new Map<number, string[]>();

	constructor({ names, nodes, ...facts }: SharedStacks) {
		this.frames = new FrameTable(facts);
		for (let i = 0, number = 0; i < nodes.length; i += 3) {
			number += nodes[i]!;
			this.nodes.set(number, { caller: number - nodes[i + 1]!, name: names[nodes[i + 2]!]! });
		}
	}

	// The frames of a stack, root first.
	names(stack: number): string[] {
		let names = this.known.get(stack);

		if (!names) {
			const node = this.nodes.get(stack);

			names = node ? [...this.names(node.caller), node.name] : [];
			this.known.set(stack, names);
		}
		return names;
	}
}
