/*
 * A plug-in of plugin_host without a bug: the headings of pages. About 0.4 ms of CPU time
 * a page, regardless of the settings.
 */
#include "demo.h"
#include "plugin.h"

static OWN_FRAME uint64_t find_headings(unsigned page)
{
	IN_FRAME;
	return demo_work(page, 500000);
}

static OWN_FRAME uint64_t outline_page(unsigned page)
{
	IN_FRAME;
	return find_headings(page);
}

static void open_plugin(int careful)
{
	(void)careful;
}

const struct plugin plugin = { open_plugin, outline_page };
