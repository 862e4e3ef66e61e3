/*
 * What the module of libbabeltrace2 offers to ctf_module.c: one symbol, `lode_ctf_module`. It is loaded when a CTF trace is
 * read, so that lode itself needs neither the library nor its glib.
 */
#ifndef LODE_IMPORT_CTF_MODULE_H
#define LODE_IMPORT_CTF_MODULE_H

#include "import/kernel/ctf.h"

#define LODE_CTF_MODULE_VERSION 2
#define LODE_CTF_MODULE_FILE    "lode-ctf.so"
#define LODE_CTF_MODULE_SYMBOL  "lode_ctf_module"

struct lode_ctf_module {
	unsigned version;
	size_t event_size; /* of struct lode_ctf_event, for what a version forgets */
	/* As lode_ctf_read. */
	int (*read)(const char *folder, const struct lode_ctf_taker *taker, struct lode_error *error);
};

/* As lode_ctf_read, with the module; `unknown` says why it is needed, for the message where it cannot be loaded. */
int lode_ctf_read_library(const char *folder, const struct lode_ctf_taker *taker, const char *unknown,
			  struct lode_error *error);

#endif
