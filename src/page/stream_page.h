/*
 * A stream for the page: its events in columns, thread by thread, with the critical
 * paths of its symptoms (web/src/stream_data.ts reads it).
 */
#ifndef LODE_PAGE_STREAM_PAGE_H
#define LODE_PAGE_STREAM_PAGE_H

#include "page/page_stacks.h"
#include "result/scope_report.h"

/*
 * Appends the columns of a stream whose scopes are critical paths and whose events are
 * loaded (the option `all_streams`). Times count from the stream's first event. `shared`: for a
 * page on disk, whose blocks share their stacks (page_stacks.h), and with coded columns (page_columns.h).
 */
int lode_stream_page(struct lode_scope_report *report, struct lode_page_stacks *shared, struct lode_buffer *out,
		     struct lode_error *error);

#endif
