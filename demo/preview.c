/*
 * A plug-in of plugin_host without a bug: small pictures of pages. About 0.4 ms of CPU time
 * a page, regardless of the settings.
 */
#include "demo.h"
#include "plugin.h"

static OWN_FRAME uint64_t scale_image(unsigned page)
{
	IN_FRAME;
	return demo_work(page, 500000);
}

static OWN_FRAME uint64_t preview_page(unsigned page)
{
	IN_FRAME;
	return scale_image(page);
}

static void open_plugin(int careful)
{
	(void)careful;
}

const struct plugin plugin = { open_plugin, preview_page };
