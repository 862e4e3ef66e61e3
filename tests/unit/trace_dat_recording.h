/* A small trace.dat under construction: version 6 or 7 (not packed, or with zstd), either byte order. */
#ifndef LODE_TESTS_TRACE_DAT_RECORDING_H
#define LODE_TESTS_TRACE_DAT_RECORDING_H

#include "base/buffer.h"

#include <stdint.h>
#include <string.h>
#include <zstd.h>

struct trace_dat {
	struct lode_buffer bytes;
	int swap;
};

#define TRACE_PAGE 256

static inline void dat_number(struct lode_buffer *buffer, int swap, uint64_t number, int size)
{
	for (int i = 0; i < size; i++)
		lode_buffer_byte(buffer, (char)(number >> 8 * (swap ? size - 1 - i : i)));
}

static inline void dat_put(struct trace_dat *dat, uint64_t number, int size)
{
	dat_number(&dat->bytes, dat->swap, number, size);
}

static inline void dat_text(struct trace_dat *dat, const char *text)
{
	lode_buffer_add(&dat->bytes, text, strlen(text) + 1);
}

static inline void dat_sized(struct trace_dat *dat, const char *text, int size)
{
	dat_put(dat, strlen(text), size);
	lode_buffer_text(&dat->bytes, text);
}

#define DAT_COMMON                                                                                                \
	"format:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                           \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define DAT_STACK                                                                                                 \
	"name: kernel_stack\nID: 4\n" DAT_COMMON                                                                  \
	"\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n\tfield:unsigned long "                                \
	"caller[8];\toffset:16;\tsize:64;\tsigned:0;\n\nprint fmt: \"\"\n"
#define DAT_SWITCH                                                                                                \
	"name: sched_switch\nID: 300\n" DAT_COMMON                                                                \
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"                                           \
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\tfield:long "                                  \
	"prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"                                                           \
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n\tfield:pid_t "                            \
	"next_pid;\toffset:56;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n"
#define DAT_WAKING                                                                                                \
	"name: sched_waking\nID: 301\n" DAT_COMMON                                                                \
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\tfield:pid_t "                                  \
	"pid;\toffset:24;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n"
#define DAT_OPEN                                                                                                  \
	"name: sys_enter_openat\nID: 302\n" DAT_COMMON                                                            \
	"\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n"
#define DAT_SYMBOLS                                                                                               \
	"ffff800000001000 T start_kernel\nffff800000002000 T schedule\nffff800000003000 t "                       \
	"ext4_read\t[ext4]\nffff800000004000 T last\n"
#define DAT_HEADER                                                                                                \
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t "                               \
	"commit;\toffset:8;\tsize:8;\tsigned:1;\n"

static inline void dat_head(struct trace_dat *dat, const char *version)
{
	lode_buffer_add(&dat->bytes, "\x17\x08\x44tracing", 10);
	dat_text(dat, version);
	dat_put(dat, (uint64_t)dat->swap, 1);
	dat_put(dat, 8, 1);
	dat_put(dat, TRACE_PAGE, 4);
}

static inline void dat_headers(struct trace_dat *dat)
{
	dat_text(dat, "header_page");
	dat_sized(dat, DAT_HEADER, 8);
	dat_text(dat, "header_event");
	dat_sized(dat, "", 8);
}

static inline void dat_ftrace(struct trace_dat *dat)
{
	dat_put(dat, 1, 4);
	dat_sized(dat, DAT_STACK, 8);
}

static inline void dat_systems(struct trace_dat *dat)
{
	dat_put(dat, 2, 4);
	dat_text(dat, "sched");
	dat_put(dat, 2, 4);
	dat_sized(dat, DAT_SWITCH, 8);
	dat_sized(dat, DAT_WAKING, 8);
	dat_text(dat, "syscalls");
	dat_put(dat, 1, 4);
	dat_sized(dat, DAT_OPEN, 8);
}

/* ---- pages ---- */

/* A record of `size` bytes of data: up to 112 by their number, else with their own length. */
static inline void dat_record(struct trace_dat *page, uint32_t delta, const struct lode_buffer *data,
			      int own_length)
{
	uint32_t type = own_length ? 0 : (uint32_t)data->size / 4;

	dat_put(page, page->swap ? type << 27 | delta : type | delta << 5, 4);
	if (own_length)
		dat_put(page, data->size + 4, 4);
	lode_buffer_add(&page->bytes, data->bytes, data->size);
}

static inline void dat_common(struct lode_buffer *data, int swap, uint32_t type, uint32_t tid)
{
	lode_buffer_clear(data);
	dat_number(data, swap, type, 2);
	dat_number(data, swap, 0, 2);
	dat_number(data, swap, tid, 4);
}

static inline void dat_comm(struct lode_buffer *data, const char *comm)
{
	char text[16] = "";

	memcpy(text, comm, strlen(comm));
	lode_buffer_add(data, text, sizeof(text));
}

static inline void dat_switch(struct trace_dat *page, uint32_t delta, uint32_t from, const char *comm,
			      uint64_t state, uint32_t to, const char *to_comm)
{
	struct lode_buffer data = { 0 };

	dat_common(&data, page->swap, 300, from);
	dat_comm(&data, comm);
	dat_number(&data, page->swap, from, 4);
	dat_number(&data, page->swap, 0, 4);
	dat_number(&data, page->swap, state, 8);
	dat_comm(&data, to_comm);
	dat_number(&data, page->swap, to, 4);
	dat_number(&data, page->swap, 0, 4);
	dat_record(page, delta, &data, 0);
	lode_buffer_release(&data);
}

static inline void dat_waking(struct trace_dat *page, uint32_t delta, uint32_t by, uint32_t tid, const char *comm)
{
	struct lode_buffer data = { 0 };

	dat_common(&data, page->swap, 301, by);
	dat_comm(&data, comm);
	dat_number(&data, page->swap, tid, 4);
	dat_record(page, delta, &data, 1);
	lode_buffer_release(&data);
}

/* The stack start_kernel > ext4_read > schedule, leaf first. */
static inline void dat_stack(struct trace_dat *page, uint32_t tid)
{
	struct lode_buffer data = { 0 };

	dat_common(&data, page->swap, 4, tid);
	dat_number(&data, page->swap, 3, 4);
	dat_number(&data, page->swap, 0, 4);
	dat_number(&data, page->swap, 0xffff800000002010, 8);
	dat_number(&data, page->swap, 0xffff800000003004, 8);
	dat_number(&data, page->swap, 0xffff800000001100, 8);
	dat_number(&data, page->swap, UINT64_MAX, 8);
	dat_record(page, 0, &data, 0);
	lode_buffer_release(&data);
}

/* Begins a page; dat_page_end fills it up. */
static inline struct trace_dat dat_page(int swap, uint64_t t)
{
	struct trace_dat page = { { 0 }, swap };

	dat_put(&page, t, 8);
	dat_put(&page, 0, 8);
	return page;
}

static inline void dat_page_end(struct trace_dat *page, struct lode_buffer *to, uint64_t flags)
{
	struct lode_buffer head = { 0 };
	uint64_t used = page->bytes.size - 16;

	dat_number(&head, page->swap, used | flags, 8);
	memcpy(page->bytes.bytes + 8, head.bytes, 8);
	lode_buffer_release(&head);
	while (page->bytes.size < TRACE_PAGE)
		lode_buffer_byte(&page->bytes, 0);
	lode_buffer_add(to, page->bytes.bytes, page->bytes.size);
	lode_buffer_release(&page->bytes);
}

/*
 * CPU 0: thread 7 goes to sleep at 1000 with a stack, and is back at 1000 + 2^27 + 500; CPU 1: thread 9
 * wakes it at 1400, in its second page, before which events were lost, and opens a file.
 */
static inline void dat_cpus(int swap, struct lode_buffer cpus[2])
{
	struct lode_buffer data = { 0 };
	struct trace_dat page = dat_page(swap, 900);

	dat_switch(&page, 100, 7, "worker", 1, 0, "swapper/0");
	dat_stack(&page, 7);
	dat_put(&page, swap ? 30u << 27 | 500 : 30 | 500u << 5, 4); /* the time goes on by 2^27 + 500 */
	dat_put(&page, 1, 4);
	dat_page_end(&page, &cpus[0], 0);
	page = dat_page(swap, 1500 + (1u << 27));
	dat_switch(&page, 0, 0, "swapper/0", 0, 7, "worker");
	dat_put(&page, swap ? 29u << 27 : 29, 4); /* nothing more */
	dat_put(&page, 77, 4);
	dat_page_end(&page, &cpus[0], 0);
	page = dat_page(swap, 100);
	dat_page_end(&page, &cpus[1], 0);
	page = dat_page(swap, 1300);
	dat_waking(&page, 100, 9, 7, "worker");
	dat_common(&data, swap, 302, 9);
	dat_number(&data, swap, 56, 4);
	dat_record(&page, 50, &data, 0);
	lode_buffer_release(&data);
	dat_page_end(&page, &cpus[1], 1u << 31);
}

static inline void dat_version_6(struct trace_dat *dat)
{
	struct lode_buffer cpus[2] = { { 0 }, { 0 } };
	size_t at;

	dat_cpus(dat->swap, cpus);
	dat_head(dat, "6");
	dat_headers(dat);
	dat_ftrace(dat);
	dat_systems(dat);
	dat_sized(dat, DAT_SYMBOLS, 4);
	dat_sized(dat, "", 4);
	dat_sized(dat, "9 waker\n", 8);
	dat_put(dat, 2, 4);
	lode_buffer_add(&dat->bytes, "options  ", 10);
	dat_put(dat, 4, 2);
	dat_put(dat, 6, 4);
	dat_text(dat, "local");
	dat_put(dat, 0, 2);
	lode_buffer_add(&dat->bytes, "flyrecord", 10);
	at = dat->bytes.size + 32;
	for (int i = 0; i < 2; i++, at += cpus[0].size) {
		dat_put(dat, at, 8);
		dat_put(dat, cpus[i].size, 8);
	}
	for (int i = 0; i < 2; i++) {
		lode_buffer_add(&dat->bytes, cpus[i].bytes, cpus[i].size);
		lode_buffer_release(&cpus[i]);
	}
}

/* ---- version 7 ---- */

static inline void dat_pack(struct trace_dat *dat, const struct lode_buffer *plain)
{
	char room[8192];
	size_t size = ZSTD_compress(room, sizeof(room), plain->bytes, plain->size, 1);

	dat_put(dat, size, 4);
	dat_put(dat, plain->size, 4);
	lode_buffer_add(&dat->bytes, room, size);
}

/* Writes a part and returns its place. */
static inline uint64_t dat_part(struct trace_dat *dat, int packed, unsigned id, const struct lode_buffer *content)
{
	struct trace_dat body = { { 0 }, dat->swap };
	uint64_t at = dat->bytes.size;

	if (packed)
		dat_pack(&body, content);
	else
		lode_buffer_add(&body.bytes, content->bytes, content->size);
	dat_put(dat, id, 2);
	dat_put(dat, (uint64_t)packed, 2);
	dat_put(dat, 0, 4);
	dat_put(dat, body.bytes.size, 8);
	lode_buffer_add(&dat->bytes, body.bytes.bytes, body.bytes.size);
	lode_buffer_release(&body.bytes);
	return at;
}

static inline void dat_option(struct trace_dat *list, unsigned id, uint64_t place)
{
	dat_put(list, id, 2);
	dat_put(list, 8, 4);
	dat_put(list, place, 8);
}

static inline void dat_buffer(struct trace_dat *dat, struct trace_dat *list, int packed)
{
	struct lode_buffer cpus[2] = { { 0 }, { 0 } }, nothing = { 0 };
	uint64_t at = dat_part(dat, 0, 3, &nothing);

	dat->bytes.bytes[at + (dat->swap ? 3 : 2)] = (char)packed;
	dat_cpus(dat->swap, cpus);
	dat_put(list, 3, 2);
	dat_put(list, 8 + 1 + 6 + 8 + 40, 4);
	dat_put(list, at, 8);
	dat_text(list, "");
	dat_text(list, "local");
	dat_put(list, TRACE_PAGE, 4);
	dat_put(list, 2, 4);
	for (unsigned i = 0; i < 2; i++) {
		size_t start = dat->bytes.size;

		if (packed) {
			struct lode_buffer first = { cpus[i].bytes, TRACE_PAGE, 0, 0 },
					   second = { cpus[i].bytes + TRACE_PAGE, TRACE_PAGE, 0, 0 };

			dat_put(dat, 2, 4);
			dat_pack(dat, &first);
			dat_pack(dat, &second);
		} else {
			lode_buffer_add(&dat->bytes, cpus[i].bytes, cpus[i].size);
		}
		dat_put(list, i, 4);
		dat_put(list, start, 8);
		dat_put(list, dat->bytes.size - start - (packed ? 4 : 0), 8);
		lode_buffer_release(&cpus[i]);
	}
}

static inline void dat_version_7(struct trace_dat *dat, int packed)
{
	struct trace_dat list = { { 0 }, dat->swap }, part = list;
	size_t first;
	uint64_t at;

	dat_head(dat, "7");
	dat_text(dat, packed ? "zstd" : "none");
	dat_text(dat, "1");
	first = dat->bytes.size;
	dat_put(dat, 0, 8);
	for (unsigned id = 16; id <= 21; id++) {
		lode_buffer_clear(&part.bytes);
		if (id == 16)
			dat_headers(&part);
		else if (id == 17)
			dat_ftrace(&part);
		else if (id == 18)
			dat_systems(&part);
		else if (id == 21)
			dat_sized(&part, "9 waker\n", 8);
		else
			dat_sized(&part, id == 19 ? DAT_SYMBOLS : "", 4);
		dat_option(&list, id, dat_part(dat, packed, id, &part.bytes));
	}
	dat_buffer(dat, &list, packed);
	dat_option(&list, 0, 0);
	at = dat_part(dat, 0, 0, &list.bytes);
	lode_buffer_clear(&part.bytes);
	dat_put(&part, at, 8);
	memcpy(dat->bytes.bytes + first, part.bytes.bytes, 8);
	lode_buffer_release(&part.bytes);
	lode_buffer_release(&list.bytes);
}

/* The forms of a file: 0 and 1 version 6, little- and big-endian; 2 and 3 version 7; 4 that, packed. */
#define DAT_FORMS 5
static inline struct trace_dat dat_make(int form)
{
	struct trace_dat dat = { { 0 }, form < 4 && form & 1 };

	if (form < 2)
		dat_version_6(&dat);
	else
		dat_version_7(&dat, form == 4);
	return dat;
}

#endif
