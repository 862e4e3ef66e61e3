// The data of a page: blocks by name, packed into the file by `lode ... -o X.html`,
// or fetched from `lode serve` under the same names.
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';

import { Columns } from './columns';
import type { ErrorAnswer, ProgressAnswer } from './results';

export interface PageIndex {
	title: string;
	version: string;
	// The address that names of blocks are appended to; absent: the blocks are in the file.
	api?: string;
	symptom?: string; // the rule to ask with at first
	blocks: string[]; // that can be fetched
}

let pageIndex: PageIndex | null = null;

// Whether a server answers; without one all data is in the page.
export function isServed(): boolean {
	return pageIndex?.api !== undefined;
}

// The names of all blocks, for views that link to others. The data of a file follows the script: at first only
// the first block is there, and `complete` says when all are.
export const blocks = signal<Set<string>>(new Set());
export const complete = signal(false);

const BLOCK = 'script[data-block]';

// A block in the file, once the browser has read it to its end.
function blockElement(name: string): Promise<HTMLElement | null> {
	return until(() => {
		const element = document.querySelector<HTMLElement>(`${BLOCK}[data-block="${CSS.escape(name)}"]`);

		return element?.nextSibling || document.readyState !== 'loading' ? { element } : null;
	}).then(({ element }) => element);
}

// Looks again as the browser reads on.
function until<Found>(look: () => Found | null): Promise<Found> {
	return new Promise((done) => {
		const found = look();

		if (found) {
			done(found);
			return;
		}
		const again = () => {
			const later = look();

			if (!later)
				return;
			observer.disconnect();
			document.removeEventListener('readystatechange', again);
			done(later);
		};
		const observer = new MutationObserver(again);

		observer.observe(document.body, { childList: true });
		document.addEventListener('readystatechange', again);
	});
}

function noteBlocks(fetched: string[]): void {
	const elements = [...document.querySelectorAll<HTMLElement>(BLOCK)];

	complete.value = document.readyState !== 'loading';
	blocks.value = new Set([...fetched, ...elements.map((element) => element.dataset.block!)]);
}

export function readIndex(): PageIndex {
	const text = document.getElementById('lode-page')?.textContent;

	if (!text)
		throw new Error('This file holds no data: it was not written to its end.');
	const index = JSON.parse(text) as PageIndex;

	pageIndex = index;
	noteBlocks(index.blocks);
	if (!complete.value) {
		void until(() => document.querySelector(BLOCK)).then(() => noteBlocks(index.blocks));
		document.addEventListener('DOMContentLoaded', () => noteBlocks(index.blocks));
	}
	return index;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
	const binary = atob(text.trim());
	const bytes = new Uint8Array(binary.length);

	for (let i = 0; i < binary.length; i++)
		bytes[i] = binary.charCodeAt(i);
	return bytes;
}

async function unpack(text: string): Promise<ArrayBuffer> {
	const stream = new Blob([fromBase64(text)]).stream().pipeThrough(new DecompressionStream('deflate'));

	return new Response(stream).arrayBuffer();
}

// How far the analysis behind a block is, by the block's name; gone when it is done.
export interface Progress {
	phase: string;
	done: number;
	total: number; // 0: not known
	cancel: () => void;
}

export const running = signal<Map<string, Progress>>(new Map());

function tellProgress(name: string, progress: Progress | null): void {
	const next = new Map(running.value);

	if (progress)
		next.set(name, progress);
	else
		next.delete(name);
	running.value = next;
}

// Why a server gave no result. Another try helps only where the machine failed or was busy, not where the question was wrong.
class Refused extends Error {
	constructor(sentence: string, readonly mayPass: boolean) {
		super(sentence);
	}
}

// Without an answer at all, too, the next one may come.
export function mayPass(error: Error): boolean {
	return error instanceof Refused ? error.mayPass : error instanceof TypeError;
}

const FIRST_WAIT = 25; // ms; what is quick is shown at once
const LONGEST_WAIT = 200;

// The server answers 202 as long as the analysis runs.
async function fetchBlock(address: string, name: string): Promise<ArrayBuffer> {
	try {
		for (let wait = FIRST_WAIT; ; wait = Math.min(wait * 1.5, LONGEST_WAIT)) {
			const answer = await fetch(address);

			if (answer.status === 200)
				return await answer.arrayBuffer();
			const said = (await answer.json()) as ProgressAnswer & Partial<ErrorAnswer>;

			if (answer.status !== 202)
				throw new Refused(said.error ?? answer.statusText, answer.status >= 500);
			tellProgress(name, { ...said, cancel: () => void fetch(address, { method: 'DELETE' }) });
			await new Promise((wake) => setTimeout(wake, wait));
		}
	} finally {
		tellProgress(name, null);
	}
}

// Asks the server to change something; fails with its sentence. Browsers say which page a request comes from, and the server
// refuses those of other sites.
export async function post(name: string, values: Record<string, string>, body: string): Promise<void> {
	const answer = await fetch(`${pageIndex!.api}${name}?${new URLSearchParams(values)}`, { method: 'POST', body });

	if (!answer.ok)
		throw new Error(((await answer.json()) as ErrorAnswer).error);
}

const loaded = new Map<string, Promise<unknown>>();

// How often the corpus was found to have changed; what depends on it is asked for again.
export const generation = signal(0);

// What a server says of streams is asked anew; streams themselves never change.
export function refresh(streamIds: string[]): void {
	for (const name of loaded.keys())
		if (!name.startsWith('stream/'))
			loaded.delete(name);
	blocks.value = new Set([...blocks.value, ...streamIds.map((id) => `stream/${id}`)]);
	generation.value++;
}

// Past what is kept.
export function readAgain<Result>(name: string): Promise<Result> {
	loaded.delete(name);
	return readBlock(pageIndex!, name, 'json') as Promise<Result>;
}

async function loadBytes(index: PageIndex, name: string): Promise<ArrayBuffer> {
	if (index.api !== undefined)
		return fetchBlock(index.api + name, name);
	const element = await blockElement(name);

	if (!element)
		throw new Error(`There is no "${name}" in this file.`);
	return unpack(element.textContent ?? '');
}

async function loadJson(index: PageIndex, name: string): Promise<unknown> {
	return JSON.parse(new TextDecoder().decode(await loadBytes(index, name)));
}

// Columns in a file lack what all of them share; a server's are complete.
async function loadColumns(index: PageIndex, name: string): Promise<Columns<object>> {
	const shared = index.api === undefined && name !== 'stacks' ? ((await readBlock(index, 'stacks', 'columns')) as Columns<object>) : null;

	return new Columns<object>(await loadBytes(index, name), shared);
}

// A block, as JSON or as columns; read once.
export function readBlock(index: PageIndex, name: string, form: 'json' | 'columns'): Promise<unknown> {
	let promise = loaded.get(name);

	if (!promise) {
		promise = form === 'json' ? loadJson(index, name) : loadColumns(index, name);
		loaded.set(name, promise);
		promise.catch(() => loaded.delete(name)); // another try may go better
	}
	return promise;
}

export interface Loading {
	result?: unknown;
	error?: string;
}

// A block for a part of a view, once `wanted`; neither result nor error: not there yet.
export function useBlock(name: string, wanted = true, form: 'json' | 'columns' = 'json'): Loading {
	const [state, setState] = useState<Loading & { name: string }>({ name });

	useEffect(() => {
		if (wanted && pageIndex)
			readBlock(pageIndex, name, form).then((result) => setState({ name, result }), (error: Error) => setState({ name, error: error.message }));
	}, [name, wanted, generation.value]);
	return state.name === name ? state : {};
}
