/*
 * The slow plug-in of plugin_host: marks words that are not in its word list.
 *
 * bad:  with the careful setting it looks for a newer word list before each page,
 *       and reads it: 6 ms of waiting, about 0.8 ms of CPU time.
 * good: it reads the list when it is opened.
 */
#include "demo.h"
#include "plugin.h"

#define LIST_TIME 6000 /* us that the disk takes for the word list */

static int read_for_each_page;
static uint64_t word_list;

static OWN_FRAME void fetch_word_list(void)
{
	IN_FRAME;
	demo_await_device(LIST_TIME);
}

static OWN_FRAME uint64_t sort_word_list(void)
{
	IN_FRAME;
	return demo_work(LIST_TIME, 1000000);
}

static OWN_FRAME uint64_t reload_word_list(void)
{
	IN_FRAME;
	fetch_word_list();
	return sort_word_list();
}

static OWN_FRAME uint64_t check_words(unsigned page, uint64_t words)
{
	IN_FRAME;
	return demo_work(page ^ words, 500000);
}

static OWN_FRAME uint64_t spell_page(unsigned page)
{
	IN_FRAME;
	return check_words(page, read_for_each_page ? reload_word_list() : word_list);
}

static OWN_FRAME void open_spell(int careful)
{
	IN_FRAME;
	read_for_each_page = careful;
	word_list = reload_word_list();
}

const struct plugin plugin = { open_spell, spell_page };
