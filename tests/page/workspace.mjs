// What makes the page a workspace, in a real browser: finding anything from the header, two streams on one axis, questions in
// SQL, signatures that are made here, a corpus that grows meanwhile.
//
//	node tests/page/workspace.mjs LODE MODULES [PICTURES]
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { check, folder, main, open, run, section, serve, soon } from './browser.mjs';
import { checkView } from './view_check.mjs';

const ms = 1000000;

// A thread waits for a lock while its holder waits for the disk: `wait` ms of each 100. Times of streams differ.
function linesOf(stream, start, wait) {
	const lines = [{ stream, host: 'h', attrs: { wait } }, { type: 'thread', pid: 1, tid: 1, name: 'ui' }, { type: 'thread', pid: 1, tid: 2, name: 'indexer' }];

	for (let i = 0; i < 5; i++) {
		const t = start + i * 100 * ms;

		lines.push(
			{ type: 'wait', t, cost: wait * ms, pid: 1, tid: 1, waker: 2, object: 'lock:folder_list', holder: 2, stack: ['app!main', 'app!lock_list'], waker_stack: ['app!refresh', 'app!unlock'] },
			{ type: 'run', t: t + wait * ms, cost: 10 * ms, pid: 1, tid: 1, stack: ['app!main', 'app!draw'] },
			{ type: 'wait', t, cost: (wait - 1) * ms, pid: 1, tid: 2, object: 'disk:sda', stack: ['app!refresh', 'app!fetch', 'kernel!io_schedule'] },
			{ type: 'symptom', tid: 1, t0: t, t1: t + (wait + 10) * ms, name: 'click' },
		);
	}
	return lines;
}

function importLines(name, lines) {
	writeFileSync(join(folder, `${name}.jsonl`), lines.map((line) => JSON.stringify(line)).join('\n') + '\n');
	run('import', '-q', `${name}.jsonl`, '-o', 'clicks');
}

function writeClicks() {
	importLines('slow', linesOf('slow', 0, 60));
	importLines('fast', linesOf('fast', 7 * ms, 20));
	run('report', '-q', 'clicks', '-o', 'clicks.html');
}

// Types it into the field that finds anything; what is found then must hold `expected`.
async function find(page, text, expected, what) {
	await page.keyboard.press('/');
	await page.keyboard.type(text);
	await soon(
		async () => (await page.locator('#found').allInnerTexts()).join().split('\n').some((line) => expected.test(line)),
		async () => `${what}: ${await page.locator('#found').allInnerTexts()}`,
	);
}

// A function, a stream and a finding, by keyboard alone.
async function anythingIsFound() {
	const page = await open('clicks.html', 1280);

	await find(page, 'fetch', /^function fetch app/, 'a function is not found');
	await checkView(page, 'found');
	await page.keyboard.press('Escape');
	await page.locator('.finder input').fill('');
	await page.locator('.finder input').blur();
	await find(page, '/^slow$/', /^stream slow/, 'a stream is not found by an expression');
	await page.keyboard.press('Enter');
	await page.waitForSelector('canvas.time-line');
	check(/^slow on/.test(await page.locator('.time-bar select >> nth=0 >> option:checked').innerText()), `Enter leads to ${page.url()}`);
	await page.goBack();
	await page.waitForSelector('.findings');
	await find(page, 'folder_list', /^finding ui waits/, 'a finding is not found');
	await page.keyboard.press('Enter');
	await page.waitForSelector('.finding[aria-current]');
	await find(page, 'no such thing', /Nothing has such a name/, 'it does not say that nothing is found');
	await page.close();
}

// Both begin where their longest symptoms do; the tabs compare them; a click in the other makes it the first.
async function twoStreamsAreBesideEachOther() {
	const page = await open('clicks.html', 1280);

	await page.click('table[aria-label=Streams] a >> text=slow');
	await page.waitForSelector('canvas.time-line');
	await page.selectOption('.chip:has-text("beside") select', { label: 'fast on h' });
	await page.waitForSelector('section[aria-label="The other stream"] canvas.time-line');
	check((await page.locator('canvas.time-line').count()) === 2 && /beside=/.test(page.url()), 'there is one timeline');
	await soon(
		async () => /its longest symptom begins: 30\sms beside 70\sms/.test(await page.innerText('.beside-name >> nth=-1')),
		async () => `it says ${await page.innerText('.beside-name >> nth=-1')}`,
	);
	await soon(async () => /difference from fast/.test(await page.innerText('#pane')), 'the flame graph does not compare them');
	await checkView(page, 'beside');
	const box = await page.locator('section[aria-label="The other stream"] canvas.time-line').boundingBox();
	// 15 ms after both symptoms began ui waits for the lock in both.
	const [t0, t1] = await page.evaluate(() => [...document.querySelectorAll('canvas.time-line')].map((canvas) => canvas.getAttribute('aria-label'))).then(([first]) => /from ([\d.]+)\s\ws to ([\d.]+)\sms/.exec(first).slice(1).map(Number));
	const label = await page.locator('.time-labels >> nth=0').evaluate((element) => element.clientWidth);

	await page.mouse.click(box.x + label + ((15 - t0) / (t1 - t0)) * (box.width - label), box.y + 26 + 12);
	await page.waitForSelector('article.detail');
	await soon(async () => /ui 1 waited 20\sms/.test(await page.innerText('article.detail h2')), async () => `a click in the other selects ${await page.innerText('article.detail h2')}`);
	await soon(async () => /turned=1/.test(page.url()) && /fast/.test(await page.innerText('.beside-name >> nth=-1')), 'the streams change places');
	await page.goBack();
	await page.waitForFunction(() => !/turned/.test(location.href));
	await page.close();
}

// What is typed is completed; the answer is a table; the link has the question; what is wrong is said.
async function questionsAreAsked(address) {
	const page = await open(address, 1280);

	check((await page.locator('header nav').evaluate((nav) => nav.clientHeight)) < 40, 'the views are not in one line');
	await page.click('nav >> text=Query');
	await page.fill('textarea', '');
	await page.focus('textarea');
	await page.keyboard.type('SELECT name, wa');
	await page.waitForSelector('.offered li');
	await soon(async () => (await page.locator('.offered li').allInnerTexts()).some((text) => /^waits/.test(text)), 'a column is not offered');
	await page.keyboard.type('its, run_ns FROM stre');
	await soon(async () => (await page.locator('.offered li').allInnerTexts()).some((text) => /^streams/.test(text)), 'a table is not offered');
	await page.keyboard.press('Tab');
	check((await page.inputValue('textarea')) === 'SELECT name, waits, run_ns FROM streams', `completed: ${await page.inputValue('textarea')}`);
	await page.keyboard.type(' ORDER BY name');
	await page.keyboard.press('Control+Enter');
	await page.waitForSelector('table[aria-label=Answer]');
	const cells = (await page.locator('table[aria-label=Answer] tbody td').allInnerTexts()).join('|').replace(/\s/g, ' ');

	check(cells === '1|fast|10|50 ms|2|slow|10|50 ms', `the answer is ${cells}`);
	await checkView(page, 'query');
	const other = await open(`${address}${new URL(page.url()).hash}`, 1280);

	await other.waitForSelector('table[aria-label=Answer]');
	check(/ORDER BY name$/.test(await other.inputValue('textarea')), 'a link does not ask the same');
	await other.close();
	await page.fill('textarea', 'SELECT nothing FROM streams');
	await page.click('text=Ask >> nth=-1');
	await page.waitForSelector('[role=alert]');
	check(/nothing/.test(await page.innerText('[role=alert]')), 'what is wrong is not said');
	await page.close();
}

// A signature is saved to the file of patterns, counts at once, and its state is changed; others cannot do that.
async function signaturesAreMade(address) {
	const page = await open(address, 1280);
	const file = () => readFileSync(join(folder, 'clicks/signatures.txt'), 'utf8');

	await page.click('nav >> text=Waits');
	await page.click('text=Name this bug…');
	await page.fill('label:has-text("Name") input', 'slow fetch');
	await page.fill('label:has-text("Bug") input', 'https://bugs.example/1');
	await page.fill('label:has-text("Note") input', 'only while the mail is refreshed');
	await page.click('button:has-text("Save")');
	await page.waitForSelector('text=is known from now on');
	check(/^signature slow fetch$/m.test(file()) && /^bug https:\/\/bugs.example\/1$/m.test(file()) && /^\tapp!/m.test(file()), `saved: ${file()}`);
	await checkView(page, 'named');
	await page.click('a:has-text("Coverage") >> nth=-1');
	await page.waitForSelector('table[aria-label=Signatures]');
	await page.selectOption('[aria-label="State of slow fetch"]', 'fixed');
	await soon(() => /^state fixed$/m.test(file()), () => `its state: ${file()}`);
	await page.waitForFunction(() => document.querySelector('[aria-label="State of slow fetch"]')?.value === 'fixed');
	check(/^note \d{4}-\d\d-\d\d: only while the mail is refreshed$/m.test(file()), `its note: ${file()}`);
	await page.click('text=Add a note…');
	await page.fill('[aria-label="Note on slow fetch"]', 'the disk of <b>one</b> host');
	await page.keyboard.press('Enter');
	await page.waitForSelector('.notes p:has-text("the disk of <b>one</b> host")');
	check((await page.locator('.notes p').allInnerTexts()).length === 3 && /^note [-\d]+: the disk of <b>one<\/b> host$/m.test(file()), `another note: ${file()}`);
	await checkView(page, 'notes');
	const refused = await page.evaluate(async () => (await fetch('api/sign?name=slow%20fetch&state=gone', { method: 'POST' })).status);

	check(refused === 422, `a wrong state is answered with ${refused}`);
	await page.close();
	const before = file();
	const base = new URL(address).origin;

	check((await fetch(`${base}/api/sign?name=x&bug=y`, { method: 'POST', body: 'pattern\n\tapp!main\n' })).status === 401, 'a stranger may sign');
	const token = new URL(address).searchParams.get('token');
	const status = (await fetch(`${base}/api/sign?name=x`, { method: 'POST', body: 'pattern\n\tapp!main\n', headers: { Authorization: `Bearer ${token}`, Origin: 'https://evil.example' } })).status;

	check(status === 403 && file() === before, `a page of another site gets ${status}`);
}

const script = 'def work():\n\tfor item in range(3):\n\t\tdraw(item)\n\twait()\n\n\ndef draw(item):\n\tpass\n';

// A thread runs 30 ms in line 3, 10 ms in line 2, and waits 5 ms in line 4 of a script that lies in the folder `sources`.
function writeScript() {
	const events = [
		{ stream: 'script', host: 'h' },
		{ type: 'thread', pid: 7, tid: 7, name: 'job' },
		{ type: 'module', name: 'job.py', path: '/srv/app/job.py' },
		{ type: 'run', t: 0, cost: 30 * ms, pid: 7, tid: 7, stack: ['job.py!work:3', 'job.py!draw:8'] },
		{ type: 'run', t: 30 * ms, cost: 10 * ms, pid: 7, tid: 7, stack: ['job.py!work:2'] },
		{ type: 'wait', t: 40 * ms, cost: 5 * ms, pid: 7, tid: 7, stack: ['job.py!work:4', 'libc.so.6!pthread_mutex_lock'] },
	];

	mkdirSync(join(folder, 'sources'));
	writeFileSync(join(folder, 'sources/job.py'), script);
	writeFileSync(join(folder, 'script.jsonl'), events.map((event) => JSON.stringify(event)).join('\n') + '\n');
	run('import', '-q', 'script.jsonl', '-o', 'scripts');
}

// Rows of the source that is shown: costs without spaces, the line's number and its text.
const sourceRows = (page, inside) => page.locator(`${inside} table.source tbody tr`).evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent.replace(/\u202f/g, ' ')).filter((text) => text).join('|')));

// From a function in a tab of the timeline to what each of its lines costs, then the same of the whole corpus.
async function sourceIsShown(address) {
	const page = await open(address, 1280);
	const costs = ['1|def work():', '10 ms|10 ms|2|\tfor item in range(3):', '30 ms|3|\t\tdraw(item)', '5 ms|4|\twait()'];
	const isRight = async (inside) => (await sourceRows(page, inside)).slice(0, 4).join('\n') === costs.join('\n');

	await page.click('table[aria-label=Streams] a >> text=script');
	await page.waitForSelector('canvas.time-line');
	await page.click('role=tab[name="Call tree"]');
	await page.waitForSelector('.tree-row');
	await page.fill('[aria-label="Find in this tab"]', 'work');
	await page.click('[aria-label="Next found"]');
	await page.click('.tree-row.current', { button: 'right' });
	await page.click('role=menuitem[name="Source"]');
	await soon(() => isRight('#pane'), async () => `the tab shows ${await page.innerText('#pane')}`);
	check(/runs 40\sms, 10\sms of it by itself; waits 5\sms in what it calls/.test(await page.innerText('#pane')), 'it does not say what the function takes');
	await checkView(page, 'source tab');
	check(/tab=source/.test(page.url()), `the link does not lead to it: ${page.url()}`);
	check((await page.locator('nav >> text=Source').count()) === 0, 'views that need a function are offered without one');
	await page.click('nav >> text=Flame graph');
	await page.waitForSelector('.flame canvas');
	await page.focus('.flame canvas');
	for (const key of ['ArrowDown', 'Enter'])
		await page.keyboard.press(key);
	await page.click('button:has-text("Callers and callees")');
	await page.click('section[aria-label="Callers and callees"] >> text=Source');
	await soon(() => isRight('main'), async () => `the view shows ${await page.innerText('main')}`);
	await checkView(page, 'source view');
	await page.close();
}

// What is recorded while the page is open is announced, then shown; followed, it needs no click. The page first looks for
// more when there is more already.
async function growthIsFollowed(address) {
	let grown;
	const hasGrown = new Promise((done) => (grown = done));
	const page = await open(address, 1280, 'light', (empty) => empty.route('**/api/query?*', async (route) => {
		await hasGrown;
		await route.continue();
	}));
	const streams = () => page.locator('table[aria-label=Streams] tbody tr').count();

	await page.waitForSelector('table[aria-label=Streams]');
	await soon(async () => (await streams()) === 2, async () => `there are ${await streams()} streams at first`);
	importLines('third', linesOf('third', 0, 30));
	grown();
	await page.click('text=1 new stream: show', { timeout: 20000 });
	await page.waitForFunction(() => document.querySelectorAll('table[aria-label=Streams] tbody tr').length === 3);
	await page.click('button:has-text("Live")');
	importLines('fourth', linesOf('fourth', 0, 35));
	await page.waitForFunction(() => document.querySelectorAll('table[aria-label=Streams] tbody tr').length === 4, undefined, { timeout: 20000 });
	await page.click('table[aria-label=Streams] a >> text=fourth');
	await page.waitForSelector('canvas.time-line');
	await page.close();
}

await main(async () => {
	writeClicks();
	writeScript();
	await section('anything is found', anythingIsFound);
	await section('two streams beside each other', twoStreamsAreBesideEachOther);
	await serve('clicks', async (address) => {
		await section('questions in SQL', () => questionsAreAsked(address));
		await section('signatures are made', () => signaturesAreMade(address));
		await section('a corpus that grows', () => growthIsFollowed(address));
	});
	await serve('scripts', (address) => section('the source of a function', () => sourceIsShown(address)), ['--source-path', 'sources']);
});
