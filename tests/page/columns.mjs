// Columns of numbers as C codes them and as the page decodes them: random ones, thousands of times.
//
//	node tests/page/columns.mjs SAMPLES MODULES
//
// SAMPLES writes the same columns twice, as they are and coded (column_samples.c).
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [samples, modules] = process.argv.slice(2);
const esbuild = createRequire(resolve(modules, 'x.js'))('esbuild');
const source = resolve(dirname(fileURLToPath(import.meta.url)), '../../web/src/columns.ts');
const folder = mkdtempSync(join(tmpdir(), 'lode-columns-'));
const ROUNDS = 3000;

try {
	const outfile = join(folder, 'columns.mjs');

	esbuild.buildSync({ entryPoints: [source], bundle: true, format: 'esm', outfile });
	const { Columns } = await import(pathToFileURL(outfile));
	const all = execFileSync(resolve(samples), [String(ROUNDS)], { maxBuffer: 1 << 30 });
	const seen = { plain: 0, predicted: 0, steps: 0, raw: 0, planes: 0 };
	let at = 0;
	const next = () => {
		const size = all.readUInt32LE(at);
		const bytes = new Uint8Array(all.subarray(at + 4, at + 4 + size)).buffer;

		at += 4 + size;
		return bytes;
	};

	for (let round = 0; round < ROUNDS; round++) {
		const raw = new Columns(next());
		const bytes = next();
		const coded = new Columns(bytes);

		for (const { name, type, coded_bytes: size, planes, steps } of coded.head.columns) {
			assert.deepEqual(coded[type](name), raw[type](name), `round ${round}, column ${name}`);
			seen.planes += planes > 0;
			seen[size === undefined ? 'raw' : steps?.length ? 'steps' : steps ? 'predicted' : 'plain']++;
		}
		const column = coded.head.columns.find(({ coded_bytes: size, planes }) => size > 1 && !planes);
		const flat = coded.head.columns.find(({ planes }) => planes > 0);

		if (flat) {
			const cut = new Columns(bytes);

			cut.head.columns.find(({ name }) => name === flat.name).planes++;
			assert.throws(() => cut[flat.type](flat.name), /damaged/);
		}

		// What is cut short, or goes on for ever, is no column.
		if (column && round % 10 === 0) {
			const place = 4 + new DataView(bytes).getUint32(0, true);

			new Uint8Array(bytes).fill(255, Math.ceil(place / 8) * 8);
			assert.throws(() => new Columns(bytes)[column.type](column.name), /damaged/);
		}
	}
	assert.equal(at, all.length);
	assert.ok(Object.values(seen).every((count) => count > 100), `not all codings were seen: ${JSON.stringify(seen)}`);
	console.log(`ok: ${ROUNDS} rounds, ${JSON.stringify(seen)}`);
} finally {
	rmSync(folder, { recursive: true });
}
