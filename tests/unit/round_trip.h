/* Streams that are exported in another tool's format and imported again. */
#ifndef LODE_TESTS_ROUND_TRIP_H
#define LODE_TESTS_ROUND_TRIP_H

#include "export_fixture.h"

#include "import/import.h"

struct round_trip {
	const struct lode_stream *before;
	unsigned streams;
};

static inline int compare_stream(void *context, struct lode_stream *stream, unsigned ordinal,
				 struct lode_error *error)
{
	struct round_trip *trip = context;

	(void)ordinal;
	(void)error;
	trip->streams++;
	assert_true(streams_equal(trip->before, stream));
	return 0;
}

/* Imports the bytes in whatever format they are found to be; each stream goes to `take`. */
static inline void import_found(const char *format, const char *bytes, size_t size,
				int (*take)(void *, struct lode_stream *, unsigned, struct lode_error *),
				void *context)
{
	struct lode_import_options options = { .jobs = 1 };
	struct lode_import_sink sink = { take, context };
	const struct lode_importer *importer;
	struct lode_error error = { "" };
	struct lode_input *input;
	int code;

	assert_int_equal(lode_input_memory(&input, "x", bytes, size, &error), 0);
	importer = lode_import_choose(input, &options, &error);
	if (!importer || strcmp(importer->name, format) != 0)
		fail_msg("%s is taken for %s: %s", format, importer ? importer->name : "nothing", error.text);
	code = importer->read(input, &options, &sink, &error);
	if (code < 0)
		fail_msg("%s: %s", format, error.text);
	lode_input_close(input);
}

/* No two events of one type at one time: formats do not keep the order of those. */
static inline void set_times_apart(struct whole *whole)
{
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		for (size_t i = 0; i < whole->stream.events[type].count; i++)
			whole->stream.events[type].t[i] = whole->stream.events[type].t[i] % (1ull << 40) * 4096 + i;
}

/* The whole stream comes back from an export in `format`. */
static inline void assert_comes_back(struct fixture *fixture, const char *format, struct whole *whole)
{
	struct round_trip trip = { &whole->stream, 0 };
	size_t size;
	char *bytes;

	set_times_apart(whole);
	next_corpus(fixture);
	add_stream(fixture, whole);
	bytes = export_bytes(fixture, format, NULL, &size);
	import_found(format, bytes, size, compare_stream, &trip);
	assert_int_equal(trip.streams, 1);
	free(bytes);
}

#endif
