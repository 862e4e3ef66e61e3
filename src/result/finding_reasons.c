/* Why there was no processor or no memory: see finding_reasons.h. */
#include "result/finding_reasons.h"

#include "base/units.h"
#include "result/machine_words.h"
#include "result/object_words.h"
#include "scope/crowds.h"
#include "trace/throttled.h"

#include <string.h>

/* Who has the processor for a good part of the time. */
static void put_behind(const struct lode_sentence *sentence)
{
	const struct lode_finding *finding = sentence->finding;
	struct lode_chain_link link;
	char share[LODE_UNITS_TEXT];

	if (!finding->behind_cost || finding->behind_cost < finding->cost / 10)
		return;
	link = lode_finding_link(sentence->source->findings, &sentence->source->area->chains, finding,
				 finding->chain, 0);
	lode_buffer_print(sentence->buffer, ", %s of it while ",
			  lode_share_text(finding->behind_cost, finding->cost, share));
	lode_sentence_another(sentence, &link, finding->behind_process, finding->behind_thread);
	lode_sentence_named(sentence, finding->behind_process, finding->behind_thread, 0);
	lode_sentence_put(sentence, " has the processor");
}

/* That it is woken together with many others, for a good part of the time. */
static void put_crowd(const struct lode_sentence *sentence)
{
	const struct lode_finding *finding = sentence->finding;
	const char *object;
	unsigned size;

	if (finding->crowd_cost < finding->cost / 4 || finding->crowd == LODE_NONE)
		return;
	object = lode_crowd_of(lode_sentence_text(sentence,
						  sentence->source->area->chains.links[finding->crowd].object),
			       &size);
	if (!object)
		return;
	lode_buffer_print(sentence->buffer, "; %u of them are woken at once", size);
	if (*object) {
		lode_sentence_put(sentence, " for ");
		lode_object_words(sentence->buffer, object);
	}
}

/* Programs that had the processor, recorded or not. */
static void put_neighbours(const struct lode_sentence *sentence)
{
	struct lode_neighbours found = { .count = 0 };

	lode_finding_neighbours(sentence->source, sentence->finding, 1, &found);
	/* The recorder looks at the end of each time only. */
	if (found.total < sentence->finding->cost / 20)
		return;
	lode_sentence_put(sentence, "; others had the processor: ");
	lode_neighbours_words(&found, found.total, sentence->buffer);
}

void lode_finding_put_reason(const struct lode_sentence *sentence)
{
	const struct lode_area *area = sentence->source->area;
	const struct lode_finding *finding = sentence->finding;
	struct lode_throttled longest = { NULL, 0 };
	char time[LODE_UNITS_TEXT];

	for (size_t i = 0; i < area->stream_count; i++) {
		struct lode_throttled one = lode_throttled_of(area->streams[i].attributes,
							      area->streams[i].attribute_count, sentence->strings);

		if (one.time > longest.time)
			longest = one;
	}
	put_behind(sentence);
	put_crowd(sentence);
	/*
	 * The kernel counts this for groups, not for threads: all that can be said is that it happened. Others may have had the
	 * processor for the rest.
	 */
	if (finding->behind_cost < finding->cost / 2 && longest.time < finding->cost / 2)
		put_neighbours(sentence);
	if (longest.path && longest.time >= finding->cost / 10)
		lode_buffer_print(sentence->buffer, "; cgroup %s had used up its quota for %s", longest.path,
				  lode_duration_text(longest.time, time));
}

/* Whether a thread runs to get pages, most of the time: in a page fault, or to make memory free. */
static int runs_for_memory(const struct lode_sentence *sentence, const struct lode_chain_link *last)
{
	static const char *const known[] = { "do_page_fault",      "exc_page_fault",
					     "asm_exc_page_fault", "do_user_addr_fault",
					     "handle_mm_fault",    "try_to_free_mem_cgroup_pages",
					     "do_mem_abort",       "do_swap_page" };
	const struct lode_finding *finding = sentence->finding;
	const struct lode_frames *frames = &sentence->source->area->dictionary.frames;

	if (last->state != LODE_STATE_RUNNING || !finding->callee_count ||
	    !lode_finding_callee_has_most(finding, 0) ||
	    strcmp(lode_frames_module_name(frames, finding->callees[0].frame), "kernel") != 0)
		return 0;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(lode_frames_function(frames, finding->callees[0].frame), known[i]))
			return 1;
	return 0;
}

/* The limit because of which pages are not there, or must be made free first. */
static void put_limit(const struct lode_sentence *sentence)
{
	const struct lode_area *area = sentence->source->area;
	struct lode_memory_limited most = { NULL, 0 };
	char times[LODE_UNITS_TEXT];

	for (size_t i = 0; i < area->stream_count; i++) {
		struct lode_memory_limited one = lode_memory_limited_of(area->streams[i].attributes,
									area->streams[i].attribute_count,
									sentence->strings);

		if (one.times > most.times)
			most = one;
	}
	/* It is counted for groups, not for threads, as quotas are; each wait is at least one time. */
	if (most.path && most.times >= sentence->finding->events)
		lode_buffer_print(sentence->buffer, "; cgroup %s was at its memory limit %s times", most.path,
				  lode_count_text(most.times, times));
}

void lode_finding_put_memory_limit(const struct lode_sentence *sentence, const struct lode_chain_link *last)
{
	if (last->state == LODE_STATE_PAGE || runs_for_memory(sentence, last))
		put_limit(sentence);
}
