// What the page makes of its data, beside what the commands say: events, critical paths, sums.
//
//	node tests/page/data.mjs LODE MODULES
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { inflateSync } from 'node:zlib';

const [program, modules] = process.argv.slice(2);
const lode = resolve(program);
const esbuild = createRequire(resolve(modules, 'x.js'))('esbuild');
const web = resolve(dirname(fileURLToPath(import.meta.url)), '../../web/src');
const folder = mkdtempSync(join(tmpdir(), 'lode-data-'));
const run = (...words) => execFileSync(lode, words, { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 30 });

// A source of the page as a module that can be called from here.
async function source(name) {
	const outfile = join(folder, `${name}.mjs`);

	esbuild.buildSync({ entryPoints: [join(web, `${name}.ts`)], bundle: true, format: 'esm', outfile, nodePaths: [resolve(modules)] });
	return import(pathToFileURL(outfile));
}

function readBlocks(file) {
	const blocks = new Map();

	for (const [, name, text] of readFileSync(join(folder, file), 'utf8').matchAll(/data-block="([^"]*)">([^<]*)</g)) {
		const bytes = inflateSync(Buffer.from(text, 'base64'));

		blocks.set(name, bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
	}
	return blocks;
}

// The share of a pixel that spans cover, moment by moment.
function coverageByHand(spans, from, to) {
	const points = [from, to, ...spans.flat()].filter((t) => t >= from && t <= to).sort((a, b) => a - b);
	let sum = 0;

	for (let i = 1; i < points.length; i++)
		if (spans.some(([t0, t1]) => t0 <= points[i - 1] && t1 >= points[i]))
			sum += points[i] - points[i - 1];
	return sum / (to - from);
}

function coverageIsRight(Coverage) {
	const whole = (below) => Math.floor(Math.random() * below);

	for (let round = 0; round < 3000; round++) {
		const threads = Array.from({ length: 1 + whole(3) }, () =>
			Array.from({ length: whole(12) }, () => whole(100)).sort((a, b) => a - b).map((t) => [t, t + (whole(3) ? whole(30) : 0)]));
		const spans = threads.flat();
		const first = Uint32Array.from([0, ...threads.map((_, i) => threads.slice(0, i + 1).flat().length)]);
		const coverage = new Coverage(Float64Array.from(spans, ([t]) => t), (place) => spans[place][1], first);
		const t0 = whole(60) - 10 + Math.random();
		const pixel = whole(2) ? Math.random() * 5 + 0.01 : 40;
		const shares = new Float32Array(1 + whole(20));

		threads.forEach((own, thread) => {
			coverage.fill(thread, t0, pixel, shares);
			shares.forEach((share, i) => {
				const [from, to] = [t0 + i * pixel, t0 + (i + 1) * pixel];

				assert.ok(Math.abs(share - coverageByHand(own, from, to)) < 1e-5, 'the share of a pixel');
				assert.ok(share > 0 || !own.some(([t]) => t > from && t <= to), 'an event that cannot be seen');
			});
		});
	}
}

const lines = (text) => text.trim().split('\n').map((line) => JSON.parse(line));

// Random stacks, with recursion: callers, callees and both sides of a comparison against sums over the stacks themselves.
async function sandwichesAreRight() {
	const { buildTree, stackOf } = await source('stack_tree');
	const { sandwichOf, comparedTree } = await source('tree_views');
	const dice = (sides) => Math.floor(Math.random() * sides);
	const sums = (stacks, part) => {
		const all = new Map();

		for (const { frames, value } of stacks)
			for (const key of part(frames))
				all.set(key, (all.get(key) ?? 0) + value);
		return all;
	};
	const prefixes = (frames) => frames.map((_, end) => frames.slice(0, end + 1).join(';'));
	const totals = (tree, values) => new Map([...tree.parent.keys()].filter((node) => values[node] > 0).map((node) => [stackOf(tree, node).join(';'), values[node]]));
	const inOrder = (map) => [...map].sort();

	for (let round = 0; round < 2000; round++) {
		const make = () => Array.from({ length: dice(8) }, () => ({ frames: Array.from({ length: 1 + dice(6) }, () => 'abc'[dice(3)]), value: 1 + dice(9) }));
		const stacks = make();
		const other = make();
		const tree = buildTree(stacks);
		const from = (frames) => (frames.includes('a') ? frames.slice(frames.indexOf('a')) : []);
		const found = sandwichOf(tree, 'a');

		assert.equal(!found, !stacks.some(({ frames }) => frames.includes('a')));
		if (found) {
			assert.deepEqual(inOrder(totals(found.callees, found.callees.total)), inOrder(sums(stacks, (frames) => prefixes(from(frames)))), 'callees');
			assert.deepEqual(inOrder(totals(found.callers, found.callers.total)), inOrder(sums(stacks, (frames) => (frames.includes('a') ? prefixes(frames.slice(0, frames.indexOf('a') + 1).reverse()) : []))), 'callers');
			assert.equal(found.total, found.callees.whole);
			assert.equal(found.self, stacks.reduce((sum, { frames, value }) => sum + (frames.at(-1) === 'a' ? value : 0), 0));
		}
		const both = comparedTree(tree, buildTree(other), 2);
		const twice = other.map(({ frames, value }) => ({ frames, value: 2 * value }));

		assert.deepEqual(inOrder(totals(both, both.total)), inOrder(sums(stacks, prefixes)), 'one side');
		assert.deepEqual(inOrder(totals(both, both.otherTotal)), inOrder(sums(twice, prefixes)), 'the other side');
		const compared = sandwichOf(both, 'a');

		if (compared)
			assert.deepEqual(inOrder(totals(compared.callees, compared.callees.otherTotal)), inOrder(sums(twice, (frames) => prefixes(from(frames)))), 'callees of the other side');
	}
}

// A pinch keeps each finger on its moment, unless an end of the stream or the least span is in the way.
async function pinchesAreRight() {
	const { pinched, zoomed, panned, MIN_SPAN } = await source('parts/time_gestures');
	const whole = 1e9;

	for (let round = 0; round < 5000; round++) {
		const [t0, t1] = [Math.random() * whole, Math.random() * whole].sort((x, y) => x - y);
		const [a, b] = [Math.random(), Math.random()].sort((x, y) => x - y);
		const view = pinched({ t: t0, at: a }, { t: t1, at: b }, whole);
		const length = view.t1 - view.t0;

		assert.ok(view.t0 >= 0 && view.t1 <= whole * (1 + 1e-9) && length >= MIN_SPAN * 0.999, 'a view outside the stream');
		if (view.t0 > 0 && view.t1 < whole && length > MIN_SPAN * 1.001)
			for (const [t, at] of [[t0, a], [t1, b]])
				assert.ok(Math.abs((t - view.t0) / length - at) < 1e-6, 'a finger slips');
		const turned = panned(zoomed(view, (view.t0 + view.t1) / 2, 0.5, whole), length / 10, whole);

		assert.ok(turned.t0 >= 0 && turned.t1 <= whole * (1 + 1e-9) && turned.t1 - turned.t0 <= length * 1.001 + MIN_SPAN);
	}
}

// Random graphs: each experiment has its place, first parents are drawn from left to right without crossings.
async function historiesAreRight() {
	const { layoutHistory } = await source('history_layout');
	const dice = (sides) => Math.floor(Math.random() * sides);

	for (let round = 0; round < 2000; round++) {
		const nodes = Array.from({ length: dice(30) }, (_, id) => {
			const parent = id && dice(4) ? dice(id) : null;

			return { id, parent, parents: parent === null ? [] : [...Array.from({ length: dice(3) }, () => dice(30)).filter((other) => other !== id), parent] };
		});
		const wanted = nodes.map(() => dice(5) > 0);

		nodes.forEach(({ id, parent }) => (wanted[id] &&= parent === null || wanted[parent]));
		const { places, children, links, layers, rows } = layoutHistory(nodes, (id) => wanted[id]);
		const subtree = (id) => [id, ...children.get(id).flatMap(subtree)];
		const spanOf = (id) => subtree(id).map((each) => places.get(each).row);

		assert.deepEqual([...places.keys()], nodes.map(({ id }) => id).filter((id) => wanted[id]), 'not all are placed');
		assert.equal(new Set([...places.values()].map(({ layer, row }) => `${layer} ${row}`)).size, places.size, 'two have one place');
		assert.deepEqual([...places.values()].filter(({ leaf }) => leaf).map(({ row }) => row).sort((a, b) => a - b), [...Array(rows).keys()], 'a row is empty');
		assert.equal(layers, Math.max(0, ...[...places.values()].map(({ layer }) => layer + 1)));
		for (const { id, layer, row, leaf } of places.values()) {
			assert.equal(layer, nodes[id].parent === null ? 0 : places.get(nodes[id].parent).layer + 1);
			assert.equal(leaf, !nodes.some((other) => wanted[other.id] && other.parent === id));
			assert.ok(row >= Math.min(...spanOf(id)) && row <= Math.max(...spanOf(id)), 'a parent is not beside its children');
			// Branches have rows of their own, so that no two lines cross.
			const kids = children.get(id);

			kids.slice(1).forEach((kid, place) => assert.ok(Math.min(...spanOf(kid)) > Math.max(...spanOf(kids[place])), 'branches overlap'));
		}
		const all = nodes.filter(({ id }) => wanted[id]).flatMap(({ id, parents }) => [...new Set(parents)].filter((from) => wanted[from]).map((from) => `${from}-${id}`));

		assert.deepEqual(links.map(({ from, to }) => `${from}-${to}`).sort(), all.sort(), 'the lines');
		assert.ok(links.every(({ from, to, first }) => first === (nodes[to].parent === from)));
	}
}

// Against all ways to deal out the values, each counted as it is.
async function chanceIsRight() {
	const { rankTest, allTogether } = await source('statistics');
	const dice = (sides) => Math.floor(Math.random() * sides);
	const rankSum = (values, chosen) => chosen.reduce((sum, i) => sum + values.filter((value) => value < values[i]).length + (values.filter((value) => value === values[i]).length + 1) / 2, 0);

	for (let round = 0; round < 500; round++) {
		const a = Array.from({ length: 2 + dice(4) }, () => dice(6));
		const b = Array.from({ length: 2 + dice(4) }, () => dice(6));
		const values = [...a, ...b];
		const mean = (a.length * (values.length + 1)) / 2;
		const far = Math.abs(rankSum(values, [...a.keys()]) - mean);
		let all = 0;
		let extreme = 0;

		for (let set = 0; set < 1 << values.length; set++) {
			const chosen = [...values.keys()].filter((i) => set & (1 << i));

			if (chosen.length !== a.length)
				continue;
			all++;
			extreme += Math.abs(rankSum(values, chosen) - mean) >= far - 1e-9;
		}
		assert.ok(Math.abs(rankTest(a, b) - extreme / all) < 1e-12, `${a} against ${b}`);
	}
	assert.equal(rankTest([1], [1, 2, 3]), null);
	// Large groups: as many values below 0.05 as there should be, and the same by either way of counting.
	let low = 0;

	for (let round = 0; round < 1000; round++)
		low += rankTest(Array.from({ length: 30 }, Math.random), Array.from({ length: 40 }, Math.random)) < 0.05;
	assert.ok(low > 20 && low < 85, `${low} of 1000 tests of chance are below 0.05`);
	assert.ok(rankTest(Array(30).fill(0), Array(40).fill(1)) < 1e-6);
	assert.equal(rankTest(Array(30).fill(0), Array(40).fill(0)), 1);
	for (let round = 0; round < 500; round++) {
		const ps = Array.from({ length: 1 + dice(9) }, () => (dice(5) ? dice(100) / 100 : null));
		const known = ps.filter((p) => p !== null).sort((a, b) => a - b);
		const wanted = ps.map((p) => (p === null ? null : Math.min(1, ...known.map((other, rank) => (other >= p ? (other * known.length) / (rank + 1) : 1)))));

		allTogether(ps).forEach((q, i) => assert.ok(q === wanted[i] || Math.abs(q - wanted[i]) < 1e-12, `${ps}`));
	}
}

// What is new since a version, from the costs by stream, against the command asked for each side.
async function changesAreRight() {
	const { changesOf } = await source('new_clusters');
	const mined = JSON.parse(run('mine', '-q', 'corpus', '--page-data'));
	const ids = mined.stream_ids;

	for (const cluster of mined.clusters) {
		const costs = cluster.by_stream.filter((_, i) => i % 2);

		assert.equal(costs.reduce((sum, cost) => sum + cost, 0), cluster.cost_ns, 'the costs by stream are not the cost');
		assert.equal(costs.length, cluster.streams);
		for (const { stream_id: id, cost_ns: cost } of cluster.examples)
			assert.equal(cluster.by_stream[2 * cluster.by_stream.filter((_, i) => !(i % 2)).indexOf(ids.indexOf(id)) + 1], cost, 'the cost of an example');
	}
	const later = new Set(ids.slice(2));

	for (const change of changesOf(mined, (id) => later.has(id))) {
		const sum = (wanted) => change.cluster.by_stream.reduce((all, value, i, list) => all + (i % 2 && later.has(ids[list[i - 1]]) === wanted ? value : 0), 0);

		assert.equal(change.before, sum(false) / 2);
		assert.equal(change.after, sum(true) / (ids.length - 2));
	}
}

try {
	run('synth', '-q', '-o', 'corpus', '--streams', '4', '--events', '3000', '--symptoms', '3');
	run('report', '-q', 'corpus', '-o', 'report.html');
	const { StreamData, RUN, WAIT } = await source('stream_data');
	const { Columns } = await source('columns');
	const { duration } = await source('format');

	coverageIsRight((await source('coverage')).Coverage);
	const blocks = readBlocks('report.html');
	const shared = new Columns(blocks.get('stacks'));
	const info = JSON.parse(run('info', 'corpus', '--json'));
	const symptoms = lines(run('scope', 'corpus', '--json'));
	const total = { run: 0, wait: 0 };

	for (const stream of info.streams) {
		const data = new StreamData(new Columns(blocks.get(`stream/${stream.id}`), shared));
		const start = BigInt(data.head.start_ns);
		const events = lines(run('export', 'corpus', '--format', 'events', '--stream', stream.id));
		const ofType = (type) => events.filter((event) => event.type === type);

		for (const [type, name] of [[RUN, 'run'], [WAIT, 'wait']]) {
			const list = data.lists[type];
			const got = [...list.t.keys()].map((place) => {
				const thread = data.head.threads[data.threadOf({ type, place })];

				return JSON.stringify([thread.tid, Number(start) + list.t[place], list.cost[place], data.stackNames(list.stack[place])]);
			});
			const wanted = ofType(name).map((event) => JSON.stringify([event.tid, event.t, event.cost, event.stack]));

			assert.deepEqual(got.sort(), wanted.sort(), `the ${name} events of ${stream.name}`);
			total[name] += list.cost.reduce((sum, cost) => sum + cost, 0);
		}
		for (const wait of ofType('wait')) {
			const thread = data.head.threads.findIndex((each) => each.tid === wait.tid && data.eventAt(data.head.threads.indexOf(each), wait.t - Number(start)));
			const found = data.eventAt(thread, wait.t - Number(start) + 1);

			if (found && found.type === WAIT && data.lists[WAIT].t[found.place] === wait.t - Number(start))
				assert.equal(data.head.threads[data.wakerOf(found)]?.tid, wait.waker, 'the waker of a wait');
		}
		const own = symptoms.filter((symptom) => symptom.id === stream.id);

		assert.equal(data.head.symptoms.length, own.length);
		data.head.symptoms.forEach((symptom, number) => {
			const places = [...Array(symptom.path_count).keys()].map((i) => i + symptom.path_first);
			const path = places.map((i) => {
				const type = data.path.type[i];

				return [['run', 'wait'][type], data.head.threads[data.threadOf({ type, place: data.path.event[i] })].tid, Number(start) + data.path.t[i], data.path.cost[i]];
			});

			assert.ok(places.every((i, n) => !n || data.path.t[i - 1] <= data.path.t[i]), 'a path is not in order of time');
			assert.deepEqual(path, own[number].path.map((part) => [part.type, part.tid, part.t, part.cost_ns]), 'a critical path');
			assert.equal(places.reduce((sum, i) => sum + data.path.cost[i], symptom.unknown_ns), symptom.t1 - symptom.t0, 'a path does not tile its symptom');
		});
	}
	const profile = new Columns(blocks.get('profile'), shared);
	const sum = (name) => profile.f64(name).reduce((all, value) => all + value, 0);

	assert.equal(sum('run'), total.run, 'CPU time of the profile');
	assert.equal(sum('wait') + sum('work') + sum('idle'), total.wait, 'waits of the profile');
	const { treeOfCalls } = await source('call_tree');
	const json = (file, name) => JSON.parse(new TextDecoder().decode(readBlocks(file).get(name)));

	run('latency', '-q', 'corpus', '-o', 'latency.html');
	const latency = json('latency.html', 'latency');
	const contexts = JSON.parse(run('latency', '-q', 'corpus', '--json'));
	const tree = treeOfCalls(latency.page.tree);

	assert.deepEqual(latency.contexts, contexts.contexts.slice(0, latency.contexts.length), 'contexts of the page');
	assert.ok(contexts.contexts.slice(latency.contexts.length).every(({ own_ns }) => own_ns < latency.page.tree.least_ns), 'a costly context is left out');
	assert.equal(tree.whole, contexts.own_ns, 'the calls of the page and those it leaves out are not all');
	for (const { depth, whole_ns } of latency.page.tree.items)
		assert.ok(depth > 0 || tree.total.includes(whole_ns), 'a root of the tree');
	run('synth', '-q', '-o', 'other', '--streams', '4', '--events', '3000', '--seed', '2');
	run('diff', '-q', 'corpus', 'other', '-o', 'diff.html');
	const diff = json('diff.html', 'diff');
	const sides = [treeOfCalls(diff.page.tree, 'slow'), treeOfCalls(diff.page.tree, 'base')];

	assert.deepEqual(diff.paths, JSON.parse(run('diff', '-q', 'corpus', 'other', '--json')).paths.slice(0, diff.paths.length), 'paths of the page');
	assert.equal(sides[0].whole, diff.page.tree.whole_ns);
	assert.equal(sides[1].whole, diff.page.tree.base_whole_ns);
	assert.deepEqual(sides[0].otherTotal, sides[1].total, 'the other side of the tree');
	const { pathLines } = await source('path_lines');

	run('scope', '-q', 'corpus', '-o', 'scope.html');
	const scope = json('scope.html', 'scope');
	const byLength = [...symptoms.keys()].sort((a, b) => symptoms[b].t1 - symptoms[b].t0 - (symptoms[a].t1 - symptoms[a].t0) || a - b).map((place) => symptoms[place]);

	const stacks = new (await source('stack_table')).StackTable(scope.stacks);

	assert.equal(scope.symptoms_total, symptoms.length);
	scope.symptoms.forEach((symptom, number) => {
		const unpacked = (part) => ({ ...part, stack: stacks.names(part.stack), ...(part.waker_stack === undefined ? {} : { waker_stack: stacks.names(part.waker_stack) }) });
		const { facts, ...rest } = symptom;
		const lines = pathLines(symptom.path, symptom.steps);

		assert.deepEqual({ ...rest, path: rest.path.map(unpacked), steps: rest.steps.map(unpacked) }, byLength[number], 'a symptom of the page');
		assert.equal(lines.filter(({ kind }) => kind !== 'step').reduce((sum, { cost }) => sum + cost, symptom.unknown_ns), symptom.t1 - symptom.t0, 'lines do not add up to the symptom');
		assert.ok(lines.every(({ parent, t, end }) => parent < 0 || (lines[parent].kind === 'step' && lines[parent].t <= t && end <= lines[parent].end)), 'a line is not within its step');
	});
	await sandwichesAreRight();
	await pinchesAreRight();
	await historiesAreRight();
	await chanceIsRight();
	await changesAreRight();
	for (const [ns, text] of [[0, '0ns'], [999, '999ns'], [999_600, '1ms'], [1500, '1.5us'], [56_869_817, '56.9ms'], [90e9, '90s'], [194413386629, '3.24m'], [18200712883185, '5.06h'], [999.4e6, '999ms']])
		assert.equal(duration(ns), text);
	console.log(`ok: ${info.streams.length} streams, ${symptoms.length} critical paths`);
} finally {
	rmSync(folder, { recursive: true });
}
