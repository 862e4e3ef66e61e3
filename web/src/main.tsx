// The page: which views there are depends on the data that came with it.
import { render, type ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { isDark, palette, toggleTheme } from './colours';
import { blocks, complete, readBlock, readIndex, type PageIndex } from './page_data';
import { Reading } from './parts/reading';
import { exclude, match, Options, queryOf, useInfo, where, type Field } from './parts/options';
import type { InfoResult, MineResult } from './results';
import { linkBack, nameView, route } from './route';
import { Clusters } from './views/clusters';
import { Coverage } from './views/coverage';
import { Diff } from './views/diff';
import { Explain } from './views/explain';
import { Hunt } from './views/hunt';
import { Latency } from './views/latency';
import { OfferInputs, OfferSides } from './views/offers';
import { Overview } from './views/overview';
import { Profile, profileFields } from './views/profile';
import { Scope } from './views/scope';
import { StreamView } from './views/stream';

// What only a server can be asked for.
interface Asked {
	fields: Field[];
	fixed: string; // options that are not the reader's to choose
	// Whether the options are enough; where they are not, what to choose is offered instead of a result.
	ready?: (query: URLSearchParams) => boolean;
	offer?: ComponentType<{ info: InfoResult }>;
}

interface View {
	name: string; // in links
	title: string;
	block: string; // the data it shows; with a / at its end: the name goes on with the first part of the link
	form: 'json' | 'columns';
	show: ComponentType<{ result: never }>;
	asked: Asked;
}

function view<Result>(name: string, title: string, block: string, form: View['form'], show: ComponentType<{ result: Result }>, asked: Partial<Asked> = {}): View {
	return { name, title, block, form, show: show as unknown as View['show'], asked: { fields: [], fixed: '', ...asked } };
}

const symptom: Field = { key: 'symptom', label: 'Symptoms', hint: 'wait > 200ms in app!lock' };
const area: Field[] = [
	{ key: 'scope', label: 'Scope', hint: 'as fits', choices: ['', 'all', 'thread', 'graph', 'critical-path'] },
	symptom, where, match, exclude,
	{ key: 'threshold', label: 'Least cost of a pattern', hint: '10ms' },
	{ key: 'rank', label: 'Ranked by', hint: 'total', choices: ['', 'total', 'streams', 'events', 'average'] },
	{ key: 'include-idle', label: 'idle waits, too', hint: '', flag: true },
];
const sides: Field[] = [
	{ key: 'base-where', label: 'Base: streams with', hint: 'version=4.1', suggest: 'where' },
	{ key: 'slow-where', label: 'Slow: streams with', hint: 'version=4.2', suggest: 'where' },
	{ key: 'base-stream', label: 'Base: the stream', hint: 'name or id', suggest: 'stream' },
	{ key: 'slow-stream', label: 'Slow: the stream', hint: 'name or id', suggest: 'stream' },
	where, match,
];
const hasSides = (query: URLSearchParams) => sides.slice(0, 4).some(({ key }) => query.get(key));
const inputs: Field[] = [
	{ key: 'x', label: 'x', hint: 'attributes: files,size', suggest: 'number' },
	{ key: 'y', label: 'y', hint: 'to be explained: delay', suggest: 'measure' },
	{ key: 'clusters', label: 'Functions', hint: 'auto' },
	{ key: 'rows', label: 'A row is a', hint: 'stream', choices: ['', 'streams', 'symptoms'] },
	where, symptom,
];

// The first one with data is shown at first.
const views = [
	view('overview', 'Overview', 'info', 'json', Overview, { fixed: 'brief' }),
	view('clusters', 'Waits', 'mine', 'json', (props: { result: MineResult }) => <Clusters {...props} view="clusters" />, { fields: area, fixed: 'page-data' }),
	view('cpu-clusters', 'CPU time', 'mine-run', 'json', (props: { result: MineResult }) => <Clusters {...props} view="cpu-clusters" />, { fields: area, fixed: 'page-data' }),
	view('coverage', 'Coverage', 'coverage', 'json', Coverage, { fields: [where] }),
	view('scope', 'Symptoms', 'scope', 'json', Scope, {
		fields: [symptom, where, { key: 'stream', label: 'Only the stream', hint: 'name or id', suggest: 'stream' }, { key: 'top', label: 'How many, the longest', hint: '20' }],
		fixed: 'page-data&top=20',
	}),
	view('latency', 'Latency', 'latency', 'json', Latency, { fields: [where, match], fixed: 'page-data' }),
	view('diff', 'Difference', 'diff', 'json', Diff, { fields: sides, fixed: 'page-data', ready: hasSides, offer: OfferSides }),
	view('explain', 'Explanation', 'explain', 'json', Explain, { fields: inputs, fixed: 'page-data', ready: (query) => !!query.get('x'), offer: OfferInputs }),
	view('hunt', 'Hunt', 'hunt', 'json', Hunt),
	view('profile', 'Flame graph', 'profile', 'columns', Profile, { fields: profileFields }),
	view('stream', 'Stream', 'stream/', 'columns', StreamView, { fields: [symptom] }),
];

function blockOf({ block }: View): string {
	return block.endsWith('/') ? block + (route.value.parts[0] ?? '') : block;
}

function Loaded({ shown, index, name }: { shown: View; index: PageIndex; name: string }) {
	const [state, setState] = useState<{ result?: unknown; error?: string }>({});
	const load = () => {
		setState({});
		readBlock(index, name, shown.form).then(
			(result) => setState({ result }),
			(error: Error) => setState({ error: error.message }),
		);
	};

	useEffect(load, []);
	if (state.error)
		return (
			<>
				<p role="alert" class="error">{state.error}</p>
				{index.api !== undefined && <button type="button" onClick={load}>Try again</button>}
			</>
		);
	if (state.result === undefined)
		return <Reading name={name} />;
	return <shown.show result={state.result as never} />;
}

function Shown({ shown, index }: { shown: View; index: PageIndex }) {
	const { fields, fixed, ready, offer: Offer } = shown.asked;
	const served = index.api !== undefined;
	const info = useInfo(index);
	const enough = !served || !ready || ready(route.value.query);
	const name = blockOf(shown) + (served ? queryOf(fields, fixed, route.value.query) : '');

	return (
		<>
			{served && fields.length > 0 && <Options key={shown.name} fields={fields} info={info} open={!enough} action="Analyze" />}
			{enough ? <Loaded key={name} shown={shown} index={index} name={name} /> : info && Offer && <Offer info={info} />}
		</>
	);
}

function ThemeButton() {
	palette.value; // drawn again when it changes
	return <button type="button" onClick={toggleTheme}>{isDark() ? 'Light' : 'Dark'}</button>;
}

function Page({ index }: { index: PageIndex }) {
	const present = views.filter((each) => blocks.value.has(blockOf(each)));
	const named = present.find(({ name }) => name === route.value.view);
	// Another view is shown only when it is sure that the named one will not come.
	const shown = named ?? (complete.value || !route.value.view ? present[0] : undefined);

	useEffect(() => {
		if (shown && route.value.view !== shown.name)
			nameView(shown.name);
	}, [shown]);
	return (
		<>
			<header>
				<h1><bdi>{index.title}</bdi></h1>
				{present.length > 1 && (
					<nav aria-label="Views">
						{present.map((each) => (
							<a href={linkBack(each.name)} aria-current={each === shown ? 'page' : undefined}>{each.title}</a>
						))}
					</nav>
				)}
				<ThemeButton />
			</header>
			<main>{shown ? <Shown key={blockOf(shown)} shown={shown} index={index} /> : complete.value ? <p role="alert">There is nothing to show in this file.</p> : <p>Reading…</p>}</main>
			<footer class="dim">
				{index.version}. {index.api === undefined ? 'This file needs no network and sends nothing.' : 'Served on this machine alone.'}
			</footer>
		</>
	);
}

const app = document.getElementById('app')!;

try {
	render(<Page index={readIndex()} />, app);
} catch (error) {
	app.textContent = (error as Error).message;
}
