// Where the reader is: `#view/part/part?key=value`, so that every place has a link.
import { signal } from '@preact/signals';

export interface Route {
	view: string;
	parts: string[];
	query: URLSearchParams;
}

function parse(hash: string): Route {
	const text = hash.replace(/^#/, '');
	const at = text.indexOf('?');
	const path = at < 0 ? text : text.slice(0, at);
	const parts = path.split('/').map(decodePart);

	return { view: parts[0] ?? '', parts: parts.slice(1), query: new URLSearchParams(at < 0 ? '' : text.slice(at + 1)) };
}

function decodePart(part: string): string {
	try {
		return decodeURIComponent(part);
	} catch {
		return part;
	}
}

export function link(view: string, parts: string[] = [], query: Record<string, string> = {}): string {
	const words = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString();

	return `#${[view, ...parts].map(encodeURIComponent).join('/')}${words ? `?${words}` : ''}`;
}

export const route = signal<Route>(parse(location.hash));

// Where the reader was last in each view, so that a view is found again as it was left.
const lastPlaces = new Map<string, string>();

function note(): void {
	route.value = parse(location.hash);
	lastPlaces.set(route.value.view, location.hash);
}

note();
addEventListener('hashchange', note);

// What was slow, in which streams, and whether new ones are followed: a choice that holds in all views.
const shared = ['symptom', 'where', 'live'];

// A comparison chooses the streams of its two sides by itself.
const apart = 'diff';

// A link to a view, with the options that it had last, except those that all views share. `first`: where it begins.
export function linkBack(view: string, first: string[] = []): string {
	const { parts, query } = parse(lastPlaces.get(view) ?? link(view, first));
	const here = route.value.query;

	if (view === apart || route.value.view === apart)
		return link(view, parts, Object.fromEntries(query));
	return link(view, parts, { ...Object.fromEntries(query), ...Object.fromEntries(shared.map((key) => [key, here.get(key) ?? ''])) });
}

// A place of the view that is shown; its options stay as they are, except `changes`.
export function linkHere(parts: string[], changes: Record<string, string> = {}): string {
	const { view, query } = route.value;

	return link(view, parts, { ...Object.fromEntries(query), ...changes });
}

export function go(to: string): void {
	location.hash = to;
}

// Gives a place without a view in its link the one that is shown there.
export function nameView(view: string): void {
	history.replaceState(null, '', link(view, [], Object.fromEntries(route.value.query)));
	note();
}

// Changes what the link says about this place without a new step in the history.
export function replaceQuery(changes: Record<string, string>): void {
	history.replaceState(null, '', linkHere(route.value.parts, changes));
	note();
}
