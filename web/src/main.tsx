// The page: which views there are depends on the data that came with it.
import { render, type ComponentChildren, type ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { isDark, palette, toggleTheme } from './colours';
import { blocks, complete, generation, mayPass, readBlock, readIndex, type PageIndex } from './page_data';
import { Failure } from './parts/failure';
import { Finder } from './parts/finder';
import { KeyHelp } from './parts/key_help';
import { Live } from './parts/live';
import { Reading } from './parts/reading';
import { exclude, match, Options, queryOf, symptom, useInfo, where, type Field } from './parts/options';
import { Share } from './parts/share';
import type { InfoResult, MineResult } from './results';
import { linkBack, nameView, replaceQuery, route } from './route';
import { Clusters } from './views/clusters';
import { Coverage } from './views/coverage';
import { Diff } from './views/diff';
import { Explain } from './views/explain';
import { Hunt } from './views/hunt';
import { Latency } from './views/latency';
import { OfferInputs, OfferSides } from './views/offers';
import { Overview, overviewFields } from './views/overview';
import { Profile, profileFields } from './views/profile';
import { Query, QueryForm } from './views/query';
import { Scope } from './views/scope';
import { Source, sourceFields } from './views/source';
import { StreamView } from './views/stream';

// What only a server can be asked for.
interface Asked {
	fields: Field[];
	fixed: string; // options that are not the reader's to choose
	// Whether the options are enough; where they are not, what to choose is offered instead of a result.
	ready?: (query: URLSearchParams) => boolean;
	offer?: ComponentType<{ info: InfoResult }>;
	form?: ComponentType; // instead of a field each
	linked?: boolean; // other views lead to it: it is among the views only while it is shown
}

interface View {
	name: string; // in links
	title: string;
	block: string; // the data it shows; with a / at its end: the name goes on with the first part of the link
	form: 'json' | 'columns';
	show: (result: unknown) => ComponentChildren; // what its block holds, which has the type that its schema says
	asked: Asked;
}

function view<Result>(name: string, title: string, block: string, form: View['form'], Shown: ComponentType<{ result: Result }>, asked: Partial<Asked> = {}): View {
	return { name, title, block, form, show: (result) => <Shown result={result as Result} />, asked: { fields: [], fixed: '', ...asked } };
}

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
	view('overview', 'Overview', 'info', 'json', Overview, { fields: overviewFields, fixed: 'brief' }),
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
	view('source', 'Source', 'annotate', 'json', Source, { fields: sourceFields, ready: (query) => !!query.get('function'), linked: true }),
	view('query', 'Query', 'query', 'json', Query, { fields: [{ key: 'sql', label: 'SQL', hint: '' }], ready: (query) => !!query.get('sql'), form: QueryForm }),
	view('stream', 'Timeline', 'stream/', 'columns', StreamView, { fields: [symptom] }),
];

function blockOf({ block }: View): string {
	return block.endsWith('/') ? block + (route.value.parts[0] ?? '') : block;
}

function Loaded({ shown, index, name }: { shown: View; index: PageIndex; name: string }) {
	const [state, setState] = useState<{ result?: unknown; error?: Error }>({});
	const load = () => {
		setState(({ result }) => ({ result })); // what is there stays until there is better
		readBlock(index, name, shown.form).then(
			(result) => setState({ result }),
			(error: Error) => setState({ error }),
		);
	};

	useEffect(load, [generation.value]);
	if (state.error)
		return <Failure error={state.error.message} retry={mayPass(state.error) ? load : undefined} />;
	if (state.result === undefined)
		return <Reading name={name} />;
	return shown.show(state.result);
}

function Shown({ shown, index }: { shown: View; index: PageIndex }) {
	const { fields, fixed, ready, offer: Offer, form: Form } = shown.asked;
	const served = index.api !== undefined;
	const info = useInfo(index);
	const enough = !served || !ready || ready(route.value.query);
	const name = blockOf(shown) + (served ? queryOf(fields, fixed, route.value.query) : '');

	return (
		<>
			{served && Form && <Form />}
			{served && !Form && fields.length > 0 && <Options key={shown.name} fields={fields} info={info} open={!enough} action="Analyse" />}
			{enough ? <Loaded key={name} shown={shown} index={index} name={name} /> : info && Offer && <Offer info={info} />}
		</>
	);
}

function ThemeButton() {
	palette.value; // drawn again when it changes
	// The link has what was chosen.
	const toggle = () => {
		toggleTheme();
		replaceQuery({ theme: isDark() ? 'dark' : 'light' });
	};

	const name = isDark() ? 'Light' : 'Dark';

	return <button type="button" class="icon" aria-label={name} title={`${name} colours`} onClick={toggle}>◐</button>;
}

// What a link asks for that is not here.
function unknownText({ view, parts }: typeof route.value): string {
	const known = views.find(({ name }) => name === view);

	if (known?.block.endsWith('/') && parts[0])
		return `This link leads to the stream ${parts[0]}, which is not in this ${blocks.value.size ? 'page' : 'file'}.`;
	return known ? `This link leads to "${known.title}", which is not in this page.` : `There is no view "${view}": the link is wrong, or of another version.`;
}

// A stream to show where none was shown yet.
function anyStream(): string | undefined {
	return [...blocks.value].find((name) => name.startsWith('stream/'))?.slice('stream/'.length);
}

function Page({ index }: { index: PageIndex }) {
	const present = views.filter((each) => blocks.value.has(blockOf(each)));
	const named = present.find(({ name }) => name === route.value.view);
	// Another view is shown only when it is sure that the named one will not come.
	const shown = named ?? (complete.value || !route.value.view ? present[0] : undefined);
	const [unknown, setUnknown] = useState('');
	const lastView = useRef('');

	useEffect(() => {
		if (!shown)
			return;
		if (route.value.view === shown.name) {
			setUnknown((before) => (before && lastView.current === shown.name ? before : ''));
		} else {
			setUnknown(route.value.view && unknownText(route.value));
			nameView(shown.name);
		}
		lastView.current = shown.name;
	}, [shown, route.value.view]);
	return (
		<>
			<header>
				<h1><span class="brand" aria-hidden="true">lo<b>d</b>e</span> <bdi>{index.title}</bdi></h1>
				{present.length > 1 && (
					<nav aria-label="Views">
						{present.filter((each) => !each.asked.linked || each === shown).map((each) => (
							<a href={linkBack(each.name)} aria-current={each === shown ? 'page' : undefined}>{each.title}</a>
						))}
						{shown?.name !== 'stream' && anyStream() && <a href={linkBack('stream', [anyStream()!])}>Timeline</a>}
					</nav>
				)}
				<div class="tools">
					{blocks.value.has('query') && <Live />}
					<Finder />
					<Share />
					<KeyHelp />
					<ThemeButton />
				</div>
			</header>
			<main>
				{unknown && <p role="alert" class="error">{unknown}</p>}
				{shown ? <Shown key={blockOf(shown)} shown={shown} index={index} /> : complete.value ? <p role="alert">There is nothing to show in this file.</p> : <p>Reading…</p>}
			</main>
			<footer class="dim">
				{index.version}. {index.api === undefined ? 'This file needs no network and sends nothing.' : 'Served on this machine alone.'}
			</footer>
		</>
	);
}

const app = document.getElementById('app')!;

// What the server was started with; a link that names its own symptoms is newer.
function beginWith(index: PageIndex): PageIndex {
	if (index.symptom && !route.value.query.has('symptom'))
		replaceQuery({ symptom: index.symptom });
	return index;
}

try {
	render(<Page index={beginWith(readIndex())} />, app);
} catch (error) {
	app.textContent = (error as Error).message;
}
