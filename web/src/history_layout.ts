// The search history graph in layers: a column a step of the search, a row a branch. By their first parents the
// experiments are a tree, drawn without crossings; other parents are further lines.

export interface GraphNode {
	id: number;
	parent: number | null; // the first one, which has a smaller number
	parents: number[];
}

export interface Place {
	id: number;
	layer: number;
	row: number; // between its first and its last child; whole where there is none
	leaf: boolean;
}

export interface HistoryLayout {
	places: Map<number, Place>; // parents before children
	children: Map<number, number[]>; // those that are shown
	links: { from: number; to: number; first: boolean }[];
	layers: number;
	rows: number;
}

// If `shows` holds for an experiment, it must hold for its first parent.
export function layoutHistory(nodes: GraphNode[], shows: (id: number) => boolean): HistoryLayout {
	const places = new Map<number, Place>();
	const children = new Map<number, number[]>();
	const links: HistoryLayout['links'] = [];
	let layers = 0;
	let rows = 0;

	for (const { id, parent } of nodes) {
		if (!shows(id))
			continue;
		const layer = parent === null ? 0 : places.get(parent)!.layer + 1;

		places.set(id, { id, layer, row: 0, leaf: true });
		children.set(id, []);
		if (parent !== null) {
			children.get(parent)!.push(id);
			places.get(parent)!.leaf = false;
		}
		layers = Math.max(layers, layer + 1);
	}
	// Leaves get the next row, from the top; the stack holds what is still to be gone through.
	const waiting = [...places.values()].filter(({ layer }) => layer === 0).map(({ id }) => id).reverse();

	while (waiting.length) {
		const id = waiting.pop()!;

		if (places.get(id)!.leaf)
			places.get(id)!.row = rows++;
		waiting.push(...[...children.get(id)!].reverse());
	}
	for (const place of [...places.values()].reverse()) {
		const below = children.get(place.id)!;

		if (below.length)
			place.row = (places.get(below[0]!)!.row + places.get(below.at(-1)!)!.row) / 2;
	}
	for (const { id, parent, parents } of nodes)
		if (places.has(id))
			for (const from of new Set(parent === null ? parents : [parent, ...parents]))
				if (places.has(from))
					links.push({ from, to: id, first: from === parent });
	return { places, children, links, layers, rows };
}
