/* Durations, counts, sizes and shares: read and written as people do. */
#include "cmocka_all.h"
#include "random_stream.h"

#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void durations_are_read_with_their_units(void **state)
{
	static const struct {
		const char *text;
		uint64_t nanoseconds;
	} cases[] = {
		{ "0", 0 },
		{ "17ns", 17 },
		{ "250us", 250000 },
		{ "250\xc2\xb5s", 250000 },
		{ "30ms", 30000000 },
		{ "1.5s", 1500000000 },
		{ ".5s", 500000000 },
		{ "2.s", 2000000000 },
		{ "2m", 120000000000 },
		{ "1h", 3600000000000 },
		{ "0.1h", 360000000000 },
		{ "1.000000001s", 1000000001 },
		{ "0.0000000004s", 0 },
		{ "0.0000000006s", 1 },
		{ "0.123456789012345678901234567890s", 123456789 },
		{ "18446744073709551615ns", UINT64_MAX },
		{ "5124095h", 18446742000000000000u },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t nanoseconds = 1;

		assert_int_equal(lode_duration_parse(cases[i].text, &nanoseconds, NULL), 0);
		assert_true(nanoseconds == cases[i].nanoseconds);
	}
}

static void what_is_no_duration_is_refused_with_a_sentence(void **state)
{
	static const char *const cases[] = { "",  "s",  "-1s",  "1 s", "1.5.2s", "1e3s", "1x",  "1S",  "1sec",
					     ".", ".s", "0x10", "nan", "inf",    " 1s",  "1s ", "+1s", "1,5s" };
	uint64_t nanoseconds = 42;
	struct lode_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		error.text[0] = '\0';
		assert_int_equal(lode_duration_parse(cases[i], &nanoseconds, &error), LODE_USAGE);
		assert_non_null(strstr(error.text, "not a duration; write"));
	}
	assert_true(nanoseconds == 42);
}

static void a_bare_number_is_refused_and_both_readings_are_shown(void **state)
{
	static const char *const cases[] = { "1", "5", "1.5", ".5", "2.", "0.001", "18446744073709551616" };
	uint64_t nanoseconds = 42;
	struct lode_error error;
	char wanted[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(lode_duration_lacks_unit(cases[i]));
		assert_int_equal(lode_duration_parse(cases[i], &nanoseconds, &error), LODE_USAGE);
		snprintf(wanted, sizeof(wanted), "%ss for seconds or %sns for nanoseconds", cases[i], cases[i]);
		assert_non_null(strstr(error.text, wanted));
	}
	assert_true(nanoseconds == 42);
}

static void nothing_needs_no_unit(void **state)
{
	static const char *const cases[] = { "0", "0.0", "00", ".0", "0s", "0ns" };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t nanoseconds = 42;

		assert_false(lode_duration_lacks_unit(cases[i]));
		assert_int_equal(lode_duration_parse(cases[i], &nanoseconds, NULL), 0);
		assert_true(nanoseconds == 0);
	}
	assert_false(lode_duration_lacks_unit("1s"));
	assert_false(lode_duration_lacks_unit("."));
	assert_false(lode_duration_lacks_unit("1x"));
}

static void a_duration_beyond_64_bits_is_refused(void **state)
{
	static const char *const cases[] = { "18446744073709551616ns", "5124096h", "99999999999999999999999s",
					     "18446744073.709551616s" };
	uint64_t nanoseconds;
	struct lode_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(lode_duration_parse(cases[i], &nanoseconds, &error), LODE_USAGE);
		assert_non_null(strstr(error.text, "is too long"));
	}
}

static void durations_are_written_with_three_digits(void **state)
{
	static const struct {
		uint64_t nanoseconds;
		const char *text;
	} cases[] = {
		{ 0, "0ns" },
		{ 999, "999ns" },
		{ 1000, "1us" },
		{ 1500, "1.5us" },
		{ 250000, "250us" },
		{ 999400, "999us" },
		{ 999500, "1ms" },
		{ 999999, "1ms" },
		{ 12340000, "12.3ms" },
		{ 30000000, "30ms" },
		{ 1500000000, "1.5s" },
		{ 90000000000, "90s" },
		{ 119000000000, "119s" },
		{ 150000000000, "2.5m" },
		{ 3599900000000, "1h" },
		{ 3600000000000, "1h" },
		{ UINT64_MAX, "5124096h" },
	};
	char text[LODE_UNITS_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(lode_duration_text(cases[i].nanoseconds, text), cases[i].text);
}

static void a_written_duration_reads_back_within_half_a_percent(void **state)
{
	char text[LODE_UNITS_TEXT];
	uint64_t seed = 11;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		uint64_t number = random_next(&seed) >> random_below(&seed, 64), back;
		double error;

		if (number > UINT64_MAX - UINT64_MAX / 100)
			continue;
		assert_int_equal(lode_duration_parse(lode_duration_text(number, text), &back, NULL), 0);
		error = number > back ? (double)(number - back) : (double)(back - number);
		assert_true(error <= (double)number * 0.005 + 0.5);
		assert_true(strlen(text) <= 8);
	}
}

static void counts_have_their_thousands_apart(void **state)
{
	char text[LODE_UNITS_TEXT];

	(void)state;
	assert_string_equal(lode_count_text(0, text), "0");
	assert_string_equal(lode_count_text(999, text), "999");
	assert_string_equal(lode_count_text(1000, text), "1,000");
	assert_string_equal(lode_count_text(1072423, text), "1,072,423");
	assert_string_equal(lode_count_text(UINT64_MAX, text), "18,446,744,073,709,551,615");
}

static void sizes_are_written_in_powers_of_ten(void **state)
{
	char text[LODE_UNITS_TEXT];

	(void)state;
	assert_string_equal(lode_bytes_text(0, text), "0 B");
	assert_string_equal(lode_bytes_text(512, text), "512 B");
	assert_string_equal(lode_bytes_text(1500, text), "1.5 kB");
	assert_string_equal(lode_bytes_text(332000000, text), "332 MB");
	assert_string_equal(lode_bytes_text(999999999, text), "1 GB");
	assert_string_equal(lode_bytes_text(UINT64_MAX, text), "18.4 EB");
}

static void shares_are_percents(void **state)
{
	char text[LODE_UNITS_TEXT];

	(void)state;
	assert_string_equal(lode_share_text(1, 8, text), "12.5%");
	assert_string_equal(lode_share_text(0, 8, text), "0%");
	assert_string_equal(lode_share_text(8, 8, text), "100%");
	assert_string_equal(lode_share_text(1, 1000000, text), "<0.1%");
	assert_string_equal(lode_share_text(1, 0, text), "-");
	assert_string_equal(lode_percent_text(0, text), "0%");
	assert_string_equal(lode_percent_text(0.00001, text), "<0.01%");
	assert_string_equal(lode_percent_text(0.0052, text), "0.52%");
	assert_string_equal(lode_percent_text(0.05, text), "5%");
	assert_string_equal(lode_percent_text(0.994, text), "99%");
	assert_string_equal(lode_percent_text(0.996, text), "100%");
	assert_string_equal(lode_percent_text(12.345, text), "1234%");
	assert_string_equal(lode_share_text(UINT64_MAX / 2, UINT64_MAX, text), "50%");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_are_read_with_their_units),
		cmocka_unit_test(what_is_no_duration_is_refused_with_a_sentence),
		cmocka_unit_test(a_bare_number_is_refused_and_both_readings_are_shown),
		cmocka_unit_test(nothing_needs_no_unit),
		cmocka_unit_test(a_duration_beyond_64_bits_is_refused),
		cmocka_unit_test(durations_are_written_with_three_digits),
		cmocka_unit_test(a_written_duration_reads_back_within_half_a_percent),
		cmocka_unit_test(counts_have_their_thousands_apart),
		cmocka_unit_test(sizes_are_written_in_powers_of_ten),
		cmocka_unit_test(shares_are_percents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
