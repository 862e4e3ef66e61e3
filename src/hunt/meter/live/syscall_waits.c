/*
 * System call waits: see syscall_waits.h.
 *
 * Waiting for another thread or process (locks, semaphores) is synchronisation. Waiting
 * for a child is not: children are hunted too, and what they do meanwhile is their time. Waiting for bytes is input and output: which of the two a pipe
 * between two processes is, cannot be known from outside. Waiting for a descriptor
 * to have some may be either that or having nothing to do (hunt.bpf.c decides when
 * it is over). Sleeping for a time is neither.
 */
#include "hunt/meter/live/syscall_waits.h"

#include <string.h>
#include <sys/syscall.h>

#define SYNC  LODE_CLOCK_SYNC
#define FUTEX (LODE_CLOCK_SYNC | LODE_CALL_FUTEX)
#define IO    LODE_CLOCK_IO
#define POLLS (LODE_CLOCK_OTHER | LODE_CALL_POLLS)
#define MOVES (LODE_CLOCK_IO | LODE_CALL_MOVES)

static const struct {
	uint16_t number;
	uint8_t what;
} table[] = {
	{ SYS_futex, FUTEX },
#ifdef SYS_futex_wait
	{ SYS_futex_wait, FUTEX },
#endif
#ifdef SYS_futex_waitv
	{ SYS_futex_waitv, SYNC },
#endif
	{ SYS_semop, SYNC },
	{ SYS_semtimedop, SYNC },
	{ SYS_msgrcv, SYNC },
	{ SYS_msgsnd, SYNC },
	{ SYS_mq_timedreceive, SYNC },
	{ SYS_mq_timedsend, SYNC },
	{ SYS_flock, SYNC },
	{ SYS_fcntl, SYNC },
	{ SYS_rt_sigtimedwait, SYNC },
	{ SYS_rt_sigsuspend, SYNC },
	{ SYS_read, MOVES },
	{ SYS_write, MOVES },
	{ SYS_readv, MOVES },
	{ SYS_writev, MOVES },
	{ SYS_pread64, MOVES },
	{ SYS_pwrite64, MOVES },
	{ SYS_preadv, MOVES },
	{ SYS_pwritev, MOVES },
	{ SYS_preadv2, MOVES },
	{ SYS_pwritev2, MOVES },
	{ SYS_sendto, MOVES },
	{ SYS_recvfrom, MOVES },
	{ SYS_sendmsg, MOVES },
	{ SYS_recvmsg, MOVES },
	{ SYS_sendfile, MOVES },
	{ SYS_splice, MOVES },
	{ SYS_copy_file_range, MOVES },
	{ SYS_sendmmsg, IO },
	{ SYS_recvmmsg, IO },
	{ SYS_accept, POLLS },
	{ SYS_accept4, POLLS },
	{ SYS_connect, IO },
	{ SYS_ppoll, POLLS },
	{ SYS_pselect6, POLLS },
	{ SYS_epoll_pwait, POLLS },
#ifdef SYS_epoll_pwait2
	{ SYS_epoll_pwait2, POLLS },
#endif
#ifdef SYS_poll
	{ SYS_poll, POLLS },
#endif
#ifdef SYS_select
	{ SYS_select, POLLS },
#endif
#ifdef SYS_epoll_wait
	{ SYS_epoll_wait, POLLS },
#endif
#ifdef SYS_open
	{ SYS_open, IO },
#endif
	{ SYS_openat, IO },
	{ SYS_close, IO },
	{ SYS_fsync, IO },
	{ SYS_fdatasync, IO },
	{ SYS_sync_file_range, IO },
	{ SYS_syncfs, IO },
	{ SYS_sync, IO },
	{ SYS_msync, IO },
	{ SYS_ftruncate, IO },
	{ SYS_fallocate, IO },
	{ SYS_getdents64, IO },
	{ SYS_io_getevents, IO },
	{ SYS_io_submit, IO },
	{ SYS_io_uring_enter, IO },
};

void lode_hunt_calls(uint8_t calls[LODE_HUNT_CALLS])
{
	memset(calls, LODE_CLOCK_OTHER, LODE_HUNT_CALLS);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].number < LODE_HUNT_CALLS)
			calls[table[i].number] = table[i].what;
}
