/*
 * Random columns for the page, twice: as they are and coded, each with its size (32 bits)
 * before it. tests/page/columns.mjs reads both and compares.
 *
 *	column_samples COUNT
 */
#include "base/memory.h"
#include "base/random.h"
#include "page/page_columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 6

static uint64_t state = 1;

static uint64_t below(uint64_t limit)
{
	return lode_splitmix64(&state) % limit;
}

/* Numbers of one kind: small, of all sizes, rising, equal, or such as cannot be coded. */
static double draw(unsigned kind, double before)
{
	static const double odd[] = {
		0.5, -1, -0.0, NAN, INFINITY, 1e300, 1125899906842624, 1125899906842623, 9007199254740992
	};

	switch (kind) {
	case 0:
		return (double)below(200);
	case 1:
		return (double)(lode_splitmix64(&state) >> (14 + below(50)));
	case 2:
		return before + (double)below(1000);
	case 3:
		return before;
	case 4:
		return (double)below(2) * before;
	default:
		return below(4) ? (double)below(9) : odd[below(sizeof(odd) / sizeof(*odd))];
	}
}

static void fill(struct lode_page_columns *columns, const char *name, size_t count)
{
	unsigned type = (unsigned)below(3), kind = (unsigned)below(type ? 5 : 6);
	double *f64 = type == 0 ? lode_page_columns_f64(columns, name, count) : NULL;
	uint32_t *u32 = type == 1 ? lode_page_columns_u32(columns, name, count) : NULL;
	uint8_t *u8 = type == 2 ? lode_page_columns_u8(columns, name, count) : NULL;
	double number = (double)below(1u << 20);

	for (size_t i = 0; i < count; i++) {
		number = draw(kind, number);
		if (f64)
			f64[i] = number;
		else if (u32)
			u32[i] = below(20) ? (uint32_t)fmod(number, 4294967296.0) : UINT32_MAX;
		else
			u8[i] = (uint8_t)fmod(number, 256);
	}
}

static void write_out(const struct lode_page_columns *columns)
{
	struct lode_buffer head = { 0 }, out = { 0 };
	struct lode_json json = { .buffer = &head };
	uint32_t size;

	lode_json_object(&json);
	lode_page_columns_json(columns, &json);
	lode_json_object_end(&json);
	lode_page_columns_pack(columns, &head, &out);
	size = (uint32_t)out.size;
	if (out.failed || fwrite(&size, sizeof(size), 1, stdout) != 1 ||
	    fwrite(out.bytes, out.size, 1, stdout) != 1)
		exit(4);
	lode_buffer_release(&head);
	lode_buffer_release(&out);
}

int main(int count, char **words)
{
	static const char *const names[COLUMNS + 1] = { "a", "b", "c", "d", "e", "f", NULL };

	for (long left = count > 1 ? atol(words[1]) : 1; left > 0; left--) {
		struct lode_page_columns columns = { 0 };
		size_t size = below(100) ? below(40) : 20000;

		for (int i = 0; i < COLUMNS; i++)
			fill(&columns, names[i], below(9) ? size : below(40));
		write_out(&columns);
		/* Only by columns that come later, so that there is no circle. */
		for (int i = 0; i < COLUMNS - 2; i++)
			if (below(2))
				lode_page_columns_predict(&columns, names[i], names[i + 1 + below(2)],
							  below(2) ? names[COLUMNS - 1] : NULL);
		lode_page_columns_code(&columns);
		write_out(&columns);
		lode_page_columns_release(&columns);
	}
	return 0;
}
