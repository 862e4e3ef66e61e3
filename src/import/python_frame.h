/*
 * Python functions as profilers of Python write them: with a file and a line. As frames they are `file.py!function`, as the recorder
 * has them, so that streams of both compare.
 */
#ifndef LODE_IMPORT_PYTHON_FRAME_H
#define LODE_IMPORT_PYTHON_FRAME_H

#include "trace/frames.h"

/*
 * The frame of `function (file.py:12)` (py-spy) or `file.py:function:12` (Austin), added if new. *is_python: whether the text is one of
 * these; else nothing is done. LODE_NONE when memory has run out.
 */
uint32_t lode_python_frame(struct lode_frames *frames, const char *text, size_t length, int *is_python);

#endif
