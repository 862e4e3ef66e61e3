/*
 * What functions of a Node.js program are, by their names: JavaScript of the program, or what runs it. Other parts of plumbing.h.
 */
#ifndef LODE_SCOPE_JAVASCRIPT_PLUMBING_H
#define LODE_SCOPE_JAVASCRIPT_PLUMBING_H

#include "trace/frames.h"

enum lode_javascript_role {
	LODE_JAVASCRIPT_NONE,    /* something else, or what says something: v8::internal::JsonParser */
	LODE_JAVASCRIPT_PROGRAM, /* a JavaScript function: server.js!handle, node:fs!readSync */
	LODE_JAVASCRIPT_CALLS,   /* runs JavaScript, or is JavaScript that only calls the program's */
};

enum lode_javascript_role lode_javascript_role(const char *module, const char *function);
/* Whether a module is the binary of Node.js. A program may have that name, too: see lode_frames_have_javascript. */
int lode_module_is_node(const char *module);
/* Whether there is any JavaScript function. */
int lode_frames_have_javascript(const struct lode_frames *frames);

#endif
