/*
 * Errors as sentences.
 *
 * A function that can fail returns 0 or one of the negative codes below and
 * writes a sentence into the caller's lode_error: `FILE:PLACE: what is wrong;
 * what to do`. The library never prints and never exits; the command line adds
 * the `lode: ` in front and turns the code into the exit status (-code).
 */
#ifndef LODE_BASE_ERROR_H
#define LODE_BASE_ERROR_H

enum lode_result {
	LODE_OK = 0,
	LODE_FOUND = -1,     /* done, and something was found where --exit-code asked */
	LODE_USAGE = -2,     /* wrong usage */
	LODE_BAD_INPUT = -3, /* a file is damaged, hostile or of an unknown kind */
	LODE_SYSTEM = -4,    /* I/O, memory, privileges */
	LODE_UNSURE = -5,    /* done, and a gate's rules are neither surely kept nor surely broken */
};

/* Whether there is a result. */
static inline int lode_is_done(int code)
{
	return code == LODE_OK || code == LODE_FOUND || code == LODE_UNSURE;
}

struct lode_error {
	char text[1024];
};

/*
 * Writes the sentence into `error` (which may be NULL) and returns `code`, so
 * that a failing function ends with `return lode_fail(...)`. Control characters
 * that came from outside are shown escaped.
 */
int lode_fail(struct lode_error *error, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The one sentence for memory that ran out; returns LODE_SYSTEM. */
int lode_fail_memory(struct lode_error *error);

#endif
