// A bar that means its percentage: full is 100 %. The thin line is the 95 % interval.
import { percent } from '../format';

export function Bar({ share, low, high }: { share: number; low?: number; high?: number }) {
	const width = (part: number) => `${Math.max(0, Math.min(1, part)) * 100}%`;

	return (
		<span class="bar" role="img" aria-label={percent(share)}>
			<i style={{ width: width(share) }} />
			{low !== undefined && high !== undefined && high > low && (
				<u style={{ left: width(low), width: width(Math.min(high, 1) - low) }} />
			)}
		</span>
	);
}
