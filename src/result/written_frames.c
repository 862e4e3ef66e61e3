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

static int write_frame(const struct lode_written *self, struct lode_json *json)
{
	lode_frames_json(self->from, (uint32_t)self->first, json);
	return 0;
}

struct lode_written lode_written_frame(const struct lode_frames *frames, uint32_t frame)
{
	return (struct lode_written){ .write = write_frame, .from = frames, .first = frame };
}

static int write_stack_text(const struct lode_written *self, struct lode_json *json)
{
	const struct lode_stack_text *stacks = self->from;
	char *room;

	lode_json_array(json);
	room = lode_buffer_room(json->buffer, stacks->lengths[self->first]);
	if (!room)
		return LODE_SYSTEM;
	room = lode_stack_text_put(stacks, self->with, (uint32_t)self->first, room);
	json->buffer->size = (size_t)(room - json->buffer->bytes);
	lode_json_array_end(json);
	return 0;
}

struct lode_written lode_written_stack_text(const struct lode_stack_text *stacks,
					    const struct lode_stack_tree *tree, uint32_t node)
{
	return (struct lode_written){ .write = write_stack_text, .from = stacks, .with = tree, .first = node };
}
