/*
 * Facts: see recording_facts.h. Here the events: layout of samples, ids, and what each
 * event is used for. Feature sections are read in feature_sections.c.
 */
#include "import/kernel/perf_data/recording_facts.h"

#include "base/memory.h"
#include "base/starts_with.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

/* Least size of an attribute that was ever written (PERF_ATTR_SIZE_VER0). */
#define MIN_ATTR 64

void lode_perf_facts_init(struct lode_perf_facts *facts, struct lode_notes *notes)
{
	memset(facts, 0, sizeof(*facts));
	facts->notes = notes;
}

static void release_build_ids(struct lode_perf_build_ids *build_ids)
{
	lode_free(build_ids->items);
	lode_index_release(&build_ids->index);
}

void lode_perf_facts_release(struct lode_perf_facts *facts)
{
	lode_free(facts->events.items);
	lode_free(facts->ids.items);
	lode_index_release(&facts->id_index);
	release_build_ids(&facts->build_ids);
	release_build_ids(&facts->late_build_ids);
	lode_perf_tracepoints_release(&facts->tracepoints);
	lode_arena_release(&facts->arena);
	memset(facts, 0, sizeof(*facts));
}

int lode_perf_facts_is_late(struct lode_perf_facts *facts)
{
	if (facts->frozen)
		lode_notes_add(facts->notes, 1,
			       "descriptions of the recording that came after its first records, left out", NULL);
	return facts->frozen;
}

uint32_t lode_perf_facts_machine(const struct lode_perf_facts *facts)
{
	const char *arch = facts->arch ? facts->arch : "";

	if (lode_starts_with(arch, "x86"))
		return EM_X86_64;
	return lode_starts_with(arch, "aarch64") || lode_starts_with(arch, "arm64") ? EM_AARCH64 : 0;
}

/* ---- layout ---- */

/* Gives the next 8 bytes of a sample to `*place` if the sample type has `bit`. */
static void take(uint64_t type, uint64_t bit, uint16_t *place, uint16_t *end)
{
	if (!(type & bit))
		return;
	if (place)
		*place = *end;
	*end = (uint16_t)(*end + 8);
}

/* In the order of the kernel's sample; what follows the period is of no fixed size. */
static void lay_out_sample(struct lode_perf_layout *layout, uint64_t type)
{
	uint16_t identifier = 0;

	layout->end = sizeof(struct perf_event_header);
	take(type, PERF_SAMPLE_IDENTIFIER, &identifier, &layout->end);
	take(type, PERF_SAMPLE_IP, &layout->ip, &layout->end);
	take(type, PERF_SAMPLE_TID, &layout->tid, &layout->end);
	take(type, PERF_SAMPLE_TIME, &layout->time, &layout->end);
	take(type, PERF_SAMPLE_ADDR, NULL, &layout->end);
	take(type, PERF_SAMPLE_ID, &layout->id, &layout->end);
	take(type, PERF_SAMPLE_STREAM_ID, NULL, &layout->end);
	take(type, PERF_SAMPLE_CPU, &layout->cpu, &layout->end);
	take(type, PERF_SAMPLE_PERIOD, &layout->period, &layout->end);
	if (identifier)
		layout->id = identifier;
}

/* The trailer, from the end: identifier, cpu, stream id, id, time, tid. */
static void lay_out_trailer(struct lode_perf_layout *layout, uint64_t type)
{
	uint16_t end = 0;

	take(type, PERF_SAMPLE_IDENTIFIER, NULL, &end);
	if (type & PERF_SAMPLE_IDENTIFIER)
		layout->trailer_id = end;
	take(type, PERF_SAMPLE_CPU, NULL, &end);
	take(type, PERF_SAMPLE_STREAM_ID, NULL, &end);
	take(type, PERF_SAMPLE_ID, NULL, &end);
	if (type & PERF_SAMPLE_ID && !layout->trailer_id)
		layout->trailer_id = end;
	take(type, PERF_SAMPLE_TIME, NULL, &end);
	if (type & PERF_SAMPLE_TIME)
		layout->trailer_time = end;
	take(type, PERF_SAMPLE_TID, NULL, &end);
	if (type & PERF_SAMPLE_TID)
		layout->trailer_tid = end;
	layout->trailer = end;
}

int lode_perf_facts_add_event(struct lode_perf_facts *facts, const unsigned char *bytes, size_t size)
{
	struct lode_perf_event event = { .name = "" };

	if (lode_perf_facts_is_late(facts))
		return 0;
	if (size < MIN_ATTR || facts->events.count >= LODE_PERF_EVENTS_LIMIT)
		return LODE_BAD_INPUT;
	memcpy(&event.attr, bytes, size < sizeof(event.attr) ? size : sizeof(event.attr));
	lay_out_sample(&event.layout, event.attr.sample_type);
	if (event.attr.sample_id_all)
		lay_out_trailer(&event.layout, event.attr.sample_type);
	facts->by_id |= event.layout.id != 0;
	facts->has_frames |= (event.attr.sample_type & PERF_SAMPLE_CALLCHAIN) != 0;
	facts->has_build_ids |= event.attr.build_id;
	return LODE_PUSH(&facts->events, event);
}

/* ---- ids ---- */

const struct lode_perf_event *lode_perf_facts_event(const struct lode_perf_facts *facts, uint64_t id)
{
	uint32_t at = LODE_INDEX_FIND(i, &facts->id_index, lode_hash_u64(id), facts->ids.items[i].id == id);

	return at == LODE_NONE ? NULL : &facts->events.items[facts->ids.items[at].event];
}

static int add_id(struct lode_perf_facts *facts, size_t event, uint64_t id)
{
	if (lode_perf_facts_event(facts, id))
		return 0;
	return LODE_INDEX_PUSH(&facts->id_index, lode_hash_u64(id), &facts->ids,
			       (struct lode_perf_id){ id, (uint16_t)event });
}

int lode_perf_facts_add_ids(struct lode_perf_facts *facts, size_t event, const unsigned char *bytes, size_t count)
{
	if (facts->frozen || event >= facts->events.count)
		return 0;
	for (size_t i = 0; i < count; i++)
		if (add_id(facts, event, perf_u64(bytes + 8 * i)) < 0)
			return LODE_SYSTEM;
	return 0;
}

/* ---- what an event is used for ---- */

static int is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CPU_CLOCK || attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

static int has_word(const char *text, const char *word)
{
	return strstr(text, word) != NULL;
}

/* Names of cycle counters of a kind of core or machine: `cpu_core/cycles/P`, `armv8_pmuv3/cpu_cycles/`. */
static int is_named_cycles(const char *name)
{
	if (has_word(name, "stalled"))
		return 0;
	return has_word(name, "cycles") || has_word(name, "cpu_clk_unhalted") || has_word(name, "ibs_op");
}

static int is_hardware(const struct perf_event_attr *attr)
{
	return attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_TRACEPOINT &&
	       attr->type != PERF_TYPE_BREAKPOINT;
}

/* Cores of different kinds each have their own cycles: the upper half of the number says whose. */
static int is_cycles(const struct lode_perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	uint32_t config = (uint32_t)attr->config;

	if (attr->type == PERF_TYPE_HARDWARE)
		return config == PERF_COUNT_HW_CPU_CYCLES || config == PERF_COUNT_HW_REF_CPU_CYCLES;
	return is_hardware(attr) && is_named_cycles(event->name);
}

/* The event that perf record --off-cpu adds. */
static int is_off_cpu(const struct lode_perf_event *event)
{
	return event->attr.type == PERF_TYPE_SOFTWARE && event->attr.config == PERF_COUNT_SW_BPF_OUTPUT &&
	       !strcmp(event->name, "offcpu-time");
}

/* The one whose samples are the runs: the first clock or cycle counter, else the first hardware event. */
static const struct lode_perf_event *choose_runs(const struct lode_perf_facts *facts)
{
	for (size_t i = 0; i < facts->events.count; i++)
		if (is_clock(&facts->events.items[i].attr) || is_cycles(&facts->events.items[i]))
			return &facts->events.items[i];
	for (size_t i = 0; i < facts->events.count; i++)
		if (is_hardware(&facts->events.items[i].attr))
			return &facts->events.items[i];
	return NULL;
}

static int same_event(const struct perf_event_attr *a, const struct perf_event_attr *b)
{
	uint64_t mask = a->type == PERF_TYPE_HARDWARE ? UINT32_MAX : UINT64_MAX;

	return a->type == b->type && (a->config & mask) == (b->config & mask);
}

static enum lode_perf_costing costing_of(const struct lode_perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	if (is_clock(attr))
		return event->layout.period ? LODE_PERF_COST_PERIOD : LODE_PERF_COST_FREQUENCY;
	if (!is_cycles(event))
		return LODE_PERF_COST_EVENTS;
	return attr->freq && !event->layout.period ? LODE_PERF_COST_FREQUENCY : LODE_PERF_COST_COUNT;
}

static void use_for_runs(struct lode_perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	event->use = LODE_PERF_RUN;
	event->costing = costing_of(event);
	if (!attr->freq)
		event->cost = attr->sample_period;
	else if (event->costing == LODE_PERF_COST_EVENTS)
		event->cost = 1;
	else
		event->cost = attr->sample_freq ? 1000000000u / attr->sample_freq : 0;
}

static enum lode_perf_use use_of_tracepoint(const struct lode_perf_tracepoint *tracepoint)
{
	if (!strcmp(tracepoint->system, "sched"))
		return lode_perf_is_switch(tracepoint)   ? LODE_PERF_SWITCH
		       : lode_perf_is_waking(tracepoint) ? LODE_PERF_WAKING
							 : LODE_PERF_CALL;
	if (!strcmp(tracepoint->system, "raw_syscalls")) {
		if (!strcmp(tracepoint->name, "sys_exit"))
			return LODE_PERF_SYSCALL_EXIT;
		return lode_perf_has_field(tracepoint, FIELD_ID) ? LODE_PERF_SYSCALL : LODE_PERF_CALL;
	}
	if (!strcmp(tracepoint->system, "syscalls") && lode_starts_with(tracepoint->name, "sys_exit_"))
		return LODE_PERF_SYSCALL_EXIT;
	return LODE_PERF_CALL;
}

/* The name of calls: `openat` for a system call, `system:name` for another tracepoint. */
static const char *tracepoint_call_name(struct lode_arena *arena, const struct lode_perf_tracepoint *tracepoint)
{
	size_t system = strlen(tracepoint->system), name = strlen(tracepoint->name);
	char *text;

	if (!strcmp(tracepoint->system, "syscalls") && lode_starts_with(tracepoint->name, "sys_enter_"))
		return tracepoint->name + strlen("sys_enter_");
	text = lode_arena_bytes(arena, system + name + 2);
	if (!text)
		return NULL;
	memcpy(text, tracepoint->system, system);
	text[system] = ':';
	memcpy(text + system + 1, tracepoint->name, name + 1);
	return text;
}

/* Names for events without a description, as perf calls them. */
static const char *plain_name(const struct perf_event_attr *attr)
{
	static const char *const hardware[] = {
		"cycles",        "instructions", "cache-references",        "cache-misses",           "branches",
		"branch-misses", "bus-cycles",   "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles",
	};
	static const char *const software[] = {
		"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
		"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
		"emulation-faults", "dummy",        "bpf-output",   "cgroup-switches",
	};

	if (attr->type == PERF_TYPE_HARDWARE && (uint32_t)attr->config < sizeof(hardware) / sizeof(*hardware))
		return hardware[(uint32_t)attr->config];
	if (attr->type == PERF_TYPE_SOFTWARE && attr->config < sizeof(software) / sizeof(*software))
		return software[attr->config];
	return attr->type == PERF_TYPE_TRACEPOINT ? "tracepoint" : "event";
}

/* Tracepoints are known by their number; without formats only the name is left, and nothing of the raw bytes.
 */
static int settle_tracepoint(struct lode_perf_facts *facts, struct lode_perf_event *event)
{
	event->tracepoint = lode_perf_tracepoints_find(&facts->tracepoints, event->attr.config);
	if (!event->tracepoint) {
		lode_notes_add(facts->notes, 1, "tracepoints without a format, kept as calls", event->name);
		return 0;
	}
	event->use = use_of_tracepoint(event->tracepoint);
	if (event->use == LODE_PERF_CALL)
		event->name = tracepoint_call_name(&facts->arena, event->tracepoint);
	return event->name ? 0 : LODE_SYSTEM;
}

int lode_perf_facts_freeze(struct lode_perf_facts *facts)
{
	const struct lode_perf_event *runs;

	if (facts->frozen)
		return 0;
	for (size_t i = 0; i < facts->events.count; i++)
		if (!*facts->events.items[i].name)
			facts->events.items[i].name = plain_name(&facts->events.items[i].attr);
	runs = choose_runs(facts);
	for (size_t i = 0; i < facts->events.count; i++) {
		struct lode_perf_event *event = &facts->events.items[i];

		event->use = is_off_cpu(event) ? LODE_PERF_OFF_CPU : LODE_PERF_CALL;
		if (event->attr.type == PERF_TYPE_TRACEPOINT && settle_tracepoint(facts, event) < 0)
			return LODE_SYSTEM;
		if (runs && same_event(&event->attr, &runs->attr))
			use_for_runs(event);
	}
	facts->frozen = 1;
	return 0;
}
