/*
 * A finding as a sentence: who waits, for what, who has it and what that thread does meanwhile. The one
 * place that makes it, for terminals, pages, agents and alerts.
 */
#ifndef LODE_RESULT_FINDING_WORDS_H
#define LODE_RESULT_FINDING_WORDS_H

#include "mine/findings.h"
#include "result/word_marks.h"

struct lode_finding_source {
	const struct lode_area *area;
	const struct lode_findings *findings;
};

/*
 * Appends the sentence, without a full stop. Texts are as they were recorded: a terminal needs them escaped. `marks`: gets
 * what to set apart; may be NULL.
 */
void lode_finding_sentence(const struct lode_finding_source *source, const struct lode_finding *finding,
			   struct lode_word_marks *marks, struct lode_buffer *buffer);
/* What one symptom is called: "click", "run", "request"; "symptom" where there is no better word. */
void lode_finding_symptom_word(const struct lode_finding_source *source, struct lode_buffer *buffer);
/*
 * Whether the symptoms are all that GPUs did (trace/gpu_threads.h). `*ran`: for how long they ran, of the time that findings are
 * about; for the rest of it they were idle.
 */
int lode_findings_are_of_gpus(const struct lode_finding_source *source, uint64_t *ran);
/* The name of a shown link's thread (lode_finding_link), as in the sentence: with its process unless that is the one of `beside`. */
void lode_finding_thread(const struct lode_finding_source *source, const struct lode_chain_link *link,
			 const struct lode_chain_link *beside, struct lode_buffer *buffer);

#endif
