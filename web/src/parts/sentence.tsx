// The sentence of a finding, with names and times set apart.
import { spaced } from '../format';
import type { FindingWords } from '../results';

export function Sentence({ parts }: { parts: FindingWords[] }) {
	return (
		<>
			{parts.map(({ role, text }) => {
				if (role === 'function')
					return <code class="noun"><bdi>{text}</bdi></code>;
				if (role === 'plain')
					return text;
				return <b><bdi>{role === 'time' ? spaced(text) : text}</bdi></b>;
			})}
		</>
	);
}
