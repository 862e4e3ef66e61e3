// Where the reader is: `#view/part/part?key=value`, so that every place has a link.
import { signal } from '@preact/signals';

export interface Route {
	view: string;
	parts: string[];
	query: URLSearchParams;
}

function parse(hash: string): Route {
	const [path = '', query = ''] = hash.replace(/^#/, '').split('?', 2);
	const parts = path.split('/').map(decodePart);

	return { view: parts[0] ?? '', parts: parts.slice(1), query: new URLSearchParams(query) };
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

addEventListener('hashchange', () => {
	route.value = parse(location.hash);
});

export function go(to: string): void {
	location.hash = to;
}

// Changes what the link says about this place without a new step in the history.
export function replaceQuery(changes: Record<string, string>): void {
	const { view, parts, query } = route.value;

	history.replaceState(null, '', link(view, parts, { ...Object.fromEntries(query), ...changes }));
	route.value = parse(location.hash);
}
