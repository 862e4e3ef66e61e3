/* Where a finding is seen: see finding_streams.h. The rows are sorted by stream and symptom, and summed up. */
#include "mine/finding_streams.h"

#include <stdlib.h>
#include <string.h>

static int compare_rows(const void *left, const void *right)
{
	const struct lode_chain_row *a = left, *b = right;

	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	if (a->symptom != b->symptom)
		return a->symptom < b->symptom ? -1 : 1;
	if (a->longest != b->longest)
		return a->longest > b->longest ? -1 : 1;
	if (a->longest_t != b->longest_t)
		return a->longest_t < b->longest_t ? -1 : 1;
	return a->longest_tid < b->longest_tid ? -1 : a->longest_tid > b->longest_tid;
}

/* One stream; the rows are sorted. */
static int add_stream(struct lode_finding_streams *streams, const struct lode_chain_row *rows, size_t count,
		      int has_symptoms)
{
	struct lode_finding_stream slowest = { .stream = rows[0].stream };
	struct lode_share share = { .stream = rows[0].stream };

	for (size_t i = 0, end; i < count; i = end) {
		uint64_t cost = 0, slow;

		for (end = i; end < count && rows[end].symptom == rows[i].symptom; end++) {
			cost = lode_add_saturating(cost, rows[end].cost);
			share.events += rows[end].events;
		}
		share.cost = lode_add_saturating(share.cost, cost);
		slow = has_symptoms ? cost : rows[i].longest;
		if (!i || slow > slowest.slowest) {
			slowest.slowest = slow;
			slowest.t = rows[i].longest_t;
			slowest.tid = rows[i].longest_tid;
		}
	}
	if (LODE_APPEND(streams->slowest, streams->count, streams->capacity, slowest) < 0)
		return LODE_SYSTEM;
	return LODE_APPEND(streams->shares.items, streams->shares.count, streams->shares.capacity, share);
}

int lode_finding_streams_make(struct lode_finding_streams *streams, const struct lode_findings *findings,
			      const struct lode_finding *finding)
{
	size_t count = finding->row_count;
	struct lode_chain_row *rows = lode_calloc(count + 1, sizeof(*rows));
	int code = rows ? 0 : LODE_SYSTEM;

	memset(streams, 0, sizeof(*streams));
	if (!code && count) {
		memcpy(rows, findings->rows + finding->first_row, count * sizeof(*rows));
		qsort(rows, count, sizeof(*rows), compare_rows);
	}
	for (size_t i = 0, end; !code && i < count; i = end) {
		for (end = i; end < count && rows[end].stream == rows[i].stream; end++)
			;
		code = add_stream(streams, rows + i, end - i, findings->symptoms != 0);
	}
	lode_free(rows);
	return code;
}

void lode_finding_streams_release(struct lode_finding_streams *streams)
{
	lode_shares_release(&streams->shares);
	lode_free(streams->slowest);
	memset(streams, 0, sizeof(*streams));
}

size_t lode_finding_streams_slowest(const struct lode_finding_streams *streams, size_t most, size_t *places)
{
	size_t found = 0;

	for (size_t i = 0; i < streams->count; i++) {
		size_t at = found;

		while (at && streams->slowest[places[at - 1]].slowest < streams->slowest[i].slowest)
			at--;
		if (at == most)
			continue;
		if (found < most)
			found++;
		memmove(places + at + 1, places + at, (found - at - 1) * sizeof(*places));
		places[at] = i;
	}
	return found;
}
