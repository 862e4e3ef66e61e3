/*
 * Recording: what threads run, what they wait for, and who wakes them, into a new stream of a corpus. It is the code of
 * `lode record`, with its options, and needs the same: root, or the capabilities CAP_BPF and CAP_PERFMON.
 *
 * The process that records is left out of the recording, all its threads included: to record a program from within,
 * let it start a process that records it ("--pid="). With "--budget=" the processor time of the whole process counts
 * as the recorder's.
 */
#ifndef LIBLODE_RECORD_H
#define LIBLODE_RECORD_H

#include <lode/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Records into a corpus, which is made if it is not there. `command`: the words of a command to start and record, ended
 * by NULL; NULL or none: what `options` choose ("--pid=123", "--all"). Returns when the command or the processes have
 * ended, after "--duration=", or when the progress function asks to stop, which here is no failure: what was
 * recorded until then is kept, and a command that still runs gets SIGTERM. That function is called ten times a second or more often,
 * with the number of events so far.
 *
 * The result is JSON, as `lode record --json` writes it (docs/schema/record.json), with the command's exit status and the
 * stream's id. `run` and `error` may be NULL. Several may run at once, in threads of their own.
 */
LIBLODE_API int liblode_record(const char *corpus, const char *const *command, const char *const *options,
			       const struct liblode_run_options *run, struct liblode_result **result,
			       struct liblode_error *error);

#ifdef __cplusplus
}
#endif
#endif
