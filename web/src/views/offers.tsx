// What a server can compare or explain, as long as nothing was chosen.
import { numericAttributes, attributeValues } from '../parts/options';
import { Help } from '../parts/help';
import type { InfoResult } from '../results';
import { link } from '../route';

const MAX_OFFERS = 12;
const MAX_SIDES = 6; // values of an attribute that are compared, each with the one before

// Neighbouring values of each attribute that has a few.
function pairs(info: InfoResult): [string, string][] {
	return [...attributeValues(info)].filter(([, values]) => values.length > 1 && values.length <= MAX_SIDES)
		.flatMap(([key, values]) => values.slice(1).map((value, place): [string, string] => [`${key}=${values[place]}`, `${key}=${value}`]));
}

export function OfferSides({ info }: { info: InfoResult }) {
	const offers = pairs(info).slice(0, MAX_OFFERS);

	return (
		<>
			<Help words={['base', 'path', 'p and q', 'stream']}>
				What slow streams do that good ones do not. Choose above which streams are the base, and which are slow
				{offers.length > 0 && ', or take one of these'}.
			</Help>
			<ul>
				{offers.map(([base, slow]) => (
					<li><a href={link('diff', [], { 'base-where': base, 'slow-where': slow })}><bdi class="mono">{slow}</bdi> compared with <bdi class="mono">{base}</bdi></a></li>
				))}
			</ul>
		</>
	);
}

export function OfferInputs({ info }: { info: InfoResult }) {
	const values = attributeValues(info);
	// A number with many values is more likely a size than a choice.
	const names = numericAttributes(info).sort((a, b) => values.get(b)!.length - values.get(a)!.length).slice(0, MAX_OFFERS);

	return (
		<>
			<Help words={['cluster of rows', 'tree', 'R²', 'accuracy', 'symptom']}>
				Why some streams are slow and others not: choose above which attributes of a stream its delay should follow
				{names.length > 0 ? ', or take one of these' : '; no attribute of these streams is a number, so there is nothing to draw it against'}.
			</Help>
			<ul>
				{names.map((name) => (
					<li><a href={link('explain', [], { x: name, y: info.symptoms ? 'delay' : 'span' })}>{info.symptoms ? 'Delay' : 'Length'} by <bdi class="mono">{name}</bdi></a></li>
				))}
			</ul>
		</>
	);
}
