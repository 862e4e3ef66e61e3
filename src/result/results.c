/* The results that have a table of fields: see results.h. */
#include "result/results.h"

#include "result/diff_result.h"
#include "result/info_result.h"
#include "result/latency_result.h"
#include "result/mine_result.h"
#include "result/scope_result.h"

const struct lode_described_result lode_described_results[] = {
	{
		.name = "diff",
		.title = "lode diff --json, GET /api/diff",
		.what = "What makes slow streams slow, against good ones.",
		.lines = { &lode_diff_fields },
	},
	{
		.name = "info",
		.title = "lode info --json, GET /api/info",
		.what = "What is in a corpus or a stream file.",
		.lines = { &lode_info_fields },
	},
	{
		.name = "latency",
		.title = "lode latency --json, GET /api/latency",
		.what = "Latencies of functions in their calling contexts, inferred from stacks.",
		.lines = { &lode_latency_fields },
	},
	{
		.name = "latency-instances",
		.title = "a line of lode latency --instances --json",
		.what = "One call that was inferred.",
		.lines = { &lode_latency_call_fields },
	},
	{
		.name = "mine",
		.title = "lode mine --json, GET /api/mine, GET /api/mine-run",
		.what = "Clusters of call-stack patterns that cost the most time.",
		.lines = { &lode_mine_fields },
	},
	{
		.name = "scope",
		.title = "a line of lode scope --json, GET /api/scope",
		.what = "What kept a thread from being done earlier: one symptom.",
		.lines = { &lode_scope_fields },
	},
	{
		.name = "scope-page",
		.title = "GET /api/scope?page-data",
		.what = "The longest symptoms of a corpus, for the page.",
		.lines = { &lode_scope_page_fields },
	},
};
const size_t lode_described_result_count = sizeof(lode_described_results) / sizeof(lode_described_results[0]);
