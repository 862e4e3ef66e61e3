/* The unpackers: gzip, zstd and xz, through an input, by pieces, by lines and as a whole. */
#include "fuzz.h"

#include "base/input.h"

#include <string.h>

/* A bomb is refused only beyond LODE_INPUT_BOMB_BYTES; here it is left alone before. */
#define ENOUGH (16u << 20)

static int by_pieces(struct lode_input *input, uint64_t *total, struct lode_error *error)
{
	const unsigned char *seen;
	size_t size = 1;
	int code = 0;

	while (code == 0 && size && *total < ENOUGH) {
		code = lode_input_peek(input, 1 + *total % 5000, &seen, &size, error);
		if (code < 0)
			break;
		size -= size / 3; /* leave some, so that the window slides */
		lode_input_skip(input, size);
		*total += size;
	}
	return code;
}

static int by_lines(struct lode_input *input, uint64_t *total, struct lode_error *error)
{
	const char *line;
	size_t length;
	int code = 1;

	while (code > 0 && *total < ENOUGH) {
		code = lode_input_line(input, 1u << 20, &line, &length, error);
		if (code > 0)
			*total += length + 1;
	}
	return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	for (int way = 0; way < 2; way++) {
		struct lode_error error = { "" };
		struct lode_input *input;
		uint64_t total = 0;
		char digest[33];
		int code = lode_input_memory(&input, "fuzz", bytes, size, &error);

		fuzz_require_sentence(code, &error);
		if (code < 0)
			continue;
		code = way ? by_lines(input, &total, &error) : by_pieces(input, &total, &error);
		fuzz_require_sentence(code, &error);
		if (code == 0 && total < ENOUGH) {
			code = lode_input_digest(input, digest, &error);
			fuzz_require_sentence(code, &error);
			fuzz_require(code < 0 || strlen(digest) == 32, "a digest has 32 digits");
		}
		lode_input_close(input);
	}
	return 0;
}
