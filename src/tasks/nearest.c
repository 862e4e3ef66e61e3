/*
 * Nearest: suggests the right word for a wrong one, by edit distance.
 *
 * Insertions, deletions, substitutions and swaps of neighbours count one each,
 * because those are typical typos; a change of case counts nothing. A word is
 * near when no more than a third of the letters differ, or when the wrong one
 * is its beginning (`--form` for `--format`).
 */
#include "tasks/nearest.h"

#include <ctype.h>
#include <string.h>

/* Longer words are no typing mistakes; this also bounds the table. */
#define WORD_LIMIT 40

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static int same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t row[WORD_LIMIT + 1][WORD_LIMIT + 1];

	for (size_t j = 0; j <= b_length; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		row[i][0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			size_t best = row[i - 1][j - 1] + !same(a[i - 1], b[j - 1]);

			best = least(best, least(row[i - 1][j], row[i][j - 1]) + 1);
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
				best = least(best, row[i - 2][j - 2] + 1);
			row[i][j] = best;
		}
	}
	return row[a_length][b_length];
}

struct lode_nearest lode_nearest(const char *wrong)
{
	return (struct lode_nearest){ wrong, NULL, WORD_LIMIT };
}

void lode_nearest_try(struct lode_nearest *nearest, const char *word)
{
	size_t wrong_length = strlen(nearest->wrong);
	size_t length = strlen(word);
	size_t distance;

	if (!wrong_length || wrong_length > WORD_LIMIT || length > WORD_LIMIT)
		return;
	distance = edit_distance(nearest->wrong, wrong_length, word, length);
	if (wrong_length >= 2 && wrong_length < length && !strncmp(nearest->wrong, word, wrong_length))
		distance = 1;
	if (distance > (length + 2) / 3 || distance >= nearest->distance)
		return;
	nearest->best = word;
	nearest->distance = distance;
}
