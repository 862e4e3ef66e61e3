/*
 * Plumbing: native functions of a language's runtime between the functions of the program, such as those of CPython between
 * Python functions. They are in every stack and say nothing about the program.
 */
#ifndef LODE_SCOPE_PLUMBING_H
#define LODE_SCOPE_PLUMBING_H

#include "trace/dictionary.h"

/* Whether a module is a language's runtime, by its name. */
int lode_module_is_interpreter(const char *module);
/* Whether a function of such a module only runs and calls others, or has no name: it says nothing. */
int lode_function_only_calls(const char *module, const char *function);
/* Whether it may be left out of a stack that has functions of a language. */
int lode_frame_is_plumbing(const struct lode_frames *frames, uint32_t frame);
/* Whether there is any: else the stacks are as they are. */
int lode_frames_have_plumbing(const struct lode_frames *frames);
/*
 * By node: its stack without plumbing, which is added to the tree; itself where the stack has no functions of a language, since
 * nothing would be left of it. The caller frees it; NULL when memory has run out.
 */
uint32_t *lode_stacks_without_plumbing(struct lode_dictionary *dictionary);
/*
 * Whether a stack is that of a thread that waits for CPython's global lock. Who held it is the waker: a thread that gives the lock
 * up wakes one that waits; waits that a timer ends, after 5 ms each, only ask the holder to do so.
 */
int lode_stack_waits_for_gil(const struct lode_dictionary *dictionary, uint32_t stack);

#endif
