// Why there is no result, in words of the page rather than of the command line.
import { linkHere, route } from '../route';

// A sentence about options of a command, as the page has them.
export function pageWords(error: string): string {
	return error.replace(/^lode: /gm, '').replace(/ ?See 'lode help [a-z]+'\.?/g, '').replace(/'?--([a-z-]+)( [A-Z]+)?'?/g, (_, option: string) => `"${option.replace(/-/g, ' ')}"`).trim();
}

// `retry`: only where another try may help.
export function Failure({ error, retry }: { error: string; retry?: () => void }) {
	const { query, parts } = route.value;
	const asked = [...query.keys()].filter((key) => ['symptom', 'where', 'match', 'exclude'].includes(key));

	return (
		<div role="alert" class="failure">
			<p class="error">{pageWords(error)}</p>
			{asked.length > 0 && <p><a href={linkHere(parts, Object.fromEntries(asked.map((key) => [key, ''])))}>Look at everything instead</a></p>}
			{retry && <button type="button" onClick={retry}>Try again</button>}
		</div>
	);
}
