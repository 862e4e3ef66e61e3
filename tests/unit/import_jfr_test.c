/* Java Flight Recorder files. */
#include "import_fixture.h"
#include "jfr_recording.h"

extern const struct lode_importer lode_importer_jfr;

#define CHUNK_STREAM                                                                                              \
	"stream x \nthread 77/4001 main\nthread 77/4002 GC\n"                                                     \
	"module Main.java user app/Main.java \n"                                                                  \
	"module EPoll.java user sun/nio/ch/EPoll.java \n"                                                         \
	"run 1001000000+10000000 77/4001 Main.java!Main$$Lambda.run|Main.java!Main.run|Main.java!Main.work\n"     \
	"wait 1002000000+3000000 77/4001 waker=77/4002 "                                                          \
	"Main.java!Main$$Lambda.run|Main.java!Main.run|Main.java!Main.work\n"                                     \
	"wait 1007000000+20000000 77/4001 Main.java!Main.run|EPoll.java!EPoll.wait\n"                             \
	"wait 1008000000+40000000 77/4002 libc.so.6!read\n"

#define CHUNKS_STREAM                                                                                             \
	"stream x \n"                                                                                             \
	"thread 77/4001 main\n"                                                                                   \
	"thread 77/4002 GC\n"                                                                                     \
	"module Main.java user app/Main.java \n"                                                                  \
	"module EPoll.java user sun/nio/ch/EPoll.java \n"                                                         \
	"module XPoll.java user sun/nio/ch/XPoll.java \n"                                                         \
	"run 1001000000+10000000 77/4001 Main.java!Main$$Lambda.run|Main.java!Main.run|Main.java!Main.work\n"     \
	"run 1001000000+10000000 77/4001 Main.java!Main$$Lambda.run|Main.java!Main.run|Main.java!Main.rest\n"     \
	"run 1001000000+10000000 77/4001 Main.java!Main$$Lambda.run|Main.java!Main.run|Main.java!Main.work\n"     \
	"wait 1002000000+3000000 77/4001 waker=77/4002 "                                                          \
	"Main.java!Main$$Lambda.run|Main.java!Main.run|Main.java!Main.work\n"                                     \
	"wait 1002000000+3000000 77/4001 waker=77/4002 "                                                          \
	"Main.java!Main$$Lambda.run|Main.java!Main.run|Main.java!Main.rest\n"                                     \
	"wait 1002000000+3000000 77/4001 waker=77/4002 "                                                          \
	"Main.java!Main$$Lumbda$14.run|Main.java!Main.run|Main.java!Main.work\n"                                  \
	"wait 1002000000+3000000 77/4001 waker=77/4002 "                                                          \
	"Main.java!Main$$Lambda.run|Main.java!Main.run|Main.java!Main.work\n"                                     \
	"wait 1007000000+20000000 77/4001 Main.java!Main.run|EPoll.java!EPoll.wait\n"                             \
	"wait 1007000000+20000000 77/4001 Main.java!Main.run|XPoll.java!XPoll.wait\n"                             \
	"wait 1007000000+20000000 77/4001 Main.java!Main.run|EPoll.java!EPoll.wait\n"                             \
	"wait 1007000000+20000000 77/4001 Main.java!Main.run|EPoll.java!EPoll.wait\n"                             \
	"wait 1008000000+40000000 77/4002 libc.so.6!read\n"                                                       \
	"wait 1008000000+40000000 77/4002 libc.so.6!read\n"                                                       \
	"wait 1008000000+40000000 77/4002 libc.so.6!read\n"                                                       \
	"wait 1008000000+40000000 77/4002 libc.so.6!read\n"

static void samples_and_waits_are_read(void **state)
{
	(void)state;
	for (int packed = 0; packed < 2; packed++) {
		struct jfr jfr = { .packed = packed };
		struct imported imported;

		jfr_chunk(&jfr);
		import_bytes(&imported, &lode_importer_jfr, jfr.bytes.bytes, jfr.bytes.size, NULL);
		assert_string_equal(imported.code < 0 ? imported.error.text : "", "");
		assert_string_equal(imported.text.bytes, CHUNK_STREAM);
		assert_int_equal(note_count(&imported, "without a thread"), 1);
		assert_int_equal(note_count(&imported, "native methods"), 1);
		assert_int_equal(note_count(&imported, "stackdepth"), 1);
		release_imported(&imported);
		lode_buffer_release(&jfr.bytes);
	}
}

/* The last chunk of three is cut off. */
static void chunks_follow_one_another(void **state)
{
	struct jfr jfr = { .packed = 1 };
	struct imported imported;
	size_t whole;

	(void)state;
	jfr_chunk(&jfr);
	whole = jfr.bytes.size;
	jfr_chunk(&jfr);
	jfr_chunk(&jfr);
	import_bytes(&imported, &lode_importer_jfr, jfr.bytes.bytes, jfr.bytes.size - 5, NULL);
	assert_int_equal(imported.code, 0);
	assert_int_equal(note_count(&imported, "not finished"), 1);
	assert_int_equal(note_count(&imported, "without a thread"), 2);
	release_imported(&imported);
	import_bytes(&imported, &lode_importer_jfr, jfr.bytes.bytes, whole - 5, NULL);
	assert_int_equal(imported.code, LODE_BAD_INPUT);
	assert_non_null(strstr(imported.error.text, "JFR.dump"));
	release_imported(&imported);
	lode_buffer_release(&jfr.bytes);
}

/* Numbers of all lengths, most of which are passed several at a time. */
static void frames_of_any_size_are_read(void **state)
{
	(void)state;
	for (unsigned deep = 0; deep < 60; deep++) {
		struct jfr jfr = { .packed = deep % 2 == 0 || deep > 30, .deep = deep };
		struct lode_buffer wanted = { 0 };
		struct imported imported;

		jfr_chunk(&jfr);
		import_bytes(&imported, &lode_importer_jfr, jfr.bytes.bytes, jfr.bytes.size, NULL);
		assert_string_equal(imported.code < 0 ? imported.error.text : "", "");
		lode_buffer_text(&wanted, "Main.java!Main$$Lambda.run");
		for (unsigned i = 0; i <= deep; i++)
			lode_buffer_text(&wanted, "|Main.java!Main.run");
		lode_buffer_text(&wanted, "|Main.java!Main.work\n");
		lode_buffer_byte(&wanted, '\0');
		assert_non_null(strstr(imported.text.bytes, wanted.bytes));
		assert_non_null(strstr(imported.text.bytes, "Main.java!Main.run|EPoll.java!EPoll.wait\n"));
		lode_buffer_release(&wanted);
		release_imported(&imported);
		lode_buffer_release(&jfr.bytes);
	}
}

/* Replaces a word, of the same length, in what comes from `from` on. */
static void replace_from(struct jfr *jfr, size_t from, const char *word, const char *by)
{
	char *at = memmem(jfr->bytes.bytes + from, jfr->bytes.size - from, word, strlen(word));

	assert_non_null(at);
	memcpy(at, by, strlen(by));
}

/* A chunk's keys and classes mean what it says itself, whatever the same ones meant in the chunk before. */
static void chunks_do_not_share_what_they_say(void **state)
{
	struct jfr jfr = { .packed = 1 };
	struct imported imported;
	size_t at;

	(void)state;
	jfr_chunk(&jfr);
	at = jfr.bytes.size;
	jfr_chunk(&jfr);
	replace_from(&jfr, at, "work", "rest");
	replace_from(&jfr, at, "sun/nio/ch/EPoll", "sun/nio/ch/XPoll");
	at = jfr.bytes.size;
	jfr_chunk(&jfr);
	replace_from(&jfr, at, "jdk.ExecutionSample", "jdk.ExecutionSimple");
	replace_from(&jfr, at, "Lambda$14", "Lumbda$14");
	jfr.packed = 0;
	jfr_chunk(&jfr);
	import_bytes(&imported, &lode_importer_jfr, jfr.bytes.bytes, jfr.bytes.size, NULL);
	assert_string_equal(imported.code < 0 ? imported.error.text : "", "");
	assert_string_equal(imported.text.bytes, CHUNKS_STREAM);
	release_imported(&imported);
	lode_buffer_release(&jfr.bytes);
}

static void assert_refused(const struct jfr *jfr, const char *part)
{
	struct imported imported;

	import_bytes(&imported, &lode_importer_jfr, jfr->bytes.bytes, jfr->bytes.size, NULL);
	if (imported.code != LODE_BAD_INPUT || !strstr(imported.error.text, part))
		fail_msg("%d `%s` has no `%s`", imported.code, imported.error.text, part);
	release_imported(&imported);
}

static void what_recordings_may_not_be(void **state)
{
	struct jfr jfr = { .packed = 0 };

	(void)state;
	jfr_chunk(&jfr);
	lode_buffer_text(&jfr.bytes, "something else");
	assert_refused(&jfr, "no chunk of a flight recording begins there");
	jfr.bytes.size -= strlen("something else");
	jfr.bytes.bytes[5] = 9;
	assert_refused(&jfr, "version 9.0");
	jfr.bytes.bytes[5] = 2;
	jfr.bytes.bytes[59] = 1; /* 2^32 + … ticks a second */
	jfr.bytes.bytes[58] = 1;
	assert_refused(&jfr, "header of a chunk");
	jfr.bytes.bytes[59] = jfr.bytes.bytes[58] = 0;
	jfr.bytes.bytes[31]++;
	assert_refused(&jfr, "metadata are");
	jfr.bytes.bytes[31]--;
	jfr.bytes.bytes[23]++;
	assert_refused(&jfr, "constants at byte");
	jfr.bytes.bytes[23]--;
	jfr.bytes.bytes[68] = 0x7f;
	assert_refused(&jfr, "longer than the chunk");
	lode_buffer_release(&jfr.bytes);
}

static void damage_and_want_of_memory_are_survived(void **state)
{
	(void)state;
	for (int packed = 0; packed < 2; packed++) {
		struct jfr jfr = { .packed = packed };

		jfr_chunk(&jfr);
		try_damaged(&lode_importer_jfr, jfr.bytes.bytes, jfr.bytes.size, 5000);
		if (packed)
			try_without_memory(&lode_importer_jfr, jfr.bytes.bytes, jfr.bytes.size);
		lode_buffer_release(&jfr.bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_and_waits_are_read),
		cmocka_unit_test(chunks_follow_one_another),
		cmocka_unit_test(frames_of_any_size_are_read),
		cmocka_unit_test(chunks_do_not_share_what_they_say),
		cmocka_unit_test(what_recordings_may_not_be),
		cmocka_unit_test(damage_and_want_of_memory_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
