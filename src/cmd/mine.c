/*
 * lode mine: from millions of stacks to a short ranked list (StackMine).
 *
 * The last result of a corpus is kept in CORPUS/mined.txt as a pattern file, so
 * that `lode sign --from ID` and `lode mine --show ID` know what an id means.
 */
#include "cmd/mine.h"

#include "base/file.h"
#include "base/output.h"
#include "mine/signatures.h"
#include "text/mine_text.h"

#include <stdlib.h>
#include <string.h>

#define TOP 10

static const char *kind_choice(size_t i)
{
	static const char *const kinds[] = { "wait", "run", "both" };

	return i < sizeof(kinds) / sizeof(*kinds) ? kinds[i] : NULL;
}

static const char *rank_choice(size_t i)
{
	return i < LODE_RANKS ? lode_rank_name((enum lode_rank)i) : NULL;
}

#define FIELD(field) offsetof(struct lode_mine_settings, field)

static const struct lode_option options[] = {
	LODE_CHOICE("kind", 'k', FIELD(kind), "KIND",
		    "mine waits, CPU samples or both together (default: wait where there are any)", kind_choice),
	LODE_AREA_OPTIONS(FIELD(area)),
	LODE_TEXT("threshold", 't', FIELD(threshold), "T", "what a pattern must cost at least: 30s, 1% (default: 1%)"),
	LODE_TEXT("impact", 0, FIELD(impact), "SHARE,T",
		  "the threshold of a bug that costs T on average in SHARE of the streams: 10%,300ms"),
	LODE_TEXT("similarity", 0, FIELD(similarity), "S", "cluster patterns that are this similar, 0 to 1"),
	LODE_CHOICE("rank", 'r', FIELD(rank), "METRIC", "order of the clusters (default: total)", rank_choice),
	LODE_FLAG("fold-recursion", 0, FIELD(fold_recursion),
		  "of a recursive function only the first call counts: faster, fewer patterns"),
	LODE_NUMBER("min-length", 0, FIELD(min_length), "N", "leave out shorter patterns", 1, UINT32_MAX - 1),
	LODE_NUMBER("max-length", 0, FIELD(max_length), "N", "look for patterns up to this length", 1,
		    UINT32_MAX - 1),
	LODE_NUMBER("max-patterns", 0, FIELD(max_patterns), "N", "stop when so many were found", 1, 0),
	LODE_TEXT("patterns", 0, FIELD(patterns), "FILE", "measure these patterns instead of mining"),
	LODE_TEXT("show", 0, FIELD(show), "ID", "the events of a pattern or cluster of the last mining"),
	LODE_TEXT("against", 0, FIELD(against), "CORPUS", "what is new, gone or changed against another corpus"),
	LODE_FLAG("new", 0, FIELD(only_new), "only what no signature covers"),
	LODE_NUMBER("top", 'n', FIELD(top), "N", "show so many clusters (text: 10)", 1, 0),
	LODE_FLAG("all", 'a', FIELD(all), "show all clusters"),
	LODE_FLAG("all-frames", 0, FIELD(all_frames), "show the scheduler and the way into the kernel, too"),
	LODE_FLAG("json", 0, FIELD(result.json), "write all of it as JSON"),
	LODE_FLAG("page-data", 0, FIELD(result.page_data), "write what the page shows as JSON: also costs by stream"),
	LODE_HIDDEN_FLAG("timing", FIELD(timing), "JSON says how long the steps took"),
	LODE_TEXT("output", 'o', FIELD(result.output), "FILE", "write to FILE instead of standard output; .html makes it a page, .json JSON"),
	LODE_NO_MORE_OPTIONS,
};

/* ---- options ---- */

static int read_similarity(const char *text, double *similarity, struct lode_error *error)
{
	char *rest;

	*similarity = LODE_SIMILARITY;
	if (!text)
		return 0;
	*similarity = strtod(text, &rest);
	if (rest == text || *rest || !(*similarity >= 0 && *similarity <= 1))
		return lode_fail(error, LODE_USAGE,
				 "mine: '--similarity' wants a number from 0 (one cluster) to 1 (only equals), not '%s'. "
				 "See 'lode help mine'.",
				 text);
	return 0;
}

static enum lode_rank chosen_rank(const char *name)
{
	for (size_t i = 0; name && i < LODE_RANKS; i++)
		if (!strcmp(name, rank_choice(i)))
			return (enum lode_rank)i;
	return LODE_RANK_TOTAL;
}

/* Waits are what people come for; a profile without any is mined for CPU time. */
static int choose_kind(struct lode_corpus *corpus, const char *name, enum lode_event_type *kind,
		       struct lode_error *error)
{
	struct lode_corpus_list list = { 0 };
	uint64_t waits = 0, runs = 0;
	int code;

	*kind = name && !strcmp(name, "run") ? LODE_RUN : LODE_WAIT;
	if (name)
		return 0;
	code = lode_corpus_streams(corpus, &list, error);
	for (size_t i = 0; !code && i < list.count; i++) {
		waits += list.items[i].events[LODE_WAIT];
		runs += list.items[i].events[LODE_RUN];
	}
	if (!waits && runs)
		*kind = LODE_RUN;
	lode_corpus_list_release(&list);
	return code;
}

static int choose_threshold(const struct lode_mine_settings *settings, const struct lode_area *area,
			    struct lode_mine_options *how, struct lode_error *error)
{
	if (settings->threshold && settings->impact)
		return lode_fail(error, LODE_USAGE,
				 "mine: '--threshold' and '--impact' say the same thing twice; give one of them. "
				 "See 'lode help mine'.");
	if (settings->impact)
		return lode_mine_impact(settings->impact, area->stream_count, &how->threshold, error);
	return lode_mine_threshold(settings->threshold ? settings->threshold : "1%", area->rows[how->kind].cost,
				   &how->threshold, error);
}

/* ---- the last result ---- */

static void write_groups(const struct lode_mine_report *report, struct lode_buffer *buffer)
{
	const struct lode_mined *mined = report->mined;

	lode_buffer_text(buffer, "# What the last 'lode mine' found; 'lode sign --from ID' and "
				 "'lode mine --show ID' look here.\n");
	for (size_t i = 0; i < mined->clusters.count; i++) {
		const struct lode_cluster *cluster = &mined->clusters.items[i];

		lode_buffer_byte(buffer, '\n');
		lode_pattern_line_write("cluster", mined->cluster_groups[i].id, buffer);
		if (!report->options->both) /* without a line it is either */
			lode_pattern_line_write("kind", lode_event_type_name(report->options->kind), buffer);
		for (size_t k = 0; k < cluster->count; k++)
			lode_pattern_write(&mined->patterns, mined->clusters.members[cluster->first + k],
					   &report->area->dictionary.frames, buffer);
	}
}

/* A corpus that cannot be written to is mined all the same; only the ids are not remembered. */
static void remember_in(const char *corpus, const struct lode_mine_report *report, struct lode_notes *notes)
{
	char *path = lode_format("%s/mined.txt", corpus);
	struct lode_error error = { "" };
	struct lode_output output;

	if (path && !lode_output_open(&output, path, &error)) {
		write_groups(report, &output.buffer);
		if (!lode_output_finish(&output, &error)) {
			lode_free(path);
			return;
		}
	}
	lode_notes_add(notes, 1, "result could not be kept for '--show' and 'lode sign'", error.text);
	lode_free(path);
}

static void remember(struct lode_mining *mining, struct lode_notes *notes)
{
	for (size_t i = 0; i < lode_corpus_count(mining->source.corpus); i++)
		remember_in(lode_corpus_path(lode_corpus_member(mining->source.corpus, i)), &mining->report, notes);
}

/* ---- one mining ---- */

int lode_mining_open(struct lode_mining *mining, const struct lode_mine_settings *settings,
		     char *const *names, size_t count, struct lode_work *work, struct lode_error *error)
{
	int code;

	memset(mining, 0, sizeof(*mining));
	mining->how = (struct lode_mine_options){
		.rank = chosen_rank(settings->rank),
		.both = settings->kind && !strcmp(settings->kind, "both"),
		.fold_recursion = settings->fold_recursion,
		.min_length = (uint32_t)settings->min_length,
		.max_length = (uint32_t)settings->max_length,
		.max_patterns = settings->max_patterns,
		.jobs = (unsigned)settings->area.jobs,
		.progress = &work->bar.progress,
	};
	code = read_similarity(settings->similarity, &mining->how.similarity, error);
	if (!code)
		code = lode_source_open(&mining->source, names, count, &settings->area, error);
	if (!code)
		code = choose_kind(mining->source.corpus, settings->kind, &mining->how.kind, error);
	if (!code)
		code = lode_source_area(&mining->source, &settings->area, mining->how.both ? 0 : 1u << mining->how.kind,
					work, &mining->reading, error);
	if (!code && settings->fold_recursion && lode_area_fold(&mining->reading.area) < 0)
		code = lode_fail_memory(error);
	mining->report = (struct lode_mine_report){
		.corpus = mining->source.path,
		.area = &mining->reading.area,
		.options = &mining->how,
		.mined = &mining->mined,
		.top = settings->top,
		.all_frames = settings->all_frames,
		.timing = settings->timing,
		.read_time = mining->reading.time,
	};
	return code;
}

/* Takes out of the area what signatures cover of one kind. */
static int remove_covered(struct lode_mining *mining, const struct lode_signatures *signatures,
			  enum lode_event_type kind, struct lode_error *error)
{
	struct lode_area *area = &mining->reading.area;
	uint8_t *marks = lode_calloc(area->dictionary.tree.count, 1);

	if (!marks || lode_signatures_cover(signatures, &area->dictionary, kind, marks) < 0) {
		lode_free(marks);
		return lode_fail_memory(error);
	}
	mining->report.covered = lode_add_saturating(mining->report.covered, lode_area_remove(area, kind, marks));
	lode_free(marks);
	return 0;
}

/* --new: takes out of the area what signatures cover, whatever their state. */
static int leave_out_known(struct lode_mining *mining, struct lode_error *error)
{
	struct lode_signatures signatures;
	int code = lode_signatures_load(mining->source.corpus, &signatures, error);

	for (int kind = 0; !code && kind < LODE_AREA_KINDS; kind++)
		if (mining->how.both || kind == (int)mining->how.kind)
			code = remove_covered(mining, &signatures, (enum lode_event_type)kind, error);
	mining->report.only_new = 1;
	lode_signatures_release(&signatures);
	return code;
}

static int read_patterns(struct lode_mining *mining, const char *path, struct lode_error *error)
{
	int code = lode_pattern_file_read(&mining->file, path, &mining->reading.area.dictionary.frames, error);

	if (!code && !mining->file.patterns.count)
		return lode_fail(error, LODE_BAD_INPUT, "%s: holds no patterns; see lode-patterns(5)", path);
	mining->how.given = &mining->file.patterns;
	return code;
}

int lode_mining_run(struct lode_mining *mining, const struct lode_mine_settings *settings, uint64_t threshold,
		    struct lode_error *error)
{
	int code = settings->only_new ? leave_out_known(mining, error) : 0;

	mining->how.threshold = threshold;
	if (!code && mining->how.both && lode_area_join_kinds(&mining->reading.area) < 0)
		code = lode_fail_memory(error);
	if (!code && !threshold)
		code = choose_threshold(settings, &mining->reading.area, &mining->how, error);
	if (!code && settings->patterns)
		code = read_patterns(mining, settings->patterns, error);
	if (!code)
		code = lode_mine(&mining->reading.area, &mining->how, &mining->mined, error);
	if (!code)
		code = lode_idle_stacks_make(&mining->idle, mining->source.rules, &mining->reading.area.dictionary, error);
	mining->report.idle = mining->idle;
	return code;
}

void lode_mining_release(struct lode_mining *mining)
{
	lode_idle_stacks_free(mining->idle);
	lode_mined_release(&mining->mined);
	lode_pattern_file_release(&mining->file);
	lode_area_reading_release(&mining->reading);
	lode_source_close(&mining->source);
}

/* ---- the whole ---- */

static int write_text(struct lode_analysis *analysis, void *result, struct lode_output *output, struct lode_error *error)
{
	(void)error;
	lode_mine_text(result, &analysis->look, &output->buffer);
	return 0;
}

static int write_json(struct lode_analysis *analysis, void *result, struct lode_output *output, struct lode_error *error)
{
	(void)analysis, (void)error;
	lode_mine_json(result, &output->buffer);
	return 0;
}

static int write_page(struct lode_analysis *analysis, void *result, struct lode_output *output, struct lode_error *error)
{
	struct lode_mine_report page = *(const struct lode_mine_report *)result;

	page.page = 1;
	return write_json(analysis, &page, output, error);
}

static const struct lode_form forms[] = {
	{ .name = "text", .kind = LODE_FORM_TEXT, .write = write_text },
	{ .name = "json", .kind = LODE_FORM_JSON, .write = write_json },
	{ .name = "html", .extension = ".html", .kind = LODE_FORM_PAGE, .write = write_page },
	{ .name = NULL },
};

/* Of clusters there is a page; not of single events or of what changed. */
static const struct lode_form *forms_of(const void *of)
{
	const struct lode_mine_settings *settings = of;

	return settings->show ? lode_mine_show_forms : settings->against ? lode_mine_against_forms : forms;
}

static int mine_area(struct lode_analysis *analysis, struct lode_mining *mining, struct lode_error *error)
{
	const struct lode_mine_settings *settings = analysis->call->settings;
	int code;

	if (settings->show)
		return lode_analysis_write(analysis, mining, error);
	if (lode_analysis_is(analysis, LODE_FORM_TEXT) && !settings->top && !settings->all)
		mining->report.top = TOP;
	code = lode_mining_run(mining, settings, 0, error);
	if (!code && settings->against)
		return lode_mine_against(analysis, mining, error);
	if (code)
		return code;
	if (!settings->result.page_data) /* a server changes nothing */
		remember(mining, &analysis->work.notes); /* before it is shown: nobody need read to the end */
	return lode_analysis_write(analysis, &mining->report, error);
}

static int mine(struct lode_analysis *analysis, struct lode_error *error)
{
	struct lode_mining mining;
	int code = lode_mining_open(&mining, analysis->call->settings, analysis->call->operands,
				    analysis->call->operand_count, &analysis->work, error);

	if (!code)
		code = mine_area(analysis, &mining, error);
	lode_mining_release(&mining);
	return code;
}

static const struct lode_analysis_command analysis = {
	.result = FIELD(result),
	.hold = LODE_HOLD_ALWAYS, /* what was found until it was stopped is shown */
	.forms_of = forms_of,
	.make = mine,
};

const struct lode_command lode_command_mine = {
	.name = "mine",
	.summary = "find the call-stack patterns that cost the most time",
	.usage = "[OPTIONS] CORPUS...",
	.about = "Mines the stacks of CORPUS for patterns, frames that stand in the same order in many stacks, whose\n"
		 "events cost more than a threshold; groups similar ones; and ranks the groups.",
	.examples = "  lode mine corpus\n"
		    "  lode mine corpus --kind run --threshold 0.5%\n"
		    "  # bugs that cost 0.3 s on average in a tenth of the streams\n"
		    "  lode mine corpus --impact 10%,300ms\n"
		    "  lode mine corpus --symptom 'wait > 200ms in lock' --scope graph\n"
		    "  lode mine release-2 --against release-1\n",
	.options = options,
	.settings_size = sizeof(struct lode_mine_settings),
	.least_operands = 1,
	.most_operands = SIZE_MAX,
	.operand = "CORPUS",
	.analysis = &analysis,
	.run = lode_analysis_run,
};
