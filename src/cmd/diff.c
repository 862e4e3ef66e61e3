/*
 * lode diff: which functions make slow streams slow, and in which context (IntroPerf).
 */
#include "base/memory.h"
#include "cmd/latency_options.h"
#include "cmd/ranks.h"
#include "export/graphs.h"
#include "export/latency_export.h"
#include "scope/frame_filter.h"
#include "text/diff_text.h"

#include <stdlib.h>
#include <string.h>

/* Paths of a page, unless --top or --all say otherwise. */
#define PAGE_PATHS 200

/* Which streams make a side. */
struct side_settings {
	struct lode_option_list where;
	struct lode_option_list streams;
};

struct settings {
	struct lode_latency_settings latency;
	struct side_settings base;
	struct side_settings slow;
	const char *new_paths;
	struct lode_option_list truth;
	int guess;
	int exit_code;
};

static const char *form_choice(size_t i);

static const char *new_paths_choice(size_t i)
{
	static const char *const names[] = {"more", "whole", NULL};

	return names[i];
}

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_LIST("base-where", 0, FIELD(base.where), "KEY=VALUE",
		  "the base is only streams with this attribute"),
	LODE_LIST("slow-where", 0, FIELD(slow.where), "KEY=VALUE",
		  "the slow side is only streams with this attribute"),
	LODE_LIST("base-stream", 0, FIELD(base.streams), "NAME",
		  "the base is only streams of this name or id"),
	LODE_LIST("slow-stream", 0, FIELD(slow.streams), "NAME",
		  "the slow side is only streams of this name or id"),
	LODE_LATENCY_OPTIONS(FIELD(latency), "paths", form_choice),
	LODE_CHOICE("new-paths", 0, FIELD(new_paths), "HOW",
		    "paths that BASE lacks cost what they take more, or all", new_paths_choice),
	LODE_LIST("truth", 0, FIELD(truth), "GLOB",
		  "functions known to be at fault: tell how near the result is"),
	LODE_FLAG("guess", 0, FIELD(guess), "name the likeliest cause though nothing is sure"),
	LODE_FLAG("exit-code", 0, FIELD(exit_code), "exit with 1 when SLOW surely takes more"),
	LODE_NO_MORE_OPTIONS,
};

/* Both sides, read. */
struct sides {
	struct lode_latency_reading base;
	struct lode_latency_reading slow;
	struct lode_diff diff;
	uint8_t *fits;
	char *base_streams; /* how they were chosen; NULL: all of them */
	char *slow_streams;
	struct lode_diff_distance distance;
};

/* ---- showing ---- */

static int write_text(struct lode_analysis *analysis, void *result, struct lode_output *output, struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;

	(void)error;
	lode_diff_text(result, settings->latency.all_frames, &analysis->look, &output->buffer);
	return 0;
}

static int write_folded(struct lode_analysis *analysis, void *result, struct lode_output *output,
			struct lode_error *error)
{
	return lode_diff_folded(result, output, &analysis->work.notes, error);
}

/* What the side takes that takes more, per stream. */
static uint64_t whole_of(const struct lode_diff *diff)
{
	uint64_t base = 0, slow = 0;

	for (size_t i = 1; i < diff->dictionary->tree.count; i++) {
		base = lode_add_saturating(base, diff->base[i]);
		slow = lode_add_saturating(slow, diff->slow[i]);
	}
	return base > slow ? base : slow;
}

static int write_json(struct lode_analysis *analysis, void *result, struct lode_output *output, struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	struct lode_diff_report *report = result;
	int code = lode_latency_tree_min(&settings->latency, "diff", whole_of(report->diff), &report->least, error);

	if (report->page && !settings->latency.top && !settings->latency.all)
		report->top = PAGE_PATHS;
	return code ? code : lode_diff_json(report, output, error);
}

static int write_graph(struct lode_analysis *analysis, void *result, struct lode_output *output, struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	const struct lode_diff_report *report = result;
	uint64_t least;
	int code = lode_latency_tree_min(&settings->latency, "diff", whole_of(report->diff), &least, error);

	if (!code)
		lode_diff_dot(report, least, settings->latency.all_frames, &output->buffer);
	return code;
}

static const struct lode_form forms[] = {
	{.name = "text", .kind = LODE_FORM_TEXT, .write = write_text},
	{.name = "json", .kind = LODE_FORM_JSON, .flows = 1, .write = write_json},
	{.name = "html", .extension = ".html", .kind = LODE_FORM_PAGE, .write = write_json},
	{.name = "dot", .extension = ".dot", .kind = LODE_FORM_OTHER, .write = write_graph},
	{.name = "folded", .extension = ".folded", .kind = LODE_FORM_OTHER, .flows = 1, .write = write_folded},
	{.name = NULL},
};

static const char *form_choice(size_t i)
{
	return lode_form_name(forms, i);
}

static int show(struct lode_analysis *analysis, const struct sides *sides, struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	struct lode_idle_stacks *idle = NULL;
	struct lode_buffer title = {0};
	struct lode_diff_report report = {
		.base = {sides->base.source.path, sides->base_streams, &sides->base.latency},
		.slow = {sides->slow.source.path, sides->slow_streams, &sides->slow.latency},
		.diff = &sides->diff,
		.fits = sides->fits,
		.top = lode_latency_top(&settings->latency, analysis),
		.distance = settings->truth.count ? &sides->distance : NULL,
	};
	int code = 0;

	if (lode_analysis_is(analysis, LODE_FORM_PAGE))
		code = lode_idle_stacks_make(&idle, sides->base.source.rules, report.diff->dictionary, error);
	report.page = idle;
	lode_buffer_print(&title, "%s %s", report.base.corpus, report.slow.corpus);
	if (!code && title.failed)
		code = lode_fail_memory(error);
	analysis->title = title.bytes;
	if (!code)
		code = lode_analysis_write(analysis, &report, error);
	lode_buffer_release(&title);
	lode_idle_stacks_free(idle);
	return code;
}

/* ---- reading ---- */

/* The attributes that both sides must have and those of this side; NULL when memory has run out. */
static const char **join(const struct lode_option_list *both, const struct lode_option_list *own)
{
	const char **all = lode_calloc(both->count + own->count + 1, sizeof(*all));

	for (size_t i = 0; all && i < both->count; i++)
		all[i] = both->items[i];
	for (size_t i = 0; all && i < own->count; i++)
		all[both->count + i] = own->items[i];
	return all;
}

static int read_side(struct lode_latency_reading *reading, char *const *path, const struct settings *settings,
		     const struct side_settings *side, struct lode_work *work, struct lode_error *error)
{
	struct lode_latency_settings own = settings->latency;
	const char **where = join(&settings->latency.area.where, &side->where);
	int code;

	if (!where)
		return lode_fail_memory(error);
	own.area.where = (struct lode_option_list){.items = where};
	own.streams = side->streams;
	code = lode_latency_open(reading, path, 1, &own, work, error);
	if (!code)
		code = lode_latency_read(reading, error);
	lode_free(where);
	reading->options.where = NULL;
	if (!code && !reading->latency.stream_count && !lode_ranks_helps())
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s: holds no streams, so there is nothing to compare with", *path);
	return code;
}

static void list_words(const struct lode_option_list *list, struct lode_buffer *buffer)
{
	for (size_t i = 0; i < list->count; i++) {
		lode_buffer_text(buffer, buffer->size ? ", " : "(");
		lode_buffer_text(buffer, list->items[i]);
	}
}

/* `(variant=good, laptop-17)`. */
static int tell_choice(const struct side_settings *side, char **words)
{
	struct lode_buffer buffer = {0};
	int code = 0;

	list_words(&side->where, &buffer);
	list_words(&side->streams, &buffer);
	if (buffer.size) {
		lode_buffer_text(&buffer, ")");
		lode_buffer_byte(&buffer, '\0');
		*words = buffer.failed ? NULL : lode_strdup(buffer.bytes);
		code = *words ? 0 : LODE_SYSTEM;
	}
	lode_buffer_release(&buffer);
	return code;
}

/* One corpus cannot be compared with itself: something must tell the sides apart. */
static int check_sides(const struct lode_call *call, struct lode_error *error)
{
	const struct settings *settings = call->settings;

	if (call->operand_count > 1 || ((settings->base.where.count || settings->base.streams.count) &&
					(settings->slow.where.count || settings->slow.streams.count)))
		return 0;
	return lode_fail(error, LODE_USAGE,
			 "diff: with one corpus, say which of its streams are the base and which are slow: "
			 "'--base-where version=1 --slow-where version=2'. See 'lode help diff'.");
}

static int compare_ids(const void *a, const void *b)
{
	const struct lode_latency_stream *left = a, *right = b;

	return strcmp(left->id, right->id);
}

/* A stream on both sides blurs the difference. */
static int tell_common(const struct sides *sides, struct lode_notes *notes)
{
	const struct lode_latency *base = &sides->base.latency, *slow = &sides->slow.latency;
	struct lode_latency_stream *sorted = lode_calloc(slow->stream_count, sizeof(*sorted));

	if (!sorted)
		return LODE_SYSTEM;
	memcpy(sorted, slow->streams, slow->stream_count * sizeof(*sorted));
	qsort(sorted, slow->stream_count, sizeof(*sorted), compare_ids);
	for (size_t i = 0; i < base->stream_count; i++)
		if (bsearch(&base->streams[i], sorted, slow->stream_count, sizeof(*sorted), compare_ids))
			lode_notes_add(notes, 1, "streams are on both sides",
				       lode_strings_get(&base->dictionary.frames.strings,
							base->streams[i].name));
	lode_free(sorted);
	return 0;
}

static int make_filter(struct sides *sides, const char *const *match)
{
	const struct lode_dictionary *dictionary = &sides->base.latency.dictionary;
	uint8_t *frames;

	if (!match || !*match)
		return 0;
	frames = lode_frame_filter(&dictionary->frames, match);
	sides->fits = frames ? lode_stack_filter(&dictionary->tree, frames) : NULL;
	lode_free(frames);
	return sides->fits ? 0 : LODE_SYSTEM;
}

static int measure_distance(struct sides *sides, const struct lode_option_list *truth)
{
	uint8_t *frames;

	if (!truth->count)
		return 0;
	frames = lode_frame_filter(&sides->base.latency.dictionary.frames, truth->items);
	if (!frames)
		return LODE_SYSTEM;
	sides->distance = lode_diff_distance_of(&sides->diff, frames);
	lode_free(frames);
	return 0;
}

static int compare_sides(struct lode_analysis *analysis, struct sides *sides, struct lode_error *error)
{
	const struct lode_call *call = analysis->call;
	const struct settings *settings = call->settings;
	struct lode_work *work = &analysis->work;
	struct lode_diff_options how = {
		.jobs = (unsigned)settings->latency.area.jobs,
		.guess = settings->guess,
		.mean = settings->latency.mean,
		.whole_new_paths = settings->new_paths && !strcmp(settings->new_paths, "whole"),
	};
	int code = lode_latency_rule(&settings->latency, "diff", &how.rule, error);

	lode_ranks_expect(2);
	if (!code)
		code = check_sides(call, error);
	if (!code)
		code = read_side(&sides->base, &call->operands[0], settings, &settings->base, work, error);
	if (!code)
		code = read_side(&sides->slow, &call->operands[call->operand_count - 1], settings,
				 &settings->slow, work, error);
	lode_bar_wipe(&work->bar);
	if (code)
		return code;
	if (tell_common(sides, &work->notes) < 0 ||
	    lode_diff(&sides->base.latency, &sides->slow.latency, &how, &sides->diff) < 0 ||
	    make_filter(sides, settings->latency.area.match.items) < 0 ||
	    measure_distance(sides, &settings->truth) < 0 ||
	    tell_choice(&settings->base, &sides->base_streams) < 0 ||
	    tell_choice(&settings->slow, &sides->slow_streams) < 0)
		return lode_fail_memory(error);
	code = show(analysis, sides, error);
	return !code && settings->exit_code && lode_diff_is_sure(&sides->diff) ? LODE_FOUND : code;
}

static int compare(struct lode_analysis *analysis, struct lode_error *error)
{
	struct sides sides = {0};
	int code = compare_sides(analysis, &sides, error);

	lode_free(sides.fits);
	lode_free(sides.base_streams);
	lode_free(sides.slow_streams);
	lode_diff_release(&sides.diff);
	lode_latency_reading_release(&sides.slow);
	lode_latency_reading_release(&sides.base);
	return code;
}

static const struct lode_analysis_command analysis = {
	.result = FIELD(latency.result),
	.forms = forms,
	.make = compare,
};

const struct lode_command lode_command_diff = {
	.name = "diff",
	.summary = "find what makes slow streams slow, against good ones",
	.usage = "[OPTIONS] BASE [SLOW]",
	.about = "Infers the latencies of both corpora (see 'lode help latency') and ranks the paths of SLOW "
		 "by what\n"
		 "their functions take more, per stream, than in BASE. Names the function to look at first, "
		 "where\n"
		 "streams are enough to be sure. Both sides may be in one corpus, told apart by attributes "
		 "or\n"
		 "names of their streams.",
	.examples = "  lode diff release-1 release-2\n"
		    "  lode diff corpus --base-where version=1 --slow-where version=2\n"
		    "  # a page with a heat map and the calls of both sides\n"
		    "  lode diff good bad -o diff.html\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.least_operands = 1,
	.most_operands = 2,
	.operand = "CORPUS",
	.analysis = &analysis,
	.run = lode_analysis_run,
};
