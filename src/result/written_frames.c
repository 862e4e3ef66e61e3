/* Frames as fields of results: see written_frames.h. */
#include "result/written_frames.h"

static int write_frames(const struct lode_written *self, struct lode_json *json)
{
	lode_frames_list_json(self->from, self->with, (uint32_t)self->count, json);
	return 0;
}

struct lode_written lode_written_frames(const struct lode_frames *frames, const uint32_t *list, uint32_t count)
{
	return (struct lode_written){ .write = write_frames, .from = frames, .with = list, .count = count };
}

static int write_stack(const struct lode_written *self, struct lode_json *json)
{
	lode_stack_json(self->from, (uint32_t)self->first, json);
	return 0;
}

struct lode_written lode_written_stack(const struct lode_dictionary *dictionary, uint32_t node)
{
	return (struct lode_written){ .write = write_stack, .from = dictionary, .first = node };
}
