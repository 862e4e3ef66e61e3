// A service that spends its time in one function, with Pyroscope's own agent: node service.cjs MODULES SERVER TOKEN SECONDS
'use strict';
const { createRequire } = require('node:module');
const { join } = require('node:path');

const [modules, server, token, seconds] = process.argv.slice(2);
const pyroscope = createRequire(join(modules, 'x.js'))('@pyroscope/nodejs');

function hashPasswords(rounds) {
	let value = 1;

	for (let i = 0; i < rounds; i++)
		value = (value * 31 + i) % 1000003;
	return value;
}

pyroscope.init({ serverAddress: server, authToken: token, appName: 'shop', tags: { region: 'eu' }, flushIntervalMs: 1000, wall: { collectCpuTime: true, samplingDurationMs: 1000 } });
pyroscope.start();
const end = Date.now() + seconds * 1000;

(function work() {
	const until = Date.now() + 80;

	while (Date.now() < until)
		hashPasswords(10000);
	if (Date.now() < end)
		setTimeout(work, 20);
	else
		pyroscope.stop().then(() => process.exit(0));
})();
