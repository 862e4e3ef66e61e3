/* Symptoms with the same critical path: see scope_groups.h. */
#include "text/scope_groups.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/sort_numbers.h"
#include "base/units.h"

#include <string.h>

#define MILLION 1000000

void lode_scope_profile_release(struct lode_scope_profile *profile)
{
	lode_free(profile->items);
	memset(profile, 0, sizeof(*profile));
}

__extension__ typedef unsigned __int128 wide;

static uint64_t millionths(uint64_t cost, uint64_t length)
{
	return (uint64_t)((wide)cost * MILLION / length);
}

/* Whole numbers: places are ordered by their hashes, and fractions would add up differently in another order. */
/* How much of the time two paths spend in the same places, in millionths. */
static uint64_t agreement(const struct lode_scope_profile *a, const struct lode_scope_profile *b)
{
	uint64_t agree = 0;
	size_t i = 0, k = 0;

	if (!a->length || !b->length)
		return a->length == b->length ? MILLION : 0;
	while (i < a->count && k < b->count) {
		uint64_t left = millionths(a->items[i].cost, a->length);
		uint64_t right = millionths(b->items[k].cost, b->length);
		uint64_t x = a->items[i].place, y = b->items[k].place;

		if (x == y)
			agree += left < right ? left : right;
		i += x <= y;
		k += y <= x;
	}
	return agree;
}

static uint64_t who_of(const struct lode_scope_report *report, const struct lode_scope_found *found)
{
	const struct lode_strings *strings = &report->dictionary.frames.strings;
	const char *name = lode_strings_get(strings, found->symptom.name);
	const char *thread = lode_strings_get(strings, report->stream.threads[found->symptom.thread].name);

	return lode_hash_more(lode_hash_bytes(name, strlen(name)), lode_hash_bytes(thread, strlen(thread)));
}

static struct lode_scope_group *find_group(struct lode_scope_groups *groups, uint64_t who,
					   struct lode_scope_profile *profile)
{
	for (size_t i = 0; i < groups->count; i++)
		if (groups->items[i].who == who && agreement(&groups->items[i].profile, profile) >= LODE_SCOPE_ALIKE)
			return &groups->items[i];
	if (lode_grow(&groups->items, &groups->capacity, groups->count + 1, sizeof(*groups->items)) < 0)
		return NULL;
	groups->items[groups->count] = (struct lode_scope_group){ .who = who, .profile = *profile };
	memset(profile, 0, sizeof(*profile));
	return &groups->items[groups->count++];
}

int lode_scope_groups_add(struct lode_scope_groups *groups, const struct lode_scope_report *report,
			  const struct lode_scope_found *found, struct lode_scope_profile *profile,
			  uint64_t stream, size_t *number)
{
	struct lode_scope_group *group = find_group(groups, who_of(report, found), profile);

	lode_scope_profile_release(profile);
	if (!group || lode_grow(&group->lengths, &group->capacity, group->count + 1, sizeof(*group->lengths)) < 0)
		return LODE_SYSTEM;
	group->streams += !group->count || group->last_stream != stream;
	group->last_stream = stream;
	group->lengths[group->count++] = found->symptom.t1 - found->symptom.t0;
	*number = (size_t)(group - groups->items);
	return 0;
}

void lode_scope_groups_release(struct lode_scope_groups *groups)
{
	for (size_t i = 0; i < groups->count; i++) {
		lode_scope_profile_release(&groups->items[i].profile);
		lode_free(groups->items[i].lengths);
	}
	lode_free(groups->items);
	memset(groups, 0, sizeof(*groups));
}

void lode_scope_group_text(struct lode_scope_group *group, struct lode_buffer *buffer)
{
	char least[LODE_UNITS_TEXT], most[LODE_UNITS_TEXT], middle[LODE_UNITS_TEXT], all[LODE_UNITS_TEXT];
	char count[LODE_UNITS_TEXT];
	uint64_t sum = 0;

	lode_sort_u64(group->lengths, group->count);
	for (size_t i = 0; i < group->count; i++)
		sum = lode_add_saturating(sum, group->lengths[i]);
	lode_buffer_print(buffer, "%s symptoms with this path, %s to %s, median %s, ",
			  lode_count_text(group->count, count), lode_duration_text(group->lengths[0], least),
			  lode_duration_text(group->lengths[group->count - 1], most),
			  lode_duration_text(group->lengths[(group->count - 1) / 2], middle));
	lode_buffer_print(buffer, "%s together, in %s stream%s; the longest:\n", lode_duration_text(sum, all),
			  lode_count_text(group->streams, count), group->streams == 1 ? "" : "s");
}
