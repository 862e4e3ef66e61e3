/* A finding as a sentence: see finding_words.h. */
#include "result/finding_words.h"

#include "base/units.h"
#include "result/object_words.h"
#include "scope/crowds.h"
#include "scope/javascript_plumbing.h"
#include "scope/own_frames.h"
#include "scope/plumbing.h"
#include "scope/states.h"
#include "trace/objects.h"
#include "trace/script_modules.h"
#include "trace/throttled.h"

#include <string.h>

/* Links between the first and the last one that a sentence names. */
#define MIDDLE_LINKS 2

struct sentence {
	const struct lode_finding_source *source;
	const struct lode_finding *finding;
	const struct lode_strings *strings;
	const struct lode_chain_link *first;
	struct lode_buffer *buffer;
};

static const char *text(const struct sentence *sentence, uint32_t string)
{
	return lode_strings_get(sentence->strings, string);
}

static void put(const struct sentence *sentence, const char *words)
{
	lode_buffer_text(sentence->buffer, words);
}

/* ---- names ---- */

/* Of a process and its thread on another host (scope/host_joins.h) the host is named once. */
static int without_host(const char *process, const char *thread)
{
	const char *host = strrchr(process, '@'), *own = strrchr(thread, '@');

	return (int)(host && own && !strcmp(host, own) ? (size_t)(host - process) : strlen(process));
}

static void put_name(struct lode_buffer *buffer, const char *process, const char *thread, int beside)
{
	/* Threads that nobody gave a name are called as what runs the script. */
	if (*process && lode_program_runs_scripts(thread))
		thread = "";
	if (!*thread && !*process)
		lode_buffer_text(buffer, "a thread");
	else if (!*thread || !strcmp(thread, process))
		lode_buffer_text(buffer, *process ? process : thread);
	else if (beside || !*process)
		lode_buffer_text(buffer, thread);
	else
		lode_buffer_print(buffer, "%.*s/%s", without_host(process, thread), process, thread);
}

void lode_finding_thread(const struct lode_finding_source *source, const struct lode_chain_link *link,
			 const struct lode_chain_link *beside, struct lode_buffer *buffer)
{
	const struct lode_strings *strings = &source->area->dictionary.frames.strings;

	put_name(buffer, lode_strings_get(strings, link->process), lode_strings_get(strings, link->thread),
		 beside && beside->process == link->process);
}

static void put_thread(const struct sentence *sentence, const struct lode_chain_link *link)
{
	lode_finding_thread(sentence->source, link, sentence->first, sentence->buffer);
}

/* No thread waits for itself: one of the same name is another. */
static void put_another(const struct sentence *sentence, const struct lode_chain_link *link, uint32_t process,
			uint32_t thread)
{
	if (link->process == process && link->thread == thread && (process || thread))
		put(sentence, "another ");
}

/* Who has what a link waits for, or was the one to wake it. */
static void put_holder(const struct sentence *sentence, const struct lode_chain_link *link)
{
	int has = link->state == LODE_STATE_LOCK || link->state == LODE_STATE_GIL;

	if (!link->holder)
		return;
	if (link->state == LODE_STATE_CHILD) {
		/* An object tells which child it is, too. */
		if (!*lode_object_name(text(sentence, link->object)))
			lode_buffer_print(sentence->buffer, " %s", text(sentence, link->holder));
		return;
	}
	put(sentence, has ? ", which " : " from ");
	put_another(sentence, link, link->holder_process, link->holder);
	put_name(sentence->buffer, text(sentence, link->holder_process), text(sentence, link->holder),
		 link->holder_process == sentence->first->process);
	put(sentence, has ? " holds" : "");
}

/* A function; where it is not one of the program itself, with its library or source file. */
static void put_frame(const struct sentence *sentence, uint32_t frame)
{
	const struct lode_frames *frames = &sentence->source->area->dictionary.frames;
	const struct lode_module *module = &frames->modules[frames->items[frame].module];

	if (module->kind == LODE_KIND_USER && !strchr(text(sentence, module->name), '.') &&
	    strncmp(lode_frames_function(frames, frame), "0x", 2) != 0)
		put(sentence, lode_frames_function(frames, frame));
	else
		lode_frames_text(frames, frame, sentence->buffer);
}

/* ---- symptoms ---- */

void lode_finding_symptom_word(const struct lode_finding_source *source, struct lode_buffer *buffer)
{
	const char *name = lode_strings_get(&source->area->dictionary.frames.strings, source->findings->symptom);

	if (source->area->requests || !strncmp(name, "request of ", 11))
		lode_buffer_text(buffer, "request");
	else if (!strncmp(name, "run of ", 7))
		lode_buffer_text(buffer, "run");
	else
		lode_buffer_text(buffer, *name && !strchr(name, ' ') ? name : "symptom");
}

/* How long, for each symptom where there are several: " 29.6ms a click". */
static void put_time(const struct sentence *sentence)
{
	uint64_t symptoms = sentence->source->findings->symptoms;
	char duration[LODE_UNITS_TEXT];

	lode_buffer_print(sentence->buffer, " %s",
			  lode_duration_text(sentence->finding->cost / (symptoms ? symptoms : 1), duration));
	if (symptoms > 1) {
		put(sentence, " a ");
		lode_finding_symptom_word(sentence->source, sentence->buffer);
	}
}

/* ---- what is waited for ---- */

/* Pipes, sockets and files lead to another thread; of conditions and the like it is enough to know who ended the wait. */
static int is_way(enum lode_object_kind kind)
{
	return kind == LODE_OBJECT_PIPE || kind == LODE_OBJECT_UNIX || kind == LODE_OBJECT_TCP ||
	       kind == LODE_OBJECT_UDP || kind == LODE_OBJECT_SOCKET || kind == LODE_OBJECT_FILE;
}

/* Descriptors that several things come through. */
static int is_set(enum lode_object_kind kind)
{
	return kind == LODE_OBJECT_EPOLL || kind == LODE_OBJECT_POLL || kind == LODE_OBJECT_EVENTFD;
}

/* The object of a wait, in words; 0 where it has none that says more than the state. */
static int put_object(const struct sentence *sentence, const struct lode_chain_link *link)
{
	const char *object = text(sentence, link->object), *name = lode_object_name(object);
	enum lode_object_kind kind = lode_object_kind_of(object);

	if (kind == LODE_OBJECT_NONE || kind == LODE_OBJECT_TIMER || kind == LODE_OBJECT_OTHER)
		return 0;
	/* A lock of the program's own making: the descriptors are only how it is waited for. */
	if (link->state == LODE_STATE_LOCK && is_set(kind))
		return 0;
	/* It wanted to write there, and had no memory for that. */
	if (link->state == LODE_STATE_PAGE && kind != LODE_OBJECT_PAGE)
		return 0;
	if (kind == LODE_OBJECT_GIL) {
		put(sentence, "the GIL");
		return 1;
	}
	/* The number of a pipe or socket tells nothing, nor does the address of a lock that has no name. */
	if (*name == '[')
		lode_buffer_print(sentence->buffer, "a %s", lode_object_kind_name(kind));
	else if (!strncmp(name, "0x", 2) && strchr(name, ' '))
		lode_buffer_print(sentence->buffer, "the %s%s", lode_object_kind_name(kind), strchr(name, ' '));
	else if (*name)
		lode_object_words(sentence->buffer, object);
	return *name != '\0';
}

static const char *state_words(uint32_t state)
{
	static const char *const words[LODE_STATES] = {
		[LODE_STATE_LOCK] = "a lock",         [LODE_STATE_REPLY] = "a reply", [LODE_STATE_DISK] = "disk",
		[LODE_STATE_NETWORK] = "the network", [LODE_STATE_GIL] = "the GIL",   [LODE_STATE_PAGE] = "memory",
		[LODE_STATE_CHILD] = "its child",     [LODE_STATE_WORK] = "work",
	};

	return words[state] ? words[state] : "something";
}

static void put_goal(const struct sentence *sentence, const struct lode_chain_link *link)
{
	if (!put_object(sentence, link))
		put(sentence, state_words(link->state));
}

/* ---- what a thread does ---- */

static int is_interpreters(const struct sentence *sentence, uint32_t frame)
{
	const struct lode_frames *frames = &sentence->source->area->dictionary.frames;
	const char *module = lode_frames_module_name(frames, frame);

	return lode_module_is_interpreter(module) ||
	       (lode_module_is_node(module) && lode_frames_have_javascript(frames));
}

/* Whether callee `i` has most of the time, and no other nearly as much. */
static int has_most(const struct lode_finding *finding, uint32_t i)
{
	const struct lode_finding_callee *callee = &finding->callees[i];

	return callee->cost > finding->cost / 2 &&
	       (i + 1 == finding->callee_count || callee[1].cost < callee->cost / 2);
}

/* What it calls there; that a script's function calls the interpreter is no news. */
static void put_callees(const struct sentence *sentence)
{
	const struct lode_finding *finding = sentence->finding;
	char share[LODE_UNITS_TEXT];
	unsigned shown = 0;

	for (uint32_t i = 0; i < finding->callee_count; i++) {
		const struct lode_finding_callee *callee = &finding->callees[i];

		if (is_interpreters(sentence, callee->frame) || callee->cost < finding->cost / 10)
			continue;
		if (has_most(finding, i))
			put(sentence, ", most of it in ");
		else
			lode_buffer_print(sentence->buffer, "%s%s in ", shown ? ", " : ": ",
					  lode_share_text(callee->cost, finding->cost, share));
		put_frame(sentence, callee->frame);
		shown++;
		if (has_most(finding, i))
			return;
	}
}

/* That main calls something is no news. */
static int names_caller(const struct sentence *sentence)
{
	const struct lode_frames *frames = &sentence->source->area->dictionary.frames;
	const struct lode_finding *finding = sentence->finding;

	return finding->caller != LODE_NONE && finding->caller != finding->frame &&
	       !lode_function_starts_program(lode_frames_function(frames, finding->caller));
}

/* Where it does so; where other places have a part of it, says so. */
static void put_place(const struct sentence *sentence)
{
	const struct lode_finding *finding = sentence->finding;
	char share[LODE_UNITS_TEXT];

	if (finding->frame == LODE_NONE)
		return;
	if (finding->place_cost < finding->cost / 20 * 19)
		lode_buffer_print(sentence->buffer, ", %s of it",
				  lode_share_text(finding->place_cost, finding->cost, share));
	put(sentence, " in ");
	put_frame(sentence, finding->frame);
	if (names_caller(sentence)) {
		put(sentence, ", called by ");
		put_frame(sentence, finding->caller);
	}
}

/* Whether it waits for something that has a name. */
static int has_goal(const struct lode_chain_link *link)
{
	if (!lode_state_is_wait((enum lode_state)link->state) || link->state == LODE_STATE_TIMER ||
	    link->state == LODE_STATE_IDLE)
		return 0;
	return link->object || link->state != LODE_STATE_OTHER_WAIT;
}

/* Whether it waited for a peer, with a limit, and nothing came. */
static int times_out(const struct sentence *sentence, const struct lode_chain_link *link)
{
	enum lode_object_kind kind = lode_object_kind_of(text(sentence, link->object));

	return link->state == LODE_STATE_TIMER && is_way(kind) && *lode_object_name(text(sentence, link->object));
}

/* " waits 2s for UDP 10.0.0.1:53 until it times out, in ask" */
static void put_time_out(const struct sentence *sentence, const struct lode_chain_link *link, int timed)
{
	put(sentence, " waits");
	if (timed)
		put_time(sentence);
	put(sentence, " for ");
	put_goal(sentence, link);
	put(sentence, " until it times out");
	put_place(sentence);
}

/* What the thread does that the time went to. `timed`: the sentence has not said how long yet. */
static void put_end(const struct sentence *sentence, const struct lode_chain_link *link, int timed)
{
	int is_from = link->holder && link->state != LODE_STATE_CHILD;

	if (times_out(sentence, link)) {
		put_time_out(sentence, link, timed);
		return;
	}
	switch ((enum lode_state)link->state) {
	case LODE_STATE_RUNNING:
		put(sentence, " runs");
		break;
	case LODE_STATE_READY:
		put(sentence, " is ready but not running");
		break;
	case LODE_STATE_TIMER:
		put(sentence, " sleeps");
		break;
	case LODE_STATE_IDLE:
		put(sentence, " is idle");
		break;
	default:
		put(sentence, " waits");
	}
	if (timed)
		put_time(sentence);
	if (link->state != LODE_STATE_READY && is_from)
		put_place(sentence);
	if (has_goal(link)) {
		put(sentence, " for ");
		put_goal(sentence, link);
		put_holder(sentence, link);
	}
	if (link->state != LODE_STATE_READY && !is_from)
		put_place(sentence);
	if (link->state == LODE_STATE_RUNNING)
		put_callees(sentence);
}

/* ---- the chain ---- */

/* The links of the finding's chain, first to last, `most` at most: in longer ones some before the last are left out. */
static size_t list_links(const struct lode_chains *chains, uint32_t chain, const struct lode_chain_link **links,
			 size_t most, int *cut)
{
	size_t length = 1, at;

	for (uint32_t i = chain; chains->links[i].before != LODE_NONE; i = chains->links[i].before)
		length++;
	*cut = length > most;
	at = length;
	for (uint32_t i = chain; i != LODE_NONE; i = chains->links[i].before) {
		at--;
		if (at == length - 1 || at + 1 < most)
			links[at == length - 1 ? (length < most ? length : most) - 1 : at] = &chains->links[i];
	}
	return length < most ? length : most;
}

/* What another thread is waited for through: " (the socket /run/x)". */
static void put_way(const struct sentence *sentence, const struct lode_chain_link *link)
{
	size_t start = sentence->buffer->size;

	if (link->state != LODE_STATE_REPLY || !is_way(lode_object_kind_of(text(sentence, link->object))))
		return;
	put(sentence, " (");
	if (put_object(sentence, link))
		put(sentence, ")");
	else
		sentence->buffer->size = start;
}

/* "for the lock X, which B holds while it", "for B, which". */
static void put_link(const struct sentence *sentence, const struct lode_chain_link *link,
		     const struct lode_chain_link *next)
{
	put(sentence, " for ");
	if (link->state == LODE_STATE_LOCK || link->state == LODE_STATE_GIL) {
		put_goal(sentence, link);
		/* Who had it when the wait began need not be who gave it away in the end. */
		if (link->holder && (link->holder != next->thread || link->holder_process != next->process)) {
			put_holder(sentence, link);
			put(sentence, ", and later for ");
			put_thread(sentence, next);
			put(sentence, ", which");
			return;
		}
		put(sentence, ", which ");
		put_another(sentence, link, next->process, next->thread);
		put_thread(sentence, next);
		put(sentence, " holds while it");
		return;
	}
	if (lode_object_kind_of(text(sentence, link->object)) == LODE_OBJECT_THREAD) {
		put(sentence, "the end of ");
		put_another(sentence, link, next->process, next->thread);
		put_thread(sentence, next);
	} else {
		put_another(sentence, link, next->process, next->thread);
		put_thread(sentence, next);
		put_way(sentence, link);
	}
	put(sentence, ", which");
}

/* Behind links that are left out. */
static void put_last(const struct sentence *sentence, const struct lode_chain_link *last)
{
	put(sentence, " for others, and these at last for ");
	put_thread(sentence, last);
	put(sentence, ", which");
}

/* Who has the processor for a good part of the time. */
static void put_behind(const struct sentence *sentence)
{
	const struct lode_finding *finding = sentence->finding;
	const struct lode_chain_link *link;
	char share[LODE_UNITS_TEXT];

	if (!finding->behind_cost || finding->behind_cost < finding->cost / 10)
		return;
	link = &sentence->source->area->chains.links[finding->behind];
	lode_buffer_print(sentence->buffer, ", %s of it while ",
			  lode_share_text(finding->behind_cost, finding->cost, share));
	put_another(sentence, link, link->holder_process, link->holder);
	put_name(sentence->buffer, text(sentence, link->holder_process), text(sentence, link->holder), 0);
	put(sentence, " has the processor");
}

/* The request or query that most of the time belongs to. */
static void put_context(const struct sentence *sentence)
{
	const struct lode_finding *finding = sentence->finding;
	char share[LODE_UNITS_TEXT];

	if (!finding->context || finding->context_cost < finding->cost / 2)
		return;
	put(sentence, ", ");
	if (finding->context_cost < finding->cost / 10 * 9)
		lode_buffer_print(sentence->buffer, "%s of it ",
				  lode_share_text(finding->context_cost, finding->cost, share));
	put(sentence, "while serving ");
	put(sentence, text(sentence, finding->context));
}

/* That it is woken together with many others, for a good part of the time. */
static void put_crowd(const struct sentence *sentence)
{
	const struct lode_finding *finding = sentence->finding;
	const char *object;
	unsigned size;

	if (finding->crowd_cost < finding->cost / 4 || finding->crowd == LODE_NONE)
		return;
	object = lode_crowd_of(text(sentence, sentence->source->area->chains.links[finding->crowd].object), &size);
	if (!object)
		return;
	lode_buffer_print(sentence->buffer, "; %u of them are woken at once", size);
	if (*object) {
		put(sentence, " for ");
		lode_object_words(sentence->buffer, object);
	}
}

/* Programs that had the processor, recorded or not, which the recorder counted for all threads together. */
static void put_neighbours(const struct sentence *sentence)
{
	struct lode_neighbours found = { .count = 0 };
	const struct lode_area *area = sentence->source->area;
	uint32_t thread = area->chains.links[sentence->finding->chain].thread;

	for (size_t i = 0; i < area->stream_count; i++)
		lode_neighbours_add(&found, text(sentence, thread), area->streams[i].attributes,
				    area->streams[i].attribute_count, sentence->strings);
	/* The recorder looks at the end of each time only. */
	if (found.total < sentence->finding->cost / 20)
		return;
	put(sentence, "; others had the processor: ");
	for (size_t i = 0; i < found.count && found.times[i] >= found.total / 10; i++)
		lode_buffer_print(sentence->buffer, "%s%s", i ? ", " : "", found.names[i]);
}

/* Why it had none: who had the processor, or a quota. */
static void put_reason(const struct sentence *sentence)
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
	/* The kernel counts this for groups, not for threads: all that can be said is that it happened. */
	if (longest.path && longest.time >= finding->cost / 2)
		lode_buffer_print(sentence->buffer, "; cgroup %s had used up its quota for %s", longest.path,
				  lode_duration_text(longest.time, time));
	else if (finding->behind_cost < finding->cost / 2)
		put_neighbours(sentence);
}

/* Whether a thread runs to get pages, most of the time: in a page fault, or to make memory free. */
static int runs_for_memory(const struct sentence *sentence, const struct lode_chain_link *last)
{
	static const char *const known[] = { "do_page_fault",      "exc_page_fault",
					     "asm_exc_page_fault", "do_user_addr_fault",
					     "handle_mm_fault",    "try_to_free_mem_cgroup_pages",
					     "do_mem_abort",       "do_swap_page" };
	const struct lode_finding *finding = sentence->finding;
	const struct lode_frames *frames = &sentence->source->area->dictionary.frames;

	if (last->state != LODE_STATE_RUNNING || !finding->callee_count || !has_most(finding, 0) ||
	    strcmp(lode_frames_module_name(frames, finding->callees[0].frame), "kernel") != 0)
		return 0;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(lode_frames_function(frames, finding->callees[0].frame), known[i]))
			return 1;
	return 0;
}

/* The limit because of which pages are not there, or must be made free first. */
static void put_memory_limit(const struct sentence *sentence)
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

void lode_finding_sentence(const struct lode_finding_source *source, const struct lode_finding *finding,
			   struct lode_buffer *buffer)
{
	const struct lode_chain_link *links[MIDDLE_LINKS + 2];
	int cut;
	size_t count = list_links(&source->area->chains, finding->chain, links, MIDDLE_LINKS + 2, &cut);
	struct sentence sentence = { source, finding, &source->area->dictionary.frames.strings, links[0], buffer };

	/* Nobody it waited for is to blame for a thread that has no processor. */
	if (finding->kind == LODE_FINDING_READY) {
		put_thread(&sentence, links[count - 1]);
		put_end(&sentence, links[count - 1], 1);
		put_context(&sentence);
		put_reason(&sentence);
		return;
	}
	put_name(buffer, text(&sentence, links[0]->process), text(&sentence, links[0]->thread), 1);
	if (count > 1) {
		put(&sentence, " waits");
		put_time(&sentence);
	}
	for (size_t i = 0; i + 1 < count; i++) {
		if (i)
			put(&sentence, " waits");
		if (cut && i + 2 == count)
			put_last(&sentence, links[i + 1]);
		else
			put_link(&sentence, links[i], links[i + 1]);
	}
	put_end(&sentence, links[count - 1], count == 1);
	if (links[count - 1]->state == LODE_STATE_PAGE || runs_for_memory(&sentence, links[count - 1]))
		put_memory_limit(&sentence);
	put_context(&sentence);
}
