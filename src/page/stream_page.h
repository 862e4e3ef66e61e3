/*
 * A stream for the page: its events in columns, thread by thread, with the critical
 * paths of its symptoms (web/src/stream_data.ts reads it).
 */
#ifndef LODE_PAGE_STREAM_PAGE_H
#define LODE_PAGE_STREAM_PAGE_H

#include "result/scope_report.h"

/*
 * Appends the columns of a stream whose scopes are critical paths and whose events are
 * loaded (the option `all_streams`). Times count from the stream's first event. `coded`: for a
 * page on disk (page_columns.h).
 */
int lode_stream_page(struct lode_scope_report *report, int coded, struct lode_buffer *out, struct lode_error *error);

#endif
