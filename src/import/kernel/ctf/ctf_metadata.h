/* The text of a CTF trace's metadata, which LTTng writes in packets and others as it is. */
#ifndef LODE_IMPORT_CTF_METADATA_H
#define LODE_IMPORT_CTF_METADATA_H

#include "base/buffer.h"

#include <stddef.h>

/* Adds the text to `text`. Returns 0; 1 for what it does not know; LODE_SYSTEM without memory. */
int lode_ctf_metadata_text(const unsigned char *bytes, size_t size, struct lode_buffer *text);

#endif
