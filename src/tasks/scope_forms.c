/* The forms of lode scope: see scope_forms.h. */
#include "tasks/scope_forms.h"

#include "result/scope_longest.h"
#include "text/symptom_list.h"

/* Symptoms, and lines of each, that are shown unless more are requested. */
#define TOP   10
#define LINES 20
/* Symptoms in a page. */
#define PAGE_TOP 50

/* Hands the streams that are requested to `take`. */
static int walk(struct lode_scope_streams *scopes,
		int (*take)(void *to, struct lode_scope_report *report, struct lode_error *error), void *to,
		struct lode_error *error)
{
	scopes->walk.take = take;
	scopes->walk.context = to;
	return lode_scope_walk(&scopes->walk, &scopes->list, error);
}

static size_t most_symptoms(const struct lode_scope_settings *settings, size_t usual)
{
	return settings->all ? SIZE_MAX : settings->top ? settings->top : usual;
}

static int write_text(struct lode_analysis *analysis, void *result, struct lode_output *output,
		      struct lode_error *error)
{
	const struct lode_scope_settings *settings = analysis->call->settings;
	struct lode_scope_streams *scopes = result;
	struct lode_symptom_list list = {
		.look = &analysis->look,
		.most = most_symptoms(settings, TOP),
		.lines = settings->all ? 0 : LINES,
		/* Only a path can be the same, and who wants to see all gets all. */
		.together = scopes->walk.options.scope == LODE_SCOPE_CRITICAL_PATH && !settings->all,
	};
	int code = walk(scopes, lode_symptom_list_add, &list, error);

	if (!code)
		lode_symptom_list_text(&list, &output->buffer);
	lode_symptom_list_release(&list);
	return code;
}

static int add_json(void *to, struct lode_scope_report *report, struct lode_error *error)
{
	return lode_scope_json(report, to, error);
}

static int write_json(struct lode_analysis *analysis, void *result, struct lode_output *output,
		      struct lode_error *error)
{
	(void)analysis;
	return walk(result, add_json, output, error);
}

static int write_page(struct lode_analysis *analysis, void *result, struct lode_output *output,
		      struct lode_error *error)
{
	struct lode_scope_longest page = { .most = most_symptoms(analysis->call->settings, PAGE_TOP) };
	int code = walk(result, lode_scope_longest_add, &page, error);

	if (!code)
		lode_scope_longest_json(&page, &output->buffer);
	lode_scope_longest_release(&page);
	return code;
}

const struct lode_form lode_scope_forms[] = {
	{ .name = "text", .kind = LODE_FORM_TEXT, .write = write_text },
	{ .name = "json", .kind = LODE_FORM_JSON, .flows = 1, .write = write_json },
	{ .name = "html", .extension = ".html", .kind = LODE_FORM_PAGE, .write = write_page },
	{ .name = NULL },
};
