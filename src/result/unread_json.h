/* Streams that were left out (store/unread_streams.h), for programs. */
#ifndef LODE_RESULT_UNREAD_JSON_H
#define LODE_RESULT_UNREAD_JSON_H

#include "base/json.h"
#include "store/unread_streams.h"

/* A member `unread_streams` of an object: how many, and the first of them; nothing where there is none. */
void lode_unread_streams_json(const struct lode_unread_streams *unread, struct lode_json *json);

#endif
