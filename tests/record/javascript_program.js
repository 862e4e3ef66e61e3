/*
 * Waits and spins in known stacks, and writes down which, and when.
 *
 *	javascript_program.js LOG SECONDS [CASE...]
 *
 * Each line of LOG is {"case", "kind", "tid", "from", "to", "stack"}: in this span of CLOCK_MONOTONIC the thread was in
 * this stack of JavaScript functions of files, root first, as "file!function". Ends early when there is a file LOG.stop.
 * tests/record/javascript_truth compares.
 */
const child_process = require('child_process');
const fs = require('fs');
const path = require('path');
const workers = require('worker_threads');

const [log, seconds] = workers.isMainThread ? [process.argv[2], +process.argv[3]] : workers.workerData;
const SPIN_NS = 6000000n;
const SLEEP_MS = 2;
const source = fs.readFileSync(__filename, 'utf8');
const cell = new Int32Array(new SharedArrayBuffer(4));
const tid = +fs.readlinkSync('/proc/thread-self').split('/').pop();
const end = process.hrtime.bigint() + BigInt(Math.round(seconds * 1e9));
let current = '';
let sum = 0;

/* ---- writing it down ---- */

/* V8's own account of the stack: it knows functions that were inlined, too. */
function callSites(_, sites) {
	return sites;
}

function lineOf(fn) {
	const at = fn ? source.indexOf(fn.toString()) : -1;

	return at < 0 ? 1 : source.slice(0, at).split('\n').length;
}

function nameOf(site) {
	const file = site.getFileName();
	const module = file.startsWith('node:') ? file : path.basename(file);

	return `${module}!${site.getFunctionName() || `(anonymous):${lineOf(site.getFunction())}`}`;
}

/* Without the frame of this function. */
function ownStack() {
	const before = Error.prepareStackTrace;

	Error.prepareStackTrace = callSites;
	Error.stackTraceLimit = 1000;
	const sites = new Error().stack;
	Error.prepareStackTrace = before;
	return sites.slice(1).filter(site => site.getFileName() && !site.isAsync()).map(nameOf).reverse();
}

function note(kind, from, to) {
	const stack = ownStack();

	stack.pop();
	fs.appendFileSync(log, JSON.stringify({ case: current, kind, tid, from: Number(from), to: Number(to), stack }) + '\n');
}

/* ---- what is seen ---- */

function spin() {
	const begun = process.hrtime.bigint();
	let now = begun;

	while (now < begun + SPIN_NS) {
		for (let i = 0; i < 20000; i++)
			sum += Math.sqrt(i) | 0;
		now = process.hrtime.bigint();
	}
	note('run', begun, now);
}

function wait() {
	for (let i = 0; i < 3; i++) {
		const begun = process.hrtime.bigint();

		Atomics.wait(cell, 0, 0, SLEEP_MS);
		note('wait', begun, process.hrtime.bigint());
	}
}

function work() {
	spin();
	wait();
	return 0;
}

/* ---- cases ---- */

function recursion(depth) {
	return depth ? recursion(depth - 1) + 1 : work();
}

class Shape {
	constructor() {
		this.area = this.measure();
	}
	measure() {
		return work();
	}
	get size() {
		return work();
	}
	static make() {
		return new this();
	}
}

class Square extends Shape {
	measure() {
		return super.measure();
	}
}

function classes() {
	return Square.make().size;
}

function callbacks() {
	[1].forEach(function () { work(); });
	[2, 1].sort((a, b) => work());
	'x'.replace(/x/, () => work());
	return JSON.stringify({ toJSON: work });
}

function closures() {
	const add = n => () => n ? add(n - 1)() : work();

	return add(5)();
}

function* numbers() {
	yield work();
	yield* others();
}

function* others() {
	yield work();
}

function generators() {
	for (const number of numbers())
		sum += number;
}

function exceptions() {
	try {
		throw new Error('expected');
	} catch {
		return work();
	} finally {
		work();
	}
}

async function inner() {
	await null;
	return work();
}

async function asynchronous() {
	work();
	await inner();
	work();
	await new Promise(resolve => setTimeout(resolve, 1));
	await Promise.all([inner(), inner()]);
	return work();
}

function timers() {
	return new Promise(function (resolve) {
		setTimeout(() => resolve(work()), 1);
		setImmediate(function immediate() { work(); });
		process.nextTick(work);
	});
}

/* Compiled with all optimisations, and interrupted in a loop. */
function mix(a, b) {
	return (a * 31 + b) | 0;
}

function hot() {
	const begun = process.hrtime.bigint();
	let now = begun;

	while (now < begun + 5n * SPIN_NS) {
		for (let i = 0; i < 1e6; i++)
			sum = mix(sum, i);
		now = process.hrtime.bigint();
	}
	note('run', begun, now);
}

/* The collector moves functions all the time. */
function garbage(depth) {
	const kept = [];

	for (let i = 0; i < 20000; i++)
		kept.push(() => i + kept.length);
	return depth ? garbage(depth - 1) + kept[0]() : work();
}

let pipe = -1;

function reads() {
	const bytes = Buffer.alloc(1);

	for (let i = 0; i < 3; i++) {
		const begun = process.hrtime.bigint();

		fs.readSync(pipe, bytes, 0, 1, null);
		note('wait', begun, process.hrtime.bigint());
	}
}

function spawns() {
	const begun = process.hrtime.bigint();

	child_process.spawnSync('/bin/sleep', ['0.01']);
	note('wait', begun, process.hrtime.bigint());
}

const cases = {
	recursion: () => recursion(30), classes, callbacks, closures, generators, exceptions, asynchronous, timers, hot,
	garbage: () => garbage(4), reads, spawns,
};

/* ---- all of it ---- */

async function run(names) {
	while (process.hrtime.bigint() < end && !fs.existsSync(log + '.stop')) {
		for (const name of names) {
			current = name;
			await cases[name]();
		}
	}
}

async function main() {
	const names = process.argv.length > 4 ? process.argv.slice(4) : Object.keys(cases);
	const fifo = log + '.fifo';
	let writer = null;

	if (names.includes('reads')) {
		child_process.execFileSync('/usr/bin/mkfifo', [fifo]);
		writer = child_process.spawn('/bin/sh', ['-c', `while sleep 0.02; do echo; done > ${fifo}`],
			{ stdio: 'ignore', detached: true });
		pipe = fs.openSync(fifo, 'r');
	}
	const other = new workers.Worker(__filename, { workerData: [log + '.worker', seconds] });
	const ended = new Promise(resolve => other.once('exit', resolve));
	await run(names);
	await ended;
	if (writer) {
		process.kill(-writer.pid);
		fs.unlinkSync(fifo);
	}
}

if (workers.isMainThread)
	main();
else
	run(['recursion', 'closures', 'asynchronous', 'garbage']);
