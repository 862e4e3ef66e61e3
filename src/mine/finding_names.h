/*
 * Names that mean the same though they have different numbers: of worker threads and processes, addresses of memory, ports
 * and numbers of pipes and sockets. Private to mine.
 */
#ifndef LODE_MINE_FINDING_NAMES_H
#define LODE_MINE_FINDING_NAMES_H

#include "base/buffer.h"
#include "scope/chains.h"

/* Appends the name of a thread or process so that those that are alike are equal (trace/numbered_names.h): `worker-#`. */
void lode_finding_plain_name(struct lode_buffer *buffer, const char *name);
/* The same as it is shown, where several are meant: `worker`. */
void lode_finding_common_name(struct lode_buffer *buffer, const char *name);
/* Appends the text of an object without what is different in every run. */
void lode_finding_object_name(struct lode_buffer *buffer, const char *object);
/*
 * Appends what a link of a chain is told from others by. `leads_on`: another link follows. By way of a set of descriptors what
 * the wait was for is told only by stacks, which may be missing, and the next link tells more.
 */
void lode_finding_link_key(const struct lode_strings *strings, const struct lode_chain_link *link, int leads_on,
			   struct lode_buffer *key);

#endif
