/*
 * A profile for the page: see profile_page.h.
 */
#include "page/profile_page.h"
#include "result/column_heads.h"

#include <string.h>

#define SMALLEST_SHARE 1e-5

enum value { RUN, WAIT, WORK, IDLE, VALUES };

static const char *const value_names[VALUES] = { "run", "wait", "work", "idle" };

struct profile {
	const struct lode_area *area;
	double *self[VALUES];  /* by node */
	double *total[VALUES]; /* with all below */
	uint32_t *numbers;     /* by node: its number in the page; LODE_NONE: left out */
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
	return failed || !profile->numbers ? LODE_SYSTEM : 0;
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
		double time = profile->total[RUN][i] + profile->total[WAIT][i] + profile->total[WORK][i] +
			      profile->total[IDLE][i];

		profile->numbers[i] = stays ? (uint32_t)profile->kept++ : LODE_NONE;
		profile->cut += !stays && time > 0;
	}
}

/* `places`: by number, where the values of a node go; NULL: there. */
static void put_values(const struct profile *profile, const uint32_t *places, size_t count,
		       struct lode_page_columns *columns)
{
	for (int value = 0; value < VALUES; value++) {
		double *column = lode_page_columns_f64(columns, value_names[value], count);

		if (column)
			memset(column, 0, count * sizeof(*column));
		for (size_t i = 0; column && i < profile->area->dictionary.tree.count; i++)
			if (profile->numbers[i] != LODE_NONE)
				column[places ? places[profile->numbers[i]] : profile->numbers[i]] =
					profile->self[value][i];
	}
}

/* With stacks of its own. */
static void write_alone(struct profile *profile, const struct lode_idle_stacks *idle,
			struct lode_page_columns *columns, struct lode_json *head)
{
	lode_page_stacks_write(&profile->area->dictionary, profile->numbers, profile->kept, idle, columns, head);
	put_values(profile, NULL, profile->kept, columns);
}

/* With those of the file: only the stacks that stay are added to them. */
static int write_shared(struct profile *profile, struct lode_page_stacks *shared,
			struct lode_page_columns *columns, struct lode_error *error)
{
	struct lode_dictionary part = profile->area->dictionary;
	struct lode_stack_node *nodes = lode_calloc(profile->kept, sizeof(*nodes));
	struct lode_dictionary_map map = { 0 };
	int code;

	for (size_t i = 1; nodes && i < part.tree.count; i++)
		if (profile->numbers[i] != LODE_NONE)
			nodes[profile->numbers[i]] = (struct lode_stack_node){
				.parent = profile->numbers[part.tree.nodes[i].parent],
				.frame = part.tree.nodes[i].frame,
			};
	part.tree.nodes = nodes;
	part.tree.count = profile->kept;
	code = nodes ? lode_page_stacks_share(shared, &part, &map, error) : lode_fail_memory(error);
	if (!code) {
		put_values(profile, map.nodes, shared->dictionary.tree.count, columns);
		lode_page_columns_code(columns);
	}
	lode_dictionary_map_release(&map);
	lode_free(nodes);
	return code;
}

static int write(struct profile *profile, const struct lode_idle_stacks *idle, struct lode_page_stacks *shared,
		 struct lode_buffer *out, struct lode_error *error)
{
	struct lode_page_columns columns = { 0 };
	struct lode_buffer head = { 0 };
	struct lode_json json = { .buffer = &head };
	struct lode_profile_head fields = { profile->area->stream_count, profile->cut };
	int code = 0;

	lode_json_object(&json);
	lode_fields_members(&lode_profile_head_fields, &fields, &json);
	if (shared)
		code = write_shared(profile, shared, &columns, error);
	else
		write_alone(profile, idle, &columns, &json);
	lode_page_columns_json(&columns, &json);
	lode_json_object_end(&json);
	lode_page_columns_pack(&columns, &head, out);
	lode_page_columns_release(&columns);
	lode_buffer_release(&head);
	return code;
}

int lode_profile_page(const struct lode_area *area, const struct lode_idle_stacks *idle,
		      struct lode_page_stacks *shared, struct lode_buffer *out, struct lode_error *error)
{
	struct profile profile = { .area = area };
	int code = make_room(&profile) < 0 ? lode_fail_memory(error) : 0;

	if (!code) {
		add_up(&profile);
		choose_nodes(&profile);
		code = write(&profile, idle, shared, out, error);
	}
	for (int value = 0; value < VALUES; value++) {
		lode_free(profile.self[value]);
		lode_free(profile.total[value]);
	}
	lode_free(profile.numbers);
	return !code && out->failed ? lode_fail_memory(error) : code;
}
