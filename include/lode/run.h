/*
 * Work on corpora: import, the analyses, export. It is the same code that the commands of `lode` run, with the same
 * options; `lode help COMMAND` and the manual pages describe them. Options are words as on a command line
 * ("--kind=run"), in an array that NULL ends; NULL means none.
 *
 * A run uses several threads (`--jobs`) but returns when all are done. Runs in different threads do not disturb one another.
 */
#ifndef LIBLODE_RUN_H
#define LIBLODE_RUN_H

#include <lode/error.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct liblode_run_options {
	size_t size; /* sizeof(struct liblode_run_options), set by the caller; later versions add fields at the end */
	/*
	 * Reports progress: `done` of `total` (0: unknown) `unit`s of `phase`. Called by one thread at a time; a value other
	 * than 0 asks the work to stop. NULL: none.
	 */
	int (*progress)(void *context, const char *phase, const char *unit, uint64_t done, uint64_t total);
	void *context;
};

/* What a run gave: a result and messages. Free it with liblode_result_free. */
struct liblode_result;

/*
 * Analyses corpora: `analysis` is "mine", "latency", "diff", "scope", "explain", "coverage", "info" or "signatures". The result is
 * its JSON, as `lode ANALYSIS --json` writes it (docs/schema); of scope and of `mine --show` one object per line.
 * With LIBLODE_FOUND and LIBLODE_UNSURE there is a result, too. `run` and `error` may be NULL.
 */
LIBLODE_API int liblode_analyse(const char *analysis, const char *const *corpora, const char *const *options,
				const struct liblode_run_options *run, struct liblode_result **result,
				struct liblode_error *error);
/*
 * Runs an SQL statement over corpora, as `lode query` does (lode-query(1)). The result is JSON, or what the option
 * "--format=csv", "--format=folded" or "--format=columns" asks for.
 */
LIBLODE_API int liblode_query(const char *const *corpora, const char *sql, const char *const *options,
			      const struct liblode_run_options *run, struct liblode_result **result,
			      struct liblode_error *error);
/* Imports recordings of other tools into a corpus, which is created if it does not exist. The result is JSON. */
LIBLODE_API int liblode_import(const char *corpus, const char *const *files, const char *const *options,
			       const struct liblode_run_options *run, struct liblode_result **result,
			       struct liblode_error *error);
/* Writes corpora in the format of another tool ("--format=folded"); the result is those bytes. */
LIBLODE_API int liblode_export(const char *const *corpora, const char *const *options,
			       const struct liblode_run_options *run, struct liblode_result **result,
			       struct liblode_error *error);

/* Makes the page of corpora that `lode report` writes: one HTML file with all views, which needs no network. */
LIBLODE_API int liblode_report(const char *const *corpora, const char *const *options,
			       const struct liblode_run_options *run, struct liblode_result **result,
			       struct liblode_error *error);

/* The result, which a 0 byte follows that `size` (may be NULL) does not count. */
LIBLODE_API const char *liblode_result_bytes(const struct liblode_result *result, size_t *size);
/* What the command would have said on standard error: what was lost or left out, one sentence each. */
LIBLODE_API size_t liblode_result_message_count(const struct liblode_result *result);
LIBLODE_API const char *liblode_result_message(const struct liblode_result *result, size_t i);
LIBLODE_API void liblode_result_free(struct liblode_result *result); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
