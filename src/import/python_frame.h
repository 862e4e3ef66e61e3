/*
 * What profilers of Python (py-spy, Austin) write in lines of folded stacks: functions with a file and a line, before them the process and
 * the thread. As frames functions are `file.py!function`, as the recorder has them, so that streams of both compare.
 */
#ifndef LODE_IMPORT_PYTHON_FRAME_H
#define LODE_IMPORT_PYTHON_FRAME_H

#include "trace/frames.h"

/*
 * The frame of `function (file.py:12)`, `function (file.py)` or, of native functions, `function (libc.so.6)` (py-spy), or
 * `file.py:function:12` (Austin), added if new. *is_python: whether the text is one of
 * these; else nothing is done. LODE_NONE when memory has run out.
 */
uint32_t lode_python_frame(struct lode_frames *frames, const char *text, size_t length, int *is_python);

struct lode_profiled_thread {
	uint32_t pid; /* LODE_NO_PID: not known */
	uint32_t tid;
	const char *name; /* in the text; not ended by a NUL */
	size_t name_length;
};

/*
 * The thread that a line names before its frames: `P12;T13;` (Austin, also `T0:13;` with the number of an interpreter),
 * `process 12:"command";thread (13): name;` (py-spy, either of both; where it does not know the thread's number, it has its address, of which 32 bits
 * are taken). Returns where the frames begin; 0: it names none.
 */
size_t lode_profiled_thread(const char *text, size_t length, struct lode_profiled_thread *thread);

#endif
