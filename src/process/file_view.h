/*
 * How processes see files. A path means the same for two processes if they are in the same mount namespace and have the
 * same root; a container has its own namespace, a process in a chroot only its own root.
 */
#ifndef LODE_PROCESS_FILE_VIEW_H
#define LODE_PROCESS_FILE_VIEW_H

#include "base/proc_files.h"

/* A number for how a process sees files: two that have the same mount namespace and root have the same. 0: it is gone. */
uint64_t lode_process_mounts(uint32_t pid);
/*
 * Whether the path in a line of /proc/PID/maps leads this program to the file, though the process sees files differently:
 * the kernel writes paths for whoever reads them, so those of a process in a chroot are outside of it.
 */
int lode_process_line_is_own(const struct lode_proc_mapping *line);

#endif
