/* Unwinder: see unwinder.h. */
#include "process/unwinder.h"

#include <elf.h>
#include <string.h>

#define LODE_UNWIND_READ(context, address, word) read_word(context, address, &(word))

static int read_word(void *context, uint64_t address, uint64_t *word)
{
	const struct lode_unwind_source *source = context;

	return source->read(source->context, address, word);
}

#include "process/unwind_step.h"

static enum lode_unwind_end end_of(enum lode_unwind_result result)
{
	switch (result) {
	case LODE_UNWIND_CALLER:
		return LODE_UNWIND_DEEP;
	case LODE_UNWIND_ROOT:
		return LODE_UNWIND_WHOLE;
	case LODE_UNWIND_UNREAD:
		return LODE_UNWIND_SHORT;
	default:
		return LODE_UNWIND_BROKEN;
	}
}

/* x86-64: where the caller of a leaf without a table is if the leaf has no frame: on top of the stack. 0: nowhere. */
static uint64_t leaf_caller(const struct lode_unwind_source *source, const struct lode_unwind_state *state)
{
	const struct lode_unwind_table *table;
	uint64_t word, image_address;

	if (!source->read(source->context, state->sp, &word))
		return 0;
	return source->find(source->context, word - 1, &table, &image_address) > 0 ? word : 0;
}

/* Whether the caller of a function without a rule is where the link register says. */
static int leads_to_code(const struct lode_unwind_source *source, const struct lode_unwind_state *state)
{
	const struct lode_unwind_table *table;
	uint64_t image_address;

	return lode_unwind_lacks_record(state, (void *)(uintptr_t)source) &&
	       source->find(source->context, lode_unwind_plain(state, state->link) - 1, &table, &image_address) ==
		       1;
}

/* A step out of code that a language's runtime generated; negative: it is none. */
static int leave(const struct lode_unwind_source *source, struct lode_unwind_state *state,
		 struct lode_unwind_frame *frame)
{
	return source->leave ? source->leave(source->context, state, &frame->word, &frame->position) : -1;
}

int lode_unwind(const struct lode_unwind_source *source, const struct lode_unwind_registers *registers,
		struct lode_unwind_frame *frames, size_t limit, struct lode_unwound *unwound)
{
	static const struct lode_unwind_rule none;
	int is_aarch64 = registers->machine == EM_AARCH64;
	struct lode_unwind_state state = {
		.pc = registers->pc,
		.sp = registers->sp,
		.fp = registers->fp,
		.link = registers->link,
		.scratch = registers->scratch,
		.has_link = is_aarch64 || registers->link,
		.is_first = 1,
		.is_exact = 1,
		.signed_returns = is_aarch64,
	};
	enum lode_unwind_result result = LODE_UNWIND_CALLER;
	size_t count = 0;

	memset(unwound, 0, sizeof(*unwound));
	while (result == LODE_UNWIND_CALLER && count < limit) {
		const struct lode_unwind_table *table = NULL;
		const struct lode_unwind_rule *rule = &none;
		uint64_t address = lode_unwind_address(&state), image_address = 0;
		struct lode_unwind_frame frame = { .address = address, .sp = state.sp };
		int code, guesses, left = leave(source, &state, &frame);

		if (left >= 0) {
			frames[count++] = frame;
			result = (enum lode_unwind_result)left;
			continue;
		}
		code = source->find(source->context, address, &table, &image_address);
		if (code < 0)
			return code;
		if (!code && count) {
			result = LODE_UNWIND_LOST;
			break;
		}
		frames[count++] = frame;
		if (table)
			rule = lode_unwind_table_find(table, image_address);
		/* A signal handler returns to where nothing was called: the address itself is in the function. */
		if (rule->cfa >= LODE_CFA_SIGNAL)
			frames[count - 1].address = state.pc;
		guesses = rule->cfa == LODE_CFA_NONE && rule->return_at != LODE_PLACE_NONE;
		if (guesses && count == 1 && !is_aarch64)
			unwound->link = leaf_caller(source, &state);
		if (guesses && leads_to_code(source, &state)) {
			unwound->by_link |= count == 1;
			lode_unwind_by_link(&state);
		} else {
			frames[count - 1].record = guesses ? state.fp : 0;
			result = lode_unwind_step(&state, rule, (void *)(uintptr_t)source);
		}
		unwound->guessed |= guesses && result == LODE_UNWIND_CALLER;
	}
	unwound->end = end_of(result);
	return (int)count;
}
