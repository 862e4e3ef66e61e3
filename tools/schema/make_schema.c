/*
 * Writes what is made from the tables of fields: docs/schema/NAME.json of each result, and web/src/results.ts.
 *
 *	make_schema SOURCE-TREE           writes the files that are not up to date
 *	make_schema SOURCE-TREE --check   only says which are not, and exits with 1 if there is one
 */
#include "make_schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_below(struct tables *tables, const struct lode_fields *fields)
{
	for (size_t i = 0; i < 2 && fields->either[i]; i++)
		tables_add(tables, fields->either[i]);
	for (size_t i = 0; i < fields->count; i++) {
		const struct lode_field *field = &fields->rows[i];

		if (field->kind == LODE_FIELD_PART)
			add_below(tables, field->fields);
		else if (field->fields)
			tables_add(tables, field->fields);
	}
}

void tables_add(struct tables *tables, const struct lode_fields *fields)
{
	for (size_t i = 0; i < tables->count; i++) {
		if (tables->items[i] == fields) {
			tables->uses[i]++;
			return;
		}
		if (!strcmp(tables->items[i]->type, fields->type)) {
			fprintf(stderr, "make_schema: two tables are called %s; give one another name\n",
				fields->type);
			exit(1);
		}
	}
	if (tables->count == sizeof(tables->items) / sizeof(tables->items[0])) {
		fprintf(stderr, "make_schema: too many tables; give struct tables more room\n");
		exit(1);
	}
	tables->uses[tables->count] = 1;
	tables->items[tables->count++] = fields;
	add_below(tables, fields);
}

unsigned tables_uses(const struct tables *tables, const struct lode_fields *fields)
{
	for (size_t i = 0; i < tables->count; i++)
		if (tables->items[i] == fields)
			return tables->uses[i];
	return 0;
}

static int is_same(const char *path, const struct lode_buffer *wanted)
{
	FILE *file = fopen(path, "r");
	char *bytes = malloc(wanted->size + 1);
	size_t size = file && bytes ? fread(bytes, 1, wanted->size + 1, file) : 0;
	int same = file && bytes && size == wanted->size && !memcmp(bytes, wanted->bytes, size);

	if (file)
		fclose(file);
	free(bytes);
	return same;
}

static int write_file(const char *path, const struct lode_buffer *wanted)
{
	FILE *file = fopen(path, "w");
	int right = file && fwrite(wanted->bytes, 1, wanted->size, file) == wanted->size;

	if (file && fclose(file))
		right = 0;
	if (!right)
		perror(path);
	return right;
}

/* Whether the file is as it should be, by now. */
static int settle(const char *tree, const char *name, int check, struct lode_buffer *wanted)
{
	char path[4096];
	int right;

	snprintf(path, sizeof(path), "%s/%s", tree, name);
	if (wanted->failed) {
		fprintf(stderr, "make_schema: memory has run out\n");
		exit(1);
	}
	right = is_same(path, wanted);
	if (!right && check)
		fprintf(stderr, "%s is not what the tables of src/result say; run: ninja -C BUILD schema\n", name);
	else if (!right && (right = write_file(path, wanted)))
		printf("%s\n", name);
	lode_buffer_release(wanted);
	return right;
}

int main(int argc, char **argv)
{
	int check = argc == 3 && !strcmp(argv[2], "--check"), right = 1;
	struct lode_buffer buffer = { 0 };
	char name[256];

	if (argc != 2 + check) {
		fprintf(stderr, "usage: make_schema SOURCE-TREE [--check]\n");
		return 2;
	}
	for (size_t i = 0; i < lode_described_result_count; i++) {
		snprintf(name, sizeof(name), "docs/schema/%s.json", lode_described_results[i].name);
		write_schema(&lode_described_results[i], &buffer);
		right &= settle(argv[1], name, check, &buffer);
	}
	write_page_types(&buffer);
	right &= settle(argv[1], "web/src/results.ts", check, &buffer);
	return !right;
}
