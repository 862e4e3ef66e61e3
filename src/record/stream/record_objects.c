/* Objects of waits: see record_objects.h. */
#include "record/stream/record_objects.h"

#include "base/buffer.h"
#include "symbols/syscalls.h"
#include "trace/objects.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>

/* A power of two. */
#define MEMO 4096
/* Distinct futexes that get a text of their own. */
#define MAX_FUTEXES 100000
/* Distinct connections that are told apart. */
#define MAX_CONNECTIONS 100000

/* What the first argument of a system call is. */
enum argument {
	NOTHING,
	FUTEX,
	DESCRIPTOR,
	STORED, /* the same; of a file, the call waits for where that is stored */
	POLLED, /* an array of descriptors */
	SELECTED,
	EPOLL,
	TIME,
	CHILD,    /* wait4() */
	CHILD_ID, /* waitid() */
	DISK,     /* nothing, but the call waits for disks */
};

static const struct {
	const char *name;
	enum argument argument;
} calls[] = {
	{ "futex", FUTEX },
	{ "read", STORED },
	{ "write", STORED },
	{ "pread64", STORED },
	{ "pwrite64", STORED },
	{ "readv", STORED },
	{ "writev", STORED },
	{ "preadv", STORED },
	{ "pwritev", STORED },
	{ "preadv2", STORED },
	{ "pwritev2", STORED },
	{ "recvfrom", DESCRIPTOR },
	{ "recvmsg", DESCRIPTOR },
	{ "recvmmsg", DESCRIPTOR },
	{ "sendto", DESCRIPTOR },
	{ "sendmsg", DESCRIPTOR },
	{ "sendmmsg", DESCRIPTOR },
	{ "accept", DESCRIPTOR },
	{ "accept4", DESCRIPTOR },
	{ "connect", DESCRIPTOR },
	{ "fsync", STORED },
	{ "fdatasync", STORED },
	{ "sync_file_range", STORED },
	{ "syncfs", STORED },
	{ "ftruncate", STORED },
	{ "fallocate", STORED },
	{ "flock", DESCRIPTOR },
	{ "fcntl", DESCRIPTOR },
	{ "ioctl", DESCRIPTOR },
	{ "getdents64", STORED },
	{ "sendfile", STORED },
	{ "splice", STORED },
	{ "tee", DESCRIPTOR },
	{ "vmsplice", DESCRIPTOR },
	{ "copy_file_range", STORED },
	{ "io_uring_enter", DESCRIPTOR },
	{ "poll", POLLED },
	{ "ppoll", POLLED },
	{ "select", SELECTED },
	{ "pselect6", SELECTED },
	{ "epoll_wait", EPOLL },
	{ "epoll_pwait", EPOLL },
	{ "epoll_pwait2", EPOLL },
	{ "nanosleep", TIME },
	{ "clock_nanosleep", TIME },
	{ "wait4", CHILD },
	{ "waitid", CHILD_ID },
	{ "sync", DISK },
	{ "msync", DISK },
};

int lode_record_objects_init(struct lode_record_objects *objects, struct lode_processes *processes,
			     struct lode_dictionary *dictionary, struct lode_image *kernel)
{
	memset(objects, 0, sizeof(*objects));
	objects->kernel = kernel;
	objects->processes = processes;
	objects->dictionary = dictionary;
	objects->memo = lode_calloc(MEMO, sizeof(*objects->memo));
	return objects->memo ? 0 : LODE_SYSTEM;
}

void lode_record_objects_release(struct lode_record_objects *objects)
{
	lode_descriptor_names_release(&objects->descriptors);
	lode_mapped_files_release(&objects->mapped);
	lode_epoll_sets_release(&objects->epoll_sets);
	lode_inner_tids_release(&objects->tids);
	lode_free(objects->memo);
	memset(objects, 0, sizeof(*objects));
}

static enum argument look_up_call(uint32_t number)
{
	struct utsname system;
	const char *name = uname(&system) < 0 ? NULL : lode_syscall_name(system.machine, number);

	for (size_t i = 0; name && i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strcmp(calls[i].name, name))
			return calls[i].argument;
	return NOTHING;
}

static enum argument argument_of(struct lode_record_objects *objects, uint32_t number)
{
	if (number >= LODE_WAIT_CALLS)
		return NOTHING;
	if (!objects->calls[number])
		objects->calls[number] = (uint8_t)(look_up_call(number) + 1);
	return (enum argument)(objects->calls[number] - 1);
}

static int set_text(struct lode_record_objects *objects, const char *text, uint32_t *object)
{
	*object = text ? lode_strings_add(&objects->dictionary->frames.strings, text, strlen(text)) : LODE_NONE;
	return *object == LODE_NONE ? LODE_SYSTEM : 0;
}

/* ---- futexes ---- */

/*
 * Data of a program or library follows its code, at a distance that is the same wherever it is loaded; where nothing is
 * below, or what is there has no such data, the address is that of a heap or a stack.
 */
static int make_futex_text(struct lode_record_objects *objects, const struct lode_process *process,
			   struct lode_futex_memo *memo)
{
	const struct lode_mapping *below =
		lode_space_below(&objects->processes->spaces, &process->space, memo->address);
	struct lode_process_images *images = objects->processes->images;
	uint32_t image = below ? below->image : LODE_PROCESS_IMAGE_UNKNOWN;
	char text[128];
	int length;

	length = snprintf(text, sizeof(text), LODE_FUTEX_TEXT "%c:%" PRIx64 ":", (int)memo->found, memo->address);
	if (image != LODE_PROCESS_IMAGE_UNKNOWN && lode_process_image_by_offset(&images->items[image])) {
		if (lode_process_image_use(images, image, &objects->dictionary->frames) < 0)
			return LODE_SYSTEM;
		snprintf(text + length, sizeof(text) - (size_t)length, "%x:%" PRIx64 ":%" PRIx64,
			 images->items[image].canonical, below->offset, memo->address - below->start);
	}
	objects->futexes++;
	return set_text(objects, text, &memo->text);
}

static int find_futex(struct lode_record_objects *objects, const struct lode_record *record, uint32_t found,
		      uint32_t *object)
{
	const struct lode_process *process = lode_processes_get(objects->processes, record->pid);
	struct lode_futex_memo key = { .address = record->object.argument, .pid = record->pid, .found = found };
	struct lode_futex_memo *memo;

	if (!process)
		return LODE_SYSTEM;
	key.version = process->space.version;
	memo = &objects->memo[lode_hash_u64(key.address + found + ((uint64_t)key.pid << 40)) % MEMO];
	if (memo->text && memo->address == key.address && memo->pid == key.pid && memo->version == key.version &&
	    memo->found == found) {
		*object = memo->text;
		return 0;
	}
	if (objects->futexes >= MAX_FUTEXES) {
		objects->left_out++;
		return set_text(objects, LODE_FUTEX_TEXT, object);
	}
	if (make_futex_text(objects, process, &key) < 0)
		return LODE_SYSTEM;
	*memo = key;
	*object = key.text;
	return 0;
}

/* The thread of the record's process that calls itself `tid`; 0: none does. */
static uint32_t thread_called(struct lode_record_objects *objects, const struct lode_record *record, uint32_t tid)
{
	if (!record->object.family && lode_processes_has_thread(objects->processes, record->pid, tid))
		return tid;
	return lode_inner_tid(&objects->tids, record->pid, tid, lode_record_end(record));
}

/* Where the holder of a futex was found, and who that is. */
static uint32_t find_holder(struct lode_record_objects *objects, const struct lode_record *record, uint32_t *holder)
{
	static const char found[] = { [LODE_WAITED_FUTEX_OWNER] = LODE_FUTEX_OWNER,
				      [LODE_WAITED_FUTEX_WRITER12] = LODE_FUTEX_WRITER,
				      [LODE_WAITED_FUTEX_WRITER16] = LODE_FUTEX_WRITER,
				      [LODE_WAITED_FUTEX_ROBUST] = LODE_FUTEX_SURE,
				      [LODE_WAITED_FUTEX_PI] = LODE_FUTEX_SURE };
	const struct lode_record_object *object = &record->object;

	if (object->kind < LODE_WAITED_FUTEX || object->kind > LODE_WAITED_FUTEX_PI)
		return LODE_FUTEX_UNKNOWN;
	if (object->detail)
		*holder = thread_called(objects, record, object->detail);
	if (*holder)
		return (uint32_t)found[object->kind];
	if (object->peer[0] > 2)
		*holder = thread_called(objects, record, object->peer[0]);
	if (*holder)
		return LODE_FUTEX_WORD;
	return object->kind == LODE_WAITED_FUTEX_PI || object->kind == LODE_WAITED_FUTEX_ROBUST
		       ? LODE_FUTEX_SURE
		       : LODE_FUTEX_UNKNOWN;
}

/* ---- files ---- */

/* A file that has a path, and where files of this device are. */
static int set_file(struct lode_record_objects *objects, const char *kind, const char *path, uint32_t device,
		    uint32_t *object)
{
	const char *name = lode_device_name(&objects->devices, device);
	struct lode_buffer text = { 0 };

	lode_buffer_print(&text, "%s%s", kind, path);
	if (*name)
		lode_buffer_print(&text, LODE_OBJECT_ON "%s", name);
	*object = text.failed ? LODE_NONE
			      : lode_strings_add(&objects->dictionary->frames.strings, text.bytes, text.size);
	lode_buffer_release(&text);
	return *object == LODE_NONE ? LODE_SYSTEM : 0;
}

/* Whether the kernel found a page in a fault of this wait, or one before it, is settled by object_names.h. */
static int find_page(struct lode_record_objects *objects, const struct lode_record *record, uint32_t *object)
{
	const struct lode_record_object *page = &record->object;
	const char *path;

	if (!page->family)
		return set_text(objects,
				record->value & LODE_RECORD_IOWAIT ? "page:swap" : "page:anonymous memory", object);
	path = lode_mapped_file_name(&objects->mapped, record->pid, page->argument, page->peer[2], page->detail,
				     lode_record_end(record));
	if (path || *lode_device_name(&objects->devices, page->peer[2]))
		return set_file(objects, "page:", path ? path : "", page->peer[2], object);
	return set_text(objects, "page:file", object);
}

/* A wait for a disk of which nothing else is known. */
static int find_disk(struct lode_record_objects *objects, uint32_t *object)
{
	char text[LODE_DEVICE_NAME + 16];

	snprintf(text, sizeof(text), "disk:%s", lode_only_disk(&objects->devices));
	return set_text(objects, text, object);
}

/* ---- descriptors ---- */

/* The IPv4 address of the peer; NULL: it has another. */
static const uint32_t *ipv4_peer(const struct lode_record_object *socket)
{
	if (socket->family == AF_INET)
		return &socket->peer[0];
	return !socket->peer[0] && !socket->peer[1] && socket->peer[2] == htonl(0xffff) ? &socket->peer[3] : NULL;
}

/* Room for `[ADDRESS]:PORT`. */
#define END_TEXT (INET6_ADDRSTRLEN + 16)

static const char *peer_text(const struct lode_record_object *socket, char text[END_TEXT])
{
	const uint32_t *ipv4 = ipv4_peer(socket);
	char address[INET6_ADDRSTRLEN] = "";

	inet_ntop(ipv4 ? AF_INET : AF_INET6, ipv4 ? ipv4 : socket->peer, address, sizeof(address));
	snprintf(text, END_TEXT, ipv4 ? "%s:%u" : "[%s]:%u", address, socket->port);
	return text;
}

static int is_tcp(const struct lode_record_object *socket)
{
	return (socket->argument >> 32 & 0xffff) == SOCK_STREAM;
}

static int find_internet(struct lode_record_objects *objects, const struct lode_record_object *socket,
			 uint32_t *object)
{
	const char *kind = is_tcp(socket) ? "tcp" : "udp";
	char peer[END_TEXT], text[96];

	if (socket->kind == LODE_WAITED_LISTENER)
		snprintf(text, sizeof(text), "%s:" LODE_SOCKET_LISTENS "%u", kind, socket->port);
	else
		snprintf(text, sizeof(text), "%s:%s", kind, peer_text(socket, peer));
	return set_text(objects, text, object);
}

/* The ends of the connection that a socket is, if it is one to another host. */
static void put_ends(const struct lode_record_object *socket, char *text, size_t room)
{
	const uint32_t *peer = ipv4_peer(socket);
	char address[INET_ADDRSTRLEN] = "*", peer_end[END_TEXT];
	unsigned port = (unsigned)(socket->argument >> 48);

	if (socket->kind != LODE_WAITED_SOCKET || !port)
		return;
	/* The other end is on this host: its threads are recorded as wakers. */
	if (peer ? *peer == socket->detail || (ntohl(*peer) >> 24) == IN_LOOPBACKNET
		 : IN6_IS_ADDR_LOOPBACK((const struct in6_addr *)socket->peer))
		return;
	if (peer)
		inet_ntop(AF_INET, &socket->detail, address, sizeof(address));
	snprintf(text, room, LODE_CONNECTION "%s:%u" LODE_CONNECTION_TO "%s", address, port,
		 peer_text(socket, peer_end));
}

int lode_record_connection(struct lode_record_objects *objects, const struct lode_record *record, uint32_t object,
			   uint32_t *name)
{
	const struct lode_strings *strings = &objects->dictionary->frames.strings;
	enum lode_object_kind kind = lode_object_kind_of(lode_strings_get(strings, object));
	char text[160] = "";

	*name = 0;
	if (kind == LODE_OBJECT_TCP)
		put_ends(&record->object, text, sizeof(text));
	else if (kind == LODE_OBJECT_EPOLL)
		snprintf(text, sizeof(text), LODE_CONNECTION "%s",
			 lode_epoll_connection(&objects->epoll_sets, record->pid,
					       (uint32_t)record->object.argument));
	if (strlen(text) <= strlen(LODE_CONNECTION))
		return 0;
	*name = lode_strings_find(strings, text, strlen(text));
	if (*name != LODE_NONE)
		return 0;
	*name = 0;
	return objects->connections++ < MAX_CONNECTIONS ? set_text(objects, text, name) : 0;
}

static int find_socket(struct lode_record_objects *objects, const struct lode_record *record, uint32_t *object)
{
	const struct lode_record_object *socket = &record->object;
	struct lode_descriptor descriptor = { record->pid, (uint32_t)socket->argument, socket->detail,
					      S_IFSOCK >> 12 };
	char text[32];

	if (socket->family == AF_INET || socket->family == AF_INET6)
		return find_internet(objects, socket, object);
	if (socket->family == AF_UNIX)
		return set_text(objects,
				lode_descriptor_name(&objects->descriptors, &descriptor, lode_record_end(record)),
				object);
	snprintf(text, sizeof(text), "socket:%s", socket->family == AF_NETLINK ? "netlink" : "");
	return set_text(objects, text, object);
}

/*
 * Files without a name, such as those of eventfd(), share one inode, so that their numbers could be mixed up with others
 * of that kind; but each kind has a function of its own that polls it. NULL: it is another file, or the kernel hides the names.
 */
static const char *nameless_file(struct lode_record_objects *objects, const struct lode_record_object *file)
{
	static const char *const kinds[][2] = {
		{ "eventfd_poll", "eventfd:" },
		{ "timerfd_poll", "timer:timerfd" },
		{ "ep_eventpoll_poll", "epoll:" },
		{ "inotify_poll", "other:inotify" },
		{ "signalfd_poll", "other:signalfd" },
		{ "io_uring_poll", "other:io_uring" },
		{ "userfaultfd_poll", "other:userfaultfd" },
	};
	uint64_t address = file->peer[0] | (uint64_t)file->peer[1] << 32;
	struct lode_polled_file *known = &objects->polled[lode_hash_u64(address) % LODE_POLLED_FILES];
	struct lode_symbol symbol = { 0 };

	if (!address || !objects->kernel || known->address == address)
		return address ? known->text : NULL;
	*known = (struct lode_polled_file){ .address = address };
	if (!lode_image_find(objects->kernel, address, &symbol) || !symbol.name)
		return NULL;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(symbol.name, kinds[i][0]))
			known->text = kinds[i][1];
	return known->text;
}

static int find_descriptor(struct lode_record_objects *objects, const struct lode_record *record, int is_stored,
			   uint32_t *object)
{
	const struct lode_record_object *file = &record->object;
	struct lode_descriptor descriptor = { record->pid, (uint32_t)file->argument, file->detail, file->family };
	const char *nameless, *name;

	if (file->kind == LODE_WAITED_SOCKET || file->kind == LODE_WAITED_LISTENER)
		return find_socket(objects, record, object);
	if (file->kind != LODE_WAITED_FILE)
		return 0;
	nameless = nameless_file(objects, file);
	if (nameless)
		return set_text(objects, nameless, object);
	name = lode_descriptor_name(&objects->descriptors, &descriptor, lode_record_end(record));
	/* A file that was closed before its name was looked up is still known to be on its disk. */
	if (name && is_stored && (name[strlen(name) - 1] != ':' || !strcmp(name, "file:")) &&
	    (file->family == S_IFREG >> 12 || file->family == S_IFDIR >> 12))
		return set_file(objects, "", name, file->peer[2], object);
	return set_text(objects, name, object);
}

static int find_several(struct lode_record_objects *objects, uint64_t count, uint32_t *object)
{
	char text[48];

	if (!count)
		return set_text(objects, "timer:", object);
	snprintf(text, sizeof(text), "poll:%" PRIu64 " descriptors", count);
	return set_text(objects, text, object);
}

/* ---- children ---- */

static int find_child(struct lode_record_objects *objects, const struct lode_record *record, int32_t pid,
		      uint32_t *object)
{
	const struct lode_thread_lifetime *life = NULL;
	char text[64];

	if (pid > 0 && lode_processes_find(objects->processes, (uint32_t)pid) &&
	    lode_inner_tid(&objects->tids, record->pid, record->pid, lode_record_end(record)) == record->pid)
		life = lode_processes_life(objects->processes, (uint32_t)pid, (uint32_t)pid);
	snprintf(text, sizeof(text), "child:%s", life ? life->name : "");
	return set_text(objects, text, object);
}

/* ---- locks of the kernel ---- */

static int find_kernel_lock(struct lode_record_objects *objects, const struct lode_record_object *lock,
			    uint32_t *object)
{
	if (lock->family)
		return set_text(objects, LODE_KERNEL_LOCK_TEXT "mmap_lock", object);
	if (lock->detail & LODE_KERNEL_LOCK_MUTEX)
		return set_text(objects, LODE_KERNEL_LOCK_TEXT "mutex", object);
	if (lock->detail & (LODE_KERNEL_LOCK_READ | LODE_KERNEL_LOCK_WRITE))
		return set_text(objects, LODE_KERNEL_LOCK_TEXT "rwsem", object);
	return set_text(objects, LODE_KERNEL_LOCK_TEXT "lock", object);
}

/* ---- waits ---- */

int lode_record_objects_find(struct lode_record_objects *objects, const struct lode_record *record,
			     uint32_t *object, uint32_t *holder)
{
	const struct lode_record_object *waited = &record->object;
	uint32_t call = record->value & ~LODE_RECORD_IOWAIT, found;
	int code = 0;

	*object = *holder = 0;
	if (waited->kind == LODE_WAITED_KERNEL_LOCK)
		return find_kernel_lock(objects, waited, object);
	if (!call && waited->kind == LODE_WAITED_PAGE)
		return find_page(objects, record, object);
	switch (call ? argument_of(objects, call - 1) : NOTHING) {
	case FUTEX:
		found = find_holder(objects, record, holder);
		code = waited->argument ? find_futex(objects, record, found, object) : 0;
		break;
	case DESCRIPTOR:
		code = find_descriptor(objects, record, 0, object);
		break;
	case STORED:
		code = find_descriptor(objects, record, 1, object);
		break;
	case POLLED:
		code = waited->kind == LODE_WAITED_POLL ? find_several(objects, waited->detail, object)
							: find_descriptor(objects, record, 0, object);
		break;
	case SELECTED:
		code = waited->argument ? set_text(objects, "poll:", object) : set_text(objects, "timer:", object);
		break;
	case EPOLL:
		code = set_text(objects,
				lode_epoll_set(&objects->epoll_sets, record->pid, (uint32_t)waited->argument,
					       lode_record_end(record)),
				object);
		break;
	case TIME:
		code = set_text(objects, "timer:", object);
		break;
	case CHILD:
		code = find_child(objects, record, (int32_t)waited->argument, object);
		break;
	case CHILD_ID:
		code = find_child(objects, record, waited->argument == P_PID ? (int32_t)waited->detail : -1,
				  object);
		break;
	case DISK:
		code = find_disk(objects, object);
		break;
	default:
		break;
	}
	if (!code && !*object && record->value & LODE_RECORD_IOWAIT)
		code = call ? find_disk(objects, object) : set_text(objects, "page:", object);
	return code;
}

void lode_record_objects_note(const struct lode_record_objects *objects, struct lode_notes *notes)
{
	lode_notes_add(notes, objects->left_out, "waits for locks that are not told apart: there are too many",
		       NULL);
	lode_notes_add(
		notes, objects->descriptors.left_out,
		"waits for files or sockets whose names were not looked up: there were too many in a second", NULL);
	lode_notes_add(notes, objects->mapped.left_out,
		       "waits for pages of files whose names were not looked up: there were too many in a second",
		       NULL);
}
