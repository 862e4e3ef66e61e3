// A table that can be sorted by its columns and walked by keyboard.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import { ScrollBox } from './scroll_box';

export interface Column<Row> {
	key: string;
	title: string;
	help?: string;
	number?: boolean; // set right, largest first
	value: (row: Row) => number | string;
	order?: (a: Row, b: Row) => number; // other than that of the values
	cell?: (row: Row) => ComponentChildren;
}

interface TableProps<Row> {
	columns: Column<Row>[];
	rows: Row[];
	label: string;
	sortBy: string;
	ascending?: boolean; // at first
	rowKey: (row: Row) => string;
	selected?: string;
	onSelect?: (row: Row) => void;
	shown?: number; // rows at first
}

function compare(a: number | string, b: number | string): number {
	return typeof a === 'number' && typeof b === 'number' ? a - b : String(a) < String(b) ? -1 : Number(String(a) > String(b));
}

export function Table<Row>(props: TableProps<Row>) {
	const [sort, setSort] = useState({ key: props.sortBy, down: !props.ascending });
	const [shown, setShown] = useState(props.shown ?? 50);
	const column = props.columns.find(({ key }) => key === sort.key) ?? props.columns[0]!;
	const sorted = props.rows
		.map((row, place) => ({ row, place }))
		.sort((a, b) => ((column.order?.(a.row, b.row) ?? compare(column.value(a.row), column.value(b.row))) * (sort.down ? -1 : 1)) || a.place - b.place)
		.map(({ row }) => row);

	return (
		<ScrollBox label={props.label}>
			<table aria-label={props.label}>
				<thead>
					<tr>
						{props.columns.map(({ key, title, help, number }) => (
							<th class={number ? 'number' : ''} scope="col" title={help}
								aria-sort={sort.key === key ? (sort.down ? 'descending' : 'ascending') : 'none'}>
								<button type="button" onClick={() => setSort({ key, down: sort.key === key ? !sort.down : !!number })}>
									{title}<span aria-hidden="true">{sort.key === key ? (sort.down ? ' ▾' : ' ▴') : ''}</span>
								</button>
							</th>
						))}
					</tr>
				</thead>
				<tbody>
					{sorted.slice(0, shown).map((row) => (
						<tr key={props.rowKey(row)} aria-current={props.rowKey(row) === props.selected ? "true" : undefined}
							onClick={() => props.onSelect?.(row)}>
							{props.columns.map((each) => (
								<td class={each.number ? 'number' : ''}>{each.cell ? each.cell(row) : each.value(row)}</td>
							))}
						</tr>
					))}
				</tbody>
			</table>
			{sorted.length > shown && (
				<p>
					{shown} of {sorted.length} shown. <button type="button" onClick={() => setShown(shown * 4)}>Show more</button>
				</p>
			)}
		</ScrollBox>
	);
}
