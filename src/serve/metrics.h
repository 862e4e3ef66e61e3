/* GET /metrics: what a collector has done and which known bugs it saw, in the text format of Prometheus. */
#ifndef LODE_SERVE_METRICS_H
#define LODE_SERVE_METRICS_H

#include "base/buffer.h"
#include "collect/collector.h"
#include "serve/tokens.h"

#define LODE_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/*
 * Appends all metrics. `collector` NULL: none of uploads; `tokens` NULL: there is no file of them. Returns 0, or a negative
 * code with a sentence.
 */
int lode_metrics_write(struct lode_buffer *text, const char *corpus, struct lode_collector *collector,
		       struct lode_tokens *tokens, struct lode_error *error);

#endif
