/* Clocks of Perfetto's traces: see perfetto_clocks.h. */
#include "import/protobuf/perfetto_clocks.h"

#include "base/error.h"
#include "base/memory.h"

enum {
	SNAPSHOT_CLOCK = 1,
	CLOCK_ID = 1,
	CLOCK_TIME = 2,
	CLOCK_INCREMENTAL = 3,
	CLOCK_UNIT = 4,
};

#define FIRST_OF_SEQUENCE 64
#define LAST_OF_SEQUENCE  127

void lode_perfetto_clocks_release(struct lode_perfetto_clocks *clocks)
{
	lode_index_release(&clocks->index);
	lode_free(clocks->items);
}

static uint32_t owner(uint32_t sequence, uint64_t id)
{
	return id >= FIRST_OF_SEQUENCE && id <= LAST_OF_SEQUENCE ? sequence : 0;
}

static struct lode_perfetto_clock *find(const struct lode_perfetto_clocks *clocks, uint32_t sequence, uint64_t id)
{
	uint64_t hash = lode_hash_more(lode_hash_u64(sequence), id);
	uint32_t at = LODE_INDEX_FIND(i, &clocks->index, hash,
				      clocks->items[i].id == id && clocks->items[i].sequence == sequence);

	return at == LODE_NONE ? NULL : &clocks->items[at];
}

static struct lode_perfetto_clock read_clock(struct lode_cursor message)
{
	struct lode_perfetto_clock clock = { .unit = 1 };
	struct lode_protobuf_field field;

	while (lode_protobuf_next(&message, &field)) {
		if (field.number == CLOCK_ID)
			clock.id = field.value;
		else if (field.number == CLOCK_TIME)
			clock.shown = field.value;
		else if (field.number == CLOCK_INCREMENTAL)
			clock.is_incremental = field.value != 0;
		else if (field.number == CLOCK_UNIT && field.value)
			clock.unit = field.value;
	}
	clock.shown *= clock.unit;
	return clock;
}

static int set_clock(struct lode_perfetto_clocks *clocks, struct lode_perfetto_clock clock)
{
	struct lode_perfetto_clock *old = find(clocks, clock.sequence, clock.id);

	if (old) {
		*old = clock;
		return 0;
	}
	return LODE_INDEX_PUSH(&clocks->index, lode_hash_more(lode_hash_u64(clock.sequence), clock.id), clocks,
			       clock);
}

int lode_perfetto_clocks_snapshot(struct lode_perfetto_clocks *clocks, uint32_t sequence,
				  struct lode_cursor message)
{
	struct lode_cursor rest = message;
	struct lode_protobuf_field field;
	uint64_t boot = 0;
	int knows_boot = 0;

	while (lode_protobuf_next(&message, &field)) {
		struct lode_perfetto_clock clock;

		if (field.number != SNAPSHOT_CLOCK || field.wire != LODE_WIRE_BYTES)
			continue;
		clock = read_clock(field.bytes);
		if (clock.id == LODE_PERFETTO_BOOT_TIME) {
			boot = clock.shown;
			knows_boot = 1;
		}
	}
	while (lode_protobuf_next(&rest, &field)) {
		struct lode_perfetto_clock clock;

		if (field.number != SNAPSHOT_CLOCK || field.wire != LODE_WIRE_BYTES)
			continue;
		clock = read_clock(field.bytes);
		clock.sequence = owner(sequence, clock.id);
		clock.last = clock.shown;
		clock.boot = knows_boot ? boot : clock.shown;
		if (set_clock(clocks, clock) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

uint64_t lode_perfetto_clocks_time(struct lode_perfetto_clocks *clocks, uint32_t sequence, uint64_t id, uint64_t t)
{
	struct lode_perfetto_clock *clock;

	if (!id || id == LODE_PERFETTO_BOOT_TIME)
		return t;
	clock = find(clocks, owner(sequence, id), id);
	if (!clock) {
		clocks->unknown++;
		return t;
	}
	t *= clock->unit;
	if (clock->is_incremental)
		t = clock->last += t;
	return t - clock->shown + clock->boot;
}
