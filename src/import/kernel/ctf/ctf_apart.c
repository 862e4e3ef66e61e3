/*
 * Reading CTF in a separate process: see ctf_apart.h.
 *
 * The child writes what the module reads into a pipe, one record after the other: a head, and a body of so many
 * bytes. A body is checked like a file: what the child has read may have damaged it.
 */
#include "import/kernel/ctf/ctf_apart.h"

#include "base/buffer.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BODY_LIMIT (1u << 20)
#define OUT_BYTES  (1u << 16) /* written at once */
#define NO_TEXT    UINT32_MAX

enum record_kind { EVENT, DISCARDED, ENVIRONMENT, FAILED, DONE };

struct record_head {
	uint32_t kind;
	uint32_t size; /* of the body */
};

/* ---- the child ---- */

struct writer {
	int fd;
	struct lode_buffer body; /* of the record that is being made */
	struct lode_buffer out;  /* whole records */
};

/* Ends the child when its reader has gone. */
static void flush_records(struct writer *writer)
{
	for (size_t done = 0; done < writer->out.size;) {
		ssize_t wrote = write(writer->fd, writer->out.bytes + done, writer->out.size - done);

		if (wrote < 0 && errno != EINTR)
			_exit(1);
		done += wrote > 0 ? (size_t)wrote : 0;
	}
	lode_buffer_clear(&writer->out);
}

static void write_record(struct writer *writer, enum record_kind kind)
{
	struct record_head head = { .kind = kind, .size = (uint32_t)writer->body.size };

	if (writer->body.size > BODY_LIMIT)
		_exit(1);
	lode_buffer_add(&writer->out, &head, sizeof(head));
	lode_buffer_add(&writer->out, writer->body.bytes, writer->body.size);
	if (writer->body.failed || writer->out.failed)
		_exit(1);
	lode_buffer_clear(&writer->body);
	if (writer->out.size >= OUT_BYTES)
		flush_records(writer);
}

/* Its length, and the text with its end. */
static void put_text(struct lode_buffer *body, const char *text)
{
	uint32_t length = text ? (uint32_t)strlen(text) : NO_TEXT;

	lode_buffer_add(body, &length, sizeof(length));
	if (text) {
		lode_buffer_add(body, text, length);
		lode_buffer_byte(body, '\0');
	}
}

/* The stacks are next to the struct, so that they are aligned. */
static int write_event(void *context, const struct lode_ctf_event *event, struct lode_error *error)
{
	struct writer *writer = context;
	struct lode_buffer *body = &writer->body;

	(void)error;
	lode_buffer_add(body, event, sizeof(*event));
	if (event->kernel_depth)
		lode_buffer_add(body, event->kernel_stack, event->kernel_depth * sizeof(uint64_t));
	if (event->user_depth)
		lode_buffer_add(body, event->user_stack, event->user_depth * sizeof(uint64_t));
	put_text(body, event->name);
	put_text(body, event->context_name);
	for (int i = 0; i < LODE_CTF_FIELDS; i++)
		put_text(body, event->text[i]);
	write_record(writer, EVENT);
	return 0;
}

static void write_discarded(void *context, uint64_t count)
{
	struct writer *writer = context;

	lode_buffer_add(&writer->body, &count, sizeof(count));
	write_record(writer, DISCARDED);
}

static void write_environment(void *context, const char *host, const char *kernel)
{
	struct writer *writer = context;

	put_text(&writer->body, host);
	put_text(&writer->body, kernel);
	write_record(writer, ENVIRONMENT);
}

/* What the library prints before it aborts is for its own developers. */
static void silence(void)
{
	int nowhere = open("/dev/null", O_WRONLY);

	if (nowhere >= 0)
		dup2(nowhere, STDERR_FILENO);
}

/* What the library does wrong ends this process: handlers of the program that it is a copy of would go on with its work here. */
static void end_by_signals(void)
{
	static const int fatal[] = { SIGPIPE, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP };

	for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
		signal(fatal[i], SIG_DFL);
}

static _Noreturn void read_in_child(const struct lode_ctf_module *module, const char *folder, int fd)
{
	struct writer writer = { .fd = fd };
	struct lode_ctf_taker taker = { write_event, write_discarded, write_environment, &writer };
	struct lode_error error = { 0 };
	int failed;

	end_by_signals();
	silence();
	failed = module->read(folder, &taker, &error) < 0;
	if (failed)
		put_text(&writer.body, error.text);
	write_record(&writer, failed ? FAILED : DONE);
	flush_records(&writer);
	_exit(0);
}

/* ---- this process ---- */

struct reader {
	const char *folder;
	const struct lode_ctf_taker *taker;
	char *body;
	size_t size;
	size_t at;
	int done;
};

/* The next bytes of a body, or NULL when it has no more so many. */
static const void *get(struct reader *reader, size_t count, size_t size)
{
	const char *bytes = reader->body + reader->at;

	if (count > (reader->size - reader->at) / size)
		return NULL;
	reader->at += count * size;
	return bytes;
}

/* Whether there is a text, which may be none. */
static int get_text(struct reader *reader, const char **text)
{
	const char *bytes = get(reader, 1, sizeof(uint32_t));
	uint32_t length;

	*text = NULL;
	if (!bytes)
		return 0;
	memcpy(&length, bytes, sizeof(length));
	if (length == NO_TEXT)
		return 1;
	*text = get(reader, (size_t)length + 1, 1);
	return *text && (*text)[length] == '\0';
}

static int fail_damaged(struct reader *reader, struct lode_error *error)
{
	return lode_fail(error, LODE_BAD_INPUT,
			 "%s: libbabeltrace2 broke down while reading this trace; try babeltrace2 on it",
			 reader->folder);
}

static int handle_event(struct reader *reader, struct lode_error *error)
{
	struct lode_ctf_event event;
	const void *bytes = get(reader, 1, sizeof(event));
	int whole = bytes != NULL;

	if (!bytes)
		return fail_damaged(reader, error);
	memcpy(&event, bytes, sizeof(event));
	event.kernel_stack = get(reader, event.kernel_depth, sizeof(uint64_t));
	event.user_stack = get(reader, event.user_depth, sizeof(uint64_t));
	whole = event.kernel_stack && event.user_stack && get_text(reader, &event.name) && event.name &&
		get_text(reader, &event.context_name);
	for (int i = 0; whole && i < LODE_CTF_FIELDS; i++)
		whole = get_text(reader, &event.text[i]);
	return whole ? reader->taker->event(reader->taker->context, &event, error) : fail_damaged(reader, error);
}

static int handle_others(struct reader *reader, uint32_t kind, struct lode_error *error)
{
	const struct lode_ctf_taker *taker = reader->taker;
	const char *first = NULL, *second = NULL;
	const void *number;
	uint64_t count;

	if (kind == DISCARDED && (number = get(reader, 1, sizeof(count)))) {
		memcpy(&count, number, sizeof(count));
		taker->discarded(taker->context, count);
		return 0;
	}
	if (kind == ENVIRONMENT && get_text(reader, &first) && get_text(reader, &second)) {
		taker->environment(taker->context, first, second);
		return 0;
	}
	if (kind == FAILED && get_text(reader, &first) && first)
		return lode_fail(error, LODE_BAD_INPUT, "%s", first);
	return fail_damaged(reader, error);
}

/* Takes records until the last one, the first that fails, or the end of the child. */
static int handle_records(struct reader *reader, FILE *pipe, struct lode_error *error)
{
	struct record_head head;
	int code = 0;

	while (!code && !reader->done) {
		if (fread(&head, sizeof(head), 1, pipe) != 1 || head.size > BODY_LIMIT ||
		    (head.size && fread(reader->body, head.size, 1, pipe) != 1))
			return ferror(pipe) && errno == EINTR
				       ? lode_fail(error, LODE_SYSTEM, "%s: reading was interrupted",
						   reader->folder)
				       : fail_damaged(reader, error);
		reader->size = head.size;
		reader->at = 0;
		if (head.kind == EVENT)
			code = handle_event(reader, error);
		else if (head.kind == DONE)
			reader->done = 1;
		else
			code = handle_others(reader, head.kind, error);
	}
	return code;
}

static int handle_all(const char *folder, const struct lode_ctf_taker *taker, int fd, struct lode_error *error)
{
	struct reader reader = { .folder = folder, .taker = taker, .body = lode_alloc(BODY_LIMIT) };
	FILE *pipe = fdopen(fd, "r");
	int code = reader.body && pipe ? handle_records(&reader, pipe, error) : lode_fail_memory(error);

	if (pipe)
		fclose(pipe);
	else
		close(fd);
	lode_free(reader.body);
	return code;
}

int lode_ctf_read_apart(const struct lode_ctf_module *module, const char *folder,
			const struct lode_ctf_taker *taker, struct lode_error *error)
{
	int ends[2], code;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return lode_fail(error, LODE_SYSTEM, "%s: no pipe to read it through: %s", folder, strerror(errno));
	child = fork();
	if (child == 0) {
		close(ends[0]);
		read_in_child(module, folder, ends[1]);
	}
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		return lode_fail(error, LODE_SYSTEM, "%s: no process to read it in: %s", folder, strerror(errno));
	}
	code = handle_all(folder, taker, ends[0], error);
	/* One that still reads is not needed any more. */
	kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return code;
}
