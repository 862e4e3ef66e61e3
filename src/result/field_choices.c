/* Texts out of a few: see field_choices.h. */
#include "result/field_choices.h"

#include "latency/code_layer.h"
#include "scope/scope.h"

const char *lode_choice_scope(unsigned number)
{
	return number + LODE_SCOPE_ALL < LODE_SCOPES ? lode_scope_name((enum lode_scope)(number + LODE_SCOPE_ALL))
						     : NULL;
}

const char *lode_choice_layer(unsigned number)
{
	return number < LODE_LAYERS ? lode_layer_name((enum lode_layer)number) : NULL;
}

const char *lode_choice_mined_kind(unsigned number)
{
	static const char *const names[] = { "wait", "run", "both", "ready" };

	return number < sizeof(names) / sizeof(names[0]) ? names[number] : NULL;
}
