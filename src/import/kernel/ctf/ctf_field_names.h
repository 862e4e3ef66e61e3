/* The names of the fields of ctf.h, for both ways of reading. */
#ifndef LODE_IMPORT_CTF_FIELD_NAMES_H
#define LODE_IMPORT_CTF_FIELD_NAMES_H

#include "import/kernel/ctf.h"

static const char *const lode_ctf_field_names[LODE_CTF_FIELDS] = {
	[LODE_CTF_PREV_TID] = "prev_tid",
	[LODE_CTF_PREV_STATE] = "prev_state",
	[LODE_CTF_NEXT_TID] = "next_tid",
	[LODE_CTF_PREV_COMM] = "prev_comm",
	[LODE_CTF_NEXT_COMM] = "next_comm",
	[LODE_CTF_TID] = "tid",
	[LODE_CTF_PID] = "pid",
	[LODE_CTF_COMM] = "comm",
	[LODE_CTF_NAME] = "name",
};

#endif
