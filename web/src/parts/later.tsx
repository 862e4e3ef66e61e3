// What a reader looks at second: made when the first view has been drawn, or when it comes into sight.
import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const LATEST = 300; // ms

function whenIdle(work: () => void): () => void {
	if (!('requestIdleCallback' in window)) {
		const timer = setTimeout(work, 50);

		return () => clearTimeout(timer);
	}
	const id = requestIdleCallback(work, { timeout: LATEST });

	return () => cancelIdleCallback(id);
}

// Each in a separate task, so that the page answers in between.
export function Later({ children }: { children: ComponentChildren }) {
	const [ready, setReady] = useState(false);

	useEffect(() => whenIdle(() => setReady(true)), []);
	return <>{ready && children}</>;
}

// Whether an element was ever in the window, or near it.
export function useSeen(element: RefObject<HTMLElement | null>): boolean {
	const [seen, setSeen] = useState(false);

	useEffect(() => {
		const observer = new IntersectionObserver((entries) => entries.some(({ isIntersecting }) => isIntersecting) && setSeen(true), { rootMargin: '200px' });

		observer.observe(element.current!);
		return () => observer.disconnect();
	}, []);
	return seen;
}
