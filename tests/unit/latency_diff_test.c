/*
 * Differences of two corpora against an oracle on texts: paths are rows of names, and
 * nothing is shared but the own latencies of each side, which have their own test.
 */
#include "failing_memory.h"
#include "latency_diff_fixture.h"

static const struct lode_diff_options two_jobs = { .jobs = 2, .guess = 1 };

/* ---- corpora ---- */

/* Few functions, so that both sides have many contexts in common. */
static void add_random_stream(struct side *side, uint64_t *seed)
{
	static const char *const stacks[] = { "m",   "m a",   "m a b",   "m a b c",   "m a c",
					      "m b", "m b a", "m b a c", "m b a c d", "m d",
					      "n",   "n a",   "n b a",   "m d d",     "m d d d" };
	struct lode_dictionary dictionary;
	struct lode_stream stream;

	assert_int_equal(lode_dictionary_init(&dictionary), 0);
	lode_stream_init(&stream, &dictionary);
	for (size_t i = random_below(seed, 40); i-- > 0;)
		add_event(&stream, (enum lode_event_type)random_below(seed, 3), random_below(seed, 100000),
			  random_below(seed, 500), (uint32_t)random_below(seed, 3), stacks[random_below(seed, 15)]);
	side_add(side, &stream);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
}

/* ---- the oracle ---- */

struct entry {
	char text[128]; /* one letter a function, root first */
	uint64_t own;
};

struct entries {
	struct entry items[256];
	size_t count;
};

static void text_of(const struct lode_dictionary *dictionary, uint32_t node, char *text)
{
	char reversed[128];
	size_t length = 0;

	for (; node; node = dictionary->tree.nodes[node].parent)
		reversed[length++] =
			lode_frames_function(&dictionary->frames, dictionary->tree.nodes[node].frame)[0];
	for (size_t i = 0; i < length; i++)
		text[i] = reversed[length - 1 - i];
	text[length] = '\0';
}

static void take_entries(const struct lode_latency *latency, struct entries *entries)
{
	for (uint32_t node = 1; node < latency->dictionary.tree.count; node++) {
		if (!latency->nodes[node].count)
			continue;
		text_of(&latency->dictionary, node, entries->items[entries->count].text);
		entries->items[entries->count++].own = latency->own[node];
	}
}

static const struct entry *find_entry(const struct entries *entries, const char *text, size_t length)
{
	for (size_t i = 0; i < entries->count; i++)
		if (strlen(entries->items[i].text) == length && !strncmp(entries->items[i].text, text, length))
			return &entries->items[i];
	return NULL;
}

static int64_t mean_of(const struct entries *entries, const char *text, size_t length, int streams)
{
	const struct entry *entry = find_entry(entries, text, length);

	/* Halves are rounded up. */
	return entry ? (int64_t)((2 * entry->own + (uint64_t)streams) / (2 * (uint64_t)streams)) : 0;
}

static int is_leaf(const struct entries *entries, const char *text)
{
	size_t length = strlen(text);

	for (size_t i = 0; i < entries->count; i++)
		if (strlen(entries->items[i].text) > length && !strncmp(entries->items[i].text, text, length))
			return 0;
	return 1;
}

struct expected {
	const char *text;
	int64_t cost;
	int is_new;
	char hottest;
	int64_t most;   /* what its hottest function takes more here */
	int64_t weight; /* the same in all contexts, or in one that has more than all together */
};

/* Contexts of one function stand together. */
static int by_cost(const void *a, const void *b)
{
	const struct expected *x = a, *y = b;

	if ((x->cost > 0) != (y->cost > 0))
		return x->cost > 0 ? -1 : 1;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->cost != y->cost)
		return x->cost > y->cost ? -1 : 1;
	return strcmp(x->text, y->text);
}

static int64_t delta_of(const struct entries *base, int base_streams, const struct entries *slow, int slow_streams,
			const char *text, size_t length)
{
	return mean_of(slow, text, length, slow_streams) - mean_of(base, text, length, base_streams);
}

/* What the function `name` takes more, in contexts of either side. */
static int64_t function_more(const struct entries *base, int base_streams, const struct entries *slow,
			     int slow_streams, char name)
{
	int64_t sum = 0;

	for (size_t i = 0; i < base->count + slow->count; i++) {
		const char *text = i < base->count ? base->items[i].text : slow->items[i - base->count].text;
		size_t length = strlen(text);

		if (text[length - 1] == name && (i < base->count || !find_entry(base, text, length)))
			sum += delta_of(base, base_streams, slow, slow_streams, text, length);
	}
	return sum;
}

static size_t oracle(const struct entries *base, int base_streams, const struct entries *slow, int slow_streams,
		     struct expected *expected)
{
	size_t count = 0;

	for (size_t i = 0; i < slow->count; i++) {
		const char *text = slow->items[i].text;
		struct expected *path = &expected[count];

		if (!is_leaf(slow, text))
			continue;
		count++;
		*path = (struct expected){ .text = text,
					   .is_new = !find_entry(base, text, strlen(text)),
					   .most = INT64_MIN };

		for (size_t length = 1; length <= strlen(text); length++) {
			int64_t delta = delta_of(base, base_streams, slow, slow_streams, text, length);

			path->cost += delta;
			if (delta >= path->most) {
				path->most = delta;
				path->hottest = text[length - 1];
			}
		}
	}
	for (size_t i = 0; i < count; i++) {
		struct expected *path = &expected[i];

		path->weight = function_more(base, base_streams, slow, slow_streams, path->hottest);
		for (size_t k = 0; k < count; k++)
			if (expected[k].hottest == path->hottest && expected[k].most > path->weight)
				path->weight = expected[k].most;
	}
	qsort(expected, count, sizeof(*expected), by_cost);
	return count;
}

static void check_path(const struct lode_diff *diff, const struct lode_diff_path *path,
		       const struct expected *expected)
{
	char text[128];

	text_of(diff->dictionary, path->leaf, text);
	assert_string_equal(text, expected->text);
	assert_int_equal(path->cost, expected->cost);
	assert_int_equal(path->is_new, expected->is_new);
	for (uint32_t node = path->leaf; node; node = diff->dictionary->tree.nodes[node].parent)
		assert_true(lode_diff_delta(diff, node) <= lode_diff_delta(diff, path->hottest));
}

/* A side of up to `most` random streams, inferred. */
static void open_random(struct side *side, uint64_t most, struct entries *entries, uint64_t *seed)
{
	side_open(side);
	for (uint64_t i = 1 + random_below(seed, most); i-- > 0;)
		add_random_stream(side, seed);
	side_infer(side);
	take_entries(&side->latency, entries);
}

static void paths_cost_what_the_oracle_says(void **state)
{
	uint64_t seed = 77;

	(void)state;
	for (int round = 0; round < 60; round++) {
		struct side base, slow;
		struct entries base_entries = { .count = 0 }, slow_entries = { .count = 0 };
		struct expected expected[256];
		struct lode_diff diff;
		size_t count;

		open_random(&base, 3, &base_entries, &seed);
		open_random(&slow, 2, &slow_entries, &seed);
		count = oracle(&base_entries, base.streams, &slow_entries, slow.streams, expected);
		assert_int_equal(lode_diff(&base.latency, &slow.latency, &one_job, &diff), 0);
		assert_int_equal(diff.path_count, count);
		assert_false(diff.chance.tested);
		for (size_t i = 0; i < count; i++)
			check_path(&diff, &diff.paths[i], &expected[i]);
		lode_diff_release(&diff);
		side_close(&base);
		side_close(&slow);
	}
}

/* ---- to the letter of the paper ---- */

/* Own mean of a context: its mean minus those of the contexts that are one function longer. */
static double own_mean(const struct lode_latency *latency, const char *text, enum lode_latency_rule rule)
{
	double own = 0;

	for (uint32_t node = 1; node < latency->node_count; node++) {
		const struct lode_latency_node *sums = &latency->nodes[node];
		uint64_t sum[LODE_RULES] = { sums->estimate, sums->conservative, sums->aggressive };
		char other[128];

		text_of(&latency->dictionary, node, other);
		if (!sums->count || strncmp(other, text, strlen(text)) || strlen(other) > strlen(text) + 1)
			continue;
		own += (strlen(other) == strlen(text) ? 1 : -1) * (double)sum[rule] / (double)sums->count;
	}
	return own;
}

/* Algorithm 3, lines 21 to 24, of one path. */
static double paper_cost(const struct side *base, const struct side *slow, const struct entries *base_entries,
			 const struct entries *slow_entries, const char *text,
			 const struct lode_diff_options *options)
{
	const struct entry *same = find_entry(base_entries, text, strlen(text));
	int known = same && is_leaf(base_entries, text);
	double cost = 0;

	for (size_t length = 1; length <= strlen(text); length++) {
		char prefix[128] = "";

		memcpy(prefix, text, length);
		cost += options->mean ? own_mean(&slow->latency, prefix, options->rule)
				      : (double)mean_of(slow_entries, prefix, length, slow->streams);
		if (known || !options->whole_new_paths)
			cost -= options->mean ? own_mean(&base->latency, prefix, options->rule)
					      : (double)mean_of(base_entries, prefix, length, base->streams);
	}
	return cost;
}

/* p_min and f_min of a function, by going through all functions of all paths. */
static void check_distance(const struct lode_diff *diff, char function)
{
	uint8_t *at_fault = calloc(diff->dictionary->frames.count + 1, 1);
	struct lode_diff_distance distance, expected = { 0, 0 };

	for (uint32_t frame = 0; frame < diff->dictionary->frames.count; frame++)
		at_fault[frame] = lode_frames_function(&diff->dictionary->frames, frame)[0] == function;
	for (size_t i = diff->path_count; i-- > 0;) {
		char text[128], hottest[128];
		size_t nearest = SIZE_MAX;

		text_of(diff->dictionary, diff->paths[i].leaf, text);
		text_of(diff->dictionary, diff->paths[i].hottest, hottest);
		for (size_t k = 0; text[k]; k++) {
			size_t away = k + 1 > strlen(hottest) ? k + 1 - strlen(hottest) : strlen(hottest) - k - 1;

			if (text[k] == function && away < nearest)
				nearest = away;
		}
		if (nearest != SIZE_MAX)
			expected = (struct lode_diff_distance){ i + 1, nearest };
	}
	distance = lode_diff_distance_of(diff, at_fault);
	assert_int_equal(distance.path, expected.path);
	assert_int_equal(distance.function, expected.function);
	free(at_fault);
}

static void check_by_the_paper(struct side *base, const struct side *slow, const struct entries *base_entries,
			       const struct entries *slow_entries, const struct lode_diff_options *options)
{
	struct lode_diff diff;
	size_t leaves = 0;

	assert_int_equal(lode_diff(&base->latency, &slow->latency, options, &diff), 0);
	for (size_t i = 0; i < slow_entries->count; i++)
		leaves += (size_t)is_leaf(slow_entries, slow_entries->items[i].text);
	assert_int_equal(diff.path_count, leaves);
	for (size_t i = 0; i < diff.path_count; i++) {
		const struct lode_diff_path *path = &diff.paths[i];
		char text[128];
		double cost;

		text_of(diff.dictionary, path->leaf, text);
		cost = paper_cost(base, slow, base_entries, slow_entries, text, options);
		assert_true(fabs((double)path->cost - cost) <= 0.51);
		assert_true(!i || path[-1].cost >= path->cost);
		for (uint32_t node = path->leaf; node; node = diff.dictionary->tree.nodes[node].parent)
			assert_true(lode_diff_gain(&diff, path, node) <= lode_diff_gain(&diff, path, path->hottest));
	}
	for (const char *function = "mabcdnx"; *function; function++)
		check_distance(&diff, *function);
	lode_diff_release(&diff);
}

static void paths_cost_what_algorithm_3_says(void **state)
{
	uint64_t seed = 78;

	(void)state;
	for (int round = 0; round < 30; round++) {
		struct side base, slow;
		struct entries base_entries = { .count = 0 }, slow_entries = { .count = 0 };

		open_random(&base, 3, &base_entries, &seed);
		open_random(&slow, 2, &slow_entries, &seed);
		for (int which = 1; which < 8; which++)
			check_by_the_paper(&base, &slow, &base_entries, &slow_entries,
					   &(struct lode_diff_options){
						   .jobs = 1,
						   .mean = which > 1,
						   .rule = (enum lode_latency_rule)(which > 1 ? (which - 2) / 2 : 0),
						   .whole_new_paths = which % 2,
					   });
		side_close(&base);
		side_close(&slow);
	}
}

/* ---- chance ---- */

/* A stream that waits in three contexts one after the other. */
static void add_waits(struct side *side, uint64_t a, uint64_t b, uint64_t c)
{
	struct lode_dictionary dictionary;
	struct lode_stream stream;

	assert_int_equal(lode_dictionary_init(&dictionary), 0);
	lode_stream_init(&stream, &dictionary);
	add_event(&stream, LODE_RUN, 0, 0, 1, "app!main");
	add_event(&stream, LODE_WAIT, 10, a, 1, "app!main app!a");
	add_event(&stream, LODE_WAIT, 20 + a, b, 1, "app!main app!b");
	add_event(&stream, LODE_WAIT, 30 + a + b, c, 1, "app!main app!c");
	side_add(side, &stream);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
}

static const char *leaf_name(const struct lode_diff *diff, const struct lode_diff_path *path)
{
	return lode_frames_function(&diff->dictionary->frames, diff->dictionary->tree.nodes[path->leaf].frame);
}

static void noise_does_not_rank_before_what_is_sure(void **state)
{
	struct side base, slow;
	struct lode_diff diff, again;

	(void)state;
	side_open(&base);
	side_open(&slow);
	for (uint64_t i = 0; i < 6; i++) {
		add_waits(&base, 1000 + i, 1000000 + 9 * i, 500);
		/* `a` is slower in all, `c` only once, but then by far. */
		add_waits(&slow, 90000 + i, 1000000 + 8 * i, i == 3 ? 9000000 : 500);
	}
	side_infer(&base);
	side_infer(&slow);
	assert_int_equal(lode_diff(&base.latency, &slow.latency, &two_jobs, &diff), 0);
	assert_true(diff.chance.tested);
	assert_int_equal(diff.path_count, 3);
	assert_string_equal(leaf_name(&diff, &diff.paths[0]), "a");
	assert_true(diff.paths[0].q < LODE_DIFF_LEVEL);
	assert_string_equal(leaf_name(&diff, &diff.paths[1]), "c");
	assert_true(diff.paths[1].cost > diff.paths[0].cost);
	assert_true(diff.paths[1].q >= LODE_DIFF_LEVEL);
	assert_int_equal(diff.cause.node, diff.paths[0].leaf);
	assert_int_equal(lode_diff(&base.latency, &slow.latency, &one_job, &again), 0);
	for (size_t i = 0; i < diff.path_count; i++) {
		assert_int_equal(diff.paths[i].leaf, again.paths[i].leaf);
		assert_int_equal(diff.paths[i].cost, again.paths[i].cost);
		assert_true(diff.paths[i].p == again.paths[i].p && diff.paths[i].q == again.paths[i].q);
	}
	lode_diff_release(&again);
	lode_diff_release(&diff);
	side_close(&base);
	side_close(&slow);
}

/* ---- layers ---- */

static void layers_are_known_by_the_names_of_modules(void **state)
{
	(void)state;
	assert_int_equal(layer("app", ""), LODE_LAYER_PROGRAM);
	assert_int_equal(layer("libc.so.6", ""), LODE_LAYER_LIBRARY);
	assert_int_equal(layer("libfoo.so", "/opt/app/lib/libfoo.so"), LODE_LAYER_LIBRARY);
	assert_int_equal(layer("mod_deflate.so", ""), LODE_LAYER_PLUGIN);
	assert_int_equal(layer("libgood.so", "/usr/lib/app/plugins/libgood.so"), LODE_LAYER_PLUGIN);
	assert_int_equal(layer("ld-linux.so", ""), LODE_LAYER_LIBRARY);
	assert_int_equal(layer("kernel", ""), LODE_LAYER_KERNEL);
	assert_int_equal(layer("perf-12.map", ""), LODE_LAYER_JIT);
	assert_int_equal(layer("", ""), LODE_LAYER_UNKNOWN);
	assert_true(lode_layer_is_internal(LODE_LAYER_PROGRAM));
	assert_false(lode_layer_is_internal(LODE_LAYER_PLUGIN));
}

/* ---- contexts ---- */

static void contexts_are_ranked_by_own_latency_then_by_name(void **state)
{
	static const char *const match[] = { "b", NULL };
	struct lode_contexts contexts;
	struct side side;
	uint64_t seed = 4, own = 0;

	(void)state;
	side_open(&side);
	for (int i = 0; i < 3; i++)
		add_random_stream(&side, &seed);
	side_infer(&side);
	assert_int_equal(lode_contexts_rank(&side.latency, NULL, NULL, &contexts), 0);
	for (size_t i = 0; i < contexts.count; i++) {
		own += side.latency.own[contexts.nodes[i]];
		if (!i)
			continue;
		assert_true(side.latency.own[contexts.nodes[i - 1]] >= side.latency.own[contexts.nodes[i]]);
		if (side.latency.own[contexts.nodes[i - 1]] == side.latency.own[contexts.nodes[i]]) {
			char a[128], b[128];

			text_of(&side.latency.dictionary, contexts.nodes[i - 1], a);
			text_of(&side.latency.dictionary, contexts.nodes[i], b);
			assert_true(strcmp(a, b) < 0);
		}
	}
	assert_int_equal(own, contexts.own);
	lode_contexts_release(&contexts);
	assert_int_equal(lode_contexts_rank(&side.latency, match, &(enum lode_latency_rule){ LODE_RULE_ESTIMATE },
					    &contexts),
			 0);
	assert_true(contexts.count > 0);
	for (size_t i = 0; i < contexts.count; i++) {
		char text[128];

		text_of(&side.latency.dictionary, contexts.nodes[i], text);
		assert_non_null(strchr(text, 'b'));
		if (i)
			assert_true(contexts.means[contexts.nodes[i - 1]] >= contexts.means[contexts.nodes[i]]);
	}
	lode_contexts_release(&contexts);
	side_close(&side);
}

static int diff_once(struct side *base, struct side *slow)
{
	static const struct lode_diff_options by_the_paper = { .jobs = 1,
							       .guess = 1,
							       .mean = 1,
							       .whole_new_paths = 1 };
	struct lode_diff diff;
	int code = lode_diff(&base->latency, &slow->latency, &by_the_paper, &diff);

	lode_diff_release(&diff);
	return code;
}

static void memory_that_runs_out_is_reported(void **state)
{
	struct side base, slow;

	(void)state;
	side_open(&base);
	side_open(&slow);
	for (uint64_t i = 0; i < 4; i++) {
		add_waits(&base, 1000 + i, 1000000, 500);
		add_waits(&slow, 90000 + i, 1000000, 500);
	}
	side_infer(&base);
	side_infer(&slow);
	FAIL_EACH_ALLOCATION(9, diff_once(&base, &slow));
	side_close(&base);
	side_close(&slow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_cost_what_the_oracle_says),
		cmocka_unit_test(paths_cost_what_algorithm_3_says),
		cmocka_unit_test(noise_does_not_rank_before_what_is_sure),
		cmocka_unit_test(layers_are_known_by_the_names_of_modules),
		cmocka_unit_test(contexts_are_ranked_by_own_latency_then_by_name),
		cmocka_unit_test(memory_that_runs_out_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
