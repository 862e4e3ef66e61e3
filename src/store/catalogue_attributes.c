/* Attributes of all streams: see catalogue_attributes.h. */
#include "store/catalogue_attributes.h"

#include "store/catalogue_sql.h"

#include <string.h>

static unsigned type_of(const char *name)
{
	unsigned type = LODE_ATTRIBUTE_TEXT;

	while (type < LODE_ATTRIBUTE_BOOL && strcmp(name, lode_sql_attribute_type(type)) != 0)
		type++;
	return strcmp(name, lode_sql_attribute_type(type)) ? LODE_ATTRIBUTE_TEXT : type;
}

int lode_catalogue_attributes(struct lode_catalogue *catalogue,
			      int (*take)(void *context, const char *stream, const char *key, unsigned type,
					  const char *value),
			      void *context, struct lode_error *error)
{
	sqlite3_stmt *statement =
		lode_sql_prepare(catalogue, "SELECT stream, key, type, value FROM attributes ORDER BY stream, key",
				 error);
	int status = SQLITE_DONE, code = 0;

	if (!statement)
		return lode_sql_fail(catalogue, error);
	while (!code && (status = sqlite3_step(statement)) == SQLITE_ROW) {
		const char *texts[4];

		for (int i = 0; i < 4; i++)
			texts[i] = (const char *)sqlite3_column_text(statement, i);
		if (!texts[0] || !texts[1] || !texts[2] || !texts[3])
			code = lode_fail_memory(error);
		else
			code = take(context, texts[0], texts[1], type_of(texts[2]), texts[3]);
	}
	if (!code && status != SQLITE_DONE)
		code = lode_sql_fail(catalogue, error);
	sqlite3_finalize(statement);
	return code;
}

/* ---- releases ---- */

/* The versions of a service stand behind one another, the one that came last first. */
static const char releases_query[] =
	"SELECT service, key, value FROM (SELECT coalesce(services.value, '') AS service, versions.key AS key,"
	" versions.value AS value, min(added) AS since FROM attributes versions"
	" JOIN streams ON streams.id = versions.stream"
	" LEFT JOIN attributes services ON services.stream = streams.id AND services.key = 'service.name'"
	" WHERE versions.key IN ('version', 'service.version')"
	" GROUP BY service, versions.key, versions.value HAVING count(*) >= ?)"
	" ORDER BY service, key, since DESC, value DESC";

/* The last row, of which there may be an older version behind. */
struct newest {
	char *texts[3]; /* service, key, value */
	int is_told;
};

static void forget_newest(struct newest *newest)
{
	for (int i = 0; i < 3; i++) {
		lode_free(newest->texts[i]);
		newest->texts[i] = NULL;
	}
	newest->is_told = 0;
}

static int keep_newest(struct newest *newest, const char *const texts[3])
{
	int failed = 0;

	forget_newest(newest);
	for (int i = 0; i < 3; i++) {
		newest->texts[i] = lode_strdup(texts[i]);
		failed |= !newest->texts[i];
	}
	return failed ? LODE_SYSTEM : 0;
}

static int read_version(sqlite3_stmt *statement, struct newest *newest,
			void (*tell)(void *context, const struct lode_release *release), void *context)
{
	const char *texts[3];

	for (int i = 0; i < 3; i++)
		if (!(texts[i] = (const char *)sqlite3_column_text(statement, i)))
			return LODE_SYSTEM;
	if (!newest->texts[0] || strcmp(newest->texts[0], texts[0]) != 0 || strcmp(newest->texts[1], texts[1]) != 0)
		return keep_newest(newest, texts);
	if (!newest->is_told)
		tell(context, &(struct lode_release){ .service = texts[0],
						      .key = texts[1],
						      .old = texts[2],
						      .new = newest->texts[2] });
	newest->is_told = 1;
	return 0;
}

int lode_catalogue_releases(struct lode_catalogue *catalogue, unsigned streams,
			    void (*tell)(void *context, const struct lode_release *release), void *context,
			    struct lode_error *error)
{
	sqlite3_stmt *statement = lode_sql_prepare(catalogue, releases_query, error);
	struct newest newest = { .is_told = 0 };
	int status = SQLITE_DONE, code = 0;

	if (!statement || sqlite3_bind_int64(statement, 1, streams) != SQLITE_OK) {
		sqlite3_finalize(statement);
		return lode_sql_fail(catalogue, error);
	}
	while (!code && (status = sqlite3_step(statement)) == SQLITE_ROW)
		if (read_version(statement, &newest, tell, context) < 0)
			code = lode_fail_memory(error);
	if (!code && status != SQLITE_DONE)
		code = lode_sql_fail(catalogue, error);
	sqlite3_finalize(statement);
	forget_newest(&newest);
	return code;
}
