// The page in a real browser: every view opened from a file, clicked through, searched, zoomed,
// walked by keyboard, at two widths, light and dark; no error, no lack of contrast or labels.
//
//	node tests/page/run.mjs LODE MODULES [PICTURES]
//
// PICTURES: a folder that gets a picture of each view.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';

import { check, folder, lode, main, newContext, open, run, section, soon, serve } from './browser.mjs';
import { checkView } from './view_check.mjs';

// ---- data ----

// Names that want to be markup, text from right to left, or too long.
const hostile = ['<script>window.wrong=1</script>', '<img src=x onerror=window.wrong=1>', '\u202eevil\u202c', 'n'.repeat(10000), '"&\'</script>'];

function writeHostile() {
	const stack = hostile.map((name) => `app!${name}`);
	const lines = [
		{ stream: '</title><script>window.wrong=1</script>', host: '<b>h</b>', attrs: { '<i>key</i>': '<u>value</u>' } },
		{ type: 'thread', pid: 1, tid: 1, name: '<script>window.wrong=1</script>' },
		{ type: 'run', t: 0, cost: 5000000, pid: 1, tid: 1, stack },
		{ type: 'wait', t: 5000000, cost: 300000000, pid: 1, tid: 1, waker: 2, stack, waker_stack: stack },
		{ type: 'run', t: 5000000, cost: 300000000, pid: 1, tid: 2, stack },
		{ type: 'wait', t: 305000000, cost: 200000000, pid: 1, tid: 1, stack },
		{ type: 'symptom', tid: 1, t0: 0, t1: 505000000, name: '<script>window.wrong=1</script>' },
	];

	writeFileSync(join(folder, 'hostile.jsonl'), lines.map((line) => JSON.stringify(line)).join('\n') + '\n');
	run('import', '-q', 'hostile.jsonl', '-o', 'hostile');
	run('report', '-q', 'hostile', '--title', '</title><script>window.wrong=1</script>', '-o', 'hostile.html');
}

// A thread that waits for another, which waits for a third.
function writeChain() {
	const ms = 1000000;
	const lines = [
		{ stream: 'chain', host: 'h' },
		...['main', 'worker', 'disk'].map((name, place) => ({ type: 'thread', pid: 1, tid: place + 1, name })),
		{ type: 'wait', t: 0, cost: 300 * ms, pid: 1, tid: 1, waker: 2, stack: ['app!main', 'app!lock'], waker_stack: ['app!work', 'app!unlock'] },
		{ type: 'run', t: 300 * ms, cost: 20 * ms, pid: 1, tid: 1, stack: ['app!main', 'app!show'] },
		{ type: 'wait', t: 10 * ms, cost: 240 * ms, pid: 1, tid: 2, waker: 3, stack: ['app!work', 'app!read_page'], waker_stack: ['app!serve', 'app!answer'] },
		{ type: 'run', t: 250 * ms, cost: 50 * ms, pid: 1, tid: 2, stack: ['app!work', 'app!parse'] },
		{ type: 'run', t: 0, cost: 250 * ms, pid: 1, tid: 3, stack: ['app!serve', 'app!unpack'] },
		{ type: 'call', t: 290 * ms, pid: 1, tid: 2, name: 'futex', stack: ['app!work', 'app!unlock'] },
		{ type: 'symptom', tid: 1, t0: 0, t1: 320 * ms, name: 'click' },
	];

	writeFileSync(join(folder, 'chain.jsonl'), lines.map((line) => JSON.stringify(line)).join('\n') + '\n');
	run('import', '-q', 'chain.jsonl', '-o', 'chain');
	run('report', '-q', 'chain', '--scope', 'all', '-o', 'chain.html');
	run('report', '-q', 'chain', '--symptom', 'wait > 100ms', '-o', 'asked.html');
}

// Threads that wait for a lock, are preempted and run, with everything that a recording may know about it.
function writeStates() {
	const ms = 1000000;
	const stack = ['app!main', 'app!handle', 'libc.so.6!pthread_mutex_lock', 'kernel!futex_wait', 'kernel!schedule'];
	const lines = [
		{ stream: 'states', host: 'h', attrs: { 'throttled_ns /demo': 5 * ms } },
		...['ui', 'worker', 'hog'].map((name, place) => ({ type: 'thread', pid: Math.min(1 + place, 2), tid: 1 + place, name })),
		{ type: 'wait', t: 0, cost: 40 * ms, delay: 10 * ms, pid: 1, tid: 1, cpu: 0, waker: 2, object: 'lock:folder_list', holder: 2, context: 'SELECT 1', stack, waker_stack: ['app!refresh', 'app!unlock'] },
		{ type: 'run', t: 50 * ms, cost: 10 * ms, pid: 1, tid: 1, cpu: 0, stack: ['app!main', 'app!draw'] },
		{ type: 'call', name: 'preempt', t: 60 * ms, delay: 20 * ms, pid: 1, tid: 1, cpu: 0, stack: ['app!main', 'app!draw'] },
		{ type: 'run', t: 80 * ms, cost: 20 * ms, pid: 1, tid: 1, cpu: 0, stack: ['app!main', 'app!draw'] },
		{ type: 'wait', t: 100 * ms, cost: 1 * ms, pid: 1, tid: 1, cpu: 0, stack: ['app!main', 'app!poll'] },
		{ type: 'run', t: 0, cost: 40 * ms, pid: 2, tid: 2, cpu: 1, stack: ['app!main', 'app!refresh'] },
		{ type: 'wait', t: 40 * ms, cost: 60 * ms, pid: 2, tid: 2, cpu: 1, stack: ['app!main', 'app!sleep', 'kernel!hrtimer_nanosleep'], object: 'timer:sleep' },
		{ type: 'wait', t: 30 * ms, cost: 10 * ms, pid: 2, tid: 3, cpu: 0, stack: ['hog!main'] },
		{ type: 'wait', t: 50 * ms, cost: 10 * ms, pid: 2, tid: 3, cpu: 0, stack: ['hog!main'] },
		{ type: 'wait', t: 80 * ms, cost: 10 * ms, pid: 2, tid: 3, cpu: 0, stack: ['hog!main'] },
		{ type: 'symptom', tid: 1, t0: 0, t1: 100 * ms, name: 'click' },
	];

	writeFileSync(join(folder, 'states.jsonl'), lines.map((line) => JSON.stringify(line)).join('\n') + '\n');
	run('import', '-q', 'states.jsonl', '-o', 'states');
	run('report', '-q', 'states', '--scope', 'all', '-o', 'states.html');
}

// Threads that run, longer and longer, and others that do next to nothing.
function writeThreads() {
	const ms = 1000000;
	const lines = [{ stream: 'threads', host: 'h' }];

	for (let tid = 1; tid <= 34; tid++) {
		const busy = tid <= 14;

		lines.push({ type: 'thread', pid: 1, tid, name: `${busy ? 'busy' : 'idle'}-${tid}` }, { type: 'run', t: 0, cost: busy ? tid * 10 * ms : 1000, pid: 1, tid, stack: ['app!main', 'app!work'] });
	}
	writeFileSync(join(folder, 'threads.jsonl'), lines.map((line) => JSON.stringify(line)).join('\n') + '\n');
	run('import', '-q', 'threads.jsonl', '-o', 'threads');
	run('report', '-q', 'threads', '-o', 'threads.html');
}

function writePages() {
	writeChain();
	writeThreads();
	writeStates();
	run('synth', '-q', '-o', 'corpus', '--streams', '12', '--events', '4000');
	run('report', '-q', 'corpus', '--streams', '6', '-o', 'report.html');
	run('mine', '-q', 'corpus', '-o', 'mine.html');
	run('synth', '-q', '-o', 'other', '--streams', '12', '--events', '4000', '--seed', '2');
	run('latency', '-q', 'corpus', '-o', 'latency.html');
	run('diff', '-q', 'corpus', 'other', '-o', 'diff.html');
	run('scope', '-q', 'corpus', '-o', 'scope.html');
	run('info', '-q', 'corpus', '-o', 'info.html');
	const [, id] = /^cluster (\S+)/m.exec(readFileSync(join(folder, 'corpus/mined.txt'), 'utf8'));

	run('sign', '-q', 'corpus', '--from', id, '--name', '<b>known</b>');
	run('coverage', '-q', 'corpus', '-o', 'coverage.html');
	run('explain', '-q', 'corpus', '--x', 'files', '-o', 'explain.html');
	writeHostile();
}

// ---- the tests ----

async function walkThrough(width, colours) {
	const page = await open('report.html', width, colours);

	await soon(async () => (await page.locator('nav a').allInnerTexts()).join() === 'Overview,Waits,CPU time,Symptoms,Latency,Flame graph,Timeline', 'a view of the corpus is missing');
	await checkView(page, 'overview');
	await page.click('nav >> text=Waits');
	await page.waitForSelector('article.detail');
	await checkView(page, 'clusters');
	await page.click('nav >> text=CPU time');
	await page.waitForSelector('article.detail');
	await page.click('nav >> text=Flame graph');
	await page.waitForSelector('.flame canvas');
	await checkView(page, 'flame graph');
	await page.click('nav >> text=Overview');
	await page.click('table[aria-label=Streams] a >> nth=0');
	await page.waitForSelector('canvas.time-line');
	await checkView(page, 'stream');
	await page.close();
}

// From a cluster into a stream, from a wait to its waker and on, to the flame graph, a function's callers, and all the way back.
async function followACluster() {
	const asked = await open('asked.html', 1400);

	await asked.click('table[aria-label=Streams] a >> nth=0');
	await asked.waitForSelector('canvas.time-line');
	await soon(async () => /main 1, 300\sms/.test(await asked.innerText('.chip select[aria-label=Symptom]')), async () => `the symptoms that were asked for are not in the page: ${await asked.innerText('main select')}`);
	await asked.close();
	const page = await open('chain.html', 1400);

	await page.click('nav >> text=Waits');
	await page.waitForSelector('article.detail');
	const links = page.locator('article.detail table a');

	await soon(async () => (await links.count()) > 0, 'no example of the first cluster leads into a stream');
	await links.first().click();
	await page.waitForSelector('canvas.time-line');
	const heading = page.locator('article.detail h2');
	const places = [await page.innerText('article.detail')];
	const urls = [page.url()];

	await soon(async () => /^main 1 waited/.test(await heading.innerText()), 'the link does not select its wait');
	for (let step = 0; step < 3 && (await page.locator('text=/^Go to the w/').count()); step++) {
		await page.click('text=/^Go to the w/');
		await page.waitForFunction((before) => location.href !== before, urls.at(-1));
		places.push(await page.innerText('article.detail'));
		urls.push(page.url());
	}
	const firsts = places.map((text) => text.match(/^(\w+) \d+ (waited|ran)/)?.slice(1).join(' ')).join(', ');

	check(firsts === 'main waited, worker ran, worker waited, disk ran', `the way from waker to waker is ${firsts}`);
	await page.click('.time-label button.name >> text=disk');
	await soon(async () => /threads=3/.test(page.url()) && /disk 3$/.test(await page.innerText('.pane-title h2')), 'the selected thread is not the one that is shown');
	await soon(async () => (await page.locator('.flame canvas').count()) === 1, 'no flame graph of the selection');
	await page.focus('.flame canvas');
	for (const key of ['ArrowDown', 'ArrowDown', 'Enter'])
		await page.keyboard.press(key);
	await page.click('text=Callers and callees');
	await soon(async () => (await page.locator('section[aria-label="Callers and callees"] canvas').count()) === 2, 'no callers and callees');
	await page.goBack();
	await page.goBack();
	for (let step = urls.length - 1; step > 0; step--) {
		await soon(async () => page.url() === urls[step] && (await page.innerText('article.detail')) === places[step], `step ${step} is not found on the way back`);
		await page.goBack();
	}
	check(page.url() === urls[0], 'the way back does not lead to the first wait');
	await page.goBack();
	await page.waitForSelector('table[aria-label=Clusters]');
	await page.close();
}

// A link opens its moment, selection and function in a page that is opened anew; what is selected has its own graph.
async function linksAreLasting() {
	const page = await open('report.html', 1400);

	await page.click('table[aria-label=Streams] a >> nth=0');
	await page.waitForSelector('canvas.time-line');
	const box = await page.locator('canvas.time-line').boundingBox();
	const drag = async (from, to) => {
		await page.keyboard.down('Shift');
		await page.mouse.move(box.x + box.width * from, box.y + 40);
		await page.mouse.down();
		await page.mouse.move(box.x + box.width * (from + to) / 2, box.y + 40);
		await page.mouse.move(box.x + box.width * to, box.y + 40);
		await page.mouse.up();
		await page.keyboard.up('Shift');
	};
	const title = () => page.innerText('section h2 >> nth=-1');

	await drag(0.3, 0.5);
	await soon(async () => /^Selected time/.test(await title()), 'Shift and drag does not select');
	const first = await title();

	await page.click('text=Compare other time with this');
	await drag(0.6, 0.8);
	await page.waitForSelector('text=Width is what is selected');
	await page.focus('.flame canvas');
	await page.keyboard.press('ArrowDown');
	await soon(async () => /the base, to scale/.test(await page.innerText('.flame-details >> nth=-1')), 'no differential flame graph of two spans');
	await soon(async () => (await title()) !== first, 'the same time is still selected');
	await checkView(page, 'compared spans');
	await page.click('text=only this symptom');
	await soon(async () => /critical path/.test(await title()), 'only this symptom does not select its path');
	const other = await open(page.url(), 1400);

	await other.waitForSelector('text=Width is what is selected');
	await soon(async () => (await other.innerText('section h2 >> nth=-1')) === (await title()), 'a link does not lead to the selection');
	await other.close();
	await page.close();
}

// Opens the only stream of a page; gives the middle of a row and a moment on the screen.
async function openTimeLine(file, width, colours) {
	const page = await open(file, width, colours);

	await page.click('table[aria-label=Streams] a >> nth=0');
	await page.waitForSelector('canvas.time-line');
	await page.click('text=All of the stream');
	await page.waitForTimeout(300);
	const at = async (name, share) => {
		const box = await page.locator('canvas.time-line').boundingBox();
		const label = await page.locator(`.time-label .name:has-text("${name}")`).first().boundingBox();
		const left = box.width < 600 ? 96 : 190;

		return [box.x + left + (box.width - left) * share, label.y + label.height / 2];
	};

	return { page, at };
}

// The colour of the timeline at a place of the screen, beside the one that the style sheet has for a state.
const colourAt = (page, [x, y]) => page.evaluate(([left, top]) => {
	const canvas = document.querySelector('canvas.time-line');
	const box = canvas.getBoundingClientRect();
	const copy = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true });

	copy.drawImage(canvas, -Math.floor((left - box.x) * devicePixelRatio), -Math.floor((top - box.y) * devicePixelRatio));
	const [red, green, blue] = copy.getImageData(0, 0, 1, 1).data;
	const hex = `#${[red, green, blue].map((value) => value.toString(16).padStart(2, '0')).join('')}`;
	const style = getComputedStyle(document.documentElement);

	return ['running', 'ready', 'lock', 'timer', 'other', 'idle', 'work'].find((state) => style.getPropertyValue(`--time-${state}`).trim() === hex) ?? hex;
}, [x, y]);

// Every moment has the colour of its state, and words under the pointer that say why.
async function statesAreDrawn(width, colours) {
	const { page, at } = await openTimeLine('states.html', width, colours);
	const top = ([x, y]) => [x, y - 7]; // above the words in a bar
	const moments = [['ui', 0.2, 'lock'], ['ui', 0.44, 'ready'], ['ui', 0.54, 'running'], ['ui', 0.7, 'ready'], ['ui', 0.9, 'running'], ['worker', 0.2, 'running'], ['worker', 0.7, 'idle']];

	for (const [name, share, state] of moments) {
		const place = await at(name, share);
		const found = await colourAt(page, state === 'idle' ? place : top(place));

		check(found === state, `${name} at ${share} is drawn as ${found}, not as ${state}`);
	}
	if (width > 600) {
		const tip = async (name, share) => {
			await page.mouse.move(...(await at(name, share)));
			return (await page.innerText('.time-tip')).replace(/\s+/g, ' ');
		};

		await soon(async () => /ui 1 waits 40\sms for the lock folder_list in handle held by worker 2 woken by worker 2 in unlock then ready 10\sms behind hog 3 for the request SELECT 1/.test(await tip('ui', 0.2)), async () => `a wait says: ${await tip('ui', 0.2)}`);
		await soon(async () => /ui 1 is ready 20\sms but has no processor preempted in draw behind hog 3/.test(await tip('ui', 0.7)), async () => `a preemption says: ${await tip('ui', 0.7)}`);
		await soon(async () => /ui 1 runs in draw/.test(await tip('ui', 0.9)), async () => `a sample says: ${await tip('ui', 0.9)}`);
		await page.mouse.click(...(await at('ui', 0.7)));
		await soon(async () => /^ui 1 was ready 20\sms/.test(await page.innerText('article.detail')) && /behind\s+hog 3/.test(await page.innerText('article.detail')), async () => `a preemption that is clicked: ${await page.innerText('article.detail')}`);
		await page.click('.time-label.group >> text=CPU');
		await soon(async () => /CPU 0 runs hog 3/.test(await tip('CPU 0', 0.7)), async () => `a processor says: ${await tip('CPU 0', 0.7)}`);
	}
	await checkView(page, 'states');
	await page.close();
}

// Each step of the history has the part of the stream that was in view then.
async function backRestoresTheView() {
	const { page, at } = await openTimeLine('states.html', 1280);
	const viewOf = () => new URLSearchParams(page.url().split('?')[1]).get('view');
	const zoom = async (keys) => {
		await page.focus('canvas.time-line');
		for (const key of keys)
			await page.keyboard.press(key);
		await page.waitForTimeout(400);
	};

	await zoom('ww');
	const first = [viewOf(), await page.innerText('.pane-title h2')];

	await page.mouse.click(...(await at('ui', 0.5)));
	await zoom('www');
	check(viewOf() !== first[0], 'the link does not follow the zoom');
	await page.goBack();
	await page.waitForTimeout(400);
	await soon(async () => viewOf() === first[0] && (await page.innerText('.pane-title h2')) === first[1], `Back leads to ${viewOf()}, not to ${first}`);
	await page.goForward();
	await page.waitForTimeout(400);
	await soon(async () => viewOf() !== first[0] && (await page.locator('article.detail').count()) === 1, 'Forward does not lead to the selected event');
	await page.close();
}

// Threads are filtered, sorted, pinned and hidden; the link has it, and idle ones are shown when they are asked for.
async function threadsAreChosen() {
	const { page } = await openTimeLine('threads.html', 1280);
	const names = async () => (await page.locator('.time-label .name').allInnerTexts()).join();
	const tids = async () => (await page.locator('.time-label .tid').allInnerTexts()).join();
	const choose = async (label, value) => page.selectOption(`label:has-text("${label}") select`, value);

	await soon(async () => /threads 14 of 34, without idle ones/.test(await page.innerText('.time-bar')), async () => `idle threads: ${await page.innerText('.time-bar')}`);
	await page.click('text=idle and plumbing');
	await soon(async () => /threads 34 ▾/.test(await page.innerText('.time-bar')), 'idle threads are not shown');
	await page.click('text=idle and plumbing');
	await page.fill('.thread-filter', '/busy-[12]$/');
	await soon(async () => (await names()) === 'busy-2,busy-1', async () => `a filter leaves ${await names()}`);
	await soon(async () => /^Time in view: .*, 2 threads$/.test(await page.innerText('.pane-title h2')), 'the tabs are of other threads');
	await page.click('.chip-menu summary');
	await choose('Sort', 'name');
	await page.click('.chip-menu summary');
	await soon(async () => (await names()) === 'busy-1,busy-2', async () => `by name: ${await names()}`);
	await page.fill('.thread-filter', '');
	await page.hover('.time-label:has-text("busy-5")');
	await page.click('[aria-label^="Pin busy-5 "]');
	await soon(async () => (await names()).startsWith('busy-5,busy-1'), async () => `pinned: ${await names()}`);
	await page.hover('.time-label:has-text("busy-1 ")');
	await page.click('[aria-label="Hide busy-1 1"]');
	await soon(async () => !(await tids()).split(',').includes('1') && /hide=1/.test(page.url()), 'a thread is not hidden');
	const before = await names();
	const other = await open(page.url(), 1280);

	await other.waitForSelector('.time-label');
	await soon(async () => (await other.locator('.time-label .name').allInnerTexts()).join() === before, 'a link does not lead to the same rows');
	await other.close();
	await page.close();
}

// The tabs show the same selection; what is done to calls, searched for and chosen is in the link.
async function workspaceTabs() {
	const { page } = await openTimeLine('states.html', 1280);
	const rows = () => page.locator('.tree-rows .tree-row').allInnerTexts();
	const steps = [page.url()];

	for (const [tab, wanted] of [['Call tree', /draw/], ['Inverted', /waits: lock folder_list/], ['Functions', /refresh/], ['Waits and wakers', /the lock folder_list[^]*handle[^]*worker 2 in unlock/], ['Critical path', /waits for timer sleep|runs/]]) {
		await page.click(`role=tab[name="${tab}"]`);
		await soon(async () => wanted.test(await page.innerText('#pane')), async () => `${tab} shows ${await page.innerText('#pane')}`);
		await soon(async () => (await page.locator('#pane .pane-title h2').innerText()).includes('101\u202fms'), `${tab} is of another time`);
		await checkView(page, tab);
		steps.push(page.url());
	}
	await page.click('.time-label button.name >> text=worker');
	await page.click('role=tab[name="Functions"]');
	await soon(async () => !/draw/.test(await page.innerText('#pane')) && /refresh/.test(await page.innerText('#pane')), 'functions of a thread that is not selected');
	await page.click('.chip >> text=worker 2');
	await page.click('role=tab[name="Call tree"]');
	await soon(async () => (await rows()).every((row) => !/schedule/.test(row)), 'plumbing is not folded');
	await page.fill('[aria-label="Find in this tab"]', '/^app!(draw|unlock)$/');
	await page.click('[aria-label="Next found"]');
	await soon(async () => /draw/.test(await page.innerText('.tree-row.current')), 'the search does not open what it finds');
	await page.click('.tree-row.current', { button: 'right' });
	await checkView(page, 'menu of a function');
	await page.click('role=menuitem[name="Focus on function"]');
	await soon(async () => /do=f-app%21draw/.test(page.url()) && /draw/.test((await rows())[0]), 'focusing on a function does not make it the root');
	const other = await open(page.url(), 1280);

	await other.waitForSelector('.tree-row');
	await soon(async () => (await other.locator('.tree-rows .tree-row').allInnerTexts()).join() === (await rows()).join(), 'a link does not lead to the same tree');
	await other.close();
	await page.goBack();
	await soon(async () => !/do=/.test(page.url()) && (await rows()).length > 1, 'Back does not take back what was done to the calls');
	await page.click('role=tab[name="Flame graph"]');
	await page.keyboard.press('?');
	await page.waitForSelector('dialog.keys');
	await checkView(page, 'keys');
	await page.keyboard.press('Escape');
	await page.click('.time-label.group >> text=worker');
	await soon(async () => (await page.locator('.time-label .name:has-text("hog")').count()) === 0, 'a process is not closed');
	const [picture] = await Promise.all([page.waitForEvent('download'), page.click('button:has-text("SVG")')]);
	const svg = readFileSync(await picture.path(), 'utf8');

	check(/<svg /.test(svg) && /app!draw: /.test(svg) && /<rect /.test(svg), 'the flame graph is not saved');
	const [timeLine] = await Promise.all([page.waitForEvent('download'), page.click('button:has-text("PNG")')]);

	await soon(async () => readFileSync(await timeLine.path()).subarray(1, 4).toString() === 'PNG', 'the timeline is not saved');
	await page.close();
	await backRestoresTheView();
	const stranger = await open(`${steps[0].replace(/#.*/, '')}#nowhere/x`, 1280);

	await soon(async () => /no view "nowhere"/.test(await stranger.innerText('[role=alert]')), 'an unknown link does not say so');
	await stranger.close();
	const missing = await open(`${steps[0].replace(/\?.*/, '')}?at=17&tid=99`, 1280);

	await missing.waitForSelector('canvas.time-line');
	await soon(async () => /thread 99 that is not in this stream/.test(await missing.innerText('main [role=alert]')), 'a link to a missing event does not say so');
	await missing.close();
}

// Fingers on a phone: drag moves, two zoom, holding and dragging selects, a tap opens a wait.
async function byTouch() {
	const page = await open('chain.html', 400);
	const session = await page.context().newCDPSession(page);

	await page.click('table[aria-label=Streams] a >> nth=0');
	await page.waitForSelector('canvas.time-line');
	await page.locator('canvas.time-line').scrollIntoViewIfNeeded();
	const box = await page.locator('canvas.time-line').boundingBox();
	const touch = (type, ...shares) => session.send('Input.dispatchTouchEvent', {
		type, touchPoints: shares.map((share, id) => ({ x: box.x + 96 + (box.width - 96) * share, y: box.y + 35, id })),
	});
	const settled = async () => {
		await page.waitForTimeout(400);
		return page.innerText('section h2 >> nth=-1');
	};
	const length = (text) => parseFloat(/: ([\d.]+)\sms/.exec(text)[1]);

	await soon(async () => /pinch to zoom/.test(await page.innerText('.time-note')), 'the sentence does not speak of fingers');
	await touch('touchStart', 0.4, 0.6);
	for (const half of [0.15, 0.2, 0.3, 0.4])
		await touch('touchMove', 0.5 - half, 0.5 + half);
	await touch('touchEnd');
	const zoomed = await settled();

	check(Math.abs(length(zoomed) - 80) < 3, `two fingers four times as far apart show ${zoomed}, not a quarter of 320ms`);
	await touch('touchStart', 0.5);
	for (const share of [0.55, 0.65, 0.75])
		await touch('touchMove', share);
	await touch('touchEnd');
	const moved = await settled();

	check(moved !== zoomed && length(moved) === length(zoomed), `a finger moves ${zoomed} to ${moved}`);
	await touch('touchStart', 0.25);
	await page.waitForTimeout(600);
	for (const share of [0.35, 0.5, 0.75])
		await touch('touchMove', share);
	await touch('touchEnd');
	const selected = await settled();

	check(/^Selected time/.test(selected) && Math.abs(length(selected) - length(moved) / 2) < 2, `holding and dragging over half of ${moved} selects ${selected}`);
	await page.touchscreen.tap(box.x + 96 + (box.width - 96) * 0.5, box.y + 35);
	await page.waitForSelector('article.detail h2');
	await soon(async () => / (waited|ran) /.test(await page.innerText('article.detail h2')), 'a tap opens no event');
	await checkView(page, 'touched');
	await page.close();
}

// What is new is shown for any attribute; the command for a signature works as it is.
async function overviewLeadsOn() {
	const page = await open('report.html', 1400);
	const rows = page.locator('table[aria-label=Changes] tbody tr');

	await page.click('text=/^Show .* by chance/'); // the lower parts of the overview come when there is time
	await rows.first().waitFor();
	await soon(async () => (await rows.count()) > 0, 'nothing is new or the same');
	await soon(async () => /Running/.test(await page.innerText('section[aria-label=Processes] thead')), 'the states of processes are missing');
	await page.selectOption('select[aria-label="Since which attribute"]', 'files');
	await page.waitForFunction(() => /since=files/.test(location.href));
	const first = await page.innerText('section[aria-label="What is new"] p.dim');

	await page.selectOption('select[aria-label="Since which value"]', { index: 0 });
	await soon(async () => (await page.innerText('section[aria-label="What is new"] p.dim')) !== first, 'another point changes nothing');
	if (await page.locator('text=/^Show .* by chance/').count())
		await page.click('text=/^Show .* by chance/');
	await page.selectOption('section[aria-label="Streams by attribute"] select', 'files');
	await page.focus('canvas.scatter');
	await page.keyboard.press('ArrowRight');
	await soon(async () => /^Stream /.test(await page.innerText('.flame-details')), 'arrows do not walk the streams');
	await checkView(page, 'overview by files');
	await page.click('table[aria-label=Changes] tbody a >> nth=0');
	await page.waitForSelector('article.detail');
	await page.click('text=Name this bug…');
	await page.fill('article.detail label >> text=Name >> input', "it's <b>\u00e9</b> $(touch wrong)");
	const command = await page.innerText('pre.command');

	await checkView(page, 'signature');
	execFileSync('sh', ['-c', command], { cwd: folder, env: { ...process.env, PATH: `${dirname(lode)}:${process.env.PATH}` }, stdio: 'ignore' });
	check(run('signatures', 'corpus', '--json').toString().includes("it's <b>\u00e9</b> $(touch wrong)"), 'the command makes no signature of this name');
	check(!existsSync(join(folder, 'wrong')), 'a name is taken for a command');
	await page.close();
}

// The name of a cluster is that of one of its patterns; how many lack it follows.
async function clustersAreHeadedHonestly() {
	const page = await open('mine.html', 1400);
	const { clusters, patterns } = JSON.parse(run('mine', '-q', 'corpus', '--json').toString());
	const framesOf = new Map(patterns.map(({ id, frames }) => [id, frames]));
	const heads = await page.locator('table[aria-label=Clusters] tbody tr td:nth-child(2)').evaluateAll((cells) => cells.map((cell) => ({
		frame: cell.querySelector('.frame').title, others: parseInt(cell.querySelector('.other-ways')?.textContent.replace(/[^0-9]/g, '') ?? '0', 10),
	})));

	check(heads.length > 3 && heads.some(({ others }) => others > 0), 'no cluster has patterns without its culprit: nothing is tested');
	heads.forEach(({ frame, others }, place) => {
		const lacking = clusters[place].patterns.filter((id) => !framesOf.get(id).includes(frame)).length;

		check(lacking === others, `${frame}: ${lacking} patterns lack it, ${others} are reported`);
		check(lacking < clusters[place].patterns.length, `${frame}: is in no pattern of its cluster`);
	});
	await page.close();
}

async function searchAndSort() {
	const page = await open('mine.html', 1400);
	const rows = page.locator('table[aria-label=Clusters] tbody tr');
	const all = await rows.count();
	const name = await page.locator('article.detail h2 bdi').first().innerText();

	await page.fill('input[aria-label="Only clusters with this frame"]', name);
	await soon(async () => (await rows.count()) > 0 && (await rows.count()) <= all, 'searching for a culprit does not find it');
	await page.fill('input[aria-label="Only clusters with this frame"]', 'no such function anywhere');
	await soon(async () => (await rows.count()) === 0, 'a name that is nowhere is found');
	await page.fill('input[aria-label="Only clusters with this frame"]', '');
	await page.click('th button >> text=Average');
	const averages = await page.locator('table[aria-label=Clusters] tbody td:last-child').allInnerTexts();
	const ns = (text) => parseFloat(text) * { h: 3600e9, min: 60e9, s: 1e9, ms: 1e6, µs: 1e3, ns: 1 }[text.replace(/[\d.]+\s/, '')];

	check(averages.every((text, i) => !i || ns(averages[i - 1]) >= ns(text)), 'sorting by average does not sort');
	await page.close();
}

async function byKeyboard() {
	const page = await open('report.html', 1400);
	const press = async (...keys) => {
		for (const key of keys)
			await page.keyboard.press(key);
	};
	const focused = () => page.evaluate(() => document.activeElement.textContent);

	for (let i = 0; i < 10 && (await focused()) !== 'Flame graph'; i++)
		await press('Tab');
	await press('Enter');
	await page.waitForSelector('.flame canvas');
	await page.focus('.flame canvas');
	await press('ArrowDown', 'ArrowDown');
	await soon(async () => /%/.test(await page.innerText('.flame-details')), 'arrows do not walk the flame graph');
	await press('Enter');
	await soon(async () => (await page.locator('text=Zoomed into').count()) === 1, 'Enter does not zoom');
	for (let i = 0; i < 9; i++)
		await press('Escape');
	await soon(async () => (await page.locator('text=Zoomed into').count()) === 0, 'Escape does not zoom out');
	await page.click('nav >> text=Overview');
	await page.focus('table[aria-label=Streams] a >> nth=0');
	await press('Enter');
	await page.waitForSelector('canvas.time-line');
	await page.focus('canvas.time-line');
	const title = () => page.innerText('section h2 >> nth=-1');
	const before = await title();

	await press('w', 'w');
	await page.waitForTimeout(400); // the flame graph follows once the view is at rest
	await soon(async () => (await title()) !== before, 'w does not zoom');
	await press('s', 's', 's', 's', 'ArrowRight');
	await soon(async () => (await page.locator('article.detail h2').count()) === 1, 'arrows do not select an event');
	await page.close();
}

// The views of single commands: each by keyboard too.
async function singleViews(width, colours) {
	for (const name of ['latency', 'diff', 'explain', 'scope', 'info', 'coverage']) {
		const page = await open(`${name}.html`, width, colours);

		await checkView(page, name);
		for (const [number, canvas] of (await page.locator('canvas').all()).entries()) {
			const before = await page.innerText('main');

			await canvas.focus();
			await page.keyboard.press('ArrowDown');
			await soon(async () => (await page.innerText('main')) !== before, `${name}: arrows do not walk picture ${number}`);
		}
		await page.close();
	}
}

// A row of the heat map is the row of the table.
async function heatMapLeadsToARow(name, table) {
	const page = await open(`${name}.html`, 1400);

	await page.focus('canvas >> nth=0');
	for (const key of ['ArrowDown', 'ArrowDown', 'Enter'])
		await page.keyboard.press(key);
	const rank = /^#(\d+)/.exec(await page.innerText('.flame-details >> nth=0'))[1];

	await soon(async () => (await page.innerText('article.detail h2')).startsWith(`#${rank}`), 'Enter does not choose the row');
	await soon(async () => (await page.innerText(`table[aria-label=${table}] tr[aria-current] td >> nth=0`)) === rank, 'the row of the table is not marked');
	await page.close();
}

async function hostileNames() {
	const page = await open('hostile.html', 1400);

	for (const view of ['Overview', 'Waits', 'CPU time', 'Flame graph']) {
		await page.click(`nav >> text=${view}`);
		await page.waitForSelector('main .help');
		check(!(await page.evaluate(() => window.wrong)), `${view}: a name was taken for markup`);
		await soon(async () => (await page.locator('main script, main img, main b >> text=h, main i:not([class]) >> text=key').count()) === 0, `${view}: a name became an element`);
		await checkView(page, view);
		await soon(async () => !(await page.locator('article >> text=/95%/').count()), `${view}: an interval of one stream`);
	}
	await page.click('nav >> text=Overview');
	await page.click('table[aria-label=Streams] a >> nth=0');
	await page.waitForSelector('canvas.time-line');
	check(!(await page.evaluate(() => window.wrong)), 'stream: a name was taken for markup');
	await soon(async () => (await page.title()).includes('<script>'), 'the title is not what was asked for');
	await page.close();
}

// The same page from a server: blocks come when a view wants them.
async function fromAServer() {
	await serve('corpus', async (address) => {
		const page = await open(address, 1400);

		check(!/token/.test(page.url()), 'the token stays in the address');
		for (const view of ['Waits', 'Coverage', 'Symptoms', 'Latency', 'Flame graph', 'Overview']) {
			await page.click(`nav >> text=${view}`);
			await page.waitForSelector('main .help');
			await checkView(page, view);
		}
		await chooseFromThePage(page);
		await page.click('nav >> text=Overview');
		await page.click('table[aria-label=Streams] a >> nth=0');
		await page.waitForSelector('canvas.time-line');
		await page.close();
	});
}

// A page of another site, in a browser that has the server's cookie: what it asks for is refused, and changes nothing.
async function otherSites() {
	run('mine', '-q', 'corpus');
	const mined = () => readFileSync(join(folder, 'corpus/mined.txt'), 'utf8');
	const before = mined();

	await serve('corpus', async (address, { address: place }) => {
		const context = await newContext();
		const site = createServer((_, answer) => answer.end(`<!DOCTYPE html><title>other</title><img src="${place}api/mine?match=nothing"><iframe src="${place}"></iframe><a href="${place}">there</a>`));

		await new Promise((done) => site.listen(0, '127.0.0.1', done));
		await (await context.newPage()).goto(address);
		await soon(async () => (await context.cookies(place)).length === 1, 'there is no cookie');
		// A port of the same host is another origin of the same site.
		for (const host of ['localhost', '127.0.0.1']) {
			const other = await context.newPage();
			const asked = [], answered = [];

			other.on('request', (request) => request.url().startsWith(place) && asked.push(request.url()));
			other.on('response', (response) => response.url().startsWith(place) && answered.push(response.status()));
			await other.goto(`http://${host}:${site.address().port}/`, { waitUntil: 'networkidle' });
			check(asked.length === 2 && answered.every((status) => status === 403), `${host}: ${asked} were answered with ${answered}`);
			check((await other.evaluate(() => document.images[0].naturalWidth)) === 0, `${host}: an answer was shown`);
			const [visit] = await Promise.all([other.waitForResponse((response) => response.url() === place), other.click('a')]);

			check(visit.status() === 403, `${host}: a link is answered with ${visit.status()}`);
			await other.close();
		}
		check(mined() === before, 'another site has changed what was mined last');
		site.close();
		await context.close();
	});
}

// A hunt in the browser: it grows, ends, stays to be looked at, and goes with Ctrl-C.
async function servedHunt() {
	const hunt = spawn('timeout', ['--foreground', '120', lode, 'hunt', '--serve', '-d', '4s', '--', 'sh', '-c', 'while :; do :; done'], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
	const ended = new Promise((done) => hunt.once('exit', (code, signal) => done(signal ?? code)));
	let said = '';

	hunt.stderr.on('data', (text) => {
		said += text;
	});
	const saying = async (pattern) => {
		while (!pattern.test(said) && hunt.exitCode === null)
			await new Promise((wake) => setTimeout(wake, 50));
		return said.match(pattern)?.[1];
	};
	const address = await saying(/shown at (\S+)/);

	if (!address) {
		console.log(`   not hunted: ${said.trim()}`);
		return;
	}
	try {
		await watchHunt(address, saying);
	} finally {
		hunt.kill('SIGINT');
	}
	check((await ended) === 0, 'Ctrl-C does not end the server, or not well');
}

async function watchHunt(address, saying) {
	const page = await open(address, 400, 'dark');
	const sentence = () => page.innerText('main .help p');
	const first = await sentence();

	await page.waitForFunction((before) => document.querySelector('main .help p').innerText !== before, first);
	await soon(async () => /The hunt goes on/.test(first) || !/goes on/.test(await sentence()), 'the page does not say that the hunt goes on');
	await saying(/(its page stays)/);
	await page.waitForFunction(() => /It ended: the time was up/.test(document.querySelector('main .help p').innerText));
	const nodes = page.locator('svg.history-graph a');

	await soon(async () => (await nodes.count()) > 1, 'the graph has no experiments');
	await nodes.first().focus();
	for (const key of ['ArrowDown', 'ArrowUp', 'ArrowDown', 'Enter'])
		await page.keyboard.press(key);
	await page.waitForSelector('table[aria-label=Facts]');
	await soon(async () => (await page.locator('table[aria-label=Facts] tr').count()) > 4, 'an experiment has no details');
	await soon(async () => (await nodes.nth(0).getAttribute('aria-current')) === null, 'arrow keys do not go to another experiment');
	await checkView(page, 'hunt');
	await page.click('text=The same as a list');
	await page.waitForSelector('.history a');
	await page.getByLabel('all experiments').check();
	await page.getByLabel('large').setChecked(!(await page.getByLabel('large').isChecked()));
	await checkView(page, 'hunt, all experiments');
	await page.close();
}

// Types as soon as the field is there, before the next frame. Returns what is in it later.
const typeAtOnce = (page, view, field, text) => page.evaluate(([view, field, text]) => new Promise((done) => {
	new MutationObserver((_, observer) => {
		const input = document.querySelector(field);

		if (!input)
			return;
		observer.disconnect();
		input.value = text;
		input.dispatchEvent(new Event('input', { bubbles: true }));
		setTimeout(() => done(input.value), 300);
	}).observe(document.body, { childList: true, subtree: true });
	[...document.querySelectorAll('nav a')].find(({ textContent }) => textContent.includes(view)).click();
}), [view, field, text]);

// What to compare and to explain is chosen on the page, is in the link, and stays chosen; what a server refuses is shown.
async function chooseFromThePage(page) {
	const sides = () => page.innerText('main .help p');

	await page.click('nav >> text=Difference');
	await checkView(page, 'offers of diff');
	await page.click('text=Why version=4.2 is slower than version=4.1');
	await page.waitForSelector('canvas');
	await checkView(page, 'diff');
	const before = await sides();

	check(/base-where=version%3D4.1&slow-where=version%3D4.2/.test(page.url()), 'the link does not say what is compared');
	await page.click('table[aria-label=Paths] tbody a >> nth=1');
	await soon(async () => /diff\/\d+\?base-where/.test(page.url()) && (await sides()) === before, 'choosing a path forgets the sides');
	check(await typeAtOnce(page, 'Explanation', 'input[placeholder^=attributes]', 'files') === 'files', 'what is typed at once is lost');
	await page.focus('input[placeholder^=attributes]');
	await page.keyboard.press('Enter');
	await page.waitForSelector('canvas.scatter');
	await checkView(page, 'explain');
	await page.focus('canvas.scatter');
	await page.keyboard.press('ArrowRight');
	await page.click('.flame-details a');
	await page.waitForSelector('canvas.time-line');
	await page.click('nav >> text=Flame graph');
	await page.waitForSelector('table[aria-label=Functions]');
	await page.click('.options summary');
	await page.getByLabel('Only streams with').fill('version=4.2');
	await page.getByLabel('Compared with').fill('version=4.1');
	await page.keyboard.press('Enter');
	await page.waitForSelector('text=Colour is the difference');
	await page.click('table[aria-label=Functions] a >> nth=0');
	await page.waitForSelector('section[aria-label="Callers and callees"] canvas');
	await checkView(page, 'compared profiles');
	await page.click('nav >> text=Difference');
	await page.waitForSelector('canvas');
	await soon(async () => (await sides()) === before, 'the sides are forgotten');
	await page.click('.options summary');
	await page.fill('input[placeholder="version=4.1"] >> nth=0', 'version=0');
	await page.click('text=Analyse');
	await page.waitForSelector('[role=alert]');
	await soon(async () => /no stream has 'version=0'/.test(await page.innerText('[role=alert]')), 'what the server refuses is not shown');
}

await main(async () => {
	writePages();
	await section('views at 1400 pixels', () => walkThrough(1400, 'light'));
	await section('views at 400 pixels, dark', () => walkThrough(400, 'dark'));
	await section('single views at 1400 pixels', () => singleViews(1400, 'light'));
	await section('single views at 400 pixels, dark', () => singleViews(400, 'dark'));
	await section('from the heat map to a context', () => heatMapLeadsToARow('latency', 'Contexts'));
	await section('from the heat map to a path', () => heatMapLeadsToARow('diff', 'Paths'));
	await section('from a cluster to a waker and back', followACluster);
	await section('links are lasting', linksAreLasting);
	await section('states are drawn and explained', () => statesAreDrawn(1400, 'light'));
	await section('states at 400 pixels, dark', () => statesAreDrawn(400, 'dark'));
	await section('tabs of the workspace', workspaceTabs);
	await section('threads are chosen', threadsAreChosen);
	await section('by touch', byTouch);
	await section('from the overview to a signature', overviewLeadsOn);
	await section('clusters are headed honestly', clustersAreHeadedHonestly);
	await section('search and sort', searchAndSort);
	await section('keyboard alone', byKeyboard);
	await section('hostile names', hostileNames);
	await section('from a server', fromAServer);
	await section('pages of other sites', otherSites);
	await section('a hunt that is served', servedHunt);
});
