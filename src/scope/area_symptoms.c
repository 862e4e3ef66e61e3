/*
 * The scopes that start from a symptom: the needed columns of the whole stream are loaded, the parts of all symptoms are
 * merged, so that what two symptoms share counts once, and each part is added to the row of its stack.
 *
 * Every event of the symptom's own thread and of a critical path belongs to the symptom, so nothing of it is idle. In
 * the whole graph, waits of threads without work are counted separately, as with scope `all`.
 */
#include "scope/area_mapping.h"
#include "scope/symptom_claims.h"
#include "scope/where.h"

/*
 * The parts of a critical path tile the symptom, so each represents itself: what was not recorded
 * is time that the path does not know. In the other scopes each event represents others like it. Of
 * the graph this counts those that a recorded wait leads to; what only others lead to is missing.
 */
static uint64_t part_weight(const struct lode_area_mapping *mapping, const struct lode_events *events, size_t event)
{
	return mapping->plan->scope == LODE_SCOPE_CRITICAL_PATH ? 1 : lode_events_weight(events, event);
}

static int add_part(struct lode_area_mapping *mapping, const struct lode_part *part, const uint8_t *own)
{
	const struct lode_events *events = &mapping->partial->stream.events[part->type];
	uint32_t thread = events->thread[part->event];
	enum lode_area_row_set set = mapping->plan->scope == LODE_SCOPE_GRAPH && !own[thread]
					     ? lode_area_row_set_of(mapping, part->type, events, part->event)
					     : LODE_AREA_COUNTED;

	int kind = mapping->plan->options->ready ? LODE_WAIT : part->type;

	if (!(mapping->plan->kinds & 1u << kind) ||
	    !lode_area_is_wanted(mapping, part->type, events, part->event, part->t))
		return 0;
	return lode_area_add(mapping, &mapping->sums[kind][set],
			     lode_area_counted_stack(mapping, part->type, set, events, part->event), part->t,
			     part->cost, part_weight(mapping, events, part->event), thread,
			     lode_area_event_end(events, part->event));
}

/* An event counts once in `events` of its row, also where several parts of it are on the path. */
static int add_parts(struct lode_area_mapping *mapping, const struct lode_parts *parts, const uint8_t *own)
{
	for (size_t i = 0; i < parts->count; i++) {
		const struct lode_part *part = &parts->items[i];
		struct lode_part whole = *part;

		while (i + 1 < parts->count && parts->items[i + 1].type == part->type &&
		       parts->items[i + 1].event == part->event)
			whole.cost = lode_add_saturating(whole.cost, parts->items[++i].cost);
		if (add_part(mapping, &whole, own) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

/* Marks all threads with the tid of `thread`: one may be recorded under several. */
static void mark_own(const struct lode_stream *stream, uint32_t thread, uint8_t *own)
{
	for (size_t i = 0; i < stream->thread_count; i++)
		own[i] |= stream->threads[i].tid == stream->threads[thread].tid;
}

/* What comes next belongs to another symptom. */
static void begin_rows(struct lode_area_mapping *mapping, uint32_t symptom)
{
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++)
		for (int set = 0; set < LODE_AREA_ROW_SETS; set++) {
			struct lode_area_sums *sums = &mapping->sums[kind][set];

			for (size_t i = sums->begin; i < sums->rows->count; i++)
				sums->places[sums->rows->items[i].stack] = 0;
			sums->begin = sums->rows->count;
			sums->symptom = symptom;
		}
}

/* Adds what the parts come to, and empties them. */
static int settle(struct lode_area_mapping *mapping, struct lode_parts *parts, const uint8_t *own)
{
	int code = lode_parts_unite(parts);

	if (code == 0)
		code = add_parts(mapping, parts, own);
	parts->count = 0;
	return code;
}

/* How the time of a symptom is accounted for: `parts` from `first` on are its path. */
static struct lode_area_account account_for(const struct lode_area_mapping *mapping,
					    const struct lode_parts *parts, size_t first, uint64_t unknown)
{
	struct lode_area_account account = { .unknown = unknown };

	for (size_t i = first; i < parts->count; i++) {
		const struct lode_part *part = &parts->items[i];
		const struct lode_events *events = &mapping->partial->stream.events[part->type];
		uint64_t *sum = &account.running;

		if (lode_part_is_ready(&mapping->partial->stream, part))
			sum = &account.ready;
		else if (part->type == LODE_WAIT && !part->unsampled)
			sum = mapping->idle && lode_idle_event(mapping->idle, events->stack[part->event],
							       events->waker_stack[part->event])
				      ? &account.idling
				      : &account.waiting;
		*sum = lode_add_saturating(*sum, part->cost);
	}
	return account;
}

static void add_account(struct lode_area_account *to, const struct lode_area_account *more)
{
	to->unknown = lode_add_saturating(to->unknown, more->unknown);
	to->running = lode_add_saturating(to->running, more->running);
	to->waiting = lode_add_saturating(to->waiting, more->waiting);
	to->idling = lode_add_saturating(to->idling, more->idling);
	to->ready = lode_add_saturating(to->ready, more->ready);
}

/* No stack is to blame for the time that a thread was ready: it is only accounted for, unless it is asked for. */
static void choose_parts(const struct lode_area_mapping *mapping, struct lode_parts *parts, size_t first)
{
	int wanted = mapping->plan->options->ready;
	size_t kept = first;

	for (size_t i = first; i < parts->count; i++)
		if (lode_part_is_ready(&mapping->partial->stream, &parts->items[i]) == wanted)
			parts->items[kept++] = parts->items[i];
	parts->count = kept;
}

/* A symptom by itself: its rows follow those of the one before. */
static int settle_one(struct lode_area_mapping *mapping, const struct lode_symptom *symptom, uint32_t number,
		      struct lode_parts *parts, const struct lode_area_account *account)
{
	struct lode_area_partial *partial = mapping->partial;
	uint8_t *own = lode_calloc(partial->stream.thread_count + 1, 1);
	int code;

	if (!own)
		return LODE_SYSTEM;
	mark_own(&partial->stream, symptom->thread, own);
	partial->each[number] = (struct lode_area_symptom){
		.name = symptom->name,
		.tid = partial->stream.threads[symptom->thread].tid,
		.t0 = symptom->t0,
		.t1 = symptom->t1 > symptom->t0 ? symptom->t1 : symptom->t0,
	};
	partial->each_account[number] = *account;
	begin_rows(mapping, number);
	code = settle(mapping, parts, own);
	lode_free(own);
	return code;
}

static int add_symptoms(struct lode_area_mapping *mapping, const struct lode_symptom *symptoms, size_t count,
			struct lode_error *error)
{
	struct lode_area_partial *partial = mapping->partial;
	struct lode_scope_index *index = NULL;
	struct lode_parts parts = { 0 }, stepped = { 0 };
	uint8_t *own = lode_calloc(partial->stream.thread_count + 1, 1);
	int code = own ? lode_scope_index_make(&index, &partial->stream, error) : lode_fail_memory(error);
	int apart = mapping->plan->options->by_symptom;

	if (!code && apart) {
		partial->each = lode_calloc(count + 1, sizeof(*partial->each));
		partial->each_account = lode_calloc(count + 1, sizeof(*partial->each_account));
		if (!partial->each || !partial->each_account)
			code = lode_fail_memory(error);
	}
	mapping->chains.index = index;
	if (!code && mapping->idle)
		lode_scope_index_interrupts(index, lode_idle_interrupts(mapping->idle));
	if (!code && mapping->hosts.count)
		lode_scope_index_connections(index, mapping->hosts.connections);
	if (!code && mapping->classes.work)
		code = lode_wait_classes_mark_paths(&mapping->classes, index,
						    partial->stream.events[LODE_WAIT].count, symptoms, count,
						    error);
	for (size_t i = 0; !code && i < count; i++) {
		uint64_t length = symptoms[i].t1 > symptoms[i].t0 ? symptoms[i].t1 - symptoms[i].t0 : 0;
		struct lode_scope_result result = { 0 };
		struct lode_area_account account = { 0 };
		size_t first = parts.count;

		stepped.count = 0;
		code = mapping->kinds && mapping->plan->scope == LODE_SCOPE_CRITICAL_PATH
			       ? lode_critical_path(index, &symptoms[i], &parts, &stepped, &result.unknown, error)
			       : lode_scope_symptom(index, &symptoms[i], mapping->plan->scope, &parts, &result,
						    error);
		if (!code && mapping->kinds && mapping->plan->scope == LODE_SCOPE_CRITICAL_PATH &&
		    lode_area_chains_path(&mapping->chains, (uint32_t)i, &parts, first, &stepped) < 0)
			code = lode_fail_memory(error);
		if (!own[symptoms[i].thread])
			mark_own(&partial->stream, symptoms[i].thread, own);
		partial->symptoms++;
		partial->delay = lode_add_saturating(partial->delay, length);
		if (!code && mapping->plan->scope == LODE_SCOPE_CRITICAL_PATH) {
			account = account_for(mapping, &parts, first, result.unknown);
			choose_parts(mapping, &parts, first);
		}
		add_account(&partial->account, &account);
		if (length > partial->longest_delay)
			partial->longest_delay = length;
		if (!code && apart && settle_one(mapping, &symptoms[i], (uint32_t)i, &parts, &account) < 0)
			code = lode_fail_memory(error);
	}
	if (!code && settle(mapping, &parts, own) < 0)
		code = lode_fail_memory(error);
	lode_parts_release(&parts);
	lode_parts_release(&stepped);
	mapping->chains.index = NULL;
	lode_scope_index_free(index);
	lode_free(own);
	return code;
}

/* Hands the stream over in place of making rows. */
static int visit_symptoms(struct lode_area_mapping *mapping, const struct lode_symptom *symptoms, size_t count,
			  struct lode_error *error)
{
	const struct lode_area_plan *plan = mapping->plan;
	struct lode_area_visit visit = {
		.entry = mapping->entry,
		.stream = &mapping->partial->stream,
		.symptoms = symptoms,
		.symptom_count = count,
		.idle = mapping->idle,
		.kinds = mapping->kinds,
		.processors = mapping->processors,
	};
	int code = count ? lode_scope_index_make(&visit.index, visit.stream, error) : 0;

	if (!code && count && mapping->idle)
		lode_scope_index_interrupts(visit.index, lode_idle_interrupts(mapping->idle));
	if (!code && count && mapping->hosts.count)
		lode_scope_index_connections(visit.index, mapping->hosts.connections);
	if (!code && count)
		code = plan->visit(plan->visit_context, &visit, plan->visit_result, error);
	lode_scope_index_free(visit.index);
	return code;
}

/* The symptoms that count, which the caller frees. */
static int derive(struct lode_area_mapping *mapping, struct lode_symptom **symptoms, size_t *count,
		  struct lode_error *error)
{
	const struct lode_stream *stream = &mapping->partial->stream;
	size_t all;
	int parts;
	int code = lode_symptoms_of(&mapping->plan->rules, stream,
				    mapping->plan->options->include_idle ? NULL : mapping->idle, symptoms, count,
				    error);

	if (code)
		return code;
	all = *count;
	if (lode_symptom_claims_apply(mapping->plan->claims, mapping->entry, stream, *symptoms, count) < 0)
		code = lode_fail_memory(error);
	mapping->partial->repeated = all - *count;
	*count = lode_where_symptoms(mapping->threads, *symptoms, *count, &parts);
	mapping->any_thread = !parts;
	return code;
}

static void count_events(struct lode_area_mapping *mapping)
{
	const struct lode_stream *stream = &mapping->partial->stream;

	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		lode_area_count_stacks(mapping, &stream->events[type]);
		if (mapping->plan->options->ready)
			lode_area_count_ready(mapping, type, &stream->events[type]);
		else if (type < LODE_AREA_KINDS)
			lode_area_count_input(mapping, type, &stream->events[type]);
	}
}

/* What looks at the events of all hosts. */
static int learn(struct lode_area_mapping *mapping, struct lode_error *error)
{
	struct lode_stream *stream = &mapping->partial->stream;
	int code = mapping->kinds ? lode_processors_make(&mapping->processors, stream, error) : 0;

	mapping->chains.processors = mapping->processors;
	if (!code && mapping->kinds &&
	    lode_crowds_make(&mapping->chains.crowds, stream, mapping->chains.processes) < 0)
		code = lode_fail_memory(error);
	for (int type = 0; mapping->kinds && type < LODE_AREA_KINDS; type++)
		lode_wait_kinds_see(mapping->kinds, &stream->events[type]);
	if (!code && mapping->plan->scope == LODE_SCOPE_GRAPH)
		code = lode_area_learn_classes(mapping, 1, error);
	return code;
}

int lode_area_map_symptoms(struct lode_area_mapping *mapping, struct lode_error *error)
{
	struct lode_stream *stream = &mapping->partial->stream;
	unsigned cpu = mapping->kinds ? LODE_CPU : 0, name = mapping->hosts.count ? LODE_NAME : 0;
	unsigned context = lode_area_context_column(mapping);
	const unsigned columns[LODE_EVENT_TYPES] = { LODE_AREA_PART_COLUMNS | context,
						     LODE_AREA_PART_COLUMNS | context | cpu | name |
							     lode_area_chain_columns(mapping),
						     LODE_AREA_CALL_COLUMNS | context | cpu };
	struct lode_symptom *symptoms = NULL;
	size_t count = 0;
	int code = lode_store_load_events(mapping->store, stream, columns, error);

	if (code)
		return code;
	count_events(mapping);
	code = derive(mapping, &symptoms, &count, error);
	if (!code && count)
		code = lode_joined_hosts_load(&mapping->hosts, stream, columns, error);
	if (!code)
		code = learn(mapping, error);
	if (!code)
		code = mapping->plan->visit ? visit_symptoms(mapping, symptoms, count, error)
					    : add_symptoms(mapping, symptoms, count, error);
	lode_free(symptoms);
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		lode_events_release(&stream->events[type]);
	return code;
}
