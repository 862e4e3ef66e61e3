// Colours, read from the style sheet so that dark and light are decided in one place.
import { signal } from '@preact/signals';

import type { Frame } from './frames';
import { STATES } from './time_states';

export interface Palette {
	text: string;
	dim: string;
	line: string;
	background: string;
	layers: Record<string, string>;
	match: string;
	path: string;
	onFill: string;
	states: Record<string, string>; // by state of a thread; "run", "wait" and "queue" are those of timelines
	onState: Record<string, string>; // text on them
	times: string[]; // by state of time_states.ts
	accent: string;
	heat: string[]; // from little to much
	heatText: [string, string]; // on the lower and the upper half of them
	less: string;
	same: string;
	more: string;
	clusters: string[];
}

// As results name them, in the order in which bars show them.
export const threadStates = ['running', 'ready', 'lock', 'gil', 'reply', 'disk', 'page', 'network', 'timer', 'child', 'gpu', 'other', 'work', 'idle', 'not_recorded'] as const;

const soft = new Set<string>(['ready', 'timer', 'other']);
const pale = new Set<string>(['work', 'idle', 'not_recorded']);

// The style sheet's name of the colour of words on a state.
function wordsOn(state: string): string {
	return pale.has(state) ? 'on-idle' : soft.has(state) ? 'on-soft' : 'on-state';
}

function readPalette(): Palette {
	const style = getComputedStyle(document.documentElement);
	const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();

	return {
		text: colour('text'),
		dim: colour('dim'),
		line: colour('line'),
		background: colour('background'),
		match: colour('match'),
		path: colour('path'),
		onFill: colour('on-fill'),
		layers: {
			program: colour('layer-program'),
			jit: colour('layer-jit'),
			library: colour('layer-library'),
			'plug-in': colour('layer-plugin'),
			kernel: colour('layer-kernel'),
			unknown: colour('layer-unknown'),
		},
		states: Object.fromEntries([...threadStates, 'run', 'wait', 'queue'].map((state) => [state, colour(`state-${state}`)])),
		onState: Object.fromEntries(threadStates.map((state) => [state, colour(wordsOn(state))])),
		times: STATES.map((state) => colour(`time-${state}`)),
		accent: colour('time-path'),
		heat: [0, 1, 2, 3, 4].map((step) => colour(`heat-${step}`)),
		heatText: [colour('heat-text-low'), colour('heat-text-high')],
		less: colour('diff-less'),
		same: colour('diff-same'),
		more: colour('diff-more'),
		clusters: [0, 1, 2, 3, 4, 5, 6, 7].map((number) => colour(`cluster-${number}`)),
	};
}

const systemDark = matchMedia('(prefers-color-scheme: dark)');
// As the link says; '': as the system does.
let theme = (/[?&]theme=(dark|light)\b/.exec(location.hash)?.[1] ?? '') as '' | 'dark' | 'light';

export function isDark(): boolean {
	return theme === 'dark' || (theme === '' && systemDark.matches);
}

// The style sheet follows the attribute alone, so that it has each palette once.
function applyTheme(): Palette {
	document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
	return readPalette();
}

export const palette = signal<Palette>(applyTheme());

systemDark.addEventListener('change', () => {
	palette.value = applyTheme();
});

export function toggleTheme(): void {
	theme = isDark() ? 'light' : 'dark';
	palette.value = applyTheme();
}

export function fillOf(frame: Frame, colours: Palette): string {
	return colours.layers[frame.layer] ?? colours.layers.unknown!;
}

export function channels(colour: string): number[] {
	return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

function luminance(colour: string): number {
	const [red, green, blue] = channels(colour).map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4)) as [number, number, number];

	return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

// How well two colours can be told apart, from 1 to 21, as WCAG defines it.
export function contrast(a: string, b: string): number {
	const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];

	return (high + 0.05) / (low + 0.05);
}

const DARK_TEXT = '#121316';
const LIGHT_TEXT = '#ffffff';

// The colour of words on a fill.
export function textOn(fill: string): string {
	return contrast(fill, LIGHT_TEXT) >= 4.5 ? LIGHT_TEXT : DARK_TEXT;
}

function mix(from: string, to: string, share: number): string {
	const a = channels(from);
	const b = channels(to);

	return `rgb(${a.map((value, i) => Math.round(value + (b[i]! - value) * share)).join(',')})`;
}

// `level` from 0 to 1.
export function heatColour(level: number, { heat }: Palette): string {
	const place = Math.min(Math.max(level, 0), 1) * (heat.length - 1);
	const step = Math.min(Math.floor(place), heat.length - 2);

	return mix(heat[step]!, heat[step + 1]!, place - step);
}

// From -1, less, over 0, the same, to 1, more.
export function changeColour(change: number, colours: Palette): string {
	return mix(colours.same, change < 0 ? colours.less : colours.more, Math.min(Math.abs(change), 1));
}

export function clusterColour(cluster: number, { clusters }: Palette): string {
	return clusters[cluster % clusters.length]!;
}
