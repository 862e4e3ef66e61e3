/* Recordings of perf made record by record, for the tests of their importer. */
#ifndef LODE_TESTS_PERF_RECORDING_H
#define LODE_TESTS_PERF_RECORDING_H

#include "import_fixture.h"

#include <linux/perf_event.h>
#include <zstd.h>

extern const struct lode_importer lode_importer_perf_data;

#define USER   ((uint64_t)PERF_CONTEXT_USER)
#define KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)

#define USUAL                                                                                                     \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |         \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)

struct recording {
	struct perf_event_attr events[4];
	uint64_t ids[4];
	unsigned event_count;
	size_t attr_size; /* 0: as this machine has it */
	struct lode_buffer records;
	struct lode_buffer tracing;
	const char *arch;
};

static inline void release(struct recording *recording)
{
	lode_buffer_release(&recording->records);
	lode_buffer_release(&recording->tracing);
}

static inline struct perf_event_attr *add_event(struct recording *recording, uint32_t type, uint64_t config)
{
	struct perf_event_attr *attr = &recording->events[recording->event_count];

	recording->ids[recording->event_count] = 100 + recording->event_count;
	recording->event_count++;
	attr->type = type;
	attr->size = sizeof(*attr);
	attr->config = config;
	attr->sample_type = USUAL;
	attr->sample_id_all = 1;
	attr->sample_period = 1;
	return attr;
}

static inline struct perf_event_attr *add_clock(struct recording *recording)
{
	return add_event(recording, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
}

static inline void put_u16(struct lode_buffer *buffer, uint16_t number)
{
	lode_buffer_add(buffer, &number, sizeof(number));
}

static inline void put_header(struct lode_buffer *buffer, uint32_t type, uint16_t misc, size_t body)
{
	lode_buffer_u32(buffer, type);
	put_u16(buffer, misc);
	put_u16(buffer, (uint16_t)(8 + body));
}

static inline void put_record(struct lode_buffer *buffer, uint32_t type, uint16_t misc,
			      const struct lode_buffer *body)
{
	put_header(buffer, type, misc, body->size);
	lode_buffer_add(buffer, body->bytes, body->size);
}

/* The bytes that end each record of the kernel but samples. */
static inline void put_trailer(struct lode_buffer *body, const struct recording *recording, uint64_t time)
{
	const struct perf_event_attr *attr = &recording->events[0];

	if (!attr->sample_id_all)
		return;
	if (attr->sample_type & PERF_SAMPLE_TID)
		lode_buffer_u64(body, 0);
	if (attr->sample_type & PERF_SAMPLE_TIME)
		lode_buffer_u64(body, time);
	if (attr->sample_type & PERF_SAMPLE_ID)
		lode_buffer_u64(body, recording->ids[0]);
	if (attr->sample_type & PERF_SAMPLE_STREAM_ID)
		lode_buffer_u64(body, 0);
	if (attr->sample_type & PERF_SAMPLE_CPU)
		lode_buffer_u64(body, 0);
	if (attr->sample_type & PERF_SAMPLE_IDENTIFIER)
		lode_buffer_u64(body, recording->ids[0]);
}

/* A NUL-terminated text, padded to 8 bytes. */
static inline void put_text(struct lode_buffer *body, const char *text)
{
	size_t length = strlen(text) + 1;

	lode_buffer_add(body, text, length);
	for (; length % 8; length++)
		lode_buffer_byte(body, '\0');
}

/* `misc` is of the record: whose mapping it is, and whether of data. */
static inline void put_any_map(struct recording *recording, uint16_t misc, uint64_t time, uint32_t pid,
			       uint64_t start, uint64_t length, uint64_t offset, const char *path)
{
	struct lode_buffer body = { 0 };

	lode_buffer_u32(&body, pid);
	lode_buffer_u32(&body, pid);
	lode_buffer_u64(&body, start);
	lode_buffer_u64(&body, length);
	lode_buffer_u64(&body, offset);
	put_text(&body, path);
	put_trailer(&body, recording, time);
	put_record(&recording->records, PERF_RECORD_MMAP, misc, &body);
	lode_buffer_release(&body);
}

static inline void put_map(struct recording *recording, uint64_t time, uint32_t pid, uint64_t start,
			   uint64_t length, uint64_t offset, const char *path)
{
	put_any_map(recording, pid == UINT32_MAX ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER, time, pid,
		    start, length, offset, path);
}

static inline void put_comm(struct recording *recording, uint64_t time, uint32_t pid, uint32_t tid,
			    const char *name)
{
	struct lode_buffer body = { 0 };

	lode_buffer_u32(&body, pid);
	lode_buffer_u32(&body, tid);
	put_text(&body, name);
	put_trailer(&body, recording, time);
	put_record(&recording->records, PERF_RECORD_COMM, 0, &body);
	lode_buffer_release(&body);
}

static inline void put_fork(struct recording *recording, uint64_t time, uint32_t pid, uint32_t parent)
{
	struct lode_buffer body = { 0 };

	lode_buffer_u32(&body, pid);
	lode_buffer_u32(&body, parent);
	lode_buffer_u32(&body, pid);
	lode_buffer_u32(&body, parent);
	lode_buffer_u64(&body, time);
	put_trailer(&body, recording, time);
	put_record(&recording->records, PERF_RECORD_FORK, 0, &body);
	lode_buffer_release(&body);
}

/* The user's part of a stack that was recorded apart. */
static inline void put_deferred(struct recording *recording, uint64_t time, uint32_t pid, uint32_t tid,
				uint64_t cookie, const uint64_t *chain, size_t count)
{
	struct lode_buffer body = { 0 };
	size_t at;

	lode_buffer_u64(&body, cookie);
	lode_buffer_u64(&body, count);
	lode_buffer_add(&body, chain, 8 * count);
	at = body.size;
	put_trailer(&body, recording, time);
	memcpy(body.bytes + at, &pid, 4); /* the trailer begins with them */
	memcpy(body.bytes + at + 4, &tid, 4);
	put_record(&recording->records, 22, PERF_RECORD_MISC_USER, &body);
	lode_buffer_release(&body);
}

/* The name of an event, as perf inject and pipes give it. */
static inline void put_event_name(struct recording *recording, unsigned event, const char *name)
{
	struct lode_buffer body = { 0 };

	lode_buffer_u64(&body, 2);
	lode_buffer_u64(&body, recording->ids[event]);
	put_text(&body, name);
	put_record(&recording->records, 78, 0, &body);
	lode_buffer_release(&body);
}

static inline void put_round(struct recording *recording)
{
	put_header(&recording->records, 68, 0, 0);
}

/* Registers and stack of a user, as a sample has them; tests may use wrong ones. */
struct user_state {
	uint64_t abi;
	const uint64_t *registers;
	size_t register_count;
	uint64_t size; /* that the recorder was to copy; what is behind `bytes` is filled up */
	const void *bytes;
	size_t byte_count;
	uint64_t copied;
};

/* A sample of event number `event`; `chain` is leaf first, `raw` may be NULL. */
struct sample {
	unsigned event;
	uint64_t time;
	uint32_t pid;
	uint32_t tid;
	uint32_t cpu;
	uint64_t period;
	const uint64_t *chain;
	size_t chain_count;
	const void *raw;
	uint32_t raw_size;
	const uint64_t *branches; /* from, to and flags each; NULL: one of no use */
	size_t branch_count;
	const struct user_state *user; /* NULL: the one register that a test of no stacks asks for */
};

#define CHAIN(...)                                                                                                \
	.chain = (const uint64_t[]){ __VA_ARGS__ }, .chain_count = sizeof((uint64_t[]){ __VA_ARGS__ }) / 8

static inline void put_sample_head(struct lode_buffer *body, const struct recording *recording,
				   const struct sample *sample)
{
	uint64_t type = recording->events[sample->event].sample_type;

	if (type & PERF_SAMPLE_IDENTIFIER)
		lode_buffer_u64(body, recording->ids[sample->event]);
	if (type & PERF_SAMPLE_IP)
		lode_buffer_u64(body, sample->chain_count > 1 ? sample->chain[1] : 0);
	if (type & PERF_SAMPLE_TID)
		lode_buffer_u64(body, (uint64_t)sample->tid << 32 | sample->pid);
	if (type & PERF_SAMPLE_TIME)
		lode_buffer_u64(body, sample->time);
	if (type & PERF_SAMPLE_ADDR)
		lode_buffer_u64(body, 0xadd7);
	if (type & PERF_SAMPLE_ID)
		lode_buffer_u64(body, recording->ids[sample->event]);
	if (type & PERF_SAMPLE_STREAM_ID)
		lode_buffer_u64(body, 0x57e);
	if (type & PERF_SAMPLE_CPU)
		lode_buffer_u64(body, sample->cpu);
	if (type & PERF_SAMPLE_PERIOD)
		lode_buffer_u64(body, sample->period);
}

static inline void put_user_stack(struct lode_buffer *body, const struct user_state *user)
{
	lode_buffer_u64(body, user->size);
	if (!user->size)
		return;
	lode_buffer_add(body, user->bytes, user->byte_count);
	for (size_t i = user->byte_count; i < user->size && i < 60000; i++)
		lode_buffer_byte(body, (char)0xee);
	lode_buffer_u64(body, user->copied);
}

/* Fields of no use are filled with something that would be noticed in the place of another. */
static inline void put_sample_tail(struct lode_buffer *body, const struct recording *recording,
				   const struct sample *sample)
{
	uint64_t type = recording->events[sample->event].sample_type;

	if (type & PERF_SAMPLE_READ) /* a group of two, with times and ids */
		for (uint64_t i = 0; i < 7; i++)
			lode_buffer_u64(body, i ? 0xbad0 + i : 2);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		lode_buffer_u64(body, sample->chain_count);
		lode_buffer_add(body, sample->chain, 8 * sample->chain_count);
	}
	if (type & PERF_SAMPLE_RAW) {
		size_t padded = (4 + sample->raw_size + 7) / 8 * 8 - 4;

		lode_buffer_u32(body, (uint32_t)padded);
		lode_buffer_add(body, sample->raw, sample->raw_size);
		for (size_t i = sample->raw_size; i < padded; i++)
			lode_buffer_byte(body, '\0');
	}
	if (type & PERF_SAMPLE_BRANCH_STACK && sample->branches) {
		lode_buffer_u64(body, sample->branch_count);
		lode_buffer_add(body, sample->branches, 24 * sample->branch_count);
	} else if (type & PERF_SAMPLE_BRANCH_STACK) {
		lode_buffer_u64(body, 1);
		for (int i = 0; i < 3; i++)
			lode_buffer_u64(body, 0xb0b0);
	}
	if (type & PERF_SAMPLE_REGS_USER && sample->user) {
		lode_buffer_u64(body, sample->user->abi);
		lode_buffer_add(body, sample->user->registers, 8 * sample->user->register_count);
	} else if (type & PERF_SAMPLE_REGS_USER) {
		lode_buffer_u64(body, PERF_SAMPLE_REGS_ABI_64);
		lode_buffer_u64(body, 0x401234);
	}
	if (type & PERF_SAMPLE_STACK_USER && sample->user)
		put_user_stack(body, sample->user);
	if (type & PERF_SAMPLE_WEIGHT)
		lode_buffer_u64(body, 0x33);
}

static inline void put_sample(struct recording *recording, struct sample sample)
{
	struct lode_buffer body = { 0 };

	put_sample_head(&body, recording, &sample);
	put_sample_tail(&body, recording, &sample);
	put_record(&recording->records, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, &body);
	lode_buffer_release(&body);
}

static inline void put_attr(struct lode_buffer *buffer, const struct recording *recording, unsigned event)
{
	size_t size = recording->attr_size ? recording->attr_size : sizeof(struct perf_event_attr);
	unsigned char *bytes = calloc(1, size + sizeof(struct perf_event_attr));

	memset(bytes, 0xee, size + sizeof(struct perf_event_attr)); /* what is newer than this program */
	memcpy(bytes, &recording->events[event], sizeof(struct perf_event_attr));
	memcpy(bytes + 4, &(uint32_t){ (uint32_t)size }, 4);
	lode_buffer_add(buffer, bytes, size);
	free(bytes);
}

static inline void set_u64(struct lode_buffer *file, size_t at, uint64_t number)
{
	memcpy(file->bytes + at, &number, sizeof(number));
}

/* Writes a section of bytes and where it is, at `place`. */
static inline void put_section(struct lode_buffer *file, size_t place, const void *bytes, size_t size)
{
	set_u64(file, place, file->size);
	set_u64(file, place + 8, size);
	lode_buffer_add(file, bytes, size);
}

static inline void make_file(const struct recording *recording, struct lode_buffer *file)
{
	struct lode_buffer attrs = { 0 };
	unsigned char header[104] = "PERFILE2";
	size_t size = recording->attr_size ? recording->attr_size : sizeof(struct perf_event_attr), table;
	char arch[68] = { 64 };

	lode_buffer_add(file, header, sizeof(header));
	set_u64(file, 8, sizeof(header));
	set_u64(file, 16, size + 16);
	for (unsigned i = 0; i < recording->event_count; i++) {
		put_attr(&attrs, recording, i);
		lode_buffer_u64(&attrs, file->size + 8 * i);
		lode_buffer_u64(&attrs, 8);
	}
	lode_buffer_add(file, recording->ids, 8ul * recording->event_count);
	put_section(file, 24, attrs.bytes, attrs.size);
	put_section(file, 40, recording->records.bytes, recording->records.size);
	table = file->size;
	file->bytes[72] = (char)((recording->tracing.size ? 1 << 1 : 0) | 1 << 6);
	for (int i = 0; i < 4; i++)
		lode_buffer_u64(file, 0);
	if (recording->tracing.size)
		put_section(file, table, recording->tracing.bytes, recording->tracing.size);
	strcpy(arch + 4, recording->arch ? recording->arch : "aarch64");
	put_section(file, table + (recording->tracing.size ? 16 : 0), arch, sizeof(arch));
	lode_buffer_release(&attrs);
}

static inline void make_pipe(const struct recording *recording, struct lode_buffer *file)
{
	struct lode_buffer body = { 0 };
	char arch[12] = "";

	lode_buffer_add(file, "PERFILE2", 8);
	lode_buffer_u64(file, 16);
	for (unsigned i = 0; i < recording->event_count; i++) {
		lode_buffer_clear(&body);
		put_attr(&body, recording, i);
		lode_buffer_u64(&body, recording->ids[i]);
		put_record(file, 64, 0, &body);
	}
	lode_buffer_clear(&body);
	lode_buffer_u64(&body, 6); /* the feature ARCH */
	lode_buffer_u32(&body, 12);
	strncpy(arch, recording->arch ? recording->arch : "aarch64", sizeof(arch) - 1);
	lode_buffer_add(&body, arch, sizeof(arch));
	put_record(file, 80, 0, &body);
	if (recording->tracing.size) {
		put_header(file, 66, 0, 4);
		lode_buffer_u32(file, (uint32_t)recording->tracing.size);
		lode_buffer_add(file, recording->tracing.bytes, recording->tracing.size);
		for (size_t i = recording->tracing.size; i % 8; i++)
			lode_buffer_byte(file, '\0');
	}
	lode_buffer_add(file, recording->records.bytes, recording->records.size);
	lode_buffer_release(&body);
}

/* The same with all records packed, cut at any place into compressed records of `type`. */
static inline void compress(struct recording *recording, uint32_t type)
{
	struct lode_buffer packed = { 0 }, records = { 0 };
	size_t room = ZSTD_compressBound(recording->records.size);

	packed.bytes = malloc(room);
	packed.size = ZSTD_compress(packed.bytes, room, recording->records.bytes, recording->records.size, 3);
	for (size_t at = 0; at < packed.size;) {
		size_t size = 1 + (size_t)rand() % 300, padding = 0;

		if (size > packed.size - at)
			size = packed.size - at;
		if (type == 83) {
			padding = (8 - size % 8) % 8;
			put_header(&records, type, 0, 8 + size + padding);
			lode_buffer_u64(&records, size);
		} else {
			put_header(&records, type, 0, size);
		}
		lode_buffer_add(&records, packed.bytes + at, size);
		lode_buffer_add(&records, "\0\0\0\0\0\0\0", padding);
		at += size;
	}
	free(packed.bytes);
	lode_buffer_release(&recording->records);
	recording->records = records;
}

static inline uint64_t noted(const struct imported *imported, const char *part)
{
	for (size_t i = 0; i < imported->notes.count; i++)
		if (strstr(imported->notes.items[i].what, part))
			return imported->notes.items[i].count;
	return 0;
}

#endif
