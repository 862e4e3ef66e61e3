/*
 * Reading CTF in a separate process. libbabeltrace2 ends the whole program (abort) where a trace breaks one of its
 * rules, and which traces do differs between its versions; here that becomes an error like any other.
 */
#ifndef LODE_IMPORT_CTF_APART_H
#define LODE_IMPORT_CTF_APART_H

#include "import/kernel/ctf/ctf_module.h"

/* As module->read, which runs in a child process; `taker` is called in this one. */
int lode_ctf_read_apart(const struct lode_ctf_module *module, const char *folder,
			const struct lode_ctf_taker *taker, struct lode_error *error);

#endif
