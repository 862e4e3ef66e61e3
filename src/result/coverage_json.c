/* The result of lode coverage as JSON: see coverage_report.h. */
#include "result/coverage_report.h"

#include "base/json.h"
#include "result/unread_fields.h"

#include <math.h>

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

static void write_share(struct lode_json *json, const struct lode_coverage *coverage, const char *key,
			uint64_t cost)
{
	lode_json_key_double(json, key, coverage->whole ? (double)cost / (double)coverage->whole : NAN);
}

static void write_items(struct lode_json *json, const struct lode_coverage_report *report)
{
	const struct lode_coverage *coverage = report->coverage;

	lode_json_key_array(json, "signatures");
	for (size_t i = 0; i < coverage->count; i++) {
		const struct lode_covering *item = &coverage->items[i];
		const struct lode_signature *signature = lode_coverage_signature(report, i);

		lode_json_object(json);
		lode_json_key_text(json, "name", signature->name);
		lode_json_key_text(json, "state", lode_signature_state_name(signature->state));
		write_share(json, coverage, "coverage", lode_coverage_cost(item));
		lode_json_key_u64(json, "cost_ns", lode_coverage_cost(item));
		lode_json_key_u64(json, "run_ns", item->cost[LODE_RUN]);
		lode_json_key_u64(json, "wait_ns", item->cost[LODE_WAIT]);
		lode_json_key_u64(json, "events", item->events);
		lode_json_key_u64(json, "streams", item->streams);
		write_share(json, coverage, "cumulative", item->cumulative);
		lode_json_key_u64(json, "cumulative_ns", item->cumulative);
		lode_json_object_end(json);
	}
	lode_json_array_end(json);
}

static void write_step(struct lode_json *json, const struct lode_coverage_report *report,
		       const struct lode_opening_curve *curve, const struct lode_opened *step)
{
	lode_json_object(json);
	lode_json_key_u64(json, "streams", step->opened);
	write_share(json, report->coverage, "coverage", step->cost);
	lode_json_key_u64(json, "cost_ns", step->cost);
	lode_json_key_text(json, "stream", lode_coverage_stream(report, step->stream));
	lode_json_key_text(json, "stream_id", report->area->streams[step->stream].id);
	lode_json_key_array(json, "reveals");
	for (size_t i = 0; i < step->count; i++)
		lode_json_text(json, lode_coverage_signature(report, curve->revealed[step->first + i])->name);
	lode_json_array_end(json);
	lode_json_object_end(json);
}

static void write_curves(struct lode_json *json, const struct lode_coverage_report *report)
{
	lode_json_key_object(json, "curves");
	for (int opening = 0; opening < LODE_OPENINGS; opening++) {
		const struct lode_opening_curve *curve = &report->coverage->curves[opening];

		if (opening == LODE_OPENING_RANDOM)
			continue;
		lode_json_key_array(json, lode_opening_name((enum lode_opening)opening));
		for (size_t i = 0; i < curve->count; i++)
			write_step(json, report, curve, &curve->steps[i]);
		lode_json_array_end(json);
	}
	lode_json_object_end(json);
}

static void write_levels(struct lode_json *json, const struct lode_coverage *coverage)
{
	lode_json_key_array(json, "levels");
	for (size_t i = 0; i < coverage->level_count; i++) {
		lode_json_object(json);
		write_share(json, coverage, "coverage", coverage->levels[i].cost);
		lode_json_key_u64(json, "cost_ns", coverage->levels[i].cost);
		for (int opening = 0; opening < LODE_OPENINGS; opening++)
			lode_json_key_double(json, lode_opening_name((enum lode_opening)opening),
					     coverage->levels[i].streams[opening]);
		lode_json_object_end(json);
	}
	lode_json_array_end(json);
	lode_json_key_object(json, "stackmine_share_of");
	for (int opening = LODE_OPENING_RANDOM; coverage->level_count && opening < LODE_OPENINGS; opening++)
		lode_json_key_double(json, lode_opening_name((enum lode_opening)opening), coverage->ratio[opening]);
	lode_json_object_end(json);
}

void lode_coverage_json(const struct lode_coverage_report *report, struct lode_buffer *buffer)
{
	const struct lode_coverage *coverage = report->coverage;
	struct lode_json json = { .buffer = buffer };

	lode_json_object(&json);
	lode_json_key_text(&json, "scope", lode_scope_name(report->area->scope));
	lode_json_key_text(&json, "whole", coverage->from_symptoms ? "symptoms" : "events");
	lode_json_key_u64(&json, "whole_ns", coverage->whole);
	lode_json_key_u64(&json, "streams", report->area->stream_count);
	lode_unread_streams_json(&report->area->unread, &json);
	write_share(&json, coverage, "coverage", coverage->cost);
	lode_json_key_u64(&json, "cost_ns", coverage->cost);
	lode_json_key_u64(&json, "events", coverage->events);
	lode_json_key_u64(&json, "ignored", coverage->ignored);
	write_items(&json, report);
	write_curves(&json, report);
	lode_json_key_u64(&json, "shuffles", coverage->shuffles);
	lode_json_key_bool(&json, "paper_order", coverage->paper_order);
	write_levels(&json, coverage);
	lode_json_object_end(&json);
	lode_json_line(&json);
}
