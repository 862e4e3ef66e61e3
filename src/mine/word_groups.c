/*
 * Words of function names: see word_groups.h and alignment.h (StackMine, section VI.A).
 *
 * The module is no part of the name. A word is a row of letters; everything else
 * (`_`, `::`, `.`, digits, brackets, blanks) separates. Bytes beyond ASCII count
 * as letters, so that a word in UTF-8 stays whole. Inside a row of letters a
 * capital begins a word, as in the paper; but a run of capitals is one word, whose
 * last letter belongs to the next word when a small letter follows it:
 *
 *	GetShortPathName         get short path name
 *	GetHTTPRequest           get http request
 *	XMLParser                xml parser
 *	std::vector<int>::at     std vector int at
 *	do_sys_openat2           do sys openat
 *	0x4f20                   (none: an address, not a name)
 *
 * Words are compared without regard to case (of ASCII letters) and counted as a
 * multiset: a word that occurs twice in both names is common twice.
 */
#include "mine/word_groups.h"

#include "base/error.h"
#include "base/message.h"
#include "base/sort_numbers.h"

#include <string.h>

struct lode_words {
	struct lode_strings texts; /* of the words, small letters; its ids are the words' */
	size_t word_ids;           /* are below this */
	size_t frames;
	uint32_t *group; /* by frame */
	size_t *first;   /* by group, one more than groups: its words in `words` */
	size_t groups;
	size_t group_capacity;
	uint32_t *words; /* of all groups */
	size_t word_count;
	size_t word_capacity;
	struct lode_index index;   /* of groups, by their words */
	struct lode_buffer folded; /* the current word */
};

/* ---- splitting ---- */

static int is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

/* Letters that cannot begin a word inside a row of letters. */
static int is_small(char c)
{
	return (c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80;
}

static int is_letter(char c)
{
	return is_upper(c) || is_small(c);
}

/* One past the word that begins at `text[at]`, which is a letter. */
static size_t word_end(const char *text, size_t length, size_t at)
{
	size_t end = at + 1;

	while (end < length && is_upper(text[at]) && is_upper(text[end]))
		end++;
	if (end < length && is_small(text[end])) {
		/* Of several capitals the last one begins the word that the small letters go on with. */
		if (end - at > 1)
			return end - 1;
		while (end < length && is_small(text[end]))
			end++;
	}
	return end;
}

/* Appends the word's id to the words of the group being made. */
static int add_word(struct lode_words *words, const char *text, size_t length)
{
	uint32_t id;

	lode_buffer_clear(&words->folded);
	for (size_t i = 0; i < length; i++)
		lode_buffer_byte(&words->folded, is_upper(text[i]) ? (char)(text[i] + ('a' - 'A')) : text[i]);
	if (words->folded.failed ||
	    (id = lode_strings_add(&words->texts, words->folded.bytes, length)) == LODE_NONE ||
	    LODE_APPEND(words->words, words->word_count, words->word_capacity, id) < 0)
		return LODE_SYSTEM;
	return 0;
}

/* Functions without a symbol are written as an address. */
static int is_address(const char *text, size_t length)
{
	return length > 2 && text[0] == '0' && text[1] == 'x' &&
	       strspn(text + 2, "0123456789abcdefABCDEF") == length - 2;
}

static int split(struct lode_words *words, const char *text, size_t length)
{
	size_t at = 0, end;

	if (is_address(text, length))
		return 0;
	while (at < length) {
		if (!is_letter(text[at])) {
			at++;
			continue;
		}
		end = word_end(text, length, at);
		if (add_word(words, text + at, end - at) < 0)
			return LODE_SYSTEM;
		at = end;
	}
	return 0;
}

/* ---- groups ---- */

static uint32_t find_group(const struct lode_words *words, uint64_t hash, const uint32_t *ids, size_t count)
{
	return LODE_INDEX_FIND(i, &words->index, hash,
			       words->first[i + 1] - words->first[i] == count &&
				       memcmp(words->words + words->first[i], ids, count * sizeof(*ids)) == 0);
}

/* Closes the group that was begun at `first`, unless there is one with the same words. Returns its number. */
static uint32_t close_group(struct lode_words *words, size_t first)
{
	uint32_t *ids = words->words + first, group;
	size_t count = words->word_count - first;
	uint64_t hash = 0;

	if (count) {
		lode_sort_u32(ids, count);
		hash = lode_hash_bytes(ids, count * sizeof(*ids));
		group = find_group(words, hash, ids, count);
		if (group != LODE_NONE) {
			words->word_count = first;
			return group;
		}
	}
	if (LODE_GROW(words->first, words->group_capacity, words->groups + 2) < 0 ||
	    (count && lode_index_insert(&words->index, hash, (uint32_t)words->groups) < 0))
		return LODE_NONE;
	words->first[words->groups] = first;
	words->first[words->groups + 1] = words->word_count;
	return (uint32_t)words->groups++;
}

static int group_frames(struct lode_words *words, const struct lode_frames *frames)
{
	words->frames = frames->count;
	words->group = lode_calloc(frames->count, sizeof(*words->group));
	if (!words->group || lode_strings_init(&words->texts) < 0)
		return LODE_SYSTEM;
	for (size_t frame = 0; frame < frames->count; frame++) {
		const struct lode_string *name = &frames->strings.items[frames->items[frame].function];
		size_t first = words->word_count;

		if (split(words, name->text, name->length) < 0)
			return LODE_SYSTEM;
		words->group[frame] = close_group(words, first);
		if (words->group[frame] == LODE_NONE)
			return LODE_SYSTEM;
	}
	return 0;
}

struct lode_words *lode_words_make(const struct lode_frames *frames)
{
	struct lode_words *words = lode_calloc(1, sizeof(*words));

	if (words && group_frames(words, frames) < 0) {
		lode_words_free(words);
		return NULL;
	}
	if (words)
		words->word_ids = words->texts.count;
	return words;
}

void lode_words_free(struct lode_words *words)
{
	if (!words)
		return;
	lode_strings_release(&words->texts);
	lode_free(words->group);
	lode_free(words->first);
	lode_free(words->words);
	lode_index_release(&words->index);
	lode_buffer_release(&words->folded);
	lode_free(words);
}

size_t lode_words_group_count(const struct lode_words *words)
{
	return words->groups;
}

size_t lode_words_count(const struct lode_words *words)
{
	return words->word_ids;
}

uint32_t lode_words_group(const struct lode_words *words, uint32_t frame)
{
	return frame < words->frames ? words->group[frame] : LODE_NONE;
}

struct lode_word_group lode_words_of_group(const struct lode_words *words, uint32_t group)
{
	size_t first = words->first[group];

	return (struct lode_word_group){ words->words + first, (uint32_t)(words->first[group + 1] - first) };
}

/* ---- Sub ---- */

static uint32_t count_common(struct lode_word_group a, struct lode_word_group b)
{
	uint32_t common = 0, i = 0, j = 0;

	while (i < a.count && j < b.count) {
		if (a.words[i] == b.words[j]) {
			common++;
			i++;
			j++;
		} else if (a.words[i] < b.words[j]) {
			i++;
		} else {
			j++;
		}
	}
	return common;
}

uint32_t lode_words_sub_units(const struct lode_words *words, uint32_t f1, uint32_t f2)
{
	struct lode_word_group a, b;

	if (f1 == f2)
		return 0;
	if (f1 >= words->frames || f2 >= words->frames)
		return LODE_SUB_UNITS;
	a = lode_words_of_group(words, words->group[f1]);
	b = lode_words_of_group(words, words->group[f2]);
	return lode_sub_units((uint64_t)a.count + b.count, count_common(a, b));
}

double lode_words_sub(const struct lode_words *words, uint32_t f1, uint32_t f2)
{
	return (double)lode_words_sub_units(words, f1, f2) / LODE_SUB_UNITS;
}

/* ---- messages ---- */

/* The groups of some frames, numbered from 0 as they come. */
struct numbering {
	uint32_t *numbers; /* by group, or LODE_NONE */
	uint32_t *groups;  /* by number */
	uint32_t *of;      /* by frame: its number */
	size_t count;
	size_t known; /* frames that have a group: those that are not known have the largest numbers */
};

static int number_groups(struct numbering *numbering, const struct lode_words *words, const uint32_t *frames,
			 size_t frame_count)
{
	numbering->numbers = lode_alloc((words->groups + 1) * sizeof(uint32_t));
	numbering->groups = lode_alloc((frame_count + 1) * sizeof(uint32_t));
	numbering->of = lode_alloc((frame_count + 1) * sizeof(uint32_t));
	if (!numbering->numbers || !numbering->groups || !numbering->of)
		return LODE_SYSTEM;
	memset(numbering->numbers, 0xff, (words->groups + 1) * sizeof(uint32_t));
	for (size_t i = 0; i < frame_count && frames[i] < words->frames; i++) {
		uint32_t group = words->group[frames[i]];

		if (numbering->numbers[group] == LODE_NONE) {
			numbering->groups[numbering->count] = group;
			numbering->numbers[group] = (uint32_t)numbering->count++;
		}
		numbering->of[i] = numbering->numbers[group];
		numbering->known = i + 1;
	}
	return 0;
}

static void write_groups(const struct lode_words *words, const struct numbering *numbering,
			 struct lode_buffer *message)
{
	size_t count = 0;

	lode_message_add_array(message, numbering->of, numbering->known, sizeof(*numbering->of));
	lode_buffer_u64(message, numbering->count + 1);
	for (size_t i = 0; i < numbering->count; i++) {
		lode_buffer_u64(message, count);
		count += lode_words_of_group(words, numbering->groups[i]).count;
	}
	lode_buffer_u64(message, count);
	lode_buffer_u64(message, count);
	for (size_t i = 0; i < numbering->count; i++) {
		struct lode_word_group group = lode_words_of_group(words, numbering->groups[i]);

		if (group.count)
			lode_buffer_add(message, group.words, group.count * sizeof(*group.words));
	}
	lode_message_fill_up(message, count * sizeof(*words->words));
}

void lode_words_write(const struct lode_words *words, const uint32_t *frames, size_t frame_count,
		      struct lode_buffer *message)
{
	struct numbering numbering = { 0 };

	lode_buffer_u64(message, words->word_ids);
	if (number_groups(&numbering, words, frames, frame_count) < 0)
		message->failed = 1;
	else
		write_groups(words, &numbering, message);
	lode_free(numbering.numbers);
	lode_free(numbering.groups);
	lode_free(numbering.of);
}

/* A copy of an array of the message, with room for one more; NULL when memory has run out. */
static void *copy_array(struct lode_cursor *message, size_t *count, size_t size)
{
	const void *items = lode_message_array(message, count, size);
	void *copy = lode_calloc(*count + 1, size);

	if (copy && *count)
		memcpy(copy, items, *count * size);
	return copy;
}

/* Groups follow one another, and the words of each rise. */
static void check_groups(const struct lode_words *words, size_t firsts, struct lode_cursor *message)
{
	lode_message_expect(message, firsts > 0 && words->word_ids < LODE_NONE && !words->first[0] &&
					     words->first[firsts - 1] == words->word_count);
	for (size_t i = 0; i < words->frames && !message->failed; i++)
		lode_message_expect(message, words->group[i] < words->groups);
	for (size_t i = 0; i + 1 < firsts && !message->failed; i++)
		lode_message_expect(message, words->first[i] <= words->first[i + 1]);
	for (size_t i = 0; i + 1 < firsts && !message->failed; i++)
		for (size_t k = words->first[i]; k < words->first[i + 1]; k++)
			lode_message_expect(message, words->words[k] < words->word_ids &&
							     (k == words->first[i] ||
							      words->words[k - 1] <= words->words[k]));
}

struct lode_words *lode_words_read(struct lode_cursor *message)
{
	struct lode_words *words = lode_calloc(1, sizeof(*words));
	size_t firsts;

	if (!words)
		return NULL;
	words->word_ids = lode_cursor_u64(message);
	words->group = copy_array(message, &words->frames, sizeof(*words->group));
	words->first = copy_array(message, &firsts, sizeof(*words->first));
	words->words = copy_array(message, &words->word_count, sizeof(*words->words));
	words->groups = firsts ? firsts - 1 : 0;
	if (words->group && words->first && words->words)
		check_groups(words, firsts, message);
	if (!words->group || !words->first || !words->words || message->failed) {
		lode_words_free(words);
		return NULL;
	}
	return words;
}
