/* A finding as a sentence: see finding_words.h. */
#include "result/finding_words.h"

#include "base/starts_with.h"
#include "base/units.h"
#include "result/finding_reasons.h"
#include "result/finding_sentence.h"
#include "result/object_words.h"
#include "scope/javascript_plumbing.h"
#include "scope/own_frames.h"
#include "scope/plumbing.h"
#include "scope/states.h"
#include "trace/gpu_threads.h"
#include "trace/objects.h"
#include "trace/script_modules.h"

#include <string.h>

/* Links between the first and the last one that a sentence names. */
#define MIDDLE_LINKS 2

/* Whether who is known to have what a link waits for has it as a lock. */
static int is_held(const struct lode_chain_link *link)
{
	return link->holder && (link->state == LODE_STATE_LOCK || link->state == LODE_STATE_GIL);
}

/* Whether a link waits for something that nobody holds: somebody else says when it may go on. */
static int is_signalled(const struct lode_sentence *sentence, const struct lode_chain_link *link)
{
	enum lode_object_kind kind = lode_object_kind_of(lode_sentence_text(sentence, link->object));

	/* What a futex is there for is not known: that it was woken does not say that it was held. */
	if (kind == LODE_OBJECT_FUTEX)
		return !link->holder || link->state == LODE_STATE_REPLY;
	/* A condition of Python's may have been recorded as a lock (trace/python_waits.h). */
	return link->state == LODE_STATE_REPLY && (kind == LODE_OBJECT_CONDITION || kind == LODE_OBJECT_LOCK);
}

/* Who has what a link waits for, or was the one to wake it. */
static void put_holder(const struct lode_sentence *sentence, const struct lode_chain_link *link)
{
	int has = is_held(link), signals = is_signalled(sentence, link);

	if (!link->holder)
		return;
	if (link->state == LODE_STATE_CHILD) {
		/* An object tells which child it is, too. */
		if (!*lode_object_name(lode_sentence_text(sentence, link->object)))
			lode_buffer_print(sentence->buffer, " %s",
					  lode_strings_get(&sentence->source->findings->names, link->holder));
		return;
	}
	lode_sentence_put(sentence, has || signals ? ", which " : " from ");
	lode_sentence_another(sentence, link, link->holder_process, link->holder);
	lode_sentence_named(sentence, link->holder_process, link->holder,
			    link->holder_process == sentence->first->process);
	lode_sentence_put(sentence, has ? " holds" : signals ? " signals" : "");
}

/* ---- symptoms ---- */

/* How long, for each symptom where there are several: " 29.6ms a click". */
static void put_time(const struct lode_sentence *sentence)
{
	uint64_t symptoms = sentence->source->findings->symptoms;
	char duration[LODE_UNITS_TEXT];
	size_t start;

	lode_sentence_put(sentence, " ");
	start = sentence->buffer->size;
	lode_sentence_put(sentence,
			  lode_duration_text(sentence->finding->cost / (symptoms ? symptoms : 1), duration));
	if (symptoms > 1) {
		lode_sentence_put(sentence, " a ");
		lode_finding_symptom_word(sentence->source, sentence->buffer);
	}
	lode_sentence_mark(sentence, start, LODE_WORD_TIME);
}

/* ---- what is waited for ---- */

/* The object of a wait, in words; 0 where it has none that says more than the state. */
static int put_object(const struct lode_sentence *sentence, const struct lode_chain_link *link)
{
	const char *object = lode_sentence_text(sentence, link->object), *name = lode_object_name(object);
	enum lode_object_kind kind = lode_object_kind_of(object);

	if (kind == LODE_OBJECT_NONE || kind == LODE_OBJECT_TIMER || kind == LODE_OBJECT_OTHER)
		return 0;
	/* A lock of the program's own making: the descriptors are only how it is waited for. */
	if (link->state == LODE_STATE_LOCK && lode_object_is_set(kind))
		return 0;
	/* It wanted to write there, and had no memory for that. */
	if (link->state == LODE_STATE_PAGE && kind != LODE_OBJECT_PAGE)
		return 0;
	if (kind == LODE_OBJECT_GIL) {
		lode_sentence_put(sentence, "the GIL");
		return 1;
	}
	if (is_signalled(sentence, link) &&
	    (kind == LODE_OBJECT_LOCK || (kind == LODE_OBJECT_CONDITION && !*name))) {
		lode_sentence_put(sentence, "a condition");
		return 1;
	}
	if (kind == LODE_OBJECT_LAUNCH) {
		lode_sentence_put(sentence,
				  link->holder ? "a launch" : "launches by a thread that was not recorded");
		return 1;
	}
	/* The number of a pipe or socket tells nothing, nor does the address of a lock that has no name. */
	if (*name == '[')
		lode_sentence_put(sentence, lode_object_nameless(kind));
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

static void put_goal(const struct lode_sentence *sentence, const struct lode_chain_link *link)
{
	size_t start = sentence->buffer->size;

	if (!put_object(sentence, link))
		lode_sentence_put(sentence, state_words(link->state));
	lode_sentence_mark(sentence, start, LODE_WORD_OBJECT);
}

/* ---- what a thread does ---- */

static int is_interpreters(const struct lode_sentence *sentence, uint32_t frame)
{
	const struct lode_frames *frames = &sentence->source->area->dictionary.frames;
	const char *module = lode_frames_module_name(frames, frame);

	return lode_module_is_interpreter(module) ||
	       (lode_module_is_node(module) && lode_frames_have_javascript(frames));
}

/* What it calls there; that a script's function calls the interpreter is no news. */
static void put_callees(const struct lode_sentence *sentence)
{
	const struct lode_finding *finding = sentence->finding;
	char share[LODE_UNITS_TEXT];
	unsigned shown = 0;

	for (uint32_t i = 0; i < finding->callee_count; i++) {
		const struct lode_finding_callee *callee = &finding->callees[i];

		if (is_interpreters(sentence, callee->frame) || callee->cost < finding->cost / 10)
			continue;
		if (lode_finding_callee_has_most(finding, i))
			lode_sentence_put(sentence, ", most of it in ");
		else
			lode_buffer_print(sentence->buffer, "%s%s in ", shown ? ", " : ": ",
					  lode_share_text(callee->cost, finding->cost, share));
		lode_sentence_function(sentence, callee->frame);
		shown++;
		if (lode_finding_callee_has_most(finding, i))
			return;
	}
}

/* That main calls something is no news. */
static int names_caller(const struct lode_sentence *sentence)
{
	const struct lode_frames *frames = &sentence->source->area->dictionary.frames;
	const struct lode_finding *finding = sentence->finding;

	return finding->caller != LODE_NONE && finding->caller != finding->frame &&
	       !lode_function_starts_program(lode_frames_function(frames, finding->caller));
}

/* What stands before and behind a place, and between it and its caller. */
struct place_marks {
	const char *part; /* before its share, where it has only a part of the time; */
	const char *place;
	const char *caller;
	const char *caller_of_part;
	const char *end; /* behind what was opened */
};

/* A clause about the lock follows, which must not be about the place. */
static const struct place_marks before_holder = { " (", " in ", " (called by ", ", called by ", ")" };
/* The place is not where the other thread is. */
static const struct place_marks behind_other = { ", ", ", in ", ", called by ", ", called by ", "" };
static const struct place_marks of_kernel = { ", ", " in ", ", launched by ", ", launched by ", "" };
static const struct place_marks at_end = { ", ", " in ", ", called by ", ", called by ", "" };

/* Whether it waits for something that has a name. */
static int has_goal(const struct lode_chain_link *link)
{
	if (!lode_state_is_wait((enum lode_state)link->state) || link->state == LODE_STATE_TIMER ||
	    link->state == LODE_STATE_IDLE)
		return 0;
	return link->object || link->state != LODE_STATE_OTHER_WAIT;
}

/* Whether what it waits for was named by this place: "the condition first seen in watch". */
static int is_named_by_place(const struct lode_sentence *sentence, const struct lode_chain_link *link)
{
	const struct lode_frames *frames = &sentence->source->area->dictionary.frames;
	const char *object = lode_sentence_text(sentence, link->object), *place = strstr(object, " in ");

	return place && has_goal(link) &&
	       !strcmp(place + strlen(" in "), lode_frames_function(frames, sentence->finding->frame));
}

/* Where it does so; where other places have a part of it, says so. */
static void put_place(const struct lode_sentence *sentence, const struct lode_chain_link *link,
		      const struct place_marks *marks)
{
	const struct lode_finding *finding = sentence->finding;
	int is_part = finding->place_cost < finding->cost / 20 * 19, has_caller = names_caller(sentence);
	char share[LODE_UNITS_TEXT];

	if (finding->frame == LODE_NONE)
		return;
	if (is_part)
		lode_buffer_print(sentence->buffer, "%s%s of it", marks->part,
				  lode_share_text(finding->place_cost, finding->cost, share));
	if (is_part || !is_named_by_place(sentence, link)) {
		lode_sentence_put(sentence, is_part ? " in " : marks->place);
		lode_sentence_function(sentence, finding->frame);
	}
	if (has_caller) {
		lode_sentence_put(sentence, is_part ? marks->caller_of_part : marks->caller);
		lode_sentence_function(sentence, finding->caller);
	}
	lode_sentence_put(sentence, is_part || has_caller ? marks->end : "");
}

/* Whether it waited for a peer, with a limit, and nothing came. */
static int times_out(const struct lode_sentence *sentence, const struct lode_chain_link *link)
{
	enum lode_object_kind kind = lode_object_kind_of(lode_sentence_text(sentence, link->object));

	return link->state == LODE_STATE_TIMER && lode_object_is_way(kind) &&
	       *lode_object_name(lode_sentence_text(sentence, link->object));
}

/* " waits 2s for UDP 10.0.0.1:53 until it times out, in ask" */
static void put_time_out(const struct lode_sentence *sentence, const struct lode_chain_link *link, int timed)
{
	lode_sentence_put(sentence, " waits");
	if (timed)
		put_time(sentence);
	lode_sentence_put(sentence, " for ");
	put_goal(sentence, link);
	lode_sentence_put(sentence, " until it times out");
	put_place(sentence, link, &at_end);
}

static int is_gpu(const struct lode_sentence *sentence, const struct lode_chain_link *link)
{
	return lode_process_is_gpu(lode_strings_get(&sentence->source->findings->names, link->process));
}

/* Of a place that nothing follows. */
static const struct place_marks *marks_of(const struct lode_sentence *sentence, const struct lode_chain_link *link)
{
	uint32_t frame = sentence->finding->frame;

	if (frame != LODE_NONE &&
	    lode_gpu_frame_of(&sentence->source->area->dictionary.frames, frame) == LODE_GPU_WORK)
		return &of_kernel;
	return link->holder && link->state != LODE_STATE_CHILD ? &behind_other : &at_end;
}

/* What the thread does that the time went to. `timed`: the sentence has not said how long yet. */
static void put_end(const struct lode_sentence *sentence, const struct lode_chain_link *link, int timed)
{
	if (times_out(sentence, link)) {
		put_time_out(sentence, link, timed);
		return;
	}
	switch ((enum lode_state)link->state) {
	case LODE_STATE_RUNNING:
		lode_sentence_put(sentence, " runs");
		break;
	case LODE_STATE_READY:
		lode_sentence_put(sentence, is_gpu(sentence, link) ? " has launches that do not run yet for"
								   : " is ready but not running");
		break;
	case LODE_STATE_TIMER:
		lode_sentence_put(sentence, " sleeps");
		break;
	case LODE_STATE_IDLE:
		lode_sentence_put(sentence, " is idle");
		break;
	default:
		lode_sentence_put(sentence, " waits");
	}
	if (timed)
		put_time(sentence);
	if (has_goal(link)) {
		lode_sentence_put(sentence, " for ");
		put_goal(sentence, link);
		if (is_held(link))
			put_place(sentence, link, &before_holder);
		put_holder(sentence, link);
	}
	if (link->state != LODE_STATE_READY && !is_held(link))
		put_place(sentence, link, marks_of(sentence, link));
	if (link->state == LODE_STATE_RUNNING)
		put_callees(sentence);
}

/* ---- the chain ---- */

/* The links of the finding's chain as they are shown, first to last, `most` at most: in longer ones some before the last are left out. */
static size_t list_links(const struct lode_finding_source *source, const struct lode_finding *finding,
			 struct lode_chain_link *links, size_t most, int *cut)
{
	const struct lode_chains *chains = &source->area->chains;
	size_t length = finding->link_count, count = length < most ? length : most, at = length;

	*cut = length > most;
	for (uint32_t i = finding->chain; i != LODE_NONE; i = chains->links[i].before) {
		at--;
		if (at == length - 1 || at + 1 < most)
			links[at == length - 1 ? count - 1 : at] =
				lode_finding_link(source->findings, chains, finding, i, length - 1 - at);
	}
	return count;
}

/* What another thread is waited for through: " (the socket /run/x)". */
static void put_way(const struct lode_sentence *sentence, const struct lode_chain_link *link)
{
	size_t start = sentence->buffer->size;

	if (link->state != LODE_STATE_REPLY ||
	    !lode_object_is_way(lode_object_kind_of(lode_sentence_text(sentence, link->object))))
		return;
	lode_sentence_put(sentence, " (");
	if (put_object(sentence, link))
		lode_sentence_put(sentence, ")");
	else
		sentence->buffer->size = start;
}

/* The thread that launches had let the GPU run dry: " had waited for it in report (item) and then". */
static void put_drained(const struct lode_sentence *sentence, const struct lode_chain_link *link)
{
	const char *after = lode_launch_after(lode_sentence_text(sentence, link->object));

	if (!after)
		return;
	lode_sentence_put(sentence, " had waited for it in ");
	if (link->place)
		lode_sentence_function(sentence, sentence->source->area->dictionary.tree.nodes[link->place].frame);
	lode_buffer_print(sentence->buffer, link->place ? " (%s) and then" : "%s and then", after);
}

/* Whether the words for what is waited for name the function that waits. */
static int says_place(const struct lode_sentence *sentence, const struct lode_chain_link *link,
		      const char *function)
{
	const char *object = lode_sentence_text(sentence, link->object);

	/* A condition that was recorded as a lock is not called by its name. */
	if (is_signalled(sentence, link) && lode_object_kind_of(object) == LODE_OBJECT_LOCK)
		return 0;
	return strstr(object, function) || lode_starts_with(lode_object_name(object), LODE_CONDITION_IN);
}

/*
 * Where the first thread waits for a lock that others hold, or for a condition, if most of the time is there and the name of that
 * does not say so.
 */
static void put_lock_place(const struct lode_sentence *sentence, const struct lode_chain_link *link)
{
	const struct lode_finding *finding = sentence->finding;
	const struct lode_dictionary *dictionary = &sentence->source->area->dictionary;
	uint32_t frame;

	if (link != sentence->first || !link->place || finding->chain_cost <= finding->cost / 2 ||
	    (link->state != LODE_STATE_LOCK && !is_signalled(sentence, link)))
		return;
	frame = dictionary->tree.nodes[link->place].frame;
	if (says_place(sentence, link, lode_frames_function(&dictionary->frames, frame)))
		return;
	lode_sentence_put(sentence, " in ");
	lode_sentence_function(sentence, frame);
}

/* ", which another B". */
static void put_other(const struct lode_sentence *sentence, const struct lode_chain_link *link,
		      const struct lode_chain_link *next)
{
	lode_sentence_put(sentence, ", which ");
	lode_sentence_another(sentence, link, next->process, next->thread);
	lode_sentence_thread(sentence, next);
}

/* "the lock X in F, which B holds while it", "the condition X in F, which B signals after it". */
static void put_lock(const struct lode_sentence *sentence, const struct lode_chain_link *link,
		     const struct lode_chain_link *next)
{
	put_goal(sentence, link);
	put_lock_place(sentence, link);
	if (is_signalled(sentence, link)) {
		put_other(sentence, link, next);
		lode_sentence_put(sentence, " signals after it");
	} else if (link->holder && (link->holder != next->thread || link->holder_process != next->process)) {
		/* Who had it when the wait began need not be who gave it away in the end. */
		put_holder(sentence, link);
		lode_sentence_put(sentence, ", and later for ");
		lode_sentence_thread(sentence, next);
		lode_sentence_put(sentence, ", which");
	} else {
		put_other(sentence, link, next);
		lode_sentence_put(sentence, " holds while it");
	}
}

/* Who signals may have a name that says more than a condition does: "waits for disk, which". */
static int is_signalled_by_another(const struct lode_sentence *sentence, const struct lode_chain_link *link,
				   const struct lode_chain_link *next)
{
	return is_signalled(sentence, link) && link->process == next->process && link->thread == next->thread;
}

/* "for the lock X in F, which B holds while it", "for B, which". */
static void put_link(const struct lode_sentence *sentence, const struct lode_chain_link *link,
		     const struct lode_chain_link *next)
{
	lode_sentence_put(sentence, " for ");
	if (link->state == LODE_STATE_LOCK || link->state == LODE_STATE_GIL ||
	    is_signalled_by_another(sentence, link, next)) {
		put_lock(sentence, link, next);
		return;
	}
	if (lode_object_kind_of(lode_sentence_text(sentence, link->object)) == LODE_OBJECT_THREAD) {
		lode_sentence_put(sentence, "the end of ");
		lode_sentence_another(sentence, link, next->process, next->thread);
		lode_sentence_thread(sentence, next);
	} else {
		lode_sentence_another(sentence, link, next->process, next->thread);
		lode_sentence_thread(sentence, next);
		put_way(sentence, link);
	}
	lode_sentence_put(sentence, ", which");
	put_drained(sentence, link);
}

/* Behind links that are left out. */
static void put_last(const struct lode_sentence *sentence, const struct lode_chain_link *last)
{
	lode_sentence_put(sentence, " for others, and these at last for ");
	lode_sentence_thread(sentence, last);
	lode_sentence_put(sentence, ", which");
}

/* The request or query that most of the time belongs to. */
static void put_context(const struct lode_sentence *sentence)
{
	const struct lode_finding *finding = sentence->finding;
	char share[LODE_UNITS_TEXT];

	if (!finding->context || finding->context_cost < finding->cost / 2)
		return;
	lode_sentence_put(sentence, ", ");
	if (finding->context_cost < finding->cost / 10 * 9)
		lode_buffer_print(sentence->buffer, "%s of it ",
				  lode_share_text(finding->context_cost, finding->cost, share));
	lode_sentence_put(sentence, "while serving ");
	lode_sentence_put(sentence, lode_sentence_text(sentence, finding->context));
}

void lode_finding_sentence(const struct lode_finding_source *source, const struct lode_finding *finding,
			   struct lode_word_marks *marks, struct lode_buffer *buffer)
{
	struct lode_chain_link links[MIDDLE_LINKS + 2];
	int cut;
	size_t count = list_links(source, finding, links, MIDDLE_LINKS + 2, &cut);
	struct lode_sentence sentence = { source,    finding, &source->area->dictionary.frames.strings,
					  &links[0], marks,   buffer };

	if (marks)
		marks->count = 0;
	/* Nobody it waited for is to blame for a thread that has no processor. */
	if (finding->kind == LODE_FINDING_READY) {
		lode_sentence_thread(&sentence, &links[count - 1]);
		put_end(&sentence, &links[count - 1], 1);
		put_context(&sentence);
		if (!is_gpu(&sentence, &links[count - 1]))
			lode_finding_put_reason(&sentence);
		return;
	}
	lode_sentence_named(&sentence, links[0].process, links[0].thread, 1);
	if (count > 1) {
		lode_sentence_put(&sentence, " waits");
		put_time(&sentence);
	}
	for (size_t i = 0; i + 1 < count; i++) {
		if (i)
			lode_sentence_put(&sentence, " waits");
		if (cut && i + 2 == count)
			put_last(&sentence, &links[i + 1]);
		else
			put_link(&sentence, &links[i], &links[i + 1]);
	}
	put_end(&sentence, &links[count - 1], count == 1);
	lode_finding_put_memory_limit(&sentence, &links[count - 1]);
	put_context(&sentence);
}
