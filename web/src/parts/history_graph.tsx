// The search history graph of a hunt: hypotheses about the whole program at the left, what refines them to the
// right. Arrow keys go from experiment to experiment, Enter opens one.
import { useEffect, useMemo, useRef } from 'preact/hooks';

import { layoutHistory, type GraphNode, type HistoryLayout, type Place } from '../history_layout';
import type { HuntExperiment } from '../results';

export type State = HuntExperiment['state'];

export interface HistoryNode extends GraphNode {
	state: State;
	name: string; // what it adds to its parent
	where: string; // the function, where the name is that of a thread or an object
	value: string;
	says: string; // all of it, for the ear and the mouse
	hidden: number; // experiments below it that are not shown
}

interface HistoryGraphProps {
	nodes: HistoryNode[];
	shows: (id: number) => boolean;
	chosen: number;
	linkTo: (id: number) => string;
	large: boolean;
}

// Distances in pixels; the names of the hypotheses are at the left.
const sizes = {
	small: { column: 24, row: 18, left: 190, right: 460 },
	large: { column: 250, row: 44, left: 12, right: 240 },
};
type Size = (typeof sizes)['small'];

const BOX = { width: 220, height: 36 };
const TOP = 14;

function cut(text: string, most: number): string {
	return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

// A function without its module, which the details have.
function shortName(name: string): string {
	return name.slice(name.indexOf('!') + 1);
}

function leafName({ name, where }: HistoryNode): string {
	return where ? `${cut(shortName(where), 28)}, ${name}` : shortName(name);
}

function Mark({ state, x, y }: { state: State; x: number; y: number }) {
	if (state === 'impossible')
		return <path class="mark impossible" d={`M${x - 4} ${y - 4}l8 8m0 -8l-8 8`} />;
	return (
		<>
			<circle class={`mark ${state}`} cx={x} cy={y} r={state === 'never-run' ? 2 : 5} />
			{state === 'deferred' && <path class="mark half" d={`M${x} ${y - 5}a5 5 0 0 1 0 10z`} />}
		</>
	);
}

interface NodeProps {
	node: HistoryNode;
	place: Place;
	size: Size;
}

function SmallNode({ node, place, size }: NodeProps) {
	const x = size.left + place.layer * size.column;
	const y = TOP + place.row * size.row;
	const more = node.hidden > 0 ? ` +${node.hidden}` : '';

	return (
		<>
			<Mark state={node.state} x={x} y={y} />
			{place.layer === 0 && <text x={x - 10} y={y} text-anchor="end">{cut(node.name, 26)}</text>}
			{place.leaf && <text x={x + 10} y={y}>{place.layer > 0 && cut(leafName(node), 50)} {node.value}<tspan class="dim">{more}</tspan></text>}
		</>
	);
}

function LargeNode({ node, place, size }: NodeProps) {
	const x = size.left + place.layer * size.column;
	const y = TOP + place.row * size.row;
	const more = node.hidden > 0 ? ` +${node.hidden} not shown` : '';

	return (
		<>
			<rect class={`box ${node.state}`} x={x} y={y - 10} width={BOX.width} height={BOX.height} rx="4" />
			<Mark state={node.state} x={x + 12} y={y} />
			<text x={x + 23} y={y}>{cut(shortName(node.name), 27)}</text>
			<text x={x + 23} y={y + 15} class="dim">{cut(`${node.value}${more}`, 29)}</text>
		</>
	);
}

function linkPath(from: Place, to: Place, size: Size, large: boolean): string {
	const x0 = size.left + from.layer * size.column + (large ? BOX.width : 5);
	const x1 = size.left + to.layer * size.column - (large ? 0 : 5);
	const y0 = TOP + from.row * size.row + (large ? 8 : 0);
	const y1 = TOP + to.row * size.row + (large ? 8 : 0);
	const bend = Math.max((x1 - x0) / 2, 10);

	return `M${x0} ${y0}C${x0 + bend} ${y0} ${x1 - bend} ${y1} ${x1} ${y1}`;
}

// The experiments from a root to this one.
function lineage(nodes: HistoryNode[], id: number): Set<number> {
	const line = new Set<number>();

	for (let at: number | null = nodes[id] ? id : null; at !== null; at = nodes[at]!.parent)
		line.add(at);
	return line;
}

// Where an arrow key leads: to the parent, the first child, or the next experiment of the column.
function neighbour({ places, children }: HistoryLayout, nodes: HistoryNode[], id: number, key: string): number | undefined {
	const here = places.get(id)!;

	if (key === 'ArrowLeft')
		return nodes[id]!.parent ?? undefined;
	if (key === 'ArrowRight')
		return children.get(id)![0];
	const column = [...places.values()].filter(({ layer, row }) => layer === here.layer && (key === 'ArrowDown' ? row > here.row : row < here.row));

	return column.sort((a, b) => Math.abs(a.row - here.row) - Math.abs(b.row - here.row))[0]?.id;
}

export function HistoryGraph({ nodes, shows, chosen, linkTo, large }: HistoryGraphProps) {
	const svg = useRef<SVGSVGElement>(null);
	const layout = useMemo(() => layoutHistory(nodes, shows), [nodes, shows]);
	const size = large ? sizes.large : sizes.small;
	const width = size.left + (layout.layers - 1) * size.column + size.right;
	const height = TOP * 2 + Math.max(layout.rows - 1, 0) * size.row + (large ? 20 : 0);
	const line = useMemo(() => lineage(nodes, chosen), [nodes, chosen]);
	const Node = large ? LargeNode : SmallNode;
	const isOnLine = ({ from, to }: { from: number; to: number }) => line.has(from) && line.has(to);

	useEffect(() => {
		svg.current!.querySelector(`[data-experiment="${chosen}"]`)?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
	}, [chosen, large]);
	function onKey(event: KeyboardEvent): void {
		const id = Number((event.target as Element).getAttribute('data-experiment') ?? NaN);
		const next = /^Arrow/.test(event.key) && layout.places.has(id) ? neighbour(layout, nodes, id, event.key) : undefined;

		if (next === undefined)
			return;
		svg.current!.querySelector<SVGElement>(`[data-experiment="${next}"]`)?.focus();
		event.preventDefault();
	}

	return (
		<div class="graph-box">
			<svg ref={svg} class="history-graph" role="group" aria-label={`Search history graph: ${layout.places.size} experiments. Arrow keys go from one to the next.`}
				width={width} height={height} onKeyDown={onKey}>
				{layout.links.map((each) => (
					<path key={`${each.from}-${each.to}`} class={`link${each.first ? '' : ' further'}${isOnLine(each) ? ' chosen' : ''}`}
						d={linkPath(layout.places.get(each.from)!, layout.places.get(each.to)!, size, large)} />
				))}
				{[...layout.places.values()].map((place) => {
					const node = nodes[place.id]!;

					return (
						<a key={place.id} data-experiment={place.id} href={linkTo(place.id)} class={place.id === chosen ? 'chosen' : undefined}
							aria-current={place.id === chosen ? 'true' : undefined}>
							<title>{node.says}</title>
							<Node node={node} place={place} size={size} />
						</a>
					);
				})}
			</svg>
		</div>
	);
}
