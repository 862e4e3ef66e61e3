// Gives the link of what is shown, with all that was chosen, to the clipboard.
import { useState } from 'preact/hooks';

const SHOWN_FOR = 2000; // ms

export function Share() {
	const [said, setSaid] = useState('');

	function copy(): void {
		const say = (text: string) => {
			setSaid(text);
			setTimeout(() => setSaid(''), SHOWN_FOR);
		};

		if (navigator.clipboard)
			navigator.clipboard.writeText(location.href).then(() => say('Copied'), () => say('See the address bar'));
		else
			say('See the address bar');
	}
	return <button type="button" title="Copy a link to exactly what is shown" onClick={copy}><span role="status">{said || 'Share'}</span></button>;
}
