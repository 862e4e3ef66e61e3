/*
 * Names: see similar_names.h.
 *
 * Most pairs of names have no word in common. So for each word the names that
 * have it are listed, and going through the lists of a name's words adds up how
 * many words every other name shares with it, touching no others.
 */
#include "mine/similar_names.h"

#include "base/error.h"

#include <string.h>

/* ---- numbering ---- */

/* Where word groups and unknown frames got their numbers. */
struct numbering {
	struct lode_names *names;
	const struct lode_words *words;
	uint32_t *of_group;        /* by word group: its name, or LODE_NONE */
	struct lode_index unknown; /* of unknown frames */
	uint32_t *frame;           /* by name: the unknown frame, or LODE_NONE */
	size_t frame_capacity;
};

static uint32_t add_name(struct numbering *numbering, struct lode_word_group group, uint32_t unknown)
{
	struct lode_names *names = numbering->names;

	if (LODE_GROW(names->groups, names->capacity, names->count + 1) < 0 ||
	    LODE_GROW(numbering->frame, numbering->frame_capacity, names->count + 1) < 0)
		return LODE_NONE;
	names->groups[names->count] = group;
	numbering->frame[names->count] = unknown;
	return (uint32_t)names->count++;
}

static uint32_t name_unknown(struct numbering *numbering, uint32_t frame)
{
	uint64_t hash = lode_hash_pair(0, frame);
	uint32_t name;
	size_t probe = 0;

	while ((name = lode_index_next(&numbering->unknown, hash, &probe)) != LODE_NONE)
		if (numbering->frame[name] == frame)
			return name;
	name = add_name(numbering, (struct lode_word_group){ NULL, 0 }, frame);
	if (name != LODE_NONE && lode_index_insert(&numbering->unknown, hash, name) < 0)
		return LODE_NONE;
	return name;
}

static uint32_t name_frame(struct numbering *numbering, uint32_t frame)
{
	uint32_t group = lode_words_group(numbering->words, frame);

	if (group == LODE_NONE)
		return name_unknown(numbering, frame);
	if (numbering->of_group[group] == LODE_NONE)
		numbering->of_group[group] =
			add_name(numbering, lode_words_of_group(numbering->words, group), LODE_NONE);
	return numbering->of_group[group];
}

static int name_frames(struct lode_names *names, const struct lode_patterns *patterns,
		       const struct lode_words *words)
{
	struct numbering numbering = { .names = names, .words = words };
	size_t groups = lode_words_group_count(words);
	int code = LODE_SYSTEM;

	names->of = lode_calloc(patterns->frame_count, sizeof(*names->of));
	numbering.of_group = lode_calloc(groups, sizeof(*numbering.of_group));
	if (!names->of || !numbering.of_group)
		goto out;
	for (size_t i = 0; i < groups; i++)
		numbering.of_group[i] = LODE_NONE;
	for (size_t i = 0; i < patterns->frame_count; i++) {
		names->of[i] = name_frame(&numbering, patterns->frames[i]);
		if (names->of[i] == LODE_NONE)
			goto out;
	}
	code = 0;
out:
	lode_free(numbering.of_group);
	lode_free(numbering.frame);
	lode_index_release(&numbering.unknown);
	return code;
}

/* ---- names by word ---- */

/* How often the word at `at` occurs in the group from there on: equal words are neighbours. */
static uint32_t count_times(const struct lode_word_group *group, uint32_t at)
{
	uint32_t end = at + 1;

	while (end < group->count && group->words[end] == group->words[at])
		end++;
	return end - at;
}

static int list_by_word(struct lode_names *names, size_t words)
{
	size_t sum = 0;

	names->starts = lode_calloc(words + 1, sizeof(*names->starts));
	if (!names->starts)
		return LODE_SYSTEM;
	for (size_t name = 0; name < names->count; name++)
		for (uint32_t i = 0; i < names->groups[name].count; i += count_times(&names->groups[name], i))
			names->starts[names->groups[name].words[i]]++;
	for (size_t word = 0; word <= words; word++)
		names->starts[word] = sum += names->starts[word];
	names->having = lode_calloc(sum, sizeof(*names->having));
	if (!names->having)
		return LODE_SYSTEM;
	for (size_t name = names->count; name-- > 0;) {
		const struct lode_word_group *group = &names->groups[name];

		for (uint32_t i = 0; i < group->count; i += count_times(group, i))
			names->having[--names->starts[group->words[i]]] =
				(struct lode_name_with_word){ (uint32_t)name, count_times(group, i) };
	}
	return 0;
}

int lode_names_make(struct lode_names *names, const struct lode_patterns *patterns, const struct lode_words *words)
{
	memset(names, 0, sizeof(*names));
	if (name_frames(names, patterns, words) < 0)
		return LODE_SYSTEM;
	return list_by_word(names, lode_words_count(words));
}

void lode_names_release(struct lode_names *names)
{
	lode_free(names->of);
	lode_free(names->groups);
	lode_free(names->starts);
	lode_free(names->having);
	memset(names, 0, sizeof(*names));
}

size_t lode_names_near(const struct lode_names *names, uint32_t name, uint32_t *common, struct lode_near_name *near)
{
	const struct lode_word_group *own = &names->groups[name];
	size_t count = 0;
	uint32_t times;

	for (uint32_t i = 0; i < own->count; i += times) {
		times = count_times(own, i);
		for (size_t k = names->starts[own->words[i]]; k < names->starts[own->words[i] + 1]; k++) {
			struct lode_name_with_word other = names->having[k];

			if (!common[other.name])
				near[count++].name = other.name;
			common[other.name] += other.times < times ? other.times : times;
		}
	}
	for (size_t k = 0; k < count; k++) {
		near[k].sub = lode_sub_units((uint64_t)own->count + names->groups[near[k].name].count,
					     common[near[k].name]);
		common[near[k].name] = 0;
	}
	if (!own->count)
		near[count++] = (struct lode_near_name){ name, 0 };
	return count;
}
