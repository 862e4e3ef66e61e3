// What holds for every view, with axe-core; a picture of it if the test was asked for pictures.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { check, current, others, require } from './browser.mjs';

const [pictures] = others;
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

// The view fits into the window, and has no lack of contrast or labels.
export async function checkView(page, name) {
	const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

	check(wide <= 0, `${name} is ${wide} pixels wider than the window`);
	// The policy forbids scripts that the page does not know; a test may all the same evaluate one.
	await page.evaluate(axe);
	const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));

	for (const { id, nodes, help } of violations)
		check(false, `${name}: ${id}: ${help}: ${nodes.slice(0, 3).map(({ html }) => html).join(' | ')}`);
	if (pictures)
		await page.screenshot({ path: join(pictures, `${current}-${name}.png`.replace(/[^\w.-]+/g, '-')) });
}
