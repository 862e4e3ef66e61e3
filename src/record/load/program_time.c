/* Time of BPF programs: see program_time.h. */
#include "record/load/program_time.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

int lode_program_time_begin(void)
{
	return bpf_enable_stats(BPF_STATS_RUN_TIME);
}

void lode_program_time(const struct bpf_object *object, const struct bpf_program *except,
		       void (*each)(void *context, uint64_t runs, uint64_t nanoseconds), void *context)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object)
	{
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);

		if (program != except && bpf_program__fd(program) >= 0 &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
			each(context, info.run_cnt, info.run_time_ns);
	}
}
