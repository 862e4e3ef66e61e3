// The colours of the page: text can be read, and fills can be told from the background, light and dark.
//
//	node tests/page/contrast.mjs STYLE
import { readFileSync } from 'node:fs';

const [style] = process.argv.slice(2);
const css = readFileSync(style, 'utf8');
const recede = /^state-(work|idle|not_recorded)$/;
const soft = /^state-(ready|timer|other)$/;
let failures = 0;

// WCAG 2.1: relative luminance, and the contrast of two colours.
function luminance(colour) {
	const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255).map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));

	return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a, b) {
	const [more, less] = [luminance(a), luminance(b)].sort((x, y) => y - x);

	return (more + 0.05) / (less + 0.05);
}

function check(theme, colours, front, back, least) {
	const value = contrast(colours[front], colours[back]);

	if (value >= least)
		return;
	failures++;
	console.log(`FAILED ${theme}: --${front} on --${back} has a contrast of ${value.toFixed(2)}, and needs ${least}`);
}

function tokens(selector) {
	const at = css.indexOf(`${selector} {`);

	return Object.fromEntries([...css.slice(at, css.indexOf('\n}', at)).matchAll(/--([\w-]+): (#[0-9a-f]{6})\b/g)].map(([, name, value]) => [name, value]));
}

const light = tokens(':root');
const dark = { ...light, ...tokens(':root[data-theme="dark"]') };

for (const [theme, colours] of Object.entries({ light, dark })) {
	const states = Object.keys(colours).filter((name) => /^state-/.test(name));

	if (states.length < 12 || !colours.background)
		throw new Error(`${style}: the colours of states are not there`);
	for (const back of ['background', 'panel']) {
		for (const front of ['text', 'dim', 'link', 'accent'])
			check(theme, colours, front, back, 4.5);
		for (const state of states.filter((name) => !recede.test(name)))
			check(theme, colours, state, back, 3);
	}
	check(theme, colours, 'accent', 'tint', 4.5);
	check(theme, colours, 'text', 'symptom', 4.5);
	check(theme, colours, 'on-accent', 'accent', 4.5);
	for (const state of states)
		check(theme, colours, recede.test(state) ? 'on-idle' : soft.test(state) ? 'on-soft' : 'on-state', state, 4.5);
}
process.exit(failures ? 1 : 0);
