/* What lode watch did, for people. */
#ifndef LODE_TEXT_WATCH_TEXT_H
#define LODE_TEXT_WATCH_TEXT_H

#include "result/watch_report.h"

/* A line each, without its end; the trigger is left to the caller. */
void lode_watch_stream_text(const struct lode_watch_stream *stream, struct lode_buffer *line);
void lode_watch_text(const struct lode_watch_report *report, struct lode_buffer *line);

#endif
