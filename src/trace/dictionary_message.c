/*
 * A dictionary in a message: see dictionary_message.h.
 *
 *	strings: number, bytes of all with their NULs; a length each, 4 bytes; the bytes
 *	modules, frames, nodes: number, array
 *
 * Numbers have 8 bytes, and arrays are filled up to a multiple of 8.
 */
#include "trace/dictionary_message.h"

#include "base/message.h"
#include "trace/script_modules.h"

#include <string.h>

static void write_strings(struct lode_buffer *message, const struct lode_strings *strings)
{
	size_t bytes = 0;

	for (size_t i = 0; i < strings->count; i++)
		bytes += (size_t)strings->items[i].length + 1;
	lode_buffer_u64(message, strings->count);
	lode_buffer_u64(message, bytes);
	for (size_t i = 0; i < strings->count; i++)
		lode_buffer_u32(message, strings->items[i].length);
	lode_message_fill_up(message, strings->count * sizeof(uint32_t));
	for (size_t i = 0; i < strings->count; i++)
		lode_buffer_add(message, strings->items[i].text, (size_t)strings->items[i].length + 1);
	lode_message_fill_up(message, bytes);
}

void lode_dictionary_message_write(const struct lode_dictionary *dictionary, struct lode_buffer *message)
{
	const struct lode_frames *frames = &dictionary->frames;

	write_strings(message, &frames->strings);
	lode_message_add_array(message, frames->modules, frames->module_count, sizeof(*frames->modules));
	lode_message_add_array(message, frames->items, frames->count, sizeof(*frames->items));
	lode_message_add_array(message, dictionary->tree.nodes, dictionary->tree.count,
			       sizeof(*dictionary->tree.nodes));
}

static int read_strings(struct lode_cursor *cursor, struct lode_strings *strings)
{
	uint64_t count = lode_cursor_u64(cursor), bytes = lode_cursor_u64(cursor);
	const uint32_t *lengths = lode_message_items(cursor, count, sizeof(*lengths));
	const char *texts = lode_message_items(cursor, bytes, 1);

	lode_message_expect(cursor, count > 0 && count < LODE_NONE);
	if (cursor->failed)
		return 0;
	strings->items = lode_calloc(count, sizeof(*strings->items));
	if (!strings->items)
		return LODE_SYSTEM;
	for (size_t i = 0; i < count && !cursor->failed; i++) {
		lode_message_expect(cursor,
				    lengths[i] < bytes && !texts[lengths[i]] && strlen(texts) == lengths[i]);
		if (cursor->failed)
			break;
		strings->items[strings->count++] = (struct lode_string){ texts, lengths[i] };
		texts += lengths[i] + 1;
		bytes -= (uint64_t)lengths[i] + 1;
	}
	lode_message_expect(cursor, !bytes && !strings->items[0].length);
	return 0;
}

static void read_frames(struct lode_cursor *cursor, struct lode_frames *frames)
{
	size_t strings = frames->strings.count;

	frames->modules = lode_message_array(cursor, &frames->module_count, sizeof(*frames->modules));
	frames->items = lode_message_array(cursor, &frames->count, sizeof(*frames->items));
	lode_message_expect(cursor, frames->module_count > 0 && frames->count < LODE_NONE);
	for (size_t i = 0; i < frames->module_count && !cursor->failed; i++)
		lode_message_expect(cursor, frames->modules[i].name < strings && frames->modules[i].path < strings &&
						    frames->modules[i].build_id < strings &&
						    frames->modules[i].kind < LODE_KINDS &&
						    frames->modules[i].language < LODE_CODE_LANGUAGES);
	for (size_t i = 0; i < frames->count && !cursor->failed; i++)
		lode_message_expect(cursor, frames->items[i].module < frames->module_count &&
						    frames->items[i].function < strings);
}

int lode_dictionary_message_read(struct lode_cursor *cursor, struct lode_dictionary *dictionary)
{
	struct lode_stack_tree *tree = &dictionary->tree;
	int code = read_strings(cursor, &dictionary->frames.strings);

	read_frames(cursor, &dictionary->frames);
	tree->nodes = lode_message_array(cursor, &tree->count, sizeof(*tree->nodes));
	lode_message_expect(cursor, tree->count > 0 && tree->count < LODE_NONE && !tree->nodes[0].parent);
	for (size_t i = 1; i < tree->count && !cursor->failed; i++)
		lode_message_expect(cursor,
				    tree->nodes[i].parent < i && tree->nodes[i].frame < dictionary->frames.count);
	return code;
}
