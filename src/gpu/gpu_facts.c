/* Facts about GPUs: see gpu_facts.h. */
#include "gpu/gpu_facts.h"

#include <string.h>

/* Names of kernels with all their template arguments can be long; what is cut is not needed to tell them apart. */
#define MAX_NAME 4000

void lode_gpu_facts_release(struct lode_gpu_facts *facts)
{
	lode_free(facts->activities.items);
	lode_free(facts->calls.items);
	lode_free(facts->details.items);
	lode_free(facts->waits.items);
	*facts = (struct lode_gpu_facts){ 0 };
}

uint32_t lode_gpu_frame(struct lode_frames *frames, const char *name, size_t length)
{
	char text[sizeof(LODE_GPU_FRAME) + MAX_NAME];
	size_t begin = strlen(LODE_GPU_FRAME);

	if (length > MAX_NAME)
		for (length = MAX_NAME; length && ((unsigned char)name[length] & 0xc0) == 0x80;)
			length--; /* not inside of a character */
	memcpy(text, LODE_GPU_FRAME, begin);
	memcpy(text + begin, name, length);
	return lode_frames_add(frames, 0, text, begin + length);
}
