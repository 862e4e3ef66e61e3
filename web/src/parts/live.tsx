// A corpus that grows while the page is open: new streams are announced, or followed. Nothing is asked while the page is hidden.
import { useEffect, useRef, useState } from 'preact/hooks';

import { plural } from '../format';
import { blocks, readAgain, refresh } from '../page_data';
import type { InfoResult, QueryResult } from '../results';
import { replaceQuery, route } from '../route';

const PERIOD = 3000; // ms
const STATE = `query?sql=${encodeURIComponent('SELECT count(*) AS n, max(added) AS added FROM streams')}`; // a few bytes

const textOf = ({ rows }: QueryResult) => JSON.stringify(rows);
const countOf = ({ rows }: QueryResult) => Number(rows[0]![0]);

// Of the streams that the page came with: a stream may come between that and the first look.
const countAtFirst = () => [...blocks.value].filter((name) => name.startsWith('stream/')).length;

async function showNew(): Promise<void> {
	const { streams } = await readAgain<InfoResult>('info?brief');

	refresh(streams.map(({ id }) => id));
}

export function Live() {
	const [more, setMore] = useState(0); // streams that came since
	const shown = useRef<QueryResult | null>(null); // the state that the page shows; null: not known yet
	const newer = useRef<QueryResult | null>(null); // the one that was announced
	const following = route.value.query.get('live') === '1';
	const latest = useRef(following);

	latest.current = following;
	function look(): void {
		if (document.hidden)
			return;
		readAgain<QueryResult>(STATE).then((now) => {
			const before = shown.current ? countOf(shown.current) : countAtFirst();

			if (!shown.current && countOf(now) === before)
				shown.current = now;
			if (shown.current && textOf(now) === textOf(shown.current))
				return;
			newer.current = now;
			if (latest.current)
				show();
			else
				setMore(countOf(now) - before);
		}, () => {}); // a server that has gone says so where something is asked for
	}
	function show(): void {
		shown.current = newer.current;
		setMore(0);
		void showNew();
	}
	useEffect(() => {
		look();
		const timer = setInterval(look, PERIOD);

		return () => clearInterval(timer);
	}, []);
	return (
		<span class="live">
			{more !== 0 && <button type="button" class="chip set" onClick={show}>{more > 0 ? `${plural(more, 'new stream')}: show` : 'Streams have changed: show'}</button>}
			<button type="button" aria-pressed={following} title="Show new streams as soon as they are recorded" onClick={() => replaceQuery({ live: following ? '' : '1' })}>Live</button>
		</span>
	);
}
