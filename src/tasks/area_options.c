/*
 * The options that say where to look: see area_options.h.
 */
#include "tasks/area_options.h"

#include <string.h>

const char *lode_scope_choice(size_t i)
{
	return i + LODE_SCOPE_ALL < LODE_SCOPES ? lode_scope_name((enum lode_scope)(i + LODE_SCOPE_ALL)) : NULL;
}

enum lode_scope lode_scope_chosen(const char *name, enum lode_scope otherwise)
{
	for (int scope = LODE_SCOPE_ALL; name && scope < LODE_SCOPES; scope++)
		if (!strcmp(name, lode_scope_name((enum lode_scope)scope)))
			return (enum lode_scope)scope;
	return otherwise;
}
