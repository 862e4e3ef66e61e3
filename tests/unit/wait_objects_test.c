/*
 * What waits were for: kinds and words, which functions wait for what, names of descriptors and threads of this very
 * process, and the variables of this very program, compared with a slow and simple way to the same answer.
 */
#include "cmocka_all.h"
#include "random_stream.h"

#include "base/buffer.h"
#include "process/descendants.h"
#include "process/descriptor_names.h"
#include "process/device_names.h"
#include "process/epoll_sets.h"
#include "process/inner_tids.h"
#include "process/mapped_files.h"
#include "record/stream/object_names.h"
#include "record/stream/wait_functions.h"
#include "result/object_words.h"
#include "symbols/demangle.h"
#include "symbols/image_variables.h"
#include "symbols/variable_names.h"
#include "trace/objects.h"

#include <fcntl.h>
#include <arpa/inet.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void kinds_and_words_come_from_the_text(void **state)
{
	static const struct {
		const char *object;
		enum lode_object_kind kind;
		const char *words;
	} cases[] = {
		{ "", LODE_OBJECT_NONE, "" },
		{ "lock:folder_list", LODE_OBJECT_LOCK, "the lock folder_list" },
		{ "lock:", LODE_OBJECT_LOCK, "a lock" },
		{ "lock", LODE_OBJECT_OTHER, "lock" },
		{ "locks:a", LODE_OBJECT_OTHER, "a" },
		{ "tcp:10.0.0.7:5432", LODE_OBJECT_TCP, "TCP 10.0.0.7:5432" },
		{ "tcp:listen:80", LODE_OBJECT_TCP, "connections to TCP port 80" },
		{ "file:/a:b\x1b", LODE_OBJECT_FILE, "the file /a:b\\x1b" },
		{ "file:/var/lib/x on vda1", LODE_OBJECT_FILE, "the file /var/lib/x on vda1" },
		{ "file: on vda1", LODE_OBJECT_FILE, "a file on vda1" },
		{ "page: on vda1", LODE_OBJECT_PAGE, "a page of a file on vda1" },
		{ "disk:vda", LODE_OBJECT_DISK, "the disk vda" },
		{ "page:/var/lib/x on vda1", LODE_OBJECT_PAGE, "a page of /var/lib/x on vda1" },
		{ "page:", LODE_OBJECT_PAGE, "a page from disk" },
		{ "page:swap", LODE_OBJECT_PAGE, "a page from swap" },
		{ "page:file", LODE_OBJECT_PAGE, "a page of a file" },
		{ "epoll:TCP port 80, connections", LODE_OBJECT_EPOLL, "the epoll set of TCP port 80, connections" },
		{ "timer:", LODE_OBJECT_TIMER, "a timer" },
		{ "timer:timerfd", LODE_OBJECT_TIMER, "a timer" },
		{ "gpu:0/stream7", LODE_OBJECT_GPU, "the GPU 0/stream7" },
		{ "other:inotify", LODE_OBJECT_OTHER, "inotify" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lode_buffer words = { 0 };

		assert_int_equal(lode_object_kind_of(cases[i].object), cases[i].kind);
		lode_object_words(&words, cases[i].object);
		lode_buffer_byte(&words, '\0');
		assert_string_equal(words.bytes, cases[i].words);
		lode_buffer_release(&words);
	}
	for (int kind = LODE_OBJECT_LOCK; kind < LODE_OBJECT_KINDS; kind++) {
		char text[32];

		snprintf(text, sizeof(text), "%s:x", lode_object_kind_name((enum lode_object_kind)kind));
		assert_int_equal(lode_object_kind_of(text), kind);
		assert_string_equal(lode_object_name(text), "x");
	}
}

/* ---- functions ---- */

/* The stack of frames that are separated by blanks, root first. */
static uint32_t make_stack(struct lode_dictionary *dictionary, const char *frames)
{
	char copy[512], *rest = NULL;
	uint32_t node = 0;

	snprintf(copy, sizeof(copy), "%s", frames);
	for (char *frame = strtok_r(copy, " ", &rest); frame; frame = strtok_r(NULL, " ", &rest)) {
		uint32_t number = lode_frames_parse(&dictionary->frames, frame, strlen(frame));

		node = lode_stack_tree_child(&dictionary->tree, node, number);
	}
	return node;
}

/* How CPython waits for a lock. */
#define ACQUIRE                                                                                                   \
	"libpython3.11.so!lock_PyThread_acquire_lock libpython3.11.so!PyThread_acquire_lock_timed "               \
	"libc.so.6!sem_clockwait kernel!futex_wait"

static void functions_say_what_a_futex_is(void **state)
{
	static const struct {
		const char *stack;
		enum lode_wait_function function;
		const char *caller; /* NULL: it does not matter */
	} cases[] = {
		{ "app!main app!click libc.so.6!___pthread_mutex_lock libc.so.6!__GI___lll_lock_wait "
		  "kernel!futex_wait",
		  LODE_WAITS_MUTEX, "click" },
		{ "app!main libc.so.6!pthread_mutex_lock libc.so.6!0x81234 kernel!futex_wait", LODE_WAITS_MUTEX,
		  "main" },
		{ "app!0x10 libc.so.6!pthread_mutex_lock libc.so.6!0x81234", LODE_WAITS_MUTEX, "0x10" },
		{ "app!main std::mutex::lock libc.so.6!pthread_mutex_lock", LODE_WAITS_MUTEX, "main" },
		{ "app!main libc.so.6!malloc libc.so.6!__lll_lock_wait_private", LODE_WAITS_LOCK, "malloc" },
		{ "app!main libc.so.6!pthread_rwlock_rdlock libc.so.6!__futex_abstimed_wait64", LODE_WAITS_RWLOCK,
		  "main" },
		{ "app!main libc.so.6!pthread_cond_wait libc.so.6!__futex_abstimed_wait_common",
		  LODE_WAITS_CONDITION, "main" },
		{ "app!main libc.so.6!pthread_cond_wait libc.so.6!__pthread_mutex_cond_lock "
		  "libc.so.6!__lll_lock_wait",
		  LODE_WAITS_MUTEX, "main" },
		{ "app!main libc.so.6!__new_sem_wait_slow64 libc.so.6!do_futex_wait", LODE_WAITS_SIGNAL, "main" },
		{ "app!main libc.so.6!__pthread_clockjoin_ex libc.so.6!__futex_abstimed_wait64", LODE_WAITS_JOIN,
		  NULL },
		{ "python3!main python3!take_gil libc.so.6!pthread_cond_timedwait", LODE_WAITS_GIL, NULL },
		{ "libjvm.so!JavaMain libjvm.so!ObjectMonitor::EnterI libjvm.so!PlatformEvent::park "
		  "libc.so.6!pthread_cond_wait",
		  LODE_WAITS_MONITOR, NULL },
		/* What a lock of Python's is there for, its functions say. */
		{ "shop.py!sell " ACQUIRE, LODE_WAITS_LOCK, "sell" },
		{ "shop.py!sell threading.py!Condition.wait " ACQUIRE, LODE_WAITS_SCRIPT_CONDITION, NULL },
		{ "shop.py!sell threading.py!Condition.wait:327 " ACQUIRE, LODE_WAITS_SCRIPT_CONDITION, NULL },
		{ "shop.py!sell threading.py!Condition.wait locks.py!Fair.acquire " ACQUIRE, LODE_WAITS_LOCK, NULL },
		{ "shop.py!sell threading.py!Condition.wait libpython3.11.so!rlock_acquire_restore " ACQUIRE,
		  LODE_WAITS_LOCK, NULL },
		{ "shop.py!sell other.py!Condition.wait " ACQUIRE, LODE_WAITS_LOCK, NULL },
		{ "shop.py!sell _queue.so!_queue_SimpleQueue_get " ACQUIRE, LODE_WAITS_SCRIPT_CONDITION, NULL },
		{ "shop.py!sell threading.py!Thread._wait_for_tstate_lock " ACQUIRE, LODE_WAITS_JOIN, NULL },
		{ "app!main app!runtime.lock2 app!runtime.futexsleep app!runtime.futex", LODE_WAITS_UNKNOWN, NULL },
		{ "app!main app!own_lock libc.so.6!syscall kernel!futex_wait", LODE_WAITS_UNKNOWN, NULL },
		/* A function in between that is not known is the one that waits. */
		{ "app!main libc.so.6!pthread_mutex_lock app!own_wait libc.so.6!syscall", LODE_WAITS_UNKNOWN, NULL },
		{ "kernel!futex_wait", LODE_WAITS_UNKNOWN, NULL },
		{ "", LODE_WAITS_UNKNOWN, NULL },
	};
	struct lode_dictionary dictionary;

	(void)state;
	assert_int_equal(lode_dictionary_init(&dictionary), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t caller, node = make_stack(&dictionary, cases[i].stack);

		if (lode_wait_function(&dictionary, node, &caller) != cases[i].function)
			fail_msg("%s", cases[i].stack);
		if (cases[i].caller)
			assert_string_equal(lode_frames_function(&dictionary.frames,
								 dictionary.tree.nodes[caller].frame),
					    cases[i].caller);
	}
	lode_dictionary_release(&dictionary);
}

#define MUTEX     "app!main app!click libc.so.6!pthread_mutex_lock kernel!futex_wait"
#define RWLOCK    "app!main app!scan libc.so.6!pthread_rwlock_wrlock kernel!futex_wait"
#define CONDITION "app!main app!await libc.so.6!pthread_cond_wait kernel!futex_wait"
#define JOIN      "app!main libc.so.6!pthread_join kernel!futex_wait"
#define OWN       "app!main app!own_lock kernel!futex_wait"
#define BARE      "kernel!futex_wait"

static void only_who_holds_a_lock_is_its_holder(void **state)
{
	static const struct {
		const char *stack;
		const char *raw;
		const char *object;
		int held;
	} cases[] = {
		{ MUTEX, "futex:o:1000:", "lock:0x1000 first seen in click", 1 },
		{ MUTEX, "futex:s:1000:", "lock:0x1000 first seen in click", 1 },
		{ MUTEX, "futex:w:1000:", "lock:0x1000 first seen in click", 0 },
		{ MUTEX, "futex:t:1000:", "lock:0x1000 first seen in click", 0 },
		{ RWLOCK, "futex:w:2008:", "lock:0x2008 first seen in scan", 1 },
		{ RWLOCK, "futex:w:200c:", "lock:0x2008 first seen in scan", 1 },
		{ RWLOCK, "futex:o:2008:", "lock:0x2008 first seen in scan", 0 },
		{ CONDITION, "futex:o:302c:", "condition:0x3028 first seen in await", 0 },
		{ CONDITION, "futex:s:3028:", "condition:0x3028 first seen in await", 0 },
		{ JOIN, "futex:t:4000:", "thread:", 1 },
		{ JOIN, "futex:o:4000:", "thread:", 0 },
		{ "shop.py!sell threading.py!Condition.wait " ACQUIRE,
		  "futex:s:6000:", "condition:in Condition.wait", 0 },
		{ "shop.py!sell " ACQUIRE, "futex:s:6000:", "lock:0x6000 first seen in sell", 1 },
		{ OWN, "futex:o:5000:", "futex:0x5000 first seen in own_lock", 0 },
		{ OWN, "futex:s:5000:", "lock:0x5000 first seen in own_lock", 1 },
		/* Without a user stack: as other waits there, or unknown. */
		{ BARE, "futex:n:1000:", "lock:0x1000 first seen in click", 0 },
		{ BARE, "futex:n:3028:", "condition:0x3028 first seen in await", 0 },
		{ BARE, "futex:n:9000:", "futex:0x9000", 0 },
		{ BARE, "futex:", "futex:", 0 },
		{ MUTEX, "file:/a", "file:/a", 0 },
		/* A page counts while a fault is handled, or where that is not known. */
		{ "app!main app!scan kernel!do_page_fault kernel!__handle_mm_fault kernel!filemap_fault",
		  "page:/a", "page:/a", 0 },
		{ "app!main app!scan kernel!do_page_fault kernel!rwsem_down_read_slowpath", "page:/a", "", 0 },
		{ "app!main app!scan kernel!get_signal kernel!do_signal_stop", "page:/a", "", 0 },
		{ "app!main app!scan kernel!get_signal kernel!do_signal_stop", "page:", "page:", 0 },
		{ "app!main app!scan kernel!0xffff80001", "page:/a", "page:/a", 0 },
		{ "app!main app!scan", "page:/a", "page:/a", 0 },
		/* Locks of the kernel are known by the function that takes them. */
		{ "app!main kernel!do_unlinkat kernel!down_write kernel!rwsem_down_write_slowpath kernel!schedule",
		  "kernel-lock:rwsem", "lock:kernel rwsem taken in do_unlinkat", 0 },
		{ "app!main kernel!vm_mmap kernel!down_write_killable kernel!schedule", "kernel-lock:mmap_lock",
		  "lock:kernel mmap_lock", 0 },
		{ "app!main kernel!0xffff80001 kernel!0xffff80002", "kernel-lock:mutex", "lock:kernel mutex", 0 },
		{ "app!main kernel!mutex_lock kernel!schedule", "kernel-lock:mutex", "lock:kernel mutex", 0 },
	};
	const size_t count = sizeof(cases) / sizeof(cases[0]);
	struct lode_process_images images = { 0 };
	struct lode_dictionary dictionary;
	struct lode_object_names names;
	uint32_t nodes[sizeof(cases) / sizeof(cases[0])];

	(void)state;
	assert_int_equal(lode_dictionary_init(&dictionary), 0);
	for (size_t i = 0; i < count; i++)
		nodes[i] = make_stack(&dictionary, cases[i].stack);
	for (size_t i = 1; i < dictionary.frames.module_count; i++)
		if (!strcmp(lode_strings_get(&dictionary.frames.strings, dictionary.frames.modules[i].name),
			    "kernel"))
			assert_int_equal(dictionary.frames.modules[i].kind, LODE_KIND_KERNEL);
	assert_int_equal(lode_object_names_init(&names, &dictionary, &images), 0);
	for (size_t i = 0; i < count; i++) {
		uint32_t holder = 7,
			 object = lode_object_names_find(&names, (uint32_t)i + 1, cases[i].raw, nodes[i], &holder);

		assert_string_equal(lode_strings_get(&dictionary.frames.strings, object), cases[i].object);
		assert_int_equal(holder, cases[i].held ? 7 : LODE_NONE);
	}
	lode_object_names_release(&names);
	lode_dictionary_release(&dictionary);
}

/* ---- descriptors ---- */

static struct lode_descriptor describe(int fd)
{
	struct stat status;

	assert_int_equal(fstat(fd, &status), 0);
	return (struct lode_descriptor){ (uint32_t)getpid(), (uint32_t)fd, (uint32_t)status.st_ino,
					 (status.st_mode & S_IFMT) >> 12 };
}

static void descriptors_have_names_only_while_they_are_the_same_file(void **state)
{
	struct lode_descriptor_names names = { 0 };
	char path[] = "/tmp/lode-objects-XXXXXX", expected[128];
	int fd = mkstemp(path), other = open("/dev/null", O_RDONLY);
	struct lode_descriptor file = describe(fd), missing = file;

	(void)state;
	snprintf(expected, sizeof(expected), "file:%s", path);
	assert_string_equal(lode_descriptor_name(&names, &file, 1), expected);
	/* Another inode under the same number. */
	missing.inode++;
	assert_string_equal(lode_descriptor_name(&names, &missing, 1), "file:");
	/* The number is another file's: the name that is known holds for a second. */
	assert_true(dup2(other, fd) == fd);
	assert_string_equal(lode_descriptor_name(&names, &file, 2), expected);
	assert_string_equal(lode_descriptor_name(&names, &file, 2000000000), "file:");
	close(fd);
	close(other);
	unlink(path);
	lode_descriptor_names_release(&names);
}

static void pipes_and_sockets_have_names(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0), server, ends[2],
	    counter = eventfd(0, 0);
	struct lode_descriptor_names names = { 0 };
	struct lode_descriptor descriptor;
	char expected[160];

	(void)state;
	SKIP_EMULATED("there are no names of Unix sockets");
	assert_int_equal(pipe(ends), 0);
	descriptor = describe(ends[0]);
	snprintf(expected, sizeof(expected), "pipe:[%u]", descriptor.inode);
	assert_string_equal(lode_descriptor_name(&names, &descriptor, 1), expected);
	descriptor = describe(counter);
	assert_string_equal(lode_descriptor_name(&names, &descriptor, 1), "eventfd:");
	/* An abstract name needs no folder. */
	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "lode-objects-%d", (int)getpid());
	assert_int_equal(bind(listener, (struct sockaddr *)&address,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
					  strlen(address.sun_path + 1))),
			 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(connect(client, (struct sockaddr *)&address,
				 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
					     strlen(address.sun_path + 1))),
			 0);
	server = accept(listener, NULL, NULL);
	for (int i = 0; i < 3; i++) {
		static const char *const kinds[] = { "listen:", "", "accepted:" };

		snprintf(expected, sizeof(expected), "unix:%s@%s", kinds[i], address.sun_path + 1);
		descriptor = describe(i == 0 ? listener : i == 1 ? client : server);
		assert_string_equal(lode_descriptor_name(&names, &descriptor, 1), expected);
	}
	for (int i = 0; i < 2; i++)
		close(ends[i]);
	close(counter);
	close(listener);
	close(client);
	close(server);
	lode_descriptor_names_release(&names);
}

static void add_to_set(int set, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	assert_true(fd >= 0);
	assert_int_equal(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event), 0);
}

static void assert_set(int set, const char *expected)
{
	static struct lode_epoll_sets sets;

	lode_epoll_sets_release(&sets);
	assert_string_equal(lode_epoll_set(&sets, (uint32_t)getpid(), (uint32_t)set, 1), expected);
	lode_epoll_sets_release(&sets);
}

static void epoll_sets_are_called_by_what_is_in_them(void **state)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int listener = socket(AF_INET, SOCK_STREAM, 0), set = epoll_create1(0), fds[16], count = 0;
	socklen_t size = sizeof(address);
	char expected[128];

	(void)state;
	assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(listener, 4), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
	assert_set(set, "epoll:");
	add_to_set(set, listener);
	snprintf(expected, sizeof(expected), "epoll:TCP port %u", ntohs(address.sin_port));
	assert_set(set, expected);
	for (int i = 0; i < 3; i++) {
		fds[count] = socket(AF_INET, SOCK_STREAM, 0);
		assert_int_equal(connect(fds[count++], (struct sockaddr *)&address, size), 0);
		fds[count++] = accept(listener, NULL, NULL);
		add_to_set(set, fds[count - 1]);
		snprintf(expected, sizeof(expected), "epoll:TCP port %u, %s", ntohs(address.sin_port),
			 i ? "connections" : "a connection");
		assert_set(set, expected);
	}
	fds[count++] = eventfd(0, 0);
	add_to_set(set, fds[count - 1]);
	snprintf(expected, sizeof(expected), "epoll:TCP port %u, connections, an eventfd", ntohs(address.sin_port));
	assert_set(set, expected);
	while (count)
		close(fds[--count]);
	close(listener);
	close(set);
}

/* The kernel's number of the device of a file. */
static uint32_t device_of(const char *path)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return (uint32_t)(major(status.st_dev) << 20 | minor(status.st_dev));
}

static void file_systems_are_where_the_kernel_says(void **state)
{
	static struct lode_device_names names;
	char line[PATH_MAX] = "", command[128];
	uint32_t device = device_of("/");
	FILE *file;

	(void)state;
	snprintf(command, sizeof(command), "basename \"$(readlink /sys/dev/block/%u:%u)\" 2>/dev/null",
		 device >> 20, device & 0xfffff);
	file = popen(command, "r");
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	line[strcspn(line, "\n")] = '\0';
	pclose(file);
	if (*line)
		assert_string_equal(lode_device_name(&names, device), line);
	assert_string_equal(lode_device_name(&names, device_of("/proc")), "");
	assert_string_equal(lode_device_name(&names, 4095u << 20 | 7), "");
}

/* The slow way: all disks of /proc/diskstats, with partitions, in order. */
static void the_only_disk_is_the_one_that_was_used(void **state)
{
	static struct lode_device_names names;
	FILE *file = fopen("/proc/diskstats", "r");
	char line[512], disk[128], only[128] = "", path[256];
	unsigned long long reads, writes, sectors;
	int count = 0;

	(void)state;
	while (file && fgets(line, sizeof(line), file)) {
		FILE *size;

		sectors = 0;
		assert_int_equal(sscanf(line, "%*u %*u %127s %llu %*u %*u %*u %llu", disk, &reads, &writes), 3);
		snprintf(path, sizeof(path), "/sys/block/%s/size", disk);
		size = fopen(path, "r");
		if (size && fscanf(size, "%llu", &sectors) != 1)
			sectors = 0;
		if (size)
			fclose(size);
		snprintf(path, sizeof(path), "ls -A /sys/block/%s/holders 2>/dev/null | grep -q .", disk);
		if (!sectors || (!reads && !writes) || !system(path))
			continue;
		count++;
		snprintf(only, sizeof(only), "%s", disk);
	}
	if (file)
		fclose(file);
	assert_string_equal(lode_only_disk(&names), count == 1 ? only : "");
	assert_string_equal(lode_only_disk(&names), count == 1 ? only : "");
}

/* Device and inode of a file as this process has it mapped; stat() may know others. */
static void read_own_mapping(const char *path, uint32_t *device, uint32_t *inode)
{
	FILE *file = fopen("/proc/self/maps", "r");
	char line[PATH_MAX + 128];
	unsigned upper = 0, lower = 0;
	uint64_t number = 0;

	assert_non_null(file);
	while (!number && fgets(line, sizeof(line), file))
		if (strstr(line, path))
			assert_int_equal(sscanf(line, "%*s %*s %*s %x:%x %" SCNu64, &upper, &lower, &number), 3);
	fclose(file);
	assert_true(number != 0);
	*device = upper << 20 | lower;
	*inode = (uint32_t)number;
}

static void mapped_files_have_names_while_they_are_mapped(void **state)
{
	struct lode_mapped_files files = { 0 };
	uint32_t pid = (uint32_t)getpid(), device, inode;
	char path[PATH_MAX] = "";

	(void)state;
	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	read_own_mapping(path, &device, &inode);
	assert_string_equal(lode_mapped_file_name(&files, pid, 0, device, inode, 1), path);
	assert_null(lode_mapped_file_name(&files, pid, 0, device, inode + 1, 1));
	assert_null(lode_mapped_file_name(&files, pid, 0, device + 1, inode, 1));
	/* What is known is kept, also when the process is gone; what is not found is not looked for again at once. */
	assert_string_equal(lode_mapped_file_name(&files, 0x7fffffff, 0, device, inode, 9000000000), path);
	for (uint32_t i = 0; i < 100; i++)
		lode_mapped_file_name(&files, pid, 0, device, 7, 9000000000 + i);
	assert_true(files.looked_up <= 2);
	for (uint32_t i = 0; i < 10000; i++)
		lode_mapped_file_name(&files, 0x7fffffff, 0, 77, i, 20000000000);
	assert_true(files.left_out > 9000 && files.count <= 4096);
	lode_mapped_files_release(&files);
}

/* A port that is not ephemeral, so that who is connected to it is the client. */
static int listen_below_ephemeral(struct sockaddr_in *address)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	*address = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	for (unsigned i = 0; i < 1000; i++) {
		address->sin_port = htons((uint16_t)(20000 + ((unsigned)getpid() + i) % 10000));
		if (!bind(listener, (struct sockaddr *)address, sizeof(*address)) && !listen(listener, 4))
			return listener;
	}
	close(listener);
	return -1;
}

static void servers_in_epoll_sets_have_names(void **state)
{
	struct sockaddr_in address;
	int listener = listen_below_ephemeral(&address), client = socket(AF_INET, SOCK_STREAM, 0),
	    set = epoll_create1(0);
	char expected[64];

	(void)state;
	assert_true(listener >= 0);
	assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof(address)), 0);
	add_to_set(set, client);
	snprintf(expected, sizeof(expected), "epoll:TCP 127.0.0.1:%u", ntohs(address.sin_port));
	assert_set(set, expected);
	close(client);
	close(listener);
	close(set);
}

static void so_many_names_are_looked_up_in_a_second(void **state)
{
	struct lode_descriptor_names names = { 0 };
	int fd = open("/dev/null", O_RDONLY);
	struct lode_descriptor file = describe(fd);
	uint64_t named = 0;

	(void)state;
	for (uint32_t i = 0; i < 50000; i++) {
		file.number = i == 0 ? (uint32_t)fd : 100000 + i;
		named += strcmp(lode_descriptor_name(&names, &file, 5000000000), "file:") != 0;
	}
	assert_int_equal(named, 1);
	assert_true(names.looked_up && names.left_out > 40000);
	assert_true(names.count <= 16384);
	close(fd);
	lode_descriptor_names_release(&names);
}

/* ---- threads and processes ---- */

static sem_t may_end;

static void *tell_tid(void *tid)
{
	*(uint32_t *)tid = (uint32_t)syscall(SYS_gettid);
	sem_wait(&may_end);
	return NULL;
}

static void threads_of_this_namespace_are_called_as_outside(void **state)
{
	struct lode_inner_tids tids = { 0 };
	volatile uint32_t tid = 0;
	pthread_t thread;

	(void)state;
	assert_int_equal(sem_init(&may_end, 0, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, tell_tid, (void *)(uintptr_t)&tid), 0);
	while (!tid)
		usleep(100);
	assert_int_equal(lode_inner_tid(&tids, (uint32_t)getpid(), tid, 1), tid);
	assert_int_equal(lode_inner_tid(&tids, (uint32_t)getpid(), 0x3fffffff, 1), 0);
	assert_int_equal(lode_inner_tid(&tids, 0x3fffffff, tid, 1), 0);
	sem_post(&may_end);
	pthread_join(thread, NULL);
	/* What is known holds for a second. */
	assert_int_equal(lode_inner_tid(&tids, (uint32_t)getpid(), tid, 2), tid);
	assert_int_equal(lode_inner_tid(&tids, (uint32_t)getpid(), tid, 2000000000), 0);
	lode_inner_tids_release(&tids);
}

struct found {
	uint32_t pids[8];
	size_t count;
};

static int find_pid(void *context, uint32_t pid)
{
	struct found *found = context;

	assert_true(found->count < 8);
	found->pids[found->count++] = pid;
	return 0;
}

static void descendants_are_found_parents_first(void **state)
{
	int ready[2];
	struct found found = { 0 };
	uint32_t grandchild;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		pid_t own = fork();

		if (own)
			(void)!write(ready[1], &own, sizeof(own));
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &grandchild, sizeof(grandchild)), sizeof(grandchild));
	assert_int_equal(lode_process_descendants((uint32_t)getpid(), find_pid, &found), 0);
	kill((pid_t)grandchild, SIGKILL);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(ready[0]);
	close(ready[1]);
	assert_int_equal(found.count, 2);
	assert_int_equal(found.pids[0], child);
	assert_int_equal(found.pids[1], grandchild);
}

/* ---- variables ---- */

static pthread_mutex_t own_lock = PTHREAD_MUTEX_INITIALIZER;
long own_array[100];

static void variables_are_found_as_by_looking_at_each(void **state)
{
	struct lode_symbols_options options = { .cache = "" };
	struct lode_variables variables = { 0 };
	struct lode_symbolizer *symbolizer;
	uint64_t seed = 11;
	struct lode_elf elf;
	size_t named = 0;

	(void)state;
	own_array[0] = pthread_mutex_trylock(&own_lock);
	assert_int_equal(lode_symbolizer_create(&symbolizer, &options, NULL), 0);
	assert_int_equal(lode_variables_load(&variables, lode_symbolizer_binary(symbolizer, "/proc/self/exe", "")),
			 0);
	assert_int_equal(lode_elf_open(&elf, "/proc/self/exe"), 0);
	assert_true(variables.count > 2 && variables.high > variables.low);
	assert_false(lode_variables_has(&variables, variables.low - 1));
	assert_false(lode_variables_has(&variables, variables.high));
	for (int i = 0; i < 400; i++) {
		uint64_t address = variables.low + random_below(&seed, variables.high - variables.low);
		const struct lode_variable *variable = lode_variables_find(&variables, address);
		struct lode_buffer slow = { 0 }, quick = { 0 };
		int found = lode_data_name(&elf, address, &slow) == 0;

		assert_int_equal(variable != NULL, found);
		if (found) {
			lode_demangle(variable->name, 1, &quick);
			if (address != variable->start)
				lode_buffer_print(&quick, "+0x%" PRIx64, address - variable->start);
			lode_buffer_byte(&quick, '\0');
			lode_buffer_byte(&slow, '\0');
			assert_string_equal(quick.bytes, slow.bytes);
			named++;
		}
		lode_buffer_release(&slow);
		lode_buffer_release(&quick);
	}
	assert_true(named > 0);
	lode_elf_close(&elf);
	lode_variables_release(&variables);
	lode_symbolizer_destroy(symbolizer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_and_words_come_from_the_text),
		cmocka_unit_test(functions_say_what_a_futex_is),
		cmocka_unit_test(only_who_holds_a_lock_is_its_holder),
		cmocka_unit_test(descriptors_have_names_only_while_they_are_the_same_file),
		cmocka_unit_test(pipes_and_sockets_have_names),
		cmocka_unit_test(epoll_sets_are_called_by_what_is_in_them),
		cmocka_unit_test(servers_in_epoll_sets_have_names),
		cmocka_unit_test(file_systems_are_where_the_kernel_says),
		cmocka_unit_test(the_only_disk_is_the_one_that_was_used),
		cmocka_unit_test(mapped_files_have_names_while_they_are_mapped),
		cmocka_unit_test(so_many_names_are_looked_up_in_a_second),
		cmocka_unit_test(threads_of_this_namespace_are_called_as_outside),
		cmocka_unit_test(descendants_are_found_parents_first),
		cmocka_unit_test(variables_are_found_as_by_looking_at_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
