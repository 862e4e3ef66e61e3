/*
 * Pretends to be Node.js, and lies: a hostile program for the recorder, which believes what the symbols of a binary say.
 *
 *	v8_forged_node MODE MILLISECONDS
 *
 * `right`: a function as V8 has it. `cycle`: its name is a string that is made of itself. `long`: one of 2^31 characters. `wild`: pointers
 * lead nowhere. `moved`: its map leads to itself, as if it were being moved. `types`: nothing is what it should be. `deep`: more frames than are
 * walked. With TAGGED at 4 the binary says that pointers are compressed.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PUBLIC __attribute__((visibility("default"), used))

#ifndef TAGGED
#define TAGGED 8
#endif

/* ---- symbols, as those of V8 11.3 ---- */

#define VALUE(name, value) PUBLIC int v8dbg_##name = value

VALUE(off_fp_context_or_frame_type, -8);
VALUE(off_fp_function, -16);
VALUE(HeapObjectTag, 1);
VALUE(HeapObjectTagMask, 3);
VALUE(SmiShiftSize, 31);
VALUE(SmiValueShift, 1);
VALUE(TaggedSize, TAGGED);
VALUE(class_JSFunction__shared__SharedFunctionInfo, 24);
VALUE(type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE, 262);
VALUE(class_SharedFunctionInfo__name_or_scope_info__Object, 16);
VALUE(class_SharedFunctionInfo__script_or_debug_info__HeapObject, 32);
VALUE(class_Map__instance_type__uint16_t, 12);
VALUE(type_Script__SCRIPT_TYPE, 167);
VALUE(class_Script__name__Object, 16);
VALUE(class_Script__source__Object, 8);
VALUE(type_ScopeInfo__SCOPE_INFO_TYPE, 261);
VALUE(scopeinfo_idx_ncontextlocals, 2);
VALUE(scopeinfo_idx_first_vars, 3);
VALUE(type_Oddball__ODDBALL_TYPE, 131);
VALUE(IsNotStringMask, -128);
VALUE(class_String__length__int32_t, 12);
VALUE(StringRepresentationMask, 7);
VALUE(ConsStringTag, 1);
VALUE(ExternalStringTag, 2);
VALUE(SlicedStringTag, 3);
VALUE(ThinStringTag, 5);
VALUE(StringEncodingMask, 8);
VALUE(OneByteStringTag, 8);
VALUE(class_SeqOneByteString__chars__char, 16);
VALUE(class_SeqTwoByteString__chars__char, 16);
VALUE(class_ConsString__first__String, 16);
VALUE(class_ConsString__second__String, 24);
VALUE(class_SlicedString__parent__String, 16);
VALUE(class_SlicedString__offset__SMI, 24);
VALUE(class_ThinString__actual__String, 16);
VALUE(class_ExternalString__resource__Object, 16);

PUBLIC void _ZN2v86forgedEv(void);
PUBLIC void _ZN2v86forgedEv(void)
{
}

/* ---- objects ---- */

struct object {
	uint64_t words[8];
};

static struct object function, context, shared, script, name, path, maps[4];

static uint64_t pointer(const void *object)
{
	return (uint64_t)(uintptr_t)object + 1;
}

static void set_type(struct object *object, struct object *map, uint16_t type)
{
	memcpy((char *)map + 12, &type, sizeof(type));
	object->words[0] = pointer(map);
}

static void set_text(struct object *string, struct object *map, const char *text, uint64_t length)
{
	set_type(string, map, 8);
	string->words[1] = length << 32;
	memcpy(&string->words[2], text, strlen(text) + 1);
}

static void forge(const char *mode)
{
	set_type(&shared, &maps[0], 262);
	set_type(&script, &maps[1], 167);
	set_text(&name, &maps[2], "forgedFunction", 14);
	set_text(&path, &maps[3], "/x/forged.js", 12);
	function.words[3] = pointer(&shared);
	shared.words[2] = pointer(&name);
	shared.words[4] = pointer(&script);
	script.words[2] = pointer(&path);
	if (!strcmp(mode, "cycle")) {
		set_type(&name, &maps[2], 8 | 1);
		name.words[1] = 1ull << 62;
		name.words[2] = name.words[3] = pointer(&name);
	} else if (!strcmp(mode, "long")) {
		name.words[1] = path.words[1] = 0x7fffffffull << 32;
	} else if (!strcmp(mode, "wild")) {
		shared.words[2] = shared.words[4] = 0xdead00000001;
	} else if (!strcmp(mode, "moved")) {
		name.words[0] = (uint64_t)(uintptr_t)&name;
		path.words[0] = 1ull << 60;
	} else if (!strcmp(mode, "types")) {
		shared.words[0] = pointer(&maps[3]);
	}
}

/* ---- frames ---- */

/* A frame as V8 makes it, without an unwind table, in which a function is called. */
void forged_frame(uint64_t function, uint64_t context, void (*callee)(void));
#if defined(__aarch64__)
__asm__(".text\n"
	".globl forged_frame\n"
	".type forged_frame, %function\n"
	"forged_frame:\n"
	"	stp x29, x30, [sp, #-16]!\n"
	"	mov x29, sp\n"
	"	stp x0, x1, [sp, #-16]!\n"
	"	blr x2\n"
	"	add sp, sp, #16\n"
	"	ldp x29, x30, [sp], #16\n"
	"	ret\n"
	".size forged_frame, . - forged_frame\n");
#else
__asm__(".text\n"
	".globl forged_frame\n"
	".type forged_frame, @function\n"
	"forged_frame:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	push %rsi\n"
	"	push %rdi\n"
	"	call *%rdx\n"
	"	add $16, %rsp\n"
	"	pop %rbp\n"
	"	ret\n"
	".size forged_frame, . - forged_frame\n");
#endif

static int depth, naps;

static void nap(void)
{
	struct timespec time = { 0, 1000000 };

	if (depth-- > 0) {
		forged_frame(pointer(&function), pointer(&context), nap);
		return;
	}
	nanosleep(&time, NULL);
	naps++;
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

int main(int count, char **arguments)
{
	uint64_t end;

	if (count != 3)
		return 2;
	forge(arguments[1]);
	end = now() + strtoul(arguments[2], NULL, 10);
	while (now() < end) {
		depth = strcmp(arguments[1], "deep") ? 3 : 600;
		nap();
	}
	printf("%d\n", naps);
	return 0;
}
