/*
 * What a plug-in of plugin_host is: a shared object that has one symbol, `plugin`.
 */
#ifndef DEMO_PLUGIN_H
#define DEMO_PLUGIN_H

#include <stdint.h>

struct plugin {
	/* Once, before any page. `careful` is the user's setting for all plug-ins. */
	void (*open)(int careful);
	/* Any number of threads at a time. Returns something that depends on the work done. */
	uint64_t (*handle_page)(unsigned page);
};

extern const struct plugin plugin;

#endif
