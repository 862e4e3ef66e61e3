/*
 * Prints what lode_code_read found in a file, for code_oracle.py: one line a fact,
 * its words apart by tabs, offsets in hexadecimal.
 *
 *	code_dump FILE
 */
#include "symbols/code.h"

#include "base/memory.h"

#include <stdio.h>

static void report_offsets(const char *what, const struct lode_code *code, uint32_t first, uint32_t count)
{
	printf("%s", what);
	for (uint32_t i = first; i < first + count; i++)
		printf("\t%llx", (unsigned long long)code->offsets[i]);
	printf("\n");
}

static void report_callees(const struct lode_code *code, const struct lode_code_function *function)
{
	printf("callees");
	for (uint32_t i = 0; i < function->callee_count; i++) {
		uint32_t callee = code->callees[function->first_callee + i];

		if (callee & LODE_CODE_IMPORT)
			printf("\t%s", code->imports[callee & ~LODE_CODE_IMPORT]);
		else
			printf("\t%u", callee);
	}
	printf("\n");
}

static void report_function(const struct lode_code *code, const struct lode_code_function *function)
{
	printf("function\t%s\t%d\t%d\n", function->name, function->indirect, function->unknown_ends);
	report_offsets("entries", code, function->first_entry, function->entry_count);
	report_offsets("ends", code, function->first_end, function->end_count);
	report_callees(code, function);
}

int main(int argc, char **argv)
{
	struct lode_error error = { "" };
	struct lode_code code;

	if (argc != 2)
		return 2;
	if (lode_code_read(&code, argv[1], &error) < 0) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	for (size_t i = 0; i < code.count; i++)
		report_function(&code, &code.functions[i]);
	for (size_t i = 0; i < code.piece_count; i++)
		printf("piece\t%llx\t%llx\t%u\n", (unsigned long long)code.pieces[i].start,
		       (unsigned long long)code.pieces[i].end, code.pieces[i].function);
	printf("main\t%d\n", code.main == LODE_NONE ? -1 : (int)code.main);
	lode_code_release(&code);
	return 0;
}
