/* Attributes of all streams at once, from the catalogue: no stream file is opened. */
#ifndef LODE_STORE_CATALOGUE_ATTRIBUTES_H
#define LODE_STORE_CATALOGUE_ATTRIBUTES_H

#include "store/corpus.h"

/*
 * Calls `take` for each attribute, by stream (its id) and key; texts live until it returns. `type` is an enum
 * lode_attribute_type. Returns 0, a negative code, or what `take` returned if that is not 0.
 */
int lode_catalogue_attributes(struct lode_catalogue *catalogue,
			      int (*take)(void *context, const char *stream, const char *key, unsigned type,
					  const char *value),
			      void *context, struct lode_error *error);

/* Two versions of a service that followed one another. */
struct lode_release {
	const char *service;   /* the attribute `service.name`; "": streams without one */
	const char *key;       /* the attribute that says the version: `version` or `service.version` */
	const char *old, *new; /* its values */
};

/* Tells of the last two versions of each service that at least `streams` streams are of each; texts live until `tell` returns. */
int lode_catalogue_releases(struct lode_catalogue *catalogue, unsigned streams,
			    void (*tell)(void *context, const struct lode_release *release), void *context,
			    struct lode_error *error);

#endif
