/* Names of frames of languages: see language_names.h. */
#include "process/languages/language_names.h"

#include "base/starts_with.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

void lode_language_names_release(struct lode_language_names *names)
{
	lode_free(names->items);
	lode_index_release(&names->index);
	lode_index_release(&names->words);
	lode_arena_release(&names->arena);
}

static uint64_t name_hash(uint32_t pid, uint64_t word, uint64_t position)
{
	return lode_hash_more(word ^ position, pid);
}

const struct lode_language_name *lode_language_names_find(const struct lode_language_names *names, uint32_t pid,
							  uint64_t word, uint64_t position)
{
	uint32_t found = LODE_INDEX_FIND(i, &names->index, name_hash(pid, word, position),
					 names->items[i].word == word && names->items[i].pid == pid &&
						 names->items[i].position == position);

	return found == LODE_NONE ? NULL : &names->items[found];
}

/* ---- adding ---- */

static int enter(struct lode_language_names *names, const struct lode_language_name *name)
{
	if (lode_index_insert(&names->words, lode_hash_u64(name->word), (uint32_t)names->count) < 0)
		return LODE_SYSTEM;
	return LODE_INDEX_APPEND(&names->index, name_hash(name->pid, name->word, name->position), names->items,
				 names->count, names->capacity, *name);
}

/* Adds what the name before it is inlined in: it is found by that one only. */
static int append(struct lode_language_names *names, const struct lode_language_name *name)
{
	return LODE_APPEND(names->items, names->count, names->capacity, *name);
}

/* Sets the texts of a name to copies of these. Returns 0 or LODE_SYSTEM. */
static int set_texts(struct lode_language_names *names, struct lode_language_name *name, const char *path,
		     const char *function)
{
	const char *slash;

	name->path = lode_arena_text(&names->arena, path, strlen(path));
	name->function = lode_arena_text(&names->arena, function, strlen(function));
	if (!name->path || !name->function)
		return LODE_SYSTEM;
	/* Modules of Node.js itself are no files, node:internal/timers, nor are extensions of PHP. */
	slash = lode_starts_with(name->path, "node:") ? NULL : strrchr(name->path, '/');
	name->module = slash && slash[1] ? slash + 1 : name->path;
	if (!*name->path)
		name->module = lode_language_text(lode_language_of(name->word));
	return 0;
}

int lode_language_names_add_text(struct lode_language_names *names, struct lode_language_name *name,
				 const char *path, const char *function)
{
	return set_texts(names, name, path, function) < 0 ? LODE_SYSTEM : enter(names, name);
}

/* The text behind one in a buffer; NULL: it is the last one. */
static const char *next_text(const struct lode_buffer *texts, const char *text)
{
	const char *next = text + strlen(text) + 1;

	return next < texts->bytes + texts->size ? next : NULL;
}

int lode_language_names_add(struct lode_language_names *names, struct lode_language_name *name,
			    const struct lode_buffer *paths, const struct lode_buffer *functions)
{
	const char *path = paths->bytes, *function = functions->bytes;
	uint32_t first = (uint32_t)names->count, count = 0;

	while (path && function) {
		if (set_texts(names, name, path, function) < 0 ||
		    (count ? append(names, name) : enter(names, name)) < 0)
			return LODE_SYSTEM;
		names->items[first].inlined = count++;
		path = next_text(paths, path);
		function = next_text(functions, function);
	}
	return 0;
}

int lode_language_names_set(struct lode_language_names *names, const struct lode_language_name *known,
			    const struct lode_language_name *name, const struct lode_buffer *paths,
			    const struct lode_buffer *functions)
{
	struct lode_language_name *item = &names->items[known - names->items], texts = *name;

	if (set_texts(names, &texts, paths->bytes, functions->bytes) < 0)
		return LODE_SYSTEM;
	*item = texts;
	item->inlined = 0;
	return 0;
}

int lode_language_names_copy(struct lode_language_names *names, struct lode_language_name *name)
{
	uint32_t found =
		LODE_INDEX_FIND(i, &names->words, lode_hash_u64(name->word),
				names->items[i].word == name->word && names->items[i].position == name->position &&
					*names->items[i].path);
	struct lode_language_name copy;

	if (found == LODE_NONE)
		return 0;
	copy = names->items[found];
	copy.pid = name->pid;
	copy.inlined = 0;
	return enter(names, &copy) < 0 ? LODE_SYSTEM : 1;
}

/* ---- dropping ---- */

int lode_language_names_drop_gone(struct lode_language_names *names)
{
	struct lode_language_names kept = { .limit = names->limit };
	uint32_t followers = 0; /* of the latest name that is found by itself */
	int code = 0, lives = 0;

	for (size_t i = 0; !code && i < names->count; i++) {
		struct lode_language_name name = names->items[i];
		int is_follower = followers > 0;

		if (!is_follower)
			lives = kill((pid_t)name.pid, 0) == 0 || errno != ESRCH;
		followers = is_follower ? followers - 1 : name.inlined;
		if (!lives)
			continue;
		code = set_texts(&kept, &name, name.path, name.function);
		if (!code)
			code = is_follower ? append(&kept, &name) : enter(&kept, &name);
	}
	if (code) {
		lode_language_names_release(&kept);
		return code;
	}
	/* Looking for what to drop takes its time: not again too soon. */
	if (kept.count > LODE_LANGUAGE_NAMES_LIMIT / 2)
		kept.limit = kept.count * 2;
	lode_language_names_release(names);
	*names = kept;
	return 0;
}
