#!/usr/bin/env node
// The pictures of the README, out of reports of the demo, and those of docs/cases.md and docs/tour.md, out of recordings
// that are made here:
//
//	demo/run build --quick
//	docs/pictures/make.mjs build/src/cmd/lode build/demo/corpora MODULES
//	docs/pictures/make.mjs build/src/cmd/lode cases MODULES
//	docs/pictures/make.mjs build/src/cmd/lode tour MODULES
//
// MODULES: a node_modules with playwright-core, as the tests of the page have it. Needs Chromium; to record needs root.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { startServer } from '../../tests/page/server.mjs';

const [lode, corpora, modules] = process.argv.slice(2).map((word) => (/^(cases|tour)$/.test(word) ? word : resolve(word)));
const { chromium } = createRequire(join(modules, 'x.js'))('playwright-core');
const here = dirname(fileURLToPath(import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'lode-pictures-'));
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });

// A page with a report of these programs.
async function open(programs, ...words) {
	const report = join(folder, 'report.html');
	const page = await browser.newPage({ viewport: { width: 1200, height: 720 } });

	execFileSync(lode, ['report', ...programs.map((name) => join(corpora, name)), '-q', '-o', report, ...words]);
	await page.goto(`file://${report}`);
	await page.waitForSelector('main .finding');
	return page;
}

async function draw(page, name) {
	await page.waitForTimeout(500);
	await page.screenshot({ path: join(here, name) });
}

// The critical path of the longest of the slow clicks.
async function drawClick(name) {
	const file = join(folder, 'click.html');
	const page = await browser.newPage({ viewport: { width: 1200, height: 515 } });

	execFileSync(lode, ['scope', join(corpora, 'lock_chain'), '--where', 'variant=bad', '--symptom', 'wait > 5ms in handle_click', '-q', '-o', file]);
	await page.goto(`file://${file}`);
	await page.getByRole('heading', { name: /^Symptom/ }).evaluate((heading) => heading.scrollIntoView());
	await draw(page, name);
}

async function drawDemo() {
	await drawClick('click.png');
	await draw(await open(['lock_chain', 'path_hash', 'name_scan', 'plugin_host'], '--title', 'four slow programs'), 'overview.png');
	const page = await open(['lock_chain'], '--title', 'lock_chain', '--symptom', 'wait > 5ms in handle_click');

	await page.getByRole('link', { name: 'lock_chain-bad-40' }).first().click();
	await page.getByRole('button', { name: 'All of the stream' }).click();
	await draw(page, 'stream.png');
}

const run = (program, ...words) => execFileSync(program, words, { cwd: folder, stdio: 'ignore' });

// The services, where pictures may show their path.
const demo = join(folder, 'demo');

// Records a service of docs/cases.md while it is asked.
function recordCase(name, ...options) {
	cpSync(join(here, '../../demo/case'), join(demo, 'case'));
	cpSync(join(here, '../../demo/services'), join(demo, 'services'), { recursive: true });
	run(join(demo, 'case'), 'start', name);
	try {
		run(lode, 'record', '-q', '-o', name, '--duration', '4s', ...options, ...readFileSync(join(folder, `${name}.pid`), 'utf8').trim().split(/\s+/));
	} finally {
		run(join(demo, 'case'), 'stop', name);
	}
}

// The timeline at the slowest example of the first finding.
async function drawCase(name) {
	const page = await browser.newPage({ viewport: { width: 1100, height: 900 } });

	recordCase(name);
	run(lode, 'report', '-q', name, '-o', `${name}.html`);
	await page.goto(`file://${join(folder, `${name}.html`)}`);
	await page.waitForSelector('main .finding');
	console.log(`${name}: ${await page.innerText('.sentence >> nth=0')}`);
	await page.click('.finding >> nth=0 >> text=Show the slowest on the timeline');
	await page.waitForSelector('canvas.time-line');
	await page.waitForTimeout(500);
	await page.locator('.time-box').screenshot({ path: join(here, `case-${name}.png`) });
	await page.close();
}

// From the overview to the line of source that is at fault.
async function drawTour() {
	recordCase('gil', '--lines');
	const server = await startServer(lode, folder, 'gil', '--any-port');
	const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });

	try {
		await page.goto(server.printed);
		await page.waitForSelector('main .finding');
		await draw(page, 'tour-1.png');
		await page.click('.finding >> nth=0 >> text=Show the slowest on the timeline');
		await page.waitForSelector('article.event-detail');
		await draw(page, 'tour-2.png');
		await page.click('text=Follow the holder');
		await page.waitForSelector('article.event-detail:has-text(" ran ")');
		await draw(page, 'tour-3.png');
		await page.click('article.event-detail .culprit .source-link');
		await page.waitForSelector('#pane table.source');
		await draw(page, 'tour-4.png');
	} finally {
		await server.end();
	}
}

try {
	if (corpora === 'tour')
		await drawTour();
	else if (corpora === 'cases')
		for (const [, name] of readFileSync(join(here, '../cases.md'), 'utf8').matchAll(/^## (\w+):/gm))
			await drawCase(name);
	else
		await drawDemo();
} finally {
	await browser.close();
	rmSync(folder, { recursive: true });
}
