/*
 * lode version: what this program is and what it was built with.
 */
#include "cmd/commands.h"
#include "import/import.h"
#include "export/export.h"
#include "page/page.h"
#include "record/recorder_lacks.h"
#include "result/version_report.h"
#include "store/store.h"

#include <lzma.h>
#include <sqlite3.h>
#include <zlib.h>
#include <zstd.h>

#ifdef LODE_HAVE_RECORDER
#define RECORDER 1
#else
#define RECORDER 0
#endif

#ifdef LODE_HAVE_SERVER
#define SERVER 1
#else
#define SERVER 0
#endif

#ifdef LODE_HAVE_PUSH
#define PUSH 1
#else
#define PUSH 0
#endif

struct settings {
	int json;
};

static const struct lode_option options[] = {
	LODE_FLAG("json", 0, offsetof(struct settings, json), "write JSON"),
	LODE_NO_MORE_OPTIONS,
};

void lode_version_text(struct lode_buffer *buffer)
{
	lode_buffer_print(buffer, "lode %s\nstream file version %d\nimports:", LODE_VERSION, LODE_STORE_VERSION);
	for (size_t i = 0; lode_importers[i]; i++)
		lode_buffer_print(buffer, " %s", lode_importers[i]->name);
	lode_buffer_text(buffer, "\nexports:");
	for (size_t i = 0; lode_exporters[i]; i++)
		lode_buffer_print(buffer, " %s", lode_exporters[i]->name);
	lode_buffer_print(buffer, "\nrecorder: %s",
			  RECORDER ? "yes" : "no, it was not built: " LODE_RECORDER_LACKS);
	lode_buffer_print(buffer, "\npage: %s", lode_page_is_there(NULL) ? "no, it was not built" : "yes");
	lode_buffer_print(buffer, "\nserver: %s", SERVER ? "yes" : "no, it was not built");
	lode_buffer_print(buffer, "\npush: %s", PUSH ? "yes" : "no, it was not built");
	lode_buffer_print(buffer, "\nlibraries: zstd %s, zlib %s, liblzma %s, SQLite %s, libdw, debuginfod\n",
			  ZSTD_versionString(), zlibVersion(), lzma_version_string(), sqlite3_libversion());
}

static int make_importer(const struct lode_list *list, size_t i, void *item)
{
	(void)list;
	*(const char **)item = lode_importers[i]->name;
	return 1;
}

static int make_exporter(const struct lode_list *list, size_t i, void *item)
{
	(void)list;
	*(const char **)item = lode_exporters[i]->name;
	return 1;
}

static void write_json(struct lode_buffer *buffer)
{
	struct lode_version_report report = {
		.version = LODE_VERSION,
		.stream_file_version = LODE_STORE_VERSION,
		.imports.make = make_importer,
		.exports.make = make_exporter,
		.recorder = RECORDER,
		.page = !lode_page_is_there(NULL),
		.server = SERVER,
		.push = PUSH,
		.libraries = { ZSTD_versionString(), zlibVersion(), lzma_version_string(), sqlite3_libversion() },
	};

	while (lode_importers[report.imports.count])
		report.imports.count++;
	while (lode_exporters[report.exports.count])
		report.exports.count++;
	lode_fields_line(&lode_version_fields, &report, buffer);
}

static int run(struct lode_call *call, struct lode_error *error)
{
	const struct settings *settings = call->settings;
	struct lode_buffer buffer = { 0 };
	int code;

	if (settings->json)
		write_json(&buffer);
	else
		lode_version_text(&buffer);
	code = lode_show(&call->out, &buffer, error);
	lode_buffer_release(&buffer);
	return code;
}

const struct lode_command lode_command_version = {
	.name = "version",
	.summary = "show the version and what is built in",
	.usage = "[--json]",
	.about = "Shows the version of Lode and of its stream files, the formats it reads and writes, and the "
		 "libraries it uses.",
	.examples = "  lode version\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.run = run,
};
