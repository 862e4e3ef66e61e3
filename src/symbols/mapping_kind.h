/*
 * What is mapped into a process, judged by the path that the kernel reports: a
 * file, the vDSO, memory without a file, or something else with a name. And what is
 * mapped into the kernel, whose paths do not tell.
 */
#ifndef LODE_SYMBOLS_MAPPING_KIND_H
#define LODE_SYMBOLS_MAPPING_KIND_H

#include "trace/frames.h"

enum lode_mapped {
	LODE_MAPPED_FILE,
	LODE_MAPPED_VDSO,
	LODE_MAPPED_ANONYMOUS, /* where only a program that makes code as it runs has any */
	LODE_MAPPED_NAMED,     /* [heap], [stack] and the like */
	LODE_MAPPED_KERNEL,
	LODE_MAPPED_KERNEL_MODULE,
	LODE_MAPPED_KERNEL_CODE, /* generated at run time: a BPF program, a trampoline; its one function is its path */
	LODE_MAPPED_GUEST,       /* in a virtual machine or a hypervisor */
	LODE_MAPPED_NOTHING,
};

enum lode_mapped lode_mapped_kind(const char *path);
/* Length of a path without the ` (deleted)` that the kernel adds. */
size_t lode_mapped_length(const char *path);
/* The module of code generated at run time. Files for it have the process id in their names, and so would differ
 * each run. */
#define LODE_JIT_MODULE "[jit]"
/* Whether a file of this base name names or holds such code: perf-PID.map, jitted-PID-N.so, `[JIT] tid N`. */
int lode_mapped_is_jit(const char *name, size_t length);
/* The module's name in a path: the file's base name, or LODE_JIT_MODULE. */
void lode_mapped_name(const char *path, const char **name, size_t *length);
/* The kind of module that a file of this name is. */
enum lode_kind lode_mapped_module_kind(const char *name, size_t length);
/* Where a process writes the functions that it makes (/tmp/perf-PID.map); for the caller to free. */
char *lode_mapped_perf_map(uint32_t pid);

#endif
