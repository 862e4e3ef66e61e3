/* What the lines of a function cost: see line_costs.h. */
#include "annotate/line_costs.h"

#include "base/memory.h"
#include "scope/frame_filter.h"

#include <stdlib.h>
#include <string.h>

/* Functions besides the one that is chosen which are named, and which an error proposes. */
#define OTHERS    5
#define PROPOSALS 3

/* A function: frames that differ in nothing but their line. */
struct function {
	uint32_t module;
	const char *name;
	size_t length;
	int fits;
	uint64_t cost;  /* of all events with it in their stacks */
	uint32_t stamp; /* the row that was added last, plus one */
};

struct finding {
	const struct lode_area *area;
	struct lode_arena arena;
	LODE_ARRAY(struct function) functions;
	struct lode_index index;
	uint32_t *of_frames; /* by frame: its function */
};

/* ---- functions ---- */

static uint32_t function_of(struct finding *finding, uint32_t frame)
{
	const struct lode_frames *frames = &finding->area->dictionary.frames;
	const char *name = lode_frames_function(frames, frame);
	const struct function *functions = finding->functions.items;
	uint32_t module = frames->items[frame].module, line, found;
	size_t length = lode_function_line(name, &line);
	uint64_t hash = lode_hash_more(lode_hash_bytes(name, length), module);

	found = LODE_INDEX_FIND(at, &finding->index, hash,
				functions[at].module == module && functions[at].length == length &&
					!memcmp(functions[at].name, name, length));
	if (found != LODE_NONE)
		return found;
	name = lode_arena_text(&finding->arena, name, length);
	if (!name || LODE_INDEX_PUSH(&finding->index, hash, &finding->functions,
				     (struct function){ .module = module, .name = name, .length = length }) < 0)
		return LODE_NONE;
	return (uint32_t)finding->functions.count - 1;
}

static int name_functions(struct finding *finding)
{
	size_t count = finding->area->dictionary.frames.count;

	finding->of_frames = lode_calloc(count + 1, sizeof(*finding->of_frames));
	for (uint32_t i = 0; finding->of_frames && i < count; i++)
		if ((finding->of_frames[i] = function_of(finding, i)) == LODE_NONE)
			return LODE_SYSTEM;
	return finding->of_frames ? 0 : LODE_SYSTEM;
}

static char *text_of(const struct finding *finding, const struct function *function)
{
	const struct lode_frames *frames = &finding->area->dictionary.frames;
	const char *module = lode_strings_get(&frames->strings, frames->modules[function->module].name);

	return lode_format("%s%s%s", module, *module ? "!" : "", function->name);
}

/* What was asked for without a line: that of a frame which somebody has in front of him. For the caller to free. */
static char *without_line(const char *pattern)
{
	const char *bang = strchr(pattern, '!'), *function = bang ? bang + 1 : pattern;
	uint32_t line;

	return lode_strndup(pattern, (size_t)(function - pattern) + lode_function_line(function, &line));
}

/* Marks the functions that fit. Returns how many, or LODE_SYSTEM. */
static int find_fitting(struct finding *finding, const char *pattern)
{
	int count = 0;

	for (size_t i = 0; i < finding->functions.count; i++) {
		struct function *function = &finding->functions.items[i];
		char *text = strchr(pattern, '!') ? text_of(finding, function) : NULL;

		if (!text && strchr(pattern, '!'))
			return LODE_SYSTEM;
		function->fits = lode_glob_match(pattern, text ? text : function->name);
		count += function->fits && count < INT32_MAX;
		lode_free(text);
	}
	return count;
}

static void add_costs(struct finding *finding, enum lode_event_type kind)
{
	const struct lode_area_rows *rows = &finding->area->rows[kind];
	const struct lode_stack_node *nodes = finding->area->dictionary.tree.nodes;

	for (uint32_t i = 0; i < rows->count; i++)
		for (uint32_t node = rows->items[i].stack; node; node = nodes[node].parent) {
			struct function *function =
				&finding->functions.items[finding->of_frames[nodes[node].frame]];

			if (function->stamp == i + 1)
				continue;
			function->stamp = i + 1;
			function->cost = lode_add_saturating(function->cost, rows->items[i].cost);
		}
	for (size_t i = 0; i < finding->functions.count; i++)
		finding->functions.items[i].stamp = 0;
}

/* The costliest first; of equal ones the first by name. */
static int compare_functions(const void *a, const void *b)
{
	const struct function *x = *(const struct function *const *)a, *y = *(const struct function *const *)b;

	if (x->cost != y->cost)
		return x->cost < y->cost ? 1 : -1;
	if (strcmp(x->name, y->name) != 0)
		return strcmp(x->name, y->name);
	return (x->module > y->module) - (x->module < y->module);
}

/* Those for which `is_one` says so, in order, for the caller to free. NULL when memory has run out. */
static const struct function **in_order(const struct finding *finding,
					int (*is_one)(const struct function *function, const char *pattern),
					const char *pattern, size_t *count)
{
	const struct function **order = lode_calloc(finding->functions.count + 1, sizeof(*order));

	*count = 0;
	for (size_t i = 0; order && i < finding->functions.count; i++)
		if (is_one(&finding->functions.items[i], pattern))
			order[(*count)++] = &finding->functions.items[i];
	if (order)
		qsort(order, *count, sizeof(*order), compare_functions);
	return order;
}

static int is_fitting(const struct function *function, const char *pattern)
{
	(void)pattern;
	return function->fits;
}

static int is_like(const struct function *function, const char *pattern)
{
	const char *name = strchr(pattern, '!') ? strchr(pattern, '!') + 1 : pattern;

	return *name && strcasestr(function->name, name) != NULL;
}

/* None fits: names those that have the text in their names. */
static int refuse(const struct finding *finding, const char *pattern, struct lode_error *error)
{
	const struct function **order;
	struct lode_buffer names = { 0 };
	size_t count;
	int code;

	order = in_order(finding, is_like, pattern, &count);
	for (size_t i = 0; order && i < count && i < PROPOSALS; i++) {
		char *text = text_of(finding, order[i]);

		lode_buffer_print(&names, "%s'%s'", i ? ", " : "", text ? text : "");
		lode_free(text);
	}
	lode_buffer_byte(&names, '\0');
	if (!order || names.failed)
		code = lode_fail_memory(error);
	else if (count)
		code = lode_fail(error, LODE_USAGE, "no stack has a function '%s'; did you mean %s?", pattern,
				 names.bytes);
	else
		code = lode_fail(error, LODE_USAGE,
				 "no stack has a function '%s'; 'lode latency' and 'lode mine' list functions",
				 pattern);
	lode_buffer_release(&names);
	lode_free(order);
	return code;
}

/* ---- lines ---- */

static int compare_lines(const void *a, const void *b)
{
	const struct lode_line_cost *x = a, *y = b;

	return (x->line > y->line) - (x->line < y->line);
}

struct lode_line_cost *lode_line_costs_at(const struct lode_line_costs *costs, uint32_t line)
{
	const struct lode_line_cost key = { .line = line };

	return costs->lines.count
		       ? bsearch(&key, costs->lines.items, costs->lines.count, sizeof(key), compare_lines)
		       : NULL;
}

static uint32_t line_of_frame(const struct finding *finding, uint32_t frame)
{
	uint32_t line;

	lode_function_line(lode_frames_function(&finding->area->dictionary.frames, frame), &line);
	return line;
}

/* The lines of a function's frames, each once. */
static int collect_lines(const struct finding *finding, uint32_t function, struct lode_line_costs *costs)
{
	size_t kept = 0;

	for (uint32_t i = 0; i < finding->area->dictionary.frames.count; i++)
		if (finding->of_frames[i] == function &&
		    LODE_PUSH(&costs->lines, (struct lode_line_cost){ .line = line_of_frame(finding, i) }) < 0)
			return LODE_SYSTEM;
	qsort(costs->lines.items, costs->lines.count, sizeof(*costs->lines.items), compare_lines);
	for (size_t i = 0; i < costs->lines.count; i++)
		if (!kept || costs->lines.items[kept - 1].line != costs->lines.items[i].line)
			costs->lines.items[kept++] = costs->lines.items[i];
	costs->lines.count = kept;
	return 0;
}

static void add_to(uint64_t *sum, uint64_t cost)
{
	*sum = lode_add_saturating(*sum, cost);
}

/* `seen`: by line, the row that was added last, plus one. */
static void add_row(const struct finding *finding, uint32_t function, struct lode_line_costs *costs,
		    enum lode_event_type kind, uint32_t row, uint32_t *seen)
{
	const struct lode_area_row *item = &finding->area->rows[kind].items[row];
	const struct lode_stack_node *nodes = finding->area->dictionary.tree.nodes;
	int is_in = 0;

	for (uint32_t node = item->stack; node; node = nodes[node].parent) {
		struct lode_line_cost *line;

		if (finding->of_frames[nodes[node].frame] != function)
			continue;
		line = lode_line_costs_at(costs, line_of_frame(finding, nodes[node].frame));
		if (node == item->stack) {
			add_to(&line->self[kind], item->cost);
			add_to(&costs->all.self[kind], item->cost);
		}
		if (seen[line - costs->lines.items] != row + 1)
			add_to(&line->total[kind], item->cost);
		seen[line - costs->lines.items] = row + 1;
		if (!is_in)
			add_to(&costs->all.total[kind], item->cost);
		is_in = 1;
	}
}

static int add_lines(const struct finding *finding, uint32_t function, struct lode_line_costs *costs)
{
	uint32_t *seen;

	if (collect_lines(finding, function, costs) < 0)
		return LODE_SYSTEM;
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++) {
		seen = lode_calloc(costs->lines.count + 1, sizeof(*seen));
		if (!seen)
			return LODE_SYSTEM;
		for (uint32_t i = 0; i < finding->area->rows[kind].count; i++)
			add_row(finding, function, costs, (enum lode_event_type)kind, i, seen);
		costs->whole[kind] = finding->area->rows[kind].cost;
		lode_free(seen);
	}
	return 0;
}

/* ---- the whole ---- */

static int choose(const struct finding *finding, struct lode_line_costs *costs)
{
	size_t count;
	const struct function **order = in_order(finding, is_fitting, NULL, &count);
	int code = LODE_SYSTEM;

	if (order) {
		costs->module = order[0]->module;
		costs->function = lode_strdup(order[0]->name);
		costs->other_count = count - 1;
		for (size_t i = 1; i < count && i <= OTHERS; i++)
			lode_text_list_add(&costs->others, text_of(finding, order[i]));
		if (costs->function && !costs->others.failed)
			code = add_lines(finding, (uint32_t)(order[0] - finding->functions.items), costs);
	}
	lode_free(order);
	return code;
}

int lode_line_costs_find(const struct lode_area *area, const char *pattern, struct lode_line_costs *costs,
			 struct lode_error *error)
{
	struct finding finding = { .area = area };
	char *plain = without_line(pattern);
	int code;

	memset(costs, 0, sizeof(*costs));
	code = plain ? name_functions(&finding) : LODE_SYSTEM;
	if (!code)
		code = find_fitting(&finding, plain);
	if (code >= 0) {
		add_costs(&finding, LODE_RUN);
		add_costs(&finding, LODE_WAIT);
		code = code ? choose(&finding, costs) : refuse(&finding, plain, error);
	}
	lode_free(plain);
	lode_free(finding.of_frames);
	lode_free(finding.functions.items);
	lode_index_release(&finding.index);
	lode_arena_release(&finding.arena);
	return code == LODE_SYSTEM ? lode_fail_memory(error) : code;
}

void lode_line_costs_release(struct lode_line_costs *costs)
{
	lode_free(costs->function);
	lode_free(costs->lines.items);
	lode_text_list_release(&costs->others);
	memset(costs, 0, sizeof(*costs));
}
