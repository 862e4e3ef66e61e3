/*
 * V8's CPU profiles (`.cpuprofile`, as `node --cpu-prof` and Chrome's developer
 * tools write them): a tree of nodes, and for each sample the node it hit and the
 * microseconds since the sample before.
 *
 * A sample represents the time up to the next one. Samples in `(idle)` are
 * time without work: those that follow each other are one wait. All else is run time,
 * `(program)` and `(garbage collector)` too; neighbours with one stack stay samples of their own.
 *
 * The protocol allows a profile without its list of samples, with the hits of each node only: they share the time of
 * the profile evenly.
 */
#include "import/import_common.h"
#include "import/json/v8_nodes.h"

#include <string.h>

struct reading {
	struct lode_json_import import;
	struct lode_v8_nodes nodes;
	struct lode_event wait; /* that may go on with the next sample; cost 0: none */
	uint64_t back;          /* samples with timestamps out of order */
};

/* ---- samples ---- */

static int end_wait(struct reading *reading)
{
	int code = 0;

	if (reading->wait.cost && lode_stream_add_event(&reading->import.stream, LODE_WAIT, &reading->wait) < 0)
		code = lode_fail_memory(reading->import.error);
	reading->wait.cost = 0;
	return code;
}

static int add_sample(struct reading *reading, uint32_t thread, uint32_t node, uint64_t t, uint64_t cost)
{
	struct lode_event event = { .t = t, .cost = cost, .thread = thread, .waker = LODE_NONE, .cpu = LODE_NO_CPU };
	struct lode_v8_leaf leaf;
	int code = lode_v8_nodes_leaf(&reading->nodes, node, &leaf);

	if (code < 0)
		return code;
	event.stack = leaf.stack;
	if (leaf.is_idle && reading->wait.cost && reading->wait.stack == event.stack) {
		reading->wait.cost = lode_add_saturating(reading->wait.cost, cost);
		return 0;
	}
	code = end_wait(reading);
	if (leaf.is_idle)
		reading->wait = event;
	else if (code == 0 && lode_stream_add_event(&reading->import.stream, LODE_RUN, &event) < 0)
		code = lode_fail_memory(reading->import.error);
	return code;
}

/*
 * Microseconds from a sample to the one behind it, as nanoseconds; what goes back counts as 0. Returns 0 where there are no
 * more.
 */
static int read_step(struct reading *reading, struct lode_json_walk *deltas, uint64_t *ns)
{
	struct lode_json_value value;
	uint64_t us;

	if (!lode_json_item_u64(deltas, &value, UINT64_MAX, &us))
		return 0;
	*ns = 0;
	if (us <= UINT64_MAX / 1000 - 1)
		*ns = us * 1000;
	else if (lode_json_ns(value, 1e3, ns) < 0)
		reading->back++;
	return 1;
}

/* The members of the document. */
enum { NODES, HEAD, SAMPLES, TIME_DELTAS, START_TIME, END_TIME, MEMBERS };
static const char *const member_names[MEMBERS] = { "nodes", "head", "samples", "timeDeltas", "startTime", "endTime" };

/* Samples that are looked at ahead: nodes are all over the tree, so that reaching one takes long. */
#define AHEAD 16

/* The samples, and the nodes of those that come next. */
struct samples {
	struct lode_json_walk ids;
	uint32_t ahead[AHEAD];
	size_t taken, read;
};

/* Reads on until enough samples are known. */
static void look_ahead(struct lode_v8_nodes *nodes, struct samples *samples)
{
	struct lode_json_value value;
	uint64_t id;

	while (samples->read - samples->taken < AHEAD && lode_json_item_u64(&samples->ids, &value, UINT64_MAX, &id))
		samples->ahead[samples->read++ % AHEAD] = lode_v8_nodes_number(nodes, id);
}

/*
 * `timeDeltas[i]` is the time before sample i. The last sample lasts until `endTime`.
 * Times count from the start of the profile.
 */
static int read_samples(struct reading *reading, const struct lode_json_value *members, uint32_t thread)
{
	struct samples samples = { .ids = lode_json_walk(members[SAMPLES]) };
	struct lode_json_walk deltas = lode_json_walk(members[TIME_DELTAS]);
	uint64_t t = 0, start, end, cost;
	int code = 0;

	if (lode_json_ns(members[START_TIME], 1e3, &start) < 0 || lode_json_ns(members[END_TIME], 1e3, &end) < 0 ||
	    end < start)
		start = end = 0;
	end -= start;
	read_step(reading, &deltas, &t);
	for (; code == 0; t = lode_add_saturating(t, cost)) {
		uint32_t node;

		look_ahead(&reading->nodes, &samples);
		if (samples.taken == samples.read)
			break;
		node = samples.ahead[samples.taken++ % AHEAD];
		cost = end > t ? end - t : 0;
		if (samples.taken < samples.read && !read_step(reading, &deltas, &cost))
			return lode_json_reject(&reading->import, "there are fewer `timeDeltas` than `samples`");
		code = add_sample(reading, thread, node, t, cost);
	}
	return code ? code : end_wait(reading);
}

/* ---- hits ---- */

static uint64_t hits_of(struct lode_json_value node)
{
	uint64_t hits = lode_json_u64_or(lode_json_get(node, "hitCount"), 0);

	return hits <= UINT32_MAX ? hits : UINT32_MAX;
}

static uint64_t count_hits(struct lode_json_value nodes)
{
	struct lode_json_walk walk = lode_json_walk(nodes);
	struct lode_json_value node;
	uint64_t count = 0;

	while (lode_json_item(&walk, &node))
		count = lode_add_saturating(count, hits_of(node));
	return count;
}

/* A run for each node that was hit, one after another. */
static int read_hits(struct reading *reading, const struct lode_json_value *members, uint32_t thread)
{
	struct lode_json_walk walk = lode_json_walk(members[NODES]);
	uint64_t all = count_hits(members[NODES]), passed = 0, t = 0, start, end;
	double unit = reading->import.options->unit_ns;
	struct lode_json_value node;
	int code = 0;

	if (lode_json_ns(members[START_TIME], 1e3, &start) < 0 || lode_json_ns(members[END_TIME], 1e3, &end) < 0 ||
	    end < start)
		start = end = 0;
	if (unit <= 0)
		unit = all && end > start ? (double)(end - start) / (double)all : 1;
	while (code == 0 && lode_json_item(&walk, &node)) {
		uint64_t hits = hits_of(node), until;

		if (!hits)
			continue;
		passed += hits;
		if ((double)passed * unit >= 0x1p63)
			return lode_json_reject(&reading->import,
						"its hits add up to more than 64 bits of nanoseconds");
		until = (uint64_t)((double)passed * unit + 0.5);
		code = add_sample(reading, thread,
				  lode_v8_nodes_number(&reading->nodes,
						       lode_json_u64_or(lode_json_get(node, "id"), UINT64_MAX)),
				  t, until - t);
		t = until;
	}
	lode_notes_add(
		reading->import.options->notes, all,
		"hits without a list of samples: they share the time of the profile evenly, put one after another",
		NULL);
	return code ? code : end_wait(reading);
}

static int read_document(void *context, struct lode_json_value root)
{
	struct reading *reading = context;
	struct lode_json_value members[MEMBERS];
	uint32_t thread = lode_stream_thread(&reading->import.stream, LODE_NO_PID, 0);
	int code;

	if (thread == LODE_NONE)
		return lode_fail_memory(reading->import.error);
	lode_json_get_all(root, member_names, members, MEMBERS);
	if (lode_json_get(members[HEAD], "selfSize").at)
		return lode_json_reject(&reading->import, "is a profile of memory; Lode analyses time");
	if (members[HEAD].at)
		return lode_json_reject(
			&reading->import,
			"this is the nested form that Chrome wrote up to version 57; open it in a newer one and "
			"save it again");
	if (lode_json_kind(members[NODES]) != LODE_JSON_ARRAY)
		return lode_json_reject(&reading->import, "there is no `nodes`; is it a CPU profile of V8?");
	code = lode_v8_nodes_add(&reading->nodes, members[NODES]);
	if (code == 0)
		code = members[SAMPLES].at ? read_samples(reading, members, thread)
					   : read_hits(reading, members, thread);
	lode_notes_add(reading->import.options->notes, reading->back,
		       "samples with timestamps out of order, moved to the previous sample's time", NULL);
	lode_notes_add(reading->import.options->notes, reading->nodes.cut, LODE_CUT_AT_LEAF, NULL);
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
	int code;

	reading.nodes.import = &reading.import;
	code = lode_json_import_run(&reading.import, read_document, &reading, sink);
	lode_v8_nodes_release(&reading.nodes);
	return code;
}

const struct lode_importer lode_importer_cpuprofile = {
	.name = "cpuprofile",
	.description = "V8 CPU profiles: node --cpu-prof, Chrome DevTools",
	.sniff = sniff,
	.read = read_input,
};
