/* Agent protocol: see agent_protocol.h. yajl keeps the system's memory, for it does not survive a failing
 * allocation.
 */
#include "hunt/meter/remote/agent_protocol.h"

#include "base/file.h"
#include "base/json_read.h"
#include "base/memory.h"

#include <string.h>

/* A line that is longer is no line of ours. */
#define LONGEST_LINE (256u << 20)
#define PIECE        (64u << 10)

void lode_wire_init(struct lode_wire *wire, int in, int out, const char *name)
{
	memset(wire, 0, sizeof(*wire));
	wire->in = in;
	wire->out = out;
	wire->name = name;
	wire->json = (struct lode_json){ .buffer = &wire->output };
}

void lode_wire_release(struct lode_wire *wire)
{
	lode_buffer_release(&wire->input);
	lode_buffer_release(&wire->output);
}

/* ---- sending ---- */

void lode_wire_begin(struct lode_wire *wire)
{
	lode_buffer_clear(&wire->output);
	wire->json = (struct lode_json){ .buffer = &wire->output };
	lode_json_object(&wire->json);
}

int lode_wire_send(struct lode_wire *wire, struct lode_error *error)
{
	lode_json_object_end(&wire->json);
	lode_json_line(&wire->json);
	if (wire->output.failed)
		return lode_fail_memory(error);
	return lode_file_write(wire->out, wire->output.bytes, wire->output.size, wire->name, error);
}

void lode_wire_put_focus(struct lode_wire *wire, const struct lode_program *program, const struct lode_focus *focus)
{
	struct lode_json *json = &wire->json;

	lode_json_key_object(json, "focus");
	if (focus->function != LODE_NONE)
		lode_json_key_text(json, "code", lode_program_function(program, focus->function)->name);
	if (focus->host != LODE_NONE)
		lode_json_key_u64(json, "host", focus->host);
	if (focus->process != LODE_NONE)
		lode_json_key_u64(json, "process", focus->process);
	if (focus->thread != LODE_NONE)
		lode_json_key_u64(json, "thread", focus->thread);
	if (focus->object)
		lode_json_key_u64(json, "object", focus->object);
	lode_json_object_end(json);
}

/* ---- receiving ---- */

/* Reads until there is a line in the input. Returns its length, 0 at the end, or a negative code. */
static ssize_t fill_line(struct lode_wire *wire, struct lode_error *error)
{
	size_t looked = 0;

	for (;;) {
		const char *start = wire->input.bytes + wire->taken;
		size_t left = wire->input.size - wire->taken;
		const char *end = left > looked ? memchr(start + looked, '\n', left - looked) : NULL;
		char *room;
		ssize_t size;

		if (end)
			return end - start + 1;
		looked = left;
		if (left > LONGEST_LINE)
			return lode_fail(error, LODE_BAD_INPUT,
					 "%s: a line is too long; is it a lode of another version?", wire->name);
		if (wire->taken && wire->taken == wire->input.size) {
			lode_buffer_clear(&wire->input);
			wire->taken = looked = 0;
		}
		room = lode_buffer_room(&wire->input, PIECE);
		if (!room)
			return lode_fail_memory(error);
		size = lode_file_read(wire->in, room, PIECE, wire->name, error);
		if (size <= 0)
			return size;
		wire->input.size += (size_t)size;
	}
}

int lode_wire_receive(struct lode_wire *wire, yajl_val *value, struct lode_error *error)
{
	struct lode_json_value root;
	struct lode_error reason;
	ssize_t length = fill_line(wire, error);
	char *line;

	if (length <= 0)
		return (int)length;
	line = wire->input.bytes + wire->taken;
	line[length - 1] = '\0';
	/* yajl frees trees by recursion: what is nested too deep must not become one. */
	*value = lode_json_check(wire->name, line, (size_t)length - 1, &root, &reason) < 0
			 ? NULL
			 : yajl_tree_parse(line, NULL, 0);
	wire->taken += (size_t)length;
	if (!*value || !YAJL_IS_OBJECT(*value)) {
		yajl_tree_free(*value);
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s: this line is not from a lode agent; see its error messages", wire->name);
	}
	return 1;
}

static yajl_val get(yajl_val value, const char *key, yajl_type type)
{
	const char *path[] = { key, NULL };

	return YAJL_IS_OBJECT(value) ? yajl_tree_get(value, path, type) : NULL;
}

uint64_t lode_wire_item(yajl_val value)
{
	return YAJL_IS_INTEGER(value) && YAJL_GET_INTEGER(value) > 0 ? (uint64_t)YAJL_GET_INTEGER(value) : 0;
}

uint64_t lode_wire_number(yajl_val value, const char *key)
{
	yajl_val number = get(value, key, yajl_t_number);

	return number ? lode_wire_item(number) : 0;
}

double lode_wire_double(yajl_val value, const char *key)
{
	yajl_val number = get(value, key, yajl_t_number);

	if (!number)
		return 0;
	return YAJL_IS_DOUBLE(number)    ? YAJL_GET_DOUBLE(number)
	       : YAJL_IS_INTEGER(number) ? (double)YAJL_GET_INTEGER(number)
					 : 0;
}

const char *lode_wire_text(yajl_val value, const char *key)
{
	yajl_val text = get(value, key, yajl_t_string);

	return text ? YAJL_GET_STRING(text) : NULL;
}

yajl_val *lode_wire_array(yajl_val value, const char *key, size_t *count)
{
	yajl_val array = get(value, key, yajl_t_array);

	*count = array ? YAJL_GET_ARRAY(array)->len : 0;
	return array ? YAJL_GET_ARRAY(array)->values : NULL;
}

static uint32_t axis_number(yajl_val focus, const char *key)
{
	yajl_val number = focus ? get(focus, key, yajl_t_number) : NULL;
	uint64_t value = number ? lode_wire_item(number) : LODE_NONE;

	return value > LODE_NONE ? LODE_NONE : (uint32_t)value;
}

int lode_wire_focus(yajl_val value, struct lode_program *program, struct lode_focus *focus)
{
	yajl_val given = get(value, "focus", yajl_t_object);
	const char *code = given ? lode_wire_text(given, "code") : NULL;

	*focus = (struct lode_focus){ .function = LODE_NONE };
	focus->host = axis_number(given, "host");
	focus->process = axis_number(given, "process");
	focus->thread = axis_number(given, "thread");
	focus->object = given ? lode_wire_number(given, "object") : 0;
	if (!code)
		return 0;
	focus->function = lode_program_named(program, code);
	return focus->function == LODE_NONE ? LODE_SYSTEM : 0;
}
