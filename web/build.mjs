// Bundles the page into one HTML file that needs nothing from elsewhere.
//
//	node web/build.mjs MODULES OUTPUT [DEPENDENCIES | --check-types]
//
// MODULES is the node_modules folder (tools/web makes it in the build folder, so that
// the source tree stays as it is). OUTPUT is a template with three places to fill in:
// lode_page_write puts the title at <!--title-->, what is in the page at <!--index--> and
// the data at <!--data-->. The script is before the data, so that the first view is shown
// while the rest is read. DEPENDENCIES is a file for ninja: what the page was made of.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const [modules, output, more] = process.argv.slice(2);
const sources = new Set();
const require = createRequire(resolve(modules, 'x.js'));
const esbuild = require('esbuild');

function bundle(entry) {
	const result = esbuild.buildSync({
		entryPoints: [join(here, 'src', entry)],
		bundle: true,
		minify: true,
		write: false,
		metafile: true,
		format: 'iife',
		target: ['chrome90', 'firefox90', 'safari15'],
		jsx: 'automatic',
		jsxImportSource: 'preact',
		nodePaths: [resolve(modules)],
		charset: 'utf8',
		legalComments: 'none',
		logLevel: 'warning',
	});
	for (const source of Object.keys(result.metafile.inputs))
		sources.add(resolve(source));
	return result.outputFiles[0].text.trim();
}

// What ends a script or style element early is written another way, which means the same in a string.
function inScript(text) {
	return text.replace(/<\/(script)/gi, '<\\/$1').replace(/<!--/g, '<\\!--');
}

function hash(text) {
	return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

// The type checker looks for modules beside the sources: give it a folder where they are.
function typesAreRight() {
	const folder = mkdtempSync(join(tmpdir(), 'lode-types-'));
	symlinkSync(join(here, 'src'), join(folder, 'src'));
	symlinkSync(resolve(modules), join(folder, 'node_modules'));
	writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({
		extends: join(here, 'tsconfig.json'),
		compilerOptions: { preserveSymlinks: true },
		include: [join(folder, 'src')],
	}));
	const run = spawnSync(process.execPath, [require.resolve('typescript/bin/tsc'), '-p', folder], { stdio: 'inherit' });
	rmSync(folder, { recursive: true });
	return run.status === 0;
}

if (more === '--check-types' && !typesAreRight())
	process.exit(1);
const script = inScript(bundle('main.tsx'));
const style = bundle('style.css') + bundle('workspace.css');
const policy = [
	"default-src 'none'",
	`script-src ${hash(script)}`,
	`style-src ${hash(style)}`,
	"img-src data:",
	"connect-src 'self'",
	"base-uri 'none'",
	"form-action 'none'",
].join('; ');

writeFileSync(output, `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><title><!--title--></title><style>${style}</style></head><body>
<noscript>This page draws itself with JavaScript, which is switched off here. The same result as text: run the command without -o.</noscript>
<div id="app"></div>
<!--index--><script>${script}</script>
<!--data-->
</body></html>
`);
if (more && more !== '--check-types')
	writeFileSync(more, `${[output, ...sources].map((path, i) => path.replace(/[ #]/g, '\\$&') + (i ? '' : ':')).join(' \\\n ')}\n`);
