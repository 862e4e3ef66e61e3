// What may come next in a statement that is being typed: tables, columns of the tables that it names, functions, keywords.
import type { QueryResult } from './results';

export interface SqlWord {
	word: string;
	meaning: string;
	table: string; // that it is a column of; empty: it is none
}

// The answer to this has all tables and columns.
export const TABLES_SQL = 'SELECT name, column_name, meaning FROM tables';

const keywords = 'SELECT FROM WHERE GROUP BY ORDER LIMIT DESC ASC AND OR NOT AS JOIN USING ON HAVING DISTINCT LIKE GLOB IN BETWEEN IS NULL CASE WHEN THEN ELSE END WITH UNION count sum avg min max round'.split(' ');

const functions: [string, string][] = [
	['text', 'a stack in one line'], ['leaf', 'the last function of a stack'], ['root', 'its first function'], ['depth', 'how many frames it has'],
	['frames_of', 'a table of its frames'], ['has_frame', 'whether a frame fits a pattern: has_frame(stack, \'*lock*\')'], ['quantile', 'quantile(cost, 0.99)'], ['flame', 'a flame graph as folded stacks'],
];

export function sqlWords(tables: QueryResult | undefined): SqlWord[] {
	const rows = (tables?.rows ?? []).map(([table, column, meaning]) => ({ word: String(column), meaning: String(meaning ?? ''), table: String(table) }));
	const names = [...new Set(rows.map(({ table }) => table))].map((word) => ({ word, meaning: 'table', table: '' }));

	return [...names, ...rows, ...functions.map(([word, meaning]) => ({ word, meaning, table: '' })), ...keywords.map((word) => ({ word, meaning: '', table: '' }))];
}

// The word that ends at the caret.
export function wordBefore(text: string, caret: number): string {
	return /[A-Za-z_][A-Za-z_0-9]*$/.exec(text.slice(0, caret))?.[0] ?? '';
}

const MAX_OFFERED = 8;

// What the word before the caret may become: columns of tables in the statement first, each word once.
export function completions(words: SqlWord[], text: string, caret: number): SqlWord[] {
	const begun = wordBefore(text, caret).toLowerCase();
	const used = new Set(text.toLowerCase().match(/[a-z_][a-z_0-9]*/g) ?? []);
	const afterTable = /\b(from|join)\s+[a-z_0-9]*$/i.test(text.slice(0, caret));
	const isQuoted = (text.slice(0, caret).match(/'/g)?.length ?? 0) % 2 === 1;
	const rank = ({ table, meaning }: SqlWord) => (afterTable ? (meaning === 'table' ? 0 : 2) : table && used.has(table) ? 0 : 1);

	if (isQuoted || (!begun && !afterTable))
		return [];
	const fitting = words.filter(({ word, table }) => word.toLowerCase().startsWith(begun) && word.toLowerCase() !== begun && (!afterTable || !table));
	const once = new Map<string, SqlWord>();

	for (const each of fitting.sort((a, b) => rank(a) - rank(b)))
		if (!once.has(each.word))
			once.set(each.word, each);
	return [...once.values()].slice(0, MAX_OFFERED);
}
