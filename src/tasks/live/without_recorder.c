/* Recording, in a program that was built without its recorder. */
#include "tasks/live/record_settings.h"
#include "record/recorder_lacks.h"
#include "tasks/live/watch_settings.h"

static int fail(const struct lode_call *call, const char *instead, struct lode_error *error)
{
	return lode_fail(error, LODE_SYSTEM,
			 "%s: this program was built without its recorder: " LODE_RECORDER_LACKS
			 "; build it again with clang, bpftool and libbpf 1.0 or newer%s",
			 call->command->name, instead);
}

int lode_record_run(struct lode_call *call, struct lode_error *error)
{
	return fail(call, ", or use 'perf record' and 'lode import'", error);
}

int lode_watch_run(struct lode_call *call, struct lode_error *error)
{
	return fail(call, "", error);
}
