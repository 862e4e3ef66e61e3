/*
 * Reading CTF 1.8 by a decoder of our own, several times as fast as through libbabeltrace2. It knows what LTTng, perf
 * and barectf write.
 */
#ifndef LODE_IMPORT_CTF_NATIVE_H
#define LODE_IMPORT_CTF_NATIVE_H

#include "import/kernel/ctf.h"

/*
 * As lode_ctf_read. Returns 1 for a trace whose description it does not know, with the reason in `error`; nothing was
 * handed over then.
 */
int lode_ctf_read_native(const char *folder, const struct lode_ctf_taker *taker, struct lode_error *error);

#endif
