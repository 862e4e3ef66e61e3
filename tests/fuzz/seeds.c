/*
 * Seeds for the fuzz targets of Lode's own formats: `seeds FOLDER` writes valid
 * files into FOLDER/store, FOLDER/codec, FOLDER/catalogue, FOLDER/symbol_cache and FOLDER/map_cache,
 * which must be there. make-seeds calls it and makes the seeds of all other formats.
 */
#include "random_stream.h"

#include "latency/latency.h"
#include "mine/signatures.h"
#include "scope/area.h"
#include "symbols/symbol_cache.h"
#include "store/corpus.h"
#include "store/map_cache.h"
#include "store/store.h"
#include "store/store_codec.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void require(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "seeds: %s\n", what);
	exit(1);
}

/* Calls `use` with a random stream of up to `size` events of each type. */
static void with_stream(uint64_t seed, size_t size, void (*use)(const struct lode_stream *, void *), void *context)
{
	struct lode_dictionary dictionary;
	struct lode_stream stream;

	require(lode_dictionary_init(&dictionary) == 0, "no memory");
	lode_stream_init(&stream, &dictionary);
	require(random_stream(&stream, &seed, size) == 0, "no memory");
	use(&stream, context);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
}

static void write_stream(const struct lode_stream *stream, void *path)
{
	struct lode_error error = { "" };

	unlink(path);
	require(lode_store_write(path, 0666, stream, 1, &error) == 0, error.text);
}

static void seed_store(const char *folder)
{
	static const size_t sizes[] = { 0, 1, 5, 30 };
	char path[512];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		snprintf(path, sizeof(path), "%s/store/%zu-events", folder, sizes[i]);
		with_stream(3 + i, sizes[i], write_stream, path);
	}
}

static void write_bytes(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");

	require(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, path);
}

/* The target reads four bytes of shape before the column: see codec_fuzz.c. */
static void seed_codec(const char *folder)
{
	struct lode_codec *codec = lode_codec_create();

	require(codec != NULL, "no memory");
	for (unsigned shape = 0; shape < 4; shape++) {
		uint32_t values[200];
		struct lode_column_view view = { values, 200, 4, shape & 1, 100, 0, 0 };
		struct lode_buffer buffer = { 0 };
		unsigned char start[4] = { 2, 200, 0, (unsigned char)(2 | (shape & 1) << 2) };
		uint64_t seed = 5;
		char path[512];

		for (uint32_t i = 0; i < 200; i++)
			values[i] = shape == 0   ? (uint32_t)random_next(&seed)
				    : shape == 1 ? 7
				    : shape == 2 ? 1000 * i + (uint32_t)random_below(&seed, 50)
						 : 100 + i - (uint32_t)random_below(&seed, 3);
		lode_buffer_add(&buffer, start, sizeof(start));
		lode_codec_pack(codec, &buffer, 0, &view);
		require(!buffer.failed, "no memory");
		snprintf(path, sizeof(path), "%s/codec/column-%u", folder, shape);
		write_bytes(path, buffer.bytes, buffer.size);
		lode_buffer_release(&buffer);
	}
	lode_codec_destroy(codec);
}

static void add_stream(const struct lode_stream *stream, void *context)
{
	static unsigned number;
	struct lode_error error = { "" };
	char id[33];

	snprintf(id, sizeof(id), "%032x", ++number);
	require(lode_corpus_add(context, id, "seeds", stream, 0, 1, &error) == 1, error.text);
}

/* A signature in the text file, taken over into the catalogue and matched. */
static void sign(struct lode_corpus *corpus, const char *path)
{
	static const char text[] =
		"signature a\nbug b\nstate fixed\nkind run\npattern\n\tmain\npattern\n\tx\n\ty\n";
	struct lode_signatures signatures;
	struct lode_error error = { "" };
	char file[512];

	snprintf(file, sizeof(file), "%s/signatures.txt", path);
	write_bytes(file, text, sizeof(text) - 1);
	require(lode_signatures_load(corpus, &signatures, &error) == 0, error.text);
	require(lode_signatures_refresh(corpus, &signatures, 1, NULL, &error) == 0, error.text);
	lode_signatures_release(&signatures);
}

/* Small pages make small files, and more of their bytes mean something. */
static void shrink(const char *path)
{
	sqlite3 *db;

	require(sqlite3_open(path, &db) == SQLITE_OK &&
			sqlite3_exec(db, "PRAGMA page_size = 512; VACUUM;", NULL, NULL, NULL) == SQLITE_OK,
		"the catalogue cannot be shrunk");
	sqlite3_close(db);
}

static void seed_catalogue(const char *folder)
{
	char corpus_path[] = "/tmp/lode-seeds-XXXXXX", from[512], to[512], command[1200];
	struct lode_error error = { "" };
	struct lode_corpus *corpus;

	require(mkdtemp(corpus_path) != NULL, "no folder");
	for (unsigned i = 0; i < 3; i++) {
		require(lode_corpus_open(&corpus, corpus_path, LODE_CORPUS_CREATE, &error) == 0, error.text);
		if (i)
			with_stream(i, 5, add_stream, corpus);
		if (i == 2)
			sign(corpus, corpus_path);
		lode_corpus_close(corpus);
		snprintf(from, sizeof(from), "%s/catalogue.sqlite", corpus_path);
		snprintf(to, sizeof(to), "%s/catalogue/%u-streams", folder, i);
		shrink(from);
		snprintf(command, sizeof(command), "cp '%s' '%s'", from, to);
		require(system(command) == 0, "cp");
	}
	snprintf(command, sizeof(command), "rm -r '%s'", corpus_path);
	require(system(command) == 0, "rm");
}

static void seed_symbol_cache(const char *folder)
{
	struct lode_table_builder builder = { 0 };
	struct lode_cached cached = { .flags = LODE_CACHE_COMPLETE, .extra = { 1, 2 } };
	struct lode_load load = { 0, 0x2000, 0x1000, 1 };
	struct lode_error error = { "" };
	char path[512];

	for (unsigned i = 0; i < 6; i++)
		lode_table_add(&builder, 0x1000 + 0x100 * i, 0x1180 + 0x100 * i,
			       lode_table_name(&builder, "_Z3foov", 7), i ? i - 1 : LODE_NONE);
	lode_table_add_load(&builder, &load);
	require(lode_table_finish(&builder, &cached.table) == 0, "no memory");
	cached.origin.identity = lode_strdup("1 2 3 /bin/app\n");
	cached.origin.binary = lode_strdup("/bin/app");
	snprintf(path, sizeof(path), "%s/symbol_cache/table", folder);
	require(lode_cache_write(path, &cached, &error) == 0, error.text);
	lode_cached_release(&cached);
}

/* The one entry of the cache, without its header, into FOLDER/map_cache/NAME. */
static void take_entry(const char *corpus_path, const char *folder, const char *name)
{
	char command[1200];

	snprintf(command, sizeof(command), "tail -c +57 '%s'/cache/*.map >'%s/map_cache/%s' && rm -r '%s/cache'",
		 corpus_path, folder, name, corpus_path);
	require(system(command) == 0, "no entry");
}

static struct lode_corpus *open_with_cache(const char *path)
{
	const struct lode_map_cache_options everything = { 0 };
	struct lode_error error = { "" };
	struct lode_corpus *corpus;

	require(lode_corpus_open(&corpus, path, LODE_CORPUS_READ, &error) == 0, error.text);
	require(lode_corpus_use_cache(corpus, &everything) == 0, "no memory");
	return corpus;
}

static void keep_area(const char *path, enum lode_scope scope)
{
	const struct lode_area_options options = { .scope = scope, .by_symptom = scope == LODE_SCOPE_GRAPH };
	struct lode_corpus *corpus = open_with_cache(path);
	struct lode_error error = { "" };
	struct lode_area area;

	require(lode_area_collect(corpus, &options, NULL, &area, &error) == 0, error.text);
	lode_area_release(&area);
	lode_corpus_close(corpus);
}

static void keep_latency(const char *path)
{
	const struct lode_latency_options options = { 0 };
	struct lode_corpus *corpus = open_with_cache(path);
	struct lode_error error = { "" };
	struct lode_latency latency;

	require(lode_latency_collect(corpus, &options, NULL, &latency, &error) == 0, error.text);
	lode_latency_release(&latency);
	lode_corpus_close(corpus);
}

/* map_cache_fuzz.c reads them over the same stream. */
static void seed_map_cache(const char *folder)
{
	char corpus_path[] = "/tmp/lode-seeds-XXXXXX", command[1200];
	struct lode_error error = { "" };
	struct lode_corpus *corpus;

	require(mkdtemp(corpus_path) != NULL, "no folder");
	require(lode_corpus_open(&corpus, corpus_path, LODE_CORPUS_CREATE, &error) == 0, error.text);
	with_stream(9, 30, add_stream, corpus);
	lode_corpus_close(corpus);
	for (int scope = LODE_SCOPE_ALL; scope < LODE_SCOPES; scope++) {
		keep_area(corpus_path, (enum lode_scope)scope);
		take_entry(corpus_path, folder, lode_scope_name((enum lode_scope)scope));
	}
	keep_latency(corpus_path);
	take_entry(corpus_path, folder, "latency");
	snprintf(command, sizeof(command), "rm -r '%s'", corpus_path);
	require(system(command) == 0, "rm");
}

int main(int count, char **arguments)
{
	if (count != 2) {
		fprintf(stderr, "usage: seeds FOLDER\n");
		return 2;
	}
	seed_store(arguments[1]);
	seed_codec(arguments[1]);
	seed_catalogue(arguments[1]);
	seed_symbol_cache(arguments[1]);
	seed_map_cache(arguments[1]);
	return 0;
}
