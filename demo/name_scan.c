/*
 * A CPU bug under two callers: a list that is searched from its beginning.
 *
 * A dictionary holds `size` names. `indexer` threads look up each word of their
 * document to count it, a `renderer` looks up each word of its page to mark it.
 * Both ask find_name. Besides, both do honest work for each word, in split_word and
 * draw_word.
 *
 * bad:  find_name walks the list and compares without regard to case: quadratic in
 *       size, and neither caller alone shows more than a part of it.
 * good: find_name searches the sorted list by halves.
 *
 * Timing: all of it is CPU time. A document and a page have `size` words each; a word
 * costs about 17 us of honest work, and in the bad variant size / 2 comparisons of
 * about 7 ns. So a thread spends 17 us * size outside of find_name, and in it about
 * 3.6 ns * size * size, more than half of its time from a size of 5000 on.
 */
#include "demo.h"

#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 16

static struct demo demo = {
	.program = "name_scan",
	.about = "A search through a list burns CPU time for an indexer and for a renderer. Size: names in the "
		 "list\n"
		 "and words of a document. Threads: indexers; there is one renderer more.",
	.size = 12000,
	.smallest = 1,
	.largest = 1000000,
	.threads = 1,
};

struct reader {
	struct demo_thread thread;
	uint64_t found;
	uint64_t work;
};

static char (*names)[NAME_SIZE]; /* sorted */

/* ---- the dictionary, which all share ---- */

/* -1, 0 or 1 without regard to case. */
static int compare_names(const char *a, const char *b)
{
	for (; *a && (*a | 0x20) == (*b | 0x20); a++, b++)
		continue;
	return ((*a | 0x20) > (*b | 0x20)) - ((*a | 0x20) < (*b | 0x20));
}

static OWN_FRAME unsigned scan_whole_list(const char *word)
{
	IN_FRAME;

	for (unsigned i = 0; i < demo.size; i++)
		if (compare_names(names[i], word) == 0)
			return i;
	return demo.size;
}

static OWN_FRAME unsigned search_by_halves(const char *word)
{
	IN_FRAME;
	unsigned low = 0, high = demo.size;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;
		int order = compare_names(names[middle], word);

		if (order == 0)
			return middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return demo.size;
}

static OWN_FRAME unsigned find_name(const char *word)
{
	IN_FRAME;
	return demo.bad ? scan_whole_list(word) : search_by_halves(word);
}

/* Word `i` of a text: every name once, in an order that jumps about. */
static const char *word_at(unsigned i)
{
	return names[(uint64_t)i * 7919 % demo.size];
}

/* ---- the first caller ---- */

static OWN_FRAME uint64_t split_word(const char *word)
{
	IN_FRAME;
	return demo_work((uint64_t)word[0], 20000);
}

static OWN_FRAME void count_word(struct reader *reader, const char *word)
{
	IN_FRAME;
	reader->found += find_name(word) < demo.size;
}

static OWN_FRAME void index_document(void *argument)
{
	IN_FRAME;
	struct reader *reader = argument;

	for (unsigned i = 0; i < demo.size; i++) {
		reader->work ^= split_word(word_at(i));
		count_word(reader, word_at(i));
	}
}

/* ---- the second caller ---- */

static OWN_FRAME uint64_t draw_word(const char *word)
{
	IN_FRAME;
	return demo_work((uint64_t)word[1], 20000);
}

static OWN_FRAME void mark_known_word(struct reader *reader, const char *word)
{
	IN_FRAME;
	reader->found += find_name(word) < demo.size;
}

static OWN_FRAME void render_page(void *argument)
{
	IN_FRAME;
	struct reader *reader = argument;

	for (unsigned i = 0; i < demo.size; i++) {
		reader->work ^= draw_word(word_at(i));
		mark_known_word(reader, word_at(i));
	}
}

/* ---- all of it ---- */

static OWN_FRAME void open_document(struct reader *readers)
{
	IN_FRAME;

	demo_thread_start(&readers[0].thread, "renderer", render_page, &readers[0]);
	for (unsigned i = 1; i <= demo.threads; i++)
		demo_thread_start(&readers[i].thread, "indexer", index_document, &readers[i]);
	for (unsigned i = 0; i <= demo.threads; i++)
		demo_join(&readers[i].thread);
}

int main(int argc, char **argv)
{
	struct reader *readers;
	uint64_t found = 0;
	char result[64];

	demo_options(&demo, argc, argv);
	readers = demo_room(demo.threads + 1, sizeof(*readers));
	names = demo_room(demo.size, sizeof(*names));
	for (unsigned i = 0; i < demo.size; i++)
		snprintf(names[i], NAME_SIZE, "name-%07u", i);
	demo_start(&demo, "ui");
	{
		IN_FRAME;
		open_document(readers);
		demo_stop(&demo);
	}
	for (unsigned i = 0; i <= demo.threads; i++)
		found += readers[i].found;
	snprintf(result, sizeof(result), "%llu of %llu words found", (unsigned long long)found,
		 (unsigned long long)demo.size * (demo.threads + 1));
	demo_finish(&demo, result);
	free(names);
	free(readers);
	return found == (uint64_t)demo.size * (demo.threads + 1) ? 0 : 4;
}
