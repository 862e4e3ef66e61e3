/* What the tests of the search share: running it to its end, and finding its experiments. */
#ifndef LODE_TESTS_HUNT_SEARCH_FIXTURE_H
#define LODE_TESTS_HUNT_SEARCH_FIXTURE_H

#include "cmocka_all.h"

#include "base/memory.h"
#include "hunt/search/search.h"
#include "hunt_simulation.h"

static inline void count_change(void *context, uint32_t experiment)
{
	(void)experiment;
	++*(size_t *)context;
}

static inline struct lode_search *hunt(struct simulation *simulation, const struct lode_search_options *options,
				       int *end)
{
	struct lode_error error = { "" };
	struct lode_search *search;
	static size_t changes;
	int code = lode_search_create(&search, &simulation->meter, options, count_change, &changes, &error);

	for (int steps = 0; code == 0 && steps < 200000; steps++)
		code = lode_search_step(search, &error);
	assert_true(code > 0);
	*end = code;
	assert_int_equal(lode_search_finish(search, (enum lode_search_end)code, &error), 0);
	assert_int_equal(simulation->run_count, 0); /* every probe is out */
	return search;
}

static inline struct lode_search_options settings(enum lode_strategy strategy)
{
	struct lode_search_options options;

	lode_search_options_default(&options);
	options.strategy = strategy;
	return options;
}

static inline struct lode_focus on_function(struct simulation *simulation, const char *name)
{
	struct lode_focus focus = lode_focus_whole();

	focus.function = simulation_function(simulation, name);
	return focus;
}

static inline enum lode_experiment_state state_of(const struct lode_search *search,
						  enum lode_hypothesis hypothesis, struct lode_focus focus)
{
	uint32_t id = lode_history_find(lode_search_history(search), hypothesis, &focus);

	return id == LODE_NONE ? LODE_EXPERIMENT_STATES : lode_search_history(search)->experiments[id].state;
}

static inline const struct lode_experiment *experiment_of(const struct lode_search *search,
							  enum lode_hypothesis hypothesis, struct lode_focus focus)
{
	uint32_t id = lode_history_find(lode_search_history(search), hypothesis, &focus);

	assert_true(id != LODE_NONE);
	return &lode_search_history(search)->experiments[id];
}

static inline int try_search(void (*make)(struct simulation *simulation),
			     const struct lode_search_options *options, uint64_t nth, uint64_t *asked)
{
	struct lode_error error = { "" };
	struct simulation simulation;
	struct lode_search *search = NULL;
	int code;

	make(&simulation);
	lode_memory_fail_at(nth, 0);
	code = lode_search_create(&search, &simulation.meter, options, NULL, NULL, &error);
	while (!code)
		code = lode_search_step(search, &error);
	if (code > 0)
		code = lode_search_finish(search, (enum lode_search_end)code, &error);
	*asked = lode_memory_asked();
	lode_memory_fail_at(0, 0);
	assert_true(code == 0 || (code == LODE_SYSTEM && error.text[0]));
	lode_search_destroy(search);
	simulation_release(&simulation);
	return code;
}

/* Whichever allocation of a search fails, it ends cleanly. */
static inline void require_clean_ends(void (*make)(struct simulation *simulation),
				      const struct lode_search_options *options)
{
	uint64_t asked, ignored;
	int failed = 0;

	assert_int_equal(try_search(make, options, 0, &asked), 0);
	for (uint64_t nth = 1; nth <= asked; nth++)
		failed += try_search(make, options, nth, &ignored) < 0;
	assert_true(failed > 20);
}

#endif
