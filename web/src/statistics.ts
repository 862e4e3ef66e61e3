// Whether two groups of streams differ by more than chance.

const MAX_CHOICES = 20000; // ways to choose a group that are gone through one by one

// Ranks from 1 on; equal values share the mean of theirs.
function ranksOf(values: number[]): number[] {
	const sorted = Float64Array.from(values).sort();
	const rankOf = new Map<number, number>();

	for (let from = 0; from < sorted.length; ) {
		let to = from + 1;

		while (to < sorted.length && sorted[to] === sorted[from])
			to++;
		rankOf.set(sorted[from]!, (from + to + 1) / 2);
		from = to;
	}
	return values.map((value) => rankOf.get(value)!);
}

function choices(all: number, chosen: number): number {
	let count = 1;

	for (let i = 1; i <= chosen && count <= MAX_CHOICES; i++) // more and more of them
		count = (count * (all - chosen + i)) / i;
	return count;
}

// In how many choices of `chosen` ranks their sum is at least as far from the mean as `far`.
function exact(ranks: number[], chosen: number, mean: number, far: number): number {
	let extreme = 0;
	let count = 0;
	const choose = (from: number, left: number, sum: number): void => {
		if (!left) {
			count++;
			extreme += Math.abs(sum - mean) >= far - 1e-9 ? 1 : 0;
			return;
		}
		for (let i = from; i <= ranks.length - left; i++)
			choose(i + 1, left - 1, sum + ranks[i]!);
	};

	choose(0, chosen, 0);
	return extreme / count;
}

// Twice the upper tail of the normal distribution (Abramowitz and Stegun 7.1.26: an error below 2e-7).
function twoTails(z: number): number {
	const t = 1 / (1 + (0.3275911 * z) / Math.SQRT2);

	return ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t * Math.exp((-z * z) / 2);
}

// How often chance alone shows such a difference between two groups, by ranks (Wilcoxon, Mann and Whitney);
// null: too few to tell. Exact where that can be gone through.
export function rankTest(a: number[], b: number[]): number | null {
	const ranks = ranksOf([...a, ...b]);
	const all = ranks.length;
	const mean = (a.length * (all + 1)) / 2;
	const far = Math.abs(ranks.slice(0, a.length).reduce((sum, rank) => sum + rank, 0) - mean);

	if (a.length < 2 || b.length < 2)
		return null;
	if (choices(all, Math.min(a.length, b.length)) <= MAX_CHOICES)
		return a.length <= b.length ? exact(ranks, a.length, mean, far) : exact(ranks, b.length, (b.length * (all + 1)) / 2, far);
	const middle = (all + 1) / 2;
	const variance = ((a.length * b.length) / (all * (all - 1))) * ranks.reduce((sum, rank) => sum + (rank - middle) ** 2, 0);

	return variance > 0 ? Math.min(twoTails(Math.max(far - 0.5, 0) / Math.sqrt(variance)), 1) : 1;
}

// The same for several questions at once (Benjamini and Hochberg); null stays null.
export function allTogether(ps: (number | null)[]): (number | null)[] {
	const order = [...ps.keys()].filter((i) => ps[i] !== null).sort((a, b) => ps[b]! - ps[a]!);
	const qs: (number | null)[] = ps.map(() => null);
	let least = 1;

	order.forEach((i, place) => {
		least = Math.min(least, (ps[i]! * order.length) / (order.length - place));
		qs[i] = least;
	});
	return qs;
}
