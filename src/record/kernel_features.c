/*
 * Kernel: see kernel_features.h.
 */
#include "record/kernel_features.h"

#include "base/proc_files.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stdio.h>

static int say_nothing(enum libbpf_print_level level, const char *format, va_list arguments)
{
	(void)level;
	(void)format;
	(void)arguments;
	return 0;
}

void lode_kernel_quiet(void)
{
	libbpf_set_print(say_nothing);
}

int lode_kernel_switch_has_state(void)
{
	struct btf *types = btf__load_vmlinux_btf();
	const struct btf_type *type;
	int found, has = 1;

	if (!types)
		return 1;
	found = btf__find_by_name_kind(types, "btf_trace_sched_switch", BTF_KIND_TYPEDEF);
	if (found > 0) {
		type = btf__type_by_id(types, btf__type_by_id(types, (uint32_t)found)->type);
		type = type ? btf__type_by_id(types, type->type) : NULL;
		has = type && btf_is_func_proto(type) && btf_vlen(type) >= 5;
	}
	btf__free(types);
	return has;
}

int lode_kernel_can_cast(void)
{
	struct btf *types = btf__load_vmlinux_btf();
	int can = types && btf__find_by_name_kind(types, "bpf_rdonly_cast", BTF_KIND_FUNC) > 0;

	btf__free(types);
	return can;
}

int lode_kernel_counts_arrivals(void)
{
	unsigned long long ran, queued, arrivals;
	char text[128];

	/* All are 0 where they are not counted. */
	return lode_proc_text(text, sizeof(text), "/proc/self/schedstat") >= 0 &&
	       sscanf(text, "%llu %llu %llu", &ran, &queued, &arrivals) == 3 && arrivals > 0;
}
