/* What to do about functions without a name, in words: one model for all that show findings. */
#ifndef LODE_RESULT_UNNAMED_WORDS_H
#define LODE_RESULT_UNNAMED_WORDS_H

#include "base/buffer.h"
#include "mine/unnamed_functions.h"

/* `package`: the one that its binary belongs to; NULL: none is known. Nothing where all functions have names. */
void lode_unnamed_words(const struct lode_area *area, const struct lode_unnamed_function *unnamed,
			const char *package, struct lode_buffer *buffer);

#endif
