/* What a wait was for, in words: `the lock folder_list`, `TCP 10.0.0.7:5432`, `a timer`. */
#ifndef LODE_RESULT_OBJECT_WORDS_H
#define LODE_RESULT_OBJECT_WORDS_H

#include "base/buffer.h"

/* Appends the words for an object, a text `kind:name`, safe for a terminal; nothing for "". */
void lode_object_words(struct lode_buffer *buffer, const char *object);

#endif
