/*
 * Function probes: the probe addresses of a function; and probes that are always in, on
 * functions that wait by spinning and on the one that ends an exception's unwinding.
 */
#include "hunt/meter/live/live_internal.h"

#include "base/memory.h"
#include "hunt/meter/live/spin_wait_functions.h"

/* Functions that get probes only to see frames that were left have numbers apart from all others. */
#define SWEEPING 0x80000000u

static const struct lode_code_function *code_of(struct lode_live *live, uint32_t function,
						const struct lode_code **code)
{
	const struct lode_program_function *about;

	if (function >= lode_program_count(live->meter.program))
		return NULL;
	about = lode_program_function(live->meter.program, function);
	if (about->binary == LODE_NONE || about->binary >= live->target.binary_count ||
	    !live->target.binaries[about->binary].path)
		return NULL;
	*code = lode_program_code(live->meter.program, about->binary);
	return *code && about->code < (*code)->count ? &(*code)->functions[about->code] : NULL;
}

int lode_live_make_probe(struct lode_live *live, uint32_t function, struct lode_probe_wish *wish)
{
	const struct lode_code *code;
	const struct lode_code_function *about = code_of(live, function, &code);
	uint32_t binary;

	if (!about || about->unknown_ends || !about->entry_count)
		return 1;
	binary = lode_program_function(live->meter.program, function)->binary;
	*wish = (struct lode_probe_wish){
		.function = function,
		.binary = binary,
		.path = live->target.binaries[binary].path,
		.entries = code->offsets + about->first_entry,
		.entry_kinds = code->kinds + about->first_entry,
		.entry_count = about->entry_count,
		.ends = code->offsets + about->first_end,
		.end_kinds = code->kinds + about->first_end,
		.end_count = about->end_count,
		.slot = LODE_NONE,
	};
	return 0;
}

struct specials {
	struct lode_live *live;
	const struct lode_code *code;
	uint32_t binary;
	struct lode_error *error;
};

static uint32_t function_in(struct specials *specials, uint32_t number)
{
	const struct lode_code_function *about = &specials->code->functions[number];

	return about->entry_count ? lode_program_at(specials->live->meter.program, specials->binary,
						    specials->code->offsets[about->first_entry])
				  : LODE_NONE;
}

static int add_waiting(void *context, uint32_t number, uint32_t message)
{
	struct specials *specials = context;
	uint32_t function = function_in(specials, number);
	struct lode_probe_wish wish;

	if (function == LODE_NONE || lode_live_make_probe(specials->live, function, &wish))
		return 0;
	wish.waiting = 1;
	wish.message = message;
	if (lode_stack_samples_set_waiting(&specials->live->samples, function) < 0)
		return lode_fail_memory(specials->error);
	return lode_probes_take(specials->live->probes, &wish, specials->error);
}

static int add_catch(struct specials *specials)
{
	/* Called where an exception has been caught. */
	uint32_t number = lode_code_named(specials->code, "__cxa_begin_catch");
	uint32_t function = number == LODE_NONE ? LODE_NONE : function_in(specials, number);
	struct lode_probe_wish wish;

	if (function == LODE_NONE || lode_live_make_probe(specials->live, function, &wish))
		return 0;
	wish.function |= SWEEPING;
	wish.sweeping = 1;
	return lode_probes_take(specials->live->probes, &wish, specials->error);
}

int lode_live_add_special(struct lode_live *live, struct lode_error *error)
{
	size_t before = live->binaries_known;
	int code = 0;

	for (; !code && live->binaries_known < live->target.binary_count; live->binaries_known++) {
		struct specials specials = { live,
					     lode_program_code(live->meter.program, (uint32_t)live->binaries_known),
					     (uint32_t)live->binaries_known, error };

		if (!specials.code)
			continue;
		code = lode_spin_wait_functions(specials.code, add_waiting, &specials);
		if (!code)
			code = add_catch(&specials);
	}
	return code || before == live->binaries_known ? code : lode_probes_insert(live->probes, error);
}
