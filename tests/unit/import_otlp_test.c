/* OpenTelemetry's profiles: JSON, protobuf, our own export. */
#include "import_fixture.h"
#include "round_trip.h"

#include "import/protobuf/otlp_json.h"

extern const struct lode_importer lode_importer_otlp;

#define STRINGS                                                                                                   \
	"\"stringTable\":[\"\",\"samples\",\"count\",\"cpu\",\"nanoseconds\",\"off_cpu\",\"main\",\"read\",\"/"   \
	"usr/bin/app\","                                                                                          \
	"\"thread.id\",\"thread.name\",\"cpu.logical_number\",\"color\",\"process.executable.build_id.gnu\","     \
	"\"poll\",\"ui.py\","                                                                                     \
	"\"bytes\"]"
#define TABLES                                                                                                    \
	"\"dictionary\":{" STRINGS                                                                                \
	",\"mappingTable\":[{},{\"filenameStrindex\":8,\"memoryStart\":\"4096\",\"memoryLimit\":"                 \
	"\"8192\",\"fileOffset\":\"16\",\"attributeIndices\":[5]}],"                                              \
	"\"functionTable\":[{},{\"nameStrindex\":6},{\"nameStrindex\":7},{\"nameStrindex\":14,"                   \
	"\"filenameStrindex\":15}],"                                                                              \
	"\"locationTable\":[{},{\"mappingIndex\":1,\"lines\":[{\"functionIndex\":2},{\"functionIndex\":1}]},"     \
	"{\"mappingIndex\":1,\"address\":\"4100\"},{\"lines\":[{\"functionIndex\":3,\"line\":\"7\"}]}],"          \
	"\"stackTable\":[{},{\"locationIndices\":[2,1]},{\"locationIndices\":[3]}],"                              \
	"\"attributeTable\":[{},{\"keyStrindex\":9,\"value\":{\"intValue\":\"22\"}},{\"keyStrindex\":10,"         \
	"\"value\":"                                                                                              \
	"{\"stringValue\":\"ui\"}},{\"keyStrindex\":11,\"value\":{\"intValue\":3}},{\"keyStrindex\":12,"          \
	"\"value\":"                                                                                              \
	"{\"stringValue\":\"red\"}},{\"keyStrindex\":13,\"value\":{\"stringValue\":\"abcd\"}}]}"
#define RESOURCE(attributes, profiles)                                                                            \
	"{\"resource\":{\"attributes\":[" attributes                                                              \
	"]},\"scopeProfiles\":[{\"scope\":{\"name\":\"x\"},\"profiles\":[" profiles "]}]}"
#define PID     "{\"key\":\"process.pid\",\"value\":{\"intValue\":\"21\"}}"
#define VERSION "{\"key\":\"service.version\",\"value\":{\"stringValue\":\"1.2\"}}"
#define COUNTS(samples)                                                                                           \
	"{\"sampleType\":{\"typeStrindex\":1,\"unitStrindex\":2},\"periodType\":{\"typeStrindex\":3,"             \
	"\"unitStrindex\":4},"                                                                                    \
	"\"period\":\"1000\",\"timeUnixNano\":\"500\",\"samples\":[" samples "]}"
#define OFF_CPU(samples)   "{\"sampleType\":{\"typeStrindex\":5,\"unitStrindex\":4},\"samples\":[" samples "]}"
#define FILE_OF(resources) "{\"resourceProfiles\":[" resources "]," TABLES "}"

/* Counted samples with times and none, waits that are reported at their end, labels, inlined functions, an address. */
/* clang-format off */
static const char requests[] = FILE_OF(RESOURCE(
	PID "," VERSION,
	COUNTS("{\"stackIndex\":1,\"attributeIndices\":[1,2,3,4],\"timestampsUnixNano\":[\"7000\",\"9000\"]},"
	       "{\"stackIndex\":2,\"attributeIndices\":[1],\"values\":[\"4\"]}") "," OFF_CPU(
		"{\"stackIndex\":1,\"attributeIndices\":[1],\"values\":[\"300\",\"200\"],\"timestampsUnixNano\":[\"8000\",\"8600\"]}")));
/* clang-format on */

static void samples_and_waits_are_read(void **state)
{
	(void)state;
	assert_import(
		&lode_importer_otlp, requests, NULL,
		"stream x \nattribute service.version=1.2 0\nthread 21/22 ui\nmodule app user /usr/bin/app abcd\n"
		"run 500+4000 21/22 ui.py!poll\nrun 7000+1000 21/22 cpu=3 app!main|app!read|app!0x14\n"
		"run 9000+1000 21/22 cpu=3 app!main|app!read|app!0x14\n"
		"wait 7700+300 21/22 app!main|app!read|app!0x14\nwait 8400+200 21/22 "
		"app!main|app!read|app!0x14\n");
	assert_note(&lode_importer_otlp, requests, "attributes of samples", 1);
	assert_note(&lode_importer_otlp, requests, "without a time", 1);
}

static void hosts_are_streams_of_their_own(void **state)
{
	struct imported imported;
	static const char two[] = FILE_OF(
		RESOURCE("{\"key\":\"host.name\",\"value\":{\"stringValue\":\"h1\"}}", COUNTS("{\"values\":[1]}")) "," RESOURCE(
			"{\"key\":\"host.name\",\"value\":{\"stringValue\":\"h2\"}}",
			COUNTS("{\"values\":[2]}")) "," RESOURCE("{\"key\":\"host.name\",\"value\":{"
								 "\"stringValue\":\"h1\"}}",
								 COUNTS("{\"values\":[3]}")));

	(void)state;
	import_bytes(&imported, &lode_importer_otlp, two, strlen(two), NULL);
	assert_int_equal(imported.streams, 2);
	assert_string_equal(imported.text.bytes,
			    "stream x h1\nrun 500+1000 0 \nrun 1500+3000 0 \nstream x h2\nrun 500+2000 0 \n");
	release_imported(&imported);
}

/* Attributes that were met before are not read again, unless the process is another. */
static void the_same_attributes_are_other_threads_in_another_process(void **state)
{
#define SAMPLE(value) "{\"attributeIndices\":[1,4],\"values\":[" value "]}"
	static const char two[] = FILE_OF(
		RESOURCE(PID, COUNTS(SAMPLE("1") "," SAMPLE("2") ",{\"attributeIndices\":[3],\"values\":[3]}")) "," RESOURCE(
			"{\"key\":\"process.pid\",\"value\":{\"intValue\":\"77\"}}",
			COUNTS(SAMPLE("4"))) "," RESOURCE(PID, COUNTS(SAMPLE("5"))));

	(void)state;
	assert_import(&lode_importer_otlp, two, NULL,
		      "stream x \nrun 500+1000 21/22 \nrun 500+3000 21/21 cpu=3 \nrun 500+4000 77/22 \n"
		      "run 1500+2000 21/22 \nrun 3500+5000 21/22 \n");
	assert_note(&lode_importer_otlp, two, "attributes of samples", 4);
#undef SAMPLE
}

static void what_profiles_may_not_be(void **state)
{
	(void)state;
	assert_bad(&lode_importer_otlp, "{}", "no samples");
	assert_bad(&lode_importer_otlp, FILE_OF(RESOURCE("", COUNTS("{\"stackIndex\":3,\"values\":[1]}"))),
		   "a stack that is not in");
	assert_bad(&lode_importer_otlp, FILE_OF(RESOURCE("", COUNTS("{\"attributeIndices\":[99],\"values\":[1]}"))),
		   "an attribute that");
	assert_bad(&lode_importer_otlp,
		   FILE_OF(RESOURCE("", COUNTS("{\"values\":[1,2],\"timestampsUnixNano\":[1,2,3]}"))),
		   "more values than");
	assert_bad(&lode_importer_otlp,
		   FILE_OF(RESOURCE(
			   "", "{\"sampleType\":{\"typeStrindex\":16,\"unitStrindex\":16},\"samples\":[{}]}")),
		   "none of its profiles");
	assert_bad(&lode_importer_otlp, "{\"resourceProfiles\":[", "too early");
	assert_note(&lode_importer_otlp, FILE_OF(RESOURCE("", COUNTS("{\"values\":[-1,2]}"))), "below 0", 1);
	assert_note(&lode_importer_otlp, FILE_OF(RESOURCE("", COUNTS("{\"values\":[\"9000000000000000000\",2]}"))),
		    "below 0", 1);
}

/* Only what the format has a place for. */
static void reduce(struct whole *whole)
{
	struct lode_events *waits = &whole->stream.events[LODE_WAIT];

	whole->stream.symptom_count = 0;
	whole->stream.events[LODE_CALL].count = 0;
	if (waits->count)
		memset(waits->delay, 0, waits->count * sizeof(*waits->delay));
}

static void what_we_export_comes_back(void **state)
{
	uint64_t seed = 17;

	for (int round = 0; round < 60; round++) {
		struct whole whole;

		random_whole(&whole, &seed, 30);
		reduce(&whole);
		assert_comes_back(*state, "otlp", &whole);
		release_whole(&whole);
	}
}

static int count_stream(void *context, struct lode_stream *stream, unsigned ordinal, struct lode_error *error)
{
	uint64_t *sums = context;

	(void)error;
	assert_int_equal(ordinal, sums[0]);
	sums[0]++;
	sums[1] += stream->events[LODE_RUN].count;
	return 0;
}

static void several_streams_come_back_as_several(void **state)
{
	struct fixture *fixture = *state;
	uint64_t sums[2] = { 0 };
	size_t size;
	char *bytes, name[8];

	next_corpus(fixture);
	for (uint32_t i = 0; i < 3; i++) {
		struct whole whole;

		snprintf(name, sizeof(name), "s%u", i);
		init_whole(&whole, name);
		for (uint32_t k = 0; k <= i; k++)
			add_event(&whole, LODE_RUN, k, 7, 1, 2, "app!main");
		add_stream(fixture, &whole);
		release_whole(&whole);
	}
	bytes = export_bytes(fixture, "otlp", NULL, &size);
	import_found("otlp", bytes, size, count_stream, sums);
	assert_int_equal(sums[0], 3);
	assert_int_equal(sums[1], 6);
	try_damaged(&lode_importer_otlp, bytes, size, 5000);
	free(bytes);
}

static void damage_and_want_of_memory_are_survived(void **state)
{
	struct lode_buffer encoded = { 0 };
	struct lode_error error;

	(void)state;
	try_damaged(&lode_importer_otlp, requests, strlen(requests), 2000);
	try_without_memory(&lode_importer_otlp, requests, strlen(requests));
	assert_int_equal(lode_otlp_encode("x", (const unsigned char *)requests, strlen(requests), &encoded, &error),
			 0);
	assert_true(lode_otlp_sniff((const unsigned char *)encoded.bytes, encoded.size) > 50);
	try_damaged(&lode_importer_otlp, encoded.bytes, encoded.size, 5000);
	try_without_memory(&lode_importer_otlp, encoded.bytes, encoded.size);
	lode_buffer_release(&encoded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_and_waits_are_read),
		cmocka_unit_test(hosts_are_streams_of_their_own),
		cmocka_unit_test(the_same_attributes_are_other_threads_in_another_process),
		cmocka_unit_test(what_profiles_may_not_be),
		cmocka_unit_test_setup_teardown(what_we_export_comes_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(several_streams_come_back_as_several, set_up, tear_down),
		cmocka_unit_test(damage_and_want_of_memory_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
