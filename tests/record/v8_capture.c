/*
 * Stores what is read of V8 in a running process for the functions of its main thread, as test data (tests/data/v8):
 *
 *	v8_capture BINARY PID > IMAGE
 *
 * BINARY has V8: node, or libnode.so. The process should sleep. Frames are found without unwinding: whatever on the stack looks
 * like a frame record with a function is one. tests/data/v8/README has the format.
 */
#include "base/proc_files.h"
#include "process/languages/v8_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STACK_BYTES (1u << 17)

static size_t read_and_print(void *context, uint32_t pid, uint64_t address, void *bytes, size_t size)
{
	size_t got = lode_live_memory.read(context, pid, address, bytes, size);

	if (!got)
		return 0;
	printf("memory %" PRIx64 " ", address);
	for (size_t i = 0; i < got; i++)
		printf("%02x", ((unsigned char *)bytes)[i]);
	printf("\n");
	return got;
}

/* The stack pointer of a thread in a system call: the last but one number. */
static uint64_t stack_pointer(uint32_t pid)
{
	char text[512], *last, *sp;

	if (lode_proc_text(text, sizeof(text), "/proc/%u/syscall", pid) < 0)
		return 0;
	last = strrchr(text, ' ');
	if (!last)
		return 0;
	*last = '\0';
	sp = strrchr(text, ' ');
	return sp ? strtoull(sp, NULL, 16) : 0;
}

static void print_frame(const struct lode_v8_process *process, uint64_t function, uint64_t context)
{
	struct lode_process_memory memory = { NULL, read_and_print };
	struct lode_buffer path = { 0 }, name = { 0 };
	uint32_t line = 0;

	if (lode_v8_word(&lode_live_memory, process, function, context)) {
		printf("frame %" PRIx64 " %" PRIx64 "\n", function, context);
		lode_v8_name(&memory, process, lode_v8_word(&memory, process, function, context), &path, &name,
			     &line);
		fprintf(stderr, "%s!%s\n", path.bytes, name.bytes);
	}
	lode_buffer_release(&path);
	lode_buffer_release(&name);
}

int main(int count, char **arguments)
{
	static uint64_t stack[STACK_BYTES / 8];
	struct lode_v8_process process;
	struct lode_v8_image image;
	struct lode_elf elf;
	uint64_t sp;
	size_t words;

	if (count != 3 || lode_elf_open(&elf, arguments[1]) < 0 ||
	    lode_v8_image_read(&image, &elf) != LODE_V8_SUPPORTED) {
		fprintf(stderr, "usage: v8_capture BINARY PID > IMAGE\n");
		return 2;
	}
	process = (struct lode_v8_process){ &image, (uint32_t)strtoul(arguments[2], NULL, 10) };
	printf("values");
	for (int i = 0; i < LODE_V8_VALUES; i++)
		printf(" %" PRId32, image.values[i]);
	printf("\n");
	sp = stack_pointer(process.pid);
	words = lode_live_memory.read(NULL, process.pid, sp, stack, sizeof(stack)) / 8;
	for (size_t i = 2; i < words; i++)
		if (stack[i] > sp + i * 8 && stack[i] < sp + sizeof(stack))
			print_frame(&process, stack[i - 2], stack[i - 1]);
	lode_elf_close(&elf);
	return 0;
}
