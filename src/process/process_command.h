/*
 * What a process was started as, where its first thread has given itself another name since, or runs a script: many
 * processes are called python3, and one of them server.py.
 */
#ifndef LODE_PROCESS_PROCESS_COMMAND_H
#define LODE_PROCESS_PROCESS_COMMAND_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of a command, with its NUL. */
#define LODE_COMMAND_NAME 64

/*
 * Puts the name of the script that process `pid` runs, or of the program that it was started as, into `command`; "" where that is
 * `name`, the first thread's name now, or is not known.
 */
void lode_process_command(uint32_t pid, const char *name, char *command, size_t room);

/* The same from the arguments: `size` bytes, each argument with its NUL, and NULs behind the last. */
void lode_command_of_arguments(const char *arguments, size_t size, const char *name, char *command, size_t room);
/*
 * What a child is called that executes nothing, by its parent's first thread, whose command and name these are; `command` has room
 * for LODE_COMMAND_NAME bytes.
 */
void lode_command_inherit(char *command, const char *parents_command, const char *parents_name, const char *name);

#endif
