/*
 * An extension that the sqlite3 shell opens, with a function soundex_of(TEXT); planted:
 * sound_code waits.
 */
#include "planted.h"

#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1

int sqlite3_extension_init(sqlite3 *database, char **message, const sqlite3_api_routines *routines);

static PLANTED_FRAME int sound_code(const unsigned char *text)
{
	static const char codes[] = "01230120022455012623010202";
	int code = 0;

	planted_sleep(1000);
	for (; text && *text; text++)
		if (*text >= 'a' && *text <= 'z')
			code = code * 7 % 9973 + codes[*text - 'a'];
	return code;
}

static void soundex_of(sqlite3_context *context, int count, sqlite3_value **values)
{
	(void)count;
	sqlite3_result_int(context, sound_code(sqlite3_value_text(values[0])));
}

int sqlite3_extension_init(sqlite3 *database, char **message, const sqlite3_api_routines *routines)
{
	SQLITE_EXTENSION_INIT2(routines);
	(void)message;
	return sqlite3_create_function(database, "soundex_of", 1, SQLITE_UTF8, NULL, soundex_of, NULL, NULL);
}
