/*
 * Clocks of Perfetto's traces. Packets have times of a clock that they, or the defaults of their
 * sequence, name; snapshots say what several clocks showed at one moment. Everything becomes the time
 * since boot. Clocks 64 to 127 belong to a sequence; incremental ones count from the
 * time before.
 */
#ifndef LODE_IMPORT_PERFETTO_CLOCKS_H
#define LODE_IMPORT_PERFETTO_CLOCKS_H

#include "base/array.h"
#include "base/hash_index.h"
#include "import/protobuf/protobuf.h"

/* Clock that counts the time since boot: the usual one. */
#define LODE_PERFETTO_BOOT_TIME 6

struct lode_perfetto_clock {
	uint64_t id;
	uint32_t sequence; /* 0: a clock of all */
	uint64_t shown;    /* at the snapshot, in nanoseconds */
	uint64_t boot;     /* the time since boot then */
	uint64_t last;     /* of an incremental one */
	uint64_t unit;
	int is_incremental;
};

struct lode_perfetto_clocks {
	LODE_ARRAY(struct lode_perfetto_clock);
	struct lode_index index;
	uint64_t unknown; /* times of clocks that no snapshot has */
};

/* A zeroed struct knows no clocks. */
void lode_perfetto_clocks_release(struct lode_perfetto_clocks *clocks);
/* Takes over a ClockSnapshot of a sequence. Returns 0 or LODE_SYSTEM. */
int lode_perfetto_clocks_snapshot(struct lode_perfetto_clocks *clocks, uint32_t sequence,
				  struct lode_cursor message);
/* The time since boot that `t` of a clock means. */
uint64_t lode_perfetto_clocks_time(struct lode_perfetto_clocks *clocks, uint32_t sequence, uint64_t id, uint64_t t);

#endif
