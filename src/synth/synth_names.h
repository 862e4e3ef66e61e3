/* Invented names of functions, from words as in real code; each is given once. */
#ifndef LODE_SYNTH_SYNTH_NAMES_H
#define LODE_SYNTH_SYNTH_NAMES_H

#include "base/strings.h"
#include "synth/synth_random.h"

enum lode_synth_style {
	LODE_SYNTH_CAMEL, /* OpenFolderView */
	LODE_SYNTH_SNAKE, /* open_folder_view */
};

struct lode_synth_names {
	struct lode_strings given;
	struct lode_random random;
};

#define LODE_SYNTH_NAME 80

/* Returns 0 or LODE_SYSTEM. */
int lode_synth_names_init(struct lode_synth_names *names, struct lode_random random);
void lode_synth_names_release(struct lode_synth_names *names);
/*
 * A new name. It begins with `verb` (NULL: any) and ends with `last` (NULL: nothing
 * more than nouns). Returns 0 or LODE_SYSTEM.
 */
int lode_synth_name(struct lode_synth_names *names, enum lode_synth_style style, const char *verb,
		    const char *last, char name[LODE_SYNTH_NAME]);
/* Any noun, in small letters. */
const char *lode_synth_noun(struct lode_synth_names *names);

#endif
