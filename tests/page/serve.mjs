// lode serve and lode mcp, asked as programs do: the same answers as the command line gives, nothing for strangers, and
// nothing changed.
//
//	node tests/page/serve.mjs LODE MODULES
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { ask, sleep, startServer } from './server.mjs';

const [program, modules] = process.argv.slice(2);
const lode = resolve(program);

process.env.LC_ALL = 'C.UTF-8';
const require = createRequire(resolve(modules, 'x.js'));
const folder = mkdtempSync(join(tmpdir(), 'lode-serve-'));
const run = (...words) => execFileSync(lode, words, { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 30 });
const start = (corpus, ...options) => startServer(lode, folder, corpus, ...options);

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

// ---- answers ----

async function answersAreThoseOfTheCommands({ result }) {
	const routes = {
		info: ['info', 'corpus', '--json'],
		'findings?page-data': ['mine', 'corpus', '--json', '--findings', '--page-data'],
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
		const answer = await result(`api/${route}`);

		assert.equal(answer.status, 200, `${route}: ${answer.body}`);
		assert.ok(answer.body.equals(spawnSync(lode, words, { cwd: folder, maxBuffer: 1 << 30 }).stdout), `${route} is not what the command says`);
	}
	const { streams } = JSON.parse(run('info', 'corpus', '--json'));
	const answer = await result(`api/stream/${streams[0].id}`);

	assert.equal(answer.status, 200);
	assert.ok(answer.body.length > 1000);
}

async function wrongRequestsAreRefused({ get, result }) {
	for (const [path, status, options] of [
		['api/nothing', 404],
		['api/stream/..%2F..%2Fetc', 400],
		['api/mine?output=%2Ftmp%2Fx', 400],
		['api/mine?idle-rules=%2Fetc%2Fpasswd', 400],
		['api/mine?threshold=no', 422],
		['api/info', 405, { method: 'POST' }],
		['nowhere', 404],
	]) {
		const answer = await (options ? get(path, options) : result(path));

		assert.equal(answer.status, status, `${path}: ${answer.body}`);
		assert.ok(JSON.parse(answer.body).error.length > 10);
	}
}

// ---- who may ask ----

async function strangersGetNothing({ address, port, token, get }) {
	const other = 'x'.repeat(32);

	for (const [headers, status] of [
		[{ authorization: '' }, 401],
		[{ authorization: `Bearer ${other}` }, 401],
		[{ authorization: '', cookie: `lode-${port}=${token}` }, 401],
		[{ host: 'example.org' }, 403],
		[{ host: 'localhost.example.org:80' }, 403],
		[{ host: '127.0.0.1:1' }, 403],
		[{ 'sec-fetch-site': 'cross-site' }, 403],
		[{ 'sec-fetch-site': 'same-site' }, 403],
		[{ origin: 'http://example.org' }, 403],
		[{ origin: 'null' }, 403],
		[{ 'sec-fetch-site': 'same-origin', origin: `http://127.0.0.1:${port}`, host: `127.0.0.1:${port}` }, 200],
		[{ host: `localhost:${port}` }, 200],
		[{ host: `[::1]:${port}` }, 200],
	])
		for (const path of ['', 'api/info?brief', 'api/nothing', 'nowhere']) {
			const answer = await get(path, { headers });

			if (status === 200)
				assert.ok(![401, 403].includes(answer.status), `${path} ${JSON.stringify(headers)}: ${answer.status}`);
			else
				assert.equal(answer.status, status, `${path} ${JSON.stringify(headers)}: ${answer.body}`);
			if (status !== 200 && path.startsWith('api/'))
				assert.ok(JSON.parse(answer.body).error.length > 10);
		}
	for (const place of [`${address}?token=${other}`, `${address}?token=`, `${address}api/info?token=${token}`])
		assert.equal((await ask(place)).status, 401);
	const page = await ask(address);

	assert.match(page.headers['content-type'], /text\/html/);
	assert.match(String(page.body), /the address that lode printed/);
	assert.equal(page.headers['www-authenticate'], 'Bearer');
}

async function theFirstVisitGetsACookie({ address, port, printed, token, get }) {
	const visit = await ask(printed);
	const [cookie, ...attributes] = visit.headers['set-cookie'][0].split('; ');

	assert.equal(visit.status, 303);
	assert.equal(visit.headers.location, '/', 'the token stays in the address');
	assert.ok(cookie.startsWith(`lode-${port}=`) && !cookie.includes(token));
	assert.deepEqual(attributes.sort(), ['HttpOnly', 'Path=/', 'SameSite=Strict']);
	assert.match(token, /^[0-9a-f]{32}$/);
	for (const path of ['', 'api/info?brief'])
		assert.ok((await ask(`${address}${path}`, { headers: { cookie: `other=1; ${cookie}` } })).status < 300);
	const page = await get('');

	assert.match(page.headers['content-security-policy'], /^default-src 'none'; script-src 'sha256-.*; frame-ancestors 'none'$/);
	assert.ok(String(page.body).includes(page.headers['content-security-policy'].replace("; frame-ancestors 'none'", '')), 'page and header disagree');
	for (const { headers } of [page, await get('api/info?brief'), await ask(address)]) {
		assert.match(headers['content-security-policy'], /frame-ancestors 'none'/);
		assert.equal(headers['cache-control'], 'no-store');
		assert.equal(headers['x-content-type-options'], 'nosniff');
		assert.equal(headers['referrer-policy'], 'no-referrer');
		assert.equal(headers['cross-origin-resource-policy'], 'same-origin');
		assert.equal(headers['access-control-allow-origin'], undefined);
	}
}

async function aTokenFileHasTheToken() {
	const file = join(folder, 'token');
	const words = ['serve', 'corpus', '--any-port', '--token-file', file];

	writeFileSync(file, `${'t'.repeat(30)}\n`, { mode: 0o644 });
	const refused = spawnSync(lode, words, { cwd: folder, encoding: 'utf8' });

	assert.equal(refused.status, 2);
	assert.match(refused.stderr, /chmod 600/);
	rmSync(file);
	writeFileSync(file, `${'t'.repeat(30)}\n`, { mode: 0o600 });
	const { token, get, end } = await start(...words.slice(1));

	assert.equal(token, 't'.repeat(30));
	assert.equal((await get('')).status, 200);
	await end();
}

// All users can read the browser's command line.
async function theBrowserGetsATokenForOneVisit() {
	const bin = mkdtempSync(join(folder, 'bin-')), opened = join(bin, 'opened'), path = process.env.PATH;

	writeFileSync(join(bin, 'xdg-open'), `#!/bin/sh\necho "$1" > ${opened}.part && mv ${opened}.part ${opened}\n`, { mode: 0o755 });
	process.env.PATH = `${bin}:${path}`;
	const { token, end } = await start('corpus', '--any-port', '--open');

	process.env.PATH = path;
	while (!existsSync(opened))
		await sleep(20);
	const address = readFileSync(opened, 'utf8').trim();

	assert.ok(!address.includes(token), 'the token is on a command line');
	assert.equal((await ask(address)).status, 303);
	assert.equal((await ask(address)).status, 401);
	await end();
}

// The mode of the file says who may connect; pages of other sites are refused all the same.
async function aSocketNeedsNoToken() {
	const path = join(folder, 'socket');
	const { printed, server, end } = await start('corpus', '--socket', path);
	const through = (place, headers = {}) => ask(`http://localhost/${place}`, { socketPath: path, headers });

	assert.equal(printed, path);
	assert.equal(statSync(path).mode & 0o777, 0o600);
	assert.equal((await through('')).status, 200);
	assert.ok([200, 202].includes((await through('api/info?brief')).status));
	assert.equal((await through('api/info', { 'sec-fetch-site': 'cross-site' })).status, 403);
	assert.equal((await through('api/info', { host: 'example.org' })).status, 403);
	assert.match(spawnSync(lode, ['serve', 'corpus', '--socket', path], { cwd: folder, encoding: 'utf8' }).stderr, /in use/);
	assert.equal(spawnSync(lode, ['serve', 'corpus', '--socket', path, '--port', '7070'], { cwd: folder }).status, 2);
	await end('SIGKILL');
	assert.ok(existsSync(path) && server.killed);
	const again = await start('corpus', '--socket', path);

	assert.equal((await through('')).status, 200);
	await again.end();
	assert.ok(!existsSync(path), 'the socket is left behind');
}

// ---- jobs ----

async function resultsFollowTheCorpus({ result }) {
	const before = JSON.parse((await result('api/info')).body).streams.length;

	run('synth', '-q', '-o', 'corpus', '--streams', '1', '--events', '500', '--seed', '9');
	assert.equal(JSON.parse((await result('api/info')).body).streams.length, before + 1, 'an old result is shown');
}

async function jobsCanBeCancelled({ get, server }) {
	assert.equal((await get('api/latency')).status, 202);
	assert.equal((await get('api/latency', { method: 'DELETE' })).status, 204);
	for (let i = 0; i < 500 && childrenOf(server.pid).length; i++)
		await sleep(20);
	assert.deepEqual(childrenOf(server.pid), [], 'a cancelled job goes on');
}

async function theOverviewIsReadyEarly() {
	const { server, get, end } = await start('corpus');

	try {
		for (let i = 0; i < 600 && childrenOf(server.pid).length; i++)
			await sleep(100);
		for (const path of ['info?brief', 'findings?page-data', 'mine?page-data'])
			assert.equal((await get(`api/${path}`)).status, 200, `${path} was not begun with the server`);
	} finally {
		await end();
	}
}

async function endsWithItsJobs() {
	const { server, get, end } = await start('corpus');

	await get('api/latency');
	const children = childrenOf(server.pid);
	const begin = Date.now();

	await end('SIGINT');
	assert.ok(Date.now() - begin < 2000, 'it takes long to end');
	for (const child of children)
		assert.throws(() => process.kill(Number(child), 0), 'a job is left over');
}

// ---- nothing is changed ----

// What the user mined last stays, whatever is asked; only kept work may come.
async function aServerChangesNothingButTheCache() {
	const id = /^cluster (\S+)/m.exec((run('mine', 'large', '-q'), readFileSync(join(folder, 'large/mined.txt'), 'utf8')))[1];
	const before = snapshot('large');
	const { result, end } = await start('large');

	for (const path of ['mine?match=nothing', 'mine', 'mine-run', 'latency', 'scope', 'profile', 'info'])
		assert.equal((await result(`api/${path}`)).status, 200, path);
	await end();
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
		const names = ['info', 'findings', 'mine', 'mine-run', 'scope', 'latency', 'diff', 'explain', 'coverage'];
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

	for (const name of ['info', 'mine', 'scope', 'latency', 'diff', 'explain', 'coverage', 'query'])
		assert.ok(names.includes(name), `no tool ${name}`);
	assert.ok(tools.every(({ annotations }) => annotations.readOnlyHint));
	const text = (answer) => answer.content[0].text;
	const mined = await client.callTool({ name: 'mine', arguments: { top: 2 } });

	assert.equal(text(mined), run('mine', join(folder, 'corpus'), '--kind=wait', '--top=2'));
	const sql = 'SELECT kind, sum(n) FROM sums GROUP BY kind';
	const counted = await client.callTool({ name: 'query', arguments: { sql } });

	assert.equal(text(counted), run('query', join(folder, 'corpus'), sql));
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
	const server = await start('corpus');

	try {
		for (const test of [answersAreThoseOfTheCommands, wrongRequestsAreRefused, strangersGetNothing, theFirstVisitGetsACookie, resultsFollowTheCorpus, jobsCanBeCancelled]) {
			await test(server);
			console.log(`ok ${test.name}`);
		}
	} finally {
		await server.end();
	}
	for (const test of [aTokenFileHasTheToken, theBrowserGetsATokenForOneVisit, aSocketNeedsNoToken, theOverviewIsReadyEarly, endsWithItsJobs, aServerChangesNothingButTheCache, agentsChangeNothing, deepJsonIsRefused, agentsCanAsk]) {
		await test();
		console.log(`ok ${test.name}`);
	}
} finally {
	rmSync(folder, { recursive: true });
}
