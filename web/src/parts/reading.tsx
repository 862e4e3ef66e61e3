// That data is on its way, and how far the analysis behind it is.
import { running } from '../page_data';

export function Reading({ name }: { name: string }) {
	const progress = running.value.get(name);

	if (!progress)
		return <p>Reading…</p>;
	return (
		<p aria-live="polite">
			<progress max={progress.total || undefined} value={progress.total ? progress.done : undefined} aria-label={progress.phase || 'Analysis'} />{' '}
			{progress.phase || 'Starting the analysis'} <button type="button" onClick={progress.cancel}>Cancel</button>
		</p>
	);
}
