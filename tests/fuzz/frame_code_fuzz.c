/*
 * Code of aarch64 from which unwind rules are read: the first eight bytes are the
 * address, the others the code. Rules ascend, are in the code, say nothing that no
 * function does, and are the same when they are requested again.
 */
#include "fuzz.h"

#include "symbols/frame_code_aarch64.h"

#include <stdlib.h>
#include <string.h>

#define FRAME_LIMIT (1 << 20)

struct walk {
	uint64_t start;
	size_t size;
	size_t count;
	size_t stop; /* after so many rules; 0: never */
	uint64_t last;
	uint64_t sum; /* of all that was reported */
};

static int take(void *context, uint64_t start, const struct lode_unwind_rule *rule)
{
	struct walk *walk = context;
	uint64_t offset = start - walk->start;

	fuzz_require(offset % 4 == 0 && offset + 4 <= walk->size, "a rule begins at an instruction of the code");
	fuzz_require(walk->count ? offset > walk->last : offset == 0,
		     "rules ascend from the first instruction on");
	if (rule->cfa == LODE_CFA_NONE) {
		fuzz_require(!rule->cfa_offset && !rule->return_at && !rule->frame_at, "no rule says nothing");
	} else {
		fuzz_require(rule->cfa == LODE_CFA_SP && rule->cfa_offset >= 0 && rule->cfa_offset <= FRAME_LIMIT,
			     "a frame has a size");
		fuzz_require(rule->return_at == rule->frame_at &&
				     (rule->return_at == LODE_PLACE_KEPT || rule->return_at == LODE_PLACE_CFA),
			     "a record is saved whole or not at all");
		fuzz_require(rule->return_at == LODE_PLACE_KEPT ||
				     (rule->frame_offset >= -FRAME_LIMIT && rule->frame_offset < 0 &&
				      rule->return_offset == rule->frame_offset + 8),
			     "a record is below the CFA");
	}
	walk->last = offset;
	walk->sum = walk->sum * 31 + offset + (uint32_t)rule->cfa_offset + 7 * (uint32_t)rule->frame_offset;
	return ++walk->count == walk->stop;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct walk first = { 0 }, second = { 0 }, third = { 0 };
	uint8_t *code;

	if (size < 8)
		return 0;
	/* An exact copy: a read behind its end is seen. */
	code = malloc(size - 8 ? size - 8 : 1);
	fuzz_require(code != NULL, "memory");
	memcpy(&first.start, bytes, 8);
	memcpy(code, bytes + 8, size - 8);
	first.size = size - 8;
	second = third = first;
	fuzz_require(lode_frame_code_aarch64(code, first.size, first.start, take, &first) == 0, "all is taken");
	fuzz_require(lode_frame_code_aarch64(code, first.size, first.start, take, &second) == 0, "all is taken");
	fuzz_require(first.count == second.count && first.sum == second.sum, "the same code has the same rules");
	third.stop = (first.count + 1) / 2;
	fuzz_require(lode_frame_code_aarch64(code, first.size, first.start, take, &third) == (third.stop != 0),
		     "it stops when it is reported");
	fuzz_require(third.count == third.stop, "and at once");
	free(code);
	return 0;
}
