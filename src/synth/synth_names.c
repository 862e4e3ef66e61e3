/*
 * Names: see synth_names.h. A verb and one or two nouns; when a name was given before,
 * other words are tried, and after some tries a number is appended, so that it always
 * ends.
 */
#include "synth/synth_names.h"

#include "base/error.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *const verbs[] = {
	"get",      "set",     "open",    "close",   "read",     "write",   "load",   "store",  "find",
	"lookup",   "create",  "destroy", "update",  "refresh",  "parse",   "format", "render", "layout",
	"draw",     "measure", "resolve", "bind",    "attach",   "detach",  "notify", "post",   "send",
	"receive",  "handle",  "process", "compute", "validate", "convert", "encode", "decode", "merge",
	"split",    "sort",    "filter",  "collect", "acquire",  "release", "begin",  "end",    "commit",
	"flush",    "sync",    "copy",    "move",    "append",   "insert",  "remove", "enum",   "visit",
	"traverse", "prepare", "ensure",  "build",   "map",      "query",
};

static const char *const nouns[] = {
	"folder",  "file",   "path",    "item",     "list",     "view",    "window",   "menu",     "icon",
	"image",   "bitmap", "font",    "text",     "glyph",    "style",   "theme",    "layer",    "node",
	"tree",    "table",  "row",     "column",   "cell",     "index",   "key",      "value",    "entry",
	"record",  "page",   "block",   "buffer",   "stream",   "channel", "socket",   "request",  "reply",
	"message", "event",  "signal",  "timer",    "task",     "queue",   "pool",     "worker",   "thread",
	"session", "user",   "account", "token",    "policy",   "profile", "setting",  "registry", "config",
	"module",  "plugin", "handler", "provider", "cache",    "journal", "lease",    "lock",     "volume",
	"device",  "driver", "report",  "metadata", "property", "change",  "snapshot",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Words tried before a number is put behind the name. */
#define TRIES 16

int lode_synth_names_init(struct lode_synth_names *names, struct lode_random random)
{
	names->random = random;
	return lode_strings_init(&names->given);
}

void lode_synth_names_release(struct lode_synth_names *names)
{
	lode_strings_release(&names->given);
}

const char *lode_synth_noun(struct lode_synth_names *names)
{
	return nouns[lode_synth_random_below(&names->random, COUNT(nouns))];
}

static void add_word(char name[LODE_SYNTH_NAME], enum lode_synth_style style, const char *word)
{
	size_t length = strlen(name);

	if (!word || !*word)
		return;
	snprintf(name + length, LODE_SYNTH_NAME - length, "%s%s", length && style == LODE_SYNTH_SNAKE ? "_" : "",
		 word);
	if (style == LODE_SYNTH_CAMEL && length < LODE_SYNTH_NAME - 1)
		name[length] = (char)toupper((unsigned char)name[length]);
}

static void compose(struct lode_synth_names *names, enum lode_synth_style style, const char *verb,
		    const char *last, char name[LODE_SYNTH_NAME])
{
	name[0] = '\0';
	add_word(name, style, verb ? verb : verbs[lode_synth_random_below(&names->random, COUNT(verbs))]);
	add_word(name, style, lode_synth_noun(names));
	if (lode_synth_random_percent(&names->random, 40))
		add_word(name, style, lode_synth_noun(names));
	add_word(name, style, last);
}

int lode_synth_name(struct lode_synth_names *names, enum lode_synth_style style, const char *verb,
		    const char *last, char name[LODE_SYNTH_NAME])
{
	for (size_t tries = 0;; tries++) {
		size_t length;

		compose(names, style, verb, last, name);
		length = strlen(name);
		if (tries >= TRIES)
			snprintf(name + length, LODE_SYNTH_NAME - length, "%zu", names->given.count);
		length = strlen(name);
		if (lode_strings_find(&names->given, name, length) == LODE_NONE)
			return lode_strings_add(&names->given, name, length) == LODE_NONE ? LODE_SYSTEM : 0;
	}
}
