/* GPUs in wprof's traces (`cuda_api`, `cuda_kernel`, `cuda_memcpy`, `cuda_memset`, `cuda_sync`): facts for gpu/gpu_facts.h. */
#ifndef LODE_IMPORT_WPROF_GPU_H
#define LODE_IMPORT_WPROF_GPU_H

#include "gpu/gpu_facts.h"
#include "import/json_profile.h"

/* An event `cuda_...` of a thread; `object` is all of it. */
struct lode_wprof_gpu_event {
	struct lode_json_value object;
	struct lode_json_value type;
	uint64_t t;
	uint32_t thread;
	uint32_t stack; /* 0: unknown */
};

/* Whether it is one of these; then it is among the facts, or the stream has failed where memory ran out. */
int lode_wprof_gpu_read(struct lode_gpu_facts *facts, struct lode_json_import *import,
			const struct lode_wprof_gpu_event *event);

#endif
