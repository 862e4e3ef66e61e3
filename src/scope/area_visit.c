/* Visits to the streams of an area: see area_visit.h. The map step of the area loads each stream, and stops before its rows. */
#include "scope/area_visit.h"

#include "base/parallel.h"
#include "scope/area_stream.h"

struct visiting {
	const struct lode_area_visitor *visitor;
	const struct lode_area_plan *plan;
	const struct lode_corpus_list *list;
};

static int visit_stream(void *context, size_t i, void *result, struct lode_error *error)
{
	const struct visiting *visiting = context;
	struct lode_area_plan plan = *visiting->plan;
	struct lode_area_partial partial;
	int code;

	plan.visit_result = result;
	code = lode_area_stream_if_readable(&plan, &visiting->list->items[i], &partial, error);
	lode_area_partial_release(&partial);
	return code;
}

static int merge_stream(void *context, size_t i, void *result, struct lode_error *error)
{
	const struct visiting *visiting = context;

	if (lode_progress_report(visiting->plan->options->progress, "replaying", "streams", i + 1,
				 visiting->list->count))
		return lode_fail(error, LODE_SYSTEM, "was stopped");
	return visiting->visitor->merge(visiting->visitor->context, &visiting->list->items[i], result, error);
}

int lode_area_visit(struct lode_corpus *corpus, const struct lode_area_options *options,
		    const struct lode_area_visitor *visitor, struct lode_error *error)
{
	struct lode_area_plan plan = { 0 };
	struct lode_corpus_list list = { 0 };
	struct visiting visiting = { visitor, &plan, &list };
	int code = lode_corpus_streams(corpus, &list, error);

	if (!code)
		code = lode_area_plan_make(&plan, options, &list, error);
	plan.visit = visitor->visit;
	plan.visit_context = visitor->context;
	if (!code && plan.scope == LODE_SCOPE_ALL)
		code = lode_fail(
			error, LODE_USAGE,
			"a gain is how much earlier a symptom would end, and there are none; say what was "
			"slow with --symptom 'thread NAME' or --slow 10ms");
	if (!code)
		code = lode_parallel_in_order(options->jobs, list.count,
					      &(struct lode_in_order){ visitor->size, visit_stream, merge_stream,
								       visitor->release, &visiting },
					      error);
	lode_area_plan_release(&plan);
	lode_corpus_list_release(&list);
	return code;
}
