/* The stream under way while plain events are read: its beginning and its end. Private to events.c and events_line.c. */
#ifndef LODE_IMPORT_EVENTS_STREAM_H
#define LODE_IMPORT_EVENTS_STREAM_H

#include "import/text/events_line.h"

/* Opens an empty stream without a name. Returns 0 or a negative code, which is in the reader too. */
int lode_events_start_stream(struct lode_events_reader *reader);
/* Releases the stream, if one is open. */
void lode_events_drop_stream(struct lode_events_reader *reader);
/* Gives the stream to the sink, if one is open, and releases it; `at_end`: no other follows. Returns 0 or a code. */
int lode_events_finish_stream(struct lode_events_reader *reader, int at_end);

#endif
