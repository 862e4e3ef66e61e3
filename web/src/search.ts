// What is searched for: a text, or /a regular expression/. Case does not matter.
export interface Search {
	text: string;
	fits: ((name: string) => boolean) | null; // null: nothing is searched for
	error: string; // why an expression cannot be read
}

export function searchOf(text: string): Search {
	const wanted = text.trim();
	const expression = /^\/(.+)\/i?$/.exec(wanted)?.[1];

	if (!wanted)
		return { text, fits: null, error: '' };
	if (!expression) {
		const small = wanted.toLowerCase();

		return { text, fits: (name) => name.toLowerCase().includes(small), error: '' };
	}
	try {
		const pattern = new RegExp(expression, 'i');

		return { text, fits: (name) => pattern.test(name), error: '' };
	} catch (error) {
		return { text, fits: () => false, error: (error as Error).message };
	}
}
