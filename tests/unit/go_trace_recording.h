/* Small Go execution traces of both forms: goroutine 7 waits for a channel, goroutine 9 sends. */
#ifndef LODE_TESTS_GO_TRACE_RECORDING_H
#define LODE_TESTS_GO_TRACE_RECORDING_H

#include "base/buffer.h"

#include <stdint.h>
#include <string.h>

static inline void go_numbers(struct lode_buffer *buffer, const uint64_t *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		lode_buffer_varint(buffer, numbers[i]);
}

#define GO_NUMBERS(buffer, ...)                                                                                   \
	go_numbers(buffer, (const uint64_t[]){ __VA_ARGS__ },                                                     \
		   sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static inline void go_string(struct lode_buffer *buffer, int type, uint64_t id, const char *text)
{
	lode_buffer_byte(buffer, (char)type);
	GO_NUMBERS(buffer, id, strlen(text));
	lode_buffer_text(buffer, text);
}

/* ---- up to Go 1.21 ---- */

/* An event with up to three numbers has their number in its first byte, a longer one its size. */
static inline void go_old(struct lode_buffer *buffer, int type, const uint64_t *numbers, size_t count)
{
	struct lode_buffer body = { 0 };

	go_numbers(&body, numbers, count);
	lode_buffer_byte(buffer, (char)(type | (int)(count < 4 ? count - 1 : 3) << 6));
	if (count >= 4)
		lode_buffer_varint(buffer, body.size);
	lode_buffer_add(buffer, body.bytes, body.size);
	lode_buffer_release(&body);
}

#define GO_OLD(buffer, type, ...)                                                                                 \
	go_old(buffer, type, (const uint64_t[]){ __VA_ARGS__ },                                                   \
	       sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

/* Ticks are half a nanosecond long. */
static inline struct lode_buffer go_old_trace(void)
{
	struct lode_buffer trace = { 0 };

	lode_buffer_add(&trace, "go 1.21 trace\0\0\0", 16);
	GO_OLD(&trace, 1, 0, 1000);          /* processor 0 at 1000 */
	GO_OLD(&trace, 14, 100, 7, 1);       /* 1100: 7 starts */
	GO_OLD(&trace, 28, 100, 2);          /* 1200: system call */
	GO_OLD(&trace, 30, 0);               /* that blocks */
	GO_OLD(&trace, 29, 400, 7, 2, 1500); /* 1600: back, in truth at 1500 */
	GO_OLD(&trace, 14, 100, 7, 3);       /* 1700: 7 starts */
	GO_OLD(&trace, 23, 300, 1);          /* 2000: waits to receive */
	GO_OLD(&trace, 38, 1000, 7);         /* 3000: 7 starts */
	GO_OLD(&trace, 15, 500);             /* 3500: ends */
	GO_OLD(&trace, 1, 1, 1900);
	GO_OLD(&trace, 13, 10, 9, 3, 0); /* 9 is created */
	GO_OLD(&trace, 14, 10, 9, 1);
	GO_OLD(&trace, 21, 880, 7, 2, 2); /* 2800: 9 unblocks 7 */
	GO_OLD(&trace, 18, 100, 2);       /* 2900: is preempted */
	GO_OLD(&trace, 49, 0, 2600, 1, 9, 2);
	GO_OLD(&trace, 2, 2000000000);
	GO_OLD(&trace, 3, 1, 2, 4096, 1, 5, 10, 4097, 2, 5, 11); /* chanrecv1 < main.main */
	GO_OLD(&trace, 3, 2, 1, 4098, 3, 5, 12);
	GO_OLD(&trace, 3, 3, 1, 4099, 4, 5, 13);
	go_string(&trace, 37, 1, "runtime.chanrecv1");
	go_string(&trace, 37, 2, "main.main");
	go_string(&trace, 37, 3, "main.send");
	go_string(&trace, 37, 4, "main.sender");
	return trace;
}

/* ---- from Go 1.22 on ---- */

static inline void go_batch(struct lode_buffer *trace, uint64_t m, uint64_t t, struct lode_buffer *body)
{
	lode_buffer_byte(trace, 1);
	GO_NUMBERS(trace, 1, m, t, body->size);
	lode_buffer_add(trace, body->bytes, body->size);
	lode_buffer_clear(body);
}

static inline void go_event(struct lode_buffer *body, int type, const uint64_t *numbers, size_t count)
{
	lode_buffer_byte(body, (char)type);
	go_numbers(body, numbers, count);
}

#define GO_EVENT(body, type, ...)                                                                                 \
	go_event(body, type, (const uint64_t[]){ __VA_ARGS__ },                                                   \
		 sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

/* The same story, with the batch of the later times first. */
static inline struct lode_buffer go_new_trace(void)
{
	struct lode_buffer trace = { 0 }, body = { 0 };

	lode_buffer_add(&trace, "go 1.25 trace\0\0\0", 16);
	lode_buffer_byte(&body, 50);
	GO_EVENT(&body, 8, 2000000000);
	go_batch(&trace, UINT64_MAX, 1000, &body);
	GO_EVENT(&body, 14, 10, 9, 3, 0);
	GO_EVENT(&body, 16, 10, 9, 1);
	GO_EVENT(&body, 21, 880, 7, 2, 2);
	GO_EVENT(&body, 19, 100, 5, 2);
	go_batch(&trace, 31, 1900, &body);
	GO_EVENT(&body, 16, 1000, 7, 4);
	GO_EVENT(&body, 17, 500);
	go_batch(&trace, 30, 2000, &body);
	GO_EVENT(&body, 25, 100, 7, 30, 2); /* 1100: 7 is running */
	GO_EVENT(&body, 22, 100, 1, 2);
	GO_EVENT(&body, 24, 300);
	GO_EVENT(&body, 16, 200, 7, 3);
	GO_EVENT(&body, 20, 300, 5, 1); /* 2000 */
	go_batch(&trace, 30, 1000, &body);
	lode_buffer_byte(&body, 6);
	GO_EVENT(&body, 7, 2600, 31, 1, 9, 2);
	go_batch(&trace, UINT64_MAX, 1000, &body);
	lode_buffer_byte(&body, 2);
	GO_EVENT(&body, 3, 1, 2, 4096, 1, 6, 10, 4097, 2, 6, 11);
	GO_EVENT(&body, 3, 2, 1, 4098, 3, 6, 12);
	GO_EVENT(&body, 3, 3, 1, 4099, 4, 6, 13);
	go_batch(&trace, UINT64_MAX, 1000, &body);
	lode_buffer_byte(&body, 4);
	go_string(&body, 5, 1, "runtime.chanrecv1");
	go_string(&body, 5, 2, "main.main");
	go_string(&body, 5, 3, "main.send");
	go_string(&body, 5, 4, "main.sender");
	go_string(&body, 5, 5, "chan receive");
	go_batch(&trace, UINT64_MAX, 1000, &body);
	lode_buffer_release(&body);
	return trace;
}

#endif
