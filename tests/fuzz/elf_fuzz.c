/* ELF files: symbols, inlined functions and unwinding of a binary that a stranger made, and what it says of CPython. */
#include "fuzz.h"

#include "process/languages/python_image.h"
#include "process/thread_locals.h"
#include "symbols/variable_names.h"
#include "symbols/image.h"
#include "symbols/symbols.h"

#include <string.h>

static void ask(struct lode_image *image, uint64_t address)
{
	const char *names[16];
	struct lode_symbol symbol;
	size_t inlined;

	if (lode_image_find(image, address, &symbol) && symbol.name)
		fuzz_require(strlen(symbol.name) < UINT32_MAX, "a name ends");
	inlined = lode_image_inlines(image, address, names, 16);
	for (size_t i = 0; i < inlined; i++)
		fuzz_require(strlen(names[i]) < UINT32_MAX, "the name of an inlined function ends");
	lode_image_link_register(image, address);
}

static void ask_dynamic(const char *path)
{
	struct lode_buffer name = { 0 };
	struct lode_python_image python;
	struct lode_elf elf;
	uint64_t address = 0;

	if (lode_elf_open(&elf, path) < 0)
		return;
	lode_elf_exports(&elf, "malloc");
	if (lode_python_image_read(&python, &elf) == LODE_PYTHON_SUPPORTED)
		fuzz_require(python.layout.frame_mark < LODE_PYTHON_FRAME_BYTES, "offsets are in what is read");
	for (uint64_t offset = 0; offset < 0x20000; offset += 0x1000)
		if (!lode_data_address(&elf, offset, 1, &address) && !lode_data_name(&elf, address + 0x10, &name))
			fuzz_require(name.failed || name.size > 0, "a variable has a name");
	lode_buffer_release(&name);
	lode_elf_close(&elf);
}

/* A process whose memory has the file's bytes everywhere. */
struct memory {
	const uint8_t *bytes;
	size_t size;
};

static size_t read_memory(void *context, uint32_t pid, uint64_t address, void *bytes, size_t size)
{
	const struct memory *memory = context;

	(void)pid;
	for (size_t i = 0; i < size && memory->size; i++)
		((uint8_t *)bytes)[i] = memory->bytes[(address + i) % memory->size];
	return memory->size ? size : 0;
}

static void ask_variable(const char *path, const uint8_t *bytes, size_t size)
{
	struct memory own = { bytes, size };
	const struct lode_process_memory memory = { &own, read_memory };

	for (uint64_t offset = 0; offset <= 0x1000; offset += 0x1000) {
		struct lode_thread_local_request request = { .pid = 1,
							     .path = path,
							     .name = "otel_thread_ctx_v1",
							     .start = 0x10000,
							     .offset = offset };
		struct lode_thread_local found = { 0 };

		if (lode_thread_local_find(&memory, &request, &found) != LODE_THREAD_LOCAL_FOUND)
			continue;
		fuzz_require(lode_thread_local_exists(path, request.name), "what is found is there");
		fuzz_require(found.module < 65536 && found.offset >= INT32_MIN && found.offset <= INT32_MAX,
			     "it is near");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct lode_symbols_options options = { .cache = "" };
	struct lode_symbolizer *symbolizer;
	struct lode_error error = { "" };
	struct lode_image *image;
	struct fuzz_file file;

	fuzz_file_make(&file, bytes, size);
	ask_variable(file.path, bytes, size);
	fuzz_require(lode_symbolizer_create(&symbolizer, &options, &error) == 0, "a symbolizer can be made");
	image = lode_symbolizer_binary(symbolizer, file.path, "");
	fuzz_require(image != NULL, "memory");
	ask(image, 0);
	ask(image, UINT64_MAX);
	ask(image, lode_image_address(image, 0x100));
	for (size_t i = 0; i < image->table.segments && i < 200; i++)
		ask(image, image->table.starts[i]);
	for (size_t i = 0; i < image->inlines.segments && i < 200; i++)
		ask(image, image->inlines.starts[i]);
	lode_symbolizer_destroy(symbolizer);
	ask_dynamic(file.path);
	fuzz_file_remove(&file);
	return 0;
}
