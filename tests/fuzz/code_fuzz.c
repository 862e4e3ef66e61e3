/* Code of a binary that a stranger made: functions, their pieces, ends and callees hang together. */
#include "fuzz.h"

#include "base/memory.h"
#include "symbols/code.h"

#include <string.h>

static void check_offsets(const struct lode_code *code, uint32_t first, uint32_t count, uint32_t function,
			  size_t size)
{
	fuzz_require((uint64_t)first + count <= code->offset_count, "offsets are there");
	for (uint32_t i = first; i < first + count; i++) {
		fuzz_require(code->offsets[i] < size, "an offset is in the file");
		fuzz_require(lode_code_find(code, code->offsets[i]) == function, "an offset is in its function");
	}
}

static void check_function(const struct lode_code *code, uint32_t number, size_t size)
{
	const struct lode_code_function *function = &code->functions[number];

	fuzz_require(function->name && strlen(function->name) < UINT32_MAX, "a name ends");
	fuzz_require(lode_code_named(code, function->name) < code->count, "a name is known");
	check_offsets(code, function->first_entry, function->entry_count, number, size);
	check_offsets(code, function->first_end, function->end_count, number, size);
	fuzz_require((uint64_t)function->first_callee + function->callee_count <= code->callee_count,
		     "callees are there");
	for (uint32_t i = 0; i < function->callee_count; i++) {
		uint32_t callee = code->callees[function->first_callee + i];

		fuzz_require(i == 0 || callee > code->callees[function->first_callee + i - 1], "callees ascend");
		fuzz_require(callee & LODE_CODE_IMPORT ? (callee & ~LODE_CODE_IMPORT) < code->import_count
						       : callee < code->count,
			     "a callee is one");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct lode_error error = { "" };
	struct lode_code code;
	struct fuzz_file file;
	int result;

	fuzz_file_make(&file, bytes, size);
	result = lode_code_read(&code, file.path, &error);
	fuzz_require_sentence(result, &error);
	for (uint32_t i = 0; i < code.count; i++)
		check_function(&code, i, size);
	for (size_t i = 0; i < code.piece_count; i++) {
		fuzz_require(code.pieces[i].start < code.pieces[i].end && code.pieces[i].end <= size,
			     "a piece is in the file");
		fuzz_require(i == 0 || code.pieces[i].start >= code.pieces[i - 1].end, "pieces do not overlap");
		fuzz_require(code.pieces[i].function < code.count, "a piece has a function");
	}
	fuzz_require(code.main == LODE_NONE || code.main < code.count, "main is a function");
	lode_code_release(&code);
	fuzz_file_remove(&file);
	return 0;
}
