/*
 * Modules by what other tools call them: a path, `[kernel.kallsyms]`, `[ext4]`.
 */
#ifndef LODE_IMPORT_MODULE_NAME_H
#define LODE_IMPORT_MODULE_NAME_H

#include "trace/frames.h"

/*
 * The module for the file (or the pseudo name) that another tool printed: its
 * base name; `kernel` for the kernel in all its forms; a kernel module's own
 * name. 0, the unknown module, for nothing and for `[unknown]`; LODE_NONE when
 * memory has run out. A path that is given is kept with the module.
 */
uint32_t lode_module_from_file(struct lode_frames *frames, const char *file, size_t length);

#endif
