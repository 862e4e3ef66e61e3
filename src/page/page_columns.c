/*
 * Columns: see page_columns.h.
 */
#include "page/page_columns.h"

#include "base/memory.h"
#include "result/column_heads.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

#define ALIGNMENT 8
/* Predictions and zigzag differences of such numbers are exact in a double. */
#define LARGEST ((double)(1ull << 50))
/* How many numbers are packed to see which coding is better. */
#define TRIED 16384

void lode_page_columns_release(struct lode_page_columns *columns)
{
	lode_buffer_release(&columns->data);
	lode_free(columns->items);
}

static void align(struct lode_buffer *buffer, size_t start)
{
	static const char zeros[ALIGNMENT];

	lode_buffer_add(buffer, zeros, -(buffer->size - start) % ALIGNMENT);
}

static void *add(struct lode_page_columns *columns, const char *name, const char *type, size_t count, size_t width)
{
	size_t size = count * width;
	void *room = lode_buffer_room(&columns->data, size + ALIGNMENT);

	if (!room || LODE_GROW(columns->items, columns->capacity, columns->count + 1) < 0) {
		columns->failed = 1;
		return NULL;
	}
	columns->items[columns->count++] = (struct lode_page_column){
		.name = name,
		.type = type,
		.width = width,
		.count = count,
		.offset = columns->data.size,
		.size = size,
	};
	columns->data.size += size;
	align(&columns->data, 0);
	return room;
}

double *lode_page_columns_f64(struct lode_page_columns *columns, const char *name, size_t count)
{
	return add(columns, name, "f64", count, sizeof(double));
}

uint32_t *lode_page_columns_u32(struct lode_page_columns *columns, const char *name, size_t count)
{
	return add(columns, name, "u32", count, sizeof(uint32_t));
}

uint8_t *lode_page_columns_u8(struct lode_page_columns *columns, const char *name, size_t count)
{
	return add(columns, name, "u8", count, sizeof(uint8_t));
}

/* ---- coding ---- */

static struct lode_page_column *find(const struct lode_page_columns *columns, const char *name)
{
	for (size_t i = 0; i < columns->count && name; i++)
		if (!strcmp(columns->items[i].name, name))
			return &columns->items[i];
	return NULL;
}

void lode_page_columns_predict(struct lode_page_columns *columns, const char *name, const char *first,
			       const char *second)
{
	struct lode_page_column *column = find(columns, name);

	if (!column)
		return;
	column->steps[0] = first;
	column->steps[1] = second;
}

/* Where the numbers are while they are coded. */
struct numbers {
	const char *bytes;
	size_t width;
};

static struct numbers numbers_of(const struct lode_page_columns *columns, const struct lode_page_column *column)
{
	return (struct numbers){ columns->data.bytes + column->offset, column->width };
}

static double number_at(struct numbers numbers, size_t i)
{
	const char *place = numbers.bytes + i * numbers.width;
	uint32_t u32;
	double f64;

	switch (numbers.width) {
	case sizeof(double):
		memcpy(&f64, place, sizeof(f64));
		return f64;
	case sizeof(uint32_t):
		memcpy(&u32, place, sizeof(u32));
		return u32;
	default:
		return *(const uint8_t *)place;
	}
}

static int can_be_coded(struct numbers numbers, size_t count)
{
	if (numbers.width != sizeof(double))
		return 1;
	for (size_t i = 0; i < count; i++) {
		double number = number_at(numbers, i);

		/* The order matters: the conversion of what is out of range, or no number, is undefined. */
		if (!(number >= 0 && number < LARGEST) || number != (double)(uint64_t)number || signbit(number))
			return 0;
	}
	return 1;
}

static uint64_t zigzag(int64_t number)
{
	return ((uint64_t)number << 1) ^ (uint64_t)(number >> 63);
}

/* The numbers that are written: they themselves, or their differences from what is predicted. */
static void find_values(struct numbers numbers, size_t count, const struct numbers *steps, int predicted,
			uint64_t *values)
{
	int64_t next = 0;

	for (size_t i = 0; i < count; i++) {
		int64_t number = (int64_t)number_at(numbers, i);

		values[i] = predicted ? zigzag(number - next) : (uint64_t)number;
		next = number;
		for (int k = 0; k < LODE_PAGE_COLUMN_STEPS && steps[k].bytes; k++)
			next += (int64_t)number_at(steps[k], i);
	}
}

static unsigned planes_of(const uint64_t *values, size_t count)
{
	uint64_t all = 0;
	unsigned planes = 1;

	for (size_t i = 0; i < count; i++)
		all |= values[i];
	while (all >>= 8)
		planes++;
	return planes;
}

/* `planes` 0: as varints. */
static void write_values(const uint64_t *values, size_t count, unsigned planes, struct lode_buffer *out)
{
	for (size_t i = 0; !planes && i < count; i++)
		lode_buffer_varint(out, values[i]);
	for (unsigned plane = 0; plane < planes; plane++)
		for (size_t i = 0; i < count; i++)
			lode_buffer_byte(out, (char)(values[i] >> (8 * plane)));
}

/* Only columns that are coded, and as long as this one, can help. */
static void find_steps(const struct lode_page_columns *columns, struct lode_page_column *column,
		       struct numbers *steps)
{
	int found = 0;

	for (int k = 0; k < LODE_PAGE_COLUMN_STEPS; k++) {
		const struct lode_page_column *step = find(columns, column->steps[k]);

		if (!step || step->count != column->count || !can_be_coded(numbers_of(columns, step), step->count))
			continue;
		column->steps[found] = step->name;
		steps[found++] = numbers_of(columns, step);
	}
	for (; found < LODE_PAGE_COLUMN_STEPS; found++) {
		column->steps[found] = NULL;
		steps[found] = (struct numbers){ 0 };
	}
}

/* How large it is packed; a quick look. */
static size_t packed_size(const struct lode_buffer *bytes, struct lode_buffer *room)
{
	uLongf size = compressBound(bytes->size);
	char *out;

	lode_buffer_clear(room);
	out = lode_buffer_room(room, size);
	if (!out || compress2((Bytef *)out, &size, (const Bytef *)bytes->bytes, bytes->size, Z_BEST_SPEED) != Z_OK)
		return bytes->size;
	return size;
}

/* Tries all ways on the first numbers, and sets the one that packs best. */
static void choose(struct lode_page_column *column, struct numbers numbers, const struct numbers *steps,
		   uint64_t *values)
{
	struct lode_buffer bytes = { 0 }, room = { 0 };
	size_t tried = column->count < TRIED ? column->count : TRIED;
	size_t least = SIZE_MAX;

	for (int way = 0; way < 4; way++) {
		int predicted = way & 1, in_planes = way >> 1;
		size_t size;

		find_values(numbers, tried, steps, predicted, values);
		lode_buffer_clear(&bytes);
		write_values(values, tried, in_planes ? planes_of(values, tried) : 0, &bytes);
		size = packed_size(&bytes, &room);
		if (size >= least)
			continue;
		least = size;
		column->predicted = predicted;
		column->planes = (unsigned)in_planes;
	}
	lode_buffer_release(&bytes);
	lode_buffer_release(&room);
}

static void code(const struct lode_page_columns *columns, struct lode_page_column *column, struct lode_buffer *out)
{
	struct numbers numbers = numbers_of(columns, column);
	struct numbers steps[LODE_PAGE_COLUMN_STEPS];
	uint64_t *values;

	if (!can_be_coded(numbers, column->count)) {
		lode_buffer_add(out, numbers.bytes, column->size);
		return;
	}
	values = lode_calloc(column->count + 1, sizeof(*values));
	out->failed |= !values;
	if (!values)
		return;
	find_steps(columns, column, steps);
	column->coded = 1;
	choose(column, numbers, steps, values);
	find_values(numbers, column->count, steps, column->predicted, values);
	if (column->planes)
		column->planes = planes_of(values, column->count);
	write_values(values, column->count, column->planes, out);
	lode_free(values);
}

void lode_page_columns_code(struct lode_page_columns *columns)
{
	struct lode_buffer coded = { 0 };

	/* Offsets are those of the old data until all are written. */
	for (size_t i = 0; i < columns->count && !columns->failed; i++) {
		size_t start = coded.size;

		code(columns, &columns->items[i], &coded);
		columns->items[i].size = coded.size - start;
		align(&coded, 0);
	}
	for (size_t i = 0, offset = 0; i < columns->count; i++) {
		columns->items[i].offset = offset;
		offset += (columns->items[i].size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	}
	lode_buffer_release(&columns->data);
	columns->data = coded;
}

/* ---- the whole ---- */

static void column_json(const struct lode_page_column *column, struct lode_json *head)
{
	struct lode_column_head fields = {
		.name = column->name,
		.type = column->type,
		.offset = column->offset,
		.count = column->count,
		.coded = column->coded,
		.coded_bytes = column->size,
		.planes = column->planes,
		.predicted = column->predicted,
		.steps = lode_list_of(column->steps, 0),
	};

	while (fields.steps.count < LODE_PAGE_COLUMN_STEPS && column->steps[fields.steps.count])
		fields.steps.count++;
	lode_fields_write(&lode_column_head_fields, &fields, head);
}

void lode_page_columns_json(const struct lode_page_columns *columns, struct lode_json *head)
{
	lode_json_key_array(head, "columns");
	for (size_t i = 0; i < columns->count; i++)
		column_json(&columns->items[i], head);
	lode_json_array_end(head);
}

void lode_page_columns_pack(const struct lode_page_columns *columns, const struct lode_buffer *head,
			    struct lode_buffer *out)
{
	size_t start = out->size;

	lode_buffer_u32(out, (uint32_t)head->size);
	lode_buffer_add(out, head->bytes, head->size);
	align(out, start);
	lode_buffer_add(out, columns->data.bytes, columns->data.size);
	out->failed |= columns->failed | head->failed | columns->data.failed | (head->size > UINT32_MAX);
}
