/*
 * The comparison of two corpora as JSON: see mine_report.h.
 */
#include "result/field_choices.h"
#include "result/field_rows.h"
#include "result/mine_report.h"
#include "result/unread_fields.h"
#include "result/written_frames.h"

struct corpus_fields {
	const char *corpus;
	uint64_t streams;
	struct lode_unread_part unread;
	uint64_t threshold_ns;
	uint64_t events;
	uint64_t cost_ns;
};

#define TABLE_OF struct corpus_fields
static const struct lode_field corpus_rows[] = {
	FIELD_TEXT(corpus, "Its folder."),           FIELD_U64(streams, "Streams."),
	FIELD_PART(unread, lode_unread_part_fields), FIELD_U64(threshold_ns, "The least cost of a pattern there."),
	FIELD_U64(events, "Events that count."),     FIELD_U64(cost_ns, "Their time."),
};
static const struct lode_fields corpus_fields = FIELD_TABLE("CompareCorpus", corpus_rows);
#undef TABLE_OF

struct side_fields {
	uint64_t cost_ns;
	uint64_t events;
	uint64_t streams;
	double mean_ns;
};

#define TABLE_OF struct side_fields
static const struct lode_field side_rows[] = {
	FIELD_U64(cost_ns, "Time."),
	FIELD_U64(events, "Events."),
	FIELD_U64(streams, "Streams."),
	FIELD_DOUBLE(mean_ns, "Time a stream."),
};
static const struct lode_fields side_fields = FIELD_TABLE("CompareSide", side_rows);
#undef TABLE_OF

struct cluster_fields {
	const char *id;
	const char *change;
	int significant;
	struct side_fields here;
	struct side_fields against;
	double p;
	double q;
	struct lode_written common;
};

static const char *change_choice(unsigned number)
{
	return number < LODE_CHANGES ? lode_change_name((enum lode_pattern_change)number) : NULL;
}

#define TABLE_OF struct cluster_fields
static const struct lode_field cluster_rows[] = {
	FIELD_TEXT(id, "Id of the cluster."),
	FIELD_TEXT(change, "How it changed.", FIELD_CHOICE(change_choice)),
	FIELD_BOOL(significant, "The change is unlikely to be chance: q is below the level."),
	FIELD_OBJECT(here, side_fields, "In the corpus that was mined."),
	FIELD_OBJECT(against, side_fields, "In the other one."),
	FIELD_DOUBLE(p, "Chance of such a change when there is none; null: not tested.", FIELD_NULLABLE),
	FIELD_DOUBLE(q, "The same, corrected for the number of clusters.", FIELD_NULLABLE),
	FIELD_WRITTEN_TEXTS(common, "Functions that all its patterns have."),
};
static const struct lode_fields cluster_fields = FIELD_TABLE("CompareCluster", cluster_rows);
#undef TABLE_OF

struct compare_fields {
	const char *kind;
	const char *scope;
	struct corpus_fields here;
	struct corpus_fields against;
	uint64_t clusters_total;
	struct lode_list clusters;
};

#define TABLE_OF struct compare_fields
static const struct lode_field compare_rows[] = {
	FIELD_TEXT(kind, "Events that were mined.", FIELD_CHOICE(lode_choice_mined_kind)),
	FIELD_TEXT(scope, "Which events count.", FIELD_CHOICE(lode_choice_scope)),
	FIELD_OBJECT(here, corpus_fields, "The corpus that was mined."),
	FIELD_OBJECT(against, corpus_fields, "The one it is compared with."),
	FIELD_U64(clusters_total, "Clusters of both."),
	FIELD_OBJECTS(clusters, cluster_fields, "Clusters, the largest change first."),
};
const struct lode_fields lode_compare_fields = FIELD_TABLE("CompareResult", compare_rows);
#undef TABLE_OF

static struct side_fields side_of(const struct lode_metrics *metrics, double mean)
{
	return (struct side_fields){ metrics->cost, metrics->events, metrics->streams, mean };
}

static int make_cluster(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_compare_report *report = list->from;
	const struct lode_compared *compared = &report->comparison->items[i];
	const struct lode_mine_report *found = compared->from_other ? report->other : report->here;

	*(struct cluster_fields *)item = (struct cluster_fields){
		.id = compared->id,
		.change = lode_change_name(compared->change),
		.significant = compared->q < LODE_COMPARE_LEVEL,
		.here = side_of(&compared->here, compared->here_mean),
		.against = side_of(&compared->other, compared->other_mean),
		.p = compared->p,
		.q = compared->q,
		.common = lode_written_frames(&found->area->dictionary.frames,
					      found->mined->common[compared->cluster],
					      found->mined->common_length[compared->cluster]),
	};
	return 1;
}

static struct corpus_fields corpus_of(const struct lode_mine_report *report)
{
	const struct lode_area_rows *rows = &report->area->rows[report->options->kind];

	return (struct corpus_fields){
		.corpus = report->corpus,
		.streams = report->area->stream_count,
		.unread = lode_unread_part(&report->area->unread),
		.threshold_ns = report->options->threshold,
		.events = rows->events,
		.cost_ns = rows->cost,
	};
}

void lode_compare_json(const struct lode_compare_report *report, struct lode_buffer *buffer)
{
	const struct lode_mine_options *options = report->here->options;
	size_t total = report->comparison->count, shown = report->top && report->top < total ? report->top : total;
	struct compare_fields result = {
		.kind = lode_mine_kind_name(options),
		.scope = lode_scope_name(report->here->area->scope),
		.here = corpus_of(report->here),
		.against = corpus_of(report->other),
		.clusters_total = total,
		.clusters = { shown, report, 0, make_cluster },
	};

	lode_fields_line(&lode_compare_fields, &result, buffer);
}
