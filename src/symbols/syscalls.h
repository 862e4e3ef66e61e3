/* Names of system calls by number. */
#ifndef LODE_SYMBOLS_SYSCALLS_H
#define LODE_SYMBOLS_SYSCALLS_H

#include <stddef.h>
#include <stdint.h>

/*
 * The name of system call `number` on a machine of this kind ("aarch64", "x86_64"); NULL when it is not
 * known.
 */
const char *lode_syscall_name(const char *arch, uint64_t number);

#endif
