// A box for a table that may be wider than the window; it can be scrolled by keyboard.
import type { ComponentChildren } from 'preact';

export function ScrollBox({ label, children }: { label: string; children: ComponentChildren }) {
	return <div class="table-box" tabIndex={0} role="group" aria-label={label}>{children}</div>;
}
