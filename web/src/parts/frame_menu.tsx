// What can be done with a function of a tree: a menu at the pointer.
import { useEffect, useRef } from 'preact/hooks';

import type { Frame } from '../frames';
import { transformNames, type Transform, type TransformKind } from '../transforms';

export interface MenuPlace {
	frame: Frame;
	x: number; // in the window
	y: number;
}

interface FrameMenuProps {
	place: MenuPlace;
	onTransform: (transform: Transform) => void;
	onFunction: (name: string) => void; // callers and callees
	onSource: (name: string) => void;
	onFind: (text: string) => void;
	onClose: () => void;
}

export function FrameMenu({ place, onTransform, onFunction, onSource, onFind, onClose }: FrameMenuProps) {
	const menu = useRef<HTMLDivElement>(null);
	const { frame } = place;
	const items: [string, () => void][] = [
		...(Object.keys(transformNames) as TransformKind[])
			.filter((kind) => kind !== 'module' || frame.module)
			.map((kind): [string, () => void] => [kind === 'module' ? `${transformNames[kind]} ${frame.module}` : transformNames[kind], () => onTransform({ kind, name: kind === 'module' ? frame.module : frame.text })]),
		['Callers and callees', () => onFunction(frame.text)],
		['Source', () => onSource(frame.text)],
		['Find it', () => onFind(frame.name)],
		['Copy its name', () => void navigator.clipboard?.writeText(frame.text)],
	];

	useEffect(() => {
		menu.current!.querySelector<HTMLElement>('button')!.focus();
		const outside = (event: Event) => !menu.current?.contains(event.target as Node) && onClose();

		addEventListener('pointerdown', outside);
		return () => removeEventListener('pointerdown', outside);
	}, []);
	function onKey(event: KeyboardEvent): void {
		const buttons = [...menu.current!.querySelectorAll<HTMLElement>('button')];
		const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];

		if (event.key === 'Escape')
			onClose();
		else if (step)
			buttons[(buttons.indexOf(document.activeElement as HTMLElement) + step + buttons.length) % buttons.length]!.focus();
		else
			return;
		event.preventDefault();
		event.stopPropagation();
	}

	return (
		<div ref={menu} class="frame-menu" role="menu" aria-label={`What to do with ${frame.name}`} onKeyDown={onKey}
			style={{ left: `${Math.max(Math.min(place.x, innerWidth - 290), 4)}px`, top: `${Math.max(Math.min(place.y, innerHeight - 290), 4)}px` }}>
			<p class="dim"><bdi class="mono">{frame.name.slice(0, 60)}</bdi></p>
			{items.map(([title, act]) => (
				<button type="button" role="menuitem" onClick={() => (act(), onClose())}>{title}</button>
			))}
		</div>
	);
}
