/*
 * lode mine: from millions of stacks to a short ranked list (StackMine).
 *
 * The last result of a corpus is kept in CORPUS/mined.txt as a pattern file, so that
 * `lode sign --from ID` and `lode mine --show ID` know what an id means. mining.c
 * does the mining.
 */
#include "tasks/empty_area.h"
#include "tasks/gain_options.h"
#include "tasks/mining.h"

#include "mine/pattern_id.h"
#include "text/mine_text.h"

#define TOP 10

LODE_CHOICES(kind_choice, "wait", "run", "both", "ready")

#define FIELD(field) offsetof(struct lode_mine_settings, field)

/* What most people need comes first. */
static const struct lode_option options[] = {
	LODE_TEXT("show", 0, FIELD(show), "N|ID",
		  "show the stacks of finding N, or the events of a pattern or cluster from the last run"),
	LODE_FLAG("findings", 0, FIELD(only_findings),
		  "show only where the time went, a sentence each, and look for no patterns: quicker"),
	LODE_NUMBER("top", 'n', FIELD(top), "N", "show this many clusters (text: 10)", 1, 0),
	LODE_FLAG("all", 'a', FIELD(all), "show all clusters"),
	LODE_CHOICE("kind", 'k', FIELD(kind), "KIND",
		    "mine waits, CPU samples, both, or time on the run queue (default: both on critical paths, "
		    "otherwise wait if there are any)",
		    kind_choice),
	LODE_CHOICE(
		"by", 0, FIELD(by), "WHAT",
		"group by stack, waits by what they were for (object), or by context (the request or query that "
		"they belonged to), systemd unit, container or pod (default: stack)",
		lode_by_choice),
	LODE_PLACE_OPTIONS(FIELD(area), LODE_DEFAULT_SCOPE),
	LODE_TEXT("against", 0, FIELD(against), "CORPUS",
		  "show what is new, gone or changed compared with another corpus"),
	LODE_FLAG("new", 0, FIELD(only_new), "show only what no signature covers"),
	LODE_TEXT("output", 'o', FIELD(result.output), "FILE",
		  "write to FILE instead of standard output; .html makes it a page, .json JSON"),
	LODE_FLAG("json", 0, FIELD(result.json), "write everything as JSON"),
	LODE_FLAG("all-frames", 0, FIELD(all_frames),
		  "also show frames of the scheduler, kernel entry and interpreters"),
	LODE_FLAG("gain", 0, FIELD(gain),
		  "also say how much earlier symptoms would end if a cluster were fixed, or half of it (also: "
		  "--rank gain)"),
	LODE_CPUS_OPTION(FIELD(cpus)),
	LODE_CHOICE("rank", 'r', FIELD(rank), "METRIC", "order of the clusters (default: total)", lode_rank_choice),
	LODE_TEXT("threshold", 't', FIELD(threshold), "T", "minimum cost of a pattern: 30s, 1% (default: 1%)"),
	LODE_TEXT("impact", 0, FIELD(impact), "SHARE,T",
		  "the threshold of a bug that costs T on average in SHARE of the streams: 10%,300ms"),
	LODE_TEXT("similarity", 0, FIELD(similarity), "S", "cluster patterns that are this similar, 0 to 1"),
	LODE_FLAG("fold-recursion", 0, FIELD(fold_recursion),
		  "count only the first call of a recursive function: faster, fewer patterns (default where "
		  "functions "
		  "call each other in turn, many times)"),
	LODE_FLAG("keep-recursion", 0, FIELD(keep_recursion), "never do so: may take hours"),
	LODE_NUMBER("min-length", 0, FIELD(min_length), "N", "leave out shorter patterns", 1, UINT32_MAX - 1),
	LODE_NUMBER("max-length", 0, FIELD(max_length), "N", "look for patterns up to this length", 1,
		    UINT32_MAX - 1),
	LODE_NUMBER("max-patterns", 0, FIELD(max_patterns), "N", "stop after this many patterns", 1, 0),
	LODE_TEXT("patterns", 0, FIELD(patterns), "FILE", "measure these patterns instead of mining"),
	LODE_READING_OPTIONS(FIELD(area)),
	LODE_FLAG("page-data", 0, FIELD(result.page_data),
		  "write the content of the page as JSON: costs in all streams"),
	LODE_HIDDEN_FLAG("timing", FIELD(timing), "JSON says how long the steps took"),
	LODE_NO_MORE_OPTIONS,
};

/* Keeps the result for '--show' and 'lode sign'. A corpus that cannot be written to is mined anyway. */
static void remember(struct lode_mining *mining, struct lode_notes *notes)
{
	const char *kind = mining->how.both || mining->how.ready ? NULL : lode_event_type_name(mining->how.kind);

	for (size_t i = 0; i < lode_corpus_count(mining->source.corpus); i++) {
		struct lode_corpus *member = lode_corpus_member(mining->source.corpus, i);
		struct lode_error error = { "" };

		if (lode_mined_file_write(lode_corpus_path(member), &mining->mined, kind,
					  &mining->reading.area.dictionary.frames, &error) < 0)
			lode_notes_add(notes, 1, "result could not be kept for '--show' and 'lode sign'",
				       error.text);
	}
}

/* ---- the whole ---- */

LODE_TEXT_WRITER(write_text, lode_mine_text)
LODE_FORM_WRITER(write_json, lode_mine_json)

static int write_page(struct lode_analysis *analysis, void *result, struct lode_output *output,
		      struct lode_error *error)
{
	struct lode_mine_report page = *(const struct lode_mine_report *)result;

	page.for_page = 1;
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

	if (settings->show) {
		code = mining->finds ? lode_mining_find(mining, error) : 0;
		return code ? code : lode_analysis_write(analysis, mining, error);
	}
	if (lode_analysis_is(analysis, LODE_FORM_TEXT) && !settings->top && !settings->all)
		mining->report.top = TOP;
	code = lode_mining_run(mining, settings, 0, error);
	if (!code && settings->against)
		return lode_mine_against(analysis, mining, error);
	if (code)
		return code;
	if (analysis->call->host->keep == LODE_KEEP_ALL && !settings->only_findings)
		remember(mining, &analysis->work.notes); /* before it is shown: the reader may stop early */
	return lode_analysis_write(analysis, &mining->report, error);
}

/* People take an empty table for an answer; programs get numbers, which are all 0. */
static int check_area(const struct lode_analysis *analysis, struct lode_mining *mining, struct lode_error *error)
{
	const struct lode_mine_settings *settings = analysis->call->settings;

	if (settings->show || settings->against || lode_analysis_is(analysis, LODE_FORM_JSON))
		return 0;
	return lode_empty_area_check(&mining->source, &settings->area, &mining->reading.area,
				     mining->how.both || mining->finds, error);
}

static int mine(struct lode_analysis *analysis, struct lode_error *error)
{
	struct lode_mining mining;
	int code = lode_mining_open(&mining, analysis->call->settings, analysis->call->operands,
				    analysis->call->operand_count, &analysis->work, error);

	if (!code)
		code = check_area(analysis, &mining, error);
	if (!code)
		code = mine_area(analysis, &mining, error);
	lode_mining_release(&mining);
	return code;
}

static const struct lode_analysis_command analysis = {
	.result = FIELD(result),
	.memory = FIELD(area.memory),
	.hold = LODE_HOLD_ALWAYS, /* what was found until it was stopped is shown */
	.forms_of = forms_of,
	.make = mine,
};

const struct lode_command lode_command_mine = {
	.name = "mine",
	.summary = "find the call-stack patterns that cost the most time",
	.usage = "[OPTIONS] CORPUS...",
	.about = "Mines the stacks of CORPUS for patterns: frames that occur in the same order in many stacks, "
		 "and whose events together cost more than a threshold. Groups similar patterns into clusters, "
		 "and ranks the clusters.",
	.examples = "  lode mine corpus\n"
		    "  lode mine corpus --kind run --threshold 0.5%\n"
		    "  # bugs that cost 0.3 s on average in a tenth of the streams\n"
		    "  lode mine corpus --impact 10%,300ms\n"
		    "  lode mine corpus --symptom 'wait > 200ms in lock' --scope graph\n"
		    "  # what is worth fixing: not all that costs time is gained\n"
		    "  lode mine corpus --rank gain\n"
		    "  lode mine release-2 --against release-1\n"
		    "  # the locks that cost most, and where one of them does\n"
		    "  lode mine corpus --by object\n"
		    "  lode mine corpus --where object=lock:folder_list\n",
	.options = options,
	.settings_size = sizeof(struct lode_mine_settings),
	.least_operands = 1,
	.most_operands = SIZE_MAX,
	.operand = "CORPUS",
	.analysis = &analysis,
	.run = lode_analysis_run,
};
