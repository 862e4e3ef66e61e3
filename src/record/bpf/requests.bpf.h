/*
 * Limits on requests: what a thread does from when it was woken out of its outer loop's wait for work until it waits
 * there again, be it a request or a turn of an event loop.
 *
 * The outer loop's wait is known without a look at functions. It is in a system call that waits for events or
 * connections (epoll, accept); in threads that never wait so, in poll or select, which clients use as well; and else in
 * one that receives. Of several places with such calls it is the outermost, with the highest stack pointer: what a
 * handler waits for lies deeper. A place at which a thread waited only on its way to the loop is given up after MAX_DEEPER
 * waits at others.
 */
#ifndef LODE_RECORD_BPF_REQUESTS_BPF_H
#define LODE_RECORD_BPF_REQUESTS_BPF_H

#include "record/bpf/limits.bpf.h"

const volatile bool with_requests = false;
const volatile uint64_t least_request = UINT64_MAX;
const volatile uint64_t event_calls[LODE_RECORD_IDLE_CALLS / 64] = {}; /* a bit for each system call */
const volatile uint64_t poll_calls[LODE_RECORD_IDLE_CALLS / 64] = {};
const volatile uint64_t receive_calls[LODE_RECORD_IDLE_CALLS / 64] = {};

#define MAX_DEEPER 1000

static __always_inline uint32_t has_call(const volatile uint64_t *calls, uint32_t number)
{
	return number < LODE_RECORD_IDLE_CALLS ? calls[number / 64 & 7] >> (number & 63) & 1 : 0;
}

/* Whether the wait that begins, in this system call and with this stack pointer, is that of the outer loop. */
static __always_inline bool is_outer(struct lode_record_thread *thread, uint32_t call, uint64_t sp)
{
	uint32_t number = (call & ~LODE_RECORD_IOWAIT) - 1;
	uint32_t rank = has_call(event_calls, number) * 4 | has_call(poll_calls, number) * 2 |
			has_call(receive_calls, number);

	if (!rank)
		return false;
	if ((rank < thread->outer_rank || (rank == thread->outer_rank && sp < thread->outer_sp)) &&
	    ++thread->deeper <= MAX_DEEPER)
		return false;
	thread->outer_rank = rank;
	thread->outer_sp = sp;
	thread->deeper = 0;
	return true;
}

/* Which limits a request of `task` passed. */
static __noinline uint32_t passed_requests(struct task_struct *task, uint64_t took)
{
	uint64_t name[2], process[2];
	uint32_t passed = 0;

	__builtin_memcpy(name, task->comm, sizeof(name));
	__builtin_memcpy(process, task->group_leader->comm, sizeof(process));
	for (uint32_t i = 0; i < LODE_RECORD_LIMITS; i++) {
		const volatile struct lode_record_limit *limit = &limits[i];
		uint64_t first = limit->name[0], second = limit->name[1];

		if (limit->type == LODE_LIMIT_REQUEST && took > limit->limit &&
		    (limit->any || (first == name[0] && second == name[1]) ||
		     (first == process[0] && second == process[1])))
			passed |= 1u << i;
	}
	return passed;
}

/* A thread blocks, in `call`. */
static __always_inline void end_request(struct lode_record_thread *thread, struct task_struct *task,
					struct pt_regs *regs, uint64_t now)
{
	uint64_t begun = thread->request;
	uint32_t passed;

	if (!regs || !is_outer(thread, thread->call, REGS_SP(regs)))
		return;
	thread->in_outer = 1;
	thread->request = 0;
	if (!begun || now - begun <= least_request)
		return;
	passed = passed_requests(task, now - begun);
	if (passed)
		write_fired(task, passed, begun, now - begun, 0);
}

/* A thread runs again. */
static __always_inline void begin_request(struct lode_record_thread *thread, uint64_t now)
{
	if (!thread->in_outer)
		return;
	thread->in_outer = 0;
	thread->request = thread->woken > thread->out ? thread->woken : now;
}

#endif
