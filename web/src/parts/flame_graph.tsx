// A flame graph on a canvas: root at the top (icicle) or at the bottom (flame). Click or Enter
// zooms into a call, Escape goes back out; arrows walk from call to call.
import { useMemo, useRef, useState } from 'preact/hooks';

import { changeColour, fillOf, palette, textOn, type Palette } from '../colours';
import { duration, percent, plural, signed } from '../format';
import type { Frame, FrameTable } from '../frames';
import { FrameName } from './frame_list';
import type { MenuPlace } from './frame_menu';
import { useDrawing } from './redraw';
import { saveSvg, svgOf, type SvgBox } from './save_picture';
import { blocks, isServed } from '../page_data';
import { go, link, linkHere, route } from '../route';
import { searchOf } from '../search';
import { layOut, stackOf, type Layout, type StackTree } from '../stack_tree';
import { STATES, type State } from '../time_states';
import { sandwichOf } from '../tree_views';

const ROW = 20;
const NARROWEST = 0.5; // pixels; what is narrower is drawn with its neighbours

interface Scene {
	tree: StackTree;
	layout: Layout;
	frames: Frame[]; // by name number
	matches: Uint8Array | null; // by name number
	focus: number; // the call that fills the width; -1: all
	hover: number;
	inverted: boolean; // the root is at the bottom
	compare: Comparison | null;
	largest: number; // change of all calls
	rows: number; // levels that are shown; those below have only narrow calls
	states: Map<string, State> | null; // frames that are states of a thread
}

// Widths are one side of a comparison (`tree.total`), colours what it takes more than the other (`tree.otherTotal`).
export interface Comparison {
	shown: string;
	other: string;
	sign: 1 | -1; // of shown minus other, to be more
}

function changeOf(scene: Scene, node: number): number {
	const { tree, compare } = scene;

	return compare && tree.otherTotal ? (tree.total[node]! - tree.otherTotal[node]!) * compare.sign : 0;
}

// The square root brings out small changes; the largest one of all has the full colour.
function fillOfChange(scene: Scene, node: number, colours: Palette): string {
	const change = changeOf(scene, node);

	return changeColour(Math.sign(change) * Math.sqrt(Math.abs(change) / (scene.largest || 1)), colours);
}

function rangeOf(scene: Scene): [number, number] {
	const { tree, layout, focus } = scene;

	return focus < 0 ? [0, tree.whole] : [layout.left[focus]!, tree.total[focus]!];
}

const SMALLEST = 0.002; // of the width: levels without a wider call are left out until one zooms in

const MAX_ROWS = 48; // before one zooms in

// How many levels have a call that is wide enough to be seen.
function shownRows(tree: StackTree, layout: Layout, focus: number): number {
	const [start, length] = focus < 0 ? [0, tree.whole] : [layout.left[focus]!, tree.total[focus]!];
	let rows = Math.min(1, tree.deepest);

	for (let node = 0; node < tree.parent.length; node++)
		if (tree.depth[node]! >= rows && tree.total[node]! >= length * SMALLEST && layout.left[node]! >= start && layout.left[node]! < start + length)
			rows = tree.depth[node]! + 1;
	return focus < 0 ? Math.min(rows, MAX_ROWS) : rows;
}

function yOf(scene: Scene, depth: number): number {
	return (scene.inverted ? scene.rows - 1 - depth : depth) * ROW;
}

// The last place in order[from..to) whose node begins at or before `x`.
function findPlace(layout: Layout, from: number, to: number, x: number): number {
	while (to - from > 1) {
		const middle = (from + to) >> 1;

		if (layout.left[layout.order[middle]!]! <= x)
			from = middle;
		else
			to = middle;
	}
	return from;
}

function nodeAt(scene: Scene, width: number, x: number, y: number): number {
	const { tree, layout } = scene;
	const [start, length] = rangeOf(scene);
	const row = Math.floor(y / ROW);
	const depth = scene.inverted ? scene.rows - 1 - row : row;
	const value = start + (x / width) * length;

	if (depth < 0 || depth >= scene.rows)
		return -1;
	const from = layout.levels[depth]!;
	const to = layout.levels[depth + 1]!;
	const node = layout.order[findPlace(layout, from, to, value)];

	if (node === undefined || value < layout.left[node]! || value >= layout.left[node]! + tree.total[node]!)
		return -1;
	return node;
}

function shorten(context: CanvasRenderingContext2D, text: string, room: number): string {
	if (context.measureText(text).width <= room)
		return text;
	const letters = Math.floor(room / context.measureText('m').width) - 1;

	return letters < 2 ? '' : `${text.slice(0, letters)}…`;
}

function drawNode(context: CanvasRenderingContext2D, scene: Scene, node: number, box: DOMRect, colours: Palette): void {
	const number = scene.tree.frame[node]!;
	const frame = scene.frames[number]!;
	const matched = scene.matches?.[number];

	context.globalAlpha = scene.matches && !matched ? 0.35 : 1;
	const state = scene.states?.get(frame.text);
	const stateFill = state && !matched && !scene.compare ? colours.times[STATES.indexOf(state)]! : '';

	context.fillStyle = stateFill || (matched ? colours.match : scene.compare ? fillOfChange(scene, node, colours) : fillOf(frame, colours));
	context.fillRect(box.x, box.y, Math.max(box.width - (box.width > 2 ? 1 : 0), NARROWEST), ROW - 1);
	if (node === scene.hover) {
		context.strokeStyle = colours.text;
		context.lineWidth = 2;
		context.strokeRect(box.x + 1, box.y + 1, Math.max(box.width - 3, 1), ROW - 3);
	}
	if (box.width > 24) {
		context.fillStyle = stateFill ? textOn(stateFill) : colours.onFill;
		context.fillText(shorten(context, frame.name, box.width - 8), Math.max(box.x, 0) + 4, box.y + ROW / 2);
	}
	context.globalAlpha = 1;
}

function draw(canvas: HTMLCanvasElement, scene: Scene, colours: Palette): void {
	const context = canvas.getContext('2d')!;
	const width = canvas.clientWidth;
	const { tree, layout } = scene;
	const [start, length] = rangeOf(scene);
	const scale = length > 0 ? width / length : 0;
	const ratio = devicePixelRatio;

	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(canvas.clientHeight * ratio);
	context.scale(ratio, ratio);
	context.font = '12px ui-monospace, monospace';
	context.textBaseline = 'middle';
	for (let depth = 0; depth < scene.rows; depth++) {
		const to = layout.levels[depth + 1]!;
		let drawn = -1; // the last pixel that was filled

		for (let at = findPlace(layout, layout.levels[depth]!, to, start); at < to; at++) {
			const node = layout.order[at]!;
			const x = (layout.left[node]! - start) * scale;
			const right = x + tree.total[node]! * scale;

			if (x > width)
				break;
			if (right < 0 || (right - x < NARROWEST && right < drawn + NARROWEST))
				continue;
			const shownLeft = Math.max(x, 0);
			const shownRight = Math.min(right, width);

			drawn = shownRight;
			drawNode(context, scene, node, new DOMRect(shownLeft, yOf(scene, depth), shownRight - shownLeft, ROW), colours);
		}
	}
}

// The same as boxes of an SVG, as wide as the canvas.
function svgBoxes(canvas: HTMLCanvasElement, scene: Scene, unit: (value: number) => string, colours: Palette): SvgBox[] {
	const context = canvas.getContext('2d')!;
	const { tree, layout } = scene;
	const [start, length] = rangeOf(scene);
	const scale = canvas.clientWidth / (length || 1);
	const boxes: SvgBox[] = [];

	for (const node of layout.order) {
		const x = Math.max((layout.left[node]! - start) * scale, 0);
		const right = Math.min((layout.left[node]! + tree.total[node]! - start) * scale, canvas.clientWidth);
		const frame = scene.frames[tree.frame[node]!]!;
		const state = scene.states?.get(frame.text);
		const fill = state && !scene.compare ? colours.times[STATES.indexOf(state)]! : scene.compare ? fillOfChange(scene, node, colours) : fillOf(frame, colours);

		if (right - x >= NARROWEST && tree.depth[node]! < scene.rows)
			boxes.push({
				x, y: yOf(scene, tree.depth[node]!), width: right - x - (right - x > 2 ? 1 : 0), height: ROW - 1, fill,
				text: right - x > 24 ? shorten(context, frame.name, right - x - 8) : '', textFill: state && !scene.compare ? textOn(fill) : colours.onFill,
				title: `${frame.text}: ${unit(tree.total[node]!)}, ${percent(tree.whole ? tree.total[node]! / tree.whole : 0)}`,
			});
	}
	return boxes;
}

function walk(scene: Scene, key: string): number {
	const { tree, layout } = scene;
	const node = scene.hover < 0 ? (scene.focus < 0 ? (layout.order[0] ?? -1) : scene.focus) : scene.hover;
	const towardsRoot = scene.inverted ? 'ArrowDown' : 'ArrowUp';

	if (scene.hover < 0 || node < 0)
		return node;
	if (key === towardsRoot)
		return tree.parent[node]! < 0 ? node : tree.parent[node]!;
	if (key === 'ArrowUp' || key === 'ArrowDown')
		return layout.firstChild[node]! < 0 || tree.depth[node]! + 1 >= scene.rows ? node : layout.firstChild[node]!;
	const from = layout.levels[tree.depth[node]!]!;
	const to = layout.levels[tree.depth[node]! + 1]!;
	const next = findPlace(layout, from, to, layout.left[node]!) + (key === 'ArrowLeft' ? -1 : 1);

	return next >= from && next < to ? layout.order[next]! : node;
}

// The share of the whole under functions that match; a match below a match counts once.
function matchedShare(tree: StackTree, matches: Uint8Array): number {
	const under = new Uint8Array(tree.parent.length);
	let sum = 0;

	for (let node = 0; node < tree.parent.length; node++) {
		const inside = tree.parent[node]! >= 0 && under[tree.parent[node]!]!;

		if (inside || !matches[tree.frame[node]!]) {
			under[node] = inside ? 1 : 0;
			continue;
		}
		under[node] = 1;
		sum += tree.total[node]!;
	}
	return tree.whole ? sum / tree.whole : 0;
}

function Details({ scene, unit }: { scene: Scene; unit: (value: number) => string }) {
	const { tree, hover } = scene;

	if (hover < 0)
		return <p class="dim flame-details">Point at a call, or press the arrow keys, to see what it costs.</p>;
	const frame = scene.frames[tree.frame[hover]!]!;

	if (scene.compare)
		return (
			<p class="flame-details" aria-live="polite">
				<bdi class="mono">{frame.text}</bdi>: <b>{signed(changeOf(scene, hover))}</b>;{' '}
				{unit(tree.total[hover]!)} in {scene.compare.shown}, {unit(tree.otherTotal?.[hover] ?? 0)} in {scene.compare.other}
			</p>
		);
	return (
		<p class="flame-details" aria-live="polite">
			<bdi class="mono">{frame.text}</bdi>: <b>{unit(tree.total[hover]!)}</b>{' '}
			({percent(tree.whole ? tree.total[hover]! / tree.whole : 0)}), of which {unit(tree.self[hover]!)} in itself
		</p>
	);
}

export interface FlameGraphProps {
	tree: StackTree;
	table: FrameTable;
	label: string;
	unit?: (value: number) => string;
	compare?: Comparison;
	states?: Map<string, State>; // frames that are states of a thread, drawn in their colours
	search?: { text: string; onSearch: (text: string) => void }; // where it is kept elsewhere
	onMenu?: (place: MenuPlace) => void; // what can be done with a function
}

interface FlameCanvasProps extends FlameGraphProps {
	rootBelow?: boolean; // at first
	onFunction: (name: string) => void; // callers and callees are wanted
}

function largestChange({ total, otherTotal }: StackTree): number {
	return otherTotal ? total.reduce((most, value, node) => Math.max(most, Math.abs(value - otherTotal[node]!)), 0) : 0;
}

function FlameCanvas({ tree, table, label, unit = duration, compare, rootBelow = false, onFunction, states, search: kept, onMenu }: FlameCanvasProps) {
	const canvas = useRef<HTMLCanvasElement>(null);
	const [zoomed, setZoomed] = useState({ tree, node: -1 });
	const [pointed, setPointed] = useState({ tree, node: -1 });
	const focus = zoomed.tree === tree ? zoomed.node : -1; // another tree has other numbers
	const hover = pointed.tree === tree ? pointed.node : -1;
	const setFocus = (node: number) => setZoomed({ tree, node });
	const setHover = (node: number) => setPointed({ tree, node });
	const [inverted, setInverted] = useState(rootBelow);
	const [own, setOwn] = useState('');
	const search = kept?.text ?? own;
	const setSearch = kept?.onSearch ?? setOwn;
	const [pointer, setPointer] = useState({ x: 0, y: 0 });
	const layout = useMemo(() => layOut(tree), [tree]);
	const frames = useMemo(() => table.list(tree.names), [tree, table]);
	const { fits, error } = useMemo(() => searchOf(search), [search]);
	const matches = useMemo(() => (fits ? Uint8Array.from(tree.names, (name) => Number(fits(name))) : null), [tree, fits]);
	const inside = focus;
	const largest = useMemo(() => largestChange(tree), [tree]);
	const rows = useMemo(() => shownRows(tree, layout, inside), [tree, inside]);
	const scene: Scene = {
		tree, layout, frames, matches, focus: inside, hover, inverted, compare: compare ?? null, largest, rows, states: states ?? null,
	};
	const colours = palette.value;

	useDrawing(canvas, (element) => draw(element, scene, colours));

	function onKey(event: KeyboardEvent): void {
		if (event.key.startsWith('Arrow'))
			setHover(walk(scene, event.key));
		else if (event.key === 'Enter' && scene.hover >= 0)
			setFocus(scene.hover);
		else if (event.key === 'Escape' || event.key === 'Backspace')
			setFocus(inside < 0 ? -1 : tree.parent[inside]!);
		else if (onMenu && scene.hover >= 0 && (event.key === 'ContextMenu' || event.key === 'm')) {
			const { left, top } = canvas.current!.getBoundingClientRect();

			onMenu({ frame: frames[tree.frame[scene.hover]!]!, x: left + 30, y: top + yOf(scene, tree.depth[scene.hover]!) + ROW });
		} else if (event.key === 'c' && scene.hover >= 0 && !event.ctrlKey && !event.metaKey)
			onFunction(tree.names[tree.frame[scene.hover]!]!);
		else
			return;
		event.preventDefault();
	}
	// To the next or the last call that is searched for, as they are drawn.
	function findNext(by: number): void {
		const { order } = layout;
		const at = scene.hover < 0 ? (by > 0 ? -1 : 0) : order.indexOf(scene.hover);

		for (let i = 1; i <= order.length; i++) {
			const node = order[(at + by * i + 2 * order.length) % order.length]!;

			if (matches![tree.frame[node]!]) {
				if (tree.depth[node]! >= rows)
					setFocus(tree.parent[node]!);
				setHover(node);
				return;
			}
		}
	}
	function atPointer(event: MouseEvent): number {
		return nodeAt(scene, canvas.current!.clientWidth, event.offsetX, event.offsetY);
	}

	return (
		<section class="flame" aria-label={label}>
			<div class="flame-bar">
				<input type="search" placeholder="Find a function" aria-label="Find a function in the graph" value={search}
					onInput={(event) => setSearch(event.currentTarget.value)} onKeyDown={(event) => event.key === 'Enter' && matches && findNext(event.shiftKey ? -1 : 1)}
					title="A text, or /a regular expression/. Enter goes to the next, Shift and Enter to the last one." />
				{matches && (
					<>
						<button type="button" aria-label="Last found" onClick={() => findNext(-1)}>‹</button>
						<button type="button" aria-label="Next found" onClick={() => findNext(1)}>›</button>
						<span aria-live="polite">{error || `${percent(matchedShare(tree, matches))} found`}</span>
					</>
				)}
				<button type="button" onClick={() => setInverted(!inverted)}>
					{inverted ? 'Root at the top' : 'Root at the bottom'}
				</button>
				<button type="button" title="Save the graph as a picture (SVG)" onClick={() => saveSvg(svgOf(svgBoxes(canvas.current!, scene, unit, colours), canvas.current!.clientWidth, rows * ROW), 'flame-graph.svg')}>SVG</button>
				{inside >= 0 && <button type="button" onClick={() => setFocus(-1)}>Show all</button>}
				{inside >= 0 && <button type="button" onClick={() => onFunction(tree.names[tree.frame[inside]!]!)}>Callers and callees</button>}
			</div>
			{/* Always a line: the graph stays where it was clicked. */}
			<p class="dim flame-focus">
				{inside >= 0 ? <>Zoomed into <bdi class="mono">{stackOf(tree, inside).at(-1)}</bdi>, {percent(tree.total[inside]! / (tree.whole || 1))} of all</> : 'A click zooms into a call.'}
			</p>
			<canvas ref={canvas} tabIndex={0} role="img" aria-label={`${label}. Arrow keys walk, Enter zooms in, Escape zooms out, c shows callers and callees.`}
				style={{ height: `${rows * ROW}px` }} onKeyDown={onKey}
				onMouseMove={(event) => (setHover(atPointer(event)), setPointer({ x: event.clientX, y: event.clientY }))} onMouseLeave={() => (setHover(-1), setPointer({ x: 0, y: 0 }))}
				onClick={(event) => setFocus(atPointer(event))}
				onContextMenu={(event) => {
					const node = atPointer(event);

					if (!onMenu || node < 0)
						return;
					event.preventDefault();
					onMenu({ frame: frames[tree.frame[node]!]!, x: event.clientX, y: event.clientY });
				}} />
			{hover >= 0 && pointer.x > 0 && (
				<div class="time-tip fixed" aria-hidden="true" style={{ left: `${Math.min(pointer.x + 14, innerWidth - 360)}px`, top: `${Math.min(pointer.y + 18, innerHeight - 70)}px` }}>
					<p><b><bdi>{frames[tree.frame[hover]!]!.name.slice(0, 120)}</bdi></b> <span class="dim">{frames[tree.frame[hover]!]!.module}</span></p>
					<p class="dim">{unit(tree.total[hover]!)}, {percent(tree.whole ? tree.total[hover]! / tree.whole : 0)}; {unit(tree.self[hover]!)} in itself</p>
				</div>
			)}
			{rows < tree.deepest && <p class="dim">{plural(tree.deepest - rows, 'deeper level')}: zoom into a call to see what is below it.</p>}
			<Details scene={scene} unit={unit} />
		</section>
	);
}

// One function: who calls it above, what it calls below.
function SandwichView({ tree, table, unit = duration, compare, name, onFunction }: FlameCanvasProps & { name: string }) {
	const sandwich = useMemo(() => sandwichOf(tree, name), [tree, name]);
	const frame = table.get(name);

	return (
		<section class="detail" aria-label="Callers and callees">
			<h2>Callers and callees of <FrameName frame={frame} /> {isServed() && blocks.value.has('annotate') && <a class="action" href={link('source', [], { function: name })}>Source</a>} <button type="button" onClick={() => onFunction('')}>Close</button></h2>
			{sandwich ? (
				<>
					<p>
						<b>{unit(sandwich.total)}</b> ({percent(tree.whole ? sandwich.total / tree.whole : 0)} of all) with what it calls, {unit(sandwich.self)} in itself.
						Above, who calls it: the next caller is one row up. Below, what it calls.
					</p>
					<FlameCanvas tree={sandwich.callers} table={table} unit={unit} compare={compare} label={`Callers of ${frame.name}`} rootBelow onFunction={onFunction} />
					<FlameCanvas tree={sandwich.callees} table={table} unit={unit} compare={compare} label={`Callees of ${frame.name}`} onFunction={onFunction} />
				</>
			) : (
				<p>It does not occur in what is shown here.</p>
			)}
		</section>
	);
}

// The graph, and callers and callees of the function that the link names.
export function FlameGraph(props: FlameGraphProps) {
	const name = route.value.query.get('function');
	const onFunction = (next: string) => go(linkHere(route.value.parts, { function: next }));

	return (
		<>
			<FlameCanvas {...props} onFunction={onFunction} />
			{name && <SandwichView {...props} name={name} onFunction={onFunction} />}
		</>
	);
}
