/*
 * A program that knows what it waits for, for tests/record/objects: its first thread waits for locks that a second one
 * holds, and for what that one does to conditions, pipes, sockets and files.
 *
 *	waited LOG FOLDER ROUNDS [MILLISECONDS]
 *
 * Writes a line for each wait: `SCENARIO TID T0 T1 HOLDER OBJECT`: thread TID waited once between the times T0 and T1
 * (CLOCK_MONOTONIC), for two milliseconds or MILLISECONDS, for OBJECT, as lode names it, which thread HOLDER had (0:
 * nobody has such a thing). FOLDER, which is empty, gets files and sockets. Ids of threads are those of /proc, also in a
 * PID namespace of its own.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long held_ns = 2000000;

struct scenario {
	const char *name;
	void (*hold)(void);    /* by the partner, before the wait */
	void (*release)(void); /* by the partner, so that the wait ends */
	void (*wait)(void);    /* by the first thread */
	void (*done)(void);    /* by the first thread, afterwards; may be NULL */
	int has_holder;        /* the partner */
};

static FILE *log_file;
static const char *folder;
static char object[512]; /* of the current scenario */
static int partner_tid;
static atomic_int step; /* 0: the partner's turn to hold, 1: held, 2: to end */
static atomic_int is_released;
static const struct scenario *current;

static void must(int holds, const char *what)
{
	if (holds)
		return;
	perror(what);
	exit(1);
}

/* As /proc numbers threads, which may be in another namespace. */
static int own_tid(void)
{
	char link[64] = "";
	const char *last;

	must(readlink("/proc/thread-self", link, sizeof(link) - 1) > 0, "/proc/thread-self");
	last = strrchr(link, '/');
	return atoi(last + 1);
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void nothing(void)
{
}

static void rest(long ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

/* ---- locks ---- */

pthread_mutex_t plain_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t static_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	long counter;
	pthread_mutex_t lock;
} counted = { .lock = PTHREAD_MUTEX_INITIALIZER };
static pthread_mutex_t recursive_lock, checking_lock, robust_lock, inheriting_lock, adaptive_lock;
static pthread_mutex_t *heap_lock, *lock;
static pthread_rwlock_t shared_lock = PTHREAD_RWLOCK_INITIALIZER;

static __attribute__((noinline)) void ask_for_lock(void)
{
	pthread_mutex_lock(lock);
	atomic_signal_fence(memory_order_seq_cst);
}

static void ask_with_limit(void)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 10;
	must(pthread_mutex_timedlock(lock, &end) == 0, "timedlock");
}

static void hold_lock(void)
{
	pthread_mutex_lock(lock);
}

static void release_lock(void)
{
	pthread_mutex_unlock(lock);
}

static void write_lock(void)
{
	pthread_rwlock_wrlock(&shared_lock);
}

static void read_lock(void)
{
	pthread_rwlock_rdlock(&shared_lock);
}

static void unlock_shared(void)
{
	pthread_rwlock_unlock(&shared_lock);
}

static void make_locks(void)
{
	static pthread_mutex_t *const locks[] = { &recursive_lock, &checking_lock, &robust_lock, &inheriting_lock,
						  &adaptive_lock };

	for (int i = 0; i < 5; i++) {
		pthread_mutexattr_t attributes;

		pthread_mutexattr_init(&attributes);
		if (i == 2)
			pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
		if (i == 3)
			pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
		if (i < 2 || i == 4)
			pthread_mutexattr_settype(&attributes, i == 0   ? PTHREAD_MUTEX_RECURSIVE
							       : i == 1 ? PTHREAD_MUTEX_ERRORCHECK
									: PTHREAD_MUTEX_ADAPTIVE_NP);
		must(pthread_mutex_init(locks[i], &attributes) == 0, "pthread_mutex_init");
	}
	heap_lock = malloc(sizeof(*heap_lock));
	must(heap_lock != NULL, "malloc");
	pthread_mutex_init(heap_lock, NULL);
}

/* ---- conditions ---- */

static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t ready_lock = PTHREAD_MUTEX_INITIALIZER;
static int is_ready;
static sem_t permits;
static pthread_barrier_t both_here;

static void await_condition(void)
{
	pthread_mutex_lock(&ready_lock);
	while (!is_ready)
		pthread_cond_wait(&ready, &ready_lock);
	is_ready = 0;
	pthread_mutex_unlock(&ready_lock);
}

static void signal_condition(void)
{
	pthread_mutex_lock(&ready_lock);
	is_ready = 1;
	pthread_mutex_unlock(&ready_lock); /* first, so that who is woken need not wait for it */
	pthread_cond_signal(&ready);
}

static void await_permit(void)
{
	sem_wait(&permits);
}

static void give_permit(void)
{
	sem_post(&permits);
}

static void meet(void)
{
	pthread_barrier_wait(&both_here);
}

/* ---- descriptors ---- */

static int in, out, epoll, timer, locked;
static int own_side[2], pipe_ends[2];

static void read_byte(void)
{
	char byte;

	must(read(in, &byte, 1) == 1, "read");
}

static void write_byte(void)
{
	must(write(out, "x", 1) == 1, "write");
}

static void poll_byte(void)
{
	struct pollfd waited = { .fd = in, .events = POLLIN };

	poll(&waited, 1, 10000);
}

static void await_epoll(void)
{
	struct epoll_event event;

	epoll_wait(epoll, &event, 1, 10000);
}

static void read_counter(void)
{
	uint64_t number;

	must(read(in, &number, 8) == 8, "read");
}

static void write_counter(void)
{
	uint64_t one = 1;

	must(write(out, &one, 8) == 8, "write");
}

static void set_timer(void)
{
	struct itimerspec after = { .it_value = { .tv_nsec = 2 * held_ns } };

	timerfd_settime(timer, 0, &after, NULL);
}

static void read_timer(void)
{
	uint64_t number;

	must(read(timer, &number, 8) == 8, "read");
}

static void sleep_a_while(void)
{
	rest(held_ns);
}

/* The same number as before, another pipe; both are gone when the recorder looks. */
static void open_pipe(void)
{
	struct stat status;

	must(pipe(pipe_ends) == 0, "pipe");
	in = pipe_ends[0];
	out = pipe_ends[1];
	fstat(in, &status);
	snprintf(object, sizeof(object), "pipe:[%ju]", (uintmax_t)status.st_ino);
}

static void close_pipe(void)
{
	close(pipe_ends[0]);
	close(pipe_ends[1]);
}

static void lock_file(void)
{
	flock(locked, LOCK_EX);
}

static void unlock_file(void)
{
	flock(locked, LOCK_UN);
}

static void lock_again(void)
{
	flock(in, LOCK_EX);
}

static void unlock_again(void)
{
	flock(in, LOCK_UN);
}

static void make_child(void)
{
	pid_t pid = fork();

	must(pid >= 0, "fork");
	if (pid == 0) {
		prctl(PR_SET_NAME, "waited-child");
		rest(2 * held_ns);
		_exit(0);
	}
	in = pid;
}

static void await_child(void)
{
	must(waitpid(in, NULL, 0) == in, "waitpid");
}

/* ---- rounds ---- */

static void *act(void *unused)
{
	partner_tid = own_tid();
	prctl(PR_SET_NAME, "waited-partner");
	for (;;) {
		while (atomic_load(&step) == 1)
			rest(50000);
		if (atomic_load(&step) == 2)
			return unused;
		current->hold();
		atomic_store(&step, 1);
		rest(held_ns);
		current->release();
		atomic_store(&is_released, 1);
	}
}

static void run(const struct scenario *scenario, int rounds)
{
	int tid = own_tid();

	current = scenario;
	for (int i = 0; i < rounds; i++) {
		uint64_t begun;

		atomic_store(&is_released, 0);
		atomic_store(&step, 0);
		while (atomic_load(&step) != 1)
			rest(50000);
		begun = now();
		scenario->wait();
		fprintf(log_file, "%s %d %" PRIu64 " %" PRIu64 " %d %s\n", scenario->name, tid, begun, now(),
			scenario->has_holder ? partner_tid : 0, object);
		if (scenario->done)
			scenario->done();
		rest(held_ns / 2);
		while (!atomic_load(&is_released)) /* a wait may end before the partner's call returns */
			rest(50000);
	}
}

static void run_lock(const char *name, pthread_mutex_t *one, const char *object_name, int rounds)
{
	struct scenario scenario = { name, hold_lock, release_lock, ask_for_lock, release_lock, 1 };

	lock = one;
	snprintf(object, sizeof(object), "lock:%s", object_name);
	run(&scenario, rounds);
}

static void run_locks(int rounds)
{
	struct scenario limited = { "mutex-timed", hold_lock, release_lock, ask_with_limit, release_lock, 1 };
	struct scenario reader = { "rwlock-read", write_lock, unlock_shared, read_lock, unlock_shared, 1 };
	struct scenario writer = { "rwlock-write", write_lock, unlock_shared, write_lock, unlock_shared, 1 };
	struct scenario readers = { "rwlock-readers", read_lock, unlock_shared, write_lock, unlock_shared, 0 };
	char name[64];

	run_lock("mutex-global", &plain_lock, "plain_lock", rounds);
	run_lock("mutex-static", &static_lock, "static_lock", rounds);
	run_lock("mutex-member", &counted.lock, "counted+0x8", rounds);
	run_lock("mutex-recursive", &recursive_lock, "recursive_lock", rounds);
	run_lock("mutex-checking", &checking_lock, "checking_lock", rounds);
	run_lock("mutex-adaptive", &adaptive_lock, "adaptive_lock", rounds);
	run_lock("mutex-robust", &robust_lock, "robust_lock", rounds);
	run_lock("mutex-inheriting", &inheriting_lock, "inheriting_lock", rounds);
	snprintf(name, sizeof(name), "0x%" PRIxPTR " first seen in ask_for_lock", (uintptr_t)heap_lock);
	run_lock("mutex-heap", heap_lock, name, rounds);
	lock = &plain_lock;
	snprintf(object, sizeof(object), "lock:plain_lock");
	run(&limited, rounds);
	snprintf(object, sizeof(object), "lock:shared_lock");
	run(&reader, rounds);
	run(&writer, rounds);
	run(&readers, rounds);
}

static void run_conditions(int rounds)
{
	struct scenario condition = { "condition", nothing, signal_condition, await_condition, NULL, 0 };
	struct scenario semaphore = { "semaphore", nothing, give_permit, await_permit, NULL, 0 };
	struct scenario barrier = { "barrier", nothing, meet, meet, NULL, 0 };

	sem_init(&permits, 0, 0);
	pthread_barrier_init(&both_here, NULL, 2);
	snprintf(object, sizeof(object), "condition:ready");
	run(&condition, rounds);
	snprintf(object, sizeof(object), "condition:permits");
	run(&semaphore, rounds);
	snprintf(object, sizeof(object), "condition:both_here");
	run(&barrier, rounds);
}

static void run_pipes(int rounds)
{
	struct scenario passing = { "pipe-passing", open_pipe, write_byte, read_byte, close_pipe, 0 };
	struct scenario polled = { "pipe-polled", nothing, write_byte, poll_byte, read_byte, 0 };
	struct scenario in_epoll = { "epoll", nothing, write_byte, await_epoll, read_byte, 0 };
	struct scenario named = { "pipe-named", nothing, write_byte, read_byte, NULL, 0 };
	struct epoll_event event = { .events = EPOLLIN };
	char path[256];

	run(&passing, rounds);
	open_pipe();
	run(&polled, rounds);
	epoll = epoll_create1(0);
	must(epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, in, &event) == 0, "epoll");
	snprintf(object, sizeof(object), "epoll:a pipe");
	run(&in_epoll, rounds); /* and stays open: what is in a set is looked up a while after the wait */
	snprintf(path, sizeof(path), "%s/named", folder);
	must(mkfifo(path, 0600) == 0, "mkfifo");
	in = out = open(path, O_RDWR);
	must(in >= 0, path);
	snprintf(object, sizeof(object), "pipe:%s", path);
	run(&named, rounds); /* and stays open: names are looked up a while after the wait */
}

static void run_sockets(int rounds)
{
	struct scenario connected = { "unix-client", nothing, write_byte, read_byte, NULL, 0 };
	struct scenario served = { "unix-server", nothing, write_byte, read_byte, NULL, 0 };
	struct scenario pair = { "unix-pair", nothing, write_byte, read_byte, NULL, 0 };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0), server;
	struct stat status;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", folder);
	must(bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(listener, 1) == 0,
	     "bind");
	must(connect(client, (struct sockaddr *)&address, sizeof(address)) == 0, "connect");
	server = accept(listener, NULL, NULL);
	snprintf(object, sizeof(object), "unix:%s", address.sun_path);
	in = client;
	out = server;
	run(&connected, rounds);
	snprintf(object, sizeof(object), "unix:accepted:%s", address.sun_path);
	in = server;
	out = client;
	run(&served, rounds);
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, own_side) == 0, "socketpair");
	in = own_side[0];
	out = own_side[1];
	fstat(in, &status);
	snprintf(object, sizeof(object), "unix:[%ju]", (uintmax_t)status.st_ino);
	run(&pair, rounds);
}

static int client;
static struct sockaddr_storage peer;
static socklen_t peer_size;

static void connect_peer(void)
{
	client = socket(peer.ss_family, SOCK_STREAM, 0);
	must(connect(client, (struct sockaddr *)&peer, peer_size) == 0, "connect");
}

static void accept_client(void)
{
	int fd = accept(in, NULL, NULL);

	must(fd >= 0, "accept");
	close(fd);
}

static void close_client(void)
{
	close(client);
}

static uint16_t port_of(int fd)
{
	struct sockaddr_storage address;
	socklen_t size = sizeof(address);

	must(getsockname(fd, (struct sockaddr *)&address, &size) == 0, "getsockname");
	return ntohs(address.ss_family == AF_INET ? ((struct sockaddr_in *)&address)->sin_port
						  : ((struct sockaddr_in6 *)&address)->sin6_port);
}

static void run_tcp(int family, const char *text, int rounds)
{
	struct scenario accepting = { "tcp-accept", nothing, connect_peer, accept_client, close_client, 0 };
	struct scenario reading = { "tcp-read", nothing, write_byte, read_byte, NULL, 0 };
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	int listener = socket(family, SOCK_STREAM, 0), server;

	peer_size = family == AF_INET ? sizeof(four) : sizeof(six);
	memcpy(&peer, family == AF_INET ? (void *)&four : (void *)&six, peer_size);
	if (listener < 0 || bind(listener, (struct sockaddr *)&peer, peer_size) != 0 || listen(listener, 1) != 0)
		return; /* a machine without IPv6 */
	must(getsockname(listener, (struct sockaddr *)&peer, &peer_size) == 0, "getsockname");
	snprintf(object, sizeof(object), "tcp:listen:%u", port_of(listener));
	in = listener;
	run(&accepting, rounds);
	connect_peer();
	server = accept(listener, NULL, NULL);
	in = client;
	out = server;
	snprintf(object, sizeof(object), "tcp:%s:%u", text, port_of(listener));
	run(&reading, rounds);
	in = server;
	out = client;
	snprintf(object, sizeof(object), "tcp:%s:%u", text, port_of(client));
	run(&reading, rounds);
	close(client);
	close(server);
	close(listener);
}

static void run_others(int rounds)
{
	struct scenario counter = { "eventfd", nothing, write_counter, read_counter, NULL, 0 };
	struct scenario timed = { "timerfd", set_timer, nothing, read_timer, NULL, 0 };
	struct scenario sleeping = { "sleep", nothing, nothing, sleep_a_while, NULL, 0 };
	struct scenario flocked = { "flock", lock_file, unlock_file, lock_again, unlock_again, 0 };
	struct scenario child = { "child", nothing, nothing, await_child, NULL, 0 };
	char path[256];

	in = out = eventfd(0, 0);
	snprintf(object, sizeof(object), "eventfd:");
	run(&counter, rounds);
	close(in);
	timer = timerfd_create(CLOCK_MONOTONIC, 0);
	snprintf(object, sizeof(object), "timer:timerfd");
	run(&timed, rounds);
	snprintf(object, sizeof(object), "timer:");
	run(&sleeping, rounds);
	snprintf(path, sizeof(path), "%s/locked", folder);
	locked = open(path, O_RDWR | O_CREAT, 0600);
	in = open(path, O_RDWR);
	must(locked >= 0 && in >= 0, path);
	snprintf(object, sizeof(object), "lock:on %s", path);
	run(&flocked, rounds);
	child.hold = make_child; /* a child of the process, whichever thread makes it */
	snprintf(object, sizeof(object), "child:waited-child");
	run(&child, rounds);
}

static void *rest_and_end(void *tid)
{
	*(int *)tid = own_tid();
	rest(held_ns);
	return NULL;
}

static void run_join(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		int tid = 0;
		pthread_t thread;
		uint64_t begun;

		pthread_create(&thread, NULL, rest_and_end, &tid);
		rest(held_ns / 4);
		begun = now();
		pthread_join(thread, NULL);
		fprintf(log_file, "join %d %" PRIu64 " %" PRIu64 " %d thread:\n", own_tid(), begun, now(), tid);
	}
}

int main(int count, char **arguments)
{
	pthread_t partner;
	int rounds;

	must((count == 4 || count == 5) && (log_file = fopen(arguments[1], "w")) != NULL,
	     "usage: waited LOG FOLDER ROUNDS [MILLISECONDS]");
	if (count == 5)
		held_ns = atol(arguments[4]) * 1000000;
	folder = arguments[2];
	rounds = atoi(arguments[3]);
	make_locks();
	atomic_store(&step, 1);
	must(pthread_create(&partner, NULL, act, NULL) == 0, "pthread_create");
	rest(held_ns);
	run_locks(rounds);
	run_conditions(rounds);
	run_pipes(rounds);
	run_sockets(rounds);
	run_tcp(AF_INET, "127.0.0.1", rounds);
	run_tcp(AF_INET6, "[::1]", rounds);
	run_others(rounds);
	run_join(rounds);
	atomic_store(&step, 2);
	pthread_join(partner, NULL);
	sleep(1); /* until names have been looked up */
	fclose(log_file);
	return 0;
}
