/*
 * Reads a profile with a package of npm, for bench/formats.
 *
 *	node bench/npm/read.mjs MODULES READER FILE
 *
 * MODULES is the folder node_modules of package.json. Writes how many profiles, threads or samples came out: what reads
 * nothing does not count. READER:
 *
 *	speedscope      its import code, which is a part of the page that the package consists of: it is started without a
 *	                document and stopped before it draws anything
 *	profiler-cli    what Firefox Profiler does with a file that it opens: of its own format, little beyond JSON.parse
 *	trace_engine    what Chrome's developer tools do with a trace
 *	pprof-format    the whole message as objects
 *	JSON.parse      of node alone
 */
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [folder, name, file] = process.argv.slice(2);
const modules = path.resolve(folder);

/* Something that can be called, asked for anything and assigned to. */
function anything() {
	const self = new Proxy(function () {}, {
		get: (target, key) => (key === Symbol.toPrimitive ? () => "" : key === "then" ? undefined : self),
		set: () => true,
		apply: () => self,
		construct: () => self,
	});
	return self;
}

async function silently(action) {
	const kept = { log: console.log, warn: console.warn, error: console.error };
	for (const level of Object.keys(kept))
		console[level] = () => {};
	const result = await action();
	Object.assign(console, kept);
	return result;
}

async function speedscope(bytes) {
	const release = path.join(modules, "speedscope/dist/release");
	const script = fs.readdirSync(release).find((entry) => /^speedscope-.*\.js$/.test(entry));
	const text = fs.readFileSync(path.join(release, script), "utf8");
	const entry = /async function ([\w$]+)\([\w$]+,[\w$]+\)\{return\(await [\w$]+\)\.importProfilesFromArrayBuffer/.exec(text);
	const start = text.indexOf("console.log(`speedscope v");
	let read;

	new Function("window", "document", "location", "expose", `${text.slice(0, start)}expose(${entry[1]});})()`)(
		anything(), anything(), { hash: "", search: "", protocol: "http:", href: "" }, (found) => { read = found; });
	const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
	return (await silently(() => read(path.basename(file), buffer)))?.profiles.length;
}

/* The command is loaded as if it were asked for its version, and kept from ending the process. */
async function profilerCli(bytes) {
	const script = path.join(modules, "@firefox-devtools/profiler-cli/dist/profiler-cli.js");
	const text = fs.readFileSync(script, "utf8").replace(/^#!.*/, "");
	const end = text.indexOf("Unserializing the profile failed");
	const entry = [...text.slice(0, end).matchAll(/async function ([\w$]+)\(/g)].at(-1);
	const { argv, exit } = process, writes = [process.stdout.write, process.stderr.write];
	let read;

	process.argv = [argv[0], script, "--version"];
	process.exit = () => {};
	process.stdout.write = process.stderr.write = () => true;
	new Function("require", "module", "exports", "__filename", "__dirname", "expose", `${text};expose(${entry[1]})`)(
		createRequire(script), { exports: {} }, {}, script, path.dirname(script), (found) => { read = found; });
	await new Promise((resolve) => { setImmediate(resolve); });
	[process.stdout.write, process.stderr.write] = writes;
	process.exit = exit;
	return (await silently(() => read(bytes, path.basename(file)))).threads.length;
}

async function traceEngine(bytes) {
	const Trace = await import(pathToFileURL(path.join(modules, "@paulirish/trace_engine/models/trace/trace.js")));
	const processor = Trace.Processor.TraceProcessor.createWithAllHandlers();
	const json = JSON.parse(bytes.toString());

	await silently(() => processor.parse(json.traceEvents ?? json, { isFreshRecording: false, isCPUProfile: false }));
	return Object.keys(processor.data ?? {}).length;
}

async function pprofFormat(bytes) {
	const { Profile } = await import(pathToFileURL(path.join(modules, "pprof-format/dist/esm/index.js")));

	return Profile.decode(bytes).sample.length;
}

const readers = {
	speedscope,
	"profiler-cli": profilerCli,
	trace_engine: traceEngine,
	"pprof-format": pprofFormat,
	"JSON.parse": (bytes) => Object.keys(JSON.parse(bytes.toString())).length,
};
const count = await readers[name](fs.readFileSync(file));

if (!count)
	throw new Error(`${name} read nothing out of ${file}`);
console.log(count);
process.exit(0);
