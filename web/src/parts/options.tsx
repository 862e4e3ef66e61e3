// What a server is asked for: the options of an analysis as a form. They are in the link, so
// that a result has one; without a server there is nothing to choose.
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';

import { compareTexts } from '../format';
import { blocks, readBlock, type PageIndex } from '../page_data';
import type { InfoResult } from '../results';
import { go, linkHere, route } from '../route';

type Suggestion = 'where' | 'stream' | 'number' | 'measure';

export interface Field {
	key: string; // of the link, and of the server
	label: string;
	hint: string;
	suggest?: Suggestion;
	choices?: string[];
	flag?: boolean;
	own?: boolean; // the page's affair, not the server's
}

// What several analyses are asked with.
export const symptom: Field = { key: 'symptom', label: 'What was slow', hint: 'wait > 200ms in app!lock' };
export const where: Field = { key: 'where', label: 'Only streams with', hint: 'version=4.2', suggest: 'where' };
export const match: Field = { key: 'match', label: 'Only stacks with', hint: 'libssl*!*' };
export const exclude: Field = { key: 'exclude', label: 'No stacks with', hint: 'app!poll_loop' };

// What to ask a server for: `fixed`, and what the link says of `fields`.
export function queryOf(fields: Field[], fixed: string, query: URLSearchParams): string {
	const words = fields.flatMap(({ key, flag, own }) => {
		const value = query.get(key)?.trim();

		return !value || own ? [] : flag ? [key] : [`${key}=${encodeURIComponent(value)}`];
	});
	const all = [...fixed.split('&').filter((word) => word && !words.some((other) => other.split('=')[0] === word.split('=')[0])), ...words];

	return all.length ? `?${all.join('&')}` : '';
}

const MAX_VALUES = 40;

// The values of each attribute, host and name among them; those with very many values are no choice.
export function attributeValues(info: InfoResult): Map<string, string[]> {
	const values = new Map<string, Set<string>>();
	const note = (key: string, value: unknown) => values.set(key, (values.get(key) ?? new Set()).add(String(value)));

	for (const stream of info.streams) {
		if (stream.host)
			note('host', stream.host);
		for (const [key, value] of Object.entries(stream.attrs))
			note(key, value);
	}
	return new Map([...values].map(([key, set]) => [key, [...set].sort(compareTexts)]));
}

export function numericAttributes(info: InfoResult): string[] {
	return [...attributeValues(info).keys()].filter((key) =>
		info.streams.every(({ attrs }) => attrs[key] === undefined || typeof attrs[key] === 'number') && info.streams.some(({ attrs }) => typeof attrs[key] === 'number'));
}

function suggestions(info: InfoResult | null, kind: Suggestion): string[] {
	if (!info)
		return [];
	if (kind === 'stream')
		return [...new Set(info.streams.map(({ name }) => name))];
	if (kind === 'number')
		return numericAttributes(info);
	if (kind === 'measure')
		return ['delay', 'run', 'wait', 'span', ...numericAttributes(info)];
	return [...attributeValues(info)].filter(([, values]) => values.length <= MAX_VALUES).flatMap(([key, values]) => values.map((value) => `${key}=${value}`));
}

// The streams of the corpus, once they are known; null before, and without a server.
export function useInfo(index: PageIndex): InfoResult | null {
	const [info, setInfo] = useState<InfoResult | null>(null);

	useEffect(() => {
		if (index.api !== undefined && blocks.value.has('info'))
			readBlock(index, 'info?brief', 'json').then((result) => setInfo(result as InfoResult), () => setInfo(null));
	}, []);
	return info;
}

function Input({ field, info, value, onChange }: { field: Field; info: InfoResult | null; value: string; onChange: (value: string) => void }) {
	const list = field.suggest && suggestions(info, field.suggest);
	const id = `suggest-${field.key}`;

	if (field.flag)
		return <label class="option"><span><input type="checkbox" checked={!!value} onChange={() => onChange(value ? '' : 'yes')} /> {field.label}</span></label>;
	if (field.choices)
		return (
			<label class="option">
				<span>{field.label}</span>
				<select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
					{field.choices.map((choice) => <option value={choice}>{choice || field.hint}</option>)}
				</select>
			</label>
		);
	return (
		<label class="option">
			<span>{field.label}</span>
			<input value={value} placeholder={field.hint} list={list ? id : undefined} onInput={(event) => onChange(event.currentTarget.value)} />
			{list && <datalist id={id}>{list.map((each) => <option value={each} />)}</datalist>}
		</label>
	);
}

interface OptionsProps {
	fields: Field[];
	info: InfoResult | null;
	open: boolean; // there is no result without a choice
	action: string; // what the button says
}

export function Options({ fields, info, open, action }: OptionsProps) {
	const { query } = route.value;
	const set = Object.fromEntries(fields.map(({ key }) => [key, query.get(key) ?? '']));
	const [values, setValues] = useState(set);
	const said = fields.filter(({ key }) => set[key]);

	// At once, not after the next frame: what the user types until then would be lost.
	useLayoutEffect(() => setValues(set), [query.toString()]);
	return (
		<div class="filters">
			{said.map(({ key, label, flag }) => (
				<span class="chip">
					{label} {!flag && <b><bdi>{set[key]}</bdi></b>} <button type="button" aria-label={`Without ${label} ${set[key]}`} title="Remove" onClick={() => go(linkHere(route.value.parts, { [key]: '' }))}>×</button>
				</span>
			))}
			<details class="options" open={open}>
				<summary class="chip">{said.length > 0 ? 'Change' : 'Options'}</summary>
			<form onSubmit={(event) => {
				event.preventDefault();
				go(linkHere([], values));
			}}>
				{fields.map((field) => (
					<Input key={field.key} field={field} info={info} value={values[field.key] ?? ''} onChange={(value) => setValues({ ...values, [field.key]: value })} />
				))}
				<button type="submit">{action}</button>
			</form>
		</details>
		</div>
	);
}
