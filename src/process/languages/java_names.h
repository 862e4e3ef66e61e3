/*
 * Names of Java functions as frames have them: `Server.java!Server$Worker.handle`, in the module of the source file and without
 * packages, which the path of the file has. For the recorder and for importers, so that streams of both compare.
 */
#ifndef LODE_PROCESS_LANGUAGES_JAVA_NAMES_H
#define LODE_PROCESS_LANGUAGES_JAVA_NAMES_H

#include "base/buffer.h"

/* A name of a class as the virtual machine has it, `java/util/HashMap$Node`; dots between packages do as well. */
struct lode_java_class {
	const char *name;
	size_t size;
};

/*
 * Without what differs from run to run: the number and the address of a lambda's class, and the address of another hidden
 * one.
 */
struct lode_java_class lode_java_class_stable(struct lode_java_class holder);
/*
 * Appends the path of the source file, `java/util/HashMap.java`, and the name of the class without packages. `source`: the name of the
 * file; where it is not known (classes that are generated have none, or their own name in its place), it is what compilers require for public classes:
 * the name of the outermost one.
 */
void lode_java_names(struct lode_java_class holder, const char *source, size_t source_size,
		     struct lode_buffer *path, struct lode_buffer *function);
/* Appends bytes; what would change how a line reads, and what is no UTF-8, is replaced. */
void lode_java_text(struct lode_buffer *buffer, const char *bytes, size_t size);

#endif
