/* V8's CPU profiles inside Chrome's traces: see chrome_profiles.h. */
#include "import/json/chrome_profiles.h"

#include "base/memory.h"
#include "import/import_common.h"

void lode_chrome_profiles_release(struct lode_chrome_profiles *profiles)
{
	for (size_t i = 0; i < profiles->ids.count; i++)
		lode_v8_nodes_release(&profiles->items[i].nodes);
	lode_free(profiles->items);
	lode_frame_memo_release(&profiles->ids);
}

/* The profile of an event, begun if it is new. NULL when memory has run out. */
static struct lode_chrome_profile *find_profile(struct lode_chrome_profiles *profiles,
						const struct lode_chrome_profile_event *event)
{
	struct lode_buffer *key = &profiles->import->text;
	size_t count = profiles->ids.count;
	uint64_t hash;
	uint32_t at;

	lode_buffer_clear(key);
	lode_buffer_u64(key, event->pid);
	lode_buffer_add(key, event->id.at, lode_json_length(event->id));
	if (key->failed)
		return NULL;
	hash = lode_hash_bytes(key->bytes, key->size);
	at = lode_frame_memo_find(&profiles->ids, key->bytes, key->size, hash);
	if (at != LODE_NONE)
		return &profiles->items[at];
	if (lode_grow(&profiles->items, &profiles->capacity, count + 1, sizeof(*profiles->items)) < 0 ||
	    lode_frame_memo_add(&profiles->ids, key->bytes, key->size, hash, (uint32_t)count) < 0)
		return NULL;
	profiles->items[count] = (struct lode_chrome_profile){ .thread = event->thread,
							       .t = event->t,
							       .now = event->t,
							       .nodes = { .import = profiles->import } };
	return &profiles->items[count];
}

/* The sample that goes on ends at `t`. */
static int end_sample(struct lode_chrome_profiles *profiles, struct lode_chrome_profile *profile, uint64_t t)
{
	struct lode_event event = { .t = profile->t,
				    .cost = t - profile->t,
				    .thread = profile->thread,
				    .stack = profile->stack,
				    .waker = LODE_NONE,
				    .cpu = LODE_NO_CPU };
	enum lode_event_type type = profile->is_idle ? LODE_WAIT : LODE_RUN;

	profile->t = t;
	if (profile->started && lode_stream_add_event(&profiles->import->stream, type, &event) < 0)
		return lode_fail_memory(profiles->import->error);
	return 0;
}

static int add_samples(struct lode_chrome_profiles *profiles, struct lode_chrome_profile *profile,
		       struct lode_json_value samples, struct lode_json_value steps)
{
	struct lode_json_walk walk = lode_json_walk(samples), deltas = lode_json_walk(steps);
	struct lode_json_value sample, delta;
	struct lode_v8_leaf leaf;
	int code = 0;

	while (code == 0 && lode_json_item(&walk, &sample)) {
		uint64_t step = 0;

		if (lode_json_item(&deltas, &delta) && lode_json_ns(delta, 1e3, &step) < 0)
			profiles->back++;
		profile->now = lode_add_saturating(profile->now, step);
		code = lode_v8_nodes_find(&profile->nodes, sample, &leaf);
		if (code < 0 || (profile->is_idle && leaf.is_idle && profile->stack == leaf.stack))
			continue; /* neighbours that are idle are one wait */
		code = end_sample(profiles, profile, profile->now);
		profile->started = 1;
		profile->stack = leaf.stack;
		profile->is_idle = leaf.is_idle;
	}
	return code;
}

int lode_chrome_profiles_add(struct lode_chrome_profiles *profiles, const struct lode_chrome_profile_event *event)
{
	static const char *const keys[] = { "nodes", "samples", "timeDeltas", "startTime", "endTime" };
	struct lode_json_value data = lode_json_get(event->args, "data"), part, outer[5], inner[5];
	struct lode_chrome_profile *profile = find_profile(profiles, event);
	uint64_t ns;
	int code;

	if (!profile)
		return lode_fail_memory(profiles->import->error);
	part = lode_json_get(data, "cpuProfile");
	lode_json_get_all(data, keys, outer, 5);
	lode_json_get_all(part, keys, inner, 5);
	for (int i = 0; i < 5; i++)
		inner[i] = inner[i].at ? inner[i] : outer[i];
	if (!profile->started && lode_json_ns(inner[3], 1e3, &ns) == 0)
		profile->t = profile->now = ns;
	if (lode_json_ns(inner[4], 1e3, &ns) == 0)
		profile->end = ns;
	code = lode_v8_nodes_add(&profile->nodes, inner[0]);
	return code < 0 ? code : add_samples(profiles, profile, inner[1], inner[2]);
}

int lode_chrome_profiles_finish(struct lode_chrome_profiles *profiles, uint8_t *measured)
{
	struct lode_notes *notes = profiles->import->options->notes;

	for (size_t i = 0; i < profiles->ids.count; i++) {
		struct lode_chrome_profile *profile = &profiles->items[i];

		if (end_sample(profiles, profile, profile->end > profile->now ? profile->end : profile->now) < 0)
			return LODE_SYSTEM;
		if (profile->started)
			measured[profile->thread] = 1;
		lode_notes_add(notes, profile->nodes.cut, LODE_CUT_AT_LEAF, NULL);
	}
	lode_notes_add(notes, profiles->back,
		       "samples with timestamps out of order, moved to the previous sample's time", NULL);
	return 0;
}
