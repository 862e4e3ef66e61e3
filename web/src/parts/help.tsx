// What a view shows, in a sentence, and a `?` that explains its words.
import type { ComponentChildren } from 'preact';

const terms: Record<string, string> = {
	accuracy: 'How often the tree, which does not know y, puts a row where its x and y do.',
	aggressive: 'The longest that calls can have taken: from the last stack without them to the first one without them again.',
	area: 'The events that are related to the symptoms, as --scope selects them: what the slow threads ran and waited for.',
	base: 'The good streams, with which the slow ones are compared.',
	'callers and callees': 'Zoom into a call, then "Callers and callees": all places that call its function, and all that it calls, wherever that is.',
	cluster: 'A group of patterns with similar frames: most likely one cause.',
	'cluster of rows': 'Runs whose y follows the same function of x.',
	confidence: 'How sure it is that the value is on this side of the threshold.',
	'critical path': 'What a slow thread waited for, step by step from one thread to the one that woke it; its parts add up to the delay.',
	conservative: 'The least that calls have taken: from the first stack with them to the last.',
	context: 'A function and the way to it, from the first caller on.',
	culprit: 'The last function of the program before libraries and the kernel: the first place to look. Of a cluster, that of its costliest pattern; where others lack it, their number follows, and the cost is that of all.',
	'found from samples': 'Stack samples point to the place, so it is examined before the way to it is.',
	evidence: 'What a value rests on: probes put into the program, or stack samples alone.',
	experiment: 'A question about a place of the program, such as a function in a thread, and what was measured there.',
	hypothesis: 'What may be wrong: too much CPU time, waiting for other threads, waiting for input and output, or too small operations.',
	idle: 'Waits of threads that have nothing to do, such as a worker without a job. They are left out.',
	interval: 'The thin line: 95 of 100 such intervals hold the true value, if these streams are typical.',
	'p and q': 'p: how often chance alone would show such a difference. q: the same, for all functions together; below 0.05 counts as sure.',
	path: 'Calls from the first caller to the last function.',
	pattern: 'Frames that occur in the same order in many stacks.',
	layer: 'Where a function belongs: the program, its libraries, the kernel. Time in the kernel and the C library counts for their callers.',
	own: 'The time that a function takes by itself, without what it calls.',
	'R²': 'The share of the variance of y that is explained; 1 is all of it.',
	'run queue': 'Ready to run, but no CPU is free for it: they are busy with others, or its control group has used up its quota.',
	signature: 'Patterns with a name, and perhaps a bug, by which a known cause is found again (lode sign).',
	stream: 'One recording on one host.',
	symptom: 'A span of time in which a thread was too slow.',
	tree: 'Questions about a run, from the first on; each answer leads on, to the function that the run follows.',
	waker: 'The thread that made a waiting thread ready to run again, such as one that unlocks what it waits for.',
	variant: 'The frames in which the patterns of a cluster differ.',
};

export function Help({ words, children }: { words: string[]; children: ComponentChildren }) {
	return (
		<div class="help">
			<p>{children}</p>
			<details>
				<summary aria-label="Explain the terms">?</summary>
				<dl>
					{words.map((word) => (
						<>
							<dt>{word}</dt>
							<dd>{terms[word]}</dd>
						</>
					))}
				</dl>
			</details>
		</div>
	);
}
