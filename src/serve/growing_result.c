/* A result that is still being made: see growing_result.h. */
#include "serve/growing_result.h"

#include "base/memory.h"

#include <inttypes.h>
#include <pthread.h>

struct lode_growing_result {
	const char *name;
	pthread_mutex_t lock; /* of what is below */
	struct lode_shared_result *latest;
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
	lode_shared_result_release(growing->latest);
	lode_free(growing);
}

const char *lode_growing_name(const struct lode_growing_result *growing)
{
	return growing->name;
}

int lode_growing_set(struct lode_growing_result *growing, const struct lode_buffer *json, int running,
		     struct lode_error *error)
{
	struct lode_shared_result *before = NULL, *made;
	struct lode_buffer text = { 0 };

	lode_buffer_print(&text, "{\"live\":{\"version\":%" PRIu64 ",\"running\":%s},", growing->version + 1,
			  running ? "true" : "false");
	if (json->size)
		lode_buffer_add(&text, json->bytes + 1, json->size - 1);
	text.failed |= json->failed;
	made = lode_shared_result_make(&text);
	if (!made)
		return lode_fail_memory(error);
	pthread_mutex_lock(&growing->lock);
	before = growing->latest;
	growing->latest = made;
	growing->version++;
	pthread_mutex_unlock(&growing->lock);
	lode_shared_result_release(before);
	return 0;
}

uint64_t lode_growing_get(struct lode_growing_result *growing, uint64_t seen, struct lode_shared_result **latest)
{
	uint64_t version;

	pthread_mutex_lock(&growing->lock);
	version = growing->version;
	*latest = version && version != seen ? lode_shared_result_hold(growing->latest) : NULL;
	pthread_mutex_unlock(&growing->lock);
	return version;
}
