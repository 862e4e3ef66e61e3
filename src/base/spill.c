/*
 * Blocks outside of memory: see spill.h.
 *
 * One file and one range of addresses: a block at an address is in the file at the same distance from the
 * start. Addresses and the length of the file are reserved generously, both of which cost nothing; room on the
 * disk is taken when a block is made or grows, so that a disk that is full is an error there and not a signal
 * (SIGBUS) later. A block has room for growing, a power of two, behind it; its first page holds how much. The
 * addresses of a block that is freed go to a list for blocks with as much room, and so does its room on the
 * disk unless that is large. Its content is discarded immediately, so that it is neither written to the disk
 * nor read again to be zeroed.
 *
 * Blocks in memory are limited to five eighths of what is allowed, and those that stay until the end (memory.h)
 * to a quarter, so that there is room for data that is computed from one stream, used often and freed. The rest
 * is for pages of the blocks outside, which come and go. The kernel takes them away only when the whole machine
 * is short of memory; so a thread looks every few milliseconds, and when the process has grown too large, it
 * unmaps all of them. They stay in the kernel's page cache until it needs the memory, and come back when they
 * are used. In a control group with as little memory as the limit the cache is no larger than what is left
 * there, so pages are read one by one: read-ahead would fetch megabytes around each, and evict what is used
 * next.
 */
#include "base/spill.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/quiet_thread.h"
#include "base/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MAX_ADDRESSES ((uint64_t)1 << 42)
#define MIN_ADDRESSES ((uint64_t)1 << 32)
#define CLASSES       43
#define MIN_BLOCK     (64 << 10)
#define MAX_SMALL     (1 << 20)
#define MAX_KEPT      (16 << 20) /* a larger block that is freed gives its room on the disk back at once */
#define PAUSE         1000000    /* ns between two looks */
#define SHORT_PAUSE   100000     /* while much is resident */

/* The first page of a block. */
struct header {
	uint64_t size;       /* of the block, without this page */
	uint64_t taken;      /* bytes behind this page that have room on the disk */
	uint64_t dirty;      /* of a free block: how many of these are not known to be zero */
	uint64_t next;       /* of a free block: the next one with as much room, from the start; 0: none */
	unsigned room_class; /* its room is two to this */
};

static struct {
	pthread_mutex_t lock; /* of all but what is atomic */
	struct lode_overflow overflow[2];
	int current; /* which of them is in use */
	unsigned char *start;
	uint64_t page;
	uint64_t addresses;
	atomic_uint_fast64_t used; /* addresses */
	int fd;
	int statm;              /* /proc/self/statm; -1: there is none, and nothing is unmapped */
	uint64_t free[CLASSES]; /* by class of room: a free block, from the start; 0: none */
	atomic_uint_fast64_t limit;
	uint64_t spilled;
	uint64_t most;
	uint64_t whole; /* the most in memory and outside of it, ever */
	struct lode_shortage shortage;
	atomic_uint_fast64_t resident;
	pthread_t thread;
	int is_watching;
	atomic_int ends;
} spill = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1, .statm = -1 };

/* ---- room on the disk ---- */

uint64_t lode_spill_limit_for(uint64_t bytes)
{
	return bytes / 5 * 8 + 8;
}

/* Only the first one is kept: the others follow from it. */
static void note_shortage(uint64_t wanted, const char *reason)
{
	if (lode_memory_shortage())
		return;
	spill.shortage = (struct lode_shortage){
		.limit = spill.limit,
		.wanted = wanted,
		.needed = lode_spill_limit_for(lode_memory_held() + spill.spilled + wanted),
		.folder = lode_scratch_folder(),
		.reason = reason,
	};
	lode_memory_set_shortage(&spill.shortage);
}

/* The file is made when it is needed first. */
static int open_file(void)
{
	int code = 0;

	if (spill.fd >= 0)
		return 0;
	spill.fd = lode_scratch_open(NULL);
	if (spill.fd < 0)
		return LODE_SYSTEM;
	if (lode_scratch_is_memory(spill.fd)) {
		errno = 0;
		code = LODE_SYSTEM;
	} else if (ftruncate(spill.fd, (off_t)spill.addresses) < 0) {
		code = LODE_SYSTEM;
	} else {
		code = lode_file_map_shared(spill.start, spill.addresses, spill.fd);
	}
	if (!code)
		madvise(spill.start, spill.addresses, MADV_RANDOM); /* no reading ahead */
	if (code) {
		int number = errno;

		close(spill.fd);
		spill.fd = -1;
		errno = number;
	}
	return code;
}

static uint64_t page_end(uint64_t place)
{
	return place + (spill.page - place % spill.page) % spill.page;
}

static int reserve_room(uint64_t from, uint64_t to)
{
	int code = 0;

	from -= from % spill.page;
	to = page_end(to);
	do {
		if (from < to)
			code = posix_fallocate(spill.fd, (off_t)from, (off_t)(to - from));
	} while (code == EINTR);
	errno = code;
	return code ? LODE_SYSTEM : 0;
}

/* Of whole pages; what is left of the first one stays. */
static void return_room(uint64_t from, uint64_t to)
{
	from = page_end(from);
	to = page_end(to);
	if (from >= to)
		return;
	/* Where the file system cannot, the room stays taken; its bytes must be zero anyway. */
	if (fallocate(spill.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(to - from)))
		memset(spill.start + from, 0, to - from);
}

/* Drops what whole pages hold, and keeps their room; returns whether they are zero now. */
static int drop_content(uint64_t from, uint64_t size)
{
	return !size ||
	       fallocate(spill.fd, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)size) == 0;
}

/* ---- what is resident ---- */

/* Memory of the process, and what of it is not pages of files; of /proc/self/statm the second number and the third. */
static uint64_t resident_bytes(int fd, uint64_t *own)
{
	char text[128] = "", *next;
	ssize_t length = pread(fd, text, sizeof(text) - 1, 0);
	uint64_t resident;

	*own = 0;
	next = length > 0 ? strchr(text, ' ') : NULL;
	if (!next)
		return 0;
	resident = strtoull(next, &next, 10);
	*own = (resident - strtoull(next, NULL, 10)) * spill.page;
	return resident * spill.page;
}

/* Unmaps pages of the file unless there is room for `more` bytes; returns whether that may be so again soon. Without the lock: what was mapped once stays so. */
static int make_room(uint64_t more)
{
	uint64_t limit = atomic_load(&spill.limit), own, resident;

	if (!limit)
		return 0;
	resident = resident_bytes(spill.statm, &own);
	if (resident + more < limit - limit / 8)
		return resident > limit / 2;
	madvise(spill.start, atomic_load(&spill.used), MADV_DONTNEED);
	if (own > limit && own > atomic_load(&spill.resident))
		atomic_store(&spill.resident, own);
	return 1;
}

/* ---- blocks ---- */

static struct header *header_at(uint64_t place)
{
	return (struct header *)(void *)(spill.start + place);
}

static uint64_t place_of(const void *block)
{
	return (uint64_t)((const unsigned char *)block - spill.start) - spill.page;
}

static unsigned class_of(uint64_t bytes)
{
	unsigned room_class = 0;

	while (room_class < CLASSES && (uint64_t)1 << room_class < bytes)
		room_class++;
	return room_class;
}

/* Addresses with room for two doublings, or at least for the block; 0: none are left. */
static uint64_t allocate_addresses(uint64_t bytes, unsigned *room_class, uint64_t *taken, uint64_t *dirty)
{
	uint64_t place;

	*taken = *dirty = 0;
	for (*room_class = class_of(4 * bytes); (uint64_t)1 << *room_class >= bytes; --*room_class) {
		place = spill.free[*room_class];
		if (place) {
			spill.free[*room_class] = header_at(place)->next;
			*taken = header_at(place)->taken;
			*dirty = header_at(place)->dirty;
			return place;
		}
		if ((uint64_t)1 << *room_class > spill.addresses - spill.used)
			continue;
		place = spill.used;
		spill.used += (uint64_t)1 << *room_class;
		return place;
	}
	return 0;
}

static void put_back(uint64_t place, unsigned room_class, uint64_t taken, uint64_t dirty)
{
	*header_at(place) = (struct header){ 0, taken, dirty, spill.free[room_class], room_class };
	spill.free[room_class] = place;
}

static void count_whole(void)
{
	uint64_t whole = spill.spilled + lode_memory_held();

	spill.whole = whole > spill.whole ? whole : spill.whole;
}

/* What is in memory may have grown since the last time, so it is looked at before and after. */
static void count_spilled(uint64_t more, uint64_t less)
{
	count_whole();
	spill.spilled += more - less;
	spill.most = spill.spilled > spill.most ? spill.spilled : spill.most;
	count_whole();
	lode_memory_count_bytes((int64_t)(more - less));
}

/* Room on the disk for the block at `place`, of which `*taken` bytes are there. */
static int reserve_block(uint64_t place, size_t size, uint64_t *taken)
{
	uint64_t from = place + spill.page;

	if (!*taken && reserve_room(place, from) < 0)
		return LODE_SYSTEM;
	if (size > *taken && reserve_room(from + *taken, from + size) < 0) {
		note_shortage(size, strerror(errno));
		return LODE_SYSTEM;
	}
	*taken = size > *taken ? page_end(size) : *taken;
	return 0;
}

static void *allocate_locked(size_t size, uint64_t *dirty)
{
	unsigned room_class;
	uint64_t place, taken;

	if (open_file() < 0) {
		note_shortage(size, errno ? strerror(errno) : "it is in memory itself");
		return NULL;
	}
	place = size < spill.addresses / 8 ? allocate_addresses(size + spill.page, &room_class, &taken, dirty) : 0;
	if (!place) {
		note_shortage(size, "no address space is left");
		return NULL;
	}
	if (reserve_block(place, size, &taken) < 0) {
		if (taken)
			put_back(place, room_class, taken, *dirty);
		return NULL; /* without room for its first page the addresses are lost, not more */
	}
	*header_at(place) = (struct header){ size, taken, 0, 0, room_class };
	count_spilled(size, 0);
	return spill.start + place + spill.page;
}

static void *take(size_t size)
{
	uint64_t dirty = 0;
	void *block;

	pthread_mutex_lock(&spill.lock);
	block = allocate_locked(size, &dirty);
	pthread_mutex_unlock(&spill.lock);
	if (!block)
		return NULL;
	make_room(size < MAX_KEPT ? size : MAX_KEPT);
	memset(block, 0, dirty < size ? dirty : size);
	return block;
}

static void give_back(void *block)
{
	uint64_t place = place_of(block), from = place + spill.page, kept;
	struct header header;

	pthread_mutex_lock(&spill.lock);
	header = *header_at(place);
	kept = header.taken < MAX_KEPT ? header.taken : MAX_KEPT;
	madvise(spill.start + from, header.taken, MADV_DONTNEED);
	return_room(from + kept, from + header.taken);
	put_back(place, header.room_class, kept, drop_content(from, kept) ? 0 : kept);
	count_spilled(0, header.size);
	pthread_mutex_unlock(&spill.lock);
}

/* Grows or shrinks a block where it is; 0 where it can. */
static int resize_in_place(uint64_t place, size_t size)
{
	struct header *header = header_at(place);

	if (size + spill.page > (uint64_t)1 << header->room_class)
		return LODE_SYSTEM;
	if (reserve_block(place, size, &header->taken) < 0)
		return LODE_SYSTEM;
	count_spilled(size, header->size);
	header->size = size;
	return 0;
}

static void *resize(void *block, size_t size)
{
	uint64_t place = place_of(block);
	size_t old;
	void *moved;
	int code;

	pthread_mutex_lock(&spill.lock);
	old = header_at(place)->size;
	code = resize_in_place(place, size);
	pthread_mutex_unlock(&spill.lock);
	if (!code)
		return block;
	moved = take(size);
	if (moved) {
		memcpy(moved, block, old < size ? old : size);
		give_back(block);
	}
	return moved;
}

/* ---- watching ---- */

static void *watch(void *unused)
{
	while (!atomic_load(&spill.ends)) {
		const struct timespec pause = { 0, make_room(0) ? SHORT_PAUSE : PAUSE };

		nanosleep(&pause, NULL);
	}
	return unused;
}

/* ---- the limit ---- */

static int reserve(struct lode_error *error)
{
	spill.page = (uint64_t)sysconf(_SC_PAGESIZE);
	for (spill.addresses = MAX_ADDRESSES; !spill.start && spill.addresses >= MIN_ADDRESSES;)
		if (!(spill.start = lode_file_reserve(spill.addresses)))
			spill.addresses /= 2;
	spill.used = spill.page; /* 0 is no place */
	spill.statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	return spill.start
		       ? 0
		       : lode_fail(error, LODE_SYSTEM,
				   "--memory needs address space, and none is left; raise its limit (ulimit -v)");
}

static void use_limit(uint64_t bytes)
{
	struct lode_overflow *overflow = &spill.overflow[spill.current = !spill.current];
	size_t least = bytes / 256 < MIN_BLOCK ? MIN_BLOCK : bytes / 256;

	*overflow = (struct lode_overflow){
		.first = (uintptr_t)spill.start,
		.last = (uintptr_t)spill.start + spill.addresses,
		.limit = bytes ? bytes / 8 * 5 : SIZE_MAX,
		.lasting_limit = bytes ? bytes / 4 : SIZE_MAX,
		.least = !bytes              ? SIZE_MAX
			 : least > MAX_SMALL ? MAX_SMALL
					     : least,
		.take = take,
		.resize = resize,
		.give_back = give_back,
	};
	lode_memory_set_overflow(overflow);
}

static void stop_watching(void)
{
	if (!spill.is_watching)
		return;
	atomic_store(&spill.ends, 1);
	pthread_join(spill.thread, NULL);
	atomic_store(&spill.ends, 0);
	spill.is_watching = 0;
}

static int set_limit(uint64_t bytes, struct lode_error *error)
{
	stop_watching();
	if (!spill.start && !bytes)
		return 0;
	if (!spill.start && reserve(error) < 0)
		return LODE_SYSTEM;
	pthread_mutex_lock(&spill.lock);
	spill.limit = bytes;
	spill.most = spill.whole = spill.spilled;
	atomic_store(&spill.resident, 0);
	use_limit(bytes);
	pthread_mutex_unlock(&spill.lock);
	lode_memory_set_shortage(NULL);
	if (!bytes)
		return 0;
	lode_memory_return_freed();
	spill.is_watching = lode_quiet_thread(&spill.thread, watch, NULL) == 0;
	return 0;
}

int lode_spill_limit(uint64_t bytes, struct lode_error *error)
{
	static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
	int code;

	pthread_mutex_lock(&changing);
	code = set_limit(bytes, error);
	pthread_mutex_unlock(&changing);
	return code;
}

struct lode_spill_counts lode_spill_counts(void)
{
	struct lode_spill_counts counts;

	pthread_mutex_lock(&spill.lock);
	counts = (struct lode_spill_counts){
		spill.limit, spill.spilled, spill.most, atomic_load(&spill.resident), lode_memory_largest_piece(),
		spill.whole
	};
	pthread_mutex_unlock(&spill.lock);
	return counts;
}
