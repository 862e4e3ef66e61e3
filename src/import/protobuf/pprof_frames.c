/*
 * Frames and stacks of a pprof profile: see pprof_frames.h.
 *
 * A location is parsed into frames when it is first met; its entry in the table keeps where they are. A stack grows
 * location by location, and each step, from a node by a location, is looked up once.
 */
#include "import/protobuf/pprof_frames.h"

#include "import/module_name.h"

#include <stdio.h>
#include <string.h>

/* Which addresses a mapping covers and where they are in its file. */
struct lode_pprof_range {
	uint64_t start;
	uint64_t limit;
	uint64_t offset;
};

/* A stack with a location called from it: the node that this makes. */
struct lode_pprof_step {
	uint32_t parent;
	uint32_t location;
	uint32_t node;
};

/* ---- frames ---- */

static int describe_module(struct lode_pprof_frames *maker, uint32_t module, struct lode_span build_id)
{
	if (build_id.length &&
	    lode_frames_set_build_id(&maker->dictionary->frames, module, build_id.text, build_id.length) < 0)
		return lode_fail_memory(maker->tables->error);
	return 0;
}

static int keep_range(struct lode_pprof_frames *maker, struct lode_pprof_entry *mapping)
{
	struct lode_cursor message = lode_pprof_message_at(maker->tables, mapping->at);
	struct lode_pprof_range range;
	int code;

	if ((code = lode_pprof_read_number(maker->tables, message, 2, &range.start)) < 0 ||
	    (code = lode_pprof_read_number(maker->tables, message, 3, &range.limit)) < 0 ||
	    (code = lode_pprof_read_number(maker->tables, message, 4, &range.offset)) < 0)
		return code;
	mapping->count = (uint32_t)maker->ranges.count;
	if (LODE_PUSH(&maker->ranges, range) < 0)
		return lode_fail_memory(maker->tables->error);
	return 0;
}

/* The module of mapping `id`; 0 when there is none. */
static int get_module(struct lode_pprof_frames *maker, uint64_t id, uint32_t *module)
{
	struct lode_pprof_entry *entry = id ? lode_pprof_find(&maker->tables->mappings, id) : NULL;
	struct lode_span file, build_id;
	uint64_t file_number, build_number;
	int code;

	*module = entry ? entry->first : 0;
	if (!entry || entry->first != LODE_NONE)
		return 0;
	if ((code = keep_range(maker, entry)) < 0 ||
	    (code = lode_pprof_read_number(maker->tables, lode_pprof_message_at(maker->tables, entry->at), 5,
					   &file_number)) < 0 ||
	    (code = lode_pprof_read_number(maker->tables, lode_pprof_message_at(maker->tables, entry->at), 6,
					   &build_number)) < 0 ||
	    (code = lode_pprof_string_get(maker->tables, file_number, &file)) < 0 ||
	    (code = lode_pprof_string_get(maker->tables, build_number, &build_id)) < 0)
		return code;
	*module = lode_module_from_file(&maker->dictionary->frames, file.text, file.length);
	if (*module == LODE_NONE)
		return lode_fail_memory(maker->tables->error);
	entry->first = *module;
	return describe_module(maker, *module, build_id);
}

/* The string id of the name of function `id`. */
static int get_function(struct lode_pprof_frames *maker, uint64_t id, uint64_t at, uint32_t *string)
{
	struct lode_pprof_entry *entry = lode_pprof_find(&maker->tables->functions, id);
	struct lode_span name;
	uint64_t number;
	int code;

	if (!entry)
		return lode_pprof_fail_damaged(maker->tables, at, "a location names a function that is missing");
	*string = entry->first;
	if (entry->first != LODE_NONE)
		return 0;
	for (uint32_t field = 2; field <= 3; field++) { /* `name`, else `system_name` */
		if ((code = lode_pprof_read_number(maker->tables, lode_pprof_message_at(maker->tables, entry->at),
						   field, &number)) < 0 ||
		    (code = lode_pprof_string_get(maker->tables, number, &name)) < 0)
			return code;
		if (name.length)
			break;
	}
	*string = lode_strings_add(&maker->dictionary->frames.strings, name.text, name.length);
	if (*string == LODE_NONE)
		return lode_fail_memory(maker->tables->error);
	entry->first = *string;
	return 0;
}

static int add_frame(struct lode_pprof_frames *maker, uint32_t module, uint32_t function)
{
	uint32_t frame = lode_frames_pair(&maker->dictionary->frames, module, function);

	if (frame == LODE_NONE || maker->frames.count >= LODE_NONE - 1 || LODE_PUSH(&maker->frames, frame) < 0)
		return lode_fail_memory(maker->tables->error);
	return 0;
}

/* A function without a symbol is its offset in its file. The module of the mapping is known already. */
static int add_address(struct lode_pprof_frames *maker, uint64_t mapping, uint32_t module, uint64_t address)
{
	const struct lode_pprof_entry *entry = mapping ? lode_pprof_find(&maker->tables->mappings, mapping) : NULL;
	const struct lode_pprof_range *range = entry ? &maker->ranges.items[entry->count] : NULL;
	uint32_t function;
	char text[24];

	if (range && address >= range->start && address < range->limit) {
		address = address - range->start + range->offset;
		maker->addresses.offsets++;
	} else {
		maker->addresses.others += module != 0;
	}
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
	function = lode_strings_add(&maker->dictionary->frames.strings, text, strlen(text));
	return function == LODE_NONE ? lode_fail_memory(maker->tables->error) : add_frame(maker, module, function);
}

static int add_lines(struct lode_pprof_frames *maker, struct lode_cursor message, uint32_t module)
{
	struct lode_protobuf_field field;
	size_t most = maker->frames.count + LODE_STACK_DEPTH_LIMIT;
	int code = 0;

	while (code == 0 && lode_protobuf_next(&message, &field)) {
		uint64_t function;
		uint32_t string;

		if (field.number != 4 || field.wire != LODE_WIRE_BYTES)
			continue;
		if (maker->frames.count == most) {
			maker->cut++;
			break;
		}
		code = lode_pprof_read_number(maker->tables, field.bytes, 1, &function);
		/* Some writers leave a function out that they do not know. */
		if (code < 0 || !function)
			continue;
		code = get_function(maker, function, lode_pprof_place(maker->tables, &field.bytes), &string);
		if (code == 0)
			code = add_frame(maker, module, string);
	}
	return code;
}

static void reverse(uint32_t *items, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		uint32_t item = items[i];

		items[i] = items[count - 1 - i];
		items[count - 1 - i] = item;
	}
}

/* Parses a location. Its lines are inlined functions, innermost first, and the function itself. */
static int open_location(struct lode_pprof_frames *maker, struct lode_pprof_entry *entry)
{
	struct lode_cursor message = lode_pprof_message_at(maker->tables, entry->at);
	size_t first = maker->frames.count;
	uint64_t mapping, address;
	uint32_t module;
	int code;

	if ((code = lode_pprof_read_number(maker->tables, message, 2, &mapping)) < 0 ||
	    (code = lode_pprof_read_number(maker->tables, message, 3, &address)) < 0 ||
	    (code = get_module(maker, mapping, &module)) < 0 || (code = add_lines(maker, message, module)) < 0)
		return code;
	if (maker->frames.count == first && (code = add_address(maker, mapping, module, address)) < 0)
		return code;
	reverse(maker->frames.items + first, maker->frames.count - first);
	entry->first = (uint32_t)first;
	entry->count = (uint32_t)(maker->frames.count - first);
	return 0;
}

/* ---- stacks ---- */

/* The node of `parent` with the functions of a location called from it; LODE_NONE when memory has run out. */
static uint32_t step_into(struct lode_pprof_frames *maker, uint32_t parent, uint32_t location)
{
	const struct lode_pprof_entry *entry = &maker->tables->locations.items[location];
	uint64_t hash = lode_hash_pair(parent, location);
	struct lode_pprof_step step = { parent, location, parent };
	uint32_t id = LODE_INDEX_FIND(i, &maker->step_index, hash,
				      maker->steps.items[i].parent == parent &&
					      maker->steps.items[i].location == location);

	if (id != LODE_NONE)
		return maker->steps.items[id].node;
	for (uint32_t i = 0; i < entry->count; i++)
		step.node = lode_stack_tree_child(&maker->dictionary->tree, step.node,
						  maker->frames.items[entry->first + i]);
	if (step.node == LODE_NONE || LODE_INDEX_PUSH(&maker->step_index, hash, &maker->steps, step) < 0)
		return LODE_NONE;
	return step.node;
}

/*
 * Opens the locations of the stack from the leaf on, as far as the limit of
 * depth allows; the rest, at the root, is left out.
 */
static int open_stack(struct lode_pprof_frames *maker, uint64_t *stack, size_t *count, uint64_t at)
{
	uint64_t depth = 0;

	for (size_t i = 0; i < *count; i++) {
		struct lode_pprof_entry *entry = lode_pprof_find(&maker->tables->locations, stack[i]);
		int code;

		if (!entry)
			return lode_pprof_fail_damaged(maker->tables, at,
						       "a sample names a location that is missing");
		code = entry->first == LODE_NONE ? open_location(maker, entry) : 0;
		if (code < 0)
			return code;
		depth += entry->count;
		if (depth > LODE_STACK_DEPTH_LIMIT) {
			*count = i;
			maker->cut++;
		}
		stack[i] = (uint64_t)(entry - maker->tables->locations.items);
	}
	return 0;
}

int lode_pprof_frames_stack(struct lode_pprof_frames *maker, uint64_t *stack, size_t count, uint64_t at,
			    uint32_t *node)
{
	int code = open_stack(maker, stack, &count, at);

	*node = 0;
	if (code < 0)
		return code;
	for (size_t i = count; i-- > 0 && *node != LODE_NONE;)
		*node = step_into(maker, *node, (uint32_t)stack[i]);
	return *node == LODE_NONE ? lode_fail_memory(maker->tables->error) : 0;
}

static void forget_entries(struct lode_pprof_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		table->items[i].first = LODE_NONE;
}

void lode_pprof_frames_forget(struct lode_pprof_frames *maker)
{
	lode_index_release(&maker->step_index);
	maker->step_index = (struct lode_index){ 0 };
	forget_entries(&maker->tables->mappings);
	forget_entries(&maker->tables->functions);
	forget_entries(&maker->tables->locations);
	maker->frames.count = maker->ranges.count = maker->steps.count = 0;
	maker->cut = 0;
	maker->addresses = (struct lode_import_addresses){ 0 };
}

void lode_pprof_frames_release(struct lode_pprof_frames *maker)
{
	lode_free(maker->frames.items);
	lode_free(maker->ranges.items);
	lode_free(maker->steps.items);
	lode_index_release(&maker->step_index);
}
