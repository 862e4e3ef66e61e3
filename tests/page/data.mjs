// What the page makes of its data, beside what the commands say: events, critical paths, sums.
//
//	node tests/page/data.mjs LODE MODULES
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
// The same "random" numbers each time; SEED=N gives others.
let seed = Number(process.env.SEED ?? 1);

Math.random = () => {
	seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
	return seed / 2 ** 32;
};

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

// What a thread does in the time unit that begins at `t`, by the words of src/scope/states.h.
function stateByHand({ waits, readies, runs, longest }, t) {
	const absences = [...waits.map((wait, place) => ({ ...wait, order: 2 * place, type: 'wait' })), ...readies.map((ready, place) => ({ ...ready, mid: ready.t, order: 2 * place, type: 'ready' }))]
		.sort((a, b) => a.t - b.t || (a.type === b.type ? a.order - b.order : a.type === 'wait' ? -1 : 1));
	const covering = absences.filter((absence) => absence.t <= t && t < absence.end).at(-1);
	const sample = runs.filter((run) => run.t <= t && t < run.end).at(-1);

	if (covering)
		return t < covering.mid ? covering.state : 'ready';
	if (sample)
		return 'running';
	const covered = (at) => absences.some((absence) => absence.t <= at && at < absence.end) || runs.some((run) => run.t <= at && at < run.end);
	const edge = (at) => absences.some((absence) => absence.t === at || absence.end === at);
	let [from, to] = [t, t + 1];

	if (!absences.some(({ t: start }) => start <= t) || !absences.some(({ t: start }) => start > t))
		return 'not_recorded';
	while (!covered(from - 1) && !edge(from))
		from--;
	while (!covered(to) && !edge(to))
		to++;
	return to - from <= longest ? 'running' : 'not_recorded';
}

// Random threads: the state of every moment, and sums over any span, against the definition.
async function statesAreRight() {
	const { TimeStates, STATES } = await source('time_states');
	const whole = (below) => Math.floor(Math.random() * below);
	const kinds = ['lock', 'disk', 'idle'];
	const column = (type, threads, value) => type.from(threads.flat(), value);
	const list = (threads) => ({
		t: column(Float64Array, threads, ({ t }) => t), cost: column(Float64Array, threads, ({ t, mid, end }) => (mid ?? end) - t), delay: column(Float64Array, threads, ({ mid, end }) => end - (mid ?? end)),
		first: Uint32Array.from([0, ...threads.map((_, i) => threads.slice(0, i + 1).flat().length)]), state: column(Uint8Array, threads, ({ state }) => kinds.indexOf(state)),
	});

	for (let round = 0; round < 500; round++) {
		const some = (count, make) => Array.from({ length: whole(count) }, () => whole(60)).sort((a, b) => a - b).map(make);
		const threads = Array.from({ length: 1 + whole(3) }, () => ({
			waits: some(6, (t) => { const mid = t + whole(12); return { t, mid, end: mid + (whole(2) ? whole(6) : 0), state: kinds[whole(3)] }; }),
			readies: some(4, (t) => ({ t, end: t + 1 + whole(8) })),
			runs: some(whole(2) * 8, (t) => ({ t, end: t + whole(5) })),
		}));
		const runs = threads.flatMap((thread) => thread.runs);
		const longest = runs.length ? (10 * runs.reduce((sum, { t, end }) => sum + end - t, 0)) / runs.length : Infinity;
		const states = new TimeStates({ head: { threads: threads.map(() => ({})), states: kinds, span_ns: 100 }, lists: [list(threads.map((each) => each.runs)), list(threads.map((each) => each.waits)), list(threads.map((each) => each.readies))] });

		threads.forEach((thread, row) => {
			const wanted = Array.from({ length: 100 }, (_, t) => stateByHand({ ...thread, longest }, t));
			const got = wanted.map((_, t) => { const segment = states.at(row, t); return segment < 0 ? 'not_recorded' : STATES[states.state[segment]]; });
			const [t0, t1] = [whole(100), whole(100)].sort((a, b) => a - b);
			const times = states.times(row, t0, t1);

			assert.deepEqual(got, wanted, JSON.stringify({ thread, longest }));
			STATES.forEach((state, i) => state !== 'not_recorded' && assert.equal(Math.round(times[i]), wanted.slice(t0, t1).filter((each) => each === state).length, `the time ${state}`));
		});
	}
	// Sums over many segments, which are made in blocks.
	const long = Array.from({ length: 5000 }, (_, i) => ({ t: 10 * i, mid: 10 * i + 3, end: 10 * i + 5, state: kinds[i % 3] }));
	const states = new TimeStates({ head: { threads: [{}], states: kinds, span_ns: 50000 }, lists: [list([[]]), list([long]), list([[]])] });

	for (let round = 0; round < 300; round++) {
		const [t0, t1] = [whole(50000), whole(50000)].sort((a, b) => a - b);
		const times = states.times(0, t0, t1);
		const cells = Array.from({ length: t1 - t0 }, (_, i) => (i + t0) % 10);

		assert.equal(times[STATES.indexOf('ready')], cells.filter((cell) => cell === 3 || cell === 4).length);
		assert.equal(times[STATES.indexOf('running')], cells.filter((cell, i) => cell >= 5 && t0 + i < 49990).length);
	}
}

// Random stacks, with recursion and modules: each way to change a tree against the same done to the stacks.
async function transformsAreRight() {
	const { buildTree, stackOf } = await source('stack_tree');
	const { transformed, invertedTree, mergeFrames, transformsOf, transformsText } = await source('transforms');
	const dice = (sides) => Math.floor(Math.random() * sides);
	const names = ['m!a', 'm!b', 'n!a', 'c'];
	const totals = (stacks) => {
		const all = new Map();

		for (const { frames, value } of stacks)
			frames.forEach((_, end) => { const key = frames.slice(0, end + 1).join(';'); all.set(key, (all.get(key) ?? 0) + value); });
		return [...all].sort();
	};
	const ofTree = (tree) => [...tree.parent.keys()].map((node) => [stackOf(tree, node).join(';'), tree.total[node]]).sort();
	const byHand = {
		focus: (frames, name) => (frames.includes(name) ? frames.slice(frames.indexOf(name)) : null),
		merge: (frames, name) => { const rest = frames.filter((each) => each !== name); return rest.length ? rest : [frames.at(-1)]; },
		drop: (frames, name) => (frames.includes(name) ? null : frames),
		recursion: (frames, name) => (frames.includes(name) ? [...frames.slice(0, frames.indexOf(name)), ...frames.slice(frames.lastIndexOf(name))] : frames),
		module: (frames, name) => frames.map((each) => (each.startsWith(`${name}!`) ? name : each)).filter((each, i, all) => each !== name || all[i - 1] !== name),
	};

	for (let round = 0; round < 800; round++) {
		const stacks = Array.from({ length: dice(8) }, () => ({ frames: Array.from({ length: 1 + dice(6) }, () => names[dice(names.length)]), value: 1 + dice(9) }));
		const changes = Array.from({ length: dice(4) }, () => { const kind = Object.keys(byHand)[dice(5)]; return { kind, name: kind === 'module' ? 'mn'[dice(2)] : names[dice(names.length)] }; });
		const wanted = changes.reduce((all, { kind, name }) => all.map(({ frames, value }) => ({ frames: byHand[kind](frames, name), value })).filter(({ frames }) => frames), stacks);
		const tree = transformed(buildTree(stacks), changes);

		assert.deepEqual(ofTree(tree), totals(wanted), JSON.stringify({ stacks, changes }));
		assert.deepEqual(ofTree(invertedTree(tree)), totals(wanted.map(({ frames, value }) => ({ frames: [...frames].reverse(), value }))), 'upside down');
		assert.deepEqual(ofTree(mergeFrames(buildTree(stacks), () => true)), totals(stacks.map(({ frames, value }) => ({ frames: [frames.at(-1)], value }))), 'time is lost with its frames');
		assert.deepEqual(transformsOf(transformsText(changes)), changes);
	}
	const odd = [{ kind: 'focus', name: 'a~b%7e!c-d' }, { kind: 'drop', name: '%25' }];

	assert.deepEqual(transformsOf(transformsText(odd)), odd);
	assert.deepEqual(transformsOf('x-a~f~~'), []);
}

// The tree of a random span of some threads against sums over the events themselves.
function selectionsAreRight({ selectionTree }, data, events, start) {
	const whole = (below) => Math.floor(Math.random() * below);
	const span = data.head.span_ns;

	for (let round = 0; round < 8; round++) {
		const [t0, t1] = round ? [Math.random() * span, Math.random() * span].sort((a, b) => a - b) : [0, span];
		const threads = [...data.head.threads.keys()].filter(() => !round || whole(2));
		const tids = new Set(threads.filter((thread) => data.lists.some(({ first }) => first[thread + 1] > first[thread])).map((thread) => data.head.threads[thread].tid));
		const part = (from, to) => Math.max(Math.min(to, start + t1) - Math.max(from, start + t0), 0);
		const sums = { run: 0, wait: 0, ready: 0 };

		for (const { type, tid, t, cost, delay = 0 } of events.filter((event) => tids.has(event.tid) && (event.type === 'run' || event.type === 'wait'))) {
			sums[type] += part(t, t + cost);
			sums.ready += part(t + cost, t + cost + delay);
		}
		sums.all = sums.run + sums.wait + sums.ready;
		for (const kind of Object.keys(sums)) {
			const { tree } = selectionTree(data, { t0, t1, kind, threads, symptom: null, idle: true });
			const folded = selectionTree(data, { t0, t1, kind, threads, symptom: null, idle: false }).tree;

			assert.ok(Math.abs(tree.whole - sums[kind]) <= 1e-6 * sums.all + events.length, `${kind}: ${tree.whole}, not ${sums[kind]}`);
			assert.ok(folded.whole <= tree.whole + 1, 'what is folded is more than all');
		}
	}
}

// Colours of states against the background and the words on them, on both themes.
function coloursAreApart() {
	const text = ['style.css', 'workspace.css'].map((name) => readFileSync(join(web, name), 'utf8')).join('\n');
	const light = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
	const contrast = (a, b) => { const [low, high] = [light(a), light(b)].sort((x, y) => x - y); return (high + 0.05) / (low + 0.05); };
	const long = (hex) => (hex.length === 4 ? `#${[...hex.slice(1)].map((digit) => digit + digit).join('')}` : hex);
	const tokens = (selector) => new Map([...text.matchAll(new RegExp(`^:root${selector} \\{([^}]*)\\}`, 'gm'))].flatMap(([, body]) => [...body.matchAll(/--([\w-]+): (?:var\(--([\w-]+), )?(#[0-9a-f]+)\)?;/g)].map(([, name, instead, value]) => [name, { instead, value: long(value) }])));
	const themes = [tokens(''), new Map([...tokens(''), ...tokens('\\[data-theme="dark"\\]')])];

	const colour = (theme, name) => (theme.get(name).instead ? theme.get(theme.get(name).instead) : undefined)?.value ?? theme.get(name).value;

	for (const theme of themes)
		for (const state of ['running', 'ready', 'lock', 'reply', 'disk', 'network', 'timer', 'gil', 'page', 'child', 'gpu', 'other']) {
			const fill = colour(theme, `time-${state}`);
			const background = colour(theme, 'background');

			assert.ok(contrast(fill, background) >= 3, `${state} ${fill} on ${background}: ${contrast(fill, background)}`);
			assert.ok(Math.max(contrast(fill, '#ffffff'), contrast(fill, '#121316')) >= 4.5, `words on ${state} ${fill}`);
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

// Waits that no thread ended are said to be ended by none, whichever one was interrupted; a lock that is tried for again and
// again was held by whoever gave it at last.
async function endsAreRight() {
	const { StreamData, WAIT } = await source('stream_data');
	const { Columns } = await source('columns');
	const { wokenBy } = await source('state_words');
	const stack = ['app!main', 'libc.so.6!pthread_cond_timedwait', 'kernel!futex_wait'];
	const wait = (t, more) => ({ type: 'wait', t: t * 1e6, cost: 5e6, pid: 7, tid: 7, stack, ...more });
	const lines = [{ stream: 'ends' }, { type: 'thread', pid: 7, tid: 7, name: 'app' }, { type: 'thread', pid: 7, tid: 8, name: 'scorer' }, { type: 'thread', pid: 9, tid: 9, name: 'other' },
		wait(0, { waker: 9, waker_stack: ['kernel!asm_sysvec_apic_timer_interrupt', 'kernel!hrtimer_interrupt', 'kernel!hrtimer_wakeup'], object: 'gil:python' }),
		wait(5, { object: 'gil:python' }), wait(10, { waker: 8, waker_stack: ['app!score'], object: 'gil:python' }), wait(20, {})];

	writeFileSync(join(folder, 'ends.jsonl'), lines.map((line) => JSON.stringify(line)).join('\n') + '\n');
	run('import', '-q', 'ends.jsonl', '-o', 'ends');
	run('report', '-q', 'ends', '-o', 'ends.html');
	const blocks = readBlocks('ends.html');
	const data = new StreamData(new Columns(blocks.get([...blocks.keys()].find((name) => name.startsWith('stream/'))), new Columns(blocks.get('stacks'))));
	const said = [0, 1, 2, 3].map((place) => `${wokenBy(data, { type: WAIT, place })}, ${data.head.threads[data.holderOf({ type: WAIT, place })]?.name}`);

	assert.deepEqual(said, ['an interrupt or a timer, scorer', ', scorer', 'scorer 8, scorer', ', undefined']);
}

// The function to look at first: the program's own, whichever of a library is nearer to the wait.
async function culpritsAreRight() {
	const { FrameTable, culprit } = await source('frames');
	const paths = { 'app.py': '/srv/app.py', 'threading.py': '/usr/lib/python3.11/threading.py', 'queue.py': '/usr/lib/python3.11/queue.py', 'python3.11': '/usr/bin/python3.11', app: '/srv/app', 'libz.so.1': '/usr/lib/x86_64-linux-gnu/libz.so.1' };
	const wait = ['python3.11!PyThread_acquire_lock_timed', 'libc.so.6!pthread_cond_wait', 'kernel!futex_wait'];
	const cases = [
		[['python3.11!_start', 'python3.11!main', 'app.py!<module>', 'app.py!handle', 'threading.py!Condition.wait', ...wait], 'app.py!handle'],
		[['python3.11!_start', 'threading.py!Thread.run', 'queue.py!Queue.get', ...wait], 'queue.py!Queue.get'],
		[['python3.11!_start', 'app.py!<module>', 'queue.py!Queue.get', ...wait], 'queue.py!Queue.get'],
		[['app!_start', 'app!main', 'app!work', 'libz.so.1!inflate', 'libc.so.6!memcpy'], 'app!work'],
		[['app!_start', 'app!main', 'libz.so.1!inflate', 'libc.so.6!memcpy'], 'libz.so.1!inflate'],
		[['app!_start', 'app!main', 'libc.so.6!memcpy'], 'app!main'],
		[['app.py!step', 'app!launch', '[gpu] gemm'], '[gpu] gemm'],
		[['kernel!worker_thread', 'kernel!process_one_work'], 'kernel!process_one_work'],
	];
	const lines = [{ stream: 'culprits' }, { type: 'thread', pid: 7, tid: 7, name: 'app' }, ...Object.entries(paths).map(([name, path]) => ({ type: 'module', name, path })),
		...cases.map(([stack], place) => ({ type: 'run', t: place * 1e6, cost: 1e6, pid: 7, tid: 7, stack }))];

	writeFileSync(join(folder, 'culprits.jsonl'), lines.map((line) => JSON.stringify(line)).join('\n') + '\n');
	run('import', '-q', 'culprits.jsonl', '-o', 'culprits');
	const table = new FrameTable(JSON.parse(run('mine', 'culprits', '--kind', 'run', '--threshold', '1us', '--include-idle', '--json').split('\n')[0]));

	for (const [stack, expected] of cases)
		assert.equal(culprit(table.list(stack)).text, expected);
}

// What is new since a version, from the costs by stream, against the command asked for each side.
async function changesAreRight() {
	const { changesOf } = await source('changes');
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

	for (const change of changesOf(mined.clusters, ids, (id) => later.has(id))) {
		const sum = (wanted) => change.item.by_stream.reduce((all, value, i, list) => all + (i % 2 && later.has(ids[list[i - 1]]) === wanted ? value : 0), 0);

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

	await statesAreRight();
	await transformsAreRight();
	coloursAreApart();
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
				assert.ok(wait.waker === 0 ? data.isInterrupted(found) : data.head.threads[data.wakerOf(found)]?.tid === wait.waker, 'the waker of a wait');
		}
		selectionsAreRight(await source('selection_tree'), data, events, Number(start));
		const own = symptoms.filter((symptom) => symptom.id === stream.id);

		assert.equal(data.head.symptoms.length, own.length);
		data.head.symptoms.forEach((symptom, number) => {
			const places = [...Array(symptom.path_count).keys()].map((i) => i + symptom.path_first);
			const path = places.map((i) => {
				const type = data.path.type[i];

				return [['run', 'wait', 'ready'][type], data.head.threads[data.threadOf({ type, place: data.path.event[i] })].tid, Number(start) + data.path.t[i], data.path.cost[i]];
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
	await culpritsAreRight();
	await endsAreRight();
	for (const [ns, text] of [[0, '0 ns'], [999, '999 ns'], [999_600, '1 ms'], [1500, '1.5 µs'], [56_869_817, '56.9 ms'], [90e9, '90 s'], [194413386629, '3.24 min'], [18200712883185, '5.06 h'], [999.4e6, '999 ms']])
		assert.equal(duration(ns).replace('\u202f', ' '), text);
	console.log(`ok: ${info.streams.length} streams, ${symptoms.length} critical paths`);
} finally {
	rmSync(folder, { recursive: true });
}
