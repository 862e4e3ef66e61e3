/* The file of ETW: see etl_file.h. */
#include "import/windows/etl_file.h"

#include "base/memory.h"
#include "import/windows/windows_compression.h"

#define BUFFER_HEAD     72
#define FIRST_BUFFER    4
#define COMPRESSED      0x40
#define BUFFER_LIMIT    (64u << 20) /* what a buffer may hold; Windows makes none beyond 16 MiB */
#define UNPACKED_FREE   (32u << 20) /* so much may come out of any file, beyond it ... */
#define UNPACKED_RATIO  500         /* ... this multiple of its size */
#define SECOND          UINT64_C(1000000000)
#define FREQUENCY_LIMIT UINT64_C(10000000000) /* times a second it fits 64 bits */
#define FILETIME_1970   116444736000000000u
#define EXTENDED        1 /* flag of a manifest's event: there is more between head and data */

/* Heads of events, by number. */
enum { SYSTEM32 = 1, SYSTEM64, COMPACT32, COMPACT64, PERFORMANCE32 = 16, PERFORMANCE64, MANIFEST32, MANIFEST64 };

static uint16_t u16_at(const unsigned char *at)
{
	struct lode_cursor cursor = lode_cursor(at, 2);

	return lode_cursor_u16(&cursor);
}

static uint32_t u32_at(const unsigned char *at)
{
	struct lode_cursor cursor = lode_cursor(at, 4);

	return lode_cursor_u32(&cursor);
}

static uint64_t u64_at(const unsigned char *at)
{
	struct lode_cursor cursor = lode_cursor(at, 8);

	return lode_cursor_u64(&cursor);
}

int lode_etl_is(const unsigned char *bytes, size_t size)
{
	return size >= BUFFER_HEAD + 8 && u16_at(bytes + 54) == FIRST_BUFFER &&
	       (bytes[BUFFER_HEAD + 2] == SYSTEM32 || bytes[BUFFER_HEAD + 2] == SYSTEM64) &&
	       bytes[BUFFER_HEAD + 3] == 0xc0 && u16_at(bytes + BUFFER_HEAD + 6) == 0;
}

/* ---- the event that describes the file ---- */

/* Ticks are of the performance counter, of the system's clock or of the processor. */
static uint64_t find_frequency(unsigned clock, uint64_t counter, uint32_t megahertz)
{
	if (clock == 2)
		return 10000000;
	return clock == 3 ? (uint64_t)megahertz * 1000000 : counter;
}

int lode_etl_open(struct lode_etl_file *file, const unsigned char *bytes, size_t size, struct lode_error *error)
{
	struct lode_cursor at = lode_cursor(bytes, size);
	uint64_t counter, start;
	uint32_t mode, megahertz;

	*file = (struct lode_etl_file){ .bytes = bytes, .size = size };
	if (!lode_etl_is(bytes, size))
		return lode_fail(error, LODE_BAD_INPUT,
				 "is not an ETW trace (Windows): its first buffer is something else");
	lode_cursor_bytes(&at, BUFFER_HEAD + 16);
	file->first_tick = lode_cursor_u64(&at);
	lode_cursor_bytes(&at, 8 + 12);
	file->processors = lode_cursor_u32(&at);
	lode_cursor_bytes(&at, 8 + 4 + 4);
	mode = lode_cursor_u32(&at);
	lode_cursor_bytes(&at, 8);
	file->pointer_size = lode_cursor_u32(&at);
	file->events_lost = lode_cursor_u32(&at);
	megahertz = lode_cursor_u32(&at);
	/* two pointers, the time zone, the time of boot */
	lode_cursor_bytes(&at, 2 * (uint64_t)file->pointer_size + 176 + 8);
	counter = lode_cursor_u64(&at);
	start = lode_cursor_u64(&at);
	file->frequency = find_frequency(lode_cursor_u32(&at), counter, megahertz);
	file->buffers_lost = lode_cursor_u32(&at);
	if (at.failed || (file->pointer_size != 4 && file->pointer_size != 8) || !file->frequency ||
	    file->frequency > FREQUENCY_LIMIT)
		return lode_fail(error, LODE_BAD_INPUT, "the event that describes the trace is damaged or cut off");
	file->start_ns = start > FILETIME_1970 && start < (uint64_t)1 << 62 ? (start - FILETIME_1970) * 100 : 0;
	if (mode & 0x04000000)
		file->compression = u32_at(bytes + 44) & 0xffff;
	return 0;
}

uint64_t lode_etl_time(const struct lode_etl_file *file, uint64_t tick)
{
	uint64_t ticks = tick > file->first_tick ? tick - file->first_tick : file->first_tick - tick;
	uint64_t ns = ticks % file->frequency * SECOND / file->frequency, sum;

	if (__builtin_mul_overflow(ticks / file->frequency, SECOND, &sum) || __builtin_add_overflow(ns, sum, &ns))
		ns = UINT64_MAX;

	if (tick < file->first_tick)
		return file->start_ns > ns ? file->start_ns - ns : 0;
	return __builtin_add_overflow(file->start_ns, ns, &sum) ? UINT64_MAX : sum;
}

/* ---- events ---- */

static void read_kernel_head(struct lode_etl_event *event, const unsigned char *at, size_t size)
{
	unsigned kind = at[2], head = kind <= SYSTEM64 ? 32 : kind <= COMPACT64 ? 24 : 16;

	event->version = u16_at(at);
	if (kind >= PERFORMANCE32) {
		/* values of counters are between head and data */
		head += 8 * (event->version >> 8 & 7) + (event->version & 0x8000 ? 8 : 0);
		event->version &= 0xff;
	}
	if (size < head)
		return;
	event->head = LODE_ETL_KERNEL;
	event->hook = u16_at(at + 6);
	event->t = u64_at(at + (kind >= PERFORMANCE32 ? 8 : 16));
	event->data = lode_cursor(at + head, size - head);
}

static void read_manifest_head(struct lode_etl_event *event, const unsigned char *at, size_t size)
{
	if (size < 80 || u16_at(at + 4) & EXTENDED)
		return;
	event->head = LODE_ETL_MANIFEST;
	event->pid = u32_at(at + 12);
	event->t = u64_at(at + 16);
	event->provider = at + 24;
	event->hook = u16_at(at + 40);
	event->version = at[42];
	event->data = lode_cursor(at + 80, size - 80);
}

/* Reads the event at `at`, which has `left` bytes at most. Its size, or 0 when it cannot be. */
static size_t read_event(struct lode_etl_event *event, const unsigned char *at, size_t left)
{
	unsigned kind;
	size_t size;

	if (left < 8)
		return 0;
	kind = at[2];
	event->head = LODE_ETL_OTHER;
	event->pointer_size =
		kind == SYSTEM32 || kind == COMPACT32 || kind == PERFORMANCE32 || kind == MANIFEST32 ? 4 : 8;
	if ((kind >= SYSTEM32 && kind <= COMPACT64) || kind == PERFORMANCE32 || kind == PERFORMANCE64)
		size = u16_at(at + 4);
	else
		size = u16_at(at);
	if (size < 8 || size > left)
		return 0;
	if (kind == MANIFEST32 || kind == MANIFEST64)
		read_manifest_head(event, at, size);
	else if ((kind >= SYSTEM32 && kind <= COMPACT64) || kind == PERFORMANCE32 || kind == PERFORMANCE64)
		read_kernel_head(event, at, size);
	return size;
}

/* ---- buffers ---- */

struct reading {
	struct lode_etl_file *file;
	int (*take)(void *context, const struct lode_etl_event *event);
	void *context;
	struct lode_error *error;
	unsigned char *unpacked;
	size_t capacity;
};

/* The events of `left` bytes; where there are none, `at` may be NULL. */
static int decode_events(struct reading *reading, const unsigned char *at, size_t left, uint16_t cpu)
{
	while (left >= 8 && u32_at(at) != UINT32_MAX) {
		struct lode_etl_event event = { .cpu = cpu };
		size_t length = read_event(&event, at, left);
		int code;

		if (!length) {
			reading->file->damaged++;
			break;
		}
		code = reading->take(reading->context, &event);
		if (code < 0)
			return code;
		length = (length + 7) & ~(size_t)7;
		length = length < left ? length : left;
		at += length;
		left -= length;
	}
	return 0;
}

static int unpack(struct reading *reading, const unsigned char *bytes, size_t size, size_t out)
{
	struct lode_etl_file *file = reading->file;

	file->unpacked += out;
	if (file->unpacked > UNPACKED_FREE && file->unpacked / UNPACKED_RATIO > file->size)
		return lode_fail(reading->error, LODE_BAD_INPUT,
				 "unpacks to more than %d times its size, which no trace does", UNPACKED_RATIO);
	if (lode_grow(&reading->unpacked, &reading->capacity, out, 1) < 0)
		return lode_fail_memory(reading->error);
	if (lode_windows_unpack((enum lode_windows_compression)file->compression, bytes, size, reading->unpacked,
				out) < 0) {
		file->damaged++;
		return 0;
	}
	return 1;
}

/* The buffer of `size` bytes; the events in it are those of the processor that its head names. */
static int decode_buffer(struct reading *reading, const unsigned char *buffer, size_t size)
{
	uint32_t used = u32_at(buffer + 4);
	uint16_t cpu = u16_at(buffer + 40);
	int code;

	/* before Windows 8 the upper byte is something else */
	if (cpu >= reading->file->processors)
		cpu &= 0xff;
	if (used < BUFFER_HEAD || used > BUFFER_LIMIT) {
		reading->file->damaged++;
		return 0;
	}
	used -= BUFFER_HEAD;
	if (u16_at(buffer + 52) & COMPRESSED) {
		code = unpack(reading, buffer + BUFFER_HEAD, size - BUFFER_HEAD, used);
		return code <= 0 ? code : decode_events(reading, reading->unpacked, used, cpu);
	}
	if (used > size - BUFFER_HEAD) {
		reading->file->damaged++;
		used = (uint32_t)(size - BUFFER_HEAD);
	}
	return decode_events(reading, buffer + BUFFER_HEAD, used, cpu);
}

int lode_etl_read(struct lode_etl_file *file, int (*take)(void *context, const struct lode_etl_event *event),
		  int (*done)(void *context, size_t bytes), void *context, struct lode_error *error)
{
	struct reading reading = { .file = file, .take = take, .context = context, .error = error };
	size_t at = 0;
	int code = 0;

	while (code == 0 && file->size - at >= BUFFER_HEAD) {
		uint32_t size = u32_at(file->bytes + at);

		if (size < BUFFER_HEAD || size > file->size - at) {
			file->is_cut = 1;
			break;
		}
		code = decode_buffer(&reading, file->bytes + at, size);
		at += size;
		if (code == 0)
			code = done(context, at);
	}
	file->is_cut |= file->size - at > 0;
	lode_free(reading.unpacked);
	return code;
}
