// A real browser for the tests of the page, and a folder for their data. Arguments of each: LODE MODULES.
// Exits with 77 when there is no browser or no page in LODE.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { startServer } from './server.mjs';

export const [program, modules, ...others] = process.argv.slice(2);
export const lode = resolve(program);
export const require = createRequire(resolve(modules, 'x.js'));
const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

function skip(why) {
	console.log(`skipped: ${why}`);
	process.exit(77);
}

if (!browserPath)
	skip('there is no Chromium');
if (!existsSync(join(modules, 'playwright-core')))
	skip('the packages of the page are not there');
if (/page: no/.test(execFileSync(lode, ['version'], { encoding: 'utf8' })))
	skip('lode was built without its page');

export const folder = mkdtempSync(join(tmpdir(), 'lode-page-'));
export const run = (...words) => execFileSync(lode, words, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
const { chromium } = require('playwright-core');
const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
let failures = 0;

export let current = ''; // what is tested

export function check(right, what) {
	if (right)
		return;
	failures++;
	console.log(`FAILED ${current}: ${what}`);
}

// The same of what the page shows a moment after a click: asks again for some seconds. `what` may be a function that says it then.
export async function soon(isRight, what) {
	for (let i = 0; i < 100 && !(await isRight()); i++)
		await new Promise((done) => setTimeout(done, 50));
	const right = await isRight();

	check(right, right || typeof what === 'string' ? what : await what());
}

// Several pages that share cookies.
export const newContext = () => browser.newContext();

// A page of the folder, or of an address, once it shows its first view. `before` is called with the empty page.
export async function open(file, width, colorScheme = 'light', before = () => {}) {
	const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme, hasTouch: width < 600 });

	page.on('console', (message) => check(!/^(error|warning)$/.test(message.type()) || /status of 422/.test(message.text()), `console: ${message.text()}`));
	page.on('pageerror', (error) => check(false, `error: ${error.message}`));
	const address = /^(http|file):/.test(file) ? file : `file://${join(folder, file)}`;

	page.on('request', (request) => check(/^(data|blob):/.test(request.url()) || request.url().startsWith(address.replace(/[?#].*/, '').replace(/[^/]*$/, '')), `asks for ${request.url()}`));
	await before(page);
	await page.goto(address);
	await page.waitForSelector('main .help');
	return page;
}

// Calls `work` with the address that a server of the corpus has printed, and with the server. `options`: more of its words.
export async function serve(corpus, work, options = []) {
	const server = await startServer(lode, folder, corpus, '--any-port', ...options);

	try {
		await work(server.printed, server);
	} finally {
		await server.end();
	}
}

// SECTION, a regular expression in the environment, chooses some of them.
export async function section(name, work) {
	if (process.env.SECTION && !new RegExp(process.env.SECTION).test(name))
		return;
	current = name;
	const before = failures;

	try {
		await work();
	} catch (error) {
		check(false, error.stack);
	}
	console.log(`${failures === before ? 'ok' : 'FAILED'} ${name}`);
}

// Runs the test and ends.
export async function main(work) {
	try {
		await work();
	} finally {
		await browser.close();
		rmSync(folder, { recursive: true });
	}
	process.exit(failures ? 1 : 0);
}
