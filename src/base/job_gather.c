/*
 * Parts joined up a tree: see job_gather.h.
 *
 *	8  digest of the program
 *	8  0, or the code of a failure; then only its sentence follows
 *	   what the process has
 */
#include "base/job_gather.h"

#include "base/hash.h"
#include "base/message.h"
#include "base/program_id.h"

#include <limits.h>

static uint64_t program_digest(void)
{
	struct lode_buffer id = { 0 };
	uint64_t digest;

	lode_program_id(&id);
	digest = lode_digest_bytes(id.bytes, id.size);
	lode_buffer_release(&id);
	return digest;
}

/* Joins a message, unless it tells of a failure. */
static int join_message(const struct lode_job_gathering *gathering, struct lode_cursor message,
			struct lode_error *error)
{
	int code;

	if (lode_cursor_u64(&message) != program_digest())
		return lode_fail(
			error, LODE_SYSTEM,
			"another process of the job is another build of lode; install the same everywhere");
	code = lode_message_failure(&message, error);
	if (code)
		return code;
	code = gathering->join(gathering->context, message);
	if (code == LODE_BAD_INPUT)
		return lode_fail(error, LODE_SYSTEM, "another process of the job sent a damaged message");
	return code ? lode_fail_memory(error) : 0;
}

/* The parent knows what failed; there is nothing more to say. */
static int send_up(const struct lode_job_gathering *gathering, const struct lode_job_rank *rank, int code,
		   struct lode_error *error)
{
	struct lode_buffer message = { 0 };
	int sent;

	lode_buffer_u64(&message, program_digest());
	if (!code) {
		lode_buffer_u64(&message, 0);
		gathering->write(gathering->context, &message);
	}
	if (message.failed) {
		lode_buffer_release(&message);
		code = lode_fail_memory(error);
		lode_buffer_u64(&message, program_digest());
	}
	if (code)
		lode_message_add_failure(&message, code, error);
	sent = rank->send(rank->context, lode_job_parent(rank), message.bytes, message.size, error);
	lode_buffer_release(&message);
	return code ? code : sent;
}

int lode_job_gather(const struct lode_job_rank *rank, const struct lode_job_gathering *gathering, int code,
		    struct lode_error *error)
{
	struct lode_buffer message = { 0 };

	for (unsigned i = 0, child; (child = lode_job_child(rank, i)) != UINT_MAX; i++) {
		struct lode_error own = { "" };
		int received = rank->receive(rank->context, child, &message, &own);

		if (!received && !code)
			received = join_message(gathering, lode_cursor(message.bytes, message.size), &own);
		if (received && !code)
			code = lode_fail(error, received, "%s", own.text);
		lode_buffer_release(&message);
	}
	return rank->number ? send_up(gathering, rank, code, error) : code;
}
