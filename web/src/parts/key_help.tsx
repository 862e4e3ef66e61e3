// All keys of the workspace, which `?` shows.
import { useEffect, useRef, useState } from 'preact/hooks';

const groups: [string, [string, string][]][] = [
	['Timeline', [
		['w s', 'zoom in and out; so do Ctrl and the wheel'],
		['a d', 'to earlier and later time; so does dragging'],
		['← →', 'the event before or after in the thread'],
		['↑ ↓', 'what the thread above or below did then'],
		['Enter', 'from a wait to what ended it, from a sample to the wait before it'],
		['Backspace', 'back'],
		['Shift + drag', 'select time, which all tabs then show'],
		['Esc', 'select nothing'],
	]],
	['Flame graph', [
		['← ↑ ↓ →', 'from call to call'],
		['Enter Esc', 'zoom into a call, and out again'],
		['m', 'menu: focus, merge, drop, collapse; so does the right button'],
		['c', 'callers and callees of the function'],
	]],
	['Call tree', [
		['↑ ↓', 'from row to row'],
		['→ ←', 'open, close'],
		['*', 'open all below'],
		['Enter', 'menu of the function'],
	]],
	['Everywhere', [
		['/', 'find; Enter goes to the next, Shift and Enter to the last one'],
		['?', 'these keys'],
	]],
];

export function isTyping(event: KeyboardEvent): boolean {
	return (event.target as HTMLElement | null)?.matches?.('input, select, textarea') ?? false;
}

// The field that / goes to: that of the tab that is shown, else the one in the header.
function focusFind(): void {
	(document.querySelector<HTMLElement>('.pane input[type=search]') ?? document.querySelector<HTMLElement>('.finder input'))?.focus();
}

export function KeyHelp() {
	const dialog = useRef<HTMLDialogElement>(null);
	const [open, setOpen] = useState(false);

	useEffect(() => {
		if (open)
			dialog.current!.showModal();
	}, [open]);
	useEffect(() => {
		const onKey = (event: KeyboardEvent) => {
			if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey)
				return;
			if (event.key === '?')
				setOpen(true);
			else if (event.key === '/')
				focusFind();
			else
				return;
			event.preventDefault();
		};

		addEventListener('keydown', onKey);
		return () => removeEventListener('keydown', onKey);
	}, []);
	return (
		<>
			<button type="button" class="icon" title="All keys (?)" aria-label="Keys" onClick={() => setOpen(true)}>?</button>
			{open && <dialog ref={dialog} class="keys" aria-label="Keys" onClose={() => setOpen(false)} onClick={(event) => event.target === dialog.current && dialog.current!.close()}>
				{groups.map(([title, keys]) => (
					<>
						<h2>{title}</h2>
						<dl>
							{keys.map(([key, what]) => (
								<>
									<dt>{key.split(' + ').map((part, place) => <>{place > 0 && ' + '}{part.split(' ').map((each) => <><kbd>{each}</kbd> </>)}</>)}</dt>
									<dd>{what}</dd>
								</>
							))}
						</dl>
					</>
				))}
				<button type="button" onClick={() => dialog.current!.close()}>Close</button>
			</dialog>}
		</>
	);
}
