/*
 * Facts of a stream that Lode itself wrote into a file of another format: see
 * export/stream_facts.h for what they hold.
 */
#ifndef LODE_IMPORT_EXPORTED_FACTS_H
#define LODE_IMPORT_EXPORTED_FACTS_H

#include "import/json_profile.h"

struct lode_exported_facts {
	int is_lode;                       /* the file is an export of ours */
	uint64_t start;                    /* the time that is 0 in the file */
	struct lode_json_value no_process; /* tids of threads whose process is not known */
};

/*
 * Gives the import's stream its name, host and attributes, and its dictionary what is known of
 * modules. Values that are not ours change nothing. Returns 0, or LODE_SYSTEM with a sentence.
 */
int lode_exported_facts_read(struct lode_json_import *import, struct lode_json_value facts,
			     struct lode_exported_facts *read);

#endif
