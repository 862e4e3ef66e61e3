/*
 * The options that `lode latency` and `lode diff` share: see latency_options.h.
 */
#include "cmd/latency_options.h"

#include "cmd/output_ending.h"
#include "cmd/streams.h"

#include "base/units.h"
#include "page/page.h"

#include <stdlib.h>
#include <string.h>

/* ---- how results are written ---- */

#define TOP 10

size_t lode_latency_top(const struct lode_latency_settings *settings)
{
	if (settings->top)
		return settings->top;
	return settings->all || settings->json ? 0 : TOP;
}

static const struct lode_latency_form *find_form(const struct lode_latency_form *forms,
						 const struct lode_latency_settings *settings)
{
	for (; forms->name; forms++)
		if (settings->format ? !strcmp(settings->format, forms->name)
				     : lode_ends_in(settings->output, forms->extension))
			return forms;
	return NULL;
}

int lode_latency_form(const struct lode_latency_form *forms, const struct lode_latency_settings *settings,
		      const struct lode_call *call, const struct lode_latency_form **form,
		      struct lode_error *error)
{
	const char *command = call->command->name;
	int json = settings->json || settings->page_data;

	*form = json && !settings->format ? NULL : find_form(forms, settings);
	if (*form && json)
		return lode_fail(error, LODE_USAGE,
				 "%s: '%s' and '--format' ask for two things at once; give one of them. "
				 "See 'lode help %s'.",
				 command, settings->page_data ? "--page-data" : "--json", command);
	if (*form && (*form)->binary && call->out.look.is_terminal &&
	    (!settings->output || !strcmp(settings->output, "-")))
		return lode_fail(error, LODE_USAGE,
				 "%s: %s is no text to be shown on a terminal; name a file with '-o FILE%s'. "
				 "See 'lode help %s'.",
				 command, (*form)->name, (*form)->extension, command);
	return *form && !strcmp((*form)->name, "html") ? lode_page_is_there(error) : 0;
}

int lode_latency_tree_min(const struct lode_latency_settings *settings, const char *command, uint64_t whole,
			  uint64_t *least, struct lode_error *error)
{
	const char *text = settings->tree_min ? settings->tree_min : "1%";
	char *rest;
	double share;

	if (!strchr(text, '%'))
		return lode_duration_parse_in("--tree-min", text, least, error);
	share = strtod(text, &rest);
	if (rest == text || strcmp(rest, "%") || !(share >= 0 && share <= 100))
		return lode_fail(error, LODE_USAGE,
				 "%s: '--tree-min' wants a share such as '0.5%%' or a time such as '30ms', "
				 "not '%s'. See 'lode help %s'.",
				 command, text, command);
	*least = (uint64_t)(share / 100 * (double)whole);
	return 0;
}

int lode_latency_rule(const struct lode_latency_settings *settings, const char *command,
		      enum lode_latency_rule *rule, struct lode_error *error)
{
	*rule = LODE_RULE_ESTIMATE;
	if (!settings->rule)
		return 0;
	if (!settings->mean)
		return lode_fail(error, LODE_USAGE,
				 "%s: '--rule' says which latency '--mean' takes; give '--mean', too. "
				 "See 'lode help %s'.",
				 command, command);
	while (strcmp(settings->rule, lode_latency_rule_name(*rule)) != 0)
		++*rule;
	return 0;
}

/* ---- reading ---- */

static int check_streams(struct lode_corpus *corpus, const struct lode_option_list *names,
			 struct lode_error *error)
{
	struct lode_corpus_list list = {0};
	int code = lode_corpus_streams(corpus, &list, error);

	if (!code)
		code = lode_streams_check(names, &list, lode_corpus_path(corpus), error);
	lode_corpus_list_release(&list);
	return code;
}

int lode_latency_open(struct lode_latency_reading *reading, const char *path,
		      const struct lode_latency_settings *settings, struct lode_work *work,
		      struct lode_error *error)
{
	int code;

	memset(reading, 0, sizeof(*reading));
	code = lode_corpus_open(&reading->corpus, path, LODE_CORPUS_READ, error);
	if (!code)
		code = lode_area_use_cache(reading->corpus, &settings->area, error);
	if (!code)
		code = check_streams(reading->corpus, &settings->streams, error);
	if (!code)
		code = lode_area_rules(reading->corpus, &settings->area, &reading->rules, error);
	reading->options = (struct lode_latency_options){
		.where = settings->area.where.items,
		.streams = settings->streams.items,
		.idle = settings->area.include_idle ? NULL : reading->rules,
		.include_work_waits = settings->area.include_work_waits,
		.aggressive_end = settings->aggressive_end,
		.jobs = (unsigned)settings->area.jobs,
		.notes = &work->notes,
		.progress = &work->bar.progress,
	};
	return code;
}

int lode_latency_read(struct lode_latency_reading *reading, const char *path,
		      const struct lode_latency_settings *settings, struct lode_work *work,
		      struct lode_error *error)
{
	int code = lode_latency_open(reading, path, settings, work, error);

	return code ? code
		    : lode_latency_collect(reading->corpus, &reading->options, &reading->latency, error);
}

void lode_latency_reading_release(struct lode_latency_reading *reading)
{
	lode_latency_release(&reading->latency);
	lode_idle_rules_free(reading->rules);
	lode_corpus_close(reading->corpus);
}
