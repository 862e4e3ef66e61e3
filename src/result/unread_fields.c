/* Streams that were left out, as a field of results: see unread_fields.h. */
#include "result/unread_fields.h"

#include "result/field_rows.h"

/* Streams that are listed; there may be as many as a disk had. */
#define LISTED 100

#define TABLE_OF struct lode_unread_stream
static const struct lode_field stream_rows[] = {
	FIELD_TEXT_AS("stream", name, "Its name."),
	FIELD_TEXT_AS("stream_id", id, "Its id."),
	FIELD_TEXT(reason, "What is wrong with its file."),
};
static const struct lode_fields stream = FIELD_TABLE("UnreadStream", stream_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_unread_list
static const struct lode_field streams_rows[] = {
	FIELD_U64(count, "How many.", FIELD_AT_LEAST(1)),
	FIELD_OBJECTS(first, stream, "The first of them, at most 100, in the order of the catalogue."),
};
static const struct lode_fields streams = FIELD_TABLE("UnreadStreams", streams_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_unread_part
static const struct lode_field part_rows[] = {
	FIELD_OBJECT(unread_streams,
		     streams, "Streams that were left out because their files are damaged or missing; only where there are some.",
		     FIELD_OPTIONAL_IF(any)),
};
const struct lode_fields lode_unread_part_fields = FIELD_TABLE("UnreadPart", part_rows);
#undef TABLE_OF

struct lode_unread_part lode_unread_part(const struct lode_unread_streams *unread)
{
	return (struct lode_unread_part){
		.any = unread->count != 0,
		.unread_streams = { unread->count,
				    lode_list_of(unread->items, unread->count < LISTED ? unread->count : LISTED) },
	};
}
