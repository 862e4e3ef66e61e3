/* The baseline of a fleet: see baseline.h. */
#include "watch/baseline.h"

#include "base/hash.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int lode_baseline_parse(struct lode_baseline *baseline, const char *text, struct lode_error *error)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || strcmp(end, "%") != 0 || !(percent >= 0.0001 && percent <= 100))
		return lode_fail(error, LODE_USAGE, "--baseline %s: is not a share of hours; write 1%% or 0.1%%",
				 text);
	*baseline = (struct lode_baseline){ .one_in = (uint32_t)lround(100 / percent), .hour = LODE_BASELINE_HOUR };
	return 0;
}

uint64_t lode_baseline_moment(const struct lode_baseline *baseline, const char *host, uint64_t start)
{
	char text[320];
	uint64_t hash;
	int length = snprintf(text, sizeof(text), "%.255s %llu", host, (unsigned long long)start);

	hash = lode_digest_bytes(text, (size_t)length);
	return hash % baseline->one_in ? 0 : start + hash / baseline->one_in % baseline->hour;
}

int lode_baseline_is_due(struct lode_baseline *baseline, const char *host, uint64_t now)
{
	uint64_t start, moment, last = baseline->looked;

	if (!baseline->one_in)
		return 0;
	start = now - now % baseline->hour;
	baseline->looked = now;
	moment = lode_baseline_moment(baseline, host, start);
	return moment && last && last < moment && moment <= now;
}
