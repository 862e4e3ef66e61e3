/*
 * lode_mark.h: marks in a program, for `lode watch` and `lode record`.
 *
 *	LODE_MARK_BEGIN("answer");
 *	...
 *	LODE_MARK_END("answer");
 *
 * or around a block, which in C++ may be left in any way, in C only at its end:
 *
 *	LODE_MARK_SCOPE("answer") {
 *		...
 *	}
 *
 * Then `lode watch --trigger 'mark answer > 100ms' ...` writes down what went on
 * when that took longer. For C and C++ (GCC, Clang) on Linux, x86-64 and aarch64;
 * nothing is to be linked. Elsewhere the marks are nothing at all.
 *
 * A mark is one instruction that does nothing. Beside it a note in the file, which
 * is not even loaded, says where it is and what it is called: a probe of the kind
 * known as USDT, of provider `lode_begin` or `lode_end`. So it costs nothing while
 * it is not traced, and the program needs no privilege; other tools find it, too.
 *
 * The name is a string literal without ", \, % or braces. Begin and end must be in
 * the same thread. A begin that follows a begin of the same name starts again.
 */
#ifndef LODE_MARK_H
#define LODE_MARK_H

#if defined(__linux__) && defined(__GNUC__) && (defined(__x86_64__) || defined(__aarch64__))

/*
 * The note: three sizes and type 3, its owner "stapsdt", then the address of the
 * instruction, that of the section .stapsdt.base (by which a reader sees whether
 * the file was moved after linking), that of a counter (none), and three texts:
 * provider, name, arguments (none). The "?" puts it in the group of the function
 * that it is about, with which it is dropped where that is there twice.
 */
#define LODE_MARK_PROBE_(provider, name)                                                                          \
	__asm__ __volatile__("770: nop\n"                                                                         \
			     " .pushsection .note.stapsdt, \"?\", \"note\"\n"                                     \
			     " .balign 4\n"                                                                       \
			     " .4byte 772f - 771f, 774f - 773f, 3\n"                                              \
			     "771: .asciz \"stapsdt\"\n"                                                          \
			     "772: .balign 4\n"                                                                   \
			     "773: .8byte 770b, _.stapsdt.base, 0\n"                                              \
			     " .asciz \"" provider "\"\n"                                                         \
			     " .asciz \"" name "\"\n"                                                             \
			     " .asciz \"\"\n"                                                                     \
			     "774: .balign 4\n"                                                                   \
			     " .popsection\n"                                                                     \
			     " .ifndef _.stapsdt.base\n"                                                          \
			     " .pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"         \
			     " .weak _.stapsdt.base\n"                                                            \
			     " .hidden _.stapsdt.base\n"                                                          \
			     "_.stapsdt.base: .space 1\n"                                                         \
			     " .size _.stapsdt.base, 1\n"                                                         \
			     " .popsection\n"                                                                     \
			     " .endif\n"                                                                          \
			     :                                                                                    \
			     :                                                                                    \
			     : "memory")
#else
#define LODE_MARK_PROBE_(provider, name) ((void)0)
#endif

#define LODE_MARK_BEGIN(name) LODE_MARK_PROBE_("lode_begin", name)
#define LODE_MARK_END(name)   LODE_MARK_PROBE_("lode_end", name)

#ifdef __cplusplus
#define LODE_MARK_SCOPE(name)                                                                                     \
	for (struct lode_mark_scope_ {                                                                            \
		     int again;                                                                                   \
		     lode_mark_scope_() : again(1)                                                                \
		     {                                                                                            \
			     LODE_MARK_BEGIN(name);                                                               \
		     }                                                                                            \
		     ~lode_mark_scope_()                                                                          \
		     {                                                                                            \
			     LODE_MARK_END(name);                                                                 \
		     }                                                                                            \
	     } lode_mark_here_;                                                                                   \
	     lode_mark_here_.again; lode_mark_here_.again = 0)
#else
#define LODE_MARK_SCOPE(name)                                                                                     \
	for (int lode_mark_again_ = __extension__({                                                               \
		     LODE_MARK_BEGIN(name);                                                                       \
		     1;                                                                                           \
	     });                                                                                                  \
	     lode_mark_again_; lode_mark_again_ = __extension__({                                                 \
				       LODE_MARK_END(name);                                                       \
				       0;                                                                         \
			       }))
#endif

#endif
