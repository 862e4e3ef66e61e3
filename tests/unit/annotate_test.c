/* What lines of functions cost, against a slow search; and which files are read as sources. */
#include "cmocka_all.h"

#include "random_stream.h"
#include "temporary.h"

#include "annotate/line_costs.h"
#include "annotate/source_text.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- costs ---- */

#define STACKS 60

/* An area without anything but stacks with costs. */
static void make_area(struct lode_area *area, uint64_t *seed)
{
	static const char *const frames[] = { "app!main:3",      "app!main:4",        "app!parse:10",
					      "app!parse:12",    "app!parse",         "lib!parse:10",
					      "app!a::b:7",      "app!a::b:9",        "s.py!step:1",
					      "s.py!<module>:1", "s.js!(anonymous):5" };

	memset(area, 0, sizeof(*area));
	assert_int_equal(lode_dictionary_init(&area->dictionary), 0);
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++)
		area->rows[kind].items = lode_calloc(STACKS, sizeof(struct lode_area_row));
	for (size_t i = 0; i < 2 * STACKS; i++) {
		struct lode_area_rows *rows = &area->rows[i % 2 ? LODE_RUN : LODE_WAIT];
		struct lode_area_row *row = &rows->items[rows->count++];

		for (uint64_t depth = 1 + random_below(seed, 6); depth; depth--) {
			const char *text = frames[random_below(seed, sizeof(frames) / sizeof(*frames))];

			row->stack = lode_stack_tree_child(&area->dictionary.tree, row->stack,
							   lode_frames_parse(&area->dictionary.frames, text,
									     strlen(text)));
			assert_int_not_equal(row->stack, LODE_NONE);
		}
		row->cost = 1 + random_below(seed, 1000);
		rows->cost += row->cost;
	}
}

static void drop_area(struct lode_area *area)
{
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++)
		lode_free(area->rows[kind].items);
	lode_dictionary_release(&area->dictionary);
}

/* The text of a row's stack, root first, each frame between two spaces. */
static void stack_text(const struct lode_area *area, uint32_t node, struct lode_buffer *text)
{
	if (!node) {
		lode_buffer_byte(text, ' ');
		return;
	}
	stack_text(area, area->dictionary.tree.nodes[node].parent, text);
	lode_frames_text(&area->dictionary.frames, area->dictionary.tree.nodes[node].frame, text);
	lode_buffer_byte(text, ' ');
}

/* The time of stacks that have, or end with, one of the words. */
static void slow_costs(const struct lode_area *area, const char *const *words, struct lode_line_cost *cost)
{
	memset(cost, 0, sizeof(*cost));
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++)
		for (size_t i = 0; i < area->rows[kind].count; i++) {
			const struct lode_area_row *row = &area->rows[kind].items[i];
			struct lode_buffer text = { 0 };
			int is_in = 0, is_leaf = 0;

			stack_text(area, row->stack, &text);
			lode_buffer_byte(&text, '\0');
			for (size_t w = 0; words[w]; w++) {
				char word[64];
				int length = snprintf(word, sizeof(word), " %s ", words[w]);

				is_in |= strstr(text.bytes, word) != NULL;
				is_leaf |= text.size > (size_t)length &&
					   !strcmp(text.bytes + text.size - 1 - (size_t)length, word);
			}
			cost->total[kind] += is_in ? row->cost : 0;
			cost->self[kind] += is_leaf ? row->cost : 0;
			lode_buffer_release(&text);
		}
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void assert_costs(const struct lode_area *area, const char *const *words, const struct lode_line_cost *cost)
{
	struct lode_line_cost expected;

	slow_costs(area, words, &expected);
	assert_memory_equal(cost->self, expected.self, sizeof(expected.self));
	assert_memory_equal(cost->total, expected.total, sizeof(expected.total));
}

static void costs_of_lines_are_those_of_a_slow_search(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (int round = 0; round < 200 / ONE_IN; round++) {
		struct lode_line_costs costs;
		struct lode_area area;
		struct lode_error error;

		make_area(&area, &seed);
		assert_int_equal(lode_line_costs_find(&area, "app!parse", &costs, &error), 0);
		assert_string_equal(costs.function, "parse");
		assert_int_equal(costs.other_count, 0);
		assert_costs(&area, WORDS("app!parse", "app!parse:10", "app!parse:12"), &costs.all);
		for (size_t i = 0; i < costs.lines.count; i++) {
			const struct lode_line_cost *line = &costs.lines.items[i];

			assert_true(!i || line->line > costs.lines.items[i - 1].line);
			assert_costs(&area,
				     line->line == 10   ? WORDS("app!parse:10")
				     : line->line == 12 ? WORDS("app!parse:12")
							: WORDS("app!parse"),
				     line);
		}
		assert_int_equal(costs.whole[LODE_RUN], area.rows[LODE_RUN].cost);
		lode_line_costs_release(&costs);
		/* A line that somebody has in front of him means its function. */
		assert_int_equal(lode_line_costs_find(&area, "a::b:7", &costs, &error), 0);
		assert_string_equal(costs.function, "a::b");
		assert_costs(&area, WORDS("app!a::b:7", "app!a::b:9"), &costs.all);
		lode_line_costs_release(&costs);
		drop_area(&area);
	}
}

static void of_functions_that_fit_the_costliest_is_shown(void **state)
{
	struct lode_line_costs costs;
	struct lode_line_cost app, lib;
	struct lode_error error;
	struct lode_area area;
	uint64_t seed = 8;

	(void)state;
	make_area(&area, &seed);
	slow_costs(&area, WORDS("app!parse", "app!parse:10", "app!parse:12"), &app);
	slow_costs(&area, WORDS("lib!parse:10"), &lib);
	assert_true(app.total[0] + app.total[1] > lib.total[0] + lib.total[1]);
	assert_int_equal(lode_line_costs_find(&area, "pars*", &costs, &error), 0);
	assert_int_equal(costs.other_count, 1);
	assert_string_equal(costs.others.items[0], "lib!parse");
	assert_string_equal(lode_strings_get(&area.dictionary.frames.strings,
					     area.dictionary.frames.modules[costs.module].name),
			    "app");
	lode_line_costs_release(&costs);
	assert_int_equal(lode_line_costs_find(&area, "s.js!(anonymous):5", &costs, &error), 0);
	assert_string_equal(costs.function, "(anonymous):5");
	lode_line_costs_release(&costs);
	assert_int_equal(lode_line_costs_find(&area, "Pars", &costs, &error), LODE_USAGE);
	assert_non_null(strstr(error.text, "did you mean 'app!parse', 'lib!parse'?"));
	lode_line_costs_release(&costs);
	assert_int_equal(lode_line_costs_find(&area, "nothing", &costs, &error), LODE_USAGE);
	assert_null(strstr(error.text, "did you mean"));
	lode_line_costs_release(&costs);
	drop_area(&area);
}

/* ---- sources ---- */

static void put(const char *folder, const char *name, const char *text)
{
	char *path = lode_format("%s/%s", folder, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	lode_free(path);
}

/* The first line of what is found; "" where nothing is. */
static void assert_found(const char *path, const char *const *folders, int folders_only, const char *first)
{
	struct lode_source_places places = { folders, folders_only };
	struct lode_source_text text;

	assert_int_equal(lode_source_text_find(&text, path, &places, NULL), 0);
	assert_int_equal(text.path != NULL, *first != '\0');
	if (text.path) {
		assert_true(text.lines.count > 0);
		assert_int_equal(text.lines.items[0].length, strlen(first));
		assert_memory_equal(text.lines.items[0].text, first, strlen(first));
	}
	lode_source_text_release(&text);
}

static void only_sources_are_read(void **state)
{
	char folder[64], sub[128], source[128], secret[128], script[128], pipe[128];

	(void)state;
	assert_int_equal(temporary_folder(folder, sizeof(folder)), 0);
	snprintf(sub, sizeof(sub), "%s/sub", folder);
	snprintf(source, sizeof(source), "%s/a.c", folder);
	snprintf(secret, sizeof(secret), "%s/secret", folder);
	snprintf(script, sizeof(script), "%s/script", folder);
	snprintf(pipe, sizeof(pipe), "%s/pipe.c", folder);
	assert_int_equal(mkdir(sub, 0700), 0);
	put(folder, "a.c", "int a;\r\nint b;");
	put(folder, "secret", "key\n");
	put(folder, "script", "#!/bin/sh\n");
	put(sub, "b.c", "in sub\n");
	assert_int_equal(mkfifo(pipe, 0600), 0);
	assert_found(source, NULL, 0, "int a;");
	assert_found(source, NULL, 1, "");
	assert_found(secret, NULL, 0, "");
	assert_found(script, NULL, 0, "#!/bin/sh");
	assert_found(pipe, NULL, 0, "");
	assert_found("a.c", NULL, 0, ""); /* relative to what? */
	/* In a folder that was named, by the end of the path; any file there may be shown. */
	assert_found("/build/x/a.c", WORDS(folder), 1, "int a;");
	assert_found("/build/sub/b.c", WORDS(folder), 1, "in sub");
	assert_found("b.c", WORDS(folder), 1, "");
	assert_found("b.c", WORDS(folder, sub), 1, "in sub");
	assert_found("/build/secret", WORDS(folder), 1, "key");
	assert_found("/x/../a.c", WORDS(sub), 1, "");
	assert_found("../a.c", WORDS(sub), 1, "");
	assert_found("/build/x/../../sub/b.c", WORDS(folder), 1, "in sub");
	assert_found("", WORDS(folder), 1, "");
	assert_found("/", WORDS(folder), 0, "");
	assert_int_equal(temporary_remove(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(costs_of_lines_are_those_of_a_slow_search),
		cmocka_unit_test(of_functions_that_fit_the_costliest_is_shown),
		cmocka_unit_test(only_sources_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
