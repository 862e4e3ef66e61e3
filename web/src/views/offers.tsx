// What a server can compare or explain, as long as nothing was chosen.
import { duration } from '../format';
import { numericAttributes, attributeValues } from '../parts/options';
import { Help } from '../parts/help';
import type { InfoResult, InfoStream } from '../results';
import { link } from '../route';
import { isNote } from '../stream_groups';
import { delayOf } from './overview';

const MAX_OFFERS = 12;
const MAX_SIDES = 6; // values of an attribute that are compared, each with the one before

interface Side {
	where: string;
	mean: number; // ns: delay, or without symptoms length, a stream
}

function sideOf(info: InfoResult, key: string, value: string): Side {
	const streams = info.streams.filter((stream) => String(key === 'host' ? stream.host : stream.attrs[key]) === value);
	const time = (stream: InfoStream) => (info.symptoms > 0 ? delayOf(stream) : stream.last_t - stream.first_t);

	return { where: `${key}=${value}`, mean: streams.reduce((sum, stream) => sum + time(stream), 0) / (streams.length || 1) };
}

// Neighbouring values of each attribute that has a few. The slow side is the one that takes longer.
export function pairs(info: InfoResult): { base: Side; slow: Side }[] {
	return [...attributeValues(info)].filter(([key, values]) => !isNote(key) && values.length > 1 && values.length <= MAX_SIDES)
		.flatMap(([key, values]) => values.slice(1).map((value, place) => {
			const [base, slow] = [sideOf(info, key, values[place]!), sideOf(info, key, value)].sort((a, b) => a.mean - b.mean) as [Side, Side];

			return { base, slow };
		}));
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
				{offers.map(({ base, slow }) => (
					<li>
						<a href={link('diff', [], { 'base-where': base.where, 'slow-where': slow.where })}>Why <bdi class="mono">{slow.where}</bdi> is slower than <bdi class="mono">{base.where}</bdi></a>{' '}
						<span class="dim">{duration(slow.mean)} a stream instead of {duration(base.mean)}</span>
					</li>
				))}
			</ul>
		</>
	);
}

export function OfferInputs({ info }: { info: InfoResult }) {
	const values = attributeValues(info);
	// A number with many values is more likely a size than a choice.
	const names = numericAttributes(info).filter((name) => !isNote(name)).sort((a, b) => values.get(b)!.length - values.get(a)!.length).slice(0, MAX_OFFERS);

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
