/* Results that are shared: see shared_result.h. */
#include "serve/shared_result.h"

#include "base/memory.h"

#include <stdatomic.h>

struct lode_shared_result {
	struct lode_buffer bytes;
	atomic_size_t holds;
};

struct lode_shared_result *lode_shared_result_make(struct lode_buffer *bytes)
{
	struct lode_shared_result *result = bytes->failed ? NULL : lode_calloc(1, sizeof(*result));
	/* A buffer that grew may have twice the room that it needs, and this one stays. */
	char *fitting = result && bytes->size ? lode_realloc(bytes->bytes, bytes->size, 1) : NULL;

	if (fitting)
		bytes->bytes = fitting;
	if (result) {
		result->bytes = (struct lode_buffer){ .bytes = bytes->bytes, .size = bytes->size };
		atomic_init(&result->holds, 1);
		*bytes = (struct lode_buffer){ 0 };
	}
	lode_buffer_release(bytes);
	return result;
}

struct lode_shared_result *lode_shared_result_hold(struct lode_shared_result *result)
{
	atomic_fetch_add(&result->holds, 1);
	return result;
}

void lode_shared_result_release(struct lode_shared_result *result)
{
	if (!result || atomic_fetch_sub(&result->holds, 1) > 1)
		return;
	lode_buffer_release(&result->bytes);
	lode_free(result);
}

const char *lode_shared_result_bytes(const struct lode_shared_result *result)
{
	return result->bytes.size ? result->bytes.bytes : "";
}

size_t lode_shared_result_size(const struct lode_shared_result *result)
{
	return result->bytes.size;
}
