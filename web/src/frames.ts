// Frames: where a function belongs, and which ones say nothing about the program.

import type { ModuleLayer } from './results';

export type Layer = ModuleLayer['layer'];

export interface Frame {
	text: string; // module!function
	module: string; // empty: unknown
	name: string;
	layer: Layer;
	plumbing: boolean; // the scheduler, the way into the kernel, the start of a program
}

const cLibrary = /^(libc|libpthread|libm|librt|ld-linux.*|ld|libstdc\+\+|libgcc_s)([.-]|$)/;
const starters = new Set(['_start', '__libc_start_main', '__libc_start_call_main', '__libc_start_main_impl', 'clone',
	'clone3', '__clone', 'start_thread', 'thread_start']);

// Turns the names of frames into frames; the same name gives the same object.
export class FrameTable {
	private layers = new Map<string, Layer>();
	private plumbing: Set<string>;
	private known = new Map<string, Frame>();

	constructor(modules: ModuleLayer[] = [], plumbing: string[] = []) {
		for (const module of modules)
			this.layers.set(module.name, module.layer);
		this.plumbing = new Set(plumbing);
	}

	get(text: string): Frame {
		let frame = this.known.get(text);

		if (!frame) {
			const at = text.indexOf('!');
			const module = at < 0 ? '' : text.slice(0, at);
			const name = text.slice(at + 1);
			const layer = this.layers.get(module) ?? guessLayer(module);

			frame = { text, module, name, layer, plumbing: this.plumbing.has(text) || starters.has(name) };
			this.known.set(text, frame);
		}
		return frame;
	}

	list(texts: string[]): Frame[] {
		return texts.map((text) => this.get(text));
	}
}

function guessLayer(module: string): Layer {
	if (!module)
		return 'unknown';
	if (module === 'kernel')
		return 'kernel';
	return /\.so(\.|$)/.test(module) ? 'library' : 'program';
}

// Whether a function works for its caller: the kernel, and the C and C++ run-time libraries.
export function isMachinery(frame: Frame): boolean {
	return frame.layer === 'kernel' || cLibrary.test(frame.module);
}

// The function to look at first: the last one of the program itself before libraries and the
// kernel; where there is none, the last one that is not machinery; else the last one.
export function culprit(frames: Frame[]): Frame | undefined {
	const firstKernel = frames.findIndex((frame) => frame.layer === 'kernel');
	const user = (firstKernel < 0 ? frames : frames.slice(0, firstKernel)).filter((frame) => !frame.plumbing);

	return (
		user.filter((frame) => frame.layer === 'program' || frame.layer === 'jit' || frame.layer === 'plug-in').at(-1) ??
		user.filter((frame) => !isMachinery(frame)).at(-1) ??
		frames.filter((frame) => !frame.plumbing).at(-1) ??
		frames.at(-1)
	);
}
