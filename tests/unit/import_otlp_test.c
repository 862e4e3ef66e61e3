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
	assert_import(&lode_importer_otlp, requests, NULL,
		      "stream x \nattribute service.version=1.2 0\nattribute addresses=file offsets 0\n"
		      "thread 21/22 ui\nmodule app user /usr/bin/app abcd\n"
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

static void services_are_streams_of_their_own(void **state)
{
#define SERVICE(name)                                                                                             \
	"{\"key\":\"host.name\",\"value\":{\"stringValue\":\"h1\"}},{\"key\":\"service.name\",\"value\":{"        \
	"\"stringValue\":"                                                                                        \
	"\"" name "\"}}"
	static const char three[] = FILE_OF(RESOURCE(SERVICE("shop"), COUNTS("{\"values\":[1]}")) "," RESOURCE(
		SERVICE("search"), COUNTS("{\"values\":[2]}")) "," RESOURCE(SERVICE("shop"),
									    COUNTS("{\"values\":[3]}")));
	struct imported imported;

	(void)state;
	import_bytes(&imported, &lode_importer_otlp, three, strlen(three), NULL);
	assert_int_equal(imported.streams, 2);
	assert_string_equal(imported.text.bytes,
			    "stream x h1\nattribute service.name=shop 0\nrun 500+1000 0 \nrun 1500+3000 0 \n"
			    "stream x h1\nattribute service.name=search 0\nrun 500+2000 0 \n");
	release_imported(&imported);
#undef SERVICE
}

/* As senders of version 1.10 and later write them: keys and texts are numbers of strings. */
static void attributes_of_a_resource_may_refer_to_the_dictionary(void **state)
{
#define REFERENCE(key, value) "{\"keyStrindex\":" #key ",\"value\":{\"stringValueStrindex\":" #value "}}"
#define REFERRING(attributes)                                                                                     \
	"{\"resourceProfiles\":[" RESOURCE(                                                                       \
		attributes,                                                                                       \
		COUNTS("{\"values\":[1],\"attributeIndices\":[1]}")) "],"                                         \
								     "\"dictionary\":{\"stringTable\":[\"\","     \
								     "\"samples\",\"count\",\"cpu\","             \
								     "\"nanoseconds\",\"host.name\","             \
								     "\"web7\",\"service.name\",\"shop\","        \
								     "\"thread.name\",\"ui\"],"                   \
								     "\"attributeTable\":[{}," REFERENCE(9, 10) "]}}"
	static const char *const both[] = { REFERRING(REFERENCE(5, 6) "," REFERENCE(7, 8)),
					    REFERRING(
						    "{\"key\":\"host.name\",\"value\":{\"stringValueStrindex\":6}}"
						    ",{\"keyStrindex\":7,\"value\":{\"stringValue\":\"shop\"}}") };

	(void)state;
	for (size_t i = 0; i < sizeof(both) / sizeof(*both); i++)
		assert_import(&lode_importer_otlp, both[i], NULL,
			      "stream x web7\nattribute service.name=shop 0\nthread 0 ui\nrun 500+1000 0 \n");
	assert_bad(&lode_importer_otlp, REFERRING(REFERENCE(5, 99)), "a string that is not in");
	assert_bad(&lode_importer_otlp, REFERRING(REFERENCE(99, 5)), "a string that is not in");
#undef REFERENCE
#undef REFERRING
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

/* Two types of values of one sample, of which one is time; entries 0 of tables; an attribute with its key as text. */
static const char of_1_7[] =
	"{\"resourceProfiles\":[{\"resource\":{\"attributes\":[{\"key\":\"host.name\",\"value\":{\"stringValue\":"
	"\"h1\"}}]},"
	"\"scopeProfiles\":[{\"profiles\":[{\"sampleType\":[{\"typeStrindex\":1,\"unitStrindex\":2},{"
	"\"typeStrindex\":3,"
	"\"unitStrindex\":4}],\"timeNanos\":\"500\",\"locationIndices\":[1,0,2,0],\"sample\":["
	"{\"locationsLength\":2,\"value\":[\"3\",\"7000\"],\"attributeIndices\":[0]},"
	"{\"locationsStartIndex\":2,\"locationsLength\":2,\"value\":[\"1\",\"50\"],\"timestampsUnixNano\":["
	"\"9000\"]}]}]}]}],"
	"\"dictionary\":{\"stringTable\":[\"\",\"samples\",\"count\",\"cpu\",\"nanoseconds\",\"main\",\"work\",\"/"
	"bin/app\"],"
	"\"mappingTable\":[{\"filenameStrindex\":7}],\"functionTable\":[{\"nameStrindex\":5},{\"nameStrindex\":6}]"
	","
	"\"locationTable\":[{\"mappingIndex\":0,\"line\":[{\"functionIndex\":0}]},{\"mappingIndex\":0,\"line\":[{"
	"\"functionIndex\":1}]},{\"line\":[{\"functionIndex\":1}]}],"
	"\"attributeTable\":[{\"key\":\"thread.id\",\"value\":{\"intValue\":\"22\"}}],"
	"\"attributeUnits\":[{\"attributeKeyStrindex\":3,\"unitStrindex\":4}]}}";

static void version_1_7_is_read(void **state)
{
	static const char expected[] =
		"stream x h1\nmodule app user /bin/app \nrun 500+7000 22 app!main|app!work\n"
		"run 9000+50 0 app!main|work\n";
	struct lode_buffer encoded = { 0 };
	struct lode_error error;
	struct imported imported;

	(void)state;
	assert_import(&lode_importer_otlp, of_1_7, NULL, expected);
	assert_int_equal(lode_otlp_encode("x", (const unsigned char *)of_1_7, strlen(of_1_7), &encoded, &error), 0);
	import_bytes(&imported, &lode_importer_otlp, encoded.bytes, encoded.size, NULL);
	assert_string_equal(imported.text.bytes, expected);
	release_imported(&imported);
	try_damaged(&lode_importer_otlp, encoded.bytes, encoded.size, 5000);
	try_without_memory(&lode_importer_otlp, encoded.bytes, encoded.size);
	lode_buffer_release(&encoded);
}

/* Ranges of locations may overlap, but not to any amount. */
static void overlapping_stacks_of_1_7_are_bounded(void **state)
{
	struct lode_buffer file = { 0 };

	(void)state;
	lode_buffer_text(&file, "{\"resourceProfiles\":[{\"scopeProfiles\":[{\"profiles\":[{\"sampleType\":[{"
				"\"typeStrindex\":1,\"unitStrindex\":2}],\"locationIndices\":[0");
	for (int i = 0; i < 16000; i++)
		lode_buffer_text(&file, ",0");
	lode_buffer_text(&file, "],\"sample\":[{\"locationsLength\":1}");
	for (int i = 0; i < 4000; i++)
		lode_buffer_text(&file, ",{\"locationsLength\":16000}");
	lode_buffer_text(
		&file,
		"]}]}]}],\"dictionary\":{\"stringTable\":[\"\",\"cpu\",\"nanoseconds\"],\"locationTable\":[{}]}}");
	lode_buffer_byte(&file, '\0');
	assert_bad(&lode_importer_otlp, file.bytes, "too often");
	lode_buffer_release(&file);
}

/* A sample of 1.8 and 1.9 has its values where later versions have the attributes. */
static void version_1_8_is_read(void **state)
{
	static const unsigned char packed[] = {
		0x0a, 0x1a,                                                       /* resource profiles */
		0x12, 0x18,                                                       /* scope profiles */
		0x12, 0x16,                                                       /* profile */
		0x0a, 0x04, 0x08, 0x01, 0x10, 0x02,                               /* type */
		0x12, 0x09, 0x08, 0x01, 0x12, 0x02, 0xac, 0x02, 0x1a, 0x01, 0x01, /* stack, values, attributes */
		0x12, 0x03, 0x12, 0x01, 0x07,                                     /* values alone */
		0x12, 0x38,                                                       /* dictionary */
		0x12, 0x00, 0x12, 0x04, 0x1a, 0x02, 0x08, 0x01,                   /* locations */
		0x1a, 0x00, 0x1a, 0x02, 0x08, 0x03,                               /* functions */
		0x2a, 0x00, 0x2a, 0x03, 'c',  'p',  'u',  0x2a, 0x02, 'n',  's',  /* strings */
		0x2a, 0x01, 'f',  0x2a, 0x09, 't',  'h',  'r',  'e',  'a',  'd',  '.',
		'i',  'd',  0x32, 0x00, 0x32, 0x06, 0x08, 0x04, 0x12, 0x02, 0x18, 0x16, /* attributes */
		0x3a, 0x00, 0x3a, 0x03, 0x0a, 0x01, 0x01,                               /* stacks */
	};
	struct imported imported;

	(void)state;
	import_bytes(&imported, &lode_importer_otlp, packed, sizeof(packed), NULL);
	assert_string_equal(imported.text.bytes, "stream x \nrun 0+300 22 f\nrun 0+7 0 \n");
	release_imported(&imported);
	try_damaged(&lode_importer_otlp, packed, sizeof(packed), 5000);
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
		cmocka_unit_test(services_are_streams_of_their_own),
		cmocka_unit_test(attributes_of_a_resource_may_refer_to_the_dictionary),
		cmocka_unit_test(version_1_7_is_read),
		cmocka_unit_test(overlapping_stacks_of_1_7_are_bounded),
		cmocka_unit_test(version_1_8_is_read),
		cmocka_unit_test(the_same_attributes_are_other_threads_in_another_process),
		cmocka_unit_test(what_profiles_may_not_be),
		cmocka_unit_test_setup_teardown(what_we_export_comes_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(several_streams_come_back_as_several, set_up, tear_down),
		cmocka_unit_test(damage_and_want_of_memory_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
