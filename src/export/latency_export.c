/*
 * Inferred latencies for the viewers of profiles: sums of contexts as folded stacks and
 * as a pprof profile, differences as folded stacks in two columns. Calls on a timeline
 * are written by the exporters (export.h, the option `inferred`).
 */
#include "export/folded_lines.h"
#include "export/latency_export.h"
#include "export/pprof_profile.h"

#include "base/memory.h"

#include <string.h>

/* ---- folded ---- */

static int write_folded(const struct lode_folded_table *table, struct lode_output *output,
			struct lode_notes *notes, struct lode_error *error)
{
	struct lode_folded_texts texts = { 0 };
	int code = lode_folded_texts_add(&texts, &table->dictionary->frames, error);

	if (!code)
		code = lode_folded_write(table, &texts, output, notes, error);
	lode_folded_texts_report(&texts, notes);
	lode_folded_texts_release(&texts);
	return code;
}

int lode_latency_folded(const struct lode_latency_report *report, struct lode_output *output,
			struct lode_notes *notes, struct lode_error *error)
{
	const struct lode_latency *latency = report->latency;
	uint8_t *wanted = lode_calloc(latency->node_count, 1);
	struct lode_folded_table table = {
		.dictionary = &latency->dictionary,
		.columns = { latency->own },
		.column_count = 1,
		.wanted = wanted,
		.node_count = latency->node_count,
	};
	int code;

	if (!wanted)
		return lode_fail_memory(error);
	for (size_t i = 0; i < report->contexts->count; i++)
		wanted[report->contexts->nodes[i]] = latency->own[report->contexts->nodes[i]] > 0;
	code = write_folded(&table, output, notes, error);
	lode_free(wanted);
	return code;
}

int lode_diff_folded(const struct lode_diff_report *report, struct lode_output *output, struct lode_notes *notes,
		     struct lode_error *error)
{
	const struct lode_diff *diff = report->diff;
	size_t nodes = diff->dictionary->tree.count;
	uint8_t *wanted = lode_calloc(nodes, 1);
	struct lode_folded_table table = {
		.dictionary = diff->dictionary,
		.columns = { diff->base, diff->slow },
		.column_count = 2,
		.wanted = wanted,
		.node_count = nodes,
	};
	int code;

	if (!wanted)
		return lode_fail_memory(error);
	for (size_t i = 1; i < nodes; i++)
		wanted[i] = (diff->base[i] || diff->slow[i]) && (!report->fits || report->fits[i]);
	code = write_folded(&table, output, notes, error);
	lode_free(wanted);
	return code;
}

/* ---- pprof ---- */

enum text { TEXT_CALLS, TEXT_COUNT, TEXT_LATENCY, TEXT_IDLE, TEXT_NANOSECONDS, TEXTS };

/* By node: idle waits of its own, without those below it. NULL when memory has run out. */
static uint64_t *own_idle(const struct lode_latency *latency)
{
	const struct lode_stack_tree *tree = &latency->dictionary.tree;
	uint64_t *idle = lode_calloc(latency->node_count, sizeof(*idle));

	for (size_t i = 1; idle && i < latency->node_count; i++)
		idle[i] = latency->nodes[i].idle;
	for (size_t i = 1; idle && i < latency->node_count; i++) {
		uint32_t parent = tree->nodes[i].parent;
		uint64_t below = latency->nodes[i].idle;

		idle[parent] = idle[parent] > below ? idle[parent] - below : 0;
	}
	return idle;
}

static int write_types(struct lode_pprof *pprof, const uint32_t *strings, struct lode_error *error)
{
	static const enum text types[][2] = {
		{ TEXT_CALLS, TEXT_COUNT },
		{ TEXT_LATENCY, TEXT_NANOSECONDS },
		{ TEXT_IDLE, TEXT_NANOSECONDS },
	};
	int code = 0;

	for (size_t i = 0; !code && i < sizeof(types) / sizeof(types[0]); i++)
		code = lode_pprof_value_type(pprof, LODE_PPROF_PROFILE_SAMPLE_TYPE, strings[types[i][0]],
					     strings[types[i][1]], error);
	lode_pprof_number(&pprof->plain, LODE_PPROF_PROFILE_DEFAULT_TYPE, strings[TEXT_LATENCY]);
	return code;
}

static int write_profile(struct lode_pprof *pprof, const struct lode_latency *latency,
			 const struct lode_contexts *contexts, const uint32_t *strings, struct lode_error *error)
{
	uint64_t *idle = own_idle(latency);
	int code = idle ? write_types(pprof, strings, error) : lode_fail_memory(error);

	for (size_t i = 0; !code && i < contexts->count; i++) {
		uint32_t node = contexts->nodes[i];
		uint64_t values[] = { latency->nodes[node].count, latency->own[node], idle[node] };

		lode_pprof_sample(pprof, node, values, sizeof(values) / sizeof(values[0]));
		code = lode_pprof_message(pprof, LODE_PPROF_PROFILE_SAMPLE, error);
	}
	lode_free(idle);
	return code ? code : lode_pprof_finish(pprof, error);
}

int lode_latency_pprof(struct lode_latency *latency, const struct lode_contexts *contexts,
		       struct lode_output *output, struct lode_error *error)
{
	static const char *const texts[TEXTS] = { "calls", "count", "latency", "idle", "nanoseconds" };
	struct lode_pprof pprof;
	uint32_t strings[TEXTS];
	int code = lode_pprof_open(&pprof, output, &latency->dictionary, error);

	for (int i = 0; !code && i < TEXTS; i++) {
		strings[i] = lode_strings_add(&latency->dictionary.frames.strings, texts[i], strlen(texts[i]));
		if (strings[i] == LODE_NONE)
			code = lode_fail_memory(error);
	}
	if (!code)
		code = write_profile(&pprof, latency, contexts, strings, error);
	lode_pprof_release(&pprof);
	return code;
}
