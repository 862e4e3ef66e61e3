/* The result of lode bench for people. */
#ifndef LODE_TEXT_BENCH_TEXT_H
#define LODE_TEXT_BENCH_TEXT_H

#include "result/bench_result.h"
#include "text/look.h"

void lode_bench_text(const struct lode_bench_result *result, const struct lode_look *look,
		     struct lode_buffer *buffer);

#endif
