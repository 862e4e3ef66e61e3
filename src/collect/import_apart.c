/*
 * Reading uploads apart: see import_apart.h.
 *
 * A request to the forking process is one datagram: the limits, the options, and three descriptors (the upload, the
 * file to write, a socket for the answer). The answer is a sequence of records, each a head and a body: streams or
 * symbols, then DONE, a refusal, or CRASHED. An answer that ends before that comes from a process that somebody else
 * ended, or that had no time to run: it says nothing of the upload.
 */
#include "collect/import_apart.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "collect/sandbox.h"
#include "collect/upload_reader.h"

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_REQUEST (64u << 10)
#define MAX_ANSWER  (16u << 20) /* all that the catalogue is told of an upload, which may be a thousand streams */
#define DESCRIPTORS 3
#define SIGNAL_ROOM 16384
#define RETRY_S     10
#define PATIENCE_MS 5000 /* beyond the time that the process may take */

enum { UNREADABLE = 422, OUR_FAULT = 500, BUSY = 503 };

enum record_kind { STREAM, SYMBOLS, REFUSAL, CRASHED, DONE };

struct record_head {
	uint32_t kind;
	uint32_t size;   /* of the body */
	uint32_t status; /* of a refusal */
};

struct lode_import_apart {
	int control; /* requests */
	pid_t server;
	struct lode_upload_limits limits;
	sem_t places;
};

/* ---- in the process that reads ---- */

struct work {
	int written, answer;
	uint64_t offset; /* of the next stream file */
	uint64_t told;   /* bytes of records */
	struct lode_buffer message;
};

/* Ends the process when nobody listens any more. */
static void send_record(int fd, enum record_kind kind, unsigned status, const void *body, size_t size)
{
	const struct record_head head = { kind, (uint32_t)size, status };
	const char *parts[] = { (const char *)&head, body };
	const size_t sizes[] = { sizeof(head), size };

	for (int i = 0; i < 2; i++)
		for (size_t done = 0; done < sizes[i];) {
			ssize_t sent = write(fd, parts[i] + done, sizes[i] - done);

			if (sent < 0 && errno != EINTR)
				_exit(1);
			done += sent > 0 ? (size_t)sent : 0;
		}
}

static int write_stream(struct work *work, const struct lode_stream *stream, struct lode_upload_stream *found,
			struct lode_error *error)
{
	int fd = dup(work->written), code;
	off_t end;

	if (fd < 0)
		return lode_fail(error, LODE_SYSTEM, "cannot write a stream: %s", strerror(errno));
	code = lode_store_write_on(fd, "the stream", stream, 1, error);
	if (code)
		return code;
	end = lseek(work->written, 0, SEEK_CUR);
	found->offset = work->offset;
	found->size = (uint64_t)end - work->offset;
	work->offset = (uint64_t)end;
	return 0;
}

static int take_stream(void *context, const struct lode_stream *stream, const char id[33], int is_upload,
		       struct lode_upload_refusal *refusal)
{
	struct lode_upload_stream found = { .is_upload = is_upload };
	struct work *work = context;
	int code = 0;

	memcpy(found.entry.id, id, sizeof(found.entry.id));
	if (lode_corpus_describe(stream, &found.entry) < 0)
		return lode_fail_memory(&refusal->error);
	if (!is_upload)
		code = write_stream(work, stream, &found, &refusal->error);
	if (code)
		return code;
	lode_buffer_clear(&work->message);
	lode_upload_stream_write(&work->message, &found, stream);
	if (work->message.failed)
		return lode_fail_memory(&refusal->error);
	work->told += work->message.size;
	if (work->told > MAX_ANSWER)
		return lode_upload_refuse(refusal, UNREADABLE, "its attributes and symptoms are too many");
	send_record(work->answer, STREAM, 0, work->message.bytes, work->message.size);
	return 0;
}

static int take_symbols(void *context, const struct lode_symbol_extract *symbols,
			struct lode_upload_refusal *refusal)
{
	struct lode_upload_symbols found = { .has_all = symbols->has_all };
	struct work *work = context;
	int code = lode_file_write(work->written, symbols->file.bytes, symbols->file.size, "the symbols",
				   &refusal->error);

	memcpy(found.build_id, symbols->build_id, sizeof(found.build_id));
	if (!code)
		send_record(work->answer, SYMBOLS, 0, &found, sizeof(found));
	return code;
}

/* Maps the upload, closes the door, and reads. */
static int read_upload(struct work *work, int upload, struct lode_cursor request,
		       struct lode_upload_refusal *refusal)
{
	const struct lode_upload_taker taker = { take_stream, take_symbols, work };
	const void *bytes = lode_cursor_bytes(&request, sizeof(struct lode_upload_limits));
	struct lode_upload_limits limits = { 0 };
	struct lode_upload_options options;
	struct lode_sandbox_limits room;
	struct lode_text_list labels = { 0 };
	struct lode_map map;
	int code;

	if (bytes)
		memcpy(&limits, bytes, sizeof(limits));
	code = lode_upload_options_read(&request, &options, &labels);
	if (!code)
		code = lode_map_descriptor(&map, upload, "the upload", &refusal->error);
	room = (struct lode_sandbox_limits){ limits.memory, 4 * limits.unpacked, limits.seconds };
	if (!code)
		code = lode_sandbox_enter(&room, &refusal->error);
	if (!code)
		code = lode_upload_read(lode_cursor(map.bytes ? (const void *)map.bytes : "", map.size), &options,
					&limits, &taker, refusal);
	return code;
}

/* Where the handler of a signal tells it: there is no other way to hand it that. */
static int crash_answer;

static void tell_crash(int signal)
{
	(void)signal;
	send_record(crash_answer, CRASHED, 0, "", 0);
	_exit(1);
}

/* A file that takes all that it may, or breaks its reader, would do so again. */
static void watch_crashes(int answer)
{
	static const int fatal[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGXCPU, SIGXFSZ };
	static char room[SIGNAL_ROOM];
	const struct sigaction action = { .sa_handler = tell_crash, .sa_flags = SA_ONSTACK };

	crash_answer = answer;
	sigaltstack(&(stack_t){ .ss_sp = room, .ss_size = sizeof(room) }, NULL);
	for (size_t i = 0; i < sizeof(fatal) / sizeof(*fatal); i++)
		sigaction(fatal[i], &action, NULL);
}

static _Noreturn void work_off(struct lode_cursor request, const int descriptors[DESCRIPTORS])
{
	struct work work = { .written = descriptors[1], .answer = descriptors[2] };
	struct lode_upload_refusal refusal = { .status = OUR_FAULT };

	watch_crashes(work.answer);
	if (read_upload(&work, descriptors[0], request, &refusal) < 0)
		send_record(work.answer, REFUSAL, refusal.status ? refusal.status : OUR_FAULT, refusal.error.text,
			    strlen(refusal.error.text));
	else
		send_record(work.answer, DONE, 0, "", 0);
	_exit(0);
}

/* ---- in the process that forks ---- */

/* The next request. Returns its size; 0 or less: there are no more. */
static ssize_t receive(int control, char *request, int descriptors[DESCRIPTORS])
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(DESCRIPTORS * sizeof(int))];
	} ancillary;
	struct iovec part = { request, MAX_REQUEST };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = ancillary.bytes,
				  .msg_controllen = sizeof(ancillary.bytes) };
	struct cmsghdr *head;
	ssize_t size;

	do
		size = recvmsg(control, &message, MSG_CMSG_CLOEXEC);
	while (size < 0 && errno == EINTR);
	head = CMSG_FIRSTHDR(&message);
	if (size > 0 && (!head || head->cmsg_len != CMSG_LEN(DESCRIPTORS * sizeof(int))))
		return -1;
	if (size > 0)
		memcpy(descriptors, CMSG_DATA(head), DESCRIPTORS * sizeof(int));
	return size;
}

/* Ends with its parent, not by the signals of a terminal, which go to all processes in front of it. */
static void prepare_server(pid_t parent)
{
	static const int fatal[] = { SIGPIPE, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM, SIGXCPU, SIGXFSZ };
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (size_t i = 0; i < sizeof(fatal) / sizeof(*fatal); i++)
		signal(fatal[i], SIG_DFL);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGCHLD, SIG_IGN); /* nobody waits for the children */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
}

/* Without waiting: who asked may be gone. */
static void refuse_now(int answer)
{
	static char sentence[] = "no process can be started to read it; try again later";
	struct record_head head = { REFUSAL, sizeof(sentence) - 1, BUSY };
	struct iovec parts[] = { { &head, sizeof(head) }, { sentence, sizeof(sentence) - 1 } };

	sendmsg(answer, &(struct msghdr){ .msg_iov = parts, .msg_iovlen = 2 }, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static _Noreturn void serve(int control, pid_t parent)
{
	static char request[MAX_REQUEST];
	int descriptors[DESCRIPTORS];
	ssize_t size;

	prepare_server(parent);
	while ((size = receive(control, request, descriptors)) > 0) {
		pid_t child = fork();

		if (child == 0) {
			close(control);
			work_off(lode_cursor(request, (size_t)size), descriptors);
		}
		if (child < 0)
			refuse_now(descriptors[2]);
		for (int i = 0; i < DESCRIPTORS; i++)
			close(descriptors[i]);
	}
	_exit(0);
}

/* ---- in the process that asks ---- */

int lode_import_apart_start(struct lode_import_apart **apart, const struct lode_upload_limits *limits,
			    unsigned jobs, struct lode_error *error)
{
	struct lode_import_apart *made = lode_calloc(1, sizeof(*made));
	pid_t parent = getpid();
	int ends[2];

	*apart = NULL;
	if (!made)
		return lode_fail_memory(error);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0 || (made->server = fork()) < 0) {
		lode_free(made);
		return lode_fail(error, LODE_SYSTEM, "cannot start a process for uploads: %s", strerror(errno));
	}
	if (made->server == 0) {
		close(ends[0]);
		serve(ends[1], parent);
	}
	close(ends[1]);
	made->control = ends[0];
	made->limits = *limits;
	sem_init(&made->places, 0, jobs);
	*apart = made;
	return 0;
}

void lode_import_apart_end(struct lode_import_apart *apart)
{
	if (!apart)
		return;
	close(apart->control);
	waitpid(apart->server, NULL, 0);
	sem_destroy(&apart->places);
	lode_free(apart);
}

void lode_import_found_release(struct lode_import_found *found)
{
	for (size_t i = 0; i < found->streams.count; i++) {
		lode_upload_stream_release(found->streams.items[i]);
		lode_free(found->streams.items[i]);
	}
	lode_free(found->streams.items);
}

static int send_request(const struct lode_import_apart *apart, const struct lode_buffer *request,
			const int descriptors[DESCRIPTORS])
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(DESCRIPTORS * sizeof(int))];
	} ancillary = { .bytes = { 0 } };
	struct iovec part = { request->bytes, request->size };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = ancillary.bytes,
				  .msg_controllen = sizeof(ancillary.bytes) };
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	ssize_t sent;

	*head = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
				  .cmsg_type = SCM_RIGHTS,
				  .cmsg_len = CMSG_LEN(DESCRIPTORS * sizeof(int)) };
	memcpy(CMSG_DATA(head), descriptors, DESCRIPTORS * sizeof(int));
	do
		sent = sendmsg(apart->control, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)request->size ? 0 : -1;
}

/* All of `size` bytes before the deadline. */
static int receive_bytes(int fd, void *bytes, size_t size, uint64_t deadline)
{
	for (size_t done = 0; done < size;) {
		struct pollfd ready = { .fd = fd, .events = POLLIN };
		uint64_t now = lode_now();
		ssize_t got;

		if (now >= deadline || poll(&ready, 1, (int)((deadline - now) / 1000000 + 1)) < 0) {
			if (now < deadline && errno == EINTR)
				continue;
			return -1;
		}
		if (!ready.revents)
			continue;
		got = read(fd, (char *)bytes + done, size - done);
		if (got <= 0)
			return -1;
		done += (size_t)got;
	}
	return 0;
}

static int add_found(struct lode_import_found *found, const struct lode_buffer *body)
{
	struct lode_cursor message = lode_cursor(body->bytes ? body->bytes : "", body->size);
	struct lode_upload_stream *stream = lode_calloc(1, sizeof(*stream));
	int code = stream ? lode_upload_stream_read(&message, stream) : LODE_SYSTEM;

	if (!code && LODE_PUSH(&found->streams, stream) < 0) {
		lode_upload_stream_release(stream);
		code = LODE_SYSTEM;
	}
	if (code)
		lode_free(stream);
	return code;
}

/* It comes from a process that has read a stranger's file. */
static int add_symbols(struct lode_import_found *found, const struct lode_buffer *body)
{
	if (body->size != sizeof(found->symbols))
		return LODE_BAD_INPUT;
	memcpy(&found->symbols, body->bytes, sizeof(found->symbols));
	return memchr(found->symbols.build_id, 0, sizeof(found->symbols.build_id)) ? 0 : LODE_BAD_INPUT;
}

static int handle_record(const struct record_head *head, const struct lode_buffer *body,
			 struct lode_import_found *found, struct lode_upload_refusal *refusal)
{
	int code;

	if (head->kind == DONE)
		return 1;
	if (head->kind == REFUSAL)
		return lode_upload_refuse(refusal,
					  head->status >= 400 && head->status < 600 ? head->status : OUR_FAULT,
					  "%.*s", (int)body->size, body->bytes ? body->bytes : "");
	code = head->kind == STREAM    ? add_found(found, body)
	       : head->kind == SYMBOLS ? add_symbols(found, body)
				       : LODE_BAD_INPUT;
	if (code == LODE_SYSTEM)
		lode_fail_memory(&refusal->error);
	else if (code)
		lode_upload_refuse(refusal, UNREADABLE, "reading it went wrong");
	return code;
}

static int refuse_crash(const struct lode_import_apart *apart, struct lode_upload_refusal *refusal)
{
	return lode_upload_refuse(
		refusal, UNREADABLE,
		"reading it took more than %u s or %llu MiB of memory, or it is damaged in a way "
		"that stops the reader",
		apart->limits.seconds, (unsigned long long)(apart->limits.memory >> 20));
}

static int refuse_cut_off(struct lode_upload_refusal *refusal)
{
	return lode_upload_refuse(refusal, BUSY,
				  "the process that read it was ended, or got no time; try again later");
}

/* The next record: 0, or a negative code with a refusal. */
static int receive_record(const struct lode_import_apart *apart, int fd, uint64_t deadline,
			  struct record_head *head, struct lode_buffer *body, uint64_t *told,
			  struct lode_upload_refusal *refusal)
{
	char *room;

	lode_buffer_clear(body);
	if (receive_bytes(fd, head, sizeof(*head), deadline) < 0)
		return refuse_cut_off(refusal);
	*told += head->size;
	if (head->kind == CRASHED || *told > 2ull * MAX_ANSWER)
		return refuse_crash(apart, refusal);
	room = lode_buffer_room(body, (size_t)head->size + 1);
	if (!room)
		return lode_fail_memory(&refusal->error);
	if (receive_bytes(fd, room, head->size, deadline) < 0)
		return refuse_crash(apart, refusal);
	body->size = head->size;
	return 0;
}

static int receive_answer(const struct lode_import_apart *apart, int fd, struct lode_import_found *found,
			  struct lode_upload_refusal *refusal)
{
	uint64_t deadline = lode_now() + 2000000000ull * apart->limits.seconds + PATIENCE_MS * 1000000ull;
	struct lode_buffer body = { 0 };
	struct record_head head;
	int code = 0;

	while (!code) {
		code = receive_record(apart, fd, deadline, &head, &body, &found->told, refusal);
		if (!code)
			code = handle_record(&head, &body, found, refusal);
	}
	if (refusal->status == BUSY)
		refusal->retry_after = RETRY_S;
	lode_buffer_release(&body);
	return code < 0 ? code : 0;
}

static int ask(const struct lode_import_apart *apart, const struct lode_buffer *request, int upload, int written,
	       struct lode_import_found *found, struct lode_upload_refusal *refusal)
{
	int ends[2], code;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return lode_upload_refuse(refusal, OUR_FAULT, "cannot read uploads now: %s", strerror(errno));
	code = send_request(apart, request, (const int[DESCRIPTORS]){ upload, written, ends[1] });
	close(ends[1]);
	if (code < 0)
		code = lode_upload_refuse(refusal, OUR_FAULT, "the process that reads uploads has ended");
	else
		code = receive_answer(apart, ends[0], found, refusal);
	close(ends[0]);
	return code;
}

int lode_import_apart_read(struct lode_import_apart *apart, const struct lode_upload_options *options, int upload,
			   int written, struct lode_import_found *found, struct lode_upload_refusal *refusal)
{
	struct lode_buffer request = { 0 };
	int code;

	memset(found, 0, sizeof(*found));
	*refusal = (struct lode_upload_refusal){ .status = OUR_FAULT };
	lode_buffer_add(&request, &apart->limits, sizeof(apart->limits));
	lode_upload_options_write(&request, options);
	if (request.failed)
		return lode_fail_memory(&refusal->error);
	if (request.size > MAX_REQUEST) {
		code = lode_upload_refuse(refusal, 400, "what is said about the upload is too long");
	} else {
		while (sem_wait(&apart->places) < 0 && errno == EINTR)
			;
		code = ask(apart, &request, upload, written, found, refusal);
		sem_post(&apart->places);
	}
	lode_buffer_release(&request);
	return code;
}
