/* Streams that are left out: see unread_streams.h. */
#include "store/unread_streams.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/parallel.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* Streams that a note names, and bytes after which it names no more. */
#define NAMED      3
#define NAMED_SIZE 600

/* Streams whose files are checked. */
struct verifying {
	const struct lode_corpus_list *list;
	char **reasons;
	int *codes;
};

int lode_stream_is_unreadable(const struct lode_corpus_entry *entry, int code)
{
	return code == LODE_BAD_INPUT || (code == LODE_SYSTEM && access(entry->path, F_OK) && errno == ENOENT);
}

static const char *keep(struct lode_unread_streams *streams, const char *text)
{
	return lode_arena_text(&streams->arena, text, strlen(text));
}

int lode_unread_streams_add(struct lode_unread_streams *streams, const struct lode_unread_stream *stream)
{
	struct lode_unread_stream own = { keep(streams, stream->id), keep(streams, stream->name),
					  keep(streams, stream->reason), stream->code };

	if (!own.id || !own.name || !own.reason ||
	    LODE_APPEND(streams->items, streams->count, streams->capacity, own) < 0)
		return LODE_SYSTEM;
	return 0;
}

int lode_unread_streams_join(struct lode_unread_streams *streams, const struct lode_unread_streams *more)
{
	int code = 0;

	for (size_t i = 0; i < more->count && !code; i++)
		code = lode_unread_streams_add(streams, &more->items[i]);
	return code;
}

void lode_unread_streams_release(struct lode_unread_streams *streams)
{
	lode_free(streams->items);
	lode_arena_release(&streams->arena);
	memset(streams, 0, sizeof(*streams));
}

void lode_unread_streams_note(const struct lode_unread_streams *streams, struct lode_notes *notes)
{
	struct lode_buffer named = { 0 };

	for (size_t i = 0; i < streams->count && i < NAMED && named.size < NAMED_SIZE; i++) {
		if (i)
			lode_buffer_text(&named, ", ");
		lode_buffer_text(&named, streams->items[i].name);
		lode_buffer_text(&named, " (");
		lode_buffer_text(&named, streams->items[i].reason);
		lode_buffer_text(&named, ")");
	}
	lode_buffer_byte(&named, '\0');
	lode_notes_add(notes, streams->count, "streams left out, because their files are damaged or missing",
		       named.failed ? NULL : named.bytes);
	lode_buffer_release(&named);
}

static void verify(void *context, size_t i)
{
	struct verifying *verifying = context;
	struct lode_error error = { "" };

	verifying->codes[i] = lode_store_verify(verifying->list->items[i].path, &error);
	if (verifying->codes[i])
		verifying->reasons[i] = lode_strdup(error.text);
}

static int handle_one(struct lode_unread_streams *streams, const struct lode_corpus_entry *entry, int code,
		      const char *reason, struct lode_error *error)
{
	const struct lode_unread_stream stream = { entry->id, entry->name, reason, code };

	if (!reason)
		return lode_fail_memory(error);
	if (!lode_stream_is_unreadable(entry, code))
		return lode_fail(error, code, "%s", reason);
	return lode_unread_streams_add(streams, &stream) < 0 ? lode_fail_memory(error) : 0;
}

int lode_unread_streams_take(struct lode_unread_streams *streams, struct lode_corpus_list *list, unsigned jobs,
			     struct lode_error *error)
{
	struct verifying verifying = {
		.list = list,
		.reasons = lode_calloc(list->count + 1, sizeof(*verifying.reasons)),
		.codes = lode_calloc(list->count + 1, sizeof(*verifying.codes)),
	};
	size_t kept = 0;
	int code = verifying.reasons && verifying.codes ? 0 : lode_fail_memory(error);

	if (!code)
		lode_parallel(jobs, list->count, verify, &verifying);
	for (size_t i = 0; i < list->count && !code; i++) {
		if (verifying.codes[i])
			code = handle_one(streams, &list->items[i], verifying.codes[i], verifying.reasons[i],
					  error);
		else
			list->items[kept++] = list->items[i];
	}
	for (size_t i = 0; verifying.reasons && i < list->count; i++)
		lode_free(verifying.reasons[i]);
	if (!code)
		list->count = kept;
	lode_free(verifying.reasons);
	lode_free(verifying.codes);
	return code;
}

static int is_among(const struct lode_unread_stream *stream, const struct lode_unread_streams *streams)
{
	for (size_t i = 0; i < streams->count; i++)
		if (!strcmp(stream->id, streams->items[i].id))
			return 1;
	return 0;
}

int lode_unread_streams_note_others(const struct lode_unread_streams *streams,
				    const struct lode_unread_streams *noted, struct lode_notes *notes)
{
	struct lode_unread_streams others = { 0 };
	int code = 0;

	for (size_t i = 0; i < streams->count && !code; i++)
		if (!is_among(&streams->items[i], noted))
			code = lode_unread_streams_add(&others, &streams->items[i]);
	lode_unread_streams_note(&others, notes);
	lode_unread_streams_release(&others);
	return code;
}

int lode_unread_streams_fail(const struct lode_unread_streams *streams, struct lode_error *error)
{
	return lode_fail(error, streams->items[0].code, "%s", streams->items[0].reason);
}

/* ---- in messages ---- */

static size_t unread_bytes(const struct lode_unread_stream *stream)
{
	return strlen(stream->id) + strlen(stream->name) + strlen(stream->reason) + 3;
}

void lode_unread_streams_write(const struct lode_unread_streams *unread, struct lode_buffer *message)
{
	size_t bytes = 0;

	for (size_t i = 0; i < unread->count; i++)
		bytes += unread_bytes(&unread->items[i]);
	lode_buffer_u64(message, unread->count);
	lode_buffer_u64(message, bytes);
	for (size_t i = 0; i < unread->count; i++)
		lode_buffer_u64(message, (uint64_t)(int64_t)unread->items[i].code);
	for (size_t i = 0; i < unread->count; i++) {
		lode_buffer_add(message, unread->items[i].id, strlen(unread->items[i].id) + 1);
		lode_buffer_add(message, unread->items[i].name, strlen(unread->items[i].name) + 1);
		lode_buffer_add(message, unread->items[i].reason, strlen(unread->items[i].reason) + 1);
	}
	lode_message_fill_up(message, bytes);
}

/* The text that is next of `*bytes`; "", and the cursor marked, when it has no end. */
static const char *read_text(struct lode_cursor *cursor, const char **texts, size_t *bytes)
{
	const char *text = *texts;
	size_t length = *bytes ? strnlen(text, *bytes) : 0;

	lode_message_expect(cursor, length < *bytes);
	if (cursor->failed)
		return "";
	*texts += length + 1;
	*bytes -= length + 1;
	return text;
}

int lode_unread_streams_read(struct lode_cursor *cursor, struct lode_unread_streams *unread)
{
	uint64_t count = lode_cursor_u64(cursor), left = lode_cursor_u64(cursor);
	const int64_t *codes = lode_message_items(cursor, count, sizeof(*codes));
	const char *texts = lode_message_items(cursor, left, 1);
	size_t bytes = left;
	int code = 0;

	for (size_t i = 0; i < count && !cursor->failed && !code; i++) {
		struct lode_unread_stream stream = { .code = (int)codes[i] };

		lode_message_expect(cursor, codes[i] < 0 && codes[i] > INT_MIN);
		stream.id = read_text(cursor, &texts, &bytes);
		stream.name = read_text(cursor, &texts, &bytes);
		stream.reason = read_text(cursor, &texts, &bytes);
		if (!cursor->failed)
			code = lode_unread_streams_add(unread, &stream);
	}
	lode_message_expect(cursor, !bytes);
	return code;
}
