// How to make a signature of a cluster: the exact command, to be run by hand. The page changes nothing.
import { useRef, useState } from 'preact/hooks';

import { blocks, isServed, useBlock } from '../page_data';
import { plural } from '../format';

// As one word for a shell.
export function quoted(text: string): string {
	return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, `'\\''`)}'`;
}

// A file of patterns has a frame a line, so that it cannot hold all names.
const unfit = /[\u0000-\u001f\u007f]|^\s|\s$/;

export function signCommand(corpus: string, name: string, bug: string, kind: string, patterns: string[][]): string {
	const words = ['lode', 'sign', quoted(corpus), '--name', quoted(name), ...(bug ? ['--bug', quoted(bug)] : []), ...(kind === 'run' || kind === 'wait' ? ['--kind', kind] : []), '--patterns', '-'];
	const lines = patterns.filter((frames) => !frames.some((frame) => unfit.test(frame))).flatMap((frames) => ['pattern', ...frames.map((frame) => `\t${frame}`)]);

	return [`${words.join(' ')} <<'END_OF_PATTERNS'`, ...lines, 'END_OF_PATTERNS'].join('\n');
}

interface MakeSignatureProps {
	kind: string;
	patterns: string[][];
	name: string; // proposed
}

function Form({ kind, patterns, name }: MakeSignatureProps) {
	const info = useBlock(isServed() ? 'info?brief' : 'info', blocks.value.has('info')).result as { path: string } | undefined;
	const [chosen, setChosen] = useState(name.slice(0, 60));
	const [bug, setBug] = useState('');
	const [copied, setCopied] = useState(false);
	const text = useRef<HTMLPreElement>(null);
	const command = signCommand(info?.path ?? 'CORPUS', chosen.trim() || name, bug.trim(), kind, patterns);
	const left = patterns.filter((frames) => frames.some((frame) => unfit.test(frame))).length;

	function copy(): void {
		getSelection()?.selectAllChildren(text.current!); // at least it is selected
		navigator.clipboard?.writeText(command).then(() => setCopied(true), () => setCopied(false));
	}

	return (
		<>
			<p>Run this in a shell, and the cluster is known by its name from then on: <code>lode coverage</code> counts it, <code>lode mine --new</code> leaves it out.</p>
			<p>
				<label>Name <input value={chosen} onInput={(event) => setChosen(event.currentTarget.value)} /></label>{' '}
				<label>Bug <input value={bug} placeholder="https://…" onInput={(event) => setBug(event.currentTarget.value)} /></label>{' '}
				<button type="button" onClick={copy}>Copy</button> {copied && <span role="status">Copied.</span>}
			</p>
			{left > 0 && <p>{plural(left, 'pattern')} with names that a file of patterns cannot hold {left === 1 ? 'is' : 'are'} left out.</p>}
			<pre ref={text} class="command" tabIndex={0} aria-label="Command">{command}</pre>
		</>
	);
}

export function MakeSignature(props: MakeSignatureProps) {
	const [open, setOpen] = useState(false);

	return (
		<details onToggle={(event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}>
			<summary>Make a signature</summary>
			{open && <Form {...props} />}
		</details>
	);
}
