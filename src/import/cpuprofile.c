/*
 * V8's CPU profiles (`.cpuprofile`, as `node --cpu-prof` and Chrome's developer
 * tools write them): a tree of nodes, and for each sample the node it hit and the
 * microseconds since the sample before.
 *
 * A node names its children (`children`) or its parent (`parent`). The root,
 * `(root)`, says nothing and is no frame. A sample in `(idle)` is time without work: a wait. All
 * else is run time, `(program)` and `(garbage collector)` too.
 *
 * What a sample stands for is the time up to the next one. Neighbours with one
 * stack stay samples of their own.
 */
#include "base/index.h"
#include "base/memory.h"
#include "import/json_profile.h"

#include <string.h>

#define NO_NODE UINT32_MAX

struct node {
	uint64_t id;
	struct lode_json_value call; /* the frame: functionName, url */
	struct lode_json_value children;
	uint32_t parent; /* NO_NODE: a root */
	uint32_t stack;	 /* LODE_NONE: not made yet */
	uint32_t depth;
	int is_idle;
};

struct reading {
	struct lode_json_import import;
	struct node *nodes;
	size_t count;
	size_t capacity;
	struct lode_index index; /* nodes by id */
	uint32_t *chain;	 /* from a node up to one whose stack is known */
	size_t chain_capacity;
	uint64_t cut;	     /* frames too deep */
	uint64_t back;	     /* samples that come before the one before them */
};

static int fail(struct reading *reading, const char *what)
{
	return lode_fail(reading->import.error, LODE_BAD_INPUT, "%s: %s", lode_input_name(reading->import.input), what);
}

/* ---- nodes ---- */

static uint32_t find_node(const struct reading *reading, uint64_t id)
{
	size_t probe = 0;
	uint32_t node;

	while ((node = lode_index_next(&reading->index, lode_hash_u64(id), &probe)) != LODE_NONE)
		if (reading->nodes[node].id == id)
			return node;
	return NO_NODE;
}

static int add_node(struct reading *reading, struct lode_json_value object)
{
	struct node node = {
		.id = lode_json_u64_or(lode_json_get(object, "id"), UINT64_MAX),
		.call = lode_json_get(object, "callFrame"),
		.children = lode_json_get(object, "children"),
		.parent = NO_NODE,
		.stack = LODE_NONE,
	};

	if (node.id == UINT64_MAX || lode_json_kind(lode_json_get(node.call, "functionName")) != LODE_JSON_TEXT)
		return fail(reading, "a node has no `id` or no `functionName`");
	if (find_node(reading, node.id) != NO_NODE)
		return fail(reading, "two nodes have the same `id`");
	if (reading->count >= LODE_NONE - 1 ||
	    lode_grow(&reading->nodes, &reading->capacity, reading->count + 1, sizeof(*reading->nodes)) < 0 ||
	    lode_index_insert(&reading->index, lode_hash_u64(node.id), (uint32_t)reading->count) < 0)
		return lode_fail_memory(reading->import.error);
	node.is_idle = lode_json_is_text(lode_json_get(node.call, "functionName"), "(idle)");
	reading->nodes[reading->count++] = node;
	return 0;
}

/* `children` of each node are ids. */
static int join_children(struct reading *reading)
{
	for (size_t i = 0; i < reading->count; i++) {
		struct lode_json_walk walk = lode_json_walk(reading->nodes[i].children);
		struct lode_json_value child;

		while (lode_json_item(&walk, &child)) {
			uint32_t node = find_node(reading, lode_json_u64_or(child, UINT64_MAX));

			if (node == NO_NODE)
				return fail(reading, "a node has a child that is not in `nodes`");
			reading->nodes[node].parent = (uint32_t)i;
		}
	}
	return 0;
}

static int read_list(struct reading *reading, struct lode_json_value list)
{
	struct lode_json_walk walk = lode_json_walk(list);
	struct lode_json_value object;
	int code = 0;

	while (code == 0 && lode_json_item(&walk, &object))
		code = add_node(reading, object);
	if (code < 0)
		return code;
	walk = lode_json_walk(list);
	for (size_t i = 0; lode_json_item(&walk, &object); i++) {
		uint64_t parent = lode_json_u64_or(lode_json_get(object, "parent"), UINT64_MAX);

		if (parent != UINT64_MAX)
			reading->nodes[i].parent = find_node(reading, parent);
	}
	return join_children(reading);
}

/* ---- stacks ---- */

static int make_stack(struct reading *reading, struct node *node)
{
	const struct node *parent = node->parent == NO_NODE ? NULL : &reading->nodes[node->parent];
	const char *function = lode_json_string(lode_json_get(node->call, "functionName"), &reading->import.text);
	const char *url = lode_json_string(lode_json_get(node->call, "url"), &reading->import.file);
	uint32_t frame;

	if (!function || !url)
		return lode_fail_memory(reading->import.error);
	node->depth = parent ? parent->depth + 1 : 0;
	if (node->depth > LODE_STACK_DEPTH_LIMIT) {
		reading->cut++;
		node->stack = parent->stack;
		return 0;
	}
	if (!parent && strcmp(function, "(root)") == 0) {
		node->stack = 0;
		return 0;
	}
	frame = lode_json_frame(&reading->import.dictionary.frames, function, url);
	if (frame != LODE_NONE)
		node->stack = lode_stack_tree_child(&reading->import.dictionary.tree, parent ? parent->stack : 0, frame);
	return node->stack == LODE_NONE ? lode_fail_memory(reading->import.error) : 0;
}

/* Makes the stacks of a node and of all above it that have none yet. */
static int find_stack(struct reading *reading, uint32_t node)
{
	size_t length = 0;
	int code = 0;

	for (; node != NO_NODE && reading->nodes[node].stack == LODE_NONE; node = reading->nodes[node].parent) {
		if (length >= reading->count)
			return fail(reading, "its nodes are parents of each other in a circle");
		if (lode_grow(&reading->chain, &reading->chain_capacity, length + 1, sizeof(*reading->chain)) < 0)
			return lode_fail_memory(reading->import.error);
		reading->chain[length++] = node;
	}
	while (code == 0 && length)
		code = make_stack(reading, &reading->nodes[reading->chain[--length]]);
	return code;
}

/* ---- samples ---- */

static int add_sample(struct reading *reading, uint32_t thread, struct lode_json_value id, uint64_t t, uint64_t cost)
{
	uint32_t node = find_node(reading, lode_json_u64_or(id, UINT64_MAX));
	struct lode_event event = {
		.t = t, .cost = cost, .thread = thread, .waker = LODE_NONE, .cpu = LODE_NO_CPU
	};
	int code;

	if (node == NO_NODE)
		return fail(reading, "a sample names a node that is not in `nodes`");
	code = find_stack(reading, node);
	if (code < 0)
		return code;
	event.stack = reading->nodes[node].stack;
	if (lode_stream_add_event(&reading->import.stream, reading->nodes[node].is_idle ? LODE_WAIT : LODE_RUN, &event) < 0)
		return lode_fail_memory(reading->import.error);
	return 0;
}

/* Microseconds from a sample to the one behind it, as nanoseconds; what goes back counts as 0. */
static uint64_t read_step(struct reading *reading, struct lode_json_value value)
{
	uint64_t ns = 0;

	if (lode_json_ns(value, 1e3, &ns) < 0)
		reading->back++;
	return ns;
}

/*
 * `timeDeltas[i]` lies before sample i. The last sample lasts until `endTime`.
 * Times count from the start of the profile.
 */
static int read_samples(struct reading *reading, struct lode_json_value root, uint32_t thread)
{
	struct lode_json_walk samples = lode_json_walk(lode_json_get(root, "samples"));
	struct lode_json_walk deltas = lode_json_walk(lode_json_get(root, "timeDeltas"));
	struct lode_json_value sample, next = { NULL }, delta;
	uint64_t t, start, end, cost;
	int code = 0, more = lode_json_item(&samples, &sample);

	if (lode_json_ns(lode_json_get(root, "startTime"), 1e3, &start) < 0 ||
	    lode_json_ns(lode_json_get(root, "endTime"), 1e3, &end) < 0 || end < start)
		start = end = 0;
	end -= start;
	t = lode_json_item(&deltas, &delta) ? read_step(reading, delta) : 0;
	for (; code == 0 && more; sample = next, t = lode_add_saturating(t, cost)) {
		more = lode_json_item(&samples, &next);
		if (more && !lode_json_item(&deltas, &delta))
			return fail(reading, "there are fewer `timeDeltas` than `samples`");
		cost = more ? read_step(reading, delta) : end > t ? end - t : 0;
		code = add_sample(reading, thread, sample, t, cost);
	}
	return code;
}

static int read_document(void *context, struct lode_json_value root)
{
	struct reading *reading = context;
	struct lode_json_value nodes = lode_json_get(root, "nodes");
	uint32_t thread = lode_stream_thread(&reading->import.stream, LODE_NO_PID, 0);
	int code;

	if (thread == LODE_NONE)
		return lode_fail_memory(reading->import.error);
	if (lode_json_get(root, "head").at)
		return fail(reading, "this is the nested form that Chrome wrote up to version 57; open it in a newer one and "
				     "save it again");
	if (lode_json_kind(nodes) != LODE_JSON_ARRAY)
		return fail(reading, "there is no `nodes`; is it a CPU profile of V8?");
	code = read_list(reading, nodes);
	if (code == 0)
		code = read_samples(reading, root, thread);
	lode_notes_add(reading->import.options->notes, reading->back, "samples that come before the one before them, taken at its time",
		       NULL);
	lode_notes_add(reading->import.options->notes, reading->cut, "stacks beyond the deepest that Lode keeps, cut off", NULL);
	return code;
}

static int sniff(const unsigned char *bytes, size_t size, const char *name)
{
	if (!size || bytes[0] != '{')
		return 0;
	if (lode_sniff_has(bytes, size, "\"nodes\"") && lode_sniff_has(bytes, size, "\"callFrame\""))
		return 90;
	if (lode_sniff_has(bytes, size, "\"head\"") && lode_sniff_has(bytes, size, "\"functionName\""))
		return 80;
	return strstr(name, ".cpuprofile") ? 50 : 0;
}

static int read_input(struct lode_input *input, const struct lode_import_options *options,
		      const struct lode_import_sink *sink, struct lode_error *error)
{
	struct reading reading = { .import = { .input = input, .options = options, .error = error } };
	int code = lode_json_import_run(&reading.import, read_document, &reading, sink);

	lode_index_release(&reading.index);
	lode_free(reading.nodes);
	lode_free(reading.chain);
	return code;
}

const struct lode_importer lode_importer_cpuprofile = {
	.name = "cpuprofile",
	.description = "V8's CPU profiles: node --cpu-prof, Chrome's developer tools",
	.sniff = sniff,
	.read = read_input,
};
