/*
 * Statements of bench/query in DuckDB.
 *
 *	node bench/duckdb/query.mjs MODULES DATABASE SQL [REPEATS]
 *
 * MODULES is the folder node_modules of package.json. Without REPEATS the statement runs once and prints nothing; with it,
 * one thread runs it so often, the rows of the last time go to standard output as CSV, and the elapsed and the processor
 * seconds of the fastest time to standard error.
 */
import { createRequire } from "node:module";
import path from "node:path";

const [modules, database, statement, repeats] = process.argv.slice(2);
const { DuckDBInstance } = createRequire(path.resolve(modules, "package.json"))("@duckdb/node-api");
const connection = await (await DuckDBInstance.create(database)).connect();

if (repeats === undefined) {
	await connection.run(statement);
} else {
	await connection.run("SET threads = 1");
	let fastest = null;
	let reader = null;

	for (let i = 0; i < Number(repeats); i++) {
		const began = performance.now();
		const used = process.cpuUsage();

		reader = await connection.runAndReadAll(statement);
		const { user, system } = process.cpuUsage(used);
		const took = { elapsed: (performance.now() - began) / 1e3, processor: (user + system) / 1e6 };

		if (!fastest || took.elapsed < fastest.elapsed)
			fastest = took;
	}
	console.log([reader.columnNames(), ...reader.getRows()].map((row) => row.join(",")).join("\n"));
	console.error(`${fastest.elapsed} ${fastest.processor}`);
}
