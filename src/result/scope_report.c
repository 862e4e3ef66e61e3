/* The scopes of a stream's symptoms: see scope_report.h. */
#include "result/scope_report.h"

#include "scope/states.h"
#include "scope/where.h"

#include <string.h>

/* Parts that are made ready with the stream, 24 bytes each; what is beyond is made when it is requested. */
#define READY_PARTS 2000000

#define COLUMNS                                                                                                   \
	(LODE_T | LODE_COST | LODE_DELAY | LODE_THREAD | LODE_STACK | LODE_WAKER | LODE_WAKER_STACK |             \
	 LODE_WEIGHT | LODE_CPU | LODE_CONTEXT)

#define WAIT_COLUMNS (COLUMNS | LODE_OBJECT | LODE_HOLDER)

/* Rules may look at all calls, critical paths look at preemptions. */
#define CALL_COLUMNS (LODE_T | LODE_DELAY | LODE_THREAD | LODE_STACK | LODE_NAME | LODE_CPU | LODE_CONTEXT)

/* Several parts may be of one event. */
static int count_events(struct lode_scope_found *found, struct lode_error *error)
{
	struct lode_parts copy = { .count = found->parts.count };
	int code = 0;

	if (!copy.count)
		return 0;
	if (LODE_GROW(copy.items, copy.capacity, copy.count) < 0)
		return lode_fail_memory(error);
	memcpy(copy.items, found->parts.items, copy.count * sizeof(*copy.items));
	if (lode_parts_unite(&copy) < 0)
		code = lode_fail_memory(error);
	for (size_t i = 0; i < copy.count; i++)
		found->events += !i || copy.items[i].event != copy.items[i - 1].event ||
				 copy.items[i].type != copy.items[i - 1].type;
	lode_parts_release(&copy);
	return code;
}

uint32_t lode_scope_behind(const struct lode_scope_report *report, const struct lode_part *part)
{
	uint64_t time;
	uint32_t thread = lode_processors_most(report->processors, (enum lode_event_type)part->type, part->event,
					       part->t, part->t + part->cost, &time);

	return time >= part->cost / 2 ? thread : LODE_NONE;
}

static void sum_states(const struct lode_scope_report *report, struct lode_scope_found *found)
{
	for (size_t i = 0; i < found->parts.count; i++) {
		const struct lode_part *part = &found->parts.items[i];
		uint32_t stack = report->stream.events[part->type].stack[part->event];

		found->states[lode_state_of_part(report->kinds, part)] += part->cost;
		if (part->type == LODE_RUN && stack && lode_stack_is_in_kernel(&report->dictionary, stack))
			found->in_kernel += part->cost;
	}
	found->states[LODE_STATE_NOT_RECORDED] = found->result.unknown;
}

int lode_scope_report_find(struct lode_scope_report *report, size_t i, struct lode_error *error)
{
	struct lode_scope_found *found = &report->items[i];
	enum lode_scope scope = report->options->scope;
	int code;

	if (found->made)
		return 0;
	if (scope == LODE_SCOPE_CRITICAL_PATH) {
		code = lode_critical_path(report->index, &found->symptom, &found->parts, &found->stepped,
					  &found->result.unknown, error);
		if (!code)
			code = count_events(found, error);
		if (!code)
			sum_states(report, found);
	} else {
		code = lode_scope_symptom(report->index, &found->symptom, scope, &found->parts, &found->result,
					  error);
		found->events = found->parts.count;
	}
	if (code < 0)
		lode_scope_report_forget(report, i);
	else
		found->made = 1;
	return code;
}

void lode_scope_report_forget(struct lode_scope_report *report, size_t i)
{
	struct lode_symptom symptom = report->items[i].symptom;

	lode_parts_release(&report->items[i].parts);
	lode_parts_release(&report->items[i].stepped);
	report->items[i] = (struct lode_scope_found){ .symptom = symptom };
}

/* Of the symptoms those of threads that are wanted. */
static int keep_wanted(struct lode_scope_report *report, struct lode_symptom *symptoms, struct lode_error *error)
{
	uint8_t *threads;
	int others;

	if (lode_where_members(&report->stream, report->options->where, &threads) < 0) {
		lode_free(threads);
		return lode_fail_memory(error);
	}
	report->count = lode_where_symptoms(threads, symptoms, report->count, &others);
	if (others)
		report->count = 0;
	lode_free(threads);
	return 0;
}

static int list_symptoms(struct lode_scope_report *report, struct lode_error *error)
{
	struct lode_symptom *symptoms;
	int code = lode_symptoms_of(report->options->rules, &report->stream, report->idle, &symptoms,
				    &report->count, error);

	if (code < 0 || !report->count)
		return code;
	code = keep_wanted(report, symptoms, error);
	report->items = lode_calloc(report->count + 1, sizeof(*report->items));
	if (!report->items)
		code = lode_fail_memory(error);
	for (size_t i = 0; i < report->count && !code; i++)
		report->items[i].symptom = symptoms[i];
	lode_free(symptoms);
	return code;
}

static int make_index(struct lode_scope_report *report, struct lode_error *error)
{
	int code = lode_scope_index_make(&report->index, &report->stream, error);

	if (code)
		return code;
	lode_scope_index_interrupts(report->index, lode_idle_interrupts(report->idle));
	if (report->hosts.count)
		lode_scope_index_connections(report->index, report->hosts.connections);
	code = lode_wait_kinds_make(&report->kinds, &report->stream, report->idle, error);
	for (int type = LODE_RUN; !code && type <= LODE_WAIT; type++)
		lode_wait_kinds_see(report->kinds, &report->stream.events[type]);
	if (!code && lode_wait_holders(report->index, &report->holders) < 0)
		code = lode_fail_memory(error);
	return code ? code : lode_processors_make(&report->processors, &report->stream, error);
}

static int find_first(struct lode_scope_report *report, struct lode_error *error)
{
	size_t parts = 0;
	int code = 0;

	for (size_t i = 0; i < report->count && !code && parts < READY_PARTS; i++) {
		code = lode_scope_report_find(report, i, error);
		parts += report->items[i].parts.count;
	}
	return code;
}

static int load(struct lode_scope_report *report, struct lode_store *store, struct lode_error *error)
{
	unsigned columns[LODE_EVENT_TYPES] = { COLUMNS, WAIT_COLUMNS, CALL_COLUMNS };
	int code = lode_store_head(store, &report->stream, error);

	if (code < 0)
		return code;
	report->wanted = lode_where_fits(&report->stream, report->options->where);
	if (!report->wanted ||
	    (!report->stream.symptom_count && !report->options->rules->count && !report->options->all_streams))
		return 0;
	code = lode_joined_hosts_open(&report->hosts, report->options->joins, report->entry, &report->stream,
				      error);
	columns[LODE_WAIT] |= report->hosts.count ? LODE_NAME : 0;
	if (!code)
		code = lode_store_load_events(store, &report->stream, columns, error);
	if (!code)
		code = lode_idle_stacks_make(&report->idle, report->options->idle, &report->dictionary, error);
	if (!code)
		code = list_symptoms(report, error);
	if (!code && report->count)
		code = lode_joined_hosts_load(&report->hosts, &report->stream, columns, error);
	if (!code && (report->count || report->options->all_streams))
		code = make_index(report, error);
	return code ? code : find_first(report, error);
}

int lode_scope_report_make(struct lode_scope_report *report, const struct lode_corpus_entry *entry,
			   const struct lode_scope_options *options, struct lode_error *error)
{
	struct lode_store *store;
	int code;

	memset(report, 0, sizeof(*report));
	report->options = options;
	report->entry = entry;
	lode_stream_init(&report->stream, &report->dictionary);
	if (lode_dictionary_init(&report->dictionary) < 0)
		return lode_fail_memory(error);
	code = lode_store_open(&store, entry->path, error);
	if (code < 0)
		return code;
	code = load(report, store, error);
	lode_store_close(store);
	return code;
}

void lode_scope_report_release(struct lode_scope_report *report)
{
	for (size_t i = 0; report->items && i < report->count; i++)
		lode_scope_report_forget(report, i);
	lode_free(report->items);
	lode_wait_kinds_free(report->kinds);
	lode_processors_free(report->processors);
	lode_free(report->holders);
	lode_scope_index_free(report->index);
	lode_idle_stacks_free(report->idle);
	lode_joined_hosts_release(&report->hosts);
	lode_stream_release(&report->stream);
	lode_dictionary_release(&report->dictionary);
	memset(report, 0, sizeof(*report));
}
