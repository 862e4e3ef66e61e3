/*
 * The parts of an upload that wraps its profiles: Pyroscope's push message and forms (multipart/form-data).
 */
#ifndef LODE_COLLECT_UPLOAD_FORMS_H
#define LODE_COLLECT_UPLOAD_FORMS_H

#include "collect/upload.h"

/* A profile, with the options that are its own; valid during the call. A negative code ends it. */
typedef int lode_upload_part_taker(void *context, struct lode_cursor bytes,
				   const struct lode_upload_options *options);

/* Gives each profile of the body to `take`. Returns 0 or a negative code; damage is refused. */
int lode_upload_each_part(struct lode_cursor body, const struct lode_upload_options *options,
			  lode_upload_part_taker *take, void *context, struct lode_upload_refusal *refusal);

#endif
