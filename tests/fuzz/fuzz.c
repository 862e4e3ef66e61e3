/* What the fuzz targets share: see fuzz.h. */
#include "fuzz.h"

#include "import/import.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void fuzz_require(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "fuzzing: broken: %s\n", what);
	abort();
}

void fuzz_require_sentence(int code, const struct lode_error *error)
{
	fuzz_require(code >= LODE_SYSTEM, "a result is a known code");
	if (code < 0)
		fuzz_require(error->text[0] != '\0', "a failure comes with a sentence");
}

void fuzz_file_make(struct fuzz_file *file, const void *bytes, size_t size)
{
	file->fd = memfd_create("fuzz", MFD_CLOEXEC);
	fuzz_require(file->fd >= 0 && write(file->fd, bytes, size) == (ssize_t)size, "there is room for a file");
	snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d", file->fd);
}

void fuzz_file_remove(struct fuzz_file *file)
{
	close(file->fd);
}

/* ---- a folder ---- */

static char folder[64];

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	return remove(path);
}

static void remove_folder(void)
{
	nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

const char *fuzz_folder(void)
{
	if (folder[0])
		return folder;
	strcpy(folder, access("/dev/shm", W_OK) ? "/tmp/lode-fuzz-XXXXXX" : "/dev/shm/lode-fuzz-XXXXXX");
	fuzz_require(mkdtemp(folder) != NULL, "a folder can be made");
	atexit(remove_folder);
	return folder;
}

/* ---- importers ---- */

static void check_events(const struct lode_stream *stream, const struct lode_events *events)
{
	size_t nodes = stream->dictionary->tree.count, strings = stream->dictionary->frames.strings.count;

	for (size_t i = 0; i < events->count; i++) {
		fuzz_require(!i || events->t[i - 1] <= events->t[i], "events are in order of time");
		fuzz_require(events->thread[i] < stream->thread_count, "an event's thread is there");
		fuzz_require(events->stack[i] < nodes && events->waker_stack[i] < nodes,
			     "an event's stacks are there");
		fuzz_require(events->waker[i] == LODE_NONE || events->waker[i] < stream->thread_count,
			     "an event's waker is there");
		fuzz_require(events->name[i] < strings, "an event's name is there");
		fuzz_require(lode_events_object(events, i) < strings, "an event's object is there");
		fuzz_require(lode_events_context(events, i) < strings, "an event's context is there");
		fuzz_require(lode_events_holder(events, i) == LODE_NONE ||
				     (lode_events_object(events, i) && events->holder[i] < stream->thread_count),
			     "an event's holder is there, and its object");
	}
}

void fuzz_check_stream(const struct lode_stream *stream)
{
	const struct lode_stack_tree *tree = &stream->dictionary->tree;
	const struct lode_frames *frames = &stream->dictionary->frames;

	fuzz_require(stream->name < frames->strings.count && stream->host < frames->strings.count,
		     "a stream's name is there");
	for (size_t i = 1; i < tree->count; i++)
		fuzz_require(tree->nodes[i].parent < i && tree->nodes[i].frame < frames->count,
			     "parents come before their children");
	for (size_t i = 0; i < frames->count; i++)
		fuzz_require(frames->items[i].module < frames->module_count &&
				     frames->items[i].function < frames->strings.count,
			     "a frame's module and function are there");
	for (size_t i = 0; i < stream->thread_count; i++)
		fuzz_require(stream->threads[i].name < frames->strings.count, "a thread's name is there");
	for (size_t i = 0; i < stream->symptom_count; i++)
		fuzz_require(stream->symptoms[i].thread < stream->thread_count &&
				     stream->symptoms[i].t0 <= stream->symptoms[i].t1,
			     "a symptom is of a thread and a span of time");
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		check_events(stream, &stream->events[type]);
}

static uint64_t mix(uint64_t digest, uint64_t number)
{
	digest = (digest ^ number) * 0x9e3779b97f4a7c15u;
	return digest ^ digest >> 29;
}

/* Checks the stream and adds it to a digest of all of them. */
static int drop(void *context, struct lode_stream *stream, unsigned ordinal, struct lode_error *error)
{
	uint64_t *digest = context;

	(void)error;
	fuzz_check_stream(stream);
	*digest = mix(mix(*digest, ordinal), stream->dictionary->frames.strings.count);
	*digest = mix(mix(*digest, stream->thread_count), stream->symptom_count);
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		const struct lode_events *events = &stream->events[type];

		for (size_t i = 0; i < events->count; i++)
			*digest = mix(mix(mix(*digest, events->t[i]), events->cost[i]),
				      (uint64_t)events->stack[i] << 32 | events->thread[i]);
	}
	return 0;
}

/* Returns the importer's code and its sentence, and a digest of what came of it. */
static int import_with(const struct lode_importer *importer, int symbols, unsigned jobs, const uint8_t *bytes,
		       size_t size, uint64_t *digest, struct lode_error *error)
{
	struct lode_import_options options = { .jobs = jobs,
					       .no_symbols = !symbols,
					       .inlines = symbols,
					       .cache = symbols ? fuzz_folder() : "" };
	struct lode_import_sink sink = { drop, digest };
	struct lode_input *input;
	struct lode_notes notes;
	int code;

	*digest = 0;
	error->text[0] = '\0';
	code = lode_input_memory(&input, "fuzz", bytes, size, error);
	fuzz_require_sentence(code, error);
	if (code < 0)
		return code;
	lode_notes_init(&notes);
	options.notes = &notes;
	importer->sniff(bytes, size < LODE_SNIFF_BYTES ? size : LODE_SNIFF_BYTES, "fuzz");
	fuzz_require(lode_import_choose(input, &options, error) || error->text[0],
		     "a format that is not known comes with a sentence");
	error->text[0] = '\0';
	code = importer->read(input, &options, &sink, error);
	fuzz_require_sentence(code, error);
	lode_notes_release(&notes);
	lode_input_close(input);
	return code;
}

/* Threads take time to start: two inputs of three are read by one. */
void fuzz_import(const struct lode_importer *importer, int symbols, const uint8_t *bytes, size_t size)
{
	struct lode_error first, second;
	uint64_t one, two;
	int code, other;

	if (symbols) {
		import_with(importer, symbols, 2, bytes, size, &two, &second);
		return;
	}
	code = import_with(importer, symbols, 1, bytes, size, &one, &first);
	if (size % 3)
		return;
	other = import_with(importer, symbols, 2, bytes, size, &two, &second);
	if (other != code)
		fprintf(stderr, "fuzzing: one job: %d %s; two: %d %s\n", code, first.text, other, second.text);
	fuzz_require(other == code, "two jobs end as one does");
	fuzz_require(code < 0 || one == two, "two jobs give what one gives");
}
