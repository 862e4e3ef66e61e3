/*
 * lode explain: why some runs are slow and others not. Reads a table, or makes one of a
 * corpus, explains it (src/explain/) and shows it (explain_forms.c).
 */
#include "base/memory.h"
#include "tasks/explain_options.h"
#include "tasks/source.h"
#include "explain/rate_columns.h"
#include "explain/table/table_read.h"
#include "text/explain_text.h"
#include "store/corpus_names.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Explains by lines and, where no column says which row follows which of them, by all kinds of functions: a parabola, cut
 * into lines, looks like several. Unless the caller asks for a kind, since the others take ten times as long.
 */
static int explain_by_some(const struct lode_explain_input *input, const struct lode_explain_options *how,
			   int may_choose, struct lode_explanation *explanation, struct lode_error *error)
{
	struct lode_explain_options other = *how;
	struct lode_explanation found;
	int code = lode_explain(input, how, explanation, error);

	if (code < 0 || explanation->explained || !may_choose)
		return code;
	other.family = LODE_FAMILY_AUTO;
	/* Its notes would say the same again. */
	other.notes = NULL;
	code = lode_explain(input, &other, &found, error);
	if (code < 0) {
		lode_explanation_release(explanation);
		return code;
	}
	lode_explanation_release(found.explained ? explanation : &found);
	if (found.explained)
		*explanation = found;
	return 0;
}

/* Nats: a description by rates is worth having if it is shorter by so much, since it is a second try. */
#define RATES_SAVE 5

/* Whether amounts left something to explain. */
static int is_unexplained(const struct lode_explanation *explanation)
{
	return !explanation->explained || explanation->clusters < 2 || explanation->agreement < 0.9;
}

/* Whether what rates found says more. */
static int says_more(const struct lode_explanation *rates, const struct lode_explanation *amounts)
{
	return rates->explained && rates->clusters > 1 &&
	       (!amounts->explained || rates->length < amounts->length - RATES_SAVE);
}

/* The same by rates (rate_columns.h) where amounts do not explain it; `input` then has these. */
static int explain_by_rates(struct lode_explain_input *input, struct lode_data_table *table,
			    const struct lode_explain_options *how, struct lode_explanation *explanation,
			    struct lode_error *error)
{
	struct lode_explain_options other = *how;
	struct lode_explain_input rates;
	struct lode_explanation found;
	int code;

	if (how->clusters || how->smallest || !is_unexplained(explanation) || !lode_explain_has_rates(input))
		return 0;
	other.notes = NULL;
	code = lode_explain_add_rates(input, table, &rates, error);
	if (code < 0)
		return code;
	code = lode_explain(&rates, &other, &found, error);
	if (code == 0 && says_more(&found, explanation)) {
		lode_free(input->auxiliary);
		lode_explanation_release(explanation);
		*input = rates;
		*explanation = found;
		return 0;
	}
	if (code == 0)
		lode_explanation_release(&found);
	lode_free(rates.auxiliary);
	return code;
}

static int explain_best(struct lode_explain_input *input, struct lode_data_table *table,
			const struct lode_explain_options *how, int may_choose,
			struct lode_explanation *explanation, struct lode_error *error)
{
	int code = explain_by_some(input, how, may_choose, explanation, error);

	if (code == 0) {
		code = explain_by_rates(input, table, how, explanation, error);
		if (code < 0)
			lode_explanation_release(explanation);
	}
	return code;
}

/* Explains and writes it; input->auxiliary is freed. `area`: of a corpus, else NULL. Exit status 1 where a bound was broken. */
static int explain_input(struct lode_analysis *analysis, struct lode_explain_input *input,
			 struct lode_data_table *table, const struct lode_area *area,
			 const struct lode_explain_options *how, struct lode_error *error)
{
	const struct lode_explain_settings *settings = analysis->call->settings;
	struct lode_explanation explanation;
	struct lode_explain_report report = {
		.input = input,
		.explanation = &explanation,
		.area = area,
		.width = analysis->look.width,
		.ascii = !analysis->look.utf8,
	};
	int code = explain_best(input, table, how, !settings->functions, &explanation, error);

	if (code == 0) {
		analysis->title = input->name;
		code = lode_analysis_write(analysis, &report, error);
		if (code == 0 && !explanation.within) {
			struct lode_buffer warning = { 0 };

			lode_explain_warning(&explanation, how, &warning);
			lode_call_say(analysis->call, LODE_YELLOW, "%s",
				      warning.failed ? "the bound is broken" : warning.bytes);
			lode_buffer_release(&warning);
			code = LODE_FOUND;
		}
		lode_explanation_release(&explanation);
	}
	lode_free(input->auxiliary);
	return code;
}

static int explain_table(struct lode_analysis *analysis, const struct lode_explain_options *how,
			 struct lode_error *error)
{
	const struct lode_explain_settings *settings = analysis->call->settings;
	const char *path = analysis->call->operands[0];
	struct lode_explain_input input;
	struct lode_data_table table;
	int code = lode_data_table_load(&table, path, error);

	if (code < 0)
		return code;
	code = lode_explain_columns(&input, &table, path, settings->x, settings->y, error);
	if (code == 0)
		code = explain_input(analysis, &input, &table, NULL, how, error);
	lode_data_table_release(&table);
	return code;
}

static int explain_corpus(struct lode_analysis *analysis, const struct lode_explain_options *how,
			  struct lode_error *error)
{
	const struct lode_explain_settings *settings = analysis->call->settings;
	struct lode_area_settings where;
	struct lode_corpus_table_options rows = lode_explain_corpus_rows(settings, &where);
	struct lode_area_reading reading = { 0 };
	struct lode_explain_input input;
	struct lode_data_table table;
	struct lode_source source;
	int code = lode_source_operands(&source, analysis->call, &settings->area, error);

	rows.idle = settings->area.include_idle ? NULL : source.rules;
	rows.notes = &analysis->work.notes;
	rows.progress = analysis->work.progress;
	if (code == 0)
		code = lode_source_area(&source, &where, 0, &analysis->work, &reading, error);
	if (code == 0)
		code = lode_corpus_table_make(source.corpus, &reading.area, &rows, &table, &input, error);
	lode_work_pause(&analysis->work);
	if (code == 0) {
		code = explain_input(analysis, &input, &table, &reading.area, how, error);
		lode_data_table_release(&table);
	}
	lode_area_reading_release(&reading);
	lode_source_close(&source);
	return code;
}

/* A table or a corpus that is not there is wrong input in either case. */
static int look_at(const char *path, int *is_folder, struct lode_error *error)
{
	struct stat status;
	int found = !stat(path, &status);

	*is_folder = (found && S_ISDIR(status.st_mode)) || (!found && lode_corpus_name_is_list(path));
	if (*is_folder)
		return 0;
	if (found || errno != ENOENT || !strcmp(path, "-"))
		return 0;
	return lode_fail(error, LODE_BAD_INPUT, "%s: cannot be read: %s; name a table or a corpus", path,
			 strerror(errno));
}

static int explain(struct lode_analysis *analysis, struct lode_error *error)
{
	const struct lode_call *call = analysis->call;
	struct lode_explain_options how;
	int is_corpus;
	int code = look_at(call->operands[0], &is_corpus, error);

	lode_explain_defaults(&how);
	how.notes = &analysis->work.notes;
	if (code == 0 && !is_corpus && call->operand_count > 1)
		code = lode_fail(error, LODE_USAGE,
				 "explain: '%s' is a table, and only corpora are joined; name one table. "
				 "See 'lode help explain'.",
				 call->operands[0]);
	if (code == 0)
		code = lode_explain_settle(call->settings, is_corpus, &how, error);
	if (code < 0)
		return code;
	return is_corpus ? explain_corpus(analysis, &how, error) : explain_table(analysis, &how, error);
}

static const struct lode_analysis_command analysis = {
	.result = offsetof(struct lode_explain_settings, result),
	.memory = offsetof(struct lode_explain_settings, area.memory),
	.forms = lode_explain_forms,
	.make = explain,
};

const struct lode_command lode_command_explain = {
	.name = "explain",
	.summary = "explain why some runs are slow and others not",
	.usage = "[OPTIONS] --x A,B [--y C] TABLE|CORPUS...",
	.about = "TABLE (CSV or ARFF, compressed or not) has a row for each run; in CORPUS, each stream is a run. "
		 "Finds the few functions of x that y follows, and a small tree over all other columns, or over "
		 "the functions that were called, that says which runs follow which.",
	.examples = "  lode explain runs.csv --x size --y time\n"
		    "  lode explain runs.csv.gz --x size,depth --y time --clusters 3 --functions auto\n"
		    "  lode explain runs.arff --x size --y time -o runs.svg\n"
		    "  lode explain corpus --x size\n"
		    "  lode explain corpus --x size --y time_ms --features patterns\n",
	.options = lode_explain_table,
	.settings_size = sizeof(struct lode_explain_settings),
	.least_operands = 1,
	.most_operands = SIZE_MAX,
	.operand = "TABLE|CORPUS",
	.analysis = &analysis,
	.run = lode_analysis_run,
};
