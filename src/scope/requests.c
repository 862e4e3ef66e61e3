/*
 * Requests: see requests.h. Waits are in order of time, so one pass that remembers for each thread when its last wait in
 * the outer loop ended finds all; sorting brings those of a thread together.
 */
#include "scope/requests.h"

#include "base/sort_numbers.h"
#include "scope/client_waits.h"
#include "scope/frame_filter.h"
#include "scope/process_names.h"
#include "scope/scope_index.h"
#include "scope/states.h"
#include "scope/thread_lives.h"

#include <stdlib.h>
#include <string.h>

/* To look for data and to wait again takes a few microseconds, and the time until there is a processor. */
#define VAIN_NS 50000

/* Of the busy time: requests that come to less are a side of a stream that is about something else. */
#define MATTERING_SHARE 10

struct turn {
	uint64_t began;
	uint32_t loop; /* number plus one; 0: not known yet */
	uint64_t vain; /* it was woken in vain if it waits again within this time, ns */
	uint8_t begun;
	uint8_t thinned;    /* waits of the thread were left out */
	uint64_t waits;     /* in the loop, */
	uint64_t as_client; /* of these for replies, and */
	uint64_t as_server; /* for requests, where it is known */
};

struct search {
	struct lode_requests *requests;
	const struct lode_stream *stream;
	struct lode_work_waits *work;
	uint32_t *groups;
	size_t group_count;
	uint32_t *processes; /* names, by thread */
	struct turn *turns;  /* by group */
	uint8_t *in_vain;    /* by node: a waker with this stack brings no work; NULL: none does */
	uint8_t *polls;      /* by node: but it does for one that polls; NULL: none does */
};

void lode_requests_release(struct lode_requests *requests)
{
	lode_free(requests->items);
	lode_free(requests->loops);
	memset(requests, 0, sizeof(*requests));
}

/*
 * Room to write wakes all that wait for a socket, those that want to read as well: these go on waiting, and never leave the
 * kernel, unless data has come meanwhile. One that polls may have waited for just that.
 */
static const char *const room_to_write[] = { "kernel!unix_write_space", "kernel!sock_def_write_space",
					     "kernel!sk_stream_write_space", NULL };
static const char *const polling[] = { "kernel!ep_poll_callback", "kernel!pollwake", NULL };

static int search_init(struct search *search, const struct lode_stream *stream, const struct lode_idle_stacks *idle,
		       struct lode_requests *requests, struct lode_error *error)
{
	int code;

	*search = (struct search){ .requests = requests, .stream = stream };
	code = lode_work_waits_make(&search->work, stream, idle, error);
	if (code)
		return code;
	search->groups = lode_threads_by_tid(stream, &search->group_count);
	search->processes = lode_process_names(stream);
	search->turns = lode_calloc(stream->thread_count + 1, sizeof(*search->turns));
	if (!search->groups || !search->processes || !search->turns ||
	    lode_stacks_match(stream->dictionary, room_to_write, &search->in_vain) < 0 ||
	    lode_stacks_match(stream->dictionary, polling, &search->polls) < 0 ||
	    lode_work_waits_count(search->work, &stream->events[LODE_WAIT]) < 0 ||
	    lode_work_waits_settle(search->work) < 0)
		return lode_fail_memory(error);
	return 0;
}

static void search_release(struct search *search)
{
	lode_work_waits_free(search->work);
	lode_free(search->groups);
	lode_free(search->processes);
	lode_free(search->turns);
	lode_free(search->in_vain);
	lode_free(search->polls);
}

/* What people know a loop by: its last function of the program itself, where it has one. */
static uint32_t frame_of(const struct lode_dictionary *dictionary, uint32_t place)
{
	const struct lode_frames *frames = &dictionary->frames;

	for (uint32_t node = place; node; node = dictionary->tree.nodes[node].parent) {
		uint32_t frame = dictionary->tree.nodes[node].frame;

		if (frames->modules[frames->items[frame].module].kind != LODE_KIND_LIBRARY)
			return frame;
	}
	return dictionary->tree.nodes[place].frame;
}

/* Asked once a thread. LODE_NONE when memory has run out. */
static uint32_t loop_of(struct search *search, uint32_t thread, uint32_t place)
{
	struct lode_requests *requests = search->requests;
	struct lode_request_loop loop = {
		.process = search->processes[thread],
		.thread = search->stream->threads[thread].name,
		.frame = frame_of(search->stream->dictionary, place),
	};

	for (size_t i = 0; i < requests->loop_count; i++)
		if (requests->loops[i].process == loop.process && requests->loops[i].thread == loop.thread &&
		    requests->loops[i].frame == loop.frame)
			return (uint32_t)i;
	if (LODE_APPEND(requests->loops, requests->loop_count, requests->loop_capacity, loop) < 0)
		return LODE_NONE;
	return (uint32_t)requests->loop_count - 1;
}

static int add_request(struct search *search, const struct lode_request *request)
{
	struct lode_requests *requests = search->requests;
	struct lode_request_loop *loop = &requests->loops[request->loop];

	loop->count++;
	loop->time = lode_add_saturating(loop->time, request->t1 - request->t0);
	return LODE_APPEND(requests->items, requests->count, requests->capacity, *request);
}

static void find_thinned(struct search *search)
{
	const struct lode_events *waits = &search->stream->events[LODE_WAIT];

	for (size_t i = 0; waits->weight && i < waits->count; i++)
		search->turns[search->groups[waits->thread[i]]].thinned |= waits->weight[i] > 1;
}

/* The place where a wait is one of its thread's outer loop; 0: it is none. */
static uint32_t place_in_loop(const struct search *search, size_t i)
{
	const struct lode_events *waits = &search->stream->events[LODE_WAIT];
	uint32_t outer = lode_work_outer_place(search->work, search->groups[waits->thread[i]]);

	return outer && lode_work_stack_place(search->work, waits->stack[i]) == outer ? outer : 0;
}

/* Counts what threads wait for in their loops. Returns 0 or LODE_SYSTEM. */
static int find_clients(struct search *search)
{
	const struct lode_events *waits = &search->stream->events[LODE_WAIT];
	uint8_t *sides;

	if (!waits->object)
		return 0;
	sides = lode_socket_sides(search->stream);
	for (size_t i = 0; sides && i < waits->count; i++) {
		struct turn *turn = &search->turns[search->groups[waits->thread[i]]];

		if (!place_in_loop(search, i))
			continue;
		turn->waits++;
		turn->as_client += sides[waits->object[i]] == LODE_SIDE_CLIENT;
		turn->as_server += sides[waits->object[i]] == LODE_SIDE_SERVER;
	}
	lode_free(sides);
	return sides ? 0 : LODE_SYSTEM;
}

static int is_client(const struct turn *turn)
{
	return turn->as_client > turn->as_server && turn->as_client > turn->waits / 2;
}

static int is_woken_in_vain(const struct search *search, uint32_t waker_stack)
{
	return search->in_vain && search->in_vain[waker_stack] && !(search->polls && search->polls[waker_stack]);
}

/* A wait in the outer loop of its thread: a request is over, and the next begins with its end. */
static int handle_wait(struct search *search, size_t i, uint32_t place)
{
	const struct lode_events *waits = &search->stream->events[LODE_WAIT];
	struct turn *turn = &search->turns[search->groups[waits->thread[i]]];
	struct lode_request request = { turn->began, waits->t[i], waits->thread[i], 0 };
	int is_over = turn->begun && request.t1 > request.t0 && request.t1 - request.t0 > turn->vain;

	if (turn->thinned || is_client(turn))
		return 0;
	turn->begun = 1;
	turn->vain = is_woken_in_vain(search, waits->waker_stack[i])
			     ? VAIN_NS + (waits->delay ? waits->delay[i] : 0)
			     : 0;
	turn->began = lode_event_end(waits, (uint32_t)i);
	if (!is_over)
		return 0;
	if (!turn->loop)
		turn->loop = loop_of(search, request.thread, place) + 1;
	request.loop = turn->loop - 1;
	return request.loop == LODE_NONE ? LODE_SYSTEM : add_request(search, &request);
}

/* ---- threads that were started for a request ---- */

/* The first function of a thread that is not a library's, else its first. */
static uint32_t first_frame(const struct lode_dictionary *dictionary, uint32_t stack)
{
	const struct lode_frames *frames = &dictionary->frames;
	uint32_t first = 0, found = 0;

	for (uint32_t node = stack; node; node = dictionary->tree.nodes[node].parent) {
		first = dictionary->tree.nodes[node].frame;
		if (frames->modules[frames->items[first].module].kind != LODE_KIND_LIBRARY)
			found = first;
	}
	return found ? found : first;
}

/* Whether two names are equal but for a number and what follows it. */
static int names_differ(const char *left, const char *right)
{
	size_t length = strcspn(left, "0123456789");

	return length != strcspn(right, "0123456789") || memcmp(left, right, length) != 0;
}

/* The loop of all threads that processes of this name start under this name. */
static uint32_t loop_of_lives(struct search *search, uint32_t thread, uint32_t frame)
{
	struct lode_requests *requests = search->requests;
	const struct lode_strings *strings = &search->stream->dictionary->frames.strings;
	struct lode_request_loop loop = { .process = search->processes[thread],
					  .thread = search->stream->threads[thread].name,
					  .frame = frame,
					  .is_lives = 1 };

	for (size_t i = 0; i < requests->loop_count; i++)
		if (requests->loops[i].is_lives && requests->loops[i].process == loop.process &&
		    !names_differ(lode_strings_get(strings, requests->loops[i].thread),
				  lode_strings_get(strings, loop.thread)))
			return (uint32_t)i;
	if (LODE_APPEND(requests->loops, requests->loop_count, requests->loop_capacity, loop) < 0)
		return LODE_NONE;
	return (uint32_t)requests->loop_count - 1;
}

/*
 * A thread that ended before it came back to a loop was started for one request: all its life, or what follows its wait for the
 * request. What it waited for as a client is part of it.
 */
static int add_life(struct search *search, const struct turn *turn, const struct lode_thread_life *life)
{
	struct lode_request request = { life->first, life->last, life->thread, 0 };

	if (!life->whole || turn->thinned || turn->loop)
		return 0;
	if (turn->begun && turn->as_client <= turn->as_server && turn->began < life->last)
		request.t0 = turn->began;
	request.loop = loop_of_lives(search, life->thread, first_frame(search->stream->dictionary, life->stack));
	return request.loop == LODE_NONE ? LODE_SYSTEM : add_request(search, &request);
}

static int add_lives(struct search *search)
{
	struct lode_thread_life *lives = lode_thread_lives(search->stream, search->groups, search->group_count);
	int code = lives ? 0 : LODE_SYSTEM;

	for (size_t i = 0; !code && i < search->group_count; i++)
		code = add_life(search, &search->turns[i], &lives[i]) < 0 ? LODE_SYSTEM : 0;
	lode_free(lives);
	return code;
}

static int find_all(struct search *search)
{
	const struct lode_events *waits = &search->stream->events[LODE_WAIT];

	find_thinned(search);
	if (find_clients(search) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < waits->count; i++) {
		uint32_t outer = place_in_loop(search, i);

		if (outer && handle_wait(search, i, outer) < 0)
			return LODE_SYSTEM;
	}
	return add_lives(search);
}

static int compare_requests(const void *left, const void *right, void *context)
{
	const struct lode_request *a = left, *b = right;
	const uint32_t *groups = context;

	if (groups[a->thread] != groups[b->thread])
		return groups[a->thread] < groups[b->thread] ? -1 : 1;
	return a->t0 < b->t0 ? -1 : a->t0 > b->t0;
}

int lode_requests_of_stream(struct lode_requests *requests, const struct lode_stream *stream,
			    const struct lode_idle_stacks *idle, struct lode_error *error)
{
	struct search search;
	int code;

	memset(requests, 0, sizeof(*requests));
	if (!idle || !stream->events[LODE_WAIT].count)
		return 0;
	code = search_init(&search, stream, idle, requests, error);
	if (!code && find_all(&search) < 0)
		code = lode_fail_memory(error);
	if (!code && requests->count)
		qsort_r(requests->items, requests->count, sizeof(*requests->items), compare_requests,
			search.groups);
	search_release(&search);
	return code;
}

/* ---- which are slow ---- */

/* Slow requests that a loop has at least, if they are no more than a tenth of all. */
#define MIN_SLOW 10

static uint64_t limit_of(uint64_t *lengths, size_t count, unsigned percent)
{
	size_t slow = count * (100 - percent) / 100, least = count / 10 < MIN_SLOW ? count / 10 : MIN_SLOW;

	if (count < LODE_MIN_REQUESTS)
		return UINT64_MAX;
	slow = slow < least ? least : slow;
	lode_sort_u64(lengths, count);
	return lengths[count - slow - 1];
}

/* By loop the lengths of its requests, one loop after the other; NULL when memory has run out. */
static uint64_t *lengths_by_loop(const struct lode_requests *requests, size_t *ends)
{
	uint64_t *lengths = lode_calloc(requests->count + 1, sizeof(*lengths));
	size_t at = 0;

	for (size_t loop = 0; loop < requests->loop_count; loop++) {
		ends[loop] = at;
		at += requests->loops[loop].count;
	}
	for (size_t i = 0; lengths && i < requests->count; i++)
		lengths[ends[requests->items[i].loop]++] = requests->items[i].t1 - requests->items[i].t0;
	return lengths;
}

uint64_t *lode_requests_limits(const struct lode_requests *requests, unsigned percent)
{
	uint64_t *limits = lode_calloc(requests->loop_count + 1, sizeof(*limits));
	size_t *ends = lode_calloc(requests->loop_count + 1, sizeof(*ends));
	uint64_t *lengths = ends ? lengths_by_loop(requests, ends) : NULL;

	for (size_t loop = 0; limits && lengths && loop < requests->loop_count; loop++) {
		size_t count = requests->loops[loop].count;

		limits[loop] = limit_of(lengths + ends[loop] - count, count, percent);
	}
	if (!lengths) {
		lode_free(limits);
		limits = NULL;
	}
	lode_free(ends);
	lode_free(lengths);
	return limits;
}

/* ---- whether they matter ---- */

/* Time of all threads in states that count. */
static int busy_time(const struct lode_stream *stream, const struct lode_idle_stacks *idle, uint64_t *busy,
		     struct lode_error *error)
{
	struct lode_wait_classes classes = { 0 };
	struct lode_stream_states states = { 0 };
	int code = lode_wait_classes_make(&classes, stream, idle, 1, error);

	*busy = 0;
	if (!code)
		code = lode_states_of_stream(&states, stream, &classes, NULL, error);
	for (size_t i = 0; i < states.count; i++)
		for (int state = 0; state < LODE_STATES; state++)
			if (lode_state_counts((enum lode_state)state))
				*busy = lode_add_saturating(*busy, states.items[i].ns[state]);
	lode_stream_states_release(&states);
	lode_wait_classes_release(&classes);
	return code;
}

int lode_requests_matter(const struct lode_requests *requests, const struct lode_stream *stream,
			 const struct lode_idle_stacks *idle, struct lode_error *error)
{
	uint64_t time = 0, busy;
	int code;

	for (size_t i = 0; i < requests->loop_count; i++)
		if (requests->loops[i].count >= LODE_MIN_REQUESTS)
			time = lode_add_saturating(time, requests->loops[i].time);
	if (!time)
		return 0;
	code = busy_time(stream, idle, &busy, error);
	return code ? code : time >= busy / MATTERING_SHARE;
}
