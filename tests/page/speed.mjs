// How fast the page is, in a real browser: printed, and judged only where it is far off, since machines differ.
//
//	node tests/page/speed.mjs LODE MODULES
//
// A timeline of a million events, and the first view of a corpus of a thousand streams, from a file and from a
// server.
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { check, folder, main, open, run, section, serve } from './browser.mjs';

const FAR_OFF = 20; // times what it should be

const round = (value) => Math.round(value * 10) / 10;
const share = (sorted, part) => sorted[Math.min(Math.floor(sorted.length * part), sorted.length - 1)];

function tell(what, value, unit, wanted) {
	console.log(`   ${what}: ${round(value)} ${unit}${wanted ? ` (wanted: under ${wanted})` : ''}`);
	check(!wanted || value < wanted * FAR_OFF, `${what}: ${round(value)} ${unit}, wanted under ${wanted}`);
}

// From one animation frame to the next, with a key for each: what a person sees.
async function framesOf(page, keys) {
	return page.evaluate(async (row) => {
		const canvas = document.querySelector('canvas.time-line');
		const frame = () => new Promise(requestAnimationFrame);
		const frames = [];
		let last = await frame();

		for (const key of row) {
			canvas.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
			const now = await frame();

			frames.push(now - last);
			last = now;
		}
		return frames;
	}, keys);
}

const times = (count, keys) => Array.from({ length: count }, () => keys).join('').split('');

// CPU time of the page's main thread, in ms: what neighbours on the machine do not change.
async function cpuMeter(page) {
	const session = await page.context().newCDPSession(page);

	await session.send('Performance.enable', { timeDomain: 'threadTicks' });
	return async () => (await session.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'ThreadTime').value * 1000;
}

async function lookAround(page, what) {
	const cpu = await cpuMeter(page);
	const frames = [];

	await page.click('text=All of the stream');
	if (await page.locator('text=Show all').count())
		await page.click('text=Show all');
	await page.waitForTimeout(500);
	const before = await cpu();

	for (const keys of [times(20, 'ws'), times(3, 'w'), times(20, 'da'), times(8, 'w'), times(20, 'da'), times(6, 'w'), times(20, 'da'), times(17, 's')])
		frames.push(...(await framesOf(page, keys)));
	const work = (await cpu()) - before;

	frames.sort((a, b) => a - b);
	const under = frames.filter((frame) => frame < 33.4).length / frames.length;

	console.log(`   ${what}: ${frames.length} frames, median ${round(share(frames, 0.5))} ms, ${round(under * 100)}% under 33 ms, the slowest ${round(frames.at(-1))} ms; ${round(work / frames.length)} ms of CPU time each`);
	tell(`${what}: 95% of frames`, share(frames, 0.95), 'ms', 33);
}

// From a move of the pointer to the picture of what is under it, in ms of CPU time and of a clock.
async function hoverAround(page, what) {
	const box = await page.locator('canvas.time-line').boundingBox();
	const cpu = await cpuMeter(page);
	const before = await cpu();
	const moves = await page.evaluate(async ({ width, height }) => {
		const canvas = document.querySelector('canvas.time-line');
		const { x, y } = canvas.getBoundingClientRect();
		const took = [];

		for (let i = 0; i < 200; i++) {
			const place = { clientX: x + 200 + ((i * 37) % (width - 220)), clientY: y + 40 + ((i * 11) % (height - 60)), bubbles: true, pointerType: 'mouse' };
			const begin = performance.now();

			canvas.dispatchEvent(new PointerEvent('pointermove', place));
			await new Promise((done) => setTimeout(done)); // what is shown is drawn in a task of its own
			took.push(performance.now() - begin);
		}
		return took.sort((a, b) => a - b);
	}, box);

	tell(`${what}: CPU time of a move of the pointer`, ((await cpu()) - before) / moves.length, 'ms');
	tell(`${what}: 95% of moves`, share(moves, 0.95), 'ms', 16);
}

async function timed(work) {
	const begin = performance.now();
	const result = await work();

	return [performance.now() - begin, result];
}

// When elements were first drawn, in ms since the page was asked for, as the page itself sees it.
function noteDrawings(selectors) {
	window.drawn = {};
	const look = () => {
		for (const [name, selector] of Object.entries(selectors))
			if (!(name in window.drawn) && document.querySelector(selector)) {
				window.drawn[name] = null;
				requestAnimationFrame(() => setTimeout(() => (window.drawn[name] = performance.now())));
			}
	};

	new MutationObserver(look).observe(document, { childList: true, subtree: true });
}

// The time to the first view, what of it is CPU time of the page, and the time to all of the overview.
async function firstView(what, place) {
	let cpu;
	const page = await open(place, 1400, 'light', async (empty) => {
		cpu = await cpuMeter(empty);
		await empty.addInitScript(noteDrawings, { sentence: 'main .help', findings: '.finding', streams: 'table[aria-label=Streams]' });
	});
	const work = await cpu();

	await page.waitForFunction(() => window.drawn.findings && window.drawn.streams, undefined, { timeout: 180_000 });
	const drawn = await page.evaluate(() => window.drawn);

	tell(what, drawn.sentence, 'ms', 1000);
	tell(`${what}, with its findings`, drawn.findings, 'ms');
	tell(`${what}, with its streams`, drawn.streams, 'ms');
	tell(`${what}, CPU time of the page until then`, work, 'ms');
	return page;
}

async function openStream(page) {
	const [ms] = await timed(async () => {
		await page.click('table[aria-label=Streams] a >> nth=0');
		await page.waitForSelector('canvas.time-line');
	});

	return ms;
}

async function aMillionEvents() {
	run('synth', '-q', '-o', 'million', '--streams', '1', '--events', '1000000', '--symptoms', '3');
	run('report', '-q', 'million', '-o', 'million.html');
	tell('report of a million events', statSync(join(folder, 'million.html')).size / 1e6, 'MB');
	const page = await firstView('its first view', 'million.html');

	tell('its timeline opens', await openStream(page), 'ms');
	await lookAround(page, 'timeline of a million events');
	await hoverAround(page, 'timeline of a million events');
	await page.close();
	await serve('million', async (address) => {
		const served = await open(address, 1400);

		tell('its timeline opens from a server', await openStream(served), 'ms');
		await served.close();
	});
}


// Processes of ten threads that run, wait for locks and are preempted.
async function aThousandThreads() {
	const lines = [{ stream: 'threads', host: 'h' }];

	for (let tid = 1; tid <= 1000; tid++) {
		const pid = tid - (tid % 10) + 1;

		lines.push({ type: 'thread', pid, tid, name: `worker ${tid % 7}` });
		for (let i = 0; i < 100; i++) {
			const t = i * 10_000_000 + (tid % 100) * 70_000;

			lines.push({ type: 'run', t, cost: 1_000_000, pid, tid, cpu: tid % 8, stack: ['app!main', `app!step_${tid % 13}`] },
				{ type: 'wait', t: t + 1_000_000, cost: 4_000_000, delay: 500_000, pid, tid, cpu: tid % 8, waker: 1 + ((tid + 1) % 1000), object: `lock:${tid % 5}`, stack: ['app!main', 'app!lock'] },
				{ type: 'call', name: 'preempt', t: t + 7_000_000, delay: 1_000_000, pid, tid, cpu: tid % 8, stack: ['app!main'] });
		}
	}
	writeFileSync(join(folder, 'threads.jsonl'), lines.map((line) => JSON.stringify(line)).join('\n') + '\n');
	run('import', '-q', 'threads.jsonl', '-o', 'threads');
	run('report', '-q', 'threads', '-o', 'threads.html');
	const page = await open('threads.html', 1400);

	tell('the timeline of a thousand threads opens', await openStream(page), 'ms', 2000);
	await lookAround(page, 'timeline of a thousand threads');
	await hoverAround(page, 'timeline of a thousand threads');
	await page.close();
}

async function aThousandStreams() {
	run('synth', '-q', '-o', 'thousand', '--streams', '1000', '--events', '200');
	run('report', '-q', 'thousand', '-o', 'thousand.html');
	tell('report of a thousand streams', statSync(join(folder, 'thousand.html')).size / 1e6, 'MB');
	await (await firstView('its first view', 'thousand.html')).close();
	await serve('thousand', async (address) => {
		await (await firstView('first view from a server', address)).close();
		await (await firstView('the same again', address)).close();
	});
}

await main(async () => {
	await section('a stream of a million events', aMillionEvents);
	await section('a stream of a thousand threads', aThousandThreads);
	await section('a corpus of a thousand streams', aThousandStreams);
});
