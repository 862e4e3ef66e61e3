// Numbers as people read them; the same words as the text output has.

const units: [number, string][] = [
	[3600e9, 'h'],
	[60e9, 'min'],
	[1e9, 's'],
	[1e6, 'ms'],
	[1e3, 'µs'],
];

// Between a number and its unit: narrow, and no line breaks there.
const THIN = '\u202f';

// Three digits, zeros at the end left out.
function threeDigits(value: number): string {
	return value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2).replace(/\.0+$|(\.\d*[1-9])0+$/, '$1');
}

// Nanoseconds with a unit: 56.9 ms, 3.24 min, 90 s.
export function duration(ns: number): string {
	const size = Math.abs(ns);
	// Rounding must not give 1000 µs: the next unit begins where three digits would show it.
	const unit = units.find(([length, name]) => size >= length * (name === 'min' ? 2 : 0.9995));

	return `${ns < 0 ? '-' : ''}${unit ? threeDigits(size / unit[0]) + THIN + unit[1] : `${Math.round(size)}${THIN}ns`}`;
}

// A time as the command line writes it, such as 3.24m, as the page does.
export function spaced(text: string): string {
	return text.replace(/^([\d.]+)(h|ms|m|us|ns|s)\b/, (_, number: string, unit: string) => `${number}${THIN}${{ m: 'min', us: 'µs' }[unit] ?? unit}`);
}

// A difference: +56.9 ms.
export function signed(ns: number): string {
	return ns > 0 ? `+${duration(ns)}` : duration(ns);
}

// A probability: 0.031, <0.001.
export function probability(p: number): string {
	return p < 0.001 ? '<0.001' : p.toFixed(3).replace(/0+$/, '').replace(/\.$/, '');
}

// p = 0.031, p < 0.001
export function stated(name: string, p: number): string {
	return `${name} ${p < 0.001 ? '< 0.001' : `= ${probability(p)}`}`;
}

// Made once: toLocaleString makes one each time, which is slow.
const wholeNumbers = new Intl.NumberFormat('en-US');
const naturalOrder = new Intl.Collator('en', { numeric: true });

export function count(value: number): string {
	return wholeNumbers.format(Math.round(value));
}

// As people count: 4.9 before 4.10.
export function compareTexts(a: string, b: string): number {
	return naturalOrder.compare(a, b);
}

// 0.311 → 31.1 %
export function percent(share: number): string {
	return `${(share * 100).toFixed(1)}${THIN}%`;
}

export function plural(value: number, one: string, many = `${one}s`): string {
	return `${count(value)} ${value === 1 ? one : many}`;
}
