// What a server does with clients that take more than their share: all others are answered as before.
//
//	node tests/page/serve_limits.mjs LODE
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { startServer } from './server.mjs';

const lode = resolve(process.argv[2]);
const folder = mkdtempSync(join(tmpdir(), 'lode-limits-'));
const run = (...words) => execFileSync(lode, words, { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 30 });

// The library's own timeout is a minute: what takes as long was not limited by us.
const patience = () => new Promise((done) => setTimeout(() => done('late'), 55_000).unref());

// A connection as it is; `ended` is when the server has closed it.
async function dial(port, text) {
	const socket = connect(port, '127.0.0.1');
	const ended = new Promise((done) => socket.once('close', done));

	socket.on('error', () => {}); // the server may close it while something is being sent
	await new Promise((done) => socket.once('connect', done));
	socket.write(text);
	return { socket, ended };
}

// The first line of the answer to a request that is sent as it is; "" where there is none.
async function statusOf(port, text) {
	const { socket, ended } = await dial(port, text);
	let answer = '';

	socket.on('data', (part) => (answer += part));
	await Promise.race([ended, patience()]);
	socket.destroy();
	return answer.split('\r\n')[0];
}

// ---- long requests ----

async function longAddressesAreRefusedAtOnce({ port, token }) {
	const head = `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`;
	const get = (query) => statusOf(port, `GET /api/info?${query} HTTP/1.1\r\n${head}`);

	assert.match(await get('brief'), / 20[02] /);
	for (const count of [129, 500, 3000, 3200, 3300, 30_000])
		assert.match(await get(Array(count).fill('where=a=b').join('&')), / 414 /, `${count} options`);
	for (const length of [8200, 32_000, 32_700, 33_000, 100_000, 1_000_000])
		assert.match(await get(`where=${'a'.repeat(length)}`), / 414 /, `an option of ${length} bytes`);
	assert.match(await get(Array(128).fill('stream=a').join('&')), / (202|422) /);
	for (const [count, length] of [[1, 200_000], [20_000, 1], [4000, 100]])
		assert.match(await statusOf(port, `GET / HTTP/1.1\r\n${`X-a: ${'b'.repeat(length)}\r\n`.repeat(count)}${head}`), / 431 /, `${count} headers of ${length} bytes`);
}

// ---- slow requests ----

// Whether a stranger's connections go, or stay: nobody else waits for them.
async function slowConnectionsKeepNobodyOut({ port, get }) {
	const connections = [];

	for (let i = 0; i < 400; i++)
		connections.push(await dial(port, 'GET / HTTP/1.1\r\nX-a: '));
	assert.ok((await get('api/info?brief')).status < 300);
	await Promise.race(connections.slice(0, 100).map(({ ended }) => ended));
	connections.forEach(({ socket }) => socket.destroy());
}

// However long the bytes of a request go on coming.
async function aRequestHasADeadline({ port, token }) {
	const beginnings = ['GET / HTTP/1.1\r\nX-a: ', `GET /api/info?brief HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nX-a: `, ''];
	const begin = Date.now();

	await Promise.all(beginnings.map(async (text) => {
		const { socket, ended } = await dial(port, text);
		const drip = setInterval(() => socket.write('x'), 300);
		const late = await Promise.race([ended, patience()]);

		clearInterval(drip);
		socket.destroy();
		assert.notEqual(late, 'late', `${JSON.stringify(text)} may take as long as it likes`);
	}));
	assert.ok(Date.now() - begin > 5000, 'slow clients have no time at all');
}

// ---- slow readers ----

const memoryOf = (pid) => 1024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);

async function slowReadersShareAResult() {
	run('synth', '-q', '-o', 'long', '--streams', '1', '--events', '400000');
	const { server, port, token, result, end } = await startServer(lode, folder, 'long');
	const path = `api/stream/${JSON.parse(run('info', 'long', '--json', '--brief')).streams[0].id}`;
	const size = (await result(path)).body.length;
	const before = memoryOf(server.pid);
	const readers = [];

	assert.ok(size > 5e6, 'the result is too small to show anything');
	for (let i = 0; i < 20; i++) {
		const { socket } = await dial(port, `GET /${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`);

		await new Promise((done) => socket.once('data', done)); // it is being answered
		socket.pause();
		readers.push(socket);
	}
	const grown = memoryOf(server.pid) - before;

	assert.ok(grown < 3 * size, `20 readers of ${size} bytes take ${grown}`);
	const again = await result(path);

	assert.equal(again.body.length, size);
	readers.forEach((socket) => socket.destroy());
	await end();
}

// ---- many jobs ----

const mapsOf = (pid) => readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n').length;

async function endedJobsLeaveNoThreads({ server, result }) {
	const many = async (first, count) => {
		for (let i = first; i < first + count; i++)
			assert.equal((await result(`api/info?brief&stream=${i}`)).status, 422);
		for (let i = first; i < first + count; i++)
			assert.equal((await result(`api/mine?match=nothing${i}`)).status, 200);
	};

	await many(0, 20);
	const before = mapsOf(server.pid);

	await many(20, 60);
	const grown = mapsOf(server.pid) - before;

	assert.ok(grown < 60, `120 jobs leave ${grown} mappings; the stack of a thread takes two`);
}

try {
	run('synth', '-q', '-o', 'small', '--streams', '1', '--events', '300');
	const server = await startServer(lode, folder, 'small');

	for (const test of [longAddressesAreRefusedAtOnce, slowConnectionsKeepNobodyOut, aRequestHasADeadline, endedJobsLeaveNoThreads]) {
		await test(server);
		console.log(`ok ${test.name}`);
	}
	await server.end();
	await slowReadersShareAResult();
	console.log(`ok ${slowReadersShareAResult.name}`);
} finally {
	rmSync(folder, { recursive: true });
}
