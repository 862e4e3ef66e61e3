/* The exporter of a name: see export.h. Apart from export.c, which the exporters themselves use. */
#include "export/export.h"

#include <stdio.h>
#include <string.h>

const struct lode_exporter *lode_exporter_find(const char *name, struct lode_error *error)
{
	char known[512] = "";
	size_t used = 0;

	for (size_t i = 0; lode_exporters[i]; i++) {
		if (strcmp(lode_exporters[i]->name, name) == 0)
			return lode_exporters[i];
		if (used < sizeof(known))
			used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
						 lode_exporters[i]->name);
	}
	lode_fail(error, LODE_USAGE, "%s: is not an export format; choose one of %s", name, known);
	return NULL;
}
