/* Names in the sentences of findings. Private to finding_words.c, which uses them. */
#ifndef LODE_RESULT_FINDING_NAMES_TEXT_H
#define LODE_RESULT_FINDING_NAMES_TEXT_H

#include "base/buffer.h"

/* Appends the name of a thread; `beside`: without its process, which the sentence has named. */
void lode_finding_name(struct lode_buffer *buffer, const char *process, const char *thread, int beside);

#endif
