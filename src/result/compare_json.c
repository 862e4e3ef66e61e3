/*
 * The comparison of two corpora as JSON.
 */
#include "base/json.h"
#include "result/mine_report.h"
#include "result/unread_fields.h"

static void side_json(struct lode_json *json, const char *key, const struct lode_metrics *metrics, double mean)
{
	lode_json_key_object(json, key);
	lode_json_key_u64(json, "cost_ns", metrics->cost);
	lode_json_key_u64(json, "events", metrics->events);
	lode_json_key_u64(json, "streams", metrics->streams);
	lode_json_key_double(json, "mean_ns", mean);
	lode_json_object_end(json);
}

static void compared_json(struct lode_json *json, const struct lode_compared *compared,
			  const struct lode_mine_report *found)
{
	lode_json_object(json);
	lode_json_key_text(json, "id", compared->id);
	lode_json_key_text(json, "change", lode_change_name(compared->change));
	lode_json_key_bool(json, "significant", compared->q < LODE_COMPARE_LEVEL);
	side_json(json, "here", &compared->here, compared->here_mean);
	side_json(json, "against", &compared->other, compared->other_mean);
	lode_json_key_double(json, "p", compared->p);
	lode_json_key_double(json, "q", compared->q);
	lode_json_key(json, "common");
	lode_frames_list_json(&found->area->dictionary.frames, found->mined->common[compared->cluster],
			      found->mined->common_length[compared->cluster], json);
	lode_json_object_end(json);
}

static void corpus_json(struct lode_json *json, const char *key, const struct lode_mine_report *report)
{
	lode_json_key_object(json, key);
	lode_json_key_text(json, "corpus", report->corpus);
	lode_json_key_u64(json, "streams", report->area->stream_count);
	lode_unread_streams_json(&report->area->unread, json);
	lode_json_key_u64(json, "threshold_ns", report->options->threshold);
	lode_json_key_u64(json, "events", report->area->rows[report->options->kind].events);
	lode_json_key_u64(json, "cost_ns", report->area->rows[report->options->kind].cost);
	lode_json_object_end(json);
}

void lode_compare_json(const struct lode_compare_report *report, struct lode_buffer *buffer)
{
	struct lode_json json = { .buffer = buffer };

	lode_json_object(&json);
	lode_json_key_text(&json, "kind", lode_mine_kind_name(report->here->options));
	lode_json_key_text(&json, "scope", lode_scope_name(report->here->area->scope));
	corpus_json(&json, "here", report->here);
	corpus_json(&json, "against", report->other);
	lode_json_key_u64(&json, "clusters_total", report->comparison->count);
	lode_json_key_array(&json, "clusters");
	for (size_t i = 0; i < report->comparison->count && (!report->top || i < report->top); i++)
		compared_json(&json, &report->comparison->items[i],
			      report->comparison->items[i].from_other ? report->other : report->here);
	lode_json_array_end(&json);
	lode_json_object_end(&json);
	lode_json_line(&json);
}
