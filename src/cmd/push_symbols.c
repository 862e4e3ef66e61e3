/* Symbols for a collector: see push_symbols.h. */
#include "cmd/push_symbols.h"

#include "base/array.h"
#include "base/file.h"
#include "base/json_read.h"
#include "base/memory.h"
#include "push/push_sender.h"
#include "store/corpus_symbols.h"
#include "store/store.h"
#include "symbols/symbol_extract.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ADDRESS       "/v1/symbols"
#define ASKED_AT_ONCE 64
#define DEBUG_FILES   "/usr/lib/debug/.build-id"

struct program {
	const char *build_id;
	const char *path;
	enum lode_kept_symbols kept; /* by the collector */
};

struct programs {
	LODE_ARRAY(struct program);
};

void lode_push_symbols_release(struct lode_push_symbols *symbols)
{
	lode_text_list_release(&symbols->asked);
}

/* ---- files ---- */

static enum lode_kept_symbols symbols_in(const struct lode_elf *elf)
{
	return lode_elf_has_symtab(elf)   ? LODE_KEPT_ALL
	       : lode_elf_has_dynsym(elf) ? LODE_KEPT_EXPORTED
					  : LODE_KEPT_NONE;
}

/* What the collector would have of a file, if it is that of the build-id. */
static enum lode_kept_symbols look_at(const char *path, const char *build_id)
{
	enum lode_kept_symbols found = LODE_KEPT_NONE;
	char own[LODE_BUILD_ID_TEXT];
	struct lode_elf elf;

	if (lode_elf_open(&elf, path) < 0)
		return LODE_KEPT_NONE;
	lode_elf_build_id(&elf, own);
	if (!strcmp(own, build_id))
		found = symbols_in(&elf);
	lode_elf_close(&elf);
	return found;
}

static int read_build_id(const char *path, char build_id[LODE_BUILD_ID_TEXT])
{
	struct lode_elf elf;

	build_id[0] = '\0';
	if (lode_elf_open(&elf, path) < 0)
		return 0;
	lode_elf_build_id(&elf, build_id);
	lode_elf_close(&elf);
	return build_id[0] != '\0';
}

int lode_push_symbols_takes(const char *path)
{
	struct lode_elf elf;

	if (lode_elf_open(&elf, path) < 0)
		return 0;
	lode_elf_close(&elf);
	return 1;
}

/* ---- asking ---- */

static enum lode_kept_symbols read_kept(struct lode_json_value name)
{
	for (unsigned kept = LODE_KEPT_NONE; lode_kept_symbols_name(kept); kept++)
		if (lode_json_is_text(name, lode_kept_symbols_name(kept)))
			return (enum lode_kept_symbols)kept;
	return LODE_KEPT_NONE;
}

static void note_kept(struct programs *programs, struct lode_json_value item)
{
	struct lode_json_value id = lode_json_get(item, "build_id");

	for (size_t i = 0; i < programs->count; i++)
		if (lode_json_is_text(id, programs->items[i].build_id))
			programs->items[i].kept = read_kept(lode_json_get(item, "kept"));
}

static int read_answer(struct programs *programs, const struct lode_buffer *body, struct lode_error *error)
{
	struct lode_json_value root, item;
	struct lode_json_walk walk;

	if (lode_json_check("the collector's answer", body->bytes ? body->bytes : "", body->size, &root, error) < 0)
		return LODE_SYSTEM;
	walk = lode_json_walk(lode_json_get(root, "symbols"));
	while (lode_json_item(&walk, &item))
		note_kept(programs, item);
	return 0;
}

/* Of all requests, whatever they are about. */
static int fail_answer(const struct lode_push_answer *answer, struct lode_error *error)
{
	if (answer->status == 401 || answer->status == 403)
		return lode_fail(
			error, LODE_BAD_INPUT,
			"symbols: the collector refuses this sender: %s; give a token that may upload with "
			"--token-file, or in LODE_TOKEN",
			answer->text);
	if (answer->status == 404 || answer->status == 405)
		return lode_fail(error, LODE_SYSTEM,
				 "this server takes no symbols: it was started without --collect, or is of an "
				 "older version");
	return lode_fail(error, LODE_SYSTEM, "symbols: %s%s",
			 answer->status ? "the collector refuses: " : "the collector does not answer: ",
			 answer->text);
}

/* Fills in what the collector has of `count` programs from the first. */
static int ask_some(struct lode_push_symbols *symbols, struct programs *programs, size_t first, size_t count,
		    struct lode_error *error)
{
	struct lode_buffer address = { 0 }, body = { 0 };
	struct lode_push_answer answer;
	int code;

	lode_buffer_text(&address, ADDRESS "?build-ids=");
	for (size_t i = first; i < first + count; i++) {
		lode_buffer_text(&address, i > first ? "," : "");
		lode_buffer_text(&address, programs->items[i].build_id);
	}
	lode_buffer_byte(&address, '\0');
	code = address.failed ? lode_fail_memory(error)
			      : lode_push_client_get(symbols->client, address.bytes, &body, &answer, error);
	if (!code)
		code = answer.status == 200 ? read_answer(programs, &body, error) : fail_answer(&answer, error);
	lode_buffer_release(&address);
	lode_buffer_release(&body);
	return code;
}

static int ask(struct lode_push_symbols *symbols, struct programs *programs, struct lode_error *error)
{
	int code = 0;

	for (size_t first = 0; !code && first < programs->count; first += ASKED_AT_ONCE) {
		size_t left = programs->count - first;

		code = ask_some(symbols, programs, first, left < ASKED_AT_ONCE ? left : ASKED_AT_ONCE, error);
	}
	return code;
}

/* ---- sending ---- */

/* Of one file: others may be taken. Returns 0. */
__attribute__((format(printf, 2, 3))) static int refuse(struct lode_push_symbols *symbols, const char *format, ...)
{
	struct lode_error error;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error.text, sizeof(error.text), format, arguments);
	va_end(arguments);
	if (symbols->refused++)
		symbols->tell(symbols->context, error.text);
	else
		symbols->refusal = error;
	return 0;
}

static int post(struct lode_push_symbols *symbols, const char *path, const struct lode_symbol_extract *extract,
		struct lode_error *error)
{
	struct lode_push_answer answer;
	int code = lode_push_client_post(symbols->client, ADDRESS, extract->file.bytes, extract->file.size,
					 &answer, error);

	if (code)
		return code;
	if (lode_push_is_final(answer.status))
		return refuse(symbols, "%s: the collector refuses its symbols: %s", path, answer.text);
	if (answer.status < 200 || answer.status >= 300)
		return fail_answer(&answer, error);
	symbols->sent++;
	return 0;
}

static int send_file(struct lode_push_symbols *symbols, const char *path, struct lode_error *error)
{
	struct lode_symbol_extract extract;
	struct lode_error why;
	struct lode_map map;
	int code;

	if (lode_map_open(&map, path, &why) < 0)
		return refuse(symbols, "%s", why.text);
	if (lode_symbol_extract_make(&extract, map.bytes, map.size, &why) < 0)
		code = refuse(symbols, "%s: its symbols cannot be sent: %s", path, why.text);
	else
		code = post(symbols, path, &extract, error);
	lode_symbol_extract_release(&extract);
	lode_map_close(&map);
	return code;
}

/* The better one of the program and its debug file, if it is better than what the collector has. */
static int send_program(struct lode_push_symbols *symbols, const struct program *program, struct lode_error *error)
{
	char *debug = lode_format(DEBUG_FILES "/%.2s/%s.debug", program->build_id, program->build_id + 2);
	enum lode_kept_symbols own = look_at(program->path, program->build_id);
	enum lode_kept_symbols debugs = debug && own < LODE_KEPT_ALL ? look_at(debug, program->build_id)
								     : LODE_KEPT_NONE;
	int code = debug ? 0 : lode_fail_memory(error);

	if (!code && debugs > own && debugs > program->kept)
		code = send_file(symbols, debug, error);
	else if (!code && own > program->kept)
		code = send_file(symbols, program->path, error);
	else if (!code && own == LODE_KEPT_NONE && debugs == LODE_KEPT_NONE)
		code = refuse(symbols, "%s: has no symbols, and no debug file below " DEBUG_FILES, program->path);
	lode_free(debug);
	return code;
}

static int offer(struct lode_push_symbols *symbols, struct programs *programs, struct lode_error *error)
{
	int code = programs->failed ? lode_fail_memory(error) : ask(symbols, programs, error);

	if (!code)
		symbols->programs += programs->count;
	for (size_t i = 0; !code && i < programs->count && !symbols->stops(symbols->context); i++)
		code = send_program(symbols, &programs->items[i], error);
	return code;
}

int lode_push_symbols_of_file(struct lode_push_symbols *symbols, const char *path, struct lode_error *error)
{
	char build_id[LODE_BUILD_ID_TEXT];
	struct program program = { .build_id = build_id, .path = path };
	struct programs programs = { .items = &program, .count = 1 };

	if (!read_build_id(path, build_id))
		return refuse(symbols,
			      "%s: has no build-id, by which its symbols could be found; link it with "
			      "-Wl,--build-id",
			      path);
	return offer(symbols, &programs, error);
}

/* ---- programs of streams ---- */

static int is_known(const struct lode_push_symbols *symbols, const struct programs *programs, const char *build_id)
{
	for (size_t i = 0; i < programs->count; i++)
		if (!strcmp(programs->items[i].build_id, build_id))
			return 1;
	for (size_t i = 0; i < symbols->asked.count; i++)
		if (!strcmp(symbols->asked.items[i], build_id))
			return 1;
	return 0;
}

static void find_programs(const struct lode_push_symbols *symbols, const struct lode_frames *frames,
			  struct programs *programs)
{
	for (size_t i = 0; i < frames->module_count && !programs->failed; i++) {
		const struct lode_module *module = &frames->modules[i];
		struct program program = { .build_id = lode_strings_get(&frames->strings, module->build_id),
					   .path = lode_strings_get(&frames->strings, module->path) };

		if (strlen(program.build_id) > 2 && program.path[0] == '/' &&
		    !is_known(symbols, programs, program.build_id) &&
		    look_at(program.path, program.build_id) != LODE_KEPT_NONE && LODE_PUSH(programs, program) < 0)
			programs->failed = 1;
	}
}

static int offer_modules(struct lode_push_symbols *symbols, const struct lode_frames *frames,
			 struct lode_error *error)
{
	struct programs programs = { 0 };
	int code;

	find_programs(symbols, frames, &programs);
	code = offer(symbols, &programs, error);
	for (size_t i = 0; !code && i < programs.count; i++)
		lode_text_list_add(&symbols->asked, lode_strdup(programs.items[i].build_id));
	lode_free(programs.items);
	return code;
}

int lode_push_symbols_of_stream(struct lode_push_symbols *symbols, const char *path, struct lode_error *error)
{
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_store *store = NULL;
	int code;

	if (lode_dictionary_init(&dictionary) < 0)
		return lode_fail_memory(error);
	lode_stream_init(&stream, &dictionary);
	code = lode_store_open(&store, path, error);
	if (!code)
		code = lode_store_head(store, &stream, error);
	if (!code)
		code = offer_modules(symbols, &dictionary.frames, error);
	lode_store_close(store);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	return code;
}
