/* The results that have a table of fields: see results.h. */
#include "result/results.h"

#include "result/annotate_report.h"
#include "result/bench_result.h"
#include "result/column_heads.h"
#include "result/coverage_report.h"
#include "result/diff_result.h"
#include "result/explain_result.h"
#include "result/fsck_report.h"
#include "result/gain_result.h"
#include "result/hunt_result.h"
#include "result/import_report.h"
#include "result/info_result.h"
#include "result/latency_result.h"
#include "result/mine_result.h"
#include "result/query_fields.h"
#include "result/record_report.h"
#include "result/scope_result.h"
#include "result/server_answers.h"
#include "result/signatures_report.h"
#include "result/symbolize_report.h"
#include "result/version_report.h"
#include "result/watch_report.h"

const struct lode_described_result lode_described_results[] = {
	{
		.name = "annotate",
		.title = "lode annotate --json, GET /api/annotate",
		.what = "The source of a function, or its instructions, with what each line costs.",
		.lines = { &lode_annotate_fields },
	},
	{
		.name = "bench",
		.title = "lode bench --json",
		.what = "How much longer one command takes than another.",
		.lines = { &lode_bench_fields },
	},
	{
		.name = "coverage",
		.title = "lode coverage --json, GET /api/coverage",
		.what = "How much of the delay signatures explain, and which streams to open first.",
		.lines = { &lode_coverage_fields },
	},
	{
		.name = "diff",
		.title = "lode diff --json, GET /api/diff",
		.what = "What makes slow streams slow, against good ones.",
		.lines = { &lode_diff_fields },
	},
	{
		.name = "error",
		.title = "GET /api/… with a status from 400 on",
		.what = "Why there is no result.",
		.lines = { &lode_error_answer_fields },
	},
	{
		.name = "explain",
		.title = "lode explain --json, GET /api/explain",
		.what = "Why some runs are slow and others not: functions of x, and a tree that says which row "
			"follows which.",
		.lines = { &lode_explain_fields },
	},
	{
		.name = "fsck",
		.title = "lode fsck --json",
		.what = "What was checked.",
		.lines = { &lode_fsck_fields },
	},
	{
		.name = "hunt",
		.title = "a line of lode hunt --json",
		.what = "A change of an experiment; the last line is the summary.",
		.lines = { &lode_hunt_experiment_fields, &lode_hunt_summary_fields },
		.line_what = { "An experiment.", "The summary." },
	},
	{
		.name = "hunt-state",
		.title = "/api/hunt of lode hunt --serve",
		.what = "The search as it is now; the same is in the page of lode hunt -o.",
		.lines = { &lode_hunt_state_fields },
	},
	{
		.name = "import",
		.title = "lode import --json",
		.what = "What was read.",
		.lines = { &lode_import_fields },
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
		.title = "lode mine --json, GET /api/findings, GET /api/mine, GET /api/mine-run",
		.what = "Clusters of call-stack patterns that cost the most time.",
		.lines = { &lode_mine_fields },
	},
	{
		.name = "mine-compare",
		.title = "lode mine --against --json",
		.what = "Clusters of two corpora side by side.",
		.lines = { &lode_compare_fields },
	},
	{
		.name = "mine-events",
		.title = "a line of lode mine --show --json",
		.what = "One event of a pattern or a cluster.",
		.lines = { &lode_mine_event_fields },
	},
	{
		.name = "profile",
		.title = "the head of GET /api/profile",
		.what = "The stack tree of a corpus with its costs; columns node_parent, node_frame, run, wait, "
			"work, idle.",
		.lines = { &lode_profile_fields },
	},
	{
		.name = "progress",
		.title = "GET /api/… with status 202",
		.what = "The analysis is running; ask again.",
		.lines = { &lode_progress_answer_fields },
	},
	{
		.name = "query",
		.title = "lode query --json, GET /api/query",
		.what = "The result of an SQL statement.",
		.lines = { &lode_query_fields },
	},
	{
		.name = "record",
		.title = "lode record --json",
		.what = "What was recorded.",
		.lines = { &lode_record_fields },
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
	{
		.name = "scope-gain",
		.title = "lode scope --without PATTERN --json",
		.what = "How much earlier symptoms would end without the events of a pattern.",
		.lines = { &lode_gain_fields },
	},
	{
		.name = "signatures",
		.title = "lode signatures --json",
		.what = "Signatures and where they match.",
		.lines = { &lode_signatures_fields },
	},
	{
		.name = "stream",
		.title = "the head of GET /api/stream/ID",
		.what = "The events of a stream in columns (docs/api.md lists them).",
		.lines = { &lode_stream_fields },
	},
	{
		.name = "symbolize",
		.title = "a line of lode symbolize --json",
		.what = "What was named in a stream.",
		.lines = { &lode_symbolize_fields },
	},
	{
		.name = "symbols",
		.title = "GET and POST /v1/symbols",
		.what = "Which symbols of programs a corpus has.",
		.lines = { &lode_symbols_answer_fields },
	},
	{
		.name = "upload",
		.title = "POST /v1/streams",
		.what = "What an upload became.",
		.lines = { &lode_upload_answer_fields },
	},
	{
		.name = "version",
		.title = "lode version --json",
		.what = "The version and what is built in.",
		.lines = { &lode_version_fields },
	},
	{
		.name = "watch",
		.title = "a line of lode watch --json",
		.what = "A stream that was saved; the last line is the summary.",
		.lines = { &lode_watch_stream_fields, &lode_watch_fields },
		.line_what = { "A stream.", "The summary." },
	},
};
const size_t lode_described_result_count = sizeof(lode_described_results) / sizeof(lode_described_results[0]);
