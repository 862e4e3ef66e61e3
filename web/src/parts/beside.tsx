// A second stream below the first, on the same axis: both begin where their symptoms do, or at their starts. It is a timeline
// like the first; a click in it makes its stream the one that the tabs show, and leaves both where they are.
import { useMemo } from 'preact/hooks';

import type { Columns } from '../columns';
import { duration } from '../format';
import { useBlock } from '../page_data';
import type { StreamHead, StreamSymptom } from '../results';
import { go, link, route } from '../route';
import { StreamData, type EventRef } from '../stream_data';
import { placeOf, spanText } from '../stream_link';
import { activityOf, rowsOf, type RowChoice } from '../time_rows_list';
import { TimeStates } from '../time_states';
import { Failure } from './failure';
import { Reading } from './reading';
import type { Span } from './time_gestures';
import { TimeLine } from './time_line';

export interface Other {
	id: string;
	data: StreamData;
	symptom: StreamSymptom | null; // its longest
}

const longest = (symptoms: StreamSymptom[]) => symptoms.reduce<StreamSymptom | null>((most, each) => (most && most.t1 - most.t0 >= each.t1 - each.t0 ? most : each), null);

// The other stream of the link; null: none, or it is not there yet.
export function useOther(): { other: Other | null; error?: string; id: string; name: string } {
	const id = route.value.query.get('beside') ?? '';
	const symptom = route.value.query.get('symptom');
	const name = `stream/${id}${symptom ? `?symptom=${encodeURIComponent(symptom)}` : ''}`;
	const { result, error } = useBlock(name, id !== '', 'columns');
	const other = useMemo(() => {
		if (!result || !id)
			return null;
		const data = new StreamData(result as Columns<StreamHead>);

		return { id, data, symptom: longest(data.head.symptoms) };
	}, [result, id]);

	return { other, error, id, name };
}

// What to add to a time of the first stream to have that of the other.
export function shiftTo(other: Other, symptom: StreamSymptom | undefined): number {
	return other.symptom && symptom ? other.symptom.t0 - symptom.t0 : 0;
}

const moved = ({ t0, t1 }: Span, by: number): Span => ({ t0: t0 + by, t1: t1 + by });

interface BesideProps {
	wanted: ReturnType<typeof useOther>;
	symptom: StreamSymptom | undefined; // of the first
	view: Span;
	onView: (view: Span) => void;
	choice: RowChoice;
	height: number;
}

export function Beside({ wanted, ...props }: BesideProps) {
	if (wanted.error)
		return <Failure error={wanted.error} />;
	return wanted.other ? <Shown {...props} other={wanted.other} /> : <Reading name={wanted.name} />;
}

const NONE = new Set<number>();

function Shown({ other, symptom, view, onView, choice, height }: Omit<BesideProps, 'wanted'> & { other: Other }) {
	const { data } = other;
	const states = useMemo(() => new TimeStates(data), [data]);
	const activity = useMemo(() => activityOf(data, states, other.symptom ?? undefined), [data]);
	const rows = useMemo(() => rowsOf(data, states, activity, choice, []), [data, choice.filter, choice.sort, choice.grouped, choice.idle]);
	const shift = shiftTo(other, symptom);
	const { parts, query } = route.value;

	// The stream that is clicked becomes the first one of the link; `turned` says that it stays below.
	function select(event: EventRef | null): void {
		go(link('stream', [other.id], {
			...placeOf(data, event), beside: parts[0]!, turned: query.get('turned') === '1' ? '' : '1', symptom: query.get('symptom') ?? '', tab: query.get('tab') ?? '',
			number: other.symptom ? String(data.head.symptoms.indexOf(other.symptom)) : '', view: spanText(moved(view, shift)),
		}));
	}
	return (
		<section aria-label="The other stream">
			<p class="time-note beside-name">
				<b><bdi>{data.head.stream}</bdi></b> {data.head.host && <>on <bdi>{data.head.host}</bdi></>} <span class="dim">{other.symptom && symptom ? 'from where its longest symptom begins' : 'from its start'}
				{other.symptom && symptom && `: ${duration(other.symptom.t1 - other.symptom.t0)} beside ${duration(symptom.t1 - symptom.t0)}`}</span>
			</p>
			<TimeLine data={data} states={states} rows={rows} view={moved(view, shift)} onView={(next) => onView(moved(next, -shift))} selected={null} onSelect={select} height={height}
				span={null} onSpan={() => {}} symptom={other.symptom} path={other.symptom ? { first: other.symptom.path_first, count: other.symptom.path_count } : null}
				threads={NONE} onThread={() => {}} onFold={() => {}} onPin={() => {}} onHide={() => {}} free />
		</section>
	);
}
