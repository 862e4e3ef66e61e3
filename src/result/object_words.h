/* What a wait was for, in words: `the lock folder_list`, `TCP 10.0.0.7:5432`, `a timer`. */
#ifndef LODE_RESULT_OBJECT_WORDS_H
#define LODE_RESULT_OBJECT_WORDS_H

#include "base/buffer.h"
#include "trace/objects.h"

/* Appends the words for an object, a text `kind:name`, safe for a terminal; nothing for "". */
void lode_object_words(struct lode_buffer *buffer, const char *object);

/* "a pipe": what one is called that has no name, or none that tells anything. */
const char *lode_object_nameless(enum lode_object_kind kind);
/* Pipes, sockets and files lead to another thread; of conditions and the like it is enough to know who ended the wait. */
int lode_object_is_way(enum lode_object_kind kind);
/* Of a launch, the function in which the launching thread had let the GPU run dry; NULL: none, or another object. */
const char *lode_launch_after(const char *object);

#endif
