/* What the library's own files need of its tasks. */
#ifndef LODE_LIBRARY_RUN_TASK_H
#define LODE_LIBRARY_RUN_TASK_H

#include <lode/record.h>
#include <signal.h>

/* liblode_record, of a command with these signals blocked; NULL: those of the calling thread. */
int lode_library_record(const char *corpus, const char *const *command, const char *const *options,
			const struct liblode_run_options *run, const sigset_t *signals,
			struct liblode_result **result, struct liblode_error *error);

#endif
