/*
 * Names of frames of languages (languages.h), by process, word and position. They are kept until there are very many; then those of
 * processes that are gone are dropped.
 */
#ifndef LODE_PROCESS_LANGUAGES_LANGUAGE_NAMES_H
#define LODE_PROCESS_LANGUAGES_LANGUAGE_NAMES_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/hash_index.h"
#include "process/languages/languages.h"

/* Names that are kept, at first. */
#define LODE_LANGUAGE_NAMES_LIMIT (1u << 19)

/* All zero is one without names, but for the limit. */
struct lode_language_names {
	struct lode_language_name *items;
	size_t count;
	size_t capacity;
	size_t limit;            /* when it is time for lode_language_names_drop_gone */
	struct lode_index index; /* by all that they are known by */
	struct lode_index words; /* by word */
	struct lode_arena arena; /* of their texts */
};

void lode_language_names_release(struct lode_language_names *names);
/* NULL: there is none. */
const struct lode_language_name *lode_language_names_find(const struct lode_language_names *names, uint32_t pid,
							  uint64_t word, uint64_t position);
/* Adds `name` with copies of these texts. Returns 0 or LODE_SYSTEM. */
int lode_language_names_add_text(struct lode_language_names *names, struct lode_language_name *name,
				 const char *path, const char *function);
/* The same with the first texts of these lists, and behind it those that it is inlined in. */
int lode_language_names_add(struct lode_language_names *names, struct lode_language_name *name,
			    const struct lode_buffer *paths, const struct lode_buffer *functions);
/* Gives a name of the list, which could not be read before, the first texts of these lists and its line. Returns 0 or LODE_SYSTEM. */
int lode_language_names_set(struct lode_language_names *names, const struct lode_language_name *known,
			    const struct lode_language_name *name, const struct lode_buffer *paths,
			    const struct lode_buffer *functions);
/*
 * A forked process that is gone had the objects of its parent at the same addresses: adds `name` as another process has it there.
 * Others have their objects elsewhere, because the kernel places their memory at random. Returns 1, 0 when there is none, or
 * LODE_SYSTEM.
 */
int lode_language_names_copy(struct lode_language_names *names, struct lode_language_name *name);
/* Drops the names of processes that are gone. Returns 0, or LODE_SYSTEM with everything as it was. */
int lode_language_names_drop_gone(struct lode_language_names *names);

#endif
