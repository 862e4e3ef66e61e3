/* lode hunt, in a program that was built without its recorder and therefore without probes. */
#include "record/recorder_lacks.h"
#include "tasks/hunt/hunt.h"

int lode_hunt_run(struct lode_call *call, struct lode_error *error)
{
	struct lode_search_options options;
	int code = lode_hunt_options_read(call, &options, error);

	if (code)
		return code;
	return lode_fail(error, LODE_SYSTEM,
			 "hunt: this program was built without its probes: " LODE_RECORDER_LACKS
			 "; build it again with clang, bpftool and libbpf 1.0 or newer");
}
