/* A result that is still being made: see growing_result.h. */
#include "serve/growing_result.h"

#include "base/memory.h"

#include <inttypes.h>
#include <pthread.h>

struct lode_growing_result {
	const char *name;
	pthread_mutex_t lock; /* of what is below */
	struct lode_buffer json;
	uint64_t version;
};

int lode_growing_make(struct lode_growing_result **growing, const char *name, struct lode_error *error)
{
	struct lode_growing_result *made = lode_calloc(1, sizeof(*made));

	*growing = made;
	if (!made)
		return lode_fail_memory(error);
	made->name = name;
	pthread_mutex_init(&made->lock, NULL);
	return 0;
}

void lode_growing_free(struct lode_growing_result *growing)
{
	if (!growing)
		return;
	pthread_mutex_destroy(&growing->lock);
	lode_buffer_release(&growing->json);
	lode_free(growing);
}

const char *lode_growing_name(const struct lode_growing_result *growing)
{
	return growing->name;
}

int lode_growing_set(struct lode_growing_result *growing, const struct lode_buffer *json, int running,
		     struct lode_error *error)
{
	int failed;

	pthread_mutex_lock(&growing->lock);
	lode_buffer_clear(&growing->json);
	lode_buffer_print(&growing->json, "{\"live\":{\"version\":%" PRIu64 ",\"running\":%s},",
			  ++growing->version, running ? "true" : "false");
	if (json->size)
		lode_buffer_add(&growing->json, json->bytes + 1, json->size - 1);
	failed = growing->json.failed || json->failed;
	pthread_mutex_unlock(&growing->lock);
	return failed ? lode_fail_memory(error) : 0;
}

uint64_t lode_growing_get(struct lode_growing_result *growing, uint64_t seen, struct lode_buffer *json)
{
	uint64_t version;

	pthread_mutex_lock(&growing->lock);
	version = growing->version;
	if (version && version != seen) {
		lode_buffer_add(json, growing->json.bytes, growing->json.size);
		json->failed |= growing->json.failed;
	}
	pthread_mutex_unlock(&growing->lock);
	return version;
}
