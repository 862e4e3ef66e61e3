// lode serve and lode mcp, asked as programs do: the same answers as the command line gives, and
// nothing for strangers.
//
//	node tests/page/serve.mjs LODE MODULES
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [program, modules] = process.argv.slice(2);
const lode = resolve(program);

process.env.LC_ALL = 'C.UTF-8';
const require = createRequire(resolve(modules, 'x.js'));
const folder = mkdtempSync(join(tmpdir(), 'lode-serve-'));
const run = (...words) => execFileSync(lode, words, { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 30 });
const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));

function ask(address, { method = 'GET', headers = {} } = {}) {
	return new Promise((done, failed) => {
		const call = request(address, { method, headers }, (answer) => {
			const parts = [];

			answer.on('data', (part) => parts.push(part));
			answer.on('end', () => done({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts) }));
		});

		call.on('error', failed);
		call.end();
	});
}

// Asks until the analysis is done.
async function result(address) {
	for (;;) {
		const answer = await ask(address);

		if (answer.status !== 202)
			return answer;
		const { state, done, total } = JSON.parse(answer.body);

		assert.equal(state, 'running');
		assert.ok(done >= 0 && total >= 0);
		await sleep(20);
	}
}

function childrenOf(pid) {
	return readdirSync('/proc').filter((name) => {
		try {
			return /^\d+$/.test(name) && readFileSync(`/proc/${name}/stat`, 'utf8').replace(/.*\) /s, '').split(' ')[1] === String(pid);
		} catch {
			return false;
		}
	});
}

// All files of a corpus, with their contents and times.
function snapshot(corpus) {
	const files = readdirSync(join(folder, corpus), { recursive: true }).map((name) => join(folder, corpus, name));

	return files.sort().map((path) => {
		const { mode, mtimeMs } = statSync(path);
		const content = statSync(path).isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : 'folder';

		return `${path} ${mode} ${mtimeMs} ${content}`;
	});
}

async function start(corpus) {
	const server = spawn(lode, ['serve', corpus, '--any-port', '-q'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
	const address = await new Promise((done) => server.stdout.once('data', (text) => done(String(text).trim())));

	assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/$/);
	return { server, address };
}

async function answersAreThoseOfTheCommands(address) {
	const routes = {
		info: ['info', 'corpus', '--json'],
		mine: ['mine', 'corpus', '--json', '--kind=wait'],
		'mine-run?top=3': ['mine', 'corpus', '--json', '--kind=run', '--top=3'],
		scope: ['scope', 'corpus', '--json'],
		'latency?top=5&where=version%3D4.2': ['latency', 'corpus', '--json', '--top=5', '--where=version=4.2'],
		'diff?base-where=version%3D4.1&slow-where=version%3D4.2&top=5': ['diff', 'corpus', '--json', '--base-where=version=4.1', '--slow-where=version=4.2', '--top=5'],
		profile: ['report', 'corpus', '--block=profile'],
		'latency?page-data': ['latency', 'corpus', '--json', '--page-data'],
		'scope?page-data&top=3': ['scope', 'corpus', '--json', '--page-data', '--top=3'],
		'diff?page-data&base-where=version%3D4.1&slow-where=version%3D4.2': ['diff', 'corpus', '--json', '--page-data', '--base-where=version=4.1', '--slow-where=version=4.2'],
		'explain?page-data&x=files': ['explain', 'corpus', '--json', '--page-data', '--x=files'],
	};

	for (const [route, words] of Object.entries(routes)) {
		const answer = await result(`${address}api/${route}`);

		assert.equal(answer.status, 200, `${route}: ${answer.body}`);
		assert.ok(answer.body.equals(spawnSync(lode, words, { cwd: folder, maxBuffer: 1 << 30 }).stdout), `${route} is not what the command says`);
	}
	const { streams } = JSON.parse(run('info', 'corpus', '--json'));
	const answer = await result(`${address}api/stream/${streams[0].id}`);

	assert.equal(answer.status, 200);
	assert.ok(answer.body.length > 1000);
}

async function strangersGetNothing(address) {
	for (const [path, status, options] of [
		['api/info', 403, { headers: { host: 'example.org' } }],
		['api/info', 403, { headers: { host: 'localhost.example.org:80' } }],
		['api/nothing', 404],
		['api/stream/..%2F..%2Fetc', 400],
		['api/mine?output=%2Ftmp%2Fx', 400],
		['api/mine?idle-rules=%2Fetc%2Fpasswd', 400],
		['api/mine?threshold=no', 422],
		['api/info', 405, { method: 'POST' }],
		['nowhere', 404],
	]) {
		const answer = await answerTo(`${address}${path}`, options);

		assert.equal(answer.status, status, `${path}: ${answer.body}`);
		assert.ok(JSON.parse(answer.body).error.length > 10);
	}
	const page = await ask(address);

	assert.equal(page.headers['x-content-type-options'], 'nosniff');
	assert.equal(page.headers['access-control-allow-origin'], undefined);
}

// Wrong requests are refused at once, or when the analysis says so.
async function answerTo(address, options) {
	return options ? ask(address, options) : result(address);
}

async function resultsFollowTheCorpus(address) {
	const before = JSON.parse((await result(`${address}api/info`)).body).streams.length;

	run('synth', '-q', '-o', 'corpus', '--streams', '1', '--events', '500', '--seed', '9');
	assert.equal(JSON.parse((await result(`${address}api/info`)).body).streams.length, before + 1, 'an old result is shown');
}

async function jobsCanBeCancelled(address, server) {
	const place = `${address}api/latency`;

	assert.equal((await ask(place)).status, 202);
	assert.equal((await ask(place, { method: 'DELETE' })).status, 204);
	for (let i = 0; i < 100 && childrenOf(server.pid).length; i++)
		await sleep(20);
	assert.deepEqual(childrenOf(server.pid), [], 'a cancelled job goes on');
}

async function theOverviewIsReadyEarly() {
	const { server, address } = await start('corpus');
	const ended = new Promise((done) => server.once('exit', done));

	try {
		for (let i = 0; i < 600 && childrenOf(server.pid).length; i++)
			await sleep(100);
		for (const path of ['info?brief', 'mine?page-data', 'mine-run?page-data'])
			assert.equal((await ask(`${address}api/${path}`)).status, 200, `${path} was not begun with the server`);
	} finally {
		server.kill('SIGTERM');
		await ended;
	}
}

async function endsWithItsJobs() {
	const { server, address } = await start('corpus');

	await ask(`${address}api/latency`);
	const children = childrenOf(server.pid);
	const ended = new Promise((done) => server.once('exit', done));
	const begin = Date.now();

	server.kill('SIGINT');
	await ended;
	assert.ok(Date.now() - begin < 2000, 'it takes long to end');
	for (const child of children)
		assert.throws(() => process.kill(Number(child), 0), 'a job is left over');
}

// What the user mined last stays, whatever is asked; only kept work may come.
async function aServerChangesNothingButTheCache() {
	const id = /^cluster (\S+)/m.exec((run('mine', 'large', '-q'), readFileSync(join(folder, 'large/mined.txt'), 'utf8')))[1];
	const before = snapshot('large');
	const { server, address } = await start('large');

	for (const path of ['mine?match=nothing', 'mine', 'mine-run', 'latency', 'scope', 'profile', 'info'])
		assert.equal((await result(`${address}api/${path}`)).status, 200, path);
	server.kill();
	await new Promise((done) => server.once('exit', done));
	const kept = (line) => !/large\/cache\b/.test(line);

	assert.deepEqual(snapshot('large').filter(kept), before.filter(kept));
	run('sign', 'large', '--name', 'known', '--from', id);
}

const byAgents = (text) => spawnSync(lode, ['mcp', 'large'], { cwd: folder, input: text, encoding: 'utf8', maxBuffer: 1 << 30 });
const callOf = (name, id) => `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: { format: 'json', top: 1 } } })}\n`;

// Its tools promise that they only read.
function agentsChangeNothing() {
	for (const cache of ['none', 'full']) {
		if (cache === 'none')
			rmSync(join(folder, 'large/cache'), { recursive: true, force: true });
		else
			run('latency', 'large', '-q');
		const before = snapshot('large');
		const names = ['info', 'mine', 'mine-run', 'scope', 'latency', 'diff', 'explain', 'coverage'];
		const { stdout, status } = byAgents(names.map(callOf).join(''));

		assert.equal(status, 0);
		assert.equal(stdout.trim().split('\n').length, names.length);
		assert.match(stdout, /isError\\?":false/);
		assert.deepEqual(snapshot('large'), before, 'the corpus is not as it was');
	}
}

function deepJsonIsRefused() {
	const ping = `${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'ping' })}\n`;

	for (const [open, close] of [['[', ']'], ['{"a":', '}'], ['{"id":1,"method":"ping","params":[', ']}']])
		for (const depth of [4097, 5000, 70_000]) {
			const first = (open.length + close.length) * depth < 1 << 20 ? depth : Math.floor((1 << 20) / (open.length + close.length)) - 1;
			const { stdout, status } = byAgents(`${open.repeat(first)}1${close.repeat(first)}\n${ping}`);
			const [error, answer] = stdout.trim().split('\n').map((line) => JSON.parse(line));

			assert.equal(status, 0);
			assert.equal(error.error.code, -32700);
			assert.match(error.error.message, /nested too deep/);
			assert.deepEqual(answer, { jsonrpc: '2.0', id: 2, result: {} });
		}
	const { stdout } = byAgents(`${'['.repeat(400_000)}${']'.repeat(400_000)}\n{"id":\n[]\n"x"\n{"id":"\\u00e9\\n","method":"ping"}\n`);

	assert.deepEqual(stdout.trim().split('\n').map((line) => JSON.parse(line)).map(({ id, error }) => [id, error?.code]),
		[[null, -32700], [null, -32700], [null, -32600], [null, -32700], ['\u00e9\n', undefined]]);
}

async function agentsCanAsk() {
	const from = (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/client/${name}.js`)));
	const { Client } = await from('index');
	const { StdioClientTransport } = await from('stdio');
	const client = new Client({ name: 'test', version: '1' });

	await client.connect(new StdioClientTransport({ command: lode, args: ['mcp', join(folder, 'corpus')] }));
	const { tools } = await client.listTools();
	const names = tools.map(({ name }) => name);

	for (const name of ['info', 'mine', 'scope', 'latency', 'diff', 'explain', 'coverage'])
		assert.ok(names.includes(name), `no tool ${name}`);
	const text = (answer) => answer.content[0].text;
	const mined = await client.callTool({ name: 'mine', arguments: { top: 2 } });

	assert.equal(text(mined), run('mine', join(folder, 'corpus'), '--kind=wait', '--top=2'));
	const json = await client.callTool({ name: 'info', arguments: { format: 'json', stream: JSON.parse(run('info', 'corpus', '--json')).streams[0].id } });

	assert.equal(JSON.parse(text(json)).streams.length, 1);
	const long = await client.callTool({ name: 'latency', arguments: { format: 'json' } });

	assert.ok(long.isError && text(long).length < 1000 && /\[cut: 0/.test(text(long)), 'an answer without bound');
	const short = JSON.parse(text(await client.callTool({ name: 'latency', arguments: { format: 'json', top: 2 } })));

	assert.equal(short.contexts.length, 2);
	assert.ok(short.tree.items.every(({ whole_ns }) => whole_ns >= short.own_ns / 10 - 1), 'a tree with all its branches');
	const wide = await client.callTool({ name: 'latency', arguments: { format: 'json', top: 2, 'tree-min': '2%' } });

	assert.ok(wide.isError || JSON.parse(text(wide)).tree.items.length > short.tree.items.length);
	const wrong = await client.callTool({ name: 'mine', arguments: { threshold: 'nothing' } });

	assert.ok(wrong.isError && text(wrong).length > 10);
	await assert.rejects(client.callTool({ name: 'mine', arguments: { output: '/tmp/x' } }));
	await assert.rejects(client.callTool({ name: 'latency', arguments: { 'page-data': 'yes' } }));
	await assert.rejects(client.callTool({ name: 'nothing', arguments: {} }));
	await client.close();
}

try {
	run('synth', '-q', '-o', 'corpus', '--streams', '12', '--events', '4000');
	run('synth', '-q', '-o', 'large', '--streams', '2', '--events', '12000'); // enough of them that work is kept
	const { server, address } = await start('corpus');

	try {
		for (const test of [answersAreThoseOfTheCommands, strangersGetNothing, resultsFollowTheCorpus, jobsCanBeCancelled]) {
			await test(address, server);
			console.log(`ok ${test.name}`);
		}
	} finally {
		server.kill('SIGTERM');
	}
	for (const test of [theOverviewIsReadyEarly, endsWithItsJobs, aServerChangesNothingButTheCache, agentsChangeNothing, deepJsonIsRefused, agentsCanAsk]) {
		await test();
		console.log(`ok ${test.name}`);
	}
} finally {
	rmSync(folder, { recursive: true });
}
