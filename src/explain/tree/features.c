/* Features: see features.h. */
#include "explain/tree/features.h"

#include "base/bisect.h"
#include "base/sort_numbers.h"

#include <math.h>
#include <string.h>

static void release_feature(struct lode_feature *feature)
{
	lode_free(feature->columns);
	lode_free(feature->bits);
	lode_free(feature->codes);
	lode_free(feature->values);
}

void lode_features_release(struct lode_features *features)
{
	for (size_t i = 0; i < features->count; i++)
		release_feature(&features->items[i]);
	lode_free(features->items);
	lode_free(features->constant);
	lode_free(features->by_row);
	memset(features, 0, sizeof(*features));
}

/* Turns a square of 64 × 64 bits over: bit j of word i becomes bit i of word j. */
static void turn_over(uint64_t block[64])
{
	uint64_t mask = 0x00000000ffffffffu;

	for (unsigned width = 32; width; width >>= 1, mask ^= mask << width)
		for (unsigned i = 0; i < 64; i = ((i | width) + 1) & ~width) {
			uint64_t swap = (block[i] >> width ^ block[i | width]) & mask;

			block[i] ^= swap << width;
			block[i | width] ^= swap;
		}
}

/* Fills `by_row` from the bits of the features. */
static int make_rows(struct lode_features *features)
{
	size_t words = lode_bit_words(features->rows), row_words = lode_bit_words(features->count);
	uint64_t block[64];

	features->row_words = row_words;
	features->by_row = lode_calloc(features->rows, (row_words ? row_words : 1) * sizeof(*features->by_row));
	if (!features->by_row)
		return LODE_SYSTEM;
	for (size_t f = 0; f < row_words; f++)
		for (size_t r = 0; r < words; r++) {
			for (size_t i = 0; i < 64; i++)
				block[i] = f * 64 + i < features->count && features->items[f * 64 + i].bits
						   ? features->items[f * 64 + i].bits[r]
						   : 0;
			turn_over(block);
			for (size_t i = 0; i < 64 && r * 64 + i < features->rows; i++)
				features->by_row[(r * 64 + i) * row_words + f] = block[i];
		}
	return 0;
}

/* The number of a row; -inf where there is none; no negative zero. */
static double number_at(const struct lode_data_column *column, uint32_t row)
{
	double number = column->numbers[row];

	return isnan(number) ? -INFINITY : number == 0 ? 0 : number;
}

/* Sorts the distinct numbers of the rows into `feature->values`. */
static int collect_values(struct lode_feature *feature, const struct lode_data_column *column,
			  const uint32_t *rows, size_t count)
{
	double *values = lode_calloc(count, sizeof(*values));
	uint32_t kept = 0;

	if (!values)
		return LODE_SYSTEM;
	for (size_t i = 0; i < count; i++)
		values[i] = number_at(column, rows[i]);
	lode_sort_double(values, count);
	for (size_t i = 0; i < count; i++)
		if (!kept || values[i] != values[kept - 1])
			values[kept++] = values[i];
	feature->values = values;
	feature->value_count = kept;
	return 0;
}

static uint32_t rank_of(const struct lode_feature *feature, double number)
{
	return (uint32_t)LODE_BISECT(i, 0, feature->value_count - 1, feature->values[i] < number);
}

static int make_bits_of_numbers(struct lode_feature *feature, const struct lode_data_column *column,
				const uint32_t *rows, size_t count)
{
	feature->kind = LODE_FEATURE_BITS;
	feature->threshold = feature->values[0] / 2 + feature->values[1] / 2;
	feature->bits = lode_calloc(lode_bit_words(count), sizeof(*feature->bits));
	for (size_t i = 0; feature->bits && i < count; i++)
		if (column->numbers[rows[i]] == feature->values[1])
			lode_bit_set(feature->bits, i);
	return feature->bits ? 0 : LODE_SYSTEM;
}

static int make_numbers(struct lode_feature *feature, const struct lode_data_column *column, const uint32_t *rows,
			size_t count)
{
	feature->kind = LODE_FEATURE_RANKS;
	if (collect_values(feature, column, rows, count) < 0)
		return LODE_SYSTEM;
	if (feature->value_count == 2 && feature->values[0] > -INFINITY)
		return make_bits_of_numbers(feature, column, rows, count);
	feature->codes = lode_calloc(count, sizeof(*feature->codes));
	for (size_t i = 0; feature->codes && i < count; i++)
		feature->codes[i] = rank_of(feature, number_at(column, rows[i]));
	return feature->codes ? 0 : LODE_SYSTEM;
}

static int make_binary(struct lode_feature *feature, const struct lode_data_column *column, const uint32_t *rows,
		       size_t count)
{
	size_t set = 0;

	feature->kind = LODE_FEATURE_BITS;
	feature->threshold = 0.5;
	feature->value_count = 1;
	feature->bits = lode_calloc(lode_bit_words(count), sizeof(*feature->bits));
	if (!feature->bits)
		return LODE_SYSTEM;
	/* Rows are in ascending order: when the last one is at its place, all are. */
	if (rows[count - 1] == count - 1)
		memcpy(feature->bits, column->bits, lode_bit_words(count) * sizeof(*feature->bits));
	for (size_t i = 0; i < count && rows[count - 1] != count - 1; i++)
		feature->bits[i / 64] |= (uint64_t)lode_bit_get(column->bits, rows[i]) << (i % 64);
	for (size_t i = 0; i < lode_bit_words(count); i++)
		set += (size_t)__builtin_popcountll(feature->bits[i]);
	if (set > 0 && set < count)
		feature->value_count = 2;
	return 0;
}

static int make_category(struct lode_feature *feature, const struct lode_data_column *column, const uint32_t *rows,
			 size_t count)
{
	uint32_t missing = (uint32_t)column->values.count;

	feature->kind = LODE_FEATURE_CATEGORY;
	feature->value_count = 1;
	feature->codes = lode_calloc(count, sizeof(*feature->codes));
	for (size_t i = 0; feature->codes && i < count; i++) {
		feature->codes[i] = column->codes[rows[i]] == LODE_NONE ? missing : column->codes[rows[i]];
		if (feature->codes[i] != feature->codes[0])
			feature->value_count = missing + 1;
	}
	return feature->codes ? 0 : LODE_SYSTEM;
}

static int make_feature(struct lode_feature *feature, const struct lode_data_column *column, const uint32_t *rows,
			size_t count)
{
	memset(feature, 0, sizeof(*feature));
	switch (column->kind) {
	case LODE_DATA_BINARY:
		return make_binary(feature, column, rows, count);
	case LODE_DATA_NUMBER:
		return make_numbers(feature, column, rows, count);
	default:
		return make_category(feature, column, rows, count);
	}
}

static const void *content_of(const struct lode_feature *feature, size_t rows, size_t *size)
{
	if (feature->kind == LODE_FEATURE_BITS) {
		*size = lode_bit_words(rows) * sizeof(*feature->bits);
		return feature->bits;
	}
	*size = rows * sizeof(*feature->codes);
	return feature->codes;
}

/* Equal in every row; categories are compared by their codes, which count values in order of appearance. */
static int equal(const struct lode_feature *a, const struct lode_feature *b, size_t rows)
{
	size_t size, other;
	const void *content = content_of(a, rows, &size);

	if (a->kind != b->kind || a->threshold != b->threshold || a->value_count != b->value_count)
		return 0;
	if (a->kind == LODE_FEATURE_RANKS && memcmp(a->values, b->values, a->value_count * sizeof(*a->values)) != 0)
		return 0;
	return memcmp(content, content_of(b, rows, &other), size) == 0;
}

static int add_column(struct lode_feature *feature, uint32_t column)
{
	return LODE_APPEND(feature->columns, feature->column_count, feature->column_capacity, column);
}

static int add_constant(struct lode_features *features, uint32_t column)
{
	return LODE_APPEND(features->constant, features->constant_count, features->constant_capacity, column);
}

/* Takes `feature` over, or joins its column to an equal one. */
static int keep(struct lode_features *features, struct lode_index *index, struct lode_feature *feature,
		uint32_t column)
{
	size_t size;
	const void *content = content_of(feature, features->rows, &size);
	uint64_t hash = lode_hash_bytes(content, size);
	uint32_t id = LODE_INDEX_FIND(i, index, hash, equal(&features->items[i], feature, features->rows));

	if (id != LODE_NONE) {
		release_feature(feature);
		return add_column(&features->items[id], column);
	}
	if (add_column(feature, column) < 0 ||
	    LODE_INDEX_APPEND(index, hash, features->items, features->count, features->capacity, *feature) < 0) {
		release_feature(feature);
		return LODE_SYSTEM;
	}
	return 0;
}

static int add_feature(struct lode_features *features, struct lode_index *index,
		       const struct lode_data_column *column, uint32_t number, const uint32_t *rows)
{
	struct lode_feature feature;

	if (make_feature(&feature, column, rows, features->rows) < 0) {
		release_feature(&feature);
		return LODE_SYSTEM;
	}
	if (feature.value_count > 1)
		return keep(features, index, &feature, number);
	release_feature(&feature);
	return add_constant(features, number);
}

int lode_features_make(struct lode_features *features, const struct lode_data_table *table,
		       const unsigned char *use, const uint32_t *rows, size_t count, struct lode_error *error)
{
	struct lode_index index = { NULL, 0, 0 };
	int code = 0;

	memset(features, 0, sizeof(*features));
	features->rows = count;
	for (size_t i = 0; code == 0 && i < table->count; i++)
		if (use[i])
			code = add_feature(features, &index, &table->columns[i], (uint32_t)i, rows);
	lode_index_release(&index);
	if (code == 0)
		code = make_rows(features);
	if (code < 0) {
		lode_features_release(features);
		return lode_fail_memory(error);
	}
	return 0;
}

/* ---- some rows of others ---- */

static int pick_feature(struct lode_feature *feature, const struct lode_feature *from, const uint32_t *rows,
			size_t count)
{
	memset(feature, 0, sizeof(*feature));
	feature->kind = from->kind;
	feature->threshold = from->threshold;
	feature->value_count = from->value_count;
	if (from->kind == LODE_FEATURE_BITS) {
		feature->bits = lode_calloc(lode_bit_words(count), sizeof(*feature->bits));
		for (size_t i = 0; feature->bits && i < count; i++)
			feature->bits[i / 64] |= (uint64_t)lode_bit_get(from->bits, rows[i]) << (i % 64);
		return feature->bits ? 0 : LODE_SYSTEM;
	}
	feature->codes = lode_calloc(count, sizeof(*feature->codes));
	for (size_t i = 0; feature->codes && i < count; i++)
		feature->codes[i] = from->codes[rows[i]];
	if (!feature->codes || from->kind == LODE_FEATURE_CATEGORY)
		return feature->codes ? 0 : LODE_SYSTEM;
	feature->values = lode_calloc(from->value_count, sizeof(*feature->values));
	if (!feature->values)
		return LODE_SYSTEM;
	memcpy(feature->values, from->values, from->value_count * sizeof(*feature->values));
	return 0;
}

int lode_features_pick(struct lode_features *features, const struct lode_features *from, const uint32_t *rows,
		       size_t count, const uint32_t *chosen, size_t chosen_count, struct lode_error *error)
{
	memset(features, 0, sizeof(*features));
	features->rows = count;
	features->items = lode_calloc(chosen_count, sizeof(*features->items));
	features->capacity = chosen_count;
	if (!features->items)
		return lode_fail_memory(error);
	while (features->count < chosen_count) {
		struct lode_feature *feature = &features->items[features->count];

		if (pick_feature(feature, &from->items[chosen[features->count]], rows, count) < 0) {
			release_feature(feature);
			lode_features_release(features);
			return lode_fail_memory(error);
		}
		features->count++;
	}
	if (make_rows(features) == 0)
		return 0;
	lode_features_release(features);
	return lode_fail_memory(error);
}
