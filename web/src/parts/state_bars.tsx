// What processes did, as a bar of states each.
import { threadStates } from '../colours';
import { statesOf } from '../findings';
import { duration, percent } from '../format';
import type { FindingStates } from '../results';

const SHOWN = 8;
const RARE = 0.002; // of a bar: too thin to be seen

export const stateNames: Record<string, string> = {
	running: 'running', ready: 'ready', lock: 'lock', gil: 'GIL', reply: 'reply', disk: 'disk', page: 'memory', network: 'network', timer: 'timer', child: 'child', gpu: 'GPU',
	other: 'other wait', work: 'waits for work', idle: 'idle', not_recorded: 'not recorded',
};

export function StateBars({ rows }: { rows: FindingStates[] }) {
	const shown = rows.slice(0, SHOWN).map((row) => {
		const states = statesOf(row, threadStates);

		return { name: row.process || 'without a name', states, total: states.reduce((sum, { ns }) => sum + ns, 0) };
	}).filter(({ total }) => total > 0);
	const used = threadStates.filter((state) => shown.some(({ states, total }) => states.some((each) => each.state === state && each.ns > total * RARE)));

	return (
		<>
			<div class="state-bars">
				{shown.map(({ name, states, total }) => (
					<>
						<bdi class="mono" title={name}>{name}</bdi>
						<span class="states" role="img" aria-label={states.map(({ state, ns }) => `${stateNames[state]} ${percent(ns / total)}`).join(', ')}>
							{states.map(({ state, ns }) => <i class={`fill-${state}`} style={{ width: `${(ns / total) * 100}%` }} title={`${stateNames[state]}: ${duration(ns)}, ${percent(ns / total)}`} />)}
						</span>
						<span class="number">{duration(total)}</span>
					</>
				))}
			</div>
			<p class="key" aria-hidden="true">{used.map((state) => <span class="key-item"><i class={`swatch fill-${state}`} /> {stateNames[state]}</span>)}</p>
			{rows.length > SHOWN && <p class="dim">and {rows.length - SHOWN} more processes</p>}
		</>
	);
}
