/* A small Java Flight Recorder file under construction, with packed numbers or without. */
#ifndef LODE_TESTS_JFR_RECORDING_H
#define LODE_TESTS_JFR_RECORDING_H

#include "base/buffer.h"

#include <stdint.h>
#include <string.h>

struct jfr {
	struct lode_buffer bytes;
	int packed;
	unsigned deep; /* so many more frames of Main.run in stack 1 */
};

static inline void jfr_big(struct jfr *jfr, uint64_t number, int size)
{
	while (size--)
		lode_buffer_byte(&jfr->bytes, (char)(number >> 8 * size));
}

static inline void jfr_number(struct jfr *jfr, uint64_t number, int size)
{
	int bytes = 1;

	if (size == 1 || !jfr->packed) {
		jfr_big(jfr, number, size);
		return;
	}
	for (; bytes < 9 && number >> 7; bytes++, number >>= 7)
		lode_buffer_byte(&jfr->bytes, (char)(number | 0x80));
	lode_buffer_byte(&jfr->bytes, (char)number);
}

static inline void jfr_text(struct jfr *jfr, const char *text)
{
	lode_buffer_byte(&jfr->bytes, 3);
	jfr_number(jfr, strlen(text), 4);
	lode_buffer_text(&jfr->bytes, text);
}

/* An event's size is known at its end; it gets four bytes, packed or not. */
static inline size_t jfr_begin(struct jfr *jfr, uint64_t type)
{
	size_t at = jfr->bytes.size;

	jfr_big(jfr, 0, 4);
	jfr_number(jfr, type, 8);
	return at;
}

static inline void jfr_end(struct jfr *jfr, size_t at)
{
	uint64_t size = jfr->bytes.size - at;

	for (int i = 0; i < 4; i++)
		jfr->bytes.bytes[at + (size_t)i] = jfr->packed ? (char)((size >> 7 * i & 0x7f) | (i < 3 ? 0x80 : 0))
							       : (char)(size >> 8 * (3 - i));
}

/* ---- metadata ---- */

struct jfr_field {
	const char *name;
	const char *type; /* number of the class */
	char form;        /* 'p': in a pool, 'l': a list, 0: as it is */
};

struct jfr_class {
	const char *name;
	const char *id;
	struct jfr_field fields[6];
};

static const struct jfr_class jfr_classes[] = {
	{ "long", "10", { { 0 } } },
	{ "int", "11", { { 0 } } },
	{ "boolean", "12", { { 0 } } },
	{ "java.lang.String", "13", { { 0 } } },
	{ "java.lang.Thread",
	  "20",
	  { { "osName", "13", 0 }, { "osThreadId", "10", 0 }, { "javaName", "13", 0 }, { "javaThreadId", "10", 0 } } },
	{ "jdk.types.StackTrace", "21", { { "truncated", "12", 0 }, { "frames", "22", 'l' } } },
	{ "jdk.types.StackFrame",
	  "22",
	  { { "method", "23", 'p' }, { "lineNumber", "11", 0 }, { "type", "26", 'p' } } },
	{ "jdk.types.Method", "23", { { "type", "24", 'p' }, { "name", "25", 'p' }, { "hidden", "12", 0 } } },
	{ "java.lang.Class", "24", { { "name", "25", 'p' } } },
	{ "jdk.types.Symbol", "25", { { "string", "13", 0 } } },
	{ "jdk.types.FrameType", "26", { { "description", "13", 0 } } },
	{ "jdk.types.ThreadState", "27", { { "name", "13", 0 } } },
	{ "jdk.ExecutionSample",
	  "101",
	  { { "startTime", "10", 0 },
	    { "sampledThread", "20", 'p' },
	    { "stackTrace", "21", 'p' },
	    { "state", "27", 'p' } } },
	{ "jdk.JavaMonitorEnter",
	  "102",
	  { { "startTime", "10", 0 },
	    { "duration", "10", 0 },
	    { "eventThread", "20", 'p' },
	    { "stackTrace", "21", 'p' },
	    { "previousOwner", "20", 'p' } } },
	{ "jdk.ActiveSetting",
	  "103",
	  { { "startTime", "10", 0 }, { "id", "10", 0 }, { "name", "13", 0 }, { "value", "13", 0 } } },
	{ "profiler.WallClockSample",
	  "104",
	  { { "startTime", "10", 0 },
	    { "sampledThread", "20", 'p' },
	    { "stackTrace", "21", 'p' },
	    { "state", "27", 'p' },
	    { "samples", "11", 0 } } },
	{ "jdk.JVMInformation", "105", { { "startTime", "10", 0 }, { "pid", "10", 0 } } },
	{ "jdk.NativeMethodSample",
	  "106",
	  { { "startTime", "10", 0 },
	    { "sampledThread", "20", 'p' },
	    { "stackTrace", "21", 'p' },
	    { "state", "27", 'p' } } },
};

#define JFR_CLASSES (sizeof(jfr_classes) / sizeof(*jfr_classes))

struct jfr_strings {
	const char *items[256];
	unsigned count;
};

static inline unsigned jfr_string(struct jfr_strings *strings, const char *text)
{
	for (unsigned i = 0; i < strings->count; i++)
		if (!strcmp(strings->items[i], text))
			return i;
	strings->items[strings->count] = text;
	return strings->count++;
}

static inline void jfr_element(struct jfr *jfr, struct jfr_strings *strings, const char *name,
			       const char *const *attributes, unsigned children)
{
	unsigned count = 0;

	while (attributes[2 * count])
		count++;
	jfr_number(jfr, jfr_string(strings, name), 4);
	jfr_number(jfr, count, 4);
	for (unsigned i = 0; i < 2 * count; i++)
		jfr_number(jfr, jfr_string(strings, attributes[i]), 4);
	jfr_number(jfr, children, 4);
}

static inline void jfr_class_elements(struct jfr *jfr, struct jfr_strings *strings)
{
	for (size_t i = 0; i < JFR_CLASSES; i++) {
		const struct jfr_class *class_ = &jfr_classes[i];
		const char *const attributes[] = { "id", class_->id, "name", class_->name, NULL };
		unsigned fields = 0;

		while (fields < 6 && class_->fields[fields].name)
			fields++;
		jfr_element(jfr, strings, "class", attributes, fields);
		for (unsigned j = 0; j < fields; j++) {
			const struct jfr_field *field = &class_->fields[j];
			const char *form = field->form == 'p'   ? "constantPool"
					   : field->form == 'l' ? "dimension"
								: NULL;
			const char *const of_field[] = { "name",  field->name,
							 "class", field->type,
							 form,    field->form == 'p' ? "true" : "1",
							 NULL };

			jfr_element(jfr, strings, "field", of_field, 0);
		}
	}
}

static inline void jfr_metadata(struct jfr *jfr)
{
	const char *const none[] = { NULL };
	struct jfr_strings strings = { { 0 }, 0 };
	struct jfr tree = { .packed = jfr->packed };
	size_t at;

	jfr_element(&tree, &strings, "root", none, 1);
	jfr_element(&tree, &strings, "metadata", none, JFR_CLASSES);
	jfr_class_elements(&tree, &strings);
	at = jfr_begin(jfr, 0);
	for (int i = 0; i < 3; i++)
		jfr_number(jfr, 1, 8);
	jfr_number(jfr, strings.count, 4);
	for (unsigned i = 0; i < strings.count; i++)
		jfr_text(jfr, strings.items[i]);
	lode_buffer_add(&jfr->bytes, tree.bytes.bytes, tree.bytes.size);
	lode_buffer_release(&tree.bytes);
	jfr_end(jfr, at);
}

/* ---- constants ---- */

/* A checkpoint with `pools` pools follows; the one before it is `distance` bytes away. */
static inline size_t jfr_checkpoint(struct jfr *jfr, uint64_t distance, unsigned pools)
{
	size_t at = jfr_begin(jfr, 1);

	jfr_number(jfr, 1, 8);
	jfr_number(jfr, 0, 8);
	jfr_number(jfr, distance, 8);
	jfr_big(jfr, 1, 1);
	jfr_number(jfr, pools, 4);
	return at;
}

static inline void jfr_pool(struct jfr *jfr, uint64_t type, unsigned count)
{
	jfr_number(jfr, type, 8);
	jfr_number(jfr, count, 4);
}

static inline void jfr_keys(struct jfr *jfr, const uint64_t *keys, size_t count)
{
	for (size_t i = 0; i < count; i++)
		jfr_number(jfr, keys[i], 8);
}

#define JFR_KEYS(jfr, ...)                                                                                        \
	jfr_keys(jfr, (const uint64_t[]){ __VA_ARGS__ },                                                          \
		 sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static inline void jfr_texts(struct jfr *jfr, uint64_t type, const char *const *texts)
{
	unsigned count = 0;

	while (texts[count])
		count++;
	jfr_pool(jfr, type, count);
	for (unsigned i = 0; i < count; i++) {
		jfr_number(jfr, i + 1, 8);
		jfr_text(jfr, texts[i]);
	}
}

static inline void jfr_thread(struct jfr *jfr, uint64_t key, const char *os, uint64_t tid, const char *java,
			      uint64_t id)
{
	jfr_number(jfr, key, 8);
	jfr_text(jfr, os);
	jfr_number(jfr, tid, 8);
	if (java)
		jfr_text(jfr, java);
	else
		lode_buffer_byte(&jfr->bytes, 0);
	jfr_number(jfr, id, 8);
}

static inline void jfr_frame(struct jfr *jfr, uint64_t method, uint64_t type)
{
	jfr_number(jfr, method, 8);
	jfr_number(jfr, 7, 4);
	jfr_number(jfr, type, 8);
}

/* Stacks 1: Main.run > Main.work; 2: Main.run > EPoll.wait; 3: libc.so.6!read (truncated). */
static inline void jfr_constants(struct jfr *jfr, uint64_t *checkpoint)
{
	static const char *const symbols[] = { "app/Main", "run",
					       "work",     "sun/nio/ch/EPoll",
					       "wait",     "libc.so.6",
					       "read",     "app/Main$$Lambda$14+0x0000000800c03000.12",
					       NULL };
	static const char *const types[] = { "JIT compiled", "Native", NULL };
	static const char *const states[] = { "STATE_RUNNABLE", "STATE_SLEEPING", NULL };
	size_t first = jfr->bytes.size, at = jfr_checkpoint(jfr, 0, 3);

	jfr_texts(jfr, 25, symbols);
	jfr_texts(jfr, 26, types);
	jfr_texts(jfr, 27, states);
	jfr_end(jfr, at);
	at = jfr_checkpoint(jfr, (uint64_t)first - jfr->bytes.size, 4);
	*checkpoint = at;
	jfr_pool(jfr, 24, 4);
	JFR_KEYS(jfr, 1, 1, 2, 4, 3, 6, 4, 8); /* classes: key, name */
	jfr_pool(jfr, 23, 5);
	for (unsigned i = 0; i < 5; i++) {
		static const uint64_t methods[5][2] = { { 1, 2 }, { 1, 3 }, { 2, 5 }, { 3, 7 }, { 4, 2 } };

		JFR_KEYS(jfr, i + 1, methods[i][0], methods[i][1]);
		jfr_big(jfr, 0, 1);
	}
	jfr_pool(jfr, 21, 3);
	for (unsigned i = 1; i <= 3; i++) {
		jfr_number(jfr, i, 8);
		jfr_big(jfr, i == 3, 1);
		jfr_number(jfr, i == 3 ? 1 : i == 1 ? 3 + jfr->deep : 2, 4);
		jfr_frame(jfr, i + 1, i == 1 ? 1 : 2);
		for (unsigned j = 0; i == 1 && j < jfr->deep; j++) { /* of lines that take 1 to 9 bytes */
			jfr_number(jfr, 1, 8);
			jfr_number(jfr, j % 11 < 10 ? UINT64_C(1) << 7 * (j % 11) % 64 : UINT64_MAX, 4);
			jfr_number(jfr, 1, 8);
		}
		if (i < 3)
			jfr_frame(jfr, 1, 1);
		if (i == 1)
			jfr_frame(jfr, 5, 1);
	}
	jfr_pool(jfr, 20, 2);
	jfr_thread(jfr, 5, "java", 4001, "main", 1);
	jfr_thread(jfr, 6, "GC", 4002, NULL, 0);
	jfr_end(jfr, at);
}

static inline void jfr_setting(struct jfr *jfr, uint64_t id, const char *name, const char *value)
{
	size_t at = jfr_begin(jfr, 103);

	jfr_number(jfr, 100, 8);
	jfr_number(jfr, id, 8);
	jfr_text(jfr, name);
	jfr_text(jfr, value);
	jfr_end(jfr, at);
}

static inline void jfr_event(struct jfr *jfr, uint64_t type, const uint64_t *fields, size_t count)
{
	size_t at = jfr_begin(jfr, type);

	for (size_t i = 0; i < count; i++)
		jfr_number(jfr, fields[i], type == 104 && i == 4 ? 4 : 8);
	jfr_end(jfr, at);
}

#define JFR_EVENT(jfr, type, ...)                                                                                 \
	jfr_event(jfr, type, (const uint64_t[]){ __VA_ARGS__ },                                                   \
		  sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

/* A chunk that starts at a second past 1970, tick 100, a million ticks a second. */
static inline void jfr_chunk(struct jfr *jfr)
{
	struct jfr chunk = { .packed = jfr->packed, .deep = jfr->deep };
	uint64_t checkpoint, metadata;

	for (int i = 0; i < 68; i++)
		lode_buffer_byte(&chunk.bytes, 0);
	JFR_EVENT(&chunk, 101, 1100, 5, 1, 1);
	JFR_EVENT(&chunk, 102, 2100, 3000, 5, 1, 6);
	JFR_EVENT(&chunk, 106, 7100, 5, 2, 1);
	JFR_EVENT(&chunk, 104, 8100, 6, 3, 2, 4);
	JFR_EVENT(&chunk, 101, 9100, 9, 1, 1);
	jfr_setting(&chunk, 101, "period", "10 ms");
	jfr_setting(&chunk, 106, "period", "20 ms");
	JFR_EVENT(&chunk, 105, 100, 77);
	jfr_constants(&chunk, &checkpoint);
	metadata = chunk.bytes.size;
	jfr_metadata(&chunk);
	lode_buffer_add(&jfr->bytes, "FLR\0\0\2\0\0", 8);
	jfr_big(jfr, chunk.bytes.size, 8);
	jfr_big(jfr, checkpoint, 8);
	jfr_big(jfr, metadata, 8);
	jfr_big(jfr, 1000000000, 8);
	jfr_big(jfr, 0, 8);
	jfr_big(jfr, 100, 8);
	jfr_big(jfr, 1000000, 8);
	jfr_big(jfr, (uint64_t)jfr->packed, 4);
	lode_buffer_add(&jfr->bytes, chunk.bytes.bytes + 68, chunk.bytes.size - 68);
	lode_buffer_release(&chunk.bytes);
}

#endif
