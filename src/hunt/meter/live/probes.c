/*
 * Probes: see probes.h.
 *
 * Functions of one binary that are wanted at the same time are a *group*: one link
 * for each process. Taking one function out of a group makes a new group of the
 * others first, and then closes the old one: links are made in less than a
 * millisecond, but take some ten milliseconds to close, which happens in the background
 * (deferred_close.h). While both are in, an address is hit twice; the second hit at the
 * same stack pointer changes nothing but the number of calls.
 *
 * Links are for one process each, because a probe in a library would else stop
 * every program of the machine that uses it. Before Linux 6.10 such a link sees the
 * first thread only; there they are for all processes, and the BPF side
 * passes over those that are not hunted.
 *
 * Slots and groups are under one lock, since the caller and the keeper both change them;
 * that is why they are in one long file.
 */
#include "hunt/meter/live/probes.h"

#include "base/memory.h"
#include "hunt/meter/live/probe_cost.h"
#include "hunt/meter/live/deferred_close.h"
#include "base/quiet_thread.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Unused probes with at least this many hits a second are removed even if others of the group stay. */
#define WORTH_REMOVING 100.0

/* Nanoseconds of having been in that make a rate worth believing. */
#define RATE_TIME 1000000.0

struct slot {
	uint32_t binary;
	uint32_t users;
	uint32_t group; /* LODE_NONE: its probes are out */
	enum lode_probe_state state;
	int wanted;     /* goes in with the next insert */
	uint64_t since; /* when they went in */
	uint64_t hits;  /* then */
	uint64_t took;
	uint64_t time; /* nanoseconds before that with probes in, and hits and what they took during them */
	uint64_t time_hits;
	uint64_t time_took;
	char *path;
	struct lode_uprobe_place *places;
	size_t place_count;
};

struct link {
	uint32_t pid;
	int fd;
};

struct group {
	uint32_t binary;
	uint32_t *slots;
	size_t count; /* 0: the group is free */
	struct link *links;
	size_t link_count;
	size_t link_capacity;
};

struct lode_probes {
	struct lode_thread_clocks *clocks;
	struct lode_deferred_close *deferred_close;
	int for_all; /* links cannot be for one process on this kernel */
	pthread_mutex_t lock;
	struct slot slots[LODE_HUNT_SLOTS];
	uint32_t functions[LODE_HUNT_SLOTS]; /* by slot; LODE_NONE: free */
	struct group *groups;
	size_t group_count;
	size_t group_capacity;
	uint32_t *pids;
	size_t pid_count;
	size_t pid_capacity;
	struct lode_probes_event *events;
	size_t event_count;
	size_t event_capacity;
	int event;
	int end; /* eventfd: the keeper is to end */
	pthread_t keeper;
	int has_keeper;
	struct ring_buffer *messages;
};

/* ---- rates ---- */

static void begin_rate(struct lode_probes *probes, uint32_t number)
{
	struct slot *slot = &probes->slots[number];

	slot->since = lode_now();
	slot->hits = probes->clocks->slots[number].hits;
	slot->took = probes->clocks->slots[number].took;
}

static void end_rate(struct lode_probes *probes, uint32_t number)
{
	struct slot *slot = &probes->slots[number];

	slot->time += lode_now() - slot->since;
	slot->time_hits += probes->clocks->slots[number].hits - slot->hits;
	slot->time_took += probes->clocks->slots[number].took - slot->took;
}

/* Nanoseconds that a slot has had probes in. */
static double time_in(const struct slot *slot)
{
	return (double)slot->time + (slot->group == LODE_NONE ? 0 : (double)(lode_now() - slot->since));
}

/* Hits per second while the probes were in; below 0: too short to say. */
static double rate_of(const struct lode_probes *probes, uint32_t number)
{
	const struct slot *slot = &probes->slots[number];
	double time = time_in(slot), hits = (double)slot->time_hits;

	if (slot->group != LODE_NONE)
		hits += (double)(probes->clocks->slots[number].hits - slot->hits);
	return time < RATE_TIME ? -1 : hits / time * 1e9;
}

static double cost_rate_of(const struct lode_probes *probes, uint32_t number)
{
	const struct slot *slot = &probes->slots[number];
	double time = time_in(slot), took = (double)slot->time_took;

	if (slot->group != LODE_NONE)
		took += (double)(probes->clocks->slots[number].took - slot->took);
	return time < RATE_TIME ? -1 : took / time;
}

/* ---- groups; under the lock ---- */

static void close_links(struct lode_probes *probes, struct group *group)
{
	for (size_t i = 0; i < group->link_count; i++)
		lode_deferred_close_add(probes->deferred_close, group->links[i].fd);
	lode_free(group->links);
	lode_free(group->slots);
	memset(group, 0, sizeof(*group));
}

static size_t count_places(const struct lode_probes *probes, const uint32_t *slots, size_t count)
{
	size_t places = 0;

	for (size_t i = 0; i < count; i++)
		places += probes->slots[slots[i]].place_count;
	return places;
}

/* One link with the places of some slots in one process. Returns its descriptor, or a negative code. */
static int make_link(struct lode_probes *probes, const uint32_t *slots, size_t count, uint32_t pid,
		     struct lode_error *error)
{
	struct lode_uprobe_place *places = lode_calloc(count_places(probes, slots, count) + 1, sizeof(*places));
	size_t at = 0;
	int fd;

	if (!places)
		return lode_fail_memory(error);
	for (size_t i = 0; i < count; i++) {
		const struct slot *slot = &probes->slots[slots[i]];

		memcpy(places + at, slot->places, slot->place_count * sizeof(*places));
		at += slot->place_count;
	}
	fd = lode_uprobes_attach(lode_thread_clocks_program(probes->clocks), probes->slots[slots[0]].path, places,
				 at, pid, error);
	lode_free(places);
	return fd;
}

static int add_link(struct lode_probes *probes, struct group *group, uint32_t pid, struct lode_error *error)
{
	int fd = make_link(probes, group->slots, group->count, pid, error);

	if (fd < 0)
		return fd;
	if (LODE_APPEND(group->links, group->link_count, group->link_capacity, (struct link){ pid, fd }) == 0)
		return 0;
	lode_deferred_close_add(probes->deferred_close, fd);
	return lode_fail_memory(error);
}

static struct group *free_group(struct lode_probes *probes)
{
	for (size_t i = 0; i < probes->group_count; i++)
		if (!probes->groups[i].count)
			return &probes->groups[i];
	if (LODE_GROW(probes->groups, probes->group_capacity, probes->group_count + 1) < 0)
		return NULL;
	memset(&probes->groups[probes->group_count], 0, sizeof(*probes->groups));
	return &probes->groups[probes->group_count++];
}

static int is_alive(uint32_t pid)
{
	return kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

/* Puts the probes of some slots of one binary into all processes. */
static int make_group(struct lode_probes *probes, const uint32_t *slots, size_t count, struct lode_error *error)
{
	struct group *group = free_group(probes);
	int code = 0;

	if (!group)
		return lode_fail_memory(error);
	group->slots = lode_calloc(count, sizeof(*slots));
	if (!group->slots)
		return lode_fail_memory(error);
	memcpy(group->slots, slots, count * sizeof(*slots));
	group->count = count;
	group->binary = probes->slots[slots[0]].binary;
	if (probes->for_all)
		code = add_link(probes, group, 0, error);
	for (size_t i = 0; !code && !probes->for_all && i < probes->pid_count; i++) {
		code = add_link(probes, group, probes->pids[i], error);
		if (code && !is_alive(probes->pids[i]))
			code = 0; /* it has ended in between */
	}
	if (code) {
		close_links(probes, group);
		return code;
	}
	for (size_t i = 0; i < count; i++) {
		probes->slots[slots[i]].group = (uint32_t)(group - probes->groups);
		probes->slots[slots[i]].state = LODE_PROBE_IN;
	}
	return 0;
}

/* As make_group; where the kernel refuses some of the functions, the others go in. */
static int make_groups(struct lode_probes *probes, const uint32_t *slots, size_t count, struct lode_error *error)
{
	size_t half = count / 2;
	int code;

	if (!count || !make_group(probes, slots, count, error))
		return 0;
	if (count > 1) {
		code = make_groups(probes, slots, half, error);
		return code ? code : make_groups(probes, slots + half, count - half, error);
	}
	probes->slots[slots[0]].state = LODE_PROBE_IMPOSSIBLE;
	return 0;
}

static void leave_group(struct lode_probes *probes, uint32_t number)
{
	struct slot *slot = &probes->slots[number];

	slot->group = LODE_NONE;
	slot->state = probes->clocks->slots[number].flags & LODE_SLOT_MUTED ? LODE_PROBE_COSTLY : LODE_PROBE_OUT;
}

/* Leaves in the group only those that `stays` wants; all are removed where there is no memory for the
 * selection. */
static void thin_group(struct lode_probes *probes, size_t number,
		       int (*stays)(const struct slot *slot, const struct lode_hunt_slot *shared))
{
	struct group old = probes->groups[number];
	uint32_t *kept = lode_calloc(old.count, sizeof(*kept));
	struct lode_error ignored;
	size_t count = 0;

	memset(&probes->groups[number], 0, sizeof(old));
	for (size_t i = 0; i < old.count; i++) {
		uint32_t slot = old.slots[i];

		leave_group(probes, slot);
		if (kept && stays(&probes->slots[slot], &probes->clocks->slots[slot]))
			kept[count++] = slot;
		else
			end_rate(probes, slot);
	}
	make_groups(probes, kept, count, &ignored);
	close_links(probes, &old);
	lode_free(kept);
}

static int is_not_muted(const struct slot *slot, const struct lode_hunt_slot *shared)
{
	(void)slot;
	return !(shared->flags & LODE_SLOT_MUTED);
}

static int is_needed(const struct slot *slot, const struct lode_hunt_slot *shared)
{
	(void)shared;
	return slot->users > 0;
}

/* ---- the keeper ---- */

static void handle_muted(struct lode_probes *probes, uint32_t number)
{
	if (number >= LODE_HUNT_SLOTS)
		return;
	pthread_mutex_lock(&probes->lock);
	if (probes->slots[number].group != LODE_NONE)
		thin_group(probes, probes->slots[number].group, is_not_muted);
	pthread_mutex_unlock(&probes->lock);
}

static void keep_event(struct lode_probes *probes, const struct lode_hunt_message *message)
{
	uint64_t one = 1;

	pthread_mutex_lock(&probes->lock);
	(void)LODE_APPEND(probes->events, probes->event_count, probes->event_capacity,
			  (struct lode_probes_event){ (enum lode_hunt_message_type)message->type, message->pid,
						      message->tid, (int)message->slot });
	pthread_mutex_unlock(&probes->lock);
	if (write(probes->event, &one, sizeof(one)) < 0)
		return; /* it is readable already */
}

static int handle_message(void *context, void *bytes, size_t size)
{
	const struct lode_hunt_message *message = bytes;

	if (size < sizeof(*message))
		return 0;
	if (message->type == LODE_MESSAGE_MUTED)
		handle_muted(context, message->slot);
	keep_event(context, message);
	return 0;
}

static void *keep(void *argument)
{
	struct lode_probes *probes = argument;
	struct pollfd waited[2] = {
		{ ring_buffer__epoll_fd(probes->messages), POLLIN, 0 },
		{ probes->end, POLLIN, 0 },
	};

	while (!(waited[1].revents & POLLIN)) {
		poll(waited, 2, -1);
		ring_buffer__consume(probes->messages);
	}
	return NULL;
}

/* ---- life ---- */

static int is_before_6_10(void)
{
	struct utsname system;
	int major, minor;

	return uname(&system) == 0 && sscanf(system.release, "%d.%d", &major, &minor) == 2 &&
	       (major < 6 || (major == 6 && minor < 10));
}

static int start(struct lode_probes *probes, double cost, struct lode_error *error)
{
	struct lode_hunt_kernel_settings *settings = probes->clocks->settings;
	int code = lode_calibrate(probes->clocks, settings->hit_costs, error);

	if (code)
		return code;
	settings->window_limit = (uint64_t)(cost * (double)settings->window) + 1;
	probes->deferred_close = lode_deferred_close_create();
	if (!probes->deferred_close)
		return lode_fail_memory(error);
	probes->messages =
		ring_buffer__new(lode_thread_clocks_messages(probes->clocks), handle_message, probes, NULL);
	probes->end = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (probes->messages && probes->end >= 0)
		probes->has_keeper = !lode_quiet_thread(&probes->keeper, keep, probes);
	if (probes->has_keeper)
		return 0;
	return lode_fail(error, LODE_SYSTEM, "hunt: the ring buffer of its BPF programs cannot be opened: %s",
			 strerror(errno));
}

int lode_probes_create(struct lode_probes **result, struct lode_thread_clocks *clocks, double cost, int event,
		       struct lode_error *error)
{
	struct lode_probes *probes = lode_calloc(1, sizeof(*probes));
	int code;

	*result = NULL;
	if (!probes)
		return lode_fail_memory(error);
	probes->clocks = clocks;
	probes->event = event;
	probes->end = -1;
	probes->for_all = is_before_6_10();
	pthread_mutex_init(&probes->lock, NULL);
	for (size_t i = 0; i < LODE_HUNT_SLOTS; i++)
		probes->functions[i] = probes->slots[i].group = LODE_NONE;
	code = start(probes, cost, error);
	if (code) {
		lode_probes_destroy(probes);
		return code;
	}
	*result = probes;
	return 0;
}

static void end_keeper(struct lode_probes *probes)
{
	uint64_t one = 1;

	if (!probes->has_keeper)
		return;
	while (write(probes->end, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(probes->keeper, NULL);
}

void lode_probes_destroy(struct lode_probes *probes)
{
	if (!probes)
		return;
	end_keeper(probes);
	for (size_t i = 0; i < probes->group_count; i++)
		close_links(probes, &probes->groups[i]);
	lode_deferred_close_destroy(probes->deferred_close);
	ring_buffer__free(probes->messages);
	if (probes->end >= 0)
		close(probes->end);
	for (size_t i = 0; i < LODE_HUNT_SLOTS; i++) {
		lode_free(probes->slots[i].path);
		lode_free(probes->slots[i].places);
	}
	lode_free(probes->groups);
	lode_free(probes->pids);
	lode_free(probes->events);
	pthread_mutex_destroy(&probes->lock);
	lode_free(probes);
}

/* ---- processes ---- */

static int add_process(struct lode_probes *probes, uint32_t pid, struct lode_error *error)
{
	int code = 0;

	for (size_t i = 0; i < probes->pid_count; i++)
		if (probes->pids[i] == pid)
			return 0;
	if (LODE_APPEND(probes->pids, probes->pid_count, probes->pid_capacity, pid) < 0)
		return lode_fail_memory(error);
	for (size_t i = 0; !code && !probes->for_all && i < probes->group_count; i++) {
		if (probes->groups[i].count)
			code = add_link(probes, &probes->groups[i], pid, error);
		if (code && !is_alive(pid))
			code = 0;
	}
	return code;
}

int lode_probes_add_process(struct lode_probes *probes, uint32_t pid, struct lode_error *error)
{
	int code;

	pthread_mutex_lock(&probes->lock);
	code = add_process(probes, pid, error);
	pthread_mutex_unlock(&probes->lock);
	return code;
}

static void remove_links(struct lode_probes *probes, struct group *group, uint32_t pid)
{
	size_t kept = 0;

	for (size_t i = 0; i < group->link_count; i++) {
		if (group->links[i].pid == pid)
			lode_deferred_close_add(probes->deferred_close, group->links[i].fd);
		else
			group->links[kept++] = group->links[i];
	}
	group->link_count = kept;
}

void lode_probes_remove_process(struct lode_probes *probes, uint32_t pid)
{
	size_t kept = 0;

	pthread_mutex_lock(&probes->lock);
	for (size_t i = 0; i < probes->pid_count; i++)
		if (probes->pids[i] != pid)
			probes->pids[kept++] = probes->pids[i];
	probes->pid_count = kept;
	for (size_t i = 0; i < probes->group_count; i++)
		remove_links(probes, &probes->groups[i], pid);
	pthread_mutex_unlock(&probes->lock);
}

/* ---- slots; under the lock ---- */

static uint32_t find_slot(const struct lode_probes *probes, uint32_t function)
{
	for (uint32_t i = 0; i < probes->clocks->slot_count; i++)
		if (probes->functions[i] == function)
			return i;
	return LODE_NONE;
}

/* A slot without a function: one that never had any, else an unused one that no thread is in. */
static uint32_t free_slot(struct lode_probes *probes)
{
	uint32_t i = find_slot(probes, LODE_NONE);

	if (i != LODE_NONE)
		return i;
	for (i = 0; i < probes->clocks->slot_count; i++) {
		const struct slot *slot = &probes->slots[i];

		if (!slot->users && slot->group == LODE_NONE && !lode_thread_clocks_is_open(probes->clocks, i)) {
			lode_thread_clocks_clear_slot(probes->clocks, i);
			return i;
		}
	}
	return LODE_NONE;
}

static int copy_places(struct slot *slot, const struct lode_probe_wish *wish, uint32_t number)
{
	size_t count = wish->entry_count + (wish->sweeping ? 0 : wish->end_count);

	slot->places = lode_calloc(count + 1, sizeof(*slot->places));
	slot->path = lode_strdup(wish->path);
	if (!slot->places || !slot->path)
		return LODE_SYSTEM;
	for (size_t i = 0; i < count; i++) {
		int is_end = i >= wish->entry_count;

		size_t at = is_end ? i - wish->entry_count : i;
		uint32_t kind = is_end ? wish->end_kinds[at] : wish->entry_kinds[at];

		slot->places[i].offset = is_end ? wish->ends[at] : wish->entries[at];
		slot->places[i].cookie = number | kind << LODE_HUNT_KIND_SHIFT | (is_end ? LODE_HUNT_END : 0) |
					 (wish->sweeping ? LODE_HUNT_SWEEP : 0);
	}
	slot->place_count = count;
	return 0;
}

static int fill_slot(struct lode_probes *probes, uint32_t number, const struct lode_probe_wish *wish)
{
	struct slot *slot = &probes->slots[number];

	lode_free(slot->places);
	lode_free(slot->path);
	*slot = (struct slot){ .group = LODE_NONE, .binary = wish->binary };
	probes->functions[number] = LODE_NONE;
	if (copy_places(slot, wish, number) < 0)
		return LODE_SYSTEM;
	probes->functions[number] = wish->function;
	probes->clocks->slots[number].message = wish->message;
	probes->clocks->slots[number].flags = wish->waiting ? LODE_SLOT_WAITING : 0;
	return 0;
}

static int take(struct lode_probes *probes, struct lode_probe_wish *wish, struct lode_error *error)
{
	struct slot *slot;

	wish->slot = find_slot(probes, wish->function);
	wish->fresh = wish->slot == LODE_NONE;
	if (wish->slot == LODE_NONE) {
		wish->slot = free_slot(probes);
		if (wish->slot == LODE_NONE)
			return 0;
		if (fill_slot(probes, wish->slot, wish) < 0)
			return lode_fail_memory(error);
	}
	slot = &probes->slots[wish->slot];
	slot->users++;
	if (slot->group == LODE_NONE && slot->state != LODE_PROBE_IMPOSSIBLE)
		slot->wanted = 1;
	return 0;
}

int lode_probes_take(struct lode_probes *probes, struct lode_probe_wish *wish, struct lode_error *error)
{
	int code;

	pthread_mutex_lock(&probes->lock);
	code = take(probes, wish, error);
	pthread_mutex_unlock(&probes->lock);
	return code;
}

/* The slots that are to go in and are of the same binary as `first`. */
static size_t gather_wanted(struct lode_probes *probes, uint32_t first, uint32_t *slots)
{
	size_t count = 0;

	for (uint32_t i = first; i < LODE_HUNT_SLOTS; i++) {
		struct slot *slot = &probes->slots[i];

		if (!slot->wanted || slot->binary != probes->slots[first].binary)
			continue;
		slot->wanted = 0;
		if (!slot->users)
			continue;
		slot->state = LODE_PROBE_OUT;
		probes->clocks->slots[i].flags &= ~(uint32_t)LODE_SLOT_MUTED;
		begin_rate(probes, i);
		slots[count++] = i;
	}
	return count;
}

int lode_probes_insert(struct lode_probes *probes, struct lode_error *error)
{
	uint32_t *slots = lode_calloc(LODE_HUNT_SLOTS, sizeof(*slots));
	int code = 0;

	if (!slots)
		return lode_fail_memory(error);
	pthread_mutex_lock(&probes->lock);
	for (uint32_t i = 0; !code && i < LODE_HUNT_SLOTS; i++)
		if (probes->slots[i].wanted)
			code = make_groups(probes, slots, gather_wanted(probes, i, slots), error);
	pthread_mutex_unlock(&probes->lock);
	lode_free(slots);
	return code;
}

/* Whether it pays to make a group again without the probes that are no longer used. */
static int is_worth_thinning(struct lode_probes *probes, const struct group *group)
{
	size_t needless = 0;
	double rate = 0;

	for (size_t i = 0; i < group->count; i++) {
		if (probes->slots[group->slots[i]].users)
			continue;
		needless++;
		rate += rate_of(probes, group->slots[i]);
	}
	return needless && (needless == group->count || rate > WORTH_REMOVING);
}

void lode_probes_drop(struct lode_probes *probes, uint32_t number)
{
	if (number >= LODE_HUNT_SLOTS)
		return;
	pthread_mutex_lock(&probes->lock);
	if (probes->slots[number].users)
		probes->slots[number].users--;
	pthread_mutex_unlock(&probes->lock);
}

void lode_probes_tidy(struct lode_probes *probes)
{
	size_t count;

	pthread_mutex_lock(&probes->lock);
	count = probes->group_count; /* what is rebuilt needs no look */
	for (size_t i = 0; i < count; i++)
		if (is_worth_thinning(probes, &probes->groups[i]))
			thin_group(probes, i, is_needed);
	pthread_mutex_unlock(&probes->lock);
}

/* ---- asking ---- */

enum lode_probe_state lode_probes_state(struct lode_probes *probes, uint32_t slot)
{
	enum lode_probe_state state;

	pthread_mutex_lock(&probes->lock);
	state = slot < LODE_HUNT_SLOTS ? probes->slots[slot].state : LODE_PROBE_IMPOSSIBLE;
	pthread_mutex_unlock(&probes->lock);
	return state;
}

uint32_t lode_probes_slot(struct lode_probes *probes, uint32_t function)
{
	uint32_t slot;

	pthread_mutex_lock(&probes->lock);
	slot = find_slot(probes, function);
	pthread_mutex_unlock(&probes->lock);
	return slot;
}

double lode_probes_cost_rate(struct lode_probes *probes, uint32_t slot)
{
	double rate = -1;

	pthread_mutex_lock(&probes->lock);
	if (slot < LODE_HUNT_SLOTS)
		rate = cost_rate_of(probes, slot);
	pthread_mutex_unlock(&probes->lock);
	return rate;
}

struct lode_probes_event *lode_probes_events(struct lode_probes *probes, size_t *count)
{
	struct lode_probes_event *events;

	pthread_mutex_lock(&probes->lock);
	events = probes->events;
	*count = probes->event_count;
	probes->events = NULL;
	probes->event_count = probes->event_capacity = 0;
	pthread_mutex_unlock(&probes->lock);
	return events;
}
