/*
 * lode mine --show N: the stacks of a finding. lode mine --show ID: from a pattern or a cluster to its streams and the
 * times of its events. What an id means is looked up in the last result of the corpus
 * (CORPUS/mined.txt); a unique prefix of an id is enough.
 */
#include "base/json.h"
#include "base/units.h"
#include "tasks/mining.h"
#include "mine/matching_stacks.h"
#include "mine/pattern_id.h"
#include "text/finding_stacks_text.h"
#include "text/mine_text.h"

/* A stack is marked when its folded one is. */
static int unfold(struct lode_stack_tree *tree, uint8_t *marks)
{
	uint32_t *folded = lode_stacks_fold(tree);

	for (size_t i = tree->count; folded && i-- > 0;)
		marks[i] = marks[folded[i]];
	lode_free(folded);
	return folded ? 0 : LODE_SYSTEM;
}

/* Marks the nodes whose stacks contain one of the patterns. NULL when memory has run out. */
static uint8_t *mark_stacks(struct lode_area *area, const struct lode_patterns *patterns, size_t first,
			    size_t count, int folded)
{
	struct lode_stack_tree *tree = &area->dictionary.tree;
	uint8_t *marks = lode_calloc(tree->count, 1);
	struct lode_matcher matcher = { 0 };
	int code = marks ? lode_matcher_init(&matcher, tree, area->dictionary.frames.count) : LODE_SYSTEM;

	if (!code)
		code = lode_matching_stacks_add(&matcher, patterns, first, count, marks);
	if (!code && folded)
		code = unfold(tree, marks);
	lode_matcher_release(&matcher);
	if (!code)
		return marks;
	lode_free(marks);
	return NULL;
}

static int find_events(struct lode_mining *mining, const uint8_t *marks,
		       int (*take)(void *context, const struct lode_area_event *event), void *context,
		       struct lode_error *error)
{
	int code = 0;

	for (int kind = 0; !code && kind < LODE_AREA_KINDS; kind++)
		if (mining->how.both || kind == (int)mining->how.kind)
			code = lode_area_events(mining->source.corpus, &mining->reading.options,
						&mining->reading.area, (enum lode_event_type)kind, marks, take,
						context, error);
	return code;
}

static int list_text(struct lode_analysis *analysis, struct lode_mining *mining, const uint8_t *marks,
		     struct lode_output *output, struct lode_error *error)
{
	struct lode_mine_events_text lines = {
		.area = &mining->reading.area,
		.look = &analysis->look,
		.buffer = &output->buffer,
		.stream = LODE_NONE,
	};
	int code = find_events(mining, marks, lode_mine_event_text, &lines, error);

	if (!code)
		lode_mine_events_end(&lines);
	return code;
}

static int list_json(struct lode_mining *mining, const uint8_t *marks, struct lode_output *output,
		     struct lode_error *error)
{
	struct lode_json json = { .buffer = &output->buffer };
	struct lode_mine_events_json objects = { .area = &mining->reading.area, .json = &json };

	return find_events(mining, marks, lode_mine_event_json, &objects, error);
}

/* `--show N`. */
static int write_finding(struct lode_analysis *analysis, struct lode_mining *mining, struct lode_output *output,
			 struct lode_error *error)
{
	const struct lode_mine_settings *settings = analysis->call->settings;
	const struct lode_finding_source source = { &mining->reading.area, &mining->findings };
	size_t number = lode_finding_number(settings->show), count = mining->findings.count;

	if (lode_analysis_is(analysis, LODE_FORM_JSON))
		return lode_fail(error, LODE_USAGE,
				 "mine: '--show %zu' is for people; '--json' alone has all findings", number);
	if (number > count)
		return lode_fail(error, LODE_USAGE, "%s: there %s %zu finding%s, and no number %zu",
				 mining->source.path, count == 1 ? "is" : "are", count, lode_plural(count), number);
	return lode_finding_stacks_text(&source, number - 1, &analysis->look, &output->buffer) < 0
		       ? lode_fail_memory(error)
		       : 0;
}

static int write_events(struct lode_analysis *analysis, void *result, struct lode_output *output,
			struct lode_error *error)
{
	const struct lode_mine_settings *settings = analysis->call->settings;
	struct lode_mining *mining = result;
	struct lode_area *area = &mining->reading.area;
	struct lode_pattern_file file = { 0 };
	struct lode_pattern_choice choice;
	uint8_t *marks = NULL;
	int code;

	if (mining->finds)
		return write_finding(analysis, mining, output, error);
	code = lode_mined_file_read(&file, lode_corpus_path(mining->source.corpus), &area->dictionary.frames,
				    error);
	if (!code)
		code = lode_pattern_choose(&file, &area->dictionary.frames, mining->source.path, settings->show,
					   &choice, error);
	if (!code) {
		marks = mark_stacks(area, &file.patterns, choice.first, choice.count, settings->fold_recursion);
		code = marks ? 0 : lode_fail_memory(error);
	}
	if (!code)
		code = lode_analysis_is(analysis, LODE_FORM_JSON)
			       ? list_json(mining, marks, output, error)
			       : list_text(analysis, mining, marks, output, error);
	lode_free(marks);
	lode_pattern_file_release(&file);
	return code;
}

const struct lode_form lode_mine_show_forms[] = {
	{ .name = "text", .kind = LODE_FORM_TEXT, .write = write_events },
	{ .name = "json", .kind = LODE_FORM_JSON, .write = write_events },
	{ .name = NULL },
};
