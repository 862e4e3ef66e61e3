/* What a page sets apart in a sentence: see word_marks.h. */
#include "result/word_marks.h"

const char *lode_word_role_name(unsigned role)
{
	static const char *const names[LODE_WORD_ROLES] = { "plain", "thread", "function", "object", "time" };

	return role < LODE_WORD_ROLES ? names[role] : NULL;
}

void lode_word_marks_add(struct lode_word_marks *marks, size_t start, size_t end, enum lode_word_role role)
{
	if (marks && end > start && marks->count < sizeof(marks->items) / sizeof(*marks->items))
		marks->items[marks->count++] = (struct lode_word_mark){ start, end, role };
}
