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

import { check, current, folder, lode, main, newContext, open, others, require, run, section, serve } from './browser.mjs';

const [pictures] = others;
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

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

function writePages() {
	writeChain();
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

async function checkView(page, name) {
	const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

	check(wide <= 0, `${name} is ${wide} pixels wider than the window`);
	// The policy forbids scripts that the page does not know; a test may all the same evaluate one.
	await page.evaluate(axe);
	const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));

	for (const { id, nodes, help } of violations)
		check(false, `${name}: ${id}: ${help}: ${nodes.slice(0, 3).map(({ html }) => html).join(' | ')}`);
	if (pictures)
		await page.screenshot({ path: join(pictures, `${current}-${name}.png`.replace(/[^\w.-]+/g, '-')) });
}

async function walkThrough(width, colours) {
	const page = await open('report.html', width, colours);

	check((await page.locator('nav a').allInnerTexts()).join() === 'Overview,Waits,CPU time,Symptoms,Latency,Flame graph', 'a view of the corpus is missing');
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
	check(/: main 1, 300ms/.test(await asked.innerText('main select')), `the symptoms that were asked for are not in the page: ${await asked.innerText('main select')}`);
	await asked.close();
	const page = await open('chain.html', 1400);

	await page.click('nav >> text=Waits');
	await page.waitForSelector('article.detail');
	const links = page.locator('article.detail table a');

	check((await links.count()) > 0, 'no example of the first cluster leads into a stream');
	await links.first().click();
	await page.waitForSelector('canvas.time-line');
	const heading = page.locator('article.detail h2');
	const places = [await page.innerText('article.detail')];
	const urls = [page.url()];

	check(/^Waited/.test(await heading.innerText()), 'the link does not select its wait');
	for (let step = 0; step < 3 && (await page.locator('text=/^Go to the w/').count()); step++) {
		await page.click('text=/^Go to the w/');
		await page.waitForFunction((before) => location.href !== before, urls.at(-1));
		places.push(await page.innerText('article.detail'));
		urls.push(page.url());
	}
	const firsts = places.map((text) => text.match(/^(Waited|Ran) \S+\s+(\w+)/)?.slice(1).join(' ')).join(', ');

	check(firsts === 'Waited main, Ran worker, Waited worker, Ran disk', `the way from waker to waker is ${firsts}`);
	await page.click('text=only this thread');
	check((await page.locator('.flame canvas').count()) === 1, 'no flame graph of the selection');
	await page.focus('.flame canvas');
	for (const key of ['ArrowDown', 'ArrowDown', 'Enter'])
		await page.keyboard.press(key);
	await page.click('text=Callers and callees');
	check((await page.locator('section[aria-label="Callers and callees"] canvas').count()) === 2, 'no callers and callees');
	await page.goBack();
	await page.goBack();
	for (let step = urls.length - 1; step > 0; step--) {
		check(page.url() === urls[step] && (await page.innerText('article.detail')) === places[step], `step ${step} is not found on the way back`);
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
	check(/^Selected time/.test(await title()), 'Shift and drag does not select');
	const first = await title();

	await page.click('text=Compare other time with this');
	await drag(0.6, 0.8);
	await page.waitForSelector('text=Width is what is selected');
	await page.focus('.flame canvas');
	await page.keyboard.press('ArrowDown');
	check(/the base, to scale/.test(await page.innerText('.flame-details >> nth=-1')), 'no differential flame graph of two spans');
	check((await title()) !== first, 'the same time is still selected');
	await checkView(page, 'compared spans');
	await page.click('text=only this symptom');
	check(/critical path/.test(await title()), 'only this symptom does not select its path');
	const other = await open(page.url(), 1400);

	await other.waitForSelector('text=Width is what is selected');
	check((await other.innerText('section h2 >> nth=-1')) === (await title()), 'a link does not lead to the selection');
	await other.close();
	await page.close();
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
		type, touchPoints: shares.map((share, id) => ({ x: box.x + 90 + (box.width - 90) * share, y: box.y + 35, id })),
	});
	const settled = async () => {
		await page.waitForTimeout(400);
		return page.innerText('section h2 >> nth=-1');
	};
	const length = (text) => parseFloat(/: ([\d.]+)ms/.exec(text)[1]);

	check(/pinch to zoom/.test(await page.innerText('main .help p')), 'the sentence does not speak of fingers');
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
	await page.touchscreen.tap(box.x + 90 + (box.width - 90) * 0.5, box.y + 35);
	await page.waitForSelector('article.detail h2');
	check(/^(Waited|Ran)/.test(await page.innerText('article.detail h2')), 'a tap opens no event');
	await checkView(page, 'touched');
	await page.close();
}

// What is new is shown for any attribute; the command for a signature works as it is.
async function overviewLeadsOn() {
	const page = await open('report.html', 1400);
	const rows = page.locator('table[aria-label=Changes] tbody tr');

	await rows.first().waitFor(); // the lower parts of the overview come when there is time
	check((await rows.count()) > 0, 'nothing is new or the same');
	check(/Running/.test(await page.innerText('section[aria-label=Processes] thead')), 'the states of processes are missing');
	await page.selectOption('select[aria-label="Since which attribute"]', 'files');
	await page.waitForFunction(() => /since=files/.test(location.href));
	const first = await page.innerText('section[aria-label="What is new"] p.dim');

	await page.selectOption('select[aria-label="Since which value"]', { index: 0 });
	check((await page.innerText('section[aria-label="What is new"] p.dim')) !== first, 'another point changes nothing');
	await page.selectOption('section[aria-label="Streams by attribute"] select', 'files');
	await page.focus('canvas.scatter');
	await page.keyboard.press('ArrowRight');
	check(/^Stream /.test(await page.innerText('.flame-details')), 'arrows do not walk the streams');
	await checkView(page, 'overview by files');
	await page.click('table[aria-label=Changes] tbody a >> nth=0');
	await page.waitForSelector('article.detail');
	await page.click('text=Make a signature');
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
	check((await rows.count()) > 0 && (await rows.count()) <= all, 'searching for a culprit does not find it');
	await page.fill('input[aria-label="Only clusters with this frame"]', 'no such function anywhere');
	check((await rows.count()) === 0, 'a name that is nowhere is found');
	await page.fill('input[aria-label="Only clusters with this frame"]', '');
	await page.click('th button >> text=Average');
	const averages = await page.locator('table[aria-label=Clusters] tbody td:last-child').allInnerTexts();
	const ns = (text) => parseFloat(text) * { h: 3600e9, m: 60e9, s: 1e9, ms: 1e6, us: 1e3, ns: 1 }[text.replace(/[\d.]+/, '')];

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
	check(/%/.test(await page.innerText('.flame-details')), 'arrows do not walk the flame graph');
	await press('Enter');
	check((await page.locator('text=Zoomed into').count()) === 1, 'Enter does not zoom');
	for (let i = 0; i < 9; i++)
		await press('Escape');
	check((await page.locator('text=Zoomed into').count()) === 0, 'Escape does not zoom out');
	await page.click('nav >> text=Overview');
	await page.focus('table[aria-label=Streams] a >> nth=0');
	await press('Enter');
	await page.waitForSelector('canvas.time-line');
	await page.focus('canvas.time-line');
	const title = () => page.innerText('section h2 >> nth=-1');
	const before = await title();

	await press('w', 'w');
	await page.waitForTimeout(400); // the flame graph follows once the view is at rest
	check((await title()) !== before, 'w does not zoom');
	await press('s', 's', 's', 's', 'ArrowRight');
	check((await page.locator('article.detail h2').count()) === 1, 'arrows do not select an event');
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
			check((await page.innerText('main')) !== before, `${name}: arrows do not walk picture ${number}`);
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

	check((await page.innerText('article.detail h2')).startsWith(`#${rank}`), 'Enter does not choose the row');
	check((await page.innerText(`table[aria-label=${table}] tr[aria-current] td >> nth=0`)) === rank, 'the row of the table is not marked');
	await page.close();
}

async function hostileNames() {
	const page = await open('hostile.html', 1400);

	for (const view of ['Overview', 'Waits', 'CPU time', 'Flame graph']) {
		await page.click(`nav >> text=${view}`);
		await page.waitForSelector('main .help');
		check(!(await page.evaluate(() => window.wrong)), `${view}: a name was taken for markup`);
		check((await page.locator('main script, main img, main b >> text=h, main i:not([class]) >> text=key').count()) === 0, `${view}: a name became an element`);
		await checkView(page, view);
		check(!(await page.locator('article >> text=/95%/').count()), `${view}: an interval of one stream`);
	}
	await page.click('nav >> text=Overview');
	await page.click('table[aria-label=Streams] a >> nth=0');
	await page.waitForSelector('canvas.time-line');
	check(!(await page.evaluate(() => window.wrong)), 'stream: a name was taken for markup');
	check((await page.title()).includes('<script>'), 'the title is not what was asked for');
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
		check((await context.cookies(place)).length === 1, 'there is no cookie');
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
	check(/The hunt goes on/.test(first) || !/goes on/.test(await sentence()), 'the page does not say that the hunt goes on');
	await saying(/(its page stays)/);
	await page.waitForFunction(() => /It ended: the time was up/.test(document.querySelector('main .help p').innerText));
	const nodes = page.locator('svg.history-graph a');

	check((await nodes.count()) > 1, 'the graph has no experiments');
	await nodes.first().focus();
	for (const key of ['ArrowDown', 'ArrowUp', 'ArrowDown', 'Enter'])
		await page.keyboard.press(key);
	await page.waitForSelector('table[aria-label=Facts]');
	check((await page.locator('table[aria-label=Facts] tr').count()) > 4, 'an experiment has no details');
	check((await nodes.nth(0).getAttribute('aria-current')) === null, 'arrow keys do not go to another experiment');
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
	await page.click('text=version=4.2 compared with version=4.1');
	await page.waitForSelector('canvas');
	await checkView(page, 'diff');
	const before = await sides();

	check(/base-where=version%3D4.1&slow-where=version%3D4.2/.test(page.url()), 'the link does not say what is compared');
	await page.click('table[aria-label=Paths] tbody a >> nth=1');
	check(/diff\/\d+\?base-where/.test(page.url()) && (await sides()) === before, 'choosing a path forgets the sides');
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
	check((await sides()) === before, 'the sides are forgotten');
	await page.click('.options summary');
	await page.fill('input[placeholder="version=4.1"] >> nth=0', 'version=0');
	await page.click('text=Analyze');
	await page.waitForSelector('[role=alert]');
	check(/no stream has 'version=0'/.test(await page.innerText('[role=alert]')), 'what the server refuses is not shown');
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
