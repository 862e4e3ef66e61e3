/* The page: see overview.h. */
#include "serve/overview.h"

#include "page/page.h"
#include "serve/growing_result.h"
#include "serve/routes.h"
#include "store/corpus.h"

#include <stdio.h>
#include <string.h>

static int write_blocks(const char *path, struct lode_page_index *index, struct lode_error *error)
{
	struct lode_corpus_list list = { 0 };
	struct lode_corpus *corpus;
	int code = lode_corpus_open(&corpus, path, LODE_CORPUS_READ, error);

	if (code)
		return code;
	code = lode_corpus_streams(corpus, &list, error);
	for (const struct lode_route *route = lode_routes; route->name && !code; route++)
		if (route->name[strlen(route->name) - 1] != '/')
			lode_page_index_block(index, route->name);
	for (size_t i = 0; i < list.count && !code; i++) {
		char name[48];

		snprintf(name, sizeof(name), "stream/%s", list.items[i].id);
		lode_page_index_block(index, name);
	}
	lode_corpus_list_release(&list);
	lode_corpus_close(corpus);
	return code;
}

enum MHD_Result lode_answer_overview(const struct lode_exchange *exchange, const struct lode_overview *overview)
{
	struct lode_buffer page = { 0 };
	struct lode_page_index index;
	struct lode_error error = { "" };
	int code;

	if (lode_page_is_there(&error) < 0)
		return lode_answer_error(exchange, MHD_HTTP_NOT_FOUND, error.text);
	lode_page_index_begin(&index, overview->title, overview->data, overview->symptom);
	if (overview->growing)
		lode_page_index_block(&index, lode_growing_name(overview->growing));
	code = overview->growing ? 0 : write_blocks(overview->corpus, &index, &error);
	lode_page_index_end(&index);
	if (!code) {
		lode_page_begin_with(&page, overview->title, &index);
		lode_page_end(&page);
	}
	lode_page_index_release(&index);
	if (code) {
		lode_buffer_release(&page);
		return lode_answer_error(exchange, MHD_HTTP_INTERNAL_SERVER_ERROR, error.text);
	}
	return lode_answer_page(exchange, &page);
}

/* Starts an analysis ahead of its request, which reports the error if this fails. `symptom`: NULL where it takes none. */
static void begin_early(struct lode_jobs *jobs, const char *corpus, const char *name, const char *option,
			const char *symptom)
{
	struct lode_error error = { "" };
	struct lode_text_list words = { 0 };
	struct lode_job_view view = { 0 };
	const char *id;
	const struct lode_route *route = lode_route_find(name, &id);

	if (!lode_route_begin(route, corpus, id, &words, &error) &&
	    !lode_route_option(route, option, NULL, &words, &error) &&
	    (!symptom || !lode_route_option(route, "symptom", symptom, &words, &error)))
		lode_jobs_ask(jobs, words.items, &view, &error);
	lode_job_view_release(&view);
	lode_text_list_release(&words);
}

/* What the overview shows first (web/src/views/overview.tsx): it is done, or on its way, when a browser asks. */
void lode_overview_begin(struct lode_jobs *jobs, const char *corpus, const char *symptom)
{
	begin_early(jobs, corpus, "info", "brief", NULL);
	begin_early(jobs, corpus, "findings", LODE_ROUTE_PAGE_DATA, symptom);
	begin_early(jobs, corpus, "mine", LODE_ROUTE_PAGE_DATA, symptom);
}
