/*
 * lode query: SQL over the streams of corpora (query/query.h).
 */
#include "query/query_print.h"

#include "base/units.h"
#include "tasks/analysis.h"
#include "tasks/inner_call.h"
#include "tasks/query_prompt.h"
#include "tasks/source.h"

#include <string.h>
#include <unistd.h>

extern const struct lode_command lode_command_mine, lode_command_scope, lode_command_signatures;

struct settings {
	struct lode_area_settings area; /* of which the cache, jobs and strict are options */
	struct lode_result_settings result;
	const char *sql;
	int interactive;
	int csv;
	int folded;
	uint64_t max_rows;
	uint64_t max_time;
	const char *max_memory;
};

#define FIELD(field) offsetof(struct settings, field)
#define AREA(field)  LODE_AREA_FIELD(FIELD(area), field)

LODE_CHOICES(format_choice, "csv", "folded", "columns")

static const struct lode_option options[] = {
	LODE_TEXT("sql", 0, FIELD(sql), "SQL", "the statement, instead of the last argument"),
	LODE_FLAG("interactive", 'i', FIELD(interactive), "ask for statements, or read them from standard input"),
	LODE_FLAG("csv", 0, FIELD(csv), "write CSV"),
	LODE_FLAG("folded", 0, FIELD(folded), "write folded stacks: the result has a stack and a number"),
	LODE_FLAG("json", 0, FIELD(result.json), "write JSON"),
	LODE_CHOICE("format", 0, FIELD(result.format), "FORMAT", "the same as --csv or --folded; columns: binary",
		    format_choice),
	LODE_TEXT("output", 'o', FIELD(result.output), "FILE",
		  "write to FILE instead of standard output; .csv, .folded and .json decide the format"),
	LODE_NUMBER("max-rows", 'n', FIELD(max_rows), "N", "stop after N rows", 1, 0),
	LODE_SOME_DURATION("max-time", 0, FIELD(max_time), "TIME", "stop after this time"),
	LODE_TEXT("max-memory", 0, FIELD(max_memory), "SIZE", "what sorting may use (default: 1GB)"),
	LODE_JOBS_OPTION(AREA(jobs)),
	LODE_FLAG("no-cache", 0, AREA(no_cache), "make sums again, and cache nothing for the next run"),
	LODE_FLAG("strict", 0, AREA(strict),
		  "fail if a stream is missing or its names and stacks are damaged, instead of skipping it"),
	LODE_NO_MORE_OPTIONS,
};

/* ---- the query ---- */

struct asking {
	struct lode_analysis *analysis;
	struct lode_source source;
	struct lode_corpus_list list;
	struct lode_query *query;
	char *const *corpora;
	size_t corpus_count;
	const char *sql;
};

/* Runs an analysis of the same corpora for the tables that show its result. */
static int make_analysis(void *context, const char *name, const struct lode_progress *progress,
			 struct lode_buffer *json, struct lode_error *error)
{
	static const struct lode_command *const commands[] = { &lode_command_mine, &lode_command_scope,
							       &lode_command_signatures };
	const struct asking *asking = context;
	char **words = lode_calloc(asking->corpus_count + 3, sizeof(*words));
	static char as_json[] = "--json", end[] = "--";
	int code = 0;

	if (!words)
		return lode_fail_memory(error);
	words[0] = as_json;
	words[1] = end;
	memcpy(words + 2, asking->corpora, asking->corpus_count * sizeof(*words));
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i]->name, name))
			code = lode_call_inner(asking->analysis->call, commands[i], asking->corpus_count + 2,
					       words, progress, json, error);
	lode_free(words);
	return code;
}

static int open_query(struct asking *asking, struct lode_error *error)
{
	const struct settings *settings = asking->analysis->call->settings;
	struct lode_query_options how = {
		.time = settings->max_time,
		.jobs = (unsigned)settings->area.jobs,
		.strict = settings->area.strict,
		.own_process = !asking->analysis->call->host->collects,
		.progress = asking->analysis->work.progress,
		.notes = &asking->analysis->work.notes,
		.analyses = { make_analysis, asking },
	};
	int code = settings->max_memory ? lode_bytes_parse(settings->max_memory, &how.memory, error) : 0;

	if (!code)
		code = lode_source_open(&asking->source, asking->corpora, asking->corpus_count, &settings->area,
					asking->analysis->call->host, error);
	if (!code)
		code = lode_corpus_streams(asking->source.corpus, &asking->list, error);
	return code ? code : lode_query_open(&asking->query, asking->source.corpus, &asking->list, &how, error);
}

static void close_query(struct asking *asking)
{
	lode_query_close(asking->query);
	lode_corpus_list_release(&asking->list);
	lode_source_close(&asking->source);
}

/* ---- forms ---- */

static int print(struct lode_analysis *analysis, struct asking *asking, enum lode_query_form form,
		 struct lode_output *output, struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	struct lode_query_printing printing = {
		.query = asking->query,
		.form = form,
		.max_rows = settings->max_rows,
		.bold = lode_style(&analysis->look, LODE_BOLD),
		.plain = lode_style(&analysis->look, LODE_PLAIN),
	};
	int code = lode_query_print(&printing, asking->sql, output, error);

	if (!code && printing.cut && form != LODE_QUERY_TABLE && !analysis->call->quiet)
		lode_call_say(analysis->call, LODE_YELLOW, "the result was cut after %llu row%s (--max-rows)",
			      (unsigned long long)printing.rows, lode_plural(printing.rows));
	return code;
}

#define FORM(name, form)                                                                                          \
	static int name(struct lode_analysis *analysis, void *result, struct lode_output *output,                 \
			struct lode_error *error)                                                                 \
	{                                                                                                         \
		return print(analysis, result, form, output, error);                                              \
	}

FORM(write_table, LODE_QUERY_TABLE)
FORM(write_json, LODE_QUERY_JSON)
FORM(write_csv, LODE_QUERY_CSV)
FORM(write_folded, LODE_QUERY_FOLDED)
FORM(write_columns, LODE_QUERY_COLUMNS)

static const struct lode_form forms[] = {
	{ .name = "text", .kind = LODE_FORM_TEXT, .write = write_table },
	{ .name = "json", .kind = LODE_FORM_JSON, .flows = 1, .write = write_json },
	{ .name = "csv", .extension = ".csv", .kind = LODE_FORM_OTHER, .flows = 1, .write = write_csv },
	{ .name = "folded", .extension = ".folded", .kind = LODE_FORM_OTHER, .flows = 1, .write = write_folded },
	{ .name = "columns", .extension = ".columns", .kind = LODE_FORM_OTHER, .binary = 1, .write = write_columns },
	{ .name = NULL },
};

/* ---- the command ---- */

/* Each is run by the golden test query-examples. */
#define EXAMPLES                                                                                                  \
	"  # which functions use the CPU\n"                                                                       \
	"  lode query corpus \"SELECT leaf(stack) AS function, sum(cost) AS ns FROM sums\n"                       \
	"    WHERE kind = 'run' GROUP BY function ORDER BY ns DESC LIMIT 10\"\n"                                  \
	"  # which functions use it together with what they call\n"                                               \
	"  lode query corpus \"SELECT name, sum(cost) AS ns FROM (SELECT DISTINCT\n"                              \
	"    sums.stream, thread, sums.stack, cost, name FROM sums, frames_of(sums.stack)\n"                      \
	"    WHERE kind = 'run') GROUP BY name ORDER BY ns DESC LIMIT 10\"\n"                                     \
	"  # what threads wait for, how often, and how long at the worst\n"                                       \
	"  lode query corpus \"SELECT object, count(*) AS waits, quantile(cost, 0.99)\n"                          \
	"    AS p99, sum(cost * weight) AS ns FROM events WHERE type = 'wait'\n"                                  \
	"    GROUP BY object ORDER BY ns DESC\"\n"                                                                \
	"  # who wakes whom\n"                                                                                    \
	"  lode query corpus \"SELECT w.name AS waker, t.name AS woken, count(*) AS waits\n"                      \
	"    FROM events e JOIN threads t USING (thread) JOIN threads w\n"                                        \
	"    ON w.thread = e.waker GROUP BY 1, 2 ORDER BY waits DESC\"\n"                                         \
	"  # is a version slower? attributes are columns of streams\n"                                            \
	"  lode query corpus \"SELECT version, count(*) AS streams,\n"                                            \
	"    avg(wait_ns) / 1e6 AS wait_ms FROM streams GROUP BY version\"\n"                                     \
	"  # what ran on other threads while the ui thread waited for a lock\n"                                   \
	"  lode query corpus \"SELECT leaf(r.stack) AS function, sum(r.cost) AS ns\n"                             \
	"    FROM events w JOIN threads USING (thread) JOIN events r\n"                                           \
	"    ON r.stream = w.stream AND r.t BETWEEN w.t AND w.until\n"                                            \
	"    WHERE threads.name = 'ui' AND has_frame(w.stack, '*lock*')\n"                                        \
	"    AND w.type = 'wait' AND r.type = 'run' GROUP BY function ORDER BY ns DESC\"\n"                       \
	"  # how waiting developed, in slices of 100 ms\n"                                                        \
	"  lode query corpus \"SELECT t / 100000000 AS slice, sum(cost) AS ns\n"                                  \
	"    FROM events WHERE type = 'wait' GROUP BY slice\" --csv\n"                                            \
	"  # which system calls are made, and from where\n"                                                       \
	"  lode query corpus \"SELECT e.name, leaf(stack) AS function, count(*) AS calls\n"                       \
	"    FROM events e WHERE type = 'call' GROUP BY 1, 2 ORDER BY calls DESC\"\n"                             \
	"  # what made users wait: critical paths of all symptoms\n"                                              \
	"  lode query corpus \"SELECT type, object, leaf(stack) AS function,\n"                                   \
	"    sum(cost) AS ns FROM critical_path GROUP BY 1, 2, 3 ORDER BY ns DESC\"\n"                            \
	"  # a flame graph of the waits of one thread\n"                                                          \
	"  lode query corpus \"SELECT stack, sum(cost) FROM sums JOIN threads\n"                                  \
	"    USING (thread) WHERE name = 'ui' AND kind = 'wait' GROUP BY stack\" --folded\n"

/* Whether a single word is more likely a statement than a corpus: all statements have blanks, and no file is called so. */
static int is_statement(const char *word)
{
	return strpbrk(word, " \t\n") && access(word, F_OK) < 0;
}

/* The last operand is the statement, unless an option has it. */
static int find_statement(struct asking *asking, const struct lode_call *call, struct lode_error *error)
{
	const struct settings *settings = call->settings;

	asking->corpora = call->operands;
	asking->corpus_count = call->operand_count;
	asking->sql = settings->sql;
	if (asking->sql && settings->interactive)
		return lode_fail(
			error, LODE_USAGE,
			"query: '--sql' and '-i' contradict each other; give one of them. See 'lode help query'.");
	if (asking->sql || settings->interactive)
		return 0;
	if (call->operand_count < 2)
		return lode_fail(error, LODE_USAGE,
				 "query: the %s is missing; usage: 'lode query %s'. See 'lode help query'.",
				 is_statement(call->operands[0]) ? "corpus" : "statement", call->command->usage);
	asking->sql = call->operands[--asking->corpus_count];
	return 0;
}

static int prompt(struct asking *asking, struct lode_error *error)
{
	struct lode_analysis *analysis = asking->analysis;
	const struct settings *settings = analysis->call->settings;
	struct lode_query_printing printing = {
		.query = asking->query,
		.form = settings->csv      ? LODE_QUERY_CSV
			: settings->folded ? LODE_QUERY_FOLDED
					   : LODE_QUERY_TABLE,
		.max_rows = settings->max_rows,
		.bold = lode_style(&analysis->look, LODE_BOLD),
		.plain = lode_style(&analysis->look, LODE_PLAIN),
	};

	if (settings->result.json)
		printing.form = LODE_QUERY_JSON;
	return lode_query_prompt(&printing, &analysis->work, error);
}

static int ask(struct lode_analysis *analysis, struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	struct asking asking = { .analysis = analysis };
	int code = find_statement(&asking, analysis->call, error);

	if (code)
		return code;
	code = open_query(&asking, error);
	if (!code && settings->interactive)
		code = prompt(&asking, error);
	else if (!code)
		code = lode_analysis_write(analysis, &asking, error);
	close_query(&asking);
	return code;
}

static const struct lode_analysis_command analysis = {
	.result = FIELD(result),
	.hold = LODE_HOLD_FILES,
	.forms = forms,
	.make = ask,
};

static int run(struct lode_call *call, struct lode_error *error)
{
	struct settings *settings = call->settings;

	if ((settings->csv && settings->folded) || ((settings->csv || settings->folded) && settings->result.format))
		return lode_fail(
			error, LODE_USAGE,
			"query: '--csv', '--folded' and '--format' contradict each other; give one of them. "
			"See 'lode help query'.");
	if (settings->csv || settings->folded)
		settings->result.format = settings->csv ? "csv" : "folded";
	return lode_analysis_run(call, error);
}

const struct lode_command lode_command_query = {
	.name = "query",
	.summary = "ask anything, in SQL",
	.usage = "[OPTIONS] CORPUS... SQL",
	.about = "Runs an SQL statement over the streams of CORPUS, which are read where they are. Tables are "
		 "streams, attributes, events, sums, threads, frames, stacks, symptoms, critical_path, patterns, "
		 "clusters and signatures; 'SELECT * FROM tables' describes their columns. Times are "
		 "nanoseconds.\n\n"
		 "Stacks are numbers: text(stack) shows one, leaf(stack) and root(stack) one of its frames, "
		 "depth(stack) counts them, frames_of(stack) is a table of them, and has_frame(stack, 'GLOB') "
		 "finds "
		 "functions. quantile(x, 0.99) and flame(stack, cost) are aggregates. A statement can only read. "
		 "Sums are cached, so questions about them are quick.",
	.examples = EXAMPLES,
	.options = options,
	.settings_size = sizeof(struct settings),
	.least_operands = 1,
	.most_operands = SIZE_MAX,
	.operand = "CORPUS",
	.analysis = &analysis,
	.run = run,
};
