/*
 * Rings of records, without the kernel: the test writes what the kernel would. The
 * oracle sorts all records that should come.
 */
#include "cmocka_all.h"
#include "random_stream.h"

#include "base/error.h"
#include "base/memory.h"
#include "record/reader/rings.h"

#include <stdlib.h>
#include <string.h>

#define CPUS  9
#define SLOTS 256

struct fixture {
	struct lode_record_ends ends[CPUS];
	struct lode_record slots[CPUS * SLOTS];
	struct lode_rings rings;
	uint32_t cpu_count;
	uint64_t clock;
};

/* What should come: a record and when it counts as written. */
struct expected {
	uint64_t written;
	uint64_t sequence;
	uint32_t cpu;
};

static struct lode_record *slot_of(struct fixture *fixture, uint32_t cpu, uint64_t position)
{
	return &fixture->slots[cpu * SLOTS + position % SLOTS];
}

static void set_up(struct fixture *fixture, uint64_t *seed)
{
	memset(fixture, 0, sizeof(*fixture));
	fixture->cpu_count = 1 + (uint32_t)random_below(seed, CPUS);
	fixture->clock = 1000;
	for (uint32_t cpu = 0; cpu < fixture->cpu_count; cpu++)
		fixture->ends[cpu].head = fixture->ends[cpu].tail = random_below(seed, 3 * SLOTS);
	assert_int_equal(lode_rings_init(&fixture->rings, fixture->ends, fixture->slots, fixture->cpu_count, SLOTS),
			 0);
}

/* Writes a record as the kernel does: takes a position, fills, and lastly says that it is whole. */
static void write_record(struct fixture *fixture, uint32_t cpu, uint64_t end, int whole)
{
	uint64_t position = fixture->ends[cpu].head++;
	struct lode_record *record = slot_of(fixture, cpu, position);

	record->cost = end / 3;
	record->delay = end / 5;
	record->t = end - record->cost - record->delay;
	record->cpu = (uint16_t)cpu;
	record->tid = (uint32_t)position;
	if (whole)
		record->sequence = position + 1;
}

/* Some records, on any CPUs, nearly in order, some at the same time; few are not whole. */
static void write_some(struct fixture *fixture, uint64_t *seed)
{
	uint64_t count = random_below(seed, 600);

	for (uint64_t i = 0; i < count; i++) {
		uint32_t cpu = (uint32_t)random_below(seed, fixture->cpu_count);
		uint64_t back = random_below(seed, 10) ? 0 : random_below(seed, 30);

		fixture->clock += random_below(seed, 4);
		if (fixture->ends[cpu].head - fixture->ends[cpu].tail < SLOTS)
			write_record(fixture, cpu, fixture->clock - back, random_below(seed, 200) != 0);
	}
}

static int compare(const void *left, const void *right)
{
	const struct expected *a = left, *b = right;

	if (a->written != b->written)
		return a->written < b->written ? -1 : 1;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return a->sequence < b->sequence ? -1 : 1;
}

static size_t expect(struct fixture *fixture, struct expected *all)
{
	size_t count = 0;

	for (uint32_t cpu = 0; cpu < fixture->cpu_count; cpu++) {
		uint64_t latest = 0;

		for (uint64_t at = fixture->ends[cpu].tail; at != fixture->ends[cpu].head; at++) {
			const struct lode_record *record = slot_of(fixture, cpu, at);
			uint64_t end = record->t + record->cost + record->delay;

			if (record->sequence != at + 1)
				break;
			latest = end > latest ? end : latest;
			all[count++] = (struct expected){ latest, at + 1, cpu };
		}
	}
	qsort(all, count, sizeof(*all), compare);
	return count;
}

/* Reads all that is expected; meanwhile more is written, which is for the next time. */
static void read_and_compare(struct fixture *fixture, const struct expected *all, size_t count, uint64_t *seed)
{
	const struct lode_record *record;
	uint64_t written;

	lode_rings_begin(&fixture->rings);
	for (size_t i = 0; i < count; i++) {
		record = lode_rings_next(&fixture->rings, &written);
		assert_non_null(record);
		assert_int_equal(record->cpu, all[i].cpu);
		assert_int_equal(record->sequence, all[i].sequence);
		assert_int_equal(written, all[i].written);
		assert_true(fixture->ends[record->cpu].tail < record->sequence); /* its slot is still ours */
		if (!random_below(seed, 50)) {
			uint32_t cpu = (uint32_t)random_below(seed, fixture->cpu_count);

			if (fixture->ends[cpu].head - fixture->ends[cpu].tail < SLOTS)
				write_record(fixture, cpu, ++fixture->clock, 1);
		}
		lode_rings_pass(&fixture->rings);
	}
	assert_null(lode_rings_next(&fixture->rings, &written));
	for (size_t i = 0; i < count; i++) /* all slots that were read are the kernel's again */
		assert_true(fixture->ends[all[i].cpu].tail >= all[i].sequence);
}

/* Writers that were interrupted go on. */
static void complete(struct fixture *fixture)
{
	for (uint32_t cpu = 0; cpu < fixture->cpu_count; cpu++)
		for (uint64_t at = fixture->ends[cpu].tail; at != fixture->ends[cpu].head; at++)
			slot_of(fixture, cpu, at)->sequence = at + 1;
}

static void records_come_once_in_the_order_of_writing(void **state)
{
	static struct fixture fixture;
	static struct expected all[CPUS * SLOTS];
	uint64_t compared = 0, seed = 7;

	(void)state;
	for (int round = 0; round < 300; round++) {
		set_up(&fixture, &seed);
		for (int reading = 0; reading < 6; reading++) {
			size_t count;

			write_some(&fixture, &seed);
			count = expect(&fixture, all);
			read_and_compare(&fixture, all, count, &seed);
			compared += count;
			if (random_below(&seed, 2))
				complete(&fixture);
		}
		complete(&fixture);
		read_and_compare(&fixture, all, expect(&fixture, all), &seed);
		lode_rings_release(&fixture.rings);
	}
	assert_true(compared > 300 * 6 * 100);
}

static void slots_come_back_while_a_long_ring_is_read(void **state)
{
	static struct fixture fixture;
	uint64_t written, seed = 3;

	(void)state;
	set_up(&fixture, &seed);
	for (int i = 0; i < SLOTS; i++)
		write_record(&fixture, 0, 1000 + (uint64_t)i, 1);
	lode_rings_begin(&fixture.rings);
	for (int i = 0; i < SLOTS / 2; i++) {
		assert_non_null(lode_rings_next(&fixture.rings, &written));
		lode_rings_pass(&fixture.rings);
	}
	assert_true(fixture.ends[0].head - fixture.ends[0].tail < SLOTS * 3 / 4);
	lode_rings_release(&fixture.rings);
}

static void a_ring_that_is_half_full_is_reported(void **state)
{
	static struct fixture fixture;
	uint64_t seed = 5;

	(void)state;
	set_up(&fixture, &seed);
	for (int i = 0; i < SLOTS / 2; i++) {
		assert_false(lode_rings_half_full(&fixture.rings));
		write_record(&fixture, fixture.cpu_count - 1, 1000, 1);
	}
	assert_true(lode_rings_half_full(&fixture.rings));
	lode_rings_release(&fixture.rings);
}

static void memory_that_runs_out_is_reported(void **state)
{
	struct lode_record_ends ends = { 0 };
	struct lode_record slots[2] = { 0 };
	struct lode_rings rings;

	(void)state;
	lode_memory_fail_at(1, 0);
	assert_int_equal(lode_rings_init(&rings, &ends, slots, 1, 2), LODE_SYSTEM);
	lode_memory_fail_at(0, 0);
	lode_rings_release(&rings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_once_in_the_order_of_writing),
		cmocka_unit_test(slots_come_back_while_a_long_ring_is_read),
		cmocka_unit_test(a_ring_that_is_half_full_is_reported),
		cmocka_unit_test(memory_that_runs_out_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
