/* The text format of Prometheus. */
#ifndef LODE_SERVE_METRIC_TEXT_H
#define LODE_SERVE_METRIC_TEXT_H

#include "base/buffer.h"

/* The lines before the values of a metric; `type` is counter or gauge. */
void lode_metric_begin(struct lode_buffer *text, const char *name, const char *type, const char *help);
/* `KEY="VALUE"`, with what must be escaped in a value escaped. */
void lode_metric_label(struct lode_buffer *text, const char *key, const char *value);

#endif
