// Colours, read from the style sheet so that dark and light are decided in one place.
import { signal } from '@preact/signals';

import type { Frame } from './frames';

export interface Palette {
	text: string;
	dim: string;
	line: string;
	background: string;
	layers: Record<string, string>;
	match: string;
	path: string;
	onFill: string;
	states: Record<string, string>;
	heat: string[]; // from little to much
	heatText: [string, string]; // on the lower and the upper half of them
	less: string;
	same: string;
	more: string;
	clusters: string[];
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
		states: { run: colour('state-run'), wait: colour('state-wait'), queue: colour('state-queue') },
		heat: [0, 1, 2, 3, 4].map((step) => colour(`heat-${step}`)),
		heatText: [colour('heat-text-low'), colour('heat-text-high')],
		less: colour('diff-less'),
		same: colour('diff-same'),
		more: colour('diff-more'),
		clusters: [0, 1, 2, 3, 4, 5, 6, 7].map((number) => colour(`cluster-${number}`)),
	};
}

const systemDark = matchMedia('(prefers-color-scheme: dark)');
// '': as the system says.
let theme: '' | 'dark' | 'light' = '';

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
