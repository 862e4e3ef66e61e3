/*
 * What a thread waits for, from the registers with which it entered the kernel: the first argument of its system call, a
 * futex or a descriptor, and what only this moment can tell about it. A descriptor may be closed, and its number another
 * file's, by the time the recorder looks: so its inode goes with it, for a socket also the peer. The word of a futex, and
 * those behind it where the C library's locks keep who holds them, are read here too. A thread that waits in no system
 * call waits for a page (page_faults.bpf.h).
 */
#ifndef LODE_RECORD_BPF_OBJECTS_BPF_H
#define LODE_RECORD_BPF_OBJECTS_BPF_H

#include "record/bpf/kernel_locks.bpf.h"
#include "record/bpf/kernel_stack.bpf.h"
#include "record/bpf/page_faults.bpf.h"
#include "record/bpf/settings.bpf.h"

#define FUTEX_COMMAND     0x7f
#define FUTEX_LOCK_PI     6
#define FUTEX_LOCK_PI2    13
#define FUTEX_HAS_WAITERS 0x80000000u
#define FUTEX_OWNER_DIED  0x40000000u
#define FUTEX_OWNER       0x3fffffffu
#define INODE_TYPE        0170000u
#define INODE_SOCKET      0140000u
#define SOCKET_LISTENS    10 /* TCP_LISTEN */
#define FAMILY_INET       2
#define FAMILY_INET6      10

/* Words of a futex: the word itself, and the three that locks of glibc may keep their owner in. */
struct futex_words {
	uint32_t word;
	uint32_t unused;
	uint32_t owner;    /* of a mutex, from its first word */
	uint32_t writer12; /* of a reader-writer lock, from the word that writers wait at, */
	uint32_t writer16; /* and from the one that readers wait at */
};

/* Who may hold a futex, and where that was found: the program knows by the functions that wait whether it means that. */
static __always_inline void find_owner(struct lode_record_object *object, uint32_t operation,
				       const struct futex_words *words)
{
	uint32_t owner = words->word & FUTEX_OWNER;

	if (operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2) {
		object->kind = LODE_WAITED_FUTEX_PI;
		object->detail = words->word & FUTEX_OWNER_DIED ? 0 : owner;
	} else if (words->word & FUTEX_HAS_WAITERS && owner && owner == words->owner) {
		object->kind = LODE_WAITED_FUTEX_ROBUST;
		object->detail = owner;
	} else if (words->owner) {
		object->kind = LODE_WAITED_FUTEX_OWNER;
		object->detail = words->owner;
	} else if (words->writer12) {
		object->kind = LODE_WAITED_FUTEX_WRITER12;
		object->detail = words->writer12;
	} else if (words->writer16) {
		object->kind = LODE_WAITED_FUTEX_WRITER16;
		object->detail = words->writer16;
	}
}

static __always_inline void describe_futex(struct task_struct *task, struct pt_regs *regs,
					   struct lode_record_object *object, bool is_current)
{
	struct futex_words words;

	object->kind = LODE_WAITED_FUTEX;
	object->family = task->thread_pid->level != 0;
	if (!is_current || bpf_probe_read_user(&words, sizeof(words), (void *)object->argument))
		return;
	object->peer[0] = words.word;
	find_owner(object, REGS_SECOND(regs) & FUTEX_COMMAND, &words);
}

/* Both ends of a connection; of a socket that has no other end its own port. */
static __always_inline void describe_socket(uint64_t file, struct lode_record_object *object)
{
	uint64_t socket = (uint64_t)FIELD(file, file, private_data);
	uint64_t sock = (uint64_t)FIELD(socket, socket, sk);
	uint16_t family = FIELD(sock, sock, __sk_common.skc_family), port;
	uint8_t type = FIELD(socket, socket, type), listens;

	object->kind = LODE_WAITED_SOCKET;
	object->family = family;
	listens = FIELD(sock, sock, __sk_common.skc_state) == SOCKET_LISTENS;
	object->argument = (uint32_t)object->argument | (uint64_t)type << 32;
	if (family != FAMILY_INET && family != FAMILY_INET6)
		return;
	port = __builtin_bswap16(FIELD(sock, sock, __sk_common.skc_dport));
	if (!port || listens) {
		object->kind = LODE_WAITED_LISTENER;
		object->port = FIELD(sock, sock, __sk_common.skc_num);
		return;
	}
	object->port = port;
	/* Its own end: where both hosts are recorded, connections are known by both. */
	object->argument |= (uint64_t)FIELD(sock, sock, __sk_common.skc_num) << 48;
	object->detail = FIELD(sock, sock, __sk_common.skc_rcv_saddr);
	object->peer[1] = object->peer[2] = object->peer[3] = 0;
	if (family == FAMILY_INET)
		object->peer[0] = FIELD(sock, sock, __sk_common.skc_daddr);
	else if (bpf_core_field_exists(((struct sock *)0)->__sk_common.skc_v6_daddr))
		bpf_probe_read_kernel(object->peer, sizeof(object->peer),
				      (void *)(sock + bpf_core_field_offset(struct sock, __sk_common.skc_v6_daddr)));
}

/* The file that descriptor `number` of a thread is. */
static __always_inline void describe_descriptor(struct task_struct *task, struct lode_record_object *object,
						uint32_t number)
{
	struct fdtable *table = task->files->fdt;
	uint64_t file = 0, inode, operations;
	uint32_t mode;

	object->argument = number;
	if (number >= table->max_fds ||
	    bpf_probe_read_kernel(&file, sizeof(file), (char *)table->fd + sizeof(file) * number) || !file)
		return;
	inode = (uint64_t)FIELD(file, file, f_inode);
	mode = FIELD(inode, inode, i_mode) & INODE_TYPE;
	object->kind = LODE_WAITED_FILE;
	object->detail = FIELD(inode, inode, i_ino);
	object->family = mode >> 12;
	operations = (uint64_t)FIELD(file, file, f_op);
	operations = (uint64_t)FIELD(file_operations, operations, poll);
	object->peer[0] = operations;
	object->peer[1] = operations >> 32;
	object->peer[2] = device_of(inode);
	if (mode == INODE_SOCKET)
		describe_socket(file, object);
}

static __always_inline void describe_polled(struct task_struct *task, struct pt_regs *regs,
					    struct lode_record_object *object, bool is_current)
{
	uint64_t count = REGS_SECOND(regs);
	uint32_t number;

	object->kind = LODE_WAITED_POLL;
	if (count == 1 && is_current && !bpf_probe_read_user(&number, sizeof(number), (void *)object->argument))
		describe_descriptor(task, object, number);
	else
		object->detail = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

/*
 * What `task` waits for, which is the current thread or one that does not run: of that no memory can be read. `user`: whose
 * scratch may be used.
 */
static __noinline int describe_object(struct task_struct *task, struct lode_record_object *object, bool is_current,
				      enum scratch_user user)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	int32_t call;

	object->kind = LODE_WAITED_NONE;
	object->detail = 0;
	object->port = 0;
	object->family = 0;
	object->peer[0] = 0;
	if (with_kernel_locks && describe_kernel_lock(task, object))
		return 0;
	if (task->flags & PF_KTHREAD || REGS_COMPAT(regs))
		return 0;
	call = REGS_CALL(regs);
	object->argument = REGS_ARGUMENT(regs);
	if (call < 0)
		describe_page(task, regs, own_scratch(user), object);
	else if (call == CALL_FUTEX)
		describe_futex(task, regs, object, is_current);
	else if (call == CALL_PPOLL || call == CALL_POLL)
		describe_polled(task, regs, object, is_current);
	else if (call == CALL_WAITID)
		object->detail = REGS_SECOND(regs);
	else if (object->argument <= INT32_MAX)
		describe_descriptor(task, object, (uint32_t)object->argument);
	return 0;
}

/* What the current thread waits for, which stops running. By itself, so that the verifier looks at it once. */
__noinline int lode_describe_own_object(struct lode_record_thread *thread)
{
	return thread ? describe_object(bpf_get_current_task_btf(), &thread->object, true, SCRATCH_SCHEDULER) : 0;
}

#endif
