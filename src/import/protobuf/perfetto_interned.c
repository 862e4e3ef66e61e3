/* Interned data of Perfetto's traces: see perfetto_interned.h. */
#include "import/protobuf/perfetto_interned.h"

#include "base/memory.h"
#include "import/module_name.h"

#include <stdio.h>

/* Numbers of fields. */
enum {
	IID = 1,
	STRING_TEXT = 2,
	MAPPING_BUILD_ID = 2,
	MAPPING_PATH = 7,
	FRAME_FUNCTION = 2,
	FRAME_MAPPING = 3,
	FRAME_RELATIVE_PC = 4,
	CALLSTACK_FRAME = 2,
};

void lode_perfetto_interned_release(struct lode_perfetto_interned *interned)
{
	lode_index_release(&interned->index);
	lode_free(interned->items);
	lode_free(interned->chain);
}

static uint64_t hash_of(uint32_t sequence, uint8_t kind, uint64_t iid)
{
	return lode_hash_u64(iid ^ lode_hash_pair(sequence, kind));
}

static struct lode_perfetto_definition *find(const struct lode_perfetto_interned *interned, uint32_t sequence,
					     uint8_t kind, uint64_t iid)
{
	uint64_t hash = hash_of(sequence, kind, iid);
	uint32_t id = LODE_INDEX_FIND(i, &interned->index, hash,
				      interned->items[i].iid == iid && interned->items[i].kind == kind &&
					      interned->items[i].sequence == sequence);

	return id == LODE_NONE ? NULL : &interned->items[id];
}

static int define(struct lode_perfetto_interned *interned, struct lode_perfetto_scope scope, uint8_t kind,
		  struct lode_cursor message)
{
	struct lode_perfetto_definition item = { .sequence = scope.sequence,
						 .generation = scope.generation,
						 .kind = kind,
						 .made = LODE_NONE,
						 .message = message };
	struct lode_perfetto_definition *old;
	struct lode_protobuf_field field;

	while (lode_protobuf_next(&message, &field))
		if (field.number == IID && field.wire == LODE_WIRE_VARINT)
			item.iid = field.value;
	old = find(interned, scope.sequence, kind, item.iid);
	if (old) {
		*old = item;
		return 0;
	}
	if (LODE_INDEX_PUSH(&interned->index, hash_of(scope.sequence, kind, item.iid), interned, item) < 0)
		return lode_fail_memory(interned->import->error);
	return 0;
}

int lode_perfetto_intern(struct lode_perfetto_interned *interned, struct lode_perfetto_scope scope,
			 struct lode_cursor data)
{
	struct lode_protobuf_field field;
	int code = 0;

	while (code == 0 && lode_protobuf_next(&data, &field)) {
		switch (field.number) {
		case LODE_PERFETTO_CATEGORY:
		case LODE_PERFETTO_EVENT_NAME:
		case LODE_PERFETTO_FUNCTION:
		case LODE_PERFETTO_FRAME:
		case LODE_PERFETTO_CALLSTACK:
		case LODE_PERFETTO_BUILD_ID:
		case LODE_PERFETTO_PATH:
		case LODE_PERFETTO_MAPPING:
			if (field.wire == LODE_WIRE_BYTES)
				code = define(interned, scope, (uint8_t)field.number, field.bytes);
		}
	}
	return code;
}

/* What is defined now under a number, or NULL. */
static struct lode_perfetto_definition *look_up(struct lode_perfetto_interned *interned,
						struct lode_perfetto_scope scope, enum lode_perfetto_kind kind,
						uint64_t iid)
{
	struct lode_perfetto_definition *item = find(interned, scope.sequence, (uint8_t)kind, iid);

	if (item && item->generation == scope.generation)
		return item;
	interned->missing++;
	return NULL;
}

struct lode_cursor lode_perfetto_text(struct lode_perfetto_interned *interned, struct lode_perfetto_scope scope,
				      enum lode_perfetto_kind kind, uint64_t iid)
{
	const struct lode_perfetto_definition *item = look_up(interned, scope, kind, iid);
	struct lode_cursor message = item ? item->message : lode_cursor("", 0), text = lode_cursor("", 0);
	struct lode_protobuf_field field;

	while (lode_protobuf_next(&message, &field))
		if (field.number == STRING_TEXT && field.wire == LODE_WIRE_BYTES)
			text = field.bytes;
	return text;
}

/* ---- modules ---- */

/* `[kernel.kallsyms]` and its like are no files. */
static int is_rooted(struct lode_cursor part)
{
	return !lode_cursor_left(&part) || *part.next == '/' || *part.next == '[';
}

/* Components of a path, each below the one before it, from the root on; into the import's room for files. */
static int read_path(struct lode_perfetto_interned *interned, struct lode_perfetto_scope scope,
		     struct lode_cursor message, size_t *components)
{
	struct lode_buffer *path = &interned->import->file;
	struct lode_protobuf_field field;
	uint64_t iid;

	*components = 0;
	lode_buffer_clear(path);
	while (lode_protobuf_next(&message, &field)) {
		int more = 1;

		while (field.number == MAPPING_PATH && lode_protobuf_number(&field, &more, &iid)) {
			struct lode_cursor part = lode_perfetto_text(interned, scope, LODE_PERFETTO_PATH, iid);

			if (++*components > 1 || !(interned->is_lode || is_rooted(part)))
				lode_buffer_byte(path, '/');
			lode_buffer_add(path, part.next, lode_cursor_left(&part));
		}
	}
	return path->failed ? lode_fail_memory(interned->import->error) : 0;
}

/* Our exporter writes the module's path or, without one, its name, as one component. */
static uint32_t own_module(struct lode_perfetto_interned *interned, const char *text, size_t length)
{
	struct lode_frames *frames = &interned->import->dictionary.frames;

	for (uint32_t i = 1; i < frames->module_count; i++) {
		const struct lode_string *path = &frames->strings.items[frames->modules[i].path];

		if (frames->modules[i].path && path->length == length && memcmp(path->text, text, length) == 0)
			return i;
	}
	return lode_frames_module(frames, text, length);
}

/* Build-ids are bytes; the dictionary has them in hexadecimal. */
static int keep_build_id(struct lode_perfetto_interned *interned, struct lode_perfetto_scope scope, uint64_t iid,
			 uint32_t module)
{
	struct lode_frames *frames = &interned->import->dictionary.frames;
	struct lode_cursor id;
	char text[81] = "";

	if (!module || frames->modules[module].build_id || !iid)
		return 0;
	id = lode_perfetto_text(interned, scope, LODE_PERFETTO_BUILD_ID, iid);
	if (lode_cursor_left(&id) < 8 || lode_cursor_left(&id) > 40)
		return 0;
	for (size_t i = 0; lode_cursor_left(&id); i++)
		snprintf(text + 2 * i, 3, "%02x", lode_cursor_u8(&id));
	if (lode_frames_set_build_id(frames, module, text, strlen(text)) < 0)
		return lode_fail_memory(interned->import->error);
	return 0;
}

static int find_module(struct lode_perfetto_interned *interned, struct lode_perfetto_scope scope, uint64_t iid,
		       uint32_t *module)
{
	struct lode_perfetto_definition *item = iid ? look_up(interned, scope, LODE_PERFETTO_MAPPING, iid) : NULL;
	struct lode_protobuf_field field;
	struct lode_cursor message;
	uint64_t build_id = 0;
	size_t components;

	*module = item ? item->made : 0;
	if (!item || item->made != LODE_NONE)
		return 0;
	if (read_path(interned, scope, item->message, &components) < 0)
		return LODE_SYSTEM;
	*module = interned->is_lode
			  ? own_module(interned, interned->import->file.bytes, interned->import->file.size)
			  : lode_module_from_file(&interned->import->dictionary.frames,
						  components ? interned->import->file.bytes : "",
						  interned->import->file.size);
	if (*module == LODE_NONE)
		return lode_fail_memory(interned->import->error);
	item->made = *module;
	for (message = item->message; lode_protobuf_next(&message, &field);)
		if (field.number == MAPPING_BUILD_ID && field.wire == LODE_WIRE_VARINT)
			build_id = field.value;
	return keep_build_id(interned, scope, build_id, *module);
}

/* ---- frames and stacks ---- */

static int make_frame(struct lode_perfetto_interned *interned, struct lode_perfetto_scope scope,
		      struct lode_perfetto_definition *item)
{
	struct lode_cursor message = item->message, name;
	uint64_t numbers[FRAME_RELATIVE_PC + 1] = { 0 };
	struct lode_protobuf_field field;
	uint32_t module, frame;
	char address[24];

	while (lode_protobuf_next(&message, &field))
		if (field.number <= FRAME_RELATIVE_PC && field.wire == LODE_WIRE_VARINT)
			numbers[field.number] = field.value;
	if (find_module(interned, scope, numbers[FRAME_MAPPING], &module) < 0)
		return LODE_SYSTEM;
	name = numbers[FRAME_FUNCTION]
		       ? lode_perfetto_text(interned, scope, LODE_PERFETTO_FUNCTION, numbers[FRAME_FUNCTION])
		       : lode_cursor("", 0);
	if (!lode_cursor_left(&name) && !interned->is_lode) {
		snprintf(address, sizeof(address), "0x%llx", (unsigned long long)numbers[FRAME_RELATIVE_PC]);
		name = lode_cursor(address, strlen(address));
	}
	frame = lode_frames_add(&interned->import->dictionary.frames, module, (const char *)name.next,
				lode_cursor_left(&name));
	if (frame == LODE_NONE)
		return lode_fail_memory(interned->import->error);
	item->made = frame;
	return 0;
}

static int make_stack(struct lode_perfetto_interned *interned, struct lode_perfetto_scope scope,
		      struct lode_cursor message, uint32_t *stack)
{
	struct lode_protobuf_field field;
	uint64_t iid;
	size_t depth = 0;

	*stack = 0;
	while (lode_protobuf_next(&message, &field)) {
		int more = 1;

		while (field.number == CALLSTACK_FRAME && lode_protobuf_number(&field, &more, &iid)) {
			struct lode_perfetto_definition *frame = look_up(interned, scope, LODE_PERFETTO_FRAME, iid);

			if (!frame)
				continue;
			if (++depth > LODE_STACK_DEPTH_LIMIT) {
				interned->cut++;
				return 0;
			}
			if (frame->made == LODE_NONE && make_frame(interned, scope, frame) < 0)
				return LODE_SYSTEM;
			*stack = lode_stack_tree_child(&interned->import->dictionary.tree, *stack, frame->made);
			if (*stack == LODE_NONE)
				return lode_fail_memory(interned->import->error);
		}
	}
	return 0;
}

int lode_perfetto_stack(struct lode_perfetto_interned *interned, struct lode_perfetto_scope scope, uint64_t iid,
			uint32_t *stack)
{
	struct lode_perfetto_definition *item = iid ? look_up(interned, scope, LODE_PERFETTO_CALLSTACK, iid) : NULL;
	int code = 0;

	*stack = item ? item->made : 0;
	if (item && item->made == LODE_NONE) {
		code = make_stack(interned, scope, item->message, stack);
		item->made = code == 0 ? *stack : LODE_NONE;
	}
	return code;
}
