/*
 * Pretends to be HotSpot, and lies: a hostile library for the recorder, which believes what the tables of a libjvm.so say.
 * java_forger.c runs its function.
 *
 * The code of forged_run() is what it says is a code heap, with a CodeBlob before it. `cycle`: the segment map leads round and round.
 * `wild`: pointers lead nowhere. `deep`: frames of 32 words, on a stack full of return addresses. `large`: frames of 2^31 words. `names`:
 * methods with endless names. `offsets`: of 2^60. `heaps`: of 2^60 bytes.
 */
#define _GNU_SOURCE
#include "java_forged.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PUBLIC __attribute__((visibility("default"), used))

enum { HEAP_BYTES = 1 << 16, SHIFT = 7, FIELDS = 33 };

struct row {
	const char *type;
	const char *field;
	const char *text;
	int32_t is_static;
	uint64_t offset;
	void *address;
};

struct size {
	const char *type;
	const char *super;
	int32_t flags[4];
	uint64_t size;
};

static uint64_t heaps_variable, interpreter_variable;
static uint32_t version = 17;
static uint64_t array[4], heap[40], queue[5], codelet[64], method[12], const_method[8], constants[40], klass[30];
static uint64_t symbol[8192];
static unsigned char segments[HEAP_BYTES >> SHIFT];

#define STATIC(type, field, variable)                                                                             \
	{                                                                                                         \
		type, field, "", 1, 0, &(variable)                                                                \
	}
#define OFFSET(type, field, offset)                                                                               \
	{                                                                                                         \
		type, field, "", 0, offset, NULL                                                                  \
	}

static struct row rows[] = {
	STATIC("CodeCache", "_heaps", heaps_variable),
	STATIC("AbstractInterpreter", "_code", interpreter_variable),
	STATIC("Abstract_VM_Version", "_vm_major_version", version),
	OFFSET("GrowableArrayBase", "_len", 0),
	OFFSET("GrowableArray<int>", "_data", 8),
	OFFSET("CodeHeap", "_memory", 8),
	OFFSET("CodeHeap", "_segmap", 120),
	OFFSET("CodeHeap", "_log2_segment_size", 256),
	OFFSET("VirtualSpace", "_low_boundary", 0),
	OFFSET("VirtualSpace", "_high_boundary", 8),
	OFFSET("VirtualSpace", "_low", 16),
	OFFSET("StubQueue", "_stub_buffer", 8),
	OFFSET("StubQueue", "_buffer_limit", 20),
	OFFSET("StubQueue", "_number_of_stubs", 32),
	OFFSET("InterpreterCodelet", "_size", 8),
	OFFSET("InterpreterCodelet", "_description", 0),
	OFFSET("CodeBlob", "_name", 96),
	OFFSET("CodeBlob", "_size", 12),
	OFFSET("CodeBlob", "_frame_complete_offset", 20),
	OFFSET("CodeBlob", "_frame_size", 28),
	OFFSET("CodeBlob", "_code_begin", 32),
	OFFSET("CodeBlob", "_code_end", 40),
	OFFSET("CompiledMethod", "_method", 112),
	OFFSET("CompiledMethod", "_scopes_data_begin", 120),
	OFFSET("CompiledMethod", "_deopt_handler_begin", 128),
	OFFSET("CompiledMethod", "_deopt_mh_handler_begin", 136),
	OFFSET("nmethod", "_orig_pc_offset", 300),
	OFFSET("nmethod", "_scopes_pcs_offset", 268),
	OFFSET("nmethod", "_dependencies_offset", 272),
	OFFSET("nmethod", "_metadata_offset", 260),
	OFFSET("Method", "_constMethod", 8),
	OFFSET("ConstMethod", "_constants", 8),
	OFFSET("ConstMethod", "_name_index", 34),
	OFFSET("ConstMethod", "_code_size", 40),
	OFFSET("ConstMethod", "_flags", 44),
	OFFSET("ConstantPool", "_pool_holder", 24),
	OFFSET("ConstantPool", "_source_file_name_index", 54),
	OFFSET("ConstantPool", "_length", 60),
	OFFSET("Klass", "_name", 24),
	OFFSET("Symbol", "_length", 4),
	OFFSET("Symbol", "_body", 6),
	{ 0 },
};

static struct size sizes[] = {
	{ "HeapBlock", "", { 0 }, 16 }, { "InterpreterCodelet", "", { 0 }, 16 }, { "ConstantPool", "", { 0 }, 72 },
	{ "PcDesc", "", { 0 }, 16 },    { "ConstMethod", "", { 0 }, 56 },        { 0 },
};

PUBLIC struct row *gHotSpotVMStructs = rows;
PUBLIC struct size *gHotSpotVMTypes = sizes;
PUBLIC int JNI_CreateJavaVM(void);

PUBLIC int JNI_CreateJavaVM(void)
{
	return -1;
}

static int is(const char *mode, const char *name)
{
	return !strcmp(mode, name);
}

static void forge_blob(char *start, const char *mode)
{
	char *blob = start + 16;
	uint64_t wild = is(mode, "wild") ? 0xdead00000008 : 0;
	int32_t frame = is(mode, "large") ? INT32_MAX : is(mode, "deep") ? 32 : 2;

	mprotect(start, HEAP_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC);
	*(uint64_t *)(void *)(blob + 96) = wild ? wild : (uint64_t) "nmethod";
	*(int32_t *)(void *)(blob + 28) = frame;
	*(uint64_t *)(void *)(blob + 32) = (uint64_t)start;
	*(uint64_t *)(void *)(blob + 40) = (uint64_t)start + HEAP_BYTES;
	*(uint64_t *)(void *)(blob + 112) = wild ? wild : (uint64_t)method;
	*(uint64_t *)(void *)(blob + 120) = (uint64_t)start;
	*(int32_t *)(void *)(blob + 268) = 0;
	*(int32_t *)(void *)(blob + 272) = INT32_MAX;
}

static void forge_method(void)
{
	method[1] = (uint64_t)const_method;
	const_method[1] = (uint64_t)constants;
	((uint16_t *)const_method)[17] = 1;
	constants[3] = (uint64_t)klass;
	((uint32_t *)constants)[15] = UINT32_MAX >> 16;
	constants[10] = (uint64_t)symbol;
	klass[3] = (uint64_t)symbol;
	memset(symbol, 'a', sizeof(symbol));
	((uint16_t *)symbol)[2] = UINT16_MAX;
}

PUBLIC void forge(const char *mode)
{
	char *start = (char *)forged_heap();

	array[0] = 1;
	array[1] = (uint64_t)&array[2];
	array[2] = (uint64_t)heap;
	heap[1] = (uint64_t)start;
	heap[2] = is(mode, "heaps") ? 1ull << 60 : (uint64_t)start + HEAP_BYTES;
	heap[17] = (uint64_t)segments;
	heap[32] = SHIFT;
	for (int i = 1; i < HEAP_BYTES >> SHIFT; i++)
		segments[i] = (unsigned char)(is(mode, "cycle") ? 1 : i < 254 ? i : 253);
	codelet[0] = (uint64_t) "method entry point (kind = zerolocals)";
	codelet[1] = 64;
	queue[1] = (uint64_t)start + 0x800;
	((uint32_t *)queue)[5] = 64;
	queue[4] = 1;
	forge_blob(start, mode);
	memcpy(start + 0x800, codelet, 64);
	forge_method();
	if (is(mode, "offsets"))
		rows[10].offset = 1ull << 60;
	heaps_variable = (uint64_t)array;
	interpreter_variable = (uint64_t)queue;
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* The heap: room for the CodeBlob, and behind it the function. */
__asm__(".section .text.forged, \"ax\"\n"
	".balign 65536\n"
	".globl forged_start\n"
	".hidden forged_start\n"
	"forged_start:\n"
	".space 4096\n"
	".text\n");
extern char forged_start[];

void *forged_heap(void)
{
	return forged_start;
}

/* Spins and sleeps in turns, above a stack full of addresses in this code. */
PUBLIC __attribute__((noinline, section(".text.forged"))) int forged_run(uint64_t milliseconds)
{
	volatile uint64_t stack[16384];
	struct timespec nap = { 0, 1000000 };
	uint64_t until = now() + milliseconds;
	int naps = 0;

	for (int i = 0; i < 16384; i++)
		stack[i] = (uint64_t)forged_start + 0x2000;
	while (now() < until) {
		for (uint64_t begun = now(); now() == begun;)
			;
		naps += nanosleep(&nap, NULL) == 0;
	}
	return naps + (stack[3] == 0);
}
