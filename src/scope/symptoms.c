/*
 * Derived symptoms: see symptoms.h.
 *
 * Each rule is one pass over the events. `between` needs the events of a thread in
 * order of time, of all types, so it merges the three lists as it goes and
 * keeps, for each thread, since when it has been on its way from A to B.
 */
#include "scope/symptoms.h"

#include "base/starts_with.h"
#include "base/units.h"
#include "scope/frame_filter.h"
#include "scope/gpu_symptoms.h"
#include "scope/scope_index.h"
#include "scope/slow_requests.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading a rule ---- */

static int bad_rule(const char *text, struct lode_error *error)
{
	return lode_fail(error, LODE_USAGE,
			 "%s: not a symptom; write 'thread NAME', 'wait > 200ms in FRAME', "
			 "'between FRAME and FRAME > 1s', 'request of NAME > 10ms' or 'gpu'",
			 text);
}

/* A copy without blanks around it; NULL when memory has run out. */
static char *trimmed(const char *text, size_t length)
{
	size_t blanks = strspn(text, " ");

	blanks = blanks < length ? blanks : length;
	text += blanks;
	length -= blanks;
	while (length && text[length - 1] == ' ')
		length--;
	return lode_strndup(text, length);
}

/* `text` of `length` bytes into `*field`, which must not be empty. */
static int keep(char **field, const char *text, size_t length, const char *rule, struct lode_error *error)
{
	*field = trimmed(text, length);
	if (!*field)
		return lode_fail_memory(error);
	return **field ? 0 : bad_rule(rule, error);
}

static int read_duration(struct lode_symptom_rule *rule, const char *text, size_t length, struct lode_error *error)
{
	char *copy = trimmed(text, length);
	int code = copy ? lode_duration_parse_in(rule->text, copy, &rule->longer, error) : lode_fail_memory(error);

	lode_free(copy);
	return code;
}

/* `> 200ms in FRAME` */
static int read_wait(struct lode_symptom_rule *rule, const char *rest, struct lode_error *error)
{
	size_t length;
	int code;

	if (*rest != '>')
		return bad_rule(rule->text, error);
	rest += 1 + strspn(rest + 1, " ");
	length = strcspn(rest, " ");
	if (!length)
		return bad_rule(rule->text, error);
	code = read_duration(rule, rest, length, error);
	if (code < 0)
		return code;
	rest += length + strspn(rest + length, " ");
	rule->anywhere = !*rest;
	if (rule->anywhere)
		return keep(&rule->first, "*", 1, rule->text, error);
	rest = lode_behind_word(rest, "in");
	return rest ? keep(&rule->first, rest, strlen(rest), rule->text, error) : bad_rule(rule->text, error);
}

/* `A and B > 1s`. Names may hold a `>`, so the last one counts. */
static int read_between(struct lode_symptom_rule *rule, const char *rest, struct lode_error *error)
{
	const char *middle = strstr(rest, " and ");
	const char *more = strrchr(rest, '>');
	int code;

	if (!middle || !more || more < middle + strlen(" and "))
		return bad_rule(rule->text, error);
	code = keep(&rule->first, rest, (size_t)(middle - rest), rule->text, error);
	middle += strlen(" and ");
	if (!code)
		code = keep(&rule->second, middle, (size_t)(more - middle), rule->text, error);
	if (!code)
		code = read_duration(rule, more + 1, strlen(more + 1), error);
	return code;
}

/* `99%`, at most so. */
static int read_percent(struct lode_symptom_rule *rule, const char *text)
{
	char *end;
	unsigned long percent = strtoul(text, &end, 10);

	if (end == text || strcmp(end, "%") || !percent || percent > 99)
		return 0;
	rule->percent = (unsigned)percent;
	return 1;
}

/* `of NAME > 10ms`, `> 99%`, and either part alone; nothing: all requests. */
static int read_request(struct lode_symptom_rule *rule, const char *rest, struct lode_error *error)
{
	const char *name = lode_behind_word(rest, "of"), *more = strrchr(rest, '>');
	size_t length = name ? more ? (size_t)(more - name) : strlen(name) : 0;
	int code = 0;

	if (!name && *rest && more != rest)
		return bad_rule(rule->text, error);
	if (name)
		code = keep(&rule->first, name, length, rule->text, error);
	if (code || !more)
		return code;
	more += 1 + strspn(more + 1, " ");
	return read_percent(rule, more) ? 0 : read_duration(rule, more, strlen(more), error);
}

static int read_rule(struct lode_symptom_rule *rule, struct lode_error *error)
{
	const char *text = rule->text + strspn(rule->text, " ");
	const char *rest;

	if ((rest = lode_behind_word(text, "thread"))) {
		rule->type = LODE_SYMPTOM_THREAD;
		return keep(&rule->first, rest, strlen(rest), rule->text, error);
	}
	if ((rest = lode_behind_word(text, "wait"))) {
		rule->type = LODE_SYMPTOM_WAIT;
		return read_wait(rule, rest, error);
	}
	if ((rest = lode_behind_word(text, "between"))) {
		rule->type = LODE_SYMPTOM_BETWEEN;
		return read_between(rule, rest, error);
	}
	if ((rest = lode_behind_word(text, "request")) || !strcmp(text, "request")) {
		rule->type = LODE_SYMPTOM_REQUEST;
		return read_request(rule, rest ? rest : "", error);
	}
	if (!strcmp(text, "gpu")) {
		rule->type = LODE_SYMPTOM_GPU;
		return 0;
	}
	return bad_rule(rule->text, error);
}

int lode_symptom_rule_parse(struct lode_symptom_rule *rule, const char *text, struct lode_error *error)
{
	int code;

	memset(rule, 0, sizeof(*rule));
	rule->text = text;
	code = read_rule(rule, error);
	if (code < 0)
		lode_symptom_rule_release(rule);
	return code;
}

void lode_symptom_rule_release(struct lode_symptom_rule *rule)
{
	lode_free(rule->first);
	lode_free(rule->second);
	rule->first = rule->second = NULL;
}

int lode_symptom_rules_parse(struct lode_symptom_rules *rules, const char *const *texts, struct lode_error *error)
{
	size_t count = 0;

	memset(rules, 0, sizeof(*rules));
	while (texts && texts[count])
		count++;
	if (!count)
		return 0;
	rules->items = lode_calloc(count, sizeof(*rules->items));
	if (!rules->items)
		return lode_fail_memory(error);
	for (; rules->count < count; rules->count++) {
		int code = lode_symptom_rule_parse(&rules->items[rules->count], texts[rules->count], error);

		if (code < 0) {
			lode_symptom_rules_release(rules);
			return code;
		}
	}
	return 0;
}

void lode_symptom_rules_release(struct lode_symptom_rules *rules)
{
	for (size_t i = 0; i < rules->count; i++)
		lode_symptom_rule_release(&rules->items[i]);
	lode_free(rules->items);
	memset(rules, 0, sizeof(*rules));
}

/* ---- what all rules need ---- */

/* A search by one rule in one stream. */
struct search {
	const struct lode_symptom_rule *rule;
	const struct lode_stream *stream;
	const struct lode_idle_stacks *idle; /* NULL: nothing is */
	struct lode_symptom **symptoms;
	size_t *count;
	size_t *capacity;
	uint32_t *groups; /* by thread: the number of its tid */
	size_t group_count;
};

static int add_symptom(struct search *search, uint32_t thread, uint64_t t0, uint64_t t1)
{
	if (lode_grow(search->symptoms, search->capacity, *search->count + 1, sizeof(**search->symptoms)) < 0)
		return LODE_SYSTEM;
	(*search->symptoms)[(*search->count)++] = (struct lode_symptom){ .thread = thread, .t0 = t0, .t1 = t1 };
	return 0;
}

/* For each node 1 when `name` fits a frame of its stack; NULL when memory has run out. */
static uint8_t *stacks_with(const struct lode_stream *stream, const char *name)
{
	uint8_t *frames = lode_frames_named(&stream->dictionary->frames, name);
	uint8_t *stacks = frames ? lode_stack_filter(&stream->dictionary->tree, frames) : NULL;

	lode_free(frames);
	return stacks;
}

/* ---- thread NAME ---- */

/* What is known of all threads of one tid. */
struct span {
	uint64_t first;
	uint64_t last;
	uint32_t thread; /* one of them, with a process if there is such; LODE_NONE: none fits */
	int seen;
};

static int thread_fits(const struct search *search, uint32_t thread)
{
	const struct lode_strings *strings = &search->stream->dictionary->frames.strings;
	const struct lode_thread *item = &search->stream->threads[thread];
	char number[16];

	snprintf(number, sizeof(number), "%" PRIu32, item->tid);
	return !strcmp(search->rule->first, number) ||
	       (item->name && lode_glob_match(search->rule->first, lode_strings_get(strings, item->name)));
}

/* Of two threads of a tid the one whose process is known represents both. */
static void choose_threads(const struct search *search, struct span *spans)
{
	const struct lode_stream *stream = search->stream;

	for (size_t i = 0; i < search->group_count; i++)
		spans[i].thread = LODE_NONE;
	for (size_t i = 0; i < stream->thread_count; i++)
		if (thread_fits(search, (uint32_t)i) && spans[search->groups[i]].thread == LODE_NONE)
			spans[search->groups[i]].thread = (uint32_t)i;
	for (size_t i = 0; i < stream->thread_count; i++) {
		struct span *span = &spans[search->groups[i]];

		if (span->thread != LODE_NONE && stream->threads[span->thread].pid == LODE_NO_PID &&
		    stream->threads[i].pid != LODE_NO_PID)
			span->thread = (uint32_t)i;
	}
}

/* A call is a moment. */
static uint64_t over_at(const struct lode_events *events, int type, size_t i)
{
	if (type == LODE_CALL)
		return events->t[i];
	return lode_add_saturating(lode_event_end(events, (uint32_t)i), events->delay[i]);
}

static void widen_spans(const struct search *search, int type, struct span *spans)
{
	const struct lode_events *events = &search->stream->events[type];

	for (size_t i = 0; i < events->count; i++) {
		struct span *span = &spans[search->groups[events->thread[i]]];
		uint64_t end = over_at(events, type, i);

		if (!span->seen || events->t[i] < span->first)
			span->first = events->t[i];
		if (!span->seen || end > span->last)
			span->last = end;
		span->seen = 1;
	}
}

static int find_threads(struct search *search)
{
	struct span *spans = lode_calloc(search->group_count + 1, sizeof(*spans));
	int code = 0;

	if (!spans)
		return LODE_SYSTEM;
	choose_threads(search, spans);
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		widen_spans(search, type, spans);
	for (size_t i = 0; i < search->group_count && !code; i++)
		if (spans[i].seen && spans[i].thread != LODE_NONE)
			code = add_symptom(search, spans[i].thread, spans[i].first, spans[i].last);
	lode_free(spans);
	return code;
}

/* ---- wait > D in FRAME ---- */

/* Threads without work wait long. Who names a frame asks for waits in it anyway. */
static int is_idle(const struct search *search, const struct lode_events *waits, size_t i)
{
	return search->rule->anywhere && search->idle &&
	       lode_idle_event(search->idle, waits->stack[i], waits->waker_stack ? waits->waker_stack[i] : 0);
}

static int find_waits(struct search *search)
{
	const struct lode_events *waits = &search->stream->events[LODE_WAIT];
	int any = !strcmp(search->rule->first, "*");
	uint8_t *fit = any ? NULL : stacks_with(search->stream, search->rule->first);
	int code = any || fit ? 0 : LODE_SYSTEM;

	for (size_t i = 0; i < waits->count && !code; i++)
		if (waits->cost[i] > search->rule->longer && (any || fit[waits->stack[i]]) &&
		    !is_idle(search, waits, i))
			code = add_symptom(search, waits->thread[i], waits->t[i],
					   lode_event_end(waits, (uint32_t)i));
	lode_free(fit);
	return code;
}

/* ---- between A and B > D ---- */

/* How far a thread, or a process, is. */
struct way {
	uint64_t since;
	int begun; /* on the way from A to B since then */
	int over;  /* `start` comes once */
};

struct between {
	struct search *search;
	int from_start;
	uint8_t *begins;     /* by node: A fits; NULL with `start` */
	uint8_t *ends;       /* by node: B fits */
	struct way *ways;    /* by group */
	uint32_t *processes; /* by group; with `start` */
	struct way *starts;  /* by process; with `start` */
};

/* Groups of one process get the same number; one whose process is not known is one for itself. */
static int number_processes(struct between *between)
{
	const struct search *search = between->search;
	const struct lode_stream *stream = search->stream;
	size_t distinct, unknown = 0;

	between->processes = lode_calloc(search->group_count + 1, sizeof(*between->processes));
	between->starts = lode_calloc(search->group_count * 2 + 1, sizeof(*between->starts));
	if (!between->processes || !between->starts)
		return LODE_SYSTEM;
	for (size_t i = 0; i < search->group_count; i++)
		between->processes[i] = LODE_NO_PID;
	for (size_t i = stream->thread_count; i--;)
		if (stream->threads[i].pid != LODE_NO_PID)
			between->processes[search->groups[i]] = stream->threads[i].pid;
	for (size_t i = 0; i < search->group_count; i++)
		unknown += between->processes[i] == LODE_NO_PID;
	if (lode_number_keys(between->processes, search->group_count, &distinct) < 0)
		return LODE_SYSTEM;
	/* LODE_NO_PID is the largest key, so it has the last number. */
	for (size_t i = 0; unknown && i < search->group_count; i++)
		if (between->processes[i] == distinct - 1)
			between->processes[i] = (uint32_t)(distinct + i);
	return 0;
}

static int between_init(struct between *between, struct search *search)
{
	const struct lode_symptom_rule *rule = search->rule;

	memset(between, 0, sizeof(*between));
	between->search = search;
	between->from_start = !strcmp(rule->first, "start");
	between->ways = lode_calloc(search->group_count + 1, sizeof(*between->ways));
	between->ends = stacks_with(search->stream, rule->second);
	if (!between->ways || !between->ends)
		return LODE_SYSTEM;
	if (between->from_start)
		return number_processes(between);
	between->begins = stacks_with(search->stream, rule->first);
	return between->begins ? 0 : LODE_SYSTEM;
}

static void between_release(struct between *between)
{
	lode_free(between->begins);
	lode_free(between->ends);
	lode_free(between->ways);
	lode_free(between->processes);
	lode_free(between->starts);
}

/* With `start` a thread has been on its way since the first event of its process. */
static void follow_start(struct between *between, size_t group, uint64_t t)
{
	struct way *start = &between->starts[between->processes[group]];
	struct way *way = &between->ways[group];

	if (!start->begun) {
		start->begun = 1;
		start->since = t;
	}
	if (!way->begun && !way->over) {
		way->begun = 1;
		way->since = start->since;
	}
}

static int handle_event(struct between *between, const struct lode_events *events, size_t i)
{
	struct search *search = between->search;
	size_t group = search->groups[events->thread[i]];
	struct way *way = &between->ways[group];
	int code = 0;

	if (between->from_start)
		follow_start(between, group, events->t[i]);
	if (way->begun && between->ends[events->stack[i]]) {
		if (events->t[i] > way->since && events->t[i] - way->since > search->rule->longer)
			code = add_symptom(search, events->thread[i], way->since, events->t[i]);
		way->begun = 0;
		way->over = 1;
	}
	if (!between->from_start && !way->begun && between->begins[events->stack[i]]) {
		way->begun = 1;
		way->since = events->t[i];
	}
	return code;
}

/* The type whose event number next[type] begins first; of equal starts the lower; -1: no event is left. */
static int next_type(const struct lode_stream *stream, const size_t next[])
{
	int first = -1;

	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		if (next[type] < stream->events[type].count &&
		    (first < 0 || stream->events[type].t[next[type]] < stream->events[first].t[next[first]]))
			first = type;
	return first;
}

static int find_between(struct search *search)
{
	size_t next[LODE_EVENT_TYPES] = { 0 };
	struct between between;
	int code = between_init(&between, search);
	int type;

	while (!code && (type = next_type(search->stream, next)) >= 0)
		code = handle_event(&between, &search->stream->events[type], next[type]++);
	between_release(&between);
	return code;
}

/* ---- request of NAME > D ---- */

static int find_requests(struct search *search)
{
	const struct lode_slow_requests slow = {
		.name = search->rule->first,
		.longer = search->rule->longer,
		.percent = search->rule->percent,
	};

	return lode_slow_requests_find(&slow, search->stream, search->idle, search->symptoms, search->count,
				       search->capacity, NULL);
}

static int find_gpus(struct search *search)
{
	return lode_gpu_symptoms_find(search->stream, search->symptoms, search->count, search->capacity);
}

/* ---- all of them ---- */

/* Appends the symptoms that a rule finds to `*symptoms` (lode_grow). */
static int apply_rule(const struct lode_symptom_rule *rule, const struct lode_stream *stream,
		      const struct lode_idle_stacks *idle, struct lode_symptom **symptoms, size_t *count,
		      size_t *capacity, struct lode_error *error)
{
	static int (*const find[])(struct search * search) = {
		[LODE_SYMPTOM_THREAD] = find_threads,  [LODE_SYMPTOM_WAIT] = find_waits,
		[LODE_SYMPTOM_BETWEEN] = find_between, [LODE_SYMPTOM_REQUEST] = find_requests,
		[LODE_SYMPTOM_GPU] = find_gpus,
	};
	struct search search = {
		.rule = rule,
		.stream = stream,
		.idle = idle,
		.symptoms = symptoms,
		.count = count,
		.capacity = capacity,
	};
	size_t before = *count;
	int code;

	search.groups = lode_threads_by_tid(stream, &search.group_count);
	code = search.groups ? find[rule->type](&search) : LODE_SYSTEM;
	lode_free(search.groups);
	if (code < 0)
		*count = before;
	return code < 0 ? lode_fail_memory(error) : 0;
}

static int compare_symptoms(const void *left, const void *right)
{
	const struct lode_symptom *a = left, *b = right;

	if (a->t0 != b->t0)
		return a->t0 < b->t0 ? -1 : 1;
	if (a->t1 != b->t1)
		return a->t1 < b->t1 ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static size_t drop_equal(struct lode_symptom *symptoms, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (!kept || compare_symptoms(&symptoms[kept - 1], &symptoms[i]))
			symptoms[kept++] = symptoms[i];
	return kept;
}

static int copy_own(const struct lode_stream *stream, struct lode_symptom **symptoms, size_t *count,
		    struct lode_error *error)
{
	if (!stream->symptom_count)
		return 0;
	*symptoms = lode_calloc(stream->symptom_count, sizeof(**symptoms));
	if (!*symptoms)
		return lode_fail_memory(error);
	memcpy(*symptoms, stream->symptoms, stream->symptom_count * sizeof(**symptoms));
	*count = stream->symptom_count;
	return 0;
}

int lode_symptoms_of(const struct lode_symptom_rules *rules, const struct lode_stream *stream,
		     const struct lode_idle_stacks *idle, struct lode_symptom **symptoms, size_t *count,
		     struct lode_error *error)
{
	size_t capacity = 0;
	int code = 0;

	*symptoms = NULL;
	*count = 0;
	if (!rules->count)
		return copy_own(stream, symptoms, count, error);
	for (size_t i = 0; i < rules->count && !code; i++)
		code = apply_rule(&rules->items[i], stream, idle, symptoms, count, &capacity, error);
	if (code < 0) {
		lode_free(*symptoms);
		*symptoms = NULL;
		*count = 0;
		return code;
	}
	if (*count)
		qsort(*symptoms, *count, sizeof(**symptoms), compare_symptoms);
	*count = drop_equal(*symptoms, *count);
	return 0;
}
