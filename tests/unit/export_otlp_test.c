/*
 * The OTLP export, read back by a separate decoder: every index points into its table, number 0 of each
 * table is empty, and events, costs and depths of stacks add up to those of the streams.
 */
#include "export_fixture.h"

#include "import/protobuf/protobuf.h"

struct slices {
	struct lode_cursor *items;
	size_t count;
};

/* All length-delimited fields of one number. */
static struct slices slices_of(struct lode_cursor message, unsigned wanted)
{
	struct lode_protobuf_field field;
	struct slices slices = { 0 };

	while (lode_protobuf_next(&message, &field)) {
		if (field.number != wanted || field.wire != LODE_WIRE_BYTES)
			continue;
		slices.items = realloc(slices.items, (slices.count + 1) * sizeof(*slices.items));
		slices.items[slices.count++] = field.bytes;
	}
	assert_false(message.failed);
	return slices;
}

static struct lode_cursor slice_of(struct lode_cursor message, unsigned wanted)
{
	struct slices slices = slices_of(message, wanted);
	struct lode_cursor found = slices.count ? slices.items[0] : lode_cursor(message.next, 0);

	assert_true(slices.count <= 1);
	free(slices.items);
	return found;
}

static uint64_t number_of(struct lode_cursor message, unsigned wanted)
{
	struct lode_protobuf_field field;
	uint64_t number = 0;

	while (lode_protobuf_next(&message, &field))
		if (field.number == wanted && field.wire != LODE_WIRE_BYTES)
			number = field.value;
	return number;
}

struct sums {
	uint64_t events[2]; /* runs, waits */
	uint64_t cost[2];
	uint64_t depth[2]; /* frames of all events */
	uint64_t times[2]; /* sum */
};

struct data {
	struct slices mappings, locations, functions, strings, attributes, stacks;
	struct sums sums;
};

static uint64_t depth_of(const struct data *data, uint64_t stack)
{
	struct lode_cursor packed;
	uint64_t depth = 0;

	assert_true(stack < data->stacks.count);
	packed = slice_of(data->stacks.items[stack], 1);
	for (; lode_cursor_left(&packed); depth++) {
		uint64_t location = lode_cursor_varint(&packed);

		assert_true(location > 0 && location < data->locations.count);
	}
	return depth;
}

static void check_attributes(const struct data *data, struct lode_cursor packed)
{
	assert_true(lode_cursor_left(&packed) > 0);
	while (lode_cursor_left(&packed)) {
		uint64_t attribute = lode_cursor_varint(&packed);

		assert_true(attribute > 0 && attribute < data->attributes.count);
		assert_true(number_of(data->attributes.items[attribute], 1) < data->strings.count);
	}
}

static void read_sample(struct data *data, struct lode_cursor sample, int kind)
{
	struct lode_cursor values = slice_of(sample, 4), times = slice_of(sample, 5);
	uint64_t depth = depth_of(data, number_of(sample, 1));

	check_attributes(data, slice_of(sample, 2));
	while (lode_cursor_left(&values)) {
		data->sums.cost[kind] += lode_cursor_varint(&values);
		data->sums.times[kind] += lode_cursor_u64(&times);
		data->sums.events[kind]++;
		data->sums.depth[kind] += depth;
	}
	assert_false(values.failed || times.failed);
	assert_int_equal(lode_cursor_left(&times), 0);
}

static void read_profile(struct data *data, struct lode_cursor profile)
{
	struct lode_cursor type = slice_of(profile, 1), id = slice_of(profile, 7);
	struct lode_cursor name = data->strings.items[number_of(type, 1)];
	struct slices samples = slices_of(profile, 2);
	int kind = lode_cursor_left(&name) == 7 && memcmp(name.next, "off_cpu", 7) == 0;

	assert_true(kind || (lode_cursor_left(&name) == 3 && memcmp(name.next, "cpu", 3) == 0));
	assert_int_equal(lode_cursor_left(&id), 16);
	for (size_t i = 0; i < samples.count; i++)
		read_sample(data, samples.items[i], kind);
	free(samples.items);
}

static void read_data(struct data *data, const char *bytes, size_t size)
{
	struct lode_cursor whole = lode_cursor((const unsigned char *)bytes, size), dictionary = slice_of(whole, 2);
	struct slices resources = slices_of(whole, 1);
	struct slices *const tables[] = { &data->mappings, &data->locations,  &data->functions, NULL,
					  &data->strings,  &data->attributes, &data->stacks };

	for (unsigned i = 0; i < 7; i++) {
		struct slices table = slices_of(dictionary, i + 1);

		assert_true(table.count > 0);
		assert_int_equal(lode_cursor_left(&table.items[0]), 0);
		if (tables[i])
			*tables[i] = table;
		else
			free(table.items);
	}
	assert_int_equal(data->locations.count, data->functions.count);
	for (size_t i = 1; i < data->locations.count; i++) {
		assert_true(number_of(data->locations.items[i], 1) < data->mappings.count);
		assert_true(number_of(slice_of(data->locations.items[i], 3), 1) < data->functions.count);
		assert_true(number_of(data->functions.items[i], 1) < data->strings.count);
	}
	for (size_t i = 0; i < resources.count; i++)
		read_profile(data, slice_of(slice_of(resources.items[i], 2), 2));
	free(resources.items);
}

static void release_data(struct data *data)
{
	free(data->mappings.items);
	free(data->locations.items);
	free(data->functions.items);
	free(data->strings.items);
	free(data->attributes.items);
	free(data->stacks.items);
}

static void add_up(const struct whole *whole, struct sums *sums)
{
	for (int kind = 0; kind < 2; kind++) {
		const struct lode_events *events = &whole->stream.events[kind ? LODE_WAIT : LODE_RUN];

		sums->events[kind] += events->count;
		for (size_t i = 0; i < events->count; i++) {
			sums->cost[kind] += lode_weighted(events->cost[i], lode_events_weight(events, i));
			sums->depth[kind] += lode_stack_tree_depth(&whole->dictionary.tree, events->stack[i]);
			sums->times[kind] += events->t[i];
		}
	}
}

static void all_runs_and_waits_are_in_the_profiles(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = 78;

	for (int round = 0; round < 40; round++) {
		struct whole wholes[2];
		size_t count = round % 4 == 3 ? 2 : 1, size;
		struct sums sums = { 0 };
		struct data data = { 0 };
		char *bytes;

		next_corpus(fixture);
		for (size_t i = 0; i < count; i++) {
			if (round == 0)
				odd_whole(&wholes[i]);
			else
				random_whole(&wholes[i], &seed, round == 5 ? 3000 : 40);
			add_stream(fixture, &wholes[i]);
			add_up(&wholes[i], &sums);
		}
		bytes = export_bytes(fixture, "otlp", NULL, &size);
		read_data(&data, bytes, size);
		assert_memory_equal(&data.sums, &sums, sizeof(sums));
		release_data(&data);
		free(bytes);
		while (count)
			release_whole(&wholes[--count]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_runs_and_waits_are_in_the_profiles, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
