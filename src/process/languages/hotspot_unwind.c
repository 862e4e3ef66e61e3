/*
 * Steps through HotSpot's code in the program: see hotspot_process.h. Words of the stack come from whoever has them, a copy or a stopped
 * thread; what the code is, is read from the process as it is now.
 */
#include "process/languages/hotspot_process.h"

struct reading {
	const struct lode_process_memory *memory;
	const struct lode_language_stack *stack;
	uint32_t pid;
};

static int read_bytes(void *context, uint64_t address, void *bytes, size_t size)
{
	const struct reading *reading = context;

	return lode_process_memory_read(reading->memory, reading->pid, address, bytes, size);
}

static int read_stack(void *context, uint64_t address, uint64_t *word)
{
	const struct reading *reading = context;

	return reading->stack->read(reading->stack->context, address, word);
}

#define LODE_UNWIND_READ(context, address, word)         read_stack(context, address, &(word))
#define LODE_HOTSPOT_READ(context, address, bytes, size) read_bytes(context, address, bytes, size)
#define LODE_HOTSPOT_READ_STACK(context, address, word)  read_stack(context, address, word)
#define LODE_HOTSPOT_METHOD_WORD                         lode_hotspot_method_word
#define LODE_HOTSPOT_HAS_LINK(state)                     ((state)->signed_returns)
#include "process/unwind_step.h"

#include "process/languages/hotspot_step.h"

int lode_hotspot_leave(const struct lode_hotspot *hotspot, const struct lode_process_memory *memory,
		       const struct lode_language_stack *stack, struct lode_unwind_state *state, uint64_t *word,
		       uint64_t *position)
{
	const struct lode_hotspot_process *code = &hotspot->code;
	struct reading reading = { memory, stack, hotspot->pid };
	struct lode_hotspot_walk walk = { 0 };
	uint64_t address = lode_unwind_address(state), fp = state->fp, bytecode;
	int result, is_first = state->is_first;

	if (!lode_hotspot_is_code(code, address))
		return LODE_LANGUAGE_NOT_ITS_CODE;
	walk.word = lode_language_word(LODE_LANGUAGE_JAVA, 0, state->pc);
	if (address - code->interpreter_start < code->interpreter_end - code->interpreter_start) {
		result = (int)lode_hotspot_from_interpreter(code, state, &walk, &reading);
	} else if (!lode_hotspot_read_blob(code, &walk, address, &reading)) {
		result = LODE_UNWIND_LOST;
	} else {
		walk.word = lode_hotspot_code_word(code, lode_hotspot_place(code, state, &walk, &reading), &walk);
		lode_hotspot_find_frame(code, state, &walk, &reading);
		result = (int)lode_hotspot_leave_frame(state, &walk, &reading);
	}
	*word = walk.word;
	if (code->sends_bytecodes && walk.caller && !is_first &&
	    read_stack(&reading, fp - LODE_HOTSPOT_BYTECODE, &bytecode))
		*position = lode_language_word(LODE_LANGUAGE_POSITION, 0, bytecode);
	return result;
}
