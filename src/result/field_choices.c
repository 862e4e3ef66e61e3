/* Texts out of a few: see field_choices.h. */
#include "result/field_choices.h"

#include "latency/code_layer.h"
#include "latency/diff.h"
#include "mine/signatures.h"
#include "scope/own_frames.h"
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

const char *lode_choice_own(unsigned number)
{
	return number < LODE_OWNS ? lode_own_name((enum lode_own)number) : NULL;
}

const char *lode_choice_no_cause(unsigned number)
{
	return lode_no_cause_name(number + 1);
}

const char *lode_choice_mined_kind(unsigned number)
{
	static const char *const names[] = { "wait", "run", "both", "ready" };

	return number < sizeof(names) / sizeof(names[0]) ? names[number] : NULL;
}

const char *lode_choice_signature_state(unsigned number)
{
	return number < LODE_SIGNATURE_STATES ? lode_signature_state_name((enum lode_signature_state)number) : NULL;
}

const char *lode_choice_path_kind(unsigned number)
{
	return number == 0 ? "corpus" : number == 1 ? "stream" : NULL;
}
