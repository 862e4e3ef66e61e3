/* GPUs of a recording: see gpu_recording.h. This file has the ring; gpu_recorded_facts.c what becomes of its contents. */
#include "record/gpu/gpu_recording.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/program_folder.h"
#include "record/gpu/gpu_recorded_facts.h"
#include "record/gpu/gpu_ring.h"
#include "record/gpu/modules_place.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LIBRARY "liblode-gpu.so"
/* A stack takes some microseconds: a hundredth of a processor or so. */
#define STACKS_PER_SECOND 2000

struct lode_gpu_recording {
	char *library;
	char path[64]; /* of the ring */
	int fd;
	struct lode_gpu_ring *ring;
	size_t bytes;
	uint64_t done; /* what the ring says of it others may write */
	struct lode_gpu_recorded recorded;
};

/* ---- the library ---- */

/* Where it is built, beside the program, and where it is installed. */
static int find_library(struct lode_gpu_recording *recording, struct lode_error *error)
{
	char *folder = lode_program_folder();
	char *places[] = {
		folder ? lode_format("%s/../record/gpu/" LIBRARY, folder) : NULL,
		folder ? lode_format("%s/" LIBRARY, folder) : NULL,
		lode_strdup(LODE_MODULES_FOLDER "/" LIBRARY),
	};

	lode_free(folder);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (!recording->library && places[i] && access(places[i], R_OK) == 0)
			recording->library = places[i];
		else
			lode_free(places[i]);
	}
	if (!recording->library)
		return lode_fail(error, LODE_SYSTEM,
				 "--gpu: " LIBRARY " is neither in " LODE_MODULES_FOLDER
				 " nor beside the program; install it");
	return 0;
}

const char *lode_gpu_recording_library(const struct lode_gpu_recording *recording)
{
	return recording->library;
}

/* The file's offset of an address in memory; 0: it is in no segment. */
static uint64_t file_offset(const unsigned char *bytes, const Elf64_Ehdr *head, uint64_t address)
{
	for (unsigned i = 0; i < head->e_phnum; i++) {
		Elf64_Phdr segment;

		memcpy(&segment, bytes + head->e_phoff + i * sizeof(segment), sizeof(segment));
		if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
		    address - segment.p_vaddr < segment.p_filesz)
			return segment.p_offset + address - segment.p_vaddr;
	}
	return 0;
}

static uint64_t find_probe(const struct lode_map *map)
{
	Elf64_Ehdr head;
	Elf64_Shdr section, names;
	Elf64_Sym symbol;

	if (map->size < sizeof(head))
		return 0;
	memcpy(&head, map->bytes, sizeof(head));
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_shoff > map->size ||
	    (map->size - head.e_shoff) / sizeof(section) < head.e_shnum || head.e_phoff > map->size ||
	    (map->size - head.e_phoff) / sizeof(Elf64_Phdr) < head.e_phnum)
		return 0;
	for (unsigned i = 0; i < head.e_shnum; i++) {
		memcpy(&section, map->bytes + head.e_shoff + i * sizeof(section), sizeof(section));
		if (section.sh_type != SHT_DYNSYM || section.sh_link >= head.e_shnum ||
		    section.sh_offset > map->size || section.sh_size > map->size - section.sh_offset)
			continue;
		memcpy(&names, map->bytes + head.e_shoff + section.sh_link * sizeof(names), sizeof(names));
		if (names.sh_offset > map->size || names.sh_size > map->size - names.sh_offset)
			continue;
		for (uint64_t k = 0; k < section.sh_size / sizeof(symbol); k++) {
			memcpy(&symbol, map->bytes + section.sh_offset + k * sizeof(symbol), sizeof(symbol));
			if (symbol.st_name < names.sh_size &&
			    names.sh_size - symbol.st_name > strlen(LODE_GPU_PROBE) &&
			    !strcmp((const char *)map->bytes + names.sh_offset + symbol.st_name, LODE_GPU_PROBE))
				return file_offset(map->bytes, &head, symbol.st_value);
		}
	}
	return 0;
}

int lode_gpu_recording_probe(const struct lode_gpu_recording *recording, uint64_t *offset, struct lode_error *error)
{
	struct lode_map map;
	int code = lode_map_open(&map, recording->library, error);

	if (code < 0)
		return code;
	*offset = find_probe(&map);
	lode_map_close(&map);
	if (!*offset)
		return lode_fail(error, LODE_SYSTEM, "--gpu: %s is not the library of this version of lode",
				 recording->library);
	return 0;
}

/* ---- the ring ---- */

static int make_ring(struct lode_gpu_recording *recording, struct lode_error *error)
{
	recording->bytes =
		sizeof(*recording->ring) + (size_t)LODE_GPU_RING_SLOTS * sizeof(recording->ring->slots[0]);
	snprintf(recording->path, sizeof(recording->path), "/dev/shm/lode-gpu-%d", (int)getpid());
	unlink(recording->path); /* of a process that had this number before */
	recording->fd = lode_file_open(recording->path, O_RDWR | O_CREAT, 0600, error);
	if (recording->fd < 0)
		return LODE_SYSTEM;
	if (ftruncate(recording->fd, (off_t)recording->bytes) < 0)
		return lode_file_fail(error, recording->path, "cannot be made as large as it must be");
	recording->ring = lode_file_reserve(recording->bytes);
	if (!recording->ring || lode_file_map_shared(recording->ring, recording->bytes, recording->fd) < 0) {
		recording->ring = NULL;
		return lode_file_fail(error, recording->path, "cannot be mapped");
	}
	recording->ring->slot_count = LODE_GPU_RING_SLOTS;
	recording->ring->stacks_per_second = STACKS_PER_SECOND;
	recording->ring->version = LODE_GPU_RING_VERSION;
	recording->ring->magic = LODE_GPU_RING_MAGIC;
	return 0;
}

static int set_environment(const struct lode_gpu_recording *recording, struct lode_error *error)
{
	const char *other = getenv(LODE_GPU_INJECTION_VARIABLE);

	if (other && *other)
		return lode_fail(
			error, LODE_USAGE,
			"record: '--gpu' is injected by " LODE_GPU_INJECTION_VARIABLE
			", which is set to '%s' already: another profiler; unset it. See 'lode help record'.",
			other);
	if (setenv(LODE_GPU_INJECTION_VARIABLE, recording->library, 1) < 0 ||
	    setenv(LODE_GPU_RING_VARIABLE, recording->path, 1) < 0)
		return lode_fail_memory(error);
	return 0;
}

int lode_gpu_recording_create(struct lode_gpu_recording **result, struct lode_error *error)
{
	struct lode_gpu_recording *recording = lode_calloc(1, sizeof(*recording));
	int code;

	*result = NULL;
	if (!recording)
		return lode_fail_memory(error);
	recording->fd = -1;
	code = find_library(recording, error);
	if (!code)
		code = make_ring(recording, error);
	if (!code)
		code = set_environment(recording, error);
	if (code) {
		lode_gpu_recording_destroy(recording);
		return code;
	}
	*result = recording;
	return 0;
}

void lode_gpu_recording_destroy(struct lode_gpu_recording *recording)
{
	if (!recording)
		return;
	if (recording->fd >= 0) {
		close(recording->fd);
		lode_file_remove(recording->path, NULL);
		unsetenv(LODE_GPU_INJECTION_VARIABLE);
		unsetenv(LODE_GPU_RING_VARIABLE);
	}
	lode_gpu_recorded_release(&recording->recorded);
	lode_free(recording->library);
	lode_free(recording);
}

int lode_gpu_recording_read(struct lode_gpu_recording *recording)
{
	struct lode_gpu_ring *ring = recording->ring;
	uint64_t done = recording->done, most = done + LODE_GPU_RING_SLOTS;

	for (; done < most; done++) {
		struct lode_gpu_slot *slot = &ring->slots[done & (LODE_GPU_RING_SLOTS - 1)], copy;

		if (atomic_load_explicit(&slot->number, memory_order_acquire) != done + 1)
			break;
		memcpy(&copy, slot, sizeof(copy));
		if (lode_gpu_recorded_take(&recording->recorded, &copy) < 0)
			return LODE_SYSTEM;
	}
	recording->done = done;
	atomic_store_explicit(&ring->done, done, memory_order_release);
	return 0;
}

int lode_gpu_recording_is_used(const struct lode_gpu_recording *recording)
{
	return recording->recorded.activities.count > 0;
}

/* ---- the end ---- */

static void note_ring(const struct lode_gpu_recording *recording, struct lode_notes *notes)
{
	const struct lode_gpu_ring *ring = recording->ring;
	char message[LODE_GPU_RING_MESSAGE + 1] = "";

	lode_notes_add(notes, atomic_load(&ring->lost),
		       "records of GPUs lost, because the recorder was not quick enough", NULL);
	if (atomic_load(&ring->failed) == 2) {
		memcpy(message, ring->message, LODE_GPU_RING_MESSAGE);
		lode_notes_add(notes, 1, "GPUs were not recorded", message);
	} else if (!atomic_load(&ring->processes)) {
		lode_notes_add(notes, 1,
			       "GPUs were not recorded: no process has used CUDA; NVIDIA's driver (libcuda) loads "
			       "the library that records it",
			       NULL);
	}
}

int lode_gpu_recording_add(void *context, struct lode_stream *stream, struct lode_notes *notes)
{
	struct lode_gpu_recording *recording = context;

	if (lode_gpu_recording_read(recording) < 0)
		return LODE_SYSTEM;
	note_ring(recording, notes);
	return lode_gpu_recorded_add(&recording->recorded, stream, notes);
}
