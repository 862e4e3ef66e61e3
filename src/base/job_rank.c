/*
 * One of several processes: see job_rank.h.
 *
 * In the tree process r has the children r + 1, r + 2, r + 4, ... as long as the step is below r's lowest
 * bit; its parent is r without that bit. So what is below a process is a range of numbers.
 */
#include "base/job_rank.h"

#include "base/memory.h"
#include "base/message.h"

#include <limits.h>

unsigned lode_job_child(const struct lode_job_rank *rank, unsigned i)
{
	unsigned lowest = rank->number & -rank->number, step = i < 32 ? 1u << i : 0;

	if (!step || (lowest && step >= lowest) || step >= rank->count - rank->number)
		return UINT_MAX;
	return rank->number + step;
}

unsigned lode_job_parent(const struct lode_job_rank *rank)
{
	return rank->number & (rank->number - 1);
}

int lode_job_broadcast(const struct lode_job_rank *rank, struct lode_buffer *message, struct lode_error *error)
{
	unsigned last = 0;
	int code = 0;

	if (rank->number)
		code = rank->receive(rank->context, lode_job_parent(rank), message, error);
	while (lode_job_child(rank, last) != UINT_MAX)
		last++;
	/* The last child has most below it. */
	while (last-- > 0 && !code)
		code = rank->send(rank->context, lode_job_child(rank, last), message->bytes, message->size, error);
	return code;
}

uint64_t lode_job_take(const struct lode_job_rank *rank, struct lode_job_turns *turns)
{
	return rank->take ? rank->take(rank->context) : rank->number + rank->count * turns->taken++;
}

int lode_job_is_closed(const struct lode_job_rank *rank)
{
	return rank->take && rank->take(rank->context) == UINT64_MAX;
}

int lode_job_call(const struct lode_job_rank *rank, uint64_t task, const struct lode_buffer *input,
		  struct lode_error *error)
{
	struct lode_buffer message = { 0 };
	int code;

	lode_buffer_u64(&message, task);
	if (input)
		lode_buffer_add(&message, input->bytes, input->size);
	code = message.failed || (input && input->failed) ? lode_fail_memory(error)
							  : lode_job_broadcast(rank, &message, error);
	lode_buffer_release(&message);
	return code ? code : rank->meet(rank->context, error);
}

int lode_job_answer(const struct lode_job_rank *rank, struct lode_buffer *message, int code,
		    struct lode_error *error)
{
	int sent;

	if (!code && message->failed)
		code = lode_fail_memory(error);
	if (code) {
		lode_buffer_release(message);
		lode_message_add_failure(message, code, error);
	}
	sent = rank->send(rank->context, 0, message->bytes, message->size, error);
	lode_buffer_release(message);
	return sent;
}

static int serve_one(const struct lode_job_rank *rank, const struct lode_job_service *services, uint64_t task,
		     struct lode_cursor input, struct lode_error *error)
{
	for (; services->task != LODE_JOB_END; services++)
		if (services->task == task)
			return services->serve(rank, input, error);
	return lode_fail(error, LODE_SYSTEM, "rank %u was called for a task that it does not know", rank->number);
}

int lode_job_serve(const struct lode_job_rank *rank, const struct lode_job_service *services,
		   struct lode_error *error)
{
	struct lode_buffer message = { 0 };
	uint64_t task = LODE_JOB_END;
	int code;

	do {
		struct lode_cursor input;

		code = lode_job_broadcast(rank, &message, error);
		if (!code)
			code = rank->meet(rank->context, error);
		input = lode_cursor(message.bytes, message.size);
		task = lode_cursor_u64(&input);
		if (!code && task != LODE_JOB_END)
			code = serve_one(rank, services, task, input, error);
	} while (!code && task != LODE_JOB_END);
	lode_buffer_release(&message);
	return code;
}
