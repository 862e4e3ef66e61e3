/* The harness of the analyses: see analysis.h. */
#include "tasks/analysis.h"

#include "tasks/memory_limit.h"
#include "tasks/output_ending.h"
#include "tasks/result_output.h"
#include "page/page.h"

#include <string.h>

/* ---- forms ---- */

/* The i-th that has its own name. */
static const struct lode_form *own_form(const struct lode_form *forms, size_t i)
{
	for (; forms->name; forms++)
		if (forms->kind >= LODE_FORM_PAGE && !i--)
			return forms;
	return NULL;
}

const char *lode_form_name(const struct lode_form *forms, size_t i)
{
	const struct lode_form *form = own_form(forms, i);

	return form ? form->name : NULL;
}

static const struct lode_form *forms_of(const struct lode_analysis_command *command, const void *settings)
{
	return command->forms_of ? command->forms_of(settings) : command->forms;
}

const char *lode_analysis_ending(const struct lode_analysis_command *command, const void *settings, size_t i)
{
	const struct lode_form *form = own_form(forms_of(command, settings), i);

	return form ? form->extension : NULL;
}

static const struct lode_form *find_kind(const struct lode_form *forms, enum lode_form_kind kind)
{
	while (forms->name && forms->kind != kind)
		forms++;
	return forms->name ? forms : NULL;
}

static const struct lode_form *find_form(const struct lode_form *forms, const struct lode_result_settings *settings)
{
	const struct lode_form *form = NULL;

	if (!settings->format && settings->page_data)
		form = find_kind(forms, LODE_FORM_PAGE);
	else if (!settings->format && settings->json)
		form = find_kind(forms, LODE_FORM_JSON);
	if (form)
		return form;
	for (size_t i = 0; (form = own_form(forms, i)); i++)
		if (settings->format ? !strcmp(settings->format, form->name)
				     : form->extension && lode_ends_in(settings->output, form->extension))
			return form;
	return find_kind(forms, LODE_FORM_TEXT);
}

static int check_form(const struct lode_analysis *analysis, struct lode_error *error)
{
	const struct lode_result_settings *settings = analysis->settings;
	const char *command = analysis->call->command->name;
	const struct lode_form *form = analysis->form;

	if (settings->format && (settings->json || settings->page_data))
		return lode_fail(error, LODE_USAGE,
				 "%s: '%s' and '--format' contradict each other; give one of them. "
				 "See 'lode help %s'.",
				 command, settings->page_data ? "--page-data" : "--json", command);
	if (form->binary && analysis->call->out.look.is_terminal &&
	    (!settings->output || !strcmp(settings->output, "-")))
		return lode_fail(error, LODE_USAGE,
				 "%s: %s is binary and not for a terminal; name a file with '-o FILE%s'. "
				 "See 'lode help %s'.",
				 command, form->name, form->extension, command);
	return form->kind == LODE_FORM_PAGE && !settings->page_data ? lode_page_is_there(error) : 0;
}

/* ---- the whole ---- */

int lode_analysis_turn(struct lode_analysis *analysis, const char *path, struct lode_analysis_target *target,
		       struct lode_error *error)
{
	const struct lode_command *command = analysis->call->command;

	if (!path) {
		analysis->settings = target->first;
		analysis->form = target->form;
		return 0;
	}
	*target =
		(struct lode_analysis_target){ .settings = { .output = path, .json = lode_ends_in(path, ".json") },
					       .first = analysis->settings,
					       .form = analysis->form };
	analysis->settings = &target->settings;
	analysis->form = find_form(forms_of(command->analysis, analysis->call->settings), &target->settings);
	if (analysis->form->kind == LODE_FORM_TEXT && !lode_ends_in(path, ".txt"))
		return lode_fail(error, LODE_USAGE,
				 "%s: the ending of '%s' names no format; see '--format' in 'lode help %s'",
				 command->name, path, command->name);
	return check_form(analysis, error);
}

static const char *memory_of(const struct lode_analysis_command *command, const void *settings)
{
	return command->memory ? *(const char *const *)(const void *)((const char *)settings + command->memory)
			       : NULL;
}

int lode_analysis_run(struct lode_call *call, struct lode_error *error)
{
	const struct lode_analysis_command *command = call->command->analysis;
	const struct lode_result_settings *settings =
		(const void *)((const char *)call->settings + command->result);
	struct lode_analysis analysis = {
		.call = call,
		.settings = settings,
		.form = find_form(forms_of(command, call->settings), settings),
		.title = call->operands[0],
		.look = call->out.look,
	};
	int code = check_form(&analysis, error);

	if (!code)
		code = lode_memory_limit_begin(call->command->name, memory_of(command, call->settings), error);
	if (code)
		return code;
	if (settings->output)
		analysis.look.colour = 0;
	lode_work_begin(&analysis.work, call,
			command->hold == LODE_HOLD_ALWAYS ||
				(command->hold == LODE_HOLD_FILES && settings->output));
	code = command->make(&analysis, error);
	lode_memory_limit_end(memory_of(command, call->settings), &analysis.work.notes);
	return lode_work_end(&analysis.work, code);
}

static int write_flowing(struct lode_analysis *analysis, void *result, struct lode_error *error)
{
	struct lode_output output;
	int code = lode_output_open(&output, analysis->settings->output, error);

	if (code)
		return code;
	code = analysis->form->write(analysis, result, &output, error);
	if (!code)
		return lode_output_finish(&output, error);
	lode_output_abandon(&output);
	return code;
}

static int write_whole(struct lode_analysis *analysis, void *result, struct lode_error *error)
{
	const struct lode_result_settings *settings = analysis->settings;
	struct lode_output output;
	int code;

	lode_output_memory(&output);
	code = analysis->form->write(analysis, result, &output, error);
	lode_work_pause(&analysis->work);
	if (!code && lode_analysis_is(analysis, LODE_FORM_PAGE) && !settings->page_data)
		code = lode_results_page(analysis->call, settings->output, analysis->title, &output.buffer, error);
	else if (!code)
		code = lode_results_write(analysis->call, settings->output, &output.buffer, error);
	lode_output_abandon(&output);
	return code;
}

int lode_analysis_write(struct lode_analysis *analysis, void *result, struct lode_error *error)
{
	lode_work_pause(&analysis->work);
	return analysis->form->flows && !analysis->call->host->collects ? write_flowing(analysis, result, error)
									: write_whole(analysis, result, error);
}
