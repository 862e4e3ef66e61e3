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
	};
}

export const palette = signal<Palette>(readPalette());

const dark = matchMedia('(prefers-color-scheme: dark)');

dark.addEventListener('change', () => {
	palette.value = readPalette();
});

// '': as the system says.
export type Theme = '' | 'dark' | 'light';

export const theme = signal<Theme>('');

export function setTheme(next: Theme): void {
	theme.value = next;
	if (next)
		document.documentElement.dataset.theme = next;
	else
		delete document.documentElement.dataset.theme;
	palette.value = readPalette();
}

export function isDark(): boolean {
	return theme.value === 'dark' || (theme.value === '' && dark.matches);
}

export function fillOf(frame: Frame, colours: Palette): string {
	return colours.layers[frame.layer] ?? colours.layers.unknown!;
}
