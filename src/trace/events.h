/*
 * Events in columns: one array per field, one set of arrays per type of event.
 *
 *	run	a CPU sample: at `t` the thread ran, which represents `cost` ns
 *	wait	blocked from `t` for `cost` ns, until the waker made it ready; then
 *		`delay` ns on the run queue
 *	call	a system event `name` with a stack, without a cost of its own. A
 *		preemption is one too: `preempt`, its run-queue time in `delay`
 *
 * A recorder that may not cost much leaves out most of the short waits and calls. An event
 * then carries a weight, how many such events it represents: the inverse of the chance
 * with which it was recorded. Sums of weight times cost, and of weights, are what all
 * events would come to, on average (Horvitz and Thompson); times, single costs and
 * longest ones are those of the event itself. Where nothing was left out every weight is 1.
 *
 * A wait may say what it was for: its object, a text `kind:name` (trace/objects.h), and
 * the thread that held it. Events without an object have no holder, so a zeroed event is
 * right in both. Any event may say on whose behalf it happened: its context, a text such as a query,
 * the name of a mark or `trace:ID span:ID`.
 *
 * Times and costs are nanoseconds. Stacks are nodes of the dictionary's stack
 * tree, threads are numbers in the stream's thread table.
 */
#ifndef LODE_TRACE_EVENTS_H
#define LODE_TRACE_EVENTS_H

#include "base/memory.h"

enum lode_event_type {
	LODE_RUN,
	LODE_WAIT,
	LODE_CALL,
	LODE_EVENT_TYPES,
};

/* "run", "wait", "call". */
const char *lode_event_type_name(enum lode_event_type type);

#define LODE_NO_CPU UINT16_MAX
/* How the contexts of OpenTelemetry begin. */
#define LODE_CONTEXT_OF_TRACE "trace:"
/* The name of calls that are preemptions. */
#define LODE_PREEMPTION "preempt"

/* Costs and ends of time spans are sums that stop at the largest number instead of wrapping. */
static inline uint64_t lode_add_saturating(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Which columns: for readers that want only some. */
enum lode_column {
	LODE_T = 1 << 0,
	LODE_COST = 1 << 1,
	LODE_DELAY = 1 << 2,
	LODE_THREAD = 1 << 3,
	LODE_STACK = 1 << 4,
	LODE_WAKER = 1 << 5,
	LODE_WAKER_STACK = 1 << 6,
	LODE_NAME = 1 << 7,
	LODE_CPU = 1 << 8,
	LODE_WEIGHT = 1 << 9,
	LODE_OBJECT = 1 << 10,
	LODE_HOLDER = 1 << 11,
	LODE_CONTEXT = 1 << 12,
	LODE_ALL_COLUMNS = (1 << 13) - 1,
	/* Those that are made when the first event needs them. */
	LODE_RARE_COLUMNS = LODE_WEIGHT | LODE_OBJECT | LODE_HOLDER | LODE_CONTEXT,
};

/* One event, all its fields. */
struct lode_event {
	uint64_t t;
	uint64_t cost;
	uint64_t delay; /* run-queue time; 0 when unknown */
	uint32_t thread;
	uint32_t stack;       /* 0: no stack */
	uint32_t waker;       /* thread, or LODE_NONE */
	uint32_t waker_stack; /* 0: unknown */
	uint32_t name;        /* string; 0: none */
	uint16_t cpu;         /* LODE_NO_CPU: unknown */
	uint32_t weight;      /* how many such events it represents; 0 is taken for 1 */
	uint32_t object;      /* string `kind:name`; 0: unknown */
	uint32_t holder;      /* thread, or LODE_NONE; nothing where there is no object */
	uint32_t context;     /* string; 0: unknown */
};

/* Columns of `count` events of one type; a column that was not requested when reading is NULL. */
struct lode_events {
	size_t count;
	size_t capacity;
	uint64_t *t;
	uint64_t *cost;
	uint64_t *delay;
	uint32_t *thread;
	uint32_t *stack;
	uint32_t *waker;
	uint32_t *waker_stack;
	uint32_t *name;
	uint16_t *cpu;
	uint32_t *weight;  /* at least 1; may be NULL as well where all are 1 */
	uint32_t *object;  /* may be NULL as well where there are none */
	uint32_t *holder;  /* LODE_NONE where there is no object; may be NULL as well where there are none */
	uint32_t *context; /* may be NULL as well where there are none */
};

static inline uint64_t lode_events_weight(const struct lode_events *events, size_t i)
{
	return events->weight ? events->weight[i] : 1;
}

/* What event `i` was for, a string; 0: unknown. */
static inline uint32_t lode_events_object(const struct lode_events *events, size_t i)
{
	return events->object ? events->object[i] : 0;
}

/* The thread that held it, or LODE_NONE. */
static inline uint32_t lode_events_holder(const struct lode_events *events, size_t i)
{
	return events->holder ? events->holder[i] : LODE_NONE;
}

/* The request that event `i` belonged to, a string; 0: unknown. */
static inline uint32_t lode_events_context(const struct lode_events *events, size_t i)
{
	return events->context ? events->context[i] : 0;
}

/* A cost or a delay times a weight. */
static inline uint64_t lode_weighted(uint64_t cost, uint64_t weight)
{
	uint64_t product;

	return __builtin_mul_overflow(cost, weight, &product) ? UINT64_MAX : product;
}

/* What event `i` adds to a sum of costs. */
static inline uint64_t lode_events_cost(const struct lode_events *events, size_t i)
{
	return lode_weighted(events->cost[i], lode_events_weight(events, i));
}

/*
 * What an event adds to the variance that leaving out others gave a sum of costs: events are
 * chosen independently of one another, so this is the usual estimate w (w - 1) cost^2.
 */
static inline double lode_sampling_variance(uint64_t cost, uint64_t weight)
{
	return (double)weight * (double)(weight - 1) * (double)cost * (double)cost;
}

/* Whether events were left out: some weight is more than 1. */
int lode_events_thinned(const struct lode_events *events);
/* Whether any of them says what it was for. */
int lode_events_have_objects(const struct lode_events *events);

/* A zeroed struct is an empty set. */
void lode_events_release(struct lode_events *events);
/*
 * Makes room for `capacity` events in the columns of the mask, which are made where they are missing, and in all that are
 * there already. Returns 0 or LODE_SYSTEM.
 */
int lode_events_reserve(struct lode_events *events, size_t capacity, unsigned columns);
/* Drops the events of all threads whose byte is 0; column thread. */
void lode_events_keep_threads(struct lode_events *events, const uint8_t *threads);
/*
 * Appends those events of `from` whose byte is not 0, with its columns; both have the same, except rare ones. Returns 0 or
 * LODE_SYSTEM.
 */
int lode_events_append(struct lode_events *events, const struct lode_events *from, const uint8_t *wanted);
/* The mask of the columns that are there. */
unsigned lode_events_columns(const struct lode_events *events);
/* Appends to all columns; rare ones only where they are there or needed. Returns 0 or LODE_SYSTEM. */
int lode_events_add(struct lode_events *events, const struct lode_event *event);
/* Event `i`; all columns must be there, except the rare ones. */
struct lode_event lode_events_get(const struct lode_events *events, size_t i);
/*
 * Sorts by time; events of equal time keep their order, so that what was exported
 * and imported again is as it was. Columns that are not there stay away; nearly
 * sorted input costs nearly nothing. Returns 0 or LODE_SYSTEM.
 */
int lode_events_sort(struct lode_events *events);

#endif
