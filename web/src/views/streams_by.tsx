// Streams by time, host or any attribute, and how slow they are.
import { useMemo, useState } from 'preact/hooks';

import { count, duration } from '../format';
import { Bar } from '../parts/bar';
import { Scatter, type ScatterData } from '../parts/scatter';
import { Table, type Column } from '../parts/table';
import type { InfoResult, InfoStream } from '../results';
import { replaceQuery, route } from '../route';
import { compareValues, groupsOf, isNumeric, TIME, usualKey, valueOf, valueText, type StreamGroup } from '../stream_groups';
import { delayOf, StreamName } from './overview';

// Delay where symptoms are known, else CPU time.
interface Measure {
	name: string;
	of: (stream: InfoStream) => number;
}

function measureOf(result: InfoResult): Measure {
	return result.symptoms > 0 ? { name: 'delay', of: delayOf } : { name: 'CPU time', of: (stream) => stream.cost_ns.run };
}

const FEW = 5; // fewer streams are better read in the table

function groupColumns(key: string, measure: Measure, most: number): Column<StreamGroup>[] {
	const mean = ({ streams }: StreamGroup) => streams.reduce((sum, stream) => sum + measure.of(stream), 0) / streams.length;
	const longest = ({ streams }: StreamGroup) => streams.reduce((most, stream) => Math.max(most, measure.of(stream)), 0);

	return [
		{ key: 'value', title: key, value: (row) => row.text, order: (a, b) => compareValues(a.from, b.from), cell: (row) => <bdi>{row.text}</bdi> },
		{ key: 'streams', title: 'Streams', number: true, value: (row) => row.streams.length, cell: (row) => count(row.streams.length) },
		{
			key: 'mean', title: `Mean ${measure.name}`, number: true, value: mean, help: 'A stream; a full bar is the largest of these groups',
			cell: (row) => <span class="share"><Bar share={mean(row) / (most || 1)} />{duration(mean(row))}</span>,
		},
		{ key: 'longest', title: 'Longest', number: true, value: longest, cell: (row) => duration(longest(row)) },
		{ key: 'hosts', title: 'Hosts', number: true, value: (row) => new Set(row.streams.map(({ host }) => host)).size },
	];
}

// As much of a time as distinguishes the streams.
function timeText(time: number, times: number[]): string {
	const range = times.reduce((most, each) => Math.max(most, each), -Infinity) - times.reduce((least, each) => Math.min(least, each), Infinity);
	const text = valueText(TIME, time);

	return range < 3600 ? text.slice(11) : range < 86400 ? text.slice(11, 16) : range < 30 * 86400 ? text.slice(5, 16) : text.slice(0, 10);
}

// A stream each, over time or another number; a point leads into its stream.
function OverNumber({ streams, by, measure }: { streams: InfoStream[]; by: string; measure: Measure }) {
	const [point, setPoint] = useState(-1);
	const known = useMemo(() => streams.filter((stream) => typeof valueOf(stream, by) === 'number'), [streams, by]);
	const times = known.map((each) => valueOf(each, by) as number);
	const data = useMemo<ScatterData>(
		() => ({
			x: known.map((stream) => valueOf(stream, by) as number), y: known.map(measure.of), cluster: known.map(() => 0), curves: { x: [], y: [] }, logarithmic: false,
			xName: by, yName: measure.name, xText: (x) => (by === TIME ? timeText(x, times) : Number(x.toPrecision(4)).toLocaleString('en-US')), yText: duration,
		}),
		[known],
	);
	const stream = known[point];

	return (
		<>
			<Scatter data={data} only={null} selected={point < known.length ? point : -1} onSelect={setPoint} />
			{stream ? (
				<p class="flame-details" aria-live="polite">
					Stream <StreamName stream={stream} />: <bdi>{by}</bdi> {valueText(by, valueOf(stream, by))}, {measure.name} <b>{duration(measure.of(stream))}</b>
				</p>
			) : (
				<p class="dim flame-details">Point at a stream, or press the arrow keys, to see which one it is.</p>
			)}
		</>
	);
}

export function StreamsBy({ result, keys }: { result: InfoResult; keys: string[] }) {
	const chosen = route.value.query.get('by');
	const by = chosen && keys.includes(chosen) ? chosen : usualKey(result.streams, keys);
	const measure = useMemo(() => measureOf(result), [result]);
	const groups = useMemo(() => groupsOf(result.streams, by), [result, by]);
	const most = Math.max(...groups.map(({ streams }) => streams.reduce((sum, stream) => sum + measure.of(stream), 0) / streams.length));

	return (
		<section aria-label="Streams by attribute">
			<h2>
				<label>
					Streams by{' '}
					<select value={by} onChange={(event) => replaceQuery({ by: event.currentTarget.value })}>
						{keys.map((key) => <option value={key}>{key === TIME ? 'time added' : key}</option>)}
					</select>
				</label>
			</h2>
			{isNumeric(result.streams, by) && result.streams.length >= FEW && <OverNumber key={by} streams={result.streams} by={by} measure={measure} />}
			<Table key={by} columns={groupColumns(by, measure, most)} rows={groups} label="Groups of streams" sortBy="value" ascending rowKey={({ text }) => text} shown={12} />
		</section>
	);
}
