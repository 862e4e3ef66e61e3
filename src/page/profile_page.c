/*
 * A profile for the page: see profile_page.h.
 */
#include "page/profile_page.h"

#include "page/page_columns.h"
#include "result/frame_facts.h"

#include <string.h>

#define SMALLEST_SHARE 1e-5

enum value { RUN, WAIT, WORK, IDLE, VALUES };

static const char *const value_names[VALUES] = {"run", "wait", "work", "idle"};

struct profile {
	const struct lode_area *area;
	double *self[VALUES];  /* by node */
	double *total[VALUES]; /* with all below */
	uint32_t *numbers;     /* by node: its number in the page; LODE_NONE: left out */
	uint32_t *frames;      /* by frame: its number in the page; LODE_NONE: not used */
	size_t kept;
	size_t cut;
};

static int make_room(struct profile *profile)
{
	size_t nodes = profile->area->dictionary.tree.count;
	int failed = 0;

	for (int value = 0; value < VALUES; value++) {
		profile->self[value] = lode_calloc(nodes, sizeof(double));
		profile->total[value] = lode_calloc(nodes, sizeof(double));
		failed |= !profile->self[value] || !profile->total[value];
	}
	profile->numbers = lode_calloc(nodes, sizeof(*profile->numbers));
	profile->frames = lode_calloc(profile->area->dictionary.frames.count + 1, sizeof(*profile->frames));
	return failed || !profile->numbers || !profile->frames ? LODE_SYSTEM : 0;
}

static void add_rows(double *self, const struct lode_area_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		self[rows->items[i].stack] += (double)rows->items[i].cost;
}

/* A node's parent has a lower number. */
static void add_up(struct profile *profile)
{
	const struct lode_stack_tree *tree = &profile->area->dictionary.tree;

	add_rows(profile->self[RUN], &profile->area->rows[LODE_RUN]);
	add_rows(profile->self[WAIT], &profile->area->rows[LODE_WAIT]);
	add_rows(profile->self[WORK], &profile->area->work);
	add_rows(profile->self[IDLE], &profile->area->idle[LODE_WAIT]);
	for (int value = 0; value < VALUES; value++) {
		memcpy(profile->total[value], profile->self[value], tree->count * sizeof(double));
		for (size_t i = tree->count; i-- > 1;)
			profile->total[value][tree->nodes[i].parent] += profile->total[value][i];
	}
}

static int is_large(const struct profile *profile, size_t node)
{
	for (int value = 0; value < VALUES; value++)
		if (profile->total[value][node] > 0 &&
		    profile->total[value][node] >= profile->total[value][0] * SMALLEST_SHARE)
			return 1;
	return 0;
}

/* Numbers what stays; what goes leaves its time to its caller. The empty stack, node 0, always stays. */
static void choose_nodes(struct profile *profile)
{
	const struct lode_stack_tree *tree = &profile->area->dictionary.tree;

	for (size_t i = tree->count; i-- > 1;) {
		if (is_large(profile, i))
			continue;
		for (int value = 0; value < VALUES; value++)
			profile->self[value][tree->nodes[i].parent] += profile->self[value][i];
	}
	profile->numbers[0] = 0;
	profile->kept = 1;
	for (size_t i = 1; i < tree->count; i++) {
		int stays = is_large(profile, i);
		double time = profile->total[RUN][i] + profile->total[WAIT][i] + profile->total[WORK][i] + profile->total[IDLE][i];

		profile->numbers[i] = stays ? (uint32_t)profile->kept++ : LODE_NONE;
		profile->cut += !stays && time > 0;
	}
}

static void number_frames(struct profile *profile, struct lode_json *json)
{
	const struct lode_dictionary *dictionary = &profile->area->dictionary;
	uint32_t count = 0;

	memset(profile->frames, 0xff, dictionary->frames.count * sizeof(*profile->frames));
	lode_json_key(json, "names");
	lode_json_array(json);
	for (size_t i = 1; i < dictionary->tree.count; i++) {
		uint32_t frame = dictionary->tree.nodes[i].frame;

		if (profile->numbers[i] == LODE_NONE || profile->frames[frame] != LODE_NONE)
			continue;
		profile->frames[frame] = count++;
		lode_frames_json(&dictionary->frames, frame, json);
	}
	lode_json_array_end(json);
}

static void put_nodes(const struct profile *profile, struct lode_page_columns *columns)
{
	const struct lode_stack_tree *tree = &profile->area->dictionary.tree;
	uint32_t *parents = lode_page_columns_u32(columns, "node_parent", profile->kept);

	for (size_t i = 0; parents && i < tree->count; i++)
		if (profile->numbers[i] != LODE_NONE)
			parents[profile->numbers[i]] = i ? profile->numbers[tree->nodes[i].parent] : 0;
	uint32_t *frames = lode_page_columns_u32(columns, "node_frame", profile->kept);

	for (size_t i = 0; frames && i < tree->count; i++)
		if (profile->numbers[i] != LODE_NONE)
			frames[profile->numbers[i]] = i ? profile->frames[tree->nodes[i].frame] : 0;
	for (int value = 0; value < VALUES; value++) {
		double *self = lode_page_columns_f64(columns, value_names[value], profile->kept);

		for (size_t i = 0; self && i < tree->count; i++)
			if (profile->numbers[i] != LODE_NONE)
				self[profile->numbers[i]] = profile->self[value][i];
	}
}

static void write(struct profile *profile, const struct lode_idle_stacks *idle, int coded, struct lode_buffer *out)
{
	const struct lode_frames *frames = &profile->area->dictionary.frames;
	uint8_t *used = lode_calloc(frames->count + 1, 1);
	struct lode_page_columns columns = {0};
	struct lode_buffer head = {0};
	struct lode_json json;

	lode_json_init(&json, &head);
	lode_json_object(&json);
	lode_json_key_u64(&json, "streams", profile->area->stream_count);
	lode_json_key_u64(&json, "stacks_cut", profile->cut);
	number_frames(profile, &json);
	for (size_t i = 0; used && i < frames->count; i++)
		used[i] = profile->frames[i] != LODE_NONE;
	if (used)
		lode_frame_facts_json(&json, frames, used, idle);
	put_nodes(profile, &columns);
	if (coded)
		lode_page_columns_code(&columns);
	lode_page_columns_json(&columns, &json);
	lode_json_object_end(&json);
	head.failed |= !used;
	lode_page_columns_pack(&columns, &head, out);
	lode_page_columns_release(&columns);
	lode_buffer_release(&head);
	lode_free(used);
}

int lode_profile_page(const struct lode_area *area, const struct lode_idle_stacks *idle, int coded,
		      struct lode_buffer *out, struct lode_error *error)
{
	struct profile profile = {.area = area};
	int code = make_room(&profile);

	if (!code) {
		add_up(&profile);
		choose_nodes(&profile);
		write(&profile, idle, coded, out);
	}
	for (int value = 0; value < VALUES; value++) {
		lode_free(profile.self[value]);
		lode_free(profile.total[value]);
	}
	lode_free(profile.numbers);
	lode_free(profile.frames);
	return code < 0 || out->failed ? lode_fail_memory(error) : 0;
}
