/*
 * Kernel: see kernel_features.h.
 */
#include "record/load/kernel_features.h"

#include "base/proc_files.h"

#include <bpf/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

static int switch_has_state(const struct btf *types)
{
	int found = btf__find_by_name_kind(types, "btf_trace_sched_switch", BTF_KIND_TYPEDEF);
	const struct btf_type *type;

	if (found <= 0)
		return 1;
	type = btf__type_by_id(types, btf__type_by_id(types, (uint32_t)found)->type);
	type = type ? btf__type_by_id(types, type->type) : NULL;
	return type && btf_is_func_proto(type) && btf_vlen(type) >= 5;
}

/* Linux 6.7 to 6.11 have the functions for it too, but the program was not tried with their verifiers. */
static int iterates_threads(const struct btf *types)
{
	unsigned major, minor;
	struct utsname system;

	return btf__find_by_name_kind(types, "bpf_iter_task_new", BTF_KIND_FUNC) > 0 && uname(&system) == 0 &&
	       sscanf(system.release, "%u.%u", &major, &minor) == 2 && (major > 6 || (major == 6 && minor >= 12));
}

/* All addresses are 0 where they are hidden; else only that of the first variable of a CPU may be. */
static int shows_names(void)
{
	char text[4096], *line = text;
	int shows = 0;

	lode_proc_text(text, sizeof(text), "/proc/kallsyms");
	while (!shows && line && *line) {
		shows = strtoull(line, NULL, 16) != 0;
		line = strchr(line, '\n');
		line += line != NULL;
	}
	return shows;
}

/* Where a variable lies among those of a CPU; -1: there is none of this name. */
static int64_t cpu_variable(const struct btf *types, const struct btf_type *section, const char *name)
{
	const struct btf_var_secinfo *variables = btf_var_secinfos(section);

	for (size_t i = 0; i < btf_vlen(section); i++) {
		const struct btf_type *variable = btf__type_by_id(types, variables[i].type);
		const char *text = variable ? btf__name_by_offset(types, variable->name_off) : NULL;

		if (text && !strcmp(text, name))
			return variables[i].offset;
	}
	return -1;
}

/* Where a member lies in a struct, in bytes, also inside of members without names; -1: it has none. */
static int64_t member_offset(const struct btf *types, const struct btf_type *type, const char *name, unsigned depth)
{
	const struct btf_member *members = btf_members(type);

	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		const char *text = btf__name_by_offset(types, members[i].name_off);
		const struct btf_type *inner = btf__type_by_id(types, members[i].type);
		int64_t offset = btf_member_bit_offset(type, i) / 8, inside;

		if (text && !strcmp(text, name))
			return offset;
		if ((text && *text) || !inner || !btf_is_composite(inner) || !depth)
			continue;
		inside = member_offset(types, inner, name, depth - 1);
		if (inside >= 0)
			return offset + inside;
	}
	return -1;
}

/* The count is a variable by itself before Linux 6.2 and since 6.15, and in pcpu_hot between. */
static int64_t preempt_count_place(const struct btf *types, const struct btf_type *section)
{
	int64_t alone = cpu_variable(types, section, "__preempt_count");
	int64_t hot = cpu_variable(types, section, "pcpu_hot");
	int found = btf__find_by_name_kind(types, "pcpu_hot", BTF_KIND_STRUCT);
	int64_t inside =
		found > 0 ? member_offset(types, btf__type_by_id(types, (uint32_t)found), "preempt_count", 4) : -1;

	return alone >= 0 || hot < 0 || inside < 0 ? alone : hot + inside;
}

static void find_preempt_count(const struct btf *types, struct lode_kernel_features *features)
{
	int found = btf__find_by_name_kind(types, ".data..percpu", BTF_KIND_DATASEC);
	const struct btf_type *section = found > 0 ? btf__type_by_id(types, (uint32_t)found) : NULL;
	int64_t queue = section ? cpu_variable(types, section, "runqueues") : -1;
	int64_t count = section ? preempt_count_place(types, section) : -1;

	features->finds_preempt_count = queue >= 0 && count >= 0;
	features->preempt_count_from_queue = features->finds_preempt_count ? count - queue : 0;
}

struct lode_kernel_features lode_kernel_features(void)
{
	struct btf *types = btf__load_vmlinux_btf();
	struct lode_kernel_features features = { .switch_has_state = 1, .shows_names = shows_names() };

	if (!types)
		return features;
	features.switch_has_state = switch_has_state(types);
	features.can_cast = btf__find_by_name_kind(types, "bpf_rdonly_cast", BTF_KIND_FUNC) > 0;
	features.reports_areas = btf__find_by_name_kind(types, "btf_trace_vm_unmapped_area", BTF_KIND_TYPEDEF) > 0;
	features.iterates_threads = iterates_threads(types);
	find_preempt_count(types, &features);
	btf__free(types);
	return features;
}

int lode_kernel_counts_arrivals(void)
{
	unsigned long long ran, queued, arrivals;
	char text[128];

	/* All are 0 where they are not counted. */
	return lode_proc_text(text, sizeof(text), "/proc/self/schedstat") >= 0 &&
	       sscanf(text, "%llu %llu %llu", &ran, &queued, &arrivals) == 3 && arrivals > 0;
}
