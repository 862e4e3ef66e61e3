// The source of a function over all streams.
import { Help } from '../parts/help';
import { symptom, where, type Field } from '../parts/options';
import { SourceTable } from '../parts/source';
import type { AnnotateResult } from '../results';

export const sourceFields: Field[] = [
	{ key: 'function', label: 'Function', hint: 'app!parse' }, symptom, where, { key: 'code', label: 'instructions', hint: '', flag: true },
];

export function Source({ result }: { result: AnnotateResult }) {
	return (
		<>
			<Help words={['stream', 'symptom']}>What each line of a function takes, summed over threads and streams: running and waiting, at the line, and with what it calls.</Help>
			<SourceTable result={result} />
		</>
	);
}
