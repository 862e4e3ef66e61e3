#!/usr/bin/env node
// The pictures of the README, out of reports of the demo:
//
//	demo/run build --quick
//	docs/pictures/make.mjs build/src/cmd/lode build/demo/corpora MODULES
//
// MODULES: a node_modules with playwright-core, as the tests of the page have it. Needs Chromium.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [lode, corpora, modules] = process.argv.slice(2);
const { chromium } = createRequire(resolve(modules, 'x.js'))('playwright-core');
const here = dirname(fileURLToPath(import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'lode-pictures-'));
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });


// A page with a report of these programs.
async function open(programs, ...words) {
	const report = join(folder, 'report.html');
	const page = await browser.newPage({ viewport: { width: 1200, height: 720 } });

	execFileSync(lode, ['report', ...programs.map((name) => join(corpora, name)), '-q', '-o', report, ...words]);
	await page.goto(`file://${report}`);
	await page.waitForSelector('main .top-list');
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

try {
	await drawClick('click.png');
	await draw(await open(['lock_chain', 'path_hash', 'name_scan', 'plugin_host'], '--title', 'four slow programs'), 'overview.png');
	const page = await open(['lock_chain'], '--title', 'lock_chain', '--symptom', 'wait > 5ms in handle_click');

	await page.getByRole('link', { name: 'lock_chain-bad-40' }).first().click();
	await page.getByRole('button', { name: 'All of the stream' }).click();
	await draw(page, 'stream.png');
} finally {
	await browser.close();
	rmSync(folder, { recursive: true });
}
