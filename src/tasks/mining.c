/*
 * One mining of corpora as settings ask for it: see mining.h. What lode mine, its comparison,
 * its --show and lode report start from.
 */
#include "tasks/mining.h"

#include "base/memory.h"
#include "mine/signatures.h"
#include "result/unnamed_words.h"
#include "symbols/debian_package.h"
#include "tasks/mine_gain.h"

#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

const char *lode_by_choice(size_t i)
{
	static const char *const choices[] = {
		[LODE_BY_STACK] = "stack", [LODE_BY_OBJECT] = "object",       [LODE_BY_CONTEXT] = "context",
		[LODE_BY_UNIT] = "unit",   [LODE_BY_CONTAINER] = "container", [LODE_BY_POD] = "pod",
	};

	return i < sizeof(choices) / sizeof(choices[0]) ? choices[i] : NULL;
}

/* What events are grouped by. */
static enum lode_area_by by(const struct lode_mine_settings *settings)
{
	return (enum lode_area_by)lode_option_choice(settings->by, lode_by_choice);
}

/* Objects, and units, with similar names are different ones. */
static int read_similarity(const struct lode_mine_settings *settings, double *similarity, struct lode_error *error)
{
	const char *text = settings->similarity;
	char *rest;

	*similarity = by(settings) ? 1 : LODE_SIMILARITY;
	if (!text)
		return 0;
	*similarity = strtod(text, &rest);
	if (rest == text || *rest || !(*similarity >= 0 && *similarity <= 1))
		return lode_fail(
			error, LODE_USAGE,
			"mine: '--similarity' needs a number from 0 (one cluster) to 1 (only equals), not '%s'. "
			"See 'lode help mine'.",
			text);
	return 0;
}

const char *lode_rank_choice(size_t i)
{
	return i < LODE_RANKS ? lode_rank_name((enum lode_rank)i) : NULL;
}

/*
 * The parts of a critical path add up to the symptom, whether the thread ran or waited, so both are mined together.
 * Elsewhere waits are what people come for; a profile without any is mined for CPU time.
 */
static void choose_kind(const struct lode_area_settings *settings, const char *const *symptoms,
			const struct lode_corpus_list *list, struct lode_mine_options *how)
{
	const struct lode_area_options area = {
		.scope = lode_scope_chosen(settings->scope, LODE_SCOPE_AUTO),
		.symptoms = symptoms,
	};
	uint64_t waits = 0, runs = 0;

	for (size_t i = 0; i < list->count; i++) {
		waits += list->items[i].events[LODE_WAIT];
		runs += list->items[i].events[LODE_RUN];
	}
	how->both = waits && runs && lode_area_scope(&area, list) == LODE_SCOPE_CRITICAL_PATH;
	how->kind = !waits && runs ? LODE_RUN : LODE_WAIT;
}

static int read_kind(struct lode_source *source, const struct lode_mine_settings *settings,
		     struct lode_mine_options *how, struct lode_error *error)
{
	const char *const *symptoms;
	struct lode_corpus_list list = { 0 };
	int code;

	how->kind = settings->kind && !strcmp(settings->kind, "run") ? LODE_RUN : LODE_WAIT;
	how->both = settings->kind && !strcmp(settings->kind, "both");
	how->ready = settings->kind && !strcmp(settings->kind, "ready");
	if (settings->kind || by(settings) == LODE_BY_OBJECT)
		return 0;
	code = lode_source_symptoms(source, &settings->area, &symptoms, error);
	if (!code)
		code = lode_corpus_streams(source->corpus, &list, error);
	if (!code)
		choose_kind(&settings->area, symptoms, &list, how);
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

/* ---- one mining ---- */

/* Findings that explain less than this share are only summed up. */
#define MIN_FINDING 0.01
/* Of a function, after others, in one stack: with more, recursion is folded. */
#define MAX_RETURNS 5
/* More digits are an id. */
#define MAX_NUMBER_DIGITS 2

size_t lode_finding_number(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return digits && digits <= MAX_NUMBER_DIGITS && !text[digits] && *text != '0' ? strtoul(text, NULL, 10) : 0;
}

/* Findings are about all time of the symptoms, or of the threads: where only some kind of it is asked for there are none. */
static int wants_findings(const struct lode_mine_settings *settings)
{
	enum lode_scope scope = lode_scope_chosen(settings->area.scope, LODE_SCOPE_AUTO);

	return !settings->kind && (!settings->show || lode_finding_number(settings->show)) && !by(settings) &&
	       !settings->patterns && !settings->area.include_idle && scope != LODE_SCOPE_THREAD &&
	       scope != LODE_SCOPE_GRAPH;
}

static int check_findings(const struct lode_mine_settings *settings, int finds, struct lode_error *error)
{
	if (!settings->only_findings || (finds && !settings->show && !settings->against && !settings->only_new))
		return 0;
	return lode_fail(error, LODE_USAGE,
			 "mine: '--findings' is about all time of the symptoms or threads; leave out options that "
			 "ask for a part of it, or for patterns. See 'lode help mine'.");
}

int lode_mining_open(struct lode_mining *mining, const struct lode_mine_settings *settings, char *const *names,
		     size_t count, struct lode_work *work, struct lode_error *error)
{
	struct lode_area_settings area = settings->area;
	uint32_t cpus;
	int code;

	area.by = by(settings);
	memset(mining, 0, sizeof(*mining));
	mining->finds = area.chains = wants_findings(settings);
	mining->how = (struct lode_mine_options){
		.rank = (enum lode_rank)lode_option_choice(settings->rank, lode_rank_choice),
		.fold_recursion = settings->fold_recursion,
		.min_length = (uint32_t)settings->min_length,
		.max_length = (uint32_t)settings->max_length,
		.max_patterns = settings->max_patterns,
		.jobs = (unsigned)settings->area.jobs,
		.progress = work->progress,
	};
	code = check_findings(settings, mining->finds, error);
	if (!code)
		code = lode_mine_gain_check(settings, &cpus, error);
	if (!code)
		code = read_similarity(settings, &mining->how.similarity, error);
	if (!code)
		code = lode_source_open(&mining->source, names, count, &settings->area, work->call->host, error);
	if (!code)
		code = read_kind(&mining->source, settings, &mining->how, error);
	if (!code)
		area.ready = mining->how.ready;
	if (!code)
		code = lode_source_area(&mining->source, &area, mining->how.both ? 0 : 1u << mining->how.kind,
					work, &mining->reading, error);
	if (!code && !settings->all_frames && lode_area_hide_plumbing(&mining->reading.area) < 0)
		code = lode_fail_memory(error);
	if (!code && settings->fold_recursion && lode_area_fold(&mining->reading.area) < 0)
		code = lode_fail_memory(error);
	mining->report = (struct lode_mine_report){
		.corpus = mining->source.path,
		.area = &mining->reading.area,
		.options = &mining->how,
		.mined = &mining->mined,
		.top = settings->top,
		.all_frames = settings->all_frames,
		.only_findings = settings->only_findings,
		.timing = settings->timing,
		.cpus = cpus,
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

	if (!marks || lode_signatures_mark(signatures, &area->dictionary, kind, marks) < 0) {
		lode_free(marks);
		return lode_fail_memory(error);
	}
	mining->report.covered = lode_add_saturating(mining->report.covered, lode_area_remove(area, kind, marks));
	lode_free(marks);
	return 0;
}

/* --new: takes out of the area what signatures cover, in any state. */
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

/* Says what would give names to the functions without one that the findings show. */
static int find_hint(struct lode_mining *mining)
{
	const struct lode_area *area = &mining->reading.area;
	const struct lode_frames *frames = &area->dictionary.frames;
	struct lode_unnamed_function unnamed;
	char *package = NULL;

	if (lode_unnamed_function_find(&unnamed, &mining->findings, area) < 0)
		return LODE_SYSTEM;
	if (unnamed.frame == LODE_NONE)
		return 0;
	if (unnamed.runtime == LODE_UNNAMED_NATIVE)
		package = lode_debian_package(LODE_DPKG_LISTS,
					      lode_strings_get(&frames->strings,
							       frames->modules[frames->items[unnamed.frame].module]
								       .path));
	lode_unnamed_words(area, &unnamed, package, &mining->hint);
	lode_buffer_byte(&mining->hint, '\0');
	lode_free(package);
	mining->report.hint = mining->hint.bytes;
	return mining->hint.failed ? LODE_SYSTEM : 0;
}

int lode_mining_find(struct lode_mining *mining, struct lode_error *error)
{
	int code = lode_idle_stacks_make(&mining->idle, mining->source.rules, &mining->reading.area.dictionary,
					 error);

	mining->report.idle = mining->idle;
	if (code || !mining->finds)
		return code;
	mining->report.findings = &mining->findings;
	if (lode_findings_make(&mining->findings, &mining->reading.area, mining->idle, MIN_FINDING) < 0 ||
	    find_hint(mining) < 0)
		return lode_fail_memory(error);
	return 0;
}

/*
 * Functions that call each other in turn (nested layers of a network, Python's imports) have patterns without number: any of
 * the calls, in any choice. With three functions a round, six rounds take a second, eight take seven, and ten some minutes.
 */
static int fold_where_needed(struct lode_mining *mining, const struct lode_mine_settings *settings,
			     struct lode_error *error)
{
	struct lode_area *area = &mining->reading.area;
	uint64_t cost;

	if (settings->fold_recursion || settings->keep_recursion || settings->patterns)
		return 0;
	if (lode_area_recursive_cost(area, mining->how.kind, MAX_RETURNS, &cost) < 0)
		return lode_fail_memory(error);
	if (!cost || cost < mining->how.threshold)
		return 0;
	mining->how.fold_recursion = 1;
	return lode_area_fold(area) < 0 ? lode_fail_memory(error) : 0;
}

int lode_mining_run(struct lode_mining *mining, const struct lode_mine_settings *settings, uint64_t threshold,
		    struct lode_error *error)
{
	int code;

	if (settings->only_findings)
		return lode_mining_find(mining, error);
	code = settings->only_new ? leave_out_known(mining, error) : 0;
	mining->how.threshold = threshold;
	mining->how.job = lode_host_served(mining->source.host);
	if (!code && mining->how.both && lode_area_join_kinds(&mining->reading.area) < 0)
		code = lode_fail_memory(error);
	if (!code && !threshold)
		code = choose_threshold(settings, &mining->reading.area, &mining->how, error);
	if (!code && settings->patterns)
		code = read_patterns(mining, settings->patterns, error);
	if (!code)
		code = fold_where_needed(mining, settings, error);
	if (!code)
		code = lode_mine(&mining->reading.area, &mining->how, &mining->mined, error);
	if (!code && lode_mine_wants_gain(settings))
		code = lode_mine_gain(mining, settings, error);
	return code ? code : lode_mining_find(mining, error);
}

void lode_mining_release(struct lode_mining *mining)
{
	lode_idle_stacks_free(mining->idle);
	lode_mined_release(&mining->mined);
	lode_findings_release(&mining->findings);
	lode_gains_release(&mining->gains);
	lode_buffer_release(&mining->hint);
	lode_pattern_file_release(&mining->file);
	lode_area_reading_release(&mining->reading);
	lode_source_close(&mining->source);
}
