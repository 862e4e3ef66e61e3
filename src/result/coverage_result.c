/* The result of lode coverage as JSON: see coverage_report.h. */
#include "result/coverage_report.h"

#include "result/field_choices.h"
#include "result/field_rows.h"
#include "result/unread_fields.h"

#include <math.h>
#include <string.h>

uint64_t lode_coverage_cost(const struct lode_covering *item)
{
	return lode_add_saturating(item->cost[LODE_RUN], item->cost[LODE_WAIT]);
}

const struct lode_signature *lode_coverage_signature(const struct lode_coverage_report *report, size_t item)
{
	return &report->signatures->items[report->coverage->items[item].signature];
}

const char *lode_coverage_stream(const struct lode_coverage_report *report, uint32_t stream)
{
	return lode_strings_get(&report->area->dictionary.frames.strings, report->area->streams[stream].name);
}

struct signature_share {
	const char *name;
	const char *state;
	double coverage;
	uint64_t cost_ns;
	uint64_t run_ns;
	uint64_t wait_ns;
	uint64_t events;
	uint64_t streams;
	double cumulative;
	uint64_t cumulative_ns;
	const char *bug; /* NULL: none */
	struct lode_list notes;
};

#define TABLE_OF struct signature_share
static const struct lode_field signature_rows[] = {
	FIELD_TEXT(name, "Name."),
	FIELD_TEXT(state, "Its state.", FIELD_CHOICE(lode_choice_signature_state)),
	FIELD_DOUBLE(coverage, "Part of the whole that it explains.", FIELD_NULLABLE),
	FIELD_U64(cost_ns, "The same in ns."),
	FIELD_U64(run_ns, "CPU time of it."),
	FIELD_U64(wait_ns, "Waiting of it."),
	FIELD_U64(events, "Events that match."),
	FIELD_U64(streams, "Streams in which some match."),
	FIELD_DOUBLE(cumulative, "Part of the whole that it and those before explain together.", FIELD_NULLABLE),
	FIELD_U64(cumulative_ns, "The same in ns."),
	FIELD_TEXT(bug, "Link to a bug; null: none.", FIELD_NULLABLE),
	FIELD_TEXTS(notes, "What people wrote about it, the newest last."),
};
static const struct lode_fields signature_share = FIELD_TABLE("CoverageSignature", signature_rows);
#undef TABLE_OF

struct step {
	uint64_t streams;
	double coverage;
	uint64_t cost_ns;
	const char *stream;
	const char *stream_id;
	struct lode_written reveals;
};

#define TABLE_OF struct step
static const struct lode_field step_rows[] = {
	FIELD_U64(streams, "Streams opened so far."),
	FIELD_DOUBLE(coverage, "Part of the whole that is explained by then.", FIELD_NULLABLE),
	FIELD_U64(cost_ns, "The same in ns."),
	FIELD_TEXT(stream, "Name of the stream to open."),
	FIELD_TEXT(stream_id, "Its id."),
	FIELD_WRITTEN_TEXTS(reveals, "Signatures that it is the first to show."),
};
static const struct lode_fields step_fields = FIELD_TABLE("CoverageStep", step_rows);
#undef TABLE_OF

/* Random has no steps of its own. */
struct curves {
	struct lode_list stackmine;
	struct lode_list greedy_total;
	struct lode_list greedy_max;
};

#define TABLE_OF struct curves
static const struct lode_field curves_rows[] = {
	FIELD_OBJECTS(stackmine, step_fields,
		      "Streams that show the signature first that covers most, as StackMine orders them."),
	FIELD_OBJECTS(greedy_total, step_fields, "Streams by the total delay of their symptoms, largest first."),
	FIELD_OBJECTS(greedy_max, step_fields, "Streams by the longest delay of one symptom, largest first."),
};
static const struct lode_fields curves_fields = FIELD_TABLE("CoverageCurves", curves_rows);
#undef TABLE_OF

struct level {
	double coverage;
	uint64_t cost_ns;
	double streams[LODE_OPENINGS];
};

#define TABLE_OF struct level
static const struct lode_field level_rows[] = {
	FIELD_DOUBLE(coverage, "Part of the whole.", FIELD_NULLABLE),
	FIELD_U64(cost_ns, "The same in ns."),
	FIELD_DOUBLE_AS("stackmine", streams[LODE_OPENING_STACKMINE], "Streams as StackMine orders them.",
			FIELD_NULLABLE),
	FIELD_DOUBLE_AS("random", streams[LODE_OPENING_RANDOM], "Streams in a random order, on average.",
			FIELD_NULLABLE),
	FIELD_DOUBLE_AS("greedy_total", streams[LODE_OPENING_GREEDY_TOTAL],
			"Streams by the total delay of their symptoms.", FIELD_NULLABLE),
	FIELD_DOUBLE_AS("greedy_max", streams[LODE_OPENING_GREEDY_MAX],
			"Streams by the longest delay of one symptom.", FIELD_NULLABLE),
};
static const struct lode_fields level_fields = FIELD_TABLE("CoverageLevel", level_rows);
#undef TABLE_OF

struct ratios {
	int any; /* there are levels */
	double of[LODE_OPENINGS];
};

#define TABLE_OF struct ratios
static const struct lode_field ratio_rows[] = {
	FIELD_DOUBLE_AS("random", of[LODE_OPENING_RANDOM], "Of a random order.", FIELD_OPTIONAL_IF(any),
			FIELD_MAYBE_NULL),
	FIELD_DOUBLE_AS("greedy_total", of[LODE_OPENING_GREEDY_TOTAL],
			"Of streams by the total delay of their symptoms.", FIELD_OPTIONAL_IF(any),
			FIELD_MAYBE_NULL),
	FIELD_DOUBLE_AS("greedy_max", of[LODE_OPENING_GREEDY_MAX],
			"Of streams by the longest delay of one symptom.", FIELD_OPTIONAL_IF(any), FIELD_MAYBE_NULL),
};
static const struct lode_fields ratio_fields = FIELD_TABLE("CoverageRatios", ratio_rows);
#undef TABLE_OF

struct coverage_fields {
	const char *scope;
	const char *whole;
	uint64_t whole_ns;
	uint64_t streams;
	struct lode_unread_part unread;
	double coverage;
	uint64_t cost_ns;
	uint64_t events;
	uint64_t ignored;
	struct lode_list signatures;
	struct curves curves;
	uint64_t shuffles;
	int paper_order;
	struct lode_list levels;
	struct ratios stackmine_share_of;
};

static const char *whole_choice(unsigned number)
{
	return number == 0 ? "symptoms" : number == 1 ? "events" : NULL;
}

#define TABLE_OF struct coverage_fields
static const struct lode_field coverage_rows[] = {
	FIELD_TEXT(scope, "Which events count.", FIELD_CHOICE(lode_choice_scope)),
	FIELD_TEXT(whole, "What the whole is.", FIELD_CHOICE(whole_choice)),
	FIELD_U64(whole_ns, "The whole."),
	FIELD_U64(streams, "Streams."),
	FIELD_PART(unread, lode_unread_part_fields),
	FIELD_DOUBLE(coverage, "Part of the whole that signatures explain; null: there is nothing to explain.",
		     FIELD_NULLABLE),
	FIELD_U64(cost_ns, "The same in ns."),
	FIELD_U64(events, "Events that match."),
	FIELD_U64(ignored, "Signatures that are not counted, because of their state."),
	FIELD_OBJECTS(signatures, signature_share, "Signatures, the most costly first."),
	FIELD_OBJECT(curves, curves_fields, "By way of choosing streams: what is explained after each."),
	FIELD_U64(shuffles, "Random orders that were averaged."),
	FIELD_BOOL(paper_order, "Streams are ordered as in the paper."),
	FIELD_OBJECTS(levels, level_fields, "How many streams it takes to explain so much."),
	FIELD_OBJECT(stackmine_share_of, ratio_fields, "Streams that the first way takes, as a part of the others."),
};
const struct lode_fields lode_coverage_fields = FIELD_TABLE("CoverageResult", coverage_rows);
#undef TABLE_OF

/* ---- filling it ---- */

static double share_of(const struct lode_coverage *coverage, uint64_t cost)
{
	return coverage->whole ? (double)cost / (double)coverage->whole : NAN;
}

static int make_signature(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_coverage_report *report = list->from;
	const struct lode_covering *covering = &report->coverage->items[i];
	const struct lode_signature *signature = lode_coverage_signature(report, i);

	*(struct signature_share *)item = (struct signature_share){
		.name = signature->name,
		.state = lode_signature_state_name(signature->state),
		.coverage = share_of(report->coverage, lode_coverage_cost(covering)),
		.cost_ns = lode_coverage_cost(covering),
		.run_ns = covering->cost[LODE_RUN],
		.wait_ns = covering->cost[LODE_WAIT],
		.events = covering->events,
		.streams = covering->streams,
		.cumulative = share_of(report->coverage, covering->cumulative),
		.cumulative_ns = covering->cumulative,
		.bug = *signature->bug ? signature->bug : NULL,
		.notes = lode_list_of(signature->notes, signature->note_count),
	};
	return 1;
}

static int write_revealed(const struct lode_written *self, struct lode_json *json)
{
	const uint32_t *revealed = self->with;

	lode_json_array(json);
	for (size_t i = 0; i < self->count; i++)
		lode_json_text(json, lode_coverage_signature(self->from, revealed[self->first + i])->name);
	lode_json_array_end(json);
	return 0;
}

static int make_step(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_coverage_report *report = list->from;
	const struct lode_opening_curve *curve = &report->coverage->curves[list->first];
	const struct lode_opened *opened = &curve->steps[i];

	*(struct step *)item = (struct step){
		.streams = opened->opened,
		.coverage = share_of(report->coverage, opened->cost),
		.cost_ns = opened->cost,
		.stream = lode_coverage_stream(report, opened->stream),
		.stream_id = report->area->streams[opened->stream].id,
		.reveals = { .write = write_revealed,
			     .from = report,
			     .with = curve->revealed,
			     .first = opened->first,
			     .count = opened->count },
	};
	return 1;
}

static struct lode_list steps_of(const struct lode_coverage_report *report, enum lode_opening opening)
{
	return (struct lode_list){ report->coverage->curves[opening].count, report, opening, make_step };
}

static int make_level(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_coverage *coverage = list->from;
	struct level *level = item;

	level->coverage = share_of(coverage, coverage->levels[i].cost);
	level->cost_ns = coverage->levels[i].cost;
	memcpy(level->streams, coverage->levels[i].streams, sizeof(level->streams));
	return 1;
}

void lode_coverage_json(const struct lode_coverage_report *report, struct lode_buffer *buffer)
{
	const struct lode_coverage *coverage = report->coverage;
	struct coverage_fields result = {
		.scope = lode_scope_name(report->area->scope),
		.whole = coverage->from_symptoms ? "symptoms" : "events",
		.whole_ns = coverage->whole,
		.streams = report->area->stream_count,
		.unread = lode_unread_part(&report->area->unread),
		.coverage = share_of(coverage, coverage->cost),
		.cost_ns = coverage->cost,
		.events = coverage->events,
		.ignored = coverage->ignored,
		.signatures = { coverage->count, report, 0, make_signature },
		.curves = { steps_of(report, LODE_OPENING_STACKMINE), steps_of(report, LODE_OPENING_GREEDY_TOTAL),
			    steps_of(report, LODE_OPENING_GREEDY_MAX) },
		.shuffles = coverage->shuffles,
		.paper_order = coverage->paper_order,
		.levels = { coverage->level_count, coverage, 0, make_level },
		.stackmine_share_of.any = coverage->level_count != 0,
	};

	memcpy(result.stackmine_share_of.of, coverage->ratio, sizeof(coverage->ratio));
	lode_fields_line(&lode_coverage_fields, &result, buffer);
}
