/* Threads of a CPython process: see python_threads.h. */
#include "process/languages/python_threads.h"

#include <string.h>

/* C frames of the interpreter that are followed. */
#define C_FRAMES 256

static uint64_t read_word(const struct lode_process_memory *memory, const struct lode_python_process *process,
			  uint64_t address)
{
	uint64_t word = 0;

	return lode_process_memory_read(memory, process->pid, address, &word, sizeof(word)) ? word : 0;
}

int lode_python_threads(const struct lode_process_memory *memory, const struct lode_python_process *process,
			int (*visit)(void *context, uint64_t state, uint64_t number), void *context)
{
	const struct lode_python_layout *layout = &process->image->layout;
	uint64_t interpreter = read_word(memory, process, process->image->interpreters + process->bias), state = 0;
	int code = 0;

	for (int i = 0; i < LODE_PYTHON_STATES && !code; i++) {
		if (!state && !interpreter)
			break;
		if (!state) {
			state = read_word(memory, process, interpreter + layout->interpreter_threads);
			interpreter = read_word(memory, process, interpreter + layout->interpreter_next);
			continue;
		}
		code = visit(context, state, read_word(memory, process, state + layout->thread_native_id));
		state = read_word(memory, process, state + layout->thread_next);
	}
	return code;
}

struct search {
	uint64_t number;
	uint64_t found;
};

static int look_at_state(void *context, uint64_t state, uint64_t number)
{
	struct search *search = context;

	search->found = number == search->number ? state : 0;
	return search->found != 0;
}

uint64_t lode_python_thread(const struct lode_process_memory *memory, const struct lode_python_process *process,
			    uint64_t number)
{
	struct search search = { number, 0 };

	return lode_python_threads(memory, process, look_at_state, &search) ? search.found : 0;
}

/* ---- frames ---- */

static uint64_t word_of(const unsigned char *bytes, uint32_t offset)
{
	uint64_t word = 0;

	if (offset <= LODE_PYTHON_FRAME_BYTES - sizeof(word))
		memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

/* 0: none of its own. */
static uint64_t function_word(const struct lode_process_memory *memory, const struct lode_python_process *process,
			      uint64_t code)
{
	const struct lode_python_layout *layout = &process->image->layout;
	unsigned char bytes[LODE_PYTHON_FRAME_BYTES];
	uint64_t check = 0;

	if (lode_process_memory_read(memory, process->pid, code + layout->code, bytes, sizeof(bytes))) {
		uint64_t filename = word_of(bytes, layout->code_filename), name = word_of(bytes, layout->code_name);

		if (lode_python_is_init_check(filename, name))
			return 0;
		check = lode_python_check(filename, name, (uint32_t)word_of(bytes, layout->code_line));
	}
	return lode_language_word(LODE_LANGUAGE_PYTHON, check, code);
}

struct chain {
	uint64_t *words;
	uint32_t count;
	uint32_t limit;
	uint32_t frames; /* that were looked at: some are not added, and a process may chain them in a circle */
};

/* Adds a frame that was read: its function and, where asked for, the instruction that it is at. */
static void add_frame(const struct lode_process_memory *memory, const struct lode_python_process *process,
		      struct chain *chain, const unsigned char *bytes)
{
	const struct lode_python_layout *layout = &process->image->layout;
	uint64_t word = function_word(memory, process, word_of(bytes, layout->frame_code) & ~7ull);

	if (!word)
		return;
	chain->words[chain->count++] = word;
	if (layout->frame_position && chain->count < chain->limit)
		chain->words[chain->count++] =
			lode_language_word(LODE_LANGUAGE_POSITION, 0, word_of(bytes, layout->frame_position));
}

/* Adds the frames of one C frame from `*frame` on. Returns the outermost one, or 0, and sets `*frame` to the one behind it. */
static uint64_t add_frames(const struct lode_process_memory *memory, const struct lode_python_process *process,
			   struct chain *chain, uint64_t *frame)
{
	const struct lode_python_layout *layout = &process->image->layout;
	unsigned char bytes[LODE_PYTHON_FRAME_BYTES];

	while (*frame && chain->count < chain->limit && chain->frames++ < chain->limit &&
	       lode_process_memory_read(memory, process->pid, *frame, bytes, sizeof(bytes))) {
		uint64_t own = *frame;
		int is_outermost = bytes[layout->frame_mark % LODE_PYTHON_FRAME_BYTES] >= layout->outermost;

		if (!is_outermost || !layout->is_shim)
			add_frame(memory, process, chain, bytes);
		*frame = word_of(bytes, layout->frame_previous);
		if (is_outermost)
			return own;
	}
	return 0;
}

uint32_t lode_python_chain(const struct lode_process_memory *memory, const struct lode_python_process *process,
			   uint64_t state, uint64_t *words, uint32_t limit)
{
	const struct lode_python_layout *layout = &process->image->layout;
	uint64_t at = read_word(memory, process, state + layout->thread_frame);
	struct chain chain = { words, 0, limit, 0 };

	for (int i = 0; i < C_FRAMES && at; i++) {
		uint64_t place = at;

		if (layout->has_chain) {
			uint64_t frame = read_word(memory, process, at + layout->chain_frame);

			at = read_word(memory, process, at + layout->chain_previous);
			add_frames(memory, process, &chain, &frame);
		} else {
			place = add_frames(memory, process, &chain, &at);
		}
		if (!place || chain.count >= limit)
			break;
		words[chain.count++] = lode_language_word(LODE_LANGUAGE_PLACE, 0, place);
	}
	return chain.count;
}

/* ---- checking ---- */

struct fit {
	const uint64_t *numbers;
	size_t count;
	size_t states;
};

static int is_own(void *context, uint64_t state, uint64_t number)
{
	struct fit *fit = context;

	(void)state;
	fit->states++;
	for (size_t i = 0; i < fit->count; i++)
		if (fit->numbers[i] == number)
			return 1;
	return 0;
}

int lode_python_fits(const struct lode_process_memory *memory, const struct lode_python_process *process,
		     const uint64_t *numbers, size_t count)
{
	struct fit fit = { numbers, count, 0 };

	if (lode_python_threads(memory, process, is_own, &fit))
		return 1;
	/* The only thread of a process that was forked may still have the number of its parent's. */
	if (fit.states == 1 && count == 1)
		return 1;
	return fit.states ? 0 : -1;
}
