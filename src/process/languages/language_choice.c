/* The languages that are known, and which of them a person chose: see languages.h. */
#include "process/languages/language.h"
#include "process/languages/languages.h"

#include <stdio.h>
#include <string.h>

const struct lode_language_kind *const lode_language_kinds[LODE_LANGUAGES] = {
	[LODE_LANGUAGE_PYTHON] = &lode_language_python,
	[LODE_LANGUAGE_JAVASCRIPT] = &lode_language_javascript,
	[LODE_LANGUAGE_JAVA] = &lode_language_java,
	[LODE_LANGUAGE_PHP] = &lode_language_php,
};

const char *lode_language_text(enum lode_language language)
{
	return language < LODE_LANGUAGES && lode_language_kinds[language] ? lode_language_kinds[language]->name
									  : "native";
}

static enum lode_language language_named(const char *name, size_t length)
{
	for (int i = LODE_LANGUAGE_NONE + 1; i < LODE_LANGUAGES; i++)
		if (strlen(lode_language_kinds[i]->name) == length &&
		    !memcmp(lode_language_kinds[i]->name, name, length))
			return (enum lode_language)i;
	return LODE_LANGUAGE_NONE;
}

/* "'python', 'java', " */
static void list_names(char *text, size_t size)
{
	size_t used = 0;

	*text = '\0';
	for (int i = LODE_LANGUAGE_NONE + 1; i < LODE_LANGUAGES && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "'%s', ", lode_language_kinds[i]->name);
}

int lode_languages_parse(const char *list, unsigned *bits, struct lode_error *error)
{
	*bits = list ? 0 : LODE_LANGUAGES_ALL;
	if (!list || !strcmp(list, "none"))
		return 0;
	for (;;) {
		size_t length = strcspn(list, ",");
		enum lode_language language = language_named(list, length);
		char names[100];

		list_names(names, sizeof(names));
		if (language == LODE_LANGUAGE_NONE)
			return lode_fail(error, LODE_USAGE,
					 "--languages: '%.*s' is not a language whose functions are known; use "
					 "%swith commas between "
					 "them, or 'none'",
					 (int)(length < 100 ? length : 100), list, names);
		*bits |= LODE_LANGUAGE_BIT(language);
		if (!list[length])
			return 0;
		list += length + 1;
	}
}
