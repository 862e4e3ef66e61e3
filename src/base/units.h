/*
 * Units: durations, counts, sizes and shares as people write and read them.
 *
 * Texts are short and fit in LODE_UNITS_TEXT bytes with their NUL. What
 * lode_duration_text writes, lode_duration_parse reads, up to rounding.
 */
#ifndef LODE_BASE_UNITS_H
#define LODE_BASE_UNITS_H

#include "base/error.h"

#include <stdint.h>

#define LODE_UNITS_TEXT 32

/*
 * Reads `250us`, `30ms`, `1.5s`, `2m`, `1h`. Only 0 needs no unit: people take a
 * bare number for seconds, files count nanoseconds, and a guess would be wrong by
 * nine digits. A part of a nanosecond is rounded. Returns 0 or LODE_USAGE with a
 * sentence.
 */
int lode_duration_parse(const char *text, uint64_t *nanoseconds, struct lode_error *error);
/* The same for a duration that is a part of `whole`, such as a rule: sentences quote it first. */
int lode_duration_parse_in(const char *whole, const char *text, uint64_t *nanoseconds, struct lode_error *error);
/* Whether `text` is a number other than 0 without a unit. */
int lode_duration_lacks_unit(const char *text);

/* Reads `500`, `64kB`, `64MB`, `1.5GB`: powers of ten, without `B` too. Returns 0 or LODE_USAGE. */
int lode_bytes_parse(const char *text, uint64_t *bytes, struct lode_error *error);

/* Three digits and a unit: `0ns`, `250us`, `1.5s`, `2.25m`, `3.5h`. Returns `text`. */
const char *lode_duration_text(uint64_t nanoseconds, char text[LODE_UNITS_TEXT]);
/* Thousands set apart: `1,072,423`. */
const char *lode_count_text(uint64_t count, char text[LODE_UNITS_TEXT]);
/* Powers of ten, three digits: `512 B`, `1.5 kB`, `332 MB`. */
const char *lode_bytes_text(uint64_t bytes, char text[LODE_UNITS_TEXT]);
/* `part` of `whole` in percent: `12.5%`, `<0.1%`, `100%`; `-` when the whole is 0. */
const char *lode_share_text(uint64_t part, uint64_t whole, char text[LODE_UNITS_TEXT]);
/* A share of 1 in percent, with two digits: `0.52%`, `5%`, `52%`, `520%`, `<0.01%`. */
const char *lode_percent_text(double share, char text[LODE_UNITS_TEXT]);

/* What a noun of English ends in behind this number: "" or "s". */
static inline const char *lode_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

#endif
