// What each layer takes; with two sides, what it took in the base as well.
import { duration, percent, signed } from '../format';
import { Bar } from './bar';
import { ScrollBox } from './scroll_box';

interface LayersProps {
	layers: Record<string, { slow: number; base?: number }>;
}

export function Layers({ layers }: LayersProps) {
	const rows = Object.entries(layers);
	const whole = rows.reduce((sum, [, { slow }]) => sum + slow, 0) || 1;
	const two = rows.some(([, { base }]) => base !== undefined);

	if (!rows.length)
		return null;
	return (
		<ScrollBox label="Layers">
			<table aria-label="Layers" class="narrow">
				<thead>
					<tr>
						<th scope="col">Layer</th>
						{two && <th scope="col" class="number">More</th>}
						{two && <th scope="col" class="number">Base</th>}
						<th scope="col" class="number">{two ? 'Slow' : 'Time'}</th>
					</tr>
				</thead>
				<tbody>
					{rows.map(([name, { slow, base = 0 }]) => (
						<tr>
							<td><i class={`layer ${name.replace('-', '')}`} />{name}</td>
							{two && <td class="number">{signed(slow - base)}</td>}
							{two && <td class="number">{duration(base)}</td>}
							<td class="number">
								{two ? duration(slow) : <span class="share long"><Bar share={slow / whole} />{percent(slow / whole)} {duration(slow)}</span>}
							</td>
						</tr>
					))}
				</tbody>
			</table>
		</ScrollBox>
	);
}
