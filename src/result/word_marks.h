/* What a page sets apart in a sentence: names and times. */
#ifndef LODE_RESULT_WORD_MARKS_H
#define LODE_RESULT_WORD_MARKS_H

#include <stddef.h>

enum lode_word_role {
	LODE_WORD_PLAIN,
	LODE_WORD_THREAD,
	LODE_WORD_FUNCTION,
	LODE_WORD_OBJECT, /* what is waited for */
	LODE_WORD_TIME,
	LODE_WORD_ROLES,
};

/* The name of a role; NULL where there is none. */
const char *lode_word_role_name(unsigned role);

/* Bytes of a sentence from `start` to before `end`. */
struct lode_word_mark {
	size_t start;
	size_t end;
	enum lode_word_role role;
};

/* Names and times in the order of the sentence. Where a sentence has more of them, the rest is plain. */
struct lode_word_marks {
	struct lode_word_mark items[32];
	size_t count;
};

/* `marks` may be NULL. */
void lode_word_marks_add(struct lode_word_marks *marks, size_t start, size_t end, enum lode_word_role role);

#endif
