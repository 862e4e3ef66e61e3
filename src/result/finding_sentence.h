/*
 * What sentences about findings are put together from: names of threads and functions, with what is to be set apart. Inner
 * to finding_words.h, which is the door.
 */
#ifndef LODE_RESULT_FINDING_SENTENCE_H
#define LODE_RESULT_FINDING_SENTENCE_H

#include "result/finding_words.h"

/* A sentence in the making; all of it belongs to others. */
struct lode_sentence {
	const struct lode_finding_source *source;
	const struct lode_finding *finding;
	const struct lode_strings *strings;
	const struct lode_chain_link *first; /* who waits, as it is shown, as all links here */
	struct lode_word_marks *marks;       /* may be NULL */
	struct lode_buffer *buffer;
};

const char *lode_sentence_text(const struct lode_sentence *sentence, uint32_t string);
void lode_sentence_put(const struct lode_sentence *sentence, const char *words);
/* What was appended since `start` has a role. */
void lode_sentence_mark(const struct lode_sentence *sentence, size_t start, enum lode_word_role role);

void lode_sentence_thread(const struct lode_sentence *sentence, const struct lode_chain_link *link);
/* The same, by strings of the findings' names; `beside`: its process is known from the sentence. */
void lode_sentence_named(const struct lode_sentence *sentence, uint32_t process, uint32_t thread, int beside);
/* No thread waits for itself: "another " where `link` is one of the same name. */
void lode_sentence_another(const struct lode_sentence *sentence, const struct lode_chain_link *link,
			   uint32_t process, uint32_t thread);
/* A function; where it is not one of the program itself, with its library or source file. */
void lode_sentence_function(const struct lode_sentence *sentence, uint32_t frame);

/* Whether callee `i` has most of the finding's time, and no other nearly as much. */
int lode_finding_callee_has_most(const struct lode_finding *finding, uint32_t i);

#endif
