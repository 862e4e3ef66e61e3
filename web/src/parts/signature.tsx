// A signature of a cluster: made by the server, else the exact command, to be run by hand.
import { useRef, useState } from 'preact/hooks';

import { blocks, isServed, post, refresh, useBlock } from '../page_data';
import { plural } from '../format';
import { link } from '../route';

// As one word for a shell.
export function quoted(text: string): string {
	return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, `'\\''`)}'`;
}

// A file of patterns has a frame a line, so that it cannot hold all names.
const unfit = /[\u0000-\u001f\u007f]|^\s|\s$/;

// As a file of patterns has them (docs/man/lode-patterns.5).
function patternLines(patterns: string[][]): string[] {
	return patterns.filter((frames) => !frames.some((frame) => unfit.test(frame))).flatMap((frames) => ['pattern', ...frames.map((frame) => `\t${frame.replace(/\\/g, '\\\\').replace(/^#/, '\\x23')}`)]);
}

export function signCommand(corpus: string, { name, bug, note }: Said, kind: string, patterns: string[][]): string {
	const words = ['lode', 'sign', quoted(corpus), '--name', quoted(name), ...(bug ? ['--bug', quoted(bug)] : []), ...(note ? ['--note', quoted(note)] : []), ...(kind === 'run' || kind === 'wait' ? ['--kind', kind] : []), '--patterns', '-'];

	return [`${words.join(' ')} <<'END_OF_PATTERNS'`, ...patternLines(patterns), 'END_OF_PATTERNS'].join('\n');
}

// What a person says of a bug.
interface Said {
	name: string;
	bug: string;
	note: string;
}

interface MakeSignatureProps {
	kind: string;
	patterns: string[][];
	name: string; // proposed
}

// What the server takes; the promise fails with its sentence.
export async function sign(values: Record<string, string>, patterns: string[][] = []): Promise<void> {
	await post('sign', Object.fromEntries(Object.entries(values).filter(([, value]) => value)), patternLines(patterns).join('\n'));
	refresh([]);
}

function Save({ said, kind, patterns }: { said: Said; kind: string; patterns: string[][] }) {
	const [answer, setAnswer] = useState('');
	const [error, setError] = useState('');

	function save(): void {
		setError('');
		sign({ ...said, kind: kind === 'run' || kind === 'wait' ? kind : '' }, patterns).then(
			() => setAnswer(`Saved: "${said.name}" is known from now on.`),
			(failure: Error) => setError(failure.message),
		);
	}
	return (
		<p>
			<button type="button" class="primary" disabled={!said.name} onClick={save}>Save</button> {answer && <span role="status">{answer} <a href={link('coverage')}>Coverage</a></span>}
			{error && <span role="alert" class="error">{error}</span>}
		</p>
	);
}

function Command({ text: command }: { text: string }) {
	const [copied, setCopied] = useState(false);
	const text = useRef<HTMLPreElement>(null);

	function copy(): void {
		getSelection()?.selectAllChildren(text.current!); // at least it is selected
		navigator.clipboard?.writeText(command).then(() => setCopied(true), () => setCopied(false));
	}
	return (
		<>
			<p>{isServed() ? 'Or' : 'To save it,'} run this in a shell: <button type="button" onClick={copy}>Copy</button> {copied && <span role="status">Copied.</span>}</p>
			<pre ref={text} class="command" tabIndex={0} aria-label="Command">{command}</pre>
		</>
	);
}

function Form({ kind, patterns, name }: MakeSignatureProps) {
	const info = useBlock(isServed() ? 'info?brief' : 'info', blocks.value.has('info')).result as { path: string } | undefined;
	const [chosen, setChosen] = useState(name.slice(0, 60));
	const [bug, setBug] = useState('');
	const [note, setNote] = useState('');
	const said = { name: chosen.trim(), bug: bug.trim(), note: note.trim() };
	const command = signCommand(info?.path ?? 'CORPUS', { ...said, name: said.name || name }, kind, patterns);
	const left = patterns.filter((frames) => frames.some((frame) => unfit.test(frame))).length;

	return (
		<>
			<p>With a name it is known from then on: <code>lode coverage</code> counts it, <code>lode mine --new</code> leaves it out.</p>
			<p>
				<label>Name <input value={chosen} onInput={(event) => setChosen(event.currentTarget.value)} /></label>{' '}
				<label>Bug <input value={bug} placeholder="https://…" onInput={(event) => setBug(event.currentTarget.value)} /></label>{' '}
				<label>Note <input value={note} placeholder="what you know about it" onInput={(event) => setNote(event.currentTarget.value)} /></label>
			</p>
			{left > 0 && <p>{plural(left, 'pattern')} with names that a file of patterns cannot hold {left === 1 ? 'is' : 'are'} left out.</p>}
			{isServed() && <Save said={said} kind={kind} patterns={patterns} />}
			{isServed() ? <details><summary>As a command</summary><Command text={command} /></details> : <Command text={command} />}
		</>
	);
}

export function MakeSignature(props: MakeSignatureProps) {
	const [open, setOpen] = useState(false);

	return (
		<details onToggle={(event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}>
			<summary>Name this bug…</summary>
			{open && <Form {...props} />}
		</details>
	);
}
