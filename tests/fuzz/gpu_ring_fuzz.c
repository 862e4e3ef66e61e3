/* What a recorded process writes into the ring of GPUs: whatever it is, the stream that is made of it is whole. */
#include "fuzz.h"

#include "record/gpu/gpu_recorded_facts.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct lode_gpu_recorded recorded = { 0 };
	struct lode_dictionary dictionary;
	struct lode_stream stream;

	fuzz_require(lode_dictionary_init(&dictionary) == 0, "there is memory");
	lode_stream_init(&stream, &dictionary);
	for (; size >= sizeof(struct lode_gpu_slot); size -= sizeof(struct lode_gpu_slot)) {
		struct lode_gpu_slot slot;

		memcpy((void *)&slot, bytes, sizeof(slot));
		bytes += sizeof(slot);
		fuzz_require(lode_gpu_recorded_take(&recorded, &slot) == 0, "a slot is taken or left out");
	}
	fuzz_require(lode_gpu_recorded_add(&recorded, &stream, NULL) == 0 && lode_stream_sort(&stream) == 0,
		     "there is memory");
	fuzz_check_stream(&stream);
	lode_gpu_recorded_release(&recorded);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	return 0;
}
