/*
 * Recording: what threads run, what they wait for, and who wakes them, into a new stream of a corpus; and hunting for the
 * bottlenecks of a running program. It is the code of `lode record` and `lode hunt`, with their options, and needs the
 * same: root, or the capabilities CAP_BPF and CAP_PERFMON.
 *
 * liblode_record returns when the recording is over. liblode_recording_start records in a thread of the library while the
 * program goes on: start it, do what is to be recorded elsewhere, finish it.
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
 * Records into a corpus, which is created if it does not exist. `command`: the words of a command to start and record, ended
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

/* A recording that goes on in a thread of the library. The functions below may be called by any thread, by one at a time. */
struct liblode_recording;

/*
 * Starts a recording; `corpus`, `command` and `options` as above, all copied. Returns when events are being recorded, or
 * with the reason why they cannot be; then there is no handle. The command inherits the blocked signals of the caller.
 */
LIBLODE_API int liblode_recording_start(struct liblode_recording **recording, const char *corpus,
					const char *const *command, const char *const *options,
					struct liblode_error *error);
/*
 * Waits until the recording is over by itself (the command or the processes have ended, "--duration=", a failure), so many
 * milliseconds at most; 0: only asks; negative: without a limit. Returns 1 when it is over, else 0. `events` (may be NULL)
 * gets the number of events so far, at most a tenth of a second old.
 */
LIBLODE_API int liblode_recording_wait(struct liblode_recording *recording, int timeout_ms, uint64_t *events);
/*
 * Ends the recording if it is still going on, keeps what was recorded, and frees the handle (NULL is fine, and LIBLODE_OK). A
 * command that still runs gets SIGTERM. Result and return value are those of liblode_record; a `result` of NULL drops it.
 */
LIBLODE_API int liblode_recording_finish(struct liblode_recording *recording, struct liblode_result **result,
					 struct liblode_error *error);

/*
 * Hunts for bottlenecks of a command, or of what `options` choose ("--pid=123", "--comm=worker"); probes are put into the
 * running program and removed again. Returns when nothing is left to examine, the program has ended, after "--duration=",
 * or when the progress function asks to stop, which here is no failure; a command that still runs gets SIGTERM.
 *
 * The result is what `lode hunt --json` writes: an object per line for each step, then a summary. LIBLODE_FOUND comes
 * only with "--exit-code". `run` and `error` may be NULL. One process must not be hunted by several at once.
 */
LIBLODE_API int liblode_hunt(const char *const *command, const char *const *options,
			     const struct liblode_run_options *run, struct liblode_result **result,
			     struct liblode_error *error);

#ifdef __cplusplus
}
#endif
#endif
