// A server for the tests: started, asked with its token, and ended.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { request } from 'node:http';

export const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));

// The first line that a program writes.
export const firstLine = (output) => new Promise((done) => output.once('data', (text) => done(String(text).split('\n')[0])));

// Sends a request, with `socketPath` through a Unix socket.
export function ask(address, { method = 'GET', headers = {}, socketPath } = {}) {
	return new Promise((done, failed) => {
		const call = request(address, { method, headers, socketPath, agent: false }, (answer) => {
			const parts = [];

			answer.on('data', (part) => parts.push(part));
			answer.on('end', () => done({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts) }));
		});

		call.on('error', failed);
		call.end();
	});
}

// Starts `lode serve` in a folder. `address` is that of the page without the token; `get` asks with it, `result` until the
// analysis is done.
export async function startServer(lode, cwd, corpus, ...options) {
	const server = spawn(lode, ['serve', corpus, '-q', ...(options.length ? options : ['--any-port'])], { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
	const ended = new Promise((done) => server.once('exit', done));

	process.once('exit', () => server.kill('SIGKILL')); // of a test that fails
	const printed = await firstLine(server.stdout);
	const [, address, token] = /^(http:\/\/127\.0\.0\.1:\d+\/)\?token=([-.~\w]+)$/.exec(printed) ?? [, printed, ''];
	const get = (path, { headers = {}, ...more } = {}) => ask(`${address}${path}`, { headers: { authorization: `Bearer ${token}`, ...headers }, ...more });

	async function result(path) {
		for (;;) {
			const answer = await get(path);

			if (answer.status !== 202)
				return answer;
			const { state, done, total } = JSON.parse(answer.body);

			assert.equal(state, 'running');
			assert.ok(done >= 0 && total >= 0);
			await sleep(20);
		}
	}

	async function end(signal = 'SIGTERM') {
		server.kill(signal);
		await ended;
	}

	return { server, printed, address, token, port: Number(/:(\d+)\//.exec(address)?.[1] ?? 0), get, result, end };
}
