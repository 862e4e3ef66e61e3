// That data is on its way, and how far the analysis behind it is. `what`: the question that it answers.
import { running } from '../page_data';

export function Reading({ name, what }: { name: string; what?: string }) {
	const progress = running.value.get(name);

	return (
		<div class="reading">
			{what && <h2>{what}</h2>}
			{progress ? (
				<p aria-live="polite">
					<progress max={progress.total || undefined} value={progress.total ? progress.done : undefined} aria-label={progress.phase || 'Analysis'} />{' '}
					{progress.phase || 'Starting the analysis'}{progress.total > 0 && ` ${Math.round((progress.done / progress.total) * 100)}%`} <button type="button" onClick={progress.cancel}>Cancel</button>
				</p>
			) : <p>Reading…</p>}
		</div>
	);
}
