/* CPU samples: a perf event of the CPU clock on each CPU, with a BPF program attached. */
#include "record/load/permissions.h"
#include "record/recorder_state.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int sample_cpu(struct lode_recorder *recorder, uint32_t cpu, struct lode_error *error)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = recorder->period,
		.exclude_idle = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	int code, number;

	if (fd < 0 && errno == ENODEV)
		return 0;
	if (fd >= 0)
		recorder->samples[cpu] = bpf_program__attach_perf_event(recorder->programs->progs.lode_sample, fd);
	recorder->sample_events[cpu] = recorder->samples[cpu] ? fd : -1;
	if (recorder->samples[cpu])
		return 0;
	number = errno;
	if (fd >= 0)
		close(fd);
	code = lode_permissions_fail(LODE_NEEDS_PROGRAMS, number, error);
	if (code)
		return code;
	return lode_fail(error, LODE_SYSTEM, "CPU %u cannot be sampled: %s", cpu, strerror(number));
}

int lode_recorder_start_samples(struct lode_recorder *recorder, struct lode_error *error)
{
	int code = 0;

	if (!recorder->frequency)
		return 0;
	recorder->samples = lode_calloc(recorder->cpu_count, sizeof(*recorder->samples));
	recorder->sample_events = lode_calloc(recorder->cpu_count, sizeof(*recorder->sample_events));
	if (!recorder->samples || !recorder->sample_events)
		return lode_fail_memory(error);
	memset(recorder->sample_events, -1, recorder->cpu_count * sizeof(*recorder->sample_events));
	for (uint32_t i = 0; !code && i < recorder->cpu_count; i++)
		code = sample_cpu(recorder, i, error);
	return code;
}

void lode_recorder_stop_samples(struct lode_recorder *recorder)
{
	for (uint32_t i = 0; recorder->samples && i < recorder->cpu_count; i++)
		bpf_link__destroy(recorder->samples[i]);
	lode_free(recorder->samples);
	lode_free(recorder->sample_events);
	recorder->samples = NULL;
	recorder->sample_events = NULL;
}

void lode_recorder_set_frequency(struct lode_recorder *recorder, unsigned frequency)
{
	uint64_t period = 1000000000u / frequency;

	if (!recorder->sample_events || recorder->programs->bss->sample_ns == period)
		return;
	for (uint32_t i = 0; i < recorder->cpu_count; i++)
		ioctl(recorder->sample_events[i], PERF_EVENT_IOC_PERIOD, &period); /* none: fails */
	recorder->programs->bss->sample_ns = (uint32_t)period;
}
