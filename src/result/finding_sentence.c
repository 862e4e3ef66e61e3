/* Parts of a sentence: see finding_sentence.h. */
#include "result/finding_sentence.h"

#include "result/finding_names_text.h"

#include <string.h>

const char *lode_sentence_text(const struct lode_sentence *sentence, uint32_t string)
{
	return lode_strings_get(sentence->strings, string);
}

void lode_sentence_put(const struct lode_sentence *sentence, const char *words)
{
	lode_buffer_text(sentence->buffer, words);
}

void lode_sentence_mark(const struct lode_sentence *sentence, size_t start, enum lode_word_role role)
{
	lode_word_marks_add(sentence->marks, start, sentence->buffer->size, role);
}

void lode_sentence_thread(const struct lode_sentence *sentence, const struct lode_chain_link *link)
{
	size_t start = sentence->buffer->size;

	lode_finding_thread(sentence->source, link, sentence->first, sentence->buffer);
	lode_sentence_mark(sentence, start, LODE_WORD_THREAD);
}

void lode_sentence_named(const struct lode_sentence *sentence, uint32_t process, uint32_t thread, int beside)
{
	const struct lode_strings *names = &sentence->source->findings->names;
	size_t start = sentence->buffer->size;

	lode_finding_name(sentence->buffer, lode_strings_get(names, process), lode_strings_get(names, thread),
			  beside);
	lode_sentence_mark(sentence, start, LODE_WORD_THREAD);
}

void lode_sentence_another(const struct lode_sentence *sentence, const struct lode_chain_link *link,
			   uint32_t process, uint32_t thread)
{
	if (link->process == process && link->thread == thread && (process || thread))
		lode_sentence_put(sentence, "another ");
}

void lode_sentence_function(const struct lode_sentence *sentence, uint32_t frame)
{
	const struct lode_frames *frames = &sentence->source->area->dictionary.frames;
	const struct lode_module *module = &frames->modules[frames->items[frame].module];
	size_t start = sentence->buffer->size;

	if (module->kind == LODE_KIND_USER && !strchr(lode_sentence_text(sentence, module->name), '.') &&
	    strncmp(lode_frames_function(frames, frame), "0x", 2) != 0)
		lode_sentence_put(sentence, lode_frames_function(frames, frame));
	else
		lode_frames_text(frames, frame, sentence->buffer);
	lode_sentence_mark(sentence, start, LODE_WORD_FUNCTION);
}

int lode_finding_callee_has_most(const struct lode_finding *finding, uint32_t i)
{
	const struct lode_finding_callee *callee = &finding->callees[i];

	return callee->cost > finding->cost / 2 &&
	       (i + 1 == finding->callee_count || callee[1].cost < callee->cost / 2);
}
