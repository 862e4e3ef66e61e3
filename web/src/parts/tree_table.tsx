// A tree of calls as a table whose rows open: with what each call takes, in itself and with what it calls. Only the rows on
// screen are in the page, so that a tree of any size can be opened.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { duration, percent } from '../format';
import type { FrameTable } from '../frames';
import type { Search } from '../search';
import { layOut, type StackTree } from '../stack_tree';
import type { State } from '../time_states';
import { Bar } from './bar';
import type { MenuPlace } from './frame_menu';

const ROW = 24;
const BEYOND = 8; // rows above and below the screen

interface TreeTableProps {
	tree: StackTree;
	table: FrameTable;
	label: string;
	states: Map<string, State>; // of frames that are causes of waits
	search: Search;
	step: { by: number; count: number }; // the search goes on each time that `count` changes
	onMenu: (place: MenuPlace) => void;
}

// The children of each call, the costliest first.
function childrenOf(tree: StackTree): { roots: number[]; children: Map<number, number[]> } {
	const { order } = layOut(tree);
	const children = new Map<number, number[]>();
	const roots: number[] = [];

	for (const node of order) {
		const parent = tree.parent[node]!;

		if (parent < 0)
			roots.push(node);
		else
			children.get(parent)?.push(node) ?? children.set(parent, [node]);
	}
	return { roots, children };
}

// The costliest path is open at first, as far as it is nearly all of its caller.
function openAtFirst(tree: StackTree, roots: number[], children: Map<number, number[]>): Set<number> {
	const open = new Set<number>();

	for (let node = roots[0]; node !== undefined; node = children.get(node)?.[0]) {
		open.add(node);
		if (!(tree.total[children.get(node)?.[0] ?? -1]! > tree.total[node]! * 0.5))
			break;
	}
	return open;
}

export function TreeTable({ tree, table, label, states, search, step, onMenu }: TreeTableProps) {
	const box = useRef<HTMLDivElement>(null);
	const [scroll, setScroll] = useState(0);
	const { roots, children } = useMemo(() => childrenOf(tree), [tree]);
	const [opened, setOpened] = useState<{ tree: StackTree; nodes: Set<number> } | null>(null);
	const open = useMemo(() => (opened?.tree === tree ? opened.nodes : openAtFirst(tree, roots, children)), [tree, opened]);
	const [chosen, setChosen] = useState({ tree, node: -1 });
	const current = chosen.tree === tree ? chosen.node : -1;
	const rows = useMemo(() => {
		const list: number[] = [];
		const visit = (node: number) => {
			list.push(node);
			if (open.has(node))
				children.get(node)?.forEach(visit);
		};

		roots.forEach(visit);
		return list;
	}, [tree, open]);
	const height = box.current?.clientHeight || 400;
	const first = Math.max(Math.floor(scroll / ROW) - BEYOND, 0);
	const end = Math.min(Math.ceil((scroll + height) / ROW) + BEYOND, rows.length);
	const fits = search.fits;

	function setOpen(node: number, to: boolean): void {
		const next = new Set(open);

		if (to)
			next.add(node);
		else
			next.delete(node);
		setOpened({ tree, nodes: next });
	}
	function choose(node: number): void {
		setChosen({ tree, node });
		const row = rows.indexOf(node);
		const element = box.current;

		if (element && row >= 0 && (row * ROW < element.scrollTop || (row + 2) * ROW > element.scrollTop + element.clientHeight))
			element.scrollTop = row * ROW - element.clientHeight / 2;
	}
	// To the next or the last call that is searched for, open or not.
	useEffect(() => {
		if (!step.count || !fits)
			return;
		const all: number[] = [];
		const visit = (node: number) => {
			all.push(node);
			children.get(node)?.forEach(visit);
		};

		roots.forEach(visit);
		for (let i = 1, at = all.indexOf(current); i <= all.length; i++) {
			const node = all[(at + step.by * i + all.length * 2) % all.length]!;

			if (!fits(tree.names[tree.frame[node]!]!))
				continue;
			const next = new Set(open);

			for (let above = tree.parent[node]!; above >= 0; above = tree.parent[above]!)
				next.add(above);
			setOpened({ tree, nodes: next });
			setChosen({ tree, node });
			return;
		}
	}, [step.count]);
	useEffect(() => {
		if (current >= 0)
			choose(current);
	}, [rows]);
	function onKey(event: KeyboardEvent): void {
		const at = rows.indexOf(current);
		const node = current;
		const keys: Record<string, () => void> = {
			ArrowDown: () => choose(rows[Math.min(at + 1, rows.length - 1)]!),
			ArrowUp: () => choose(rows[Math.max(at - 1, 0)]!),
			ArrowRight: () => (open.has(node) ? choose(children.get(node)?.[0] ?? node) : setOpen(node, true)),
			ArrowLeft: () => (open.has(node) && children.has(node) ? setOpen(node, false) : tree.parent[node]! >= 0 && choose(tree.parent[node]!)),
			'*': () => setOpened({ tree, nodes: new Set([...open, ...below(node)]) }),
			Enter: () => node >= 0 && menuAt(node, box.current!.getBoundingClientRect()),
		};

		if (!keys[event.key] || event.ctrlKey || event.metaKey)
			return;
		keys[event.key]!();
		event.preventDefault();
	}
	function below(node: number): number[] {
		return node < 0 ? [] : [node, ...(children.get(node) ?? []).flatMap(below)];
	}
	function menuAt(node: number, { x, y }: { x: number; y: number }): void {
		onMenu({ frame: table.get(tree.names[tree.frame[node]!]!), x: x + 40, y: y + 20 });
	}

	return (
		<div class="tree-table" role="treegrid" aria-label={label} aria-rowcount={rows.length + 1}>
			<div class="tree-row tree-head" role="row"><span role="columnheader" class="number">Total</span><span role="columnheader" class="number">In itself</span><span role="columnheader">Function</span></div>
			<div ref={box} class="tree-rows" role="rowgroup" tabIndex={0} onKeyDown={onKey} onScroll={(event) => setScroll(event.currentTarget.scrollTop)}>
				<div role="presentation" style={{ height: `${rows.length * ROW}px`, position: 'relative' }}>
					{rows.slice(first, end).map((node, place) => {
						const frame = table.get(tree.names[tree.frame[node]!]!);
						const state = states.get(frame.text);
						const leaf = !children.has(node);

						return (
							<div key={node} class={`tree-row${node === current ? ' current' : ''}${fits?.(frame.text) ? ' found' : ''}`} role="row" aria-level={tree.depth[node]! + 1}
								aria-expanded={leaf ? undefined : open.has(node)} aria-selected={node === current} style={{ top: `${(first + place) * ROW}px` }}
								onClick={() => setChosen({ tree, node })} onDblClick={() => setOpen(node, !open.has(node))}
								onContextMenu={(event) => (event.preventDefault(), setChosen({ tree, node }), onMenu({ frame, x: event.clientX, y: event.clientY }))}>
								<span role="gridcell" class="number tree-share"><Bar share={tree.total[node]! / (tree.whole || 1)} /><span>{percent(tree.total[node]! / (tree.whole || 1))}</span><span>{duration(tree.total[node]!)}</span></span>
								<span role="gridcell" class="number">{tree.self[node]! > 0 ? duration(tree.self[node]!) : '—'}</span>
								<span role="gridcell" class="tree-name" style={{ paddingLeft: `calc(${Math.min(tree.depth[node]!, 40)} * var(--tree-step))` }}>
									{leaf ? <i class="fold" /> : <button type="button" class="fold" tabIndex={-1} aria-label={open.has(node) ? 'Close' : 'Open'} onClick={(event) => (event.stopPropagation(), setOpen(node, !open.has(node)))}>{open.has(node) ? '▾' : '▸'}</button>}
									{state ? <i class="time-state" style={{ background: `var(--time-${state})` }} /> : <i class={`layer ${frame.layer.replace('-', '')}`} />}
									<bdi class="mono">{frame.name.slice(0, 200)}</bdi> {frame.module && <bdi class="dim">{frame.module}</bdi>}
								</span>
							</div>
						);
					})}
				</div>
			</div>
		</div>
	);
}
