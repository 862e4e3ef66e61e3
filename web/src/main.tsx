// The page: which views there are depends on the data that came with it.
import { render, type ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { isDark, palette, toggleTheme } from './colours';
import { blocks, readBlock, readIndex, running, type PageIndex } from './page_data';
import { link, route } from './route';
import { Clusters, type MineResult } from './views/clusters';
import { Coverage } from './views/coverage';
import { Diff } from './views/diff';
import { Explain } from './views/explain';
import { Hunt } from './views/hunt';
import { Latency } from './views/latency';
import { Overview } from './views/overview';
import { Profile } from './views/profile';
import { Scope } from './views/scope';
import { StreamView } from './views/stream';

interface View {
	name: string; // in links
	title: string;
	block: string; // the data it shows; with a / at its end: the name goes on with the first part of the link
	form: 'json' | 'bytes';
	show: ComponentType<{ result: never }>;
	// What to ask a server for behind the name of the block; null: it cannot be asked for, since the
	// view needs what only `-o X.html` puts into the data, or options.
	query: string | null;
}

function view<Result>(name: string, title: string, block: string, form: View['form'], show: ComponentType<{ result: Result }>, query: View['query'] = ''): View {
	return { name, title, block, form, show: show as unknown as View['show'], query };
}

// The first one with data is shown at first.
const views = [
	view('overview', 'Overview', 'info', 'json', Overview),
	view('clusters', 'Waits', 'mine', 'json', (props: { result: MineResult }) => <Clusters {...props} view="clusters" />),
	view('cpu-clusters', 'CPU time', 'mine-run', 'json', (props: { result: MineResult }) => <Clusters {...props} view="cpu-clusters" />),
	view('coverage', 'Coverage', 'coverage', 'json', Coverage),
	view('scope', 'Symptoms', 'scope', 'json', Scope, null),
	view('latency', 'Latency', 'latency', 'json', Latency, '?top=300'),
	view('diff', 'Difference', 'diff', 'json', Diff, null),
	view('explain', 'Explanation', 'explain', 'json', Explain, null),
	view('hunt', 'Hunt', 'hunt', 'json', Hunt, null),
	view('profile', 'Flame graph', 'profile', 'bytes', Profile),
	view('stream', 'Stream', 'stream/', 'bytes', StreamView),
];

function blockOf({ block }: View): string {
	return block.endsWith('/') ? block + (route.value.parts[0] ?? '') : block;
}

function Reading({ name }: { name: string }) {
	const progress = running.value.get(name);

	if (!progress)
		return <p>Reading…</p>;
	return (
		<p aria-live="polite">
			<progress max={progress.total || undefined} value={progress.total ? progress.done : undefined} aria-label={progress.phase || 'Analysis'} />{' '}
			{progress.phase || 'Starting the analysis'} <button type="button" onClick={progress.cancel}>Cancel</button>
		</p>
	);
}

function Loaded({ shown, index }: { shown: View; index: PageIndex }) {
	const [state, setState] = useState<{ result?: unknown; error?: string }>({});
	const name = blockOf(shown) + (index.api === undefined ? '' : (shown.query ?? ''));

	useEffect(() => {
		readBlock(index, name, shown.form).then(
			(result) => setState({ result }),
			(error: Error) => setState({ error: error.message }),
		);
	}, [name]);
	if (state.error)
		return <p role="alert" class="error">{state.error}</p>;
	if (state.result === undefined)
		return <Reading name={name} />;
	return <shown.show result={state.result as never} />;
}

function ThemeButton() {
	palette.value; // drawn again when it changes
	return <button type="button" onClick={toggleTheme}>{isDark() ? 'Light' : 'Dark'}</button>;
}

function Page({ index }: { index: PageIndex }) {
	const present = views.filter((each) => blocks.value.has(blockOf(each)) && (index.api === undefined || each.query !== null));
	const shown = present.find(({ name }) => name === route.value.view) ?? present[0];

	return (
		<>
			<header>
				<h1><bdi>{index.title}</bdi></h1>
				{present.length > 1 && (
					<nav aria-label="Views">
						{present.map((each) => (
							<a href={link(each.name)} aria-current={each === shown ? 'page' : undefined}>{each.title}</a>
						))}
					</nav>
				)}
				<ThemeButton />
			</header>
			<main>{shown ? <Loaded key={blockOf(shown)} shown={shown} index={index} /> : <p role="alert">There is nothing to show in this file.</p>}</main>
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
