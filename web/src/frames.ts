// Frames: where a function belongs, and which ones say nothing about the program.

import type { MineResult, ModuleLayer } from './results';

export type Layer = ModuleLayer['layer'];
export type Own = ModuleLayer['own'];
export type FrameFacts = Pick<MineResult, 'modules' | 'plumbing' | 'waiting' | 'starting'>;

export interface Frame {
	text: string; // module!function
	module: string; // empty: unknown
	name: string;
	layer: Layer;
	own: Own; // how far it says where the program is
	plumbing: boolean; // the scheduler, the way into the kernel, the start of a program
}

// From those that say nothing about where a program is to those that say most.
const owns: Own[] = ['system', 'runtime', 'library', 'program', 'script', 'gpu'];
const says = ({ own }: { own: Own }) => owns.indexOf(own);

const cLibrary = /^(libc|libpthread|libm|librt|ld-linux.*|ld|libstdc\+\+|libgcc_s)([.-]|$)/;
const starters = new Set(['_start', '__libc_start_main', '__libc_start_call_main', '__libc_start_main_impl', 'clone',
	'clone3', '__clone', 'start_thread', 'thread_start']);

// Whether a function of the C library only starts a program or a thread.
export function isStarter({ name }: Frame): boolean {
	return starters.has(name);
}

// Turns the names of frames into frames; the same name gives the same object.
export class FrameTable {
	private modules = new Map<string, ModuleLayer>();
	private plumbing: Set<string>;
	private waiting: Set<string>;
	private starting: Set<string>;
	private known = new Map<string, Frame>();

	constructor({ modules, plumbing, waiting, starting }: FrameFacts = { modules: [], plumbing: [], waiting: [], starting: [] }) {
		for (const module of modules) {
			const namesake = this.modules.get(module.name);

			if (!namesake || says(module) > says(namesake))
				this.modules.set(module.name, module);
		}
		this.plumbing = new Set(plumbing);
		this.waiting = new Set(waiting);
		this.starting = new Set(starting);
	}

	private ownOf(text: string, name: string, own: Own): Own {
		if (this.waiting.has(text))
			return 'system';
		if (name.startsWith('[gpu] '))
			return 'gpu';
		return this.starting.has(text) && says({ own }) > says({ own: 'library' }) ? 'library' : own;
	}

	get(text: string): Frame {
		let frame = this.known.get(text);

		if (!frame) {
			const at = text.indexOf('!');
			const module = at < 0 ? '' : text.slice(0, at);
			const name = text.slice(at + 1);
			const { layer, own } = this.modules.get(module) ?? guess(module);

			frame = { text, module, name, layer, own: this.ownOf(text, name, own), plumbing: this.plumbing.has(text) || starters.has(name) };
			this.known.set(text, frame);
		}
		return frame;
	}

	list(texts: string[]): Frame[] {
		return texts.map((text) => this.get(text));
	}
}

function guess(module: string): Pick<ModuleLayer, 'layer' | 'own'> {
	if (!module)
		return { layer: 'unknown', own: 'program' };
	if (module === 'kernel')
		return { layer: 'kernel', own: 'system' };
	return /\.so(\.|$)/.test(module) ? { layer: 'library', own: cLibrary.test(module) ? 'system' : 'library' } : { layer: 'program', own: 'program' };
}

// Whether a function works for its caller: the kernel, and the C and C++ run-time libraries.
export function isMachinery(frame: Frame): boolean {
	return frame.layer === 'kernel' || cLibrary.test(frame.module);
}

// The function to look at first: the last one that says most about where the program is; where none does, the last one.
export function culprit(frames: Frame[]): Frame | undefined {
	const shown = frames.filter((frame) => !frame.plumbing);
	const most = Math.max(...shown.map(says));

	return most > says({ own: 'system' }) ? shown.filter((frame) => says(frame) === most).at(-1) : (shown.at(-1) ?? frames.at(-1));
}
