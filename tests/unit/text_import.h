/* What tests of imported text share. */
#ifndef LODE_TESTS_TEXT_IMPORT_H
#define LODE_TESTS_TEXT_IMPORT_H

#include "import_fixture.h"

/* Words that share prefixes, so that the memory of the line before is put to the test. */
static inline void random_folded(struct lode_buffer *text, uint64_t *seed, size_t lines)
{
	static const char *const words[] = {
		"a",     "aa", "ab", "app!main",   "app!mai", "libc.so.6!read", "x y",     "f_[k]", "f_[j]",
		"f_[i]", "f",  "",   "operator!=", "!b",      "a(b)!c",         "\xff\xfe"
	};
	static const char *const ends[] = { "\n", "\n", "\n", "\r\n", " \n", "\n\n", "\n#c 1\n", "\n  \n" };
	char last[64][20];
	size_t depth = 0;

	for (size_t i = 0; i < lines; i++) {
		size_t keep = random_below(seed, depth + 1);

		depth = keep;
		while (depth < 60 && random_below(seed, 3))
			snprintf(last[depth++], 20, "%s",
				 words[random_below(seed, sizeof(words) / sizeof(words[0]))]);
		for (size_t j = 0; j < depth; j++) {
			lode_buffer_text(text, j ? ";" : "");
			lode_buffer_text(text, last[j]);
		}
		lode_buffer_print(text, " %" PRIu64, random_below(seed, random_below(seed, 2) ? 3 : 1000000));
		lode_buffer_text(text, i + 1 == lines && random_below(seed, 2)
					       ? ""
					       : ends[random_below(seed, sizeof(ends) / sizeof(ends[0]))]);
	}
}

static inline int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Events of one time may be in any order: compare as sorted lines. */
static inline char *sorted_lines(const char *text)
{
	char *copy = strdup(text), *rest = copy, *line, *result = calloc(1, strlen(text) + 2), *at = result;
	size_t count = 0;
	char **lines = calloc(strlen(text) + 1, sizeof(*lines));

	while ((line = strsep(&rest, "\n")))
		if (*line)
			lines[count++] = line;
	qsort(lines, count, sizeof(*lines), compare_texts);
	for (size_t i = 0; i < count; i++)
		at += sprintf(at, "%s\n", lines[i]);
	free(lines);
	free(copy);
	return result;
}

#endif
