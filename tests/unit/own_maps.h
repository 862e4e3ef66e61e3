/* What the kernel lists of the test's own memory. Emulators (qemu's user mode) list neither code nor the heap. */
#ifndef LODE_TESTS_OWN_MAPS_H
#define LODE_TESTS_OWN_MAPS_H

#include "cmocka_all.h"

#include <stdio.h>
#include <string.h>

#define MAPPED_CODE " r-xp "
#define MAPPED_HEAP "[heap]"

/* Whether no line of /proc/self/maps has `text`; says so. */
static inline int own_maps_lack(const char *text)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4096];
	int found = 0;

	while (maps && !found && fgets(line, sizeof(line), maps))
		found = strstr(line, text) != NULL;
	if (maps)
		fclose(maps);
	if (!found)
		print_message("skipped: /proc/self/maps has no '%s', as under an emulator\n", text);
	return !found;
}

/* Skips the test in which it is called. */
static inline void skip_unless_mapped(const char *text)
{
	if (own_maps_lack(text))
		skip();
}

#endif
