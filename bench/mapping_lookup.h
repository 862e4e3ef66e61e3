/* What bench/mapping_lookup.c and its programs in the kernel share. */
#ifndef LODE_BENCH_MAPPING_LOOKUP_H
#define LODE_BENCH_MAPPING_LOOKUP_H

#define LOOKUPS         8
#define LOOKUP_MAPPINGS 4096

enum lookup_place {
	LOOKUP_SWITCH,
	LOOKUP_SAMPLE,
	LOOKUP_PLACES,
};

enum lookup_way {
	LOOKUP_ASKED,
	LOOKUP_SEARCHED,
	LOOKUP_NOTHING, /* what reading the clock takes */
	LOOKUP_WAYS,
};

struct lookup_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
};

/* Sums, by how many were looked up before at the same moment. */
struct lookup_figures {
	uint64_t found[LOOKUPS];
	uint64_t busy[LOOKUPS];
	uint64_t failed[LOOKUPS];
	uint64_t ns[LOOKUPS];
};

#endif
