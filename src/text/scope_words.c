/* Words of lode scope: see scope_words.h. */
#include "text/scope_words.h"

#include "base/memory.h"
#include "base/safe_text.h"
#include "base/units.h"
#include "result/object_words.h"
#include "scope/frame_filter.h"
#include "text/frame_text.h"
#include "trace/objects.h"
#include "trace/stolen_time.h"
#include "trace/throttled.h"

#include <inttypes.h>

/* ---- threads ---- */

int lode_scope_page_init(struct lode_scope_page *page)
{
	const struct lode_stream *stream = &page->report->stream;

	page->names = lode_calloc(page->report->dictionary.frames.strings.count + 1, sizeof(*page->names));
	if (!page->names)
		return LODE_SYSTEM;
	for (size_t i = 0; i < stream->thread_count; i++) {
		uint32_t *tid = &page->names[stream->threads[i].name];

		*tid = !*tid || *tid == stream->threads[i].tid + 1 ? stream->threads[i].tid + 1 : LODE_NONE;
	}
	return 0;
}

void lode_scope_page_release(struct lode_scope_page *page)
{
	lode_free(page->names);
}

void lode_put_string(struct lode_scope_page *page, uint32_t string)
{
	lode_text_safe(page->buffer, lode_strings_get(&page->report->dictionary.frames.strings, string));
}

/* On its own host. */
static uint32_t number_of(const struct lode_scope_page *page, uint32_t thread)
{
	uint32_t tid = page->report->stream.threads[thread].tid;

	return thread < page->report->hosts.own_threads || !page->report->hosts.count ? tid : lode_host_tid(tid);
}

void lode_put_thread(struct lode_scope_page *page, uint32_t thread)
{
	const struct lode_thread *item = &page->report->stream.threads[thread == LODE_NONE ? 0 : thread];

	if (thread == LODE_NONE) {
		lode_buffer_text(page->buffer, "whoever ended the wait");
		return;
	}
	if (!item->name) {
		lode_buffer_print(page->buffer, "thread %" PRIu32, number_of(page, thread));
		return;
	}
	lode_put_string(page, item->name);
	if (page->names[item->name] == LODE_NONE)
		lode_buffer_print(page->buffer, " (%" PRIu32 ")", number_of(page, thread));
}

/* ---- frames that matter ---- */

/* Functions of the kernel in which every wait and every waking ends. */
static const char *const machinery[] = {
	"*schedule*",
	"__switch_to*",
	"perf_*",
	"__perf_*",
	"__traceiter_*",
	"trace_event_*",
	"bpf_*",
	"ttwu_*",
	"try_to_wake_up*",
	"*wake_up*",
	"default_wake_*",
	"autoremove_wake_*",
	"_raw_spin*",
	"finish_task_switch*",
	"context_switch",
	"(interrupt)",
	NULL,
};

static int is_machinery(const struct lode_frames *frames, uint32_t frame)
{
	for (size_t i = 0; machinery[i]; i++)
		if (lode_glob_match(machinery[i], lode_frames_function(frames, frame)))
			return 1;
	return 0;
}

struct lode_gist lode_gist_of(const struct lode_scope_page *page, uint32_t node)
{
	const struct lode_frames *frames = &page->report->dictionary.frames;
	const struct lode_stack_node *nodes = page->report->dictionary.tree.nodes;
	struct lode_gist gist = { LODE_NONE, LODE_NONE, LODE_NONE };

	for (; node && gist.own == LODE_NONE; node = nodes[node].parent) {
		uint32_t frame = nodes[node].frame;

		switch (frames->modules[frames->items[frame].module].kind) {
		case LODE_KIND_KERNEL:
			if (gist.kernel == LODE_NONE && !is_machinery(frames, frame))
				gist.kernel = frame;
			break;
		case LODE_KIND_LIBRARY:
			if (gist.library == LODE_NONE)
				gist.library = frame;
			break;
		default:
			gist.own = frame;
		}
	}
	if (gist.own != LODE_NONE && gist.library != LODE_NONE)
		gist.kernel = LODE_NONE; /* two frames are enough */
	return gist;
}

int lode_gist_compare(const struct lode_gist *a, const struct lode_gist *b)
{
	if (a->own != b->own)
		return a->own < b->own ? -1 : 1;
	if (a->library != b->library)
		return a->library < b->library ? -1 : 1;
	return a->kernel < b->kernel ? -1 : a->kernel > b->kernel;
}

void lode_put_gist(struct lode_scope_page *page, struct lode_gist gist)
{
	const uint32_t frames[] = { gist.own, gist.library, gist.kernel };
	const char *lead = "";

	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		if (frames[i] == LODE_NONE)
			continue;
		lode_buffer_text(page->buffer, lead);
		lode_text_frame(page->buffer, &page->report->dictionary.frames, frames[i]);
		lead = " > ";
	}
	if (!*lead)
		lode_buffer_text(page->buffer, "(no stack)");
}

struct lode_scope_object lode_scope_object_of(const struct lode_scope_page *page, uint32_t wait)
{
	const struct lode_events *waits = &page->report->stream.events[LODE_WAIT];

	return (struct lode_scope_object){ lode_events_object(waits, wait), lode_scope_holder(page->report, wait) };
}

static void put_object(struct lode_scope_page *page, struct lode_scope_object object)
{
	const char *text = lode_strings_get(&page->report->dictionary.frames.strings, object.text);
	int is_thread = lode_object_kind_of(text) == LODE_OBJECT_THREAD;

	lode_buffer_text(page->buffer, " for ");
	if (is_thread && object.holder != LODE_NONE)
		lode_buffer_text(page->buffer, "the end of ");
	else
		lode_object_words(page->buffer, text);
	if (object.holder != LODE_NONE) {
		lode_buffer_text(page->buffer, is_thread ? "" : ", held by ");
		lode_put_thread(page, object.holder);
	}
	lode_buffer_text(page->buffer, ",");
}

void lode_put_wait(struct lode_scope_page *page, uint32_t thread, struct lode_gist gist,
		   struct lode_scope_object object)
{
	lode_put_thread(page, thread);
	lode_buffer_text(page->buffer, " waits");
	if (object.text)
		put_object(page, object);
	lode_buffer_text(page->buffer, " in ");
	lode_put_gist(page, gist);
}

/* ---- states ---- */

void lode_put_ready(struct lode_scope_page *page, uint32_t thread, uint32_t behind)
{
	lode_put_thread(page, thread);
	lode_buffer_text(page->buffer, " is ready and waits for a processor");
	if (behind == LODE_NONE)
		return;
	lode_buffer_text(page->buffer, ", which ");
	lode_put_thread(page, behind);
	lode_buffer_text(page->buffer, " has");
}

/* The quota counts for a group of threads and the whole stream, so it is told where threads were ready for long. */
static void put_throttled(struct lode_scope_page *page, uint64_t length)
{
	struct lode_throttled throttled = lode_stream_throttled(&page->report->stream);
	char time[LODE_UNITS_TEXT];

	if (!throttled.path || page->found->states[LODE_STATE_READY] < length / 10)
		return;
	lode_buffer_text(page->buffer, "  ready, but throttled: cgroup ");
	lode_text_safe(page->buffer, throttled.path);
	lode_buffer_print(page->buffer, " had used up its quota for %s while it was recorded\n",
			  lode_duration_text(throttled.time, time));
}

/* The states of a path, the longest first; what is unknown was said already. */
static void put_stolen(struct lode_scope_page *page)
{
	double percent = lode_stream_stolen(&page->report->stream);

	if (percent >= LODE_MIN_STOLEN)
		lode_buffer_print(page->buffer,
				  "  the hypervisor took %.1f%% of the processors' time while this was recorded\n",
				  percent);
}

/* How the clocks of hosts that were joined differ. */
static void put_hosts(struct lode_scope_page *page)
{
	const struct lode_joined_hosts *hosts = &page->report->hosts;
	char offset[LODE_UNITS_TEXT], error[LODE_UNITS_TEXT], count[LODE_UNITS_TEXT];

	for (size_t i = 0; i < hosts->count; i++) {
		const struct lode_host_clock *clock = &hosts->items[i].clock;
		uint64_t size = clock->offset < 0 ? (uint64_t)-clock->offset : (uint64_t)clock->offset;

		if (!clock->exchanges)
			continue;
		lode_buffer_text(page->buffer, "  joined with ");
		lode_text_safe(page->buffer, hosts->items[i].entry->host);
		lode_buffer_print(page->buffer, ": its clock is %s %s, to within %s, by %s exchange%s\n",
				  lode_duration_text(size, offset), clock->offset < 0 ? "behind" : "ahead",
				  lode_duration_text(clock->error, error),
				  lode_count_text(clock->exchanges, count), lode_plural(clock->exchanges));
	}
}

void lode_put_states(struct lode_scope_page *page)
{
	const struct lode_scope_found *found = page->found;
	uint64_t length = found->symptom.t1 > found->symptom.t0 ? found->symptom.t1 - found->symptom.t0 : 0;
	unsigned done = 1u << LODE_STATE_NOT_RECORDED;
	const char *lead = "  ";
	char share[LODE_UNITS_TEXT];

	for (int rest = LODE_STATES; rest--;) {
		int next = -1;

		for (int state = 0; state < LODE_STATES; state++)
			if (found->states[state] && !(done & 1u << state) &&
			    (next < 0 || found->states[state] > found->states[next]))
				next = state;
		if (next < 0)
			break;
		lode_buffer_print(page->buffer, "%s%s %s", lead, lode_state_name((enum lode_state)next),
				  lode_share_text(found->states[next], length, share));
		if (next == LODE_STATE_RUNNING && found->in_kernel)
			lode_buffer_print(page->buffer, " (in the kernel %s)",
					  lode_share_text(found->in_kernel, length, share));
		done |= 1u << next;
		lead = ", ";
	}
	lode_buffer_text(page->buffer, *lead == ',' ? "\n" : "");
	put_throttled(page, length);
	put_stolen(page);
	put_hosts(page);
}

/* ---- wakers ---- */

static int is_timer(const struct lode_scope_page *page, uint32_t node)
{
	const struct lode_frames *frames = &page->report->dictionary.frames;
	const struct lode_stack_node *nodes = page->report->dictionary.tree.nodes;

	for (; node; node = nodes[node].parent)
		if (lode_glob_match("*timer*", lode_frames_function(frames, nodes[node].frame)))
			return 1;
	return 0;
}

/* The most informative frame of a waker. */
static void put_place(struct lode_scope_page *page, const char *lead, uint32_t stack)
{
	struct lode_gist gist = lode_gist_of(page, stack);
	uint32_t frame = gist.own != LODE_NONE ? gist.own : gist.library != LODE_NONE ? gist.library : gist.kernel;

	if (frame == LODE_NONE)
		return;
	lode_buffer_text(page->buffer, lead);
	lode_text_frame(page->buffer, &page->report->dictionary.frames, frame);
}

static void put_interrupt(struct lode_scope_page *page, uint32_t stack)
{
	struct lode_gist gist = lode_gist_of(page, stack);

	lode_buffer_text(page->buffer, is_timer(page, stack) ? ", woken by a timer" : ", woken by an interrupt");
	if (gist.kernel == LODE_NONE)
		return;
	lode_buffer_text(page->buffer, " in ");
	lode_text_frame(page->buffer, &page->report->dictionary.frames, gist.kernel);
}

void lode_put_waker(struct lode_scope_page *page, uint32_t wait)
{
	const struct lode_events *waits = &page->report->stream.events[LODE_WAIT];
	uint32_t stack = waits->waker_stack[wait];

	if (lode_wake_ends_chain(page->report->index, wait)) {
		put_interrupt(page, stack);
	} else if (waits->waker[wait] != LODE_NONE) {
		lode_buffer_text(page->buffer, ", woken by ");
		lode_put_thread(page, waits->waker[wait]);
		put_place(page, " in ", stack);
	} else {
		lode_buffer_text(page->buffer, ", waker not recorded");
		put_place(page, ", in ", stack);
	}
}
