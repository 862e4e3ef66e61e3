// The overview: its sentences agree with the numbers beside them and with the command line, lead to the slowest
// example, and follow what was said to be slow.
//
//	node tests/page/findings.mjs LODE MODULES [PICTURES]
//
// PICTURES: a folder that gets a picture of each view.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { check, folder, main, open, run, section, soon, serve } from './browser.mjs';
import { checkView } from './view_check.mjs';

const ms = 1000000;
const rule0 = 'wait > 1ms in lock_list'; // what a server is started with

// ---- data ----

// A click: ui waits for a lock that the indexer holds while it waits for disk, then draws.
function click(t, lock, draw) {
	const held = { pid: 1, tid: 2, stack: ['app!keep_fresh', 'app!refresh', 'kernel!io_schedule'] };

	return [
		...(lock ? [
			{ type: 'wait', t: t + 1, cost: lock - 2, ...held, object: 'file:/data' },
			{ type: 'wait', t, cost: lock, pid: 1, tid: 1, waker: 2, object: 'lock:folder_list', holder: 2, stack: ['app!main', 'app!click', 'app!lock_list'], waker_stack: ['app!keep_fresh', 'app!refresh'] },
			{ type: 'run', t: t + lock - 1, cost: 1, pid: 1, tid: 2, stack: ['app!keep_fresh', 'app!refresh'] },
		] : []),
		{ type: 'run', t: t + lock, cost: draw, pid: 1, tid: 1, stack: ['app!main', 'app!click', 'app!draw', 'libc.so.6!qsort'] },
		{ type: 'symptom', tid: 1, t0: t, t1: t + lock + draw, name: 'click' },
	];
}

// Five streams of each version; only the second waits for the lock. A worker is idle all the time.
function writeCorpus() {
	const lines = ['4.1', '4.2'].flatMap((version) => [0, 1, 2, 3, 4].flatMap((number) => {
		const lock = version === '4.1' ? 0 : 30 + number;
		const start = (number + (version === '4.1' ? 0 : 10)) * 1000 * ms; // no two symptoms of a host are the same

		return [
			{ stream: `click-${version}-${number}`, host: `h${number % 2}`, attrs: { version } },
			...['ui', 'indexer', 'worker'].map((name, place) => ({ type: 'thread', pid: 1, tid: place + 1, name })),
			...click(start, lock * ms, 8 * ms), ...click(start + 100 * ms, lock * ms, 7 * ms),
			{ type: 'wait', t: start, cost: 200 * ms, pid: 1, tid: 3, stack: ['app!worker', 'app!wait_for_work', 'libc.so.6!pthread_cond_wait'] },
		];
	}));

	writeFileSync(join(folder, 'clicks.jsonl'), lines.map((line) => JSON.stringify(line)).join('\n') + '\n');
	run('import', '-q', 'clicks.jsonl', '-o', 'clicks');
	run('report', '-q', 'clicks', '-o', 'clicks.html');
	run('synth', '-q', '-o', 'synth', '--streams', '8', '--events', '3000');
	run('report', '-q', 'synth', '-o', 'synth.html');
}

function found(corpus, ...options) {
	return JSON.parse(run('mine', '-q', corpus, '--findings', '--json', ...options).toString());
}

// ---- what the page says ----

const units = { h: 3600e9, min: 60e9, m: 60e9, s: 1e9, ms: 1e6, µs: 1e3, us: 1e3, ns: 1 };

// Nanoseconds of a text such as "29.6 ms", and what rounding to three digits may have hidden.
function timeOf(text) {
	const [, number, unit] = /([\d.]+)\s?(h|min|ms|µs|us|ns|m|s)\b/.exec(text) ?? [];

	return { ns: Number(number) * units[unit], off: Math.max(0.006 * Number(number), 0.5) * units[unit] };
}

function isAbout(text, ns) {
	const time = timeOf(text);

	return Math.abs(time.ns - ns) <= time.off;
}

const cardsOf = (page) => page.locator('.finding').evaluateAll((cards) => cards.map((card) => ({
	id: card.dataset.id, sentence: card.querySelector('.sentence').textContent, cost: card.querySelector('.figure').textContent,
	share: card.querySelector('.cost').textContent, evidence: card.querySelector('.evidence').textContent,
})));

// Sentences, costs and shares are those of the result; shares are disjoint.
async function sentencesAgree(page, result) {
	const cards = await cardsOf(page);
	const headline = await page.innerText('.headline');

	check(cards.length === result.findings.length && cards.length > 0, `${cards.length} of ${result.findings.length} findings are shown`);
	cards.forEach((card, place) => {
		const finding = result.findings[place];
		const perSymptom = result.symptoms.count > 1 ? finding.per_symptom_ns : finding.cost_ns;
		const share = Number(/([\d.]+)\s?%/.exec(card.share)[1]) / 100;

		check(card.sentence.replace(/\s/g, '') === `${finding.sentence_parts.map(({ text }) => text).join('').replace(/(?<=[\d.])m\b/, 'min')}.`.replace(/\s/g, ''), `the page says "${card.sentence}"`);
		check(finding.sentence_parts.map(({ text }) => text).join('') === finding.sentence, `parts are not the sentence: ${finding.sentence}`);
		check(isAbout(card.cost, finding.cost_ns), `${card.cost} is not ${finding.cost_ns} ns`);
		check(isAbout(card.sentence.slice(/(waits|runs|sleeps|running) /.exec(card.sentence).index), perSymptom), `"${card.sentence}" is about ${perSymptom} ns`);
		check(Math.abs(share - finding.cost_ns / result.total_ns) < 0.0006, `${card.share} is not ${finding.cost_ns / result.total_ns}`);
		check(result.symptoms.count < 2 || card.evidence.includes(`${finding.symptoms} of ${result.symptoms.count} `), `"${card.evidence}" does not say ${finding.symptoms} symptoms`);
	});
	check(result.findings.reduce((sum, { share }) => sum + share, 0) <= 1 + 1e-9, 'shares are more than all');
	check(isAbout(headline, result.total_ns), `"${headline}" is about ${result.total_ns} ns`);
	const said = /explains? (all|[\d.]+\s?%) of it/.exec(headline)[1];

	check(said === 'all' ? result.explained_ns / result.total_ns > 0.999 : Math.abs(parseFloat(said) / 100 - result.explained_ns / result.total_ns) < 0.0006, `"${headline}": ${result.explained_ns} of ${result.total_ns} ns are explained`);
	check(!/is idle|wait_for_work/.test(cards.map(({ sentence }) => sentence).join()), 'an idle thread is a finding');
}

// ---- the tests ----

async function theAnswerIsFirst(width, colours) {
	const page = await open('clicks.html', width, colours);

	await page.waitForSelector('.finding');
	const result = found('clicks');

	await sentencesAgree(page, result);
	await soon(async () => /^ui waits .* for the lock folder_list in lock_list, which indexer holds while it waits/.test((await page.innerText('.sentence >> nth=0')).replace(/\s+/g, ' ')), async () => `the first answer is ${await page.innerText('.sentence >> nth=0')}`);
	await soon(async () => /surely new since version 4.2/.test(await page.innerText('.finding >> nth=0')), 'that it is new is not said');
	await soon(async () => !/surely/.test(await page.innerText('.finding >> nth=1')), 'what is not new is called so');
	await soon(async () => /surely new/.test(await page.innerText('section[aria-label="New findings"]')), 'what is new is not listed');
	await checkView(page, `overview ${width} ${colours}`);
	await page.close();
}

async function otherCorporaAgree() {
	const page = await open('synth.html', 1280);

	await page.waitForSelector('.finding');
	await sentencesAgree(page, found('synth'));
	await checkView(page, 'synth');
	await page.close();
}

// One click to the wait itself, in the stream where it is longest.
async function oneClickToTheSlowest() {
	const page = await open('clicks.html', 1280);

	await page.waitForSelector('.finding');
	await page.click('.finding >> nth=0 >> text=Show the slowest on the timeline');
	await page.waitForSelector('canvas.time-line');
	const [example] = found('clicks').findings[0].examples;

	check(example.stream === 'click-4.2-4' && example.slowest_ns > 30 * ms, `the slowest example is in ${example.stream}`);
	check(page.url().includes(example.stream_id) && page.url().includes(`tid=${example.tid}`), 'the link leads elsewhere');
	await soon(async () => /34\s?ms/.test(await page.innerText('main')) && /lock_list/.test(await page.innerText('main')), 'the wait is not shown');
	// The click that it belongs to fills the timeline.
	await soon(() => /view=\d+-\d+/.test(page.url()), 'the link does not say what is in view');
	const [from, to] = /view=(\d+)-(\d+)/.exec(page.url()).slice(1).map(Number);

	check(to - from > 42 * ms && to - from < 50 * ms, `${(to - from) / ms} ms are in view`);
	await page.goBack();
	await page.waitForSelector('.finding');
	await page.close();
}

// What was slow holds in all views, stays in the link, and can be removed; what is wrong is said in words of the page.
async function whatWasSlowIsAskedOnce() {
	await serve('clicks', async (address) => {
		const rule = 'wait > 31500us in lock_list';
		const page = await open(address, 1280);

		await page.waitForSelector('.finding');
		await sentencesAgree(page, found('clicks'));
		await page.click('.options summary');
		await page.getByLabel('What was slow').fill(rule);
		await page.keyboard.press('Enter');
		await page.waitForFunction(() => /symptom/.test(document.querySelector('.headline')?.textContent ?? ''));
		await sentencesAgree(page, found('clicks', '--symptom', rule));
		await checkView(page, 'asked');
		for (const view of ['Symptoms', 'Waits', 'Overview']) {
			await page.click(`nav >> text=${view}`);
			await page.waitForSelector('main .help');
			await soon(async () => (await page.locator('.chip', { hasText: rule }).count()) === 1, `${view} does not say what was slow`);
			check(/symptom=/.test(page.url()), `${view}: the link does not say what was slow`);
		}
		await page.click('[aria-label^="Without What was slow"]');
		await page.waitForFunction(() => /click/.test(document.querySelector('.headline')?.textContent ?? ''));
		check(!/symptom=/.test(page.url()), 'what was removed stays in the link');
		await page.goto(`${page.url().replace(/#.*/, '')}#overview?symptom=nonsense`);
		await page.waitForSelector('[role=alert]');
		const said = await page.innerText('[role=alert]');

		await soon(async () => !/--|lode help/.test(said) && (await page.locator('text=Try again').count()) === 0, `the page speaks of the command line: ${said}`);
		await page.click('text=Look at everything instead');
		await page.waitForSelector('.finding');
		await page.close();
	});
}

async function aServerIsStartedWithASymptom() {
	await serve('clicks', async (address) => {
		const page = await open(address, 1280);

		await page.waitForSelector('.finding');
		await soon(async () => (await page.locator('.chip', { hasText: rule0 }).count()) === 1, 'the rule of the command line is not shown');
		await sentencesAgree(page, found('clicks', '--symptom', rule0));
		await page.close();
	}, ['--symptom', rule0]);
}

// The slower side is the slow one, and the heading has the sign of the difference.
async function differencesHaveASign() {
	await serve('clicks', async (address) => {
		const page = await open(address, 1280);

		await page.click('nav >> text=Difference');
		await page.click('text=Why version=4.2 is slower than version=4.1');
		await page.waitForSelector('section[aria-label="What is sure"]');
		await soon(async () => /take significantly more/.test(await page.innerText('section[aria-label="What is sure"]')), 'the slower side does not take more');
		await page.goto(page.url().replace('base-where=version%3D4.1&slow-where=version%3D4.2', 'base-where=version%3D4.2&slow-where=version%3D4.1'));
		await page.waitForSelector('text=Compare the other way round');
		const verdict = await page.innerText('section[aria-label="What is sure"]');

		check(/^The streams called slow take less time/.test(verdict) && !/Look first at/.test(verdict), `the faster side: ${verdict}`);
		await checkView(page, 'faster');
		await page.click('text=Compare the other way round');
		await page.waitForFunction(() => /take significantly more/.test(document.querySelector('main').textContent));
		await page.close();
	});
}

// Three clicks from what costs many streams to the very wait: the finding, its slowest streams, the wait.
async function fromAFleetToAWait() {
	const page = await open('clicks.html', 1280);

	await page.waitForSelector('.finding');
	await page.click('.finding >> nth=0 >> text=Slowest streams');
	const rows = page.locator('table[aria-label="Slowest streams of the finding"] >> nth=0 >> tbody >> tr');
	const times = (await rows.locator('td:nth-child(3)').allInnerTexts()).map((text) => timeOf(text).ns);

	check(times.length === 5 && times.every((time, i) => !i || time <= times[i - 1]), `the slowest streams take ${times}`);
	await checkView(page, 'slowest streams');
	await rows.locator('a').nth(1).click();
	await page.waitForSelector('canvas.time-line');
	await soon(async () => /33\s?ms/.test(await page.innerText('main')) && /lock_list/.test(await page.innerText('main')), 'the second of them does not show its wait');
	await page.close();
}

// Clusters with the same culprit are told apart.
async function clustersAreToldApart() {
	const other = await open('synth.html', 1280);

	await other.click('nav >> text=Waits');
	await other.waitForSelector('article.detail');
	const clusters = await other.locator('table[aria-label=Clusters] tbody td:nth-child(2)').allInnerTexts();

	check(new Set(clusters).size > clusters.length * 0.9, `${clusters.length - new Set(clusters).size} of ${clusters.length} clusters are named like others`);
	await checkView(other, 'clusters');
	await other.close();
}

// Steps of 5 ms; two streams of a GPU, the second begins when the first is half done.
const kernels = [['7', 0.5, 2], ['9', 1.5, 2]];
const steps = 20;

function writeTraining() {
	const traceEvents = Array.from({ length: steps }).flatMap((_, step) => kernels.flatMap(([stream, start, length], place) => {
		const correlation = step * kernels.length + place + 1;
		const ts = step * 5000 + start * 1000;

		return [
			{ ph: 'X', cat: 'cuda_runtime', name: 'cudaLaunchKernel', pid: 1, tid: 2, ts: ts - 20, dur: 10, args: { correlation } },
			{ ph: 'X', cat: 'kernel', name: `forward_${stream}`, pid: 0, tid: Number(stream), ts, dur: length * 1000, args: { device: 0, stream: Number(stream), correlation } },
		];
	}));

	writeFileSync(join(folder, 'training.json'), JSON.stringify({ schemaVersion: 1, deviceProperties: [], traceEvents }));
	run('import', '-q', 'training.json', '-o', 'training');
	run('report', '-q', 'training', '-o', 'training.html');
}

// A GPU is a device with streams, not a process with threads that have numbers; it says how busy it was.
async function gpusAreDevices() {
	const page = await open('training.html', 1280);

	await page.waitForSelector('.finding');
	await soon(async () => /GPUs? ran [\d.]+\s?% of .* idle/.test(await page.innerText('.headline')), async () => `the headline is ${await page.innerText('.headline')}`);
	await page.click('table[aria-label=Streams] a >> nth=0');
	await page.waitForSelector('.time-label.group');
	// Each step is busy from 0.5 to 3.5 ms; the first launch and the last end are the ends of the stream.
	const share = (steps * 3) / (steps * 5 - 0.48 - 1.5);
	const label = await page.innerText('.time-label.group:has-text("gpu0")');
	const said = parseFloat(/busy ([\d.]+)\s?%/.exec(label)?.[1] ?? '-1') / 100;

	check(Math.abs(said - share) < 0.001, `"${label}" is not ${share}`);
	check(/^gpu0 stream 7$/.test((await page.locator('.time-label:not(.group)').allInnerTexts()).map((text) => text.replace(/[▲✕\s]+$/, '')).find((text) => /stream 7/.test(text)) ?? ''), 'a stream has a number');
	await checkView(page, 'gpu');
	await page.close();
}

await main(async () => {
	writeCorpus();
	writeTraining();
	await section('the answer is first', () => theAnswerIsFirst(1280, 'light'));
	await section('the answer is first, narrow and dark', () => theAnswerIsFirst(420, 'dark'));
	await section('sentences of another corpus', otherCorporaAgree);
	await section('one click to the slowest example', oneClickToTheSlowest);
	await section('three clicks from a fleet to a wait', fromAFleetToAWait);
	await section('clusters are told apart', clustersAreToldApart);
	await section('what was slow is asked once', whatWasSlowIsAskedOnce);
	await section('a server that is started with a symptom', aServerIsStartedWithASymptom);
	await section('differences have a sign', differencesHaveASign);
	await section('GPUs are devices', gpusAreDevices);
});
