/*
 * A program that knows who wakes its threads, for tests/record/wakers: two threads take turns through a pipe, a futex,
 * a TCP connection on the same machine and a Unix socket, so each is woken by the other; and one sleeps, waits for a
 * timer and reads from a disk, where no thread wakes it. Meanwhile a process that only computes keeps each CPU busy:
 * whatever interrupts wake threads hit it, and it wakes nobody.
 *
 *	wakers LOG ROUNDS
 *
 * The functions that wait are called wait_KIND, so that the waits of a recording can be told apart. Writes a line
 * `KIND TID TID` for both threads of a kind that have each other for wakers, `KIND TID 0` for one that no thread wakes. A
 * kind that is not possible here has no line.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define CPUS       2
#define DISK_BYTES 4096

static FILE *log_file;
static int rounds;

static void must(int holds, const char *what)
{
	if (holds)
		return;
	perror(what);
	exit(1);
}

/* ---- processes that compute ---- */

static volatile uint64_t sum;

/* Until the program ends. */
static void start_innocent(int cpu)
{
	pid_t parent = getpid(), pid = fork();
	cpu_set_t one;

	must(pid >= 0, "fork");
	if (pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "innocent");
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	must(sched_setaffinity(0, sizeof(one), &one) == 0, "sched_setaffinity");
	while (getppid() == parent)
		for (int i = 0; i < 1000000; i++)
			sum += (uint64_t)i;
	_exit(0);
}

/* All threads share few CPUs, each with something to interrupt. */
static void share_cpus(void)
{
	cpu_set_t allowed, shared;
	int count = 0;

	must(sched_getaffinity(0, sizeof(allowed), &allowed) == 0, "sched_getaffinity");
	CPU_ZERO(&shared);
	for (int cpu = 0; cpu < CPU_SETSIZE && count < CPUS; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		CPU_SET(cpu, &shared);
		start_innocent(cpu);
		count++;
	}
	must(sched_setaffinity(0, sizeof(shared), &shared) == 0, "sched_setaffinity");
}

/* ---- threads that take turns ---- */

/* One end of what two threads take turns through. */
struct end {
	int in;
	int out;
	uint32_t *in_word;
	uint32_t *out_word;
	pid_t tid;
};

struct kind {
	const char *name;
	void (*wait)(struct end *end);
	void (*send)(struct end *end);
};

/* Behind it each caller does something of its own, so that no two become one function, or none. */
static void read_byte(int fd)
{
	char byte;

	must(read(fd, &byte, 1) == 1, "read");
}

static __attribute__((noinline)) void wait_pipe(struct end *end)
{
	read_byte(end->in);
	__asm__ volatile("# pipe");
}

static __attribute__((noinline)) void wait_tcp(struct end *end)
{
	read_byte(end->in);
	__asm__ volatile("# tcp");
}

static __attribute__((noinline)) void wait_unix(struct end *end)
{
	read_byte(end->in);
	__asm__ volatile("# unix");
}

static void send_byte(struct end *end)
{
	must(write(end->out, "x", 1) == 1, "write");
}

static __attribute__((noinline)) void wait_futex(struct end *end)
{
	while (!__atomic_exchange_n(end->in_word, 0, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, end->in_word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void send_futex(struct end *end)
{
	__atomic_store_n(end->out_word, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, end->out_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static const struct kind kinds[] = {
	{ "pipe", wait_pipe, send_byte },
	{ "futex", wait_futex, send_futex },
	{ "tcp", wait_tcp, send_byte },
	{ "unix", wait_unix, send_byte },
};

static void connect_tcp(struct end ends[2])
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	must(listener >= 0 && bind(listener, (struct sockaddr *)&address, size) == 0 && listen(listener, 1) == 0 &&
		     getsockname(listener, (struct sockaddr *)&address, &size) == 0,
	     "listen");
	ends[0].in = ends[0].out = socket(AF_INET, SOCK_STREAM, 0);
	must(ends[0].in >= 0 && connect(ends[0].in, (struct sockaddr *)&address, size) == 0, "connect");
	ends[1].in = ends[1].out = accept(listener, NULL, NULL);
	must(ends[1].in >= 0, "accept");
	close(listener);
}

static void connect_ends(const struct kind *kind, struct end ends[2], uint32_t words[2])
{
	int pipes[2][2], both[2];

	if (!strcmp(kind->name, "pipe")) {
		must(pipe(pipes[0]) == 0 && pipe(pipes[1]) == 0, "pipe");
		ends[0].in = pipes[0][0];
		ends[1].out = pipes[0][1];
		ends[1].in = pipes[1][0];
		ends[0].out = pipes[1][1];
	} else if (!strcmp(kind->name, "unix")) {
		must(socketpair(AF_UNIX, SOCK_STREAM, 0, both) == 0, "socketpair");
		ends[0].in = ends[0].out = both[0];
		ends[1].in = ends[1].out = both[1];
	} else if (!strcmp(kind->name, "tcp")) {
		connect_tcp(ends);
	}
	ends[0].in_word = ends[1].out_word = &words[0];
	ends[1].in_word = ends[0].out_word = &words[1];
}

struct turn {
	const struct kind *kind;
	struct end *end;
	int first;
};

/* Long enough for the other thread to wait by then, and for the recorder to know the program after a few rounds. */
static void send_later(const struct turn *turn)
{
	nanosleep(&(struct timespec){ 0, 200000 }, NULL);
	turn->kind->send(turn->end);
}

static void *take_turns(void *argument)
{
	struct turn *turn = argument;

	turn->end->tid = gettid();
	for (int i = 0; i < rounds; i++) {
		if (turn->first)
			send_later(turn);
		turn->kind->wait(turn->end);
		if (!turn->first)
			send_later(turn);
	}
	return NULL;
}

static void run_kind(const struct kind *kind)
{
	struct end ends[2] = { 0 };
	uint32_t words[2] = { 0 };
	pthread_t threads[2];
	struct turn turns[2];

	connect_ends(kind, ends, words);
	for (int i = 0; i < 2; i++) {
		turns[i] = (struct turn){ kind, &ends[i], i == 0 };
		must(pthread_create(&threads[i], NULL, take_turns, &turns[i]) == 0, "pthread_create");
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 2; i++)
		fprintf(log_file, "%s %d %d\n", kind->name, (int)ends[i].tid, (int)ends[!i].tid);
}

/* ---- waits that no thread ends ---- */

static __attribute__((noinline)) void wait_sleep(void)
{
	nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	__asm__ volatile("");
}

static __attribute__((noinline)) void wait_timer(int fd)
{
	uint64_t expirations;

	must(read(fd, &expirations, sizeof(expirations)) == sizeof(expirations), "timerfd");
}

static __attribute__((noinline)) void wait_disk(int fd, void *block, int round)
{
	must(pread(fd, block, DISK_BYTES, (off_t)(round % 64) * DISK_BYTES) == DISK_BYTES, "pread");
}

static void run_timers(void)
{
	struct itimerspec period = { .it_interval = { 0, 1000000 }, .it_value = { 0, 1000000 } };
	int timer = timerfd_create(CLOCK_MONOTONIC, 0);

	must(timer >= 0 && timerfd_settime(timer, 0, &period, NULL) == 0, "timerfd");
	for (int i = 0; i < rounds; i++)
		wait_sleep();
	for (int i = 0; i < rounds; i++)
		wait_timer(timer);
	fprintf(log_file, "sleep %d 0\ntimer %d 0\n", (int)gettid(), (int)gettid());
	close(timer);
}

/* Past the page cache, where the file system can; a file in memory has no device to wait for. */
static void run_disk(const char *log_path)
{
	void *block = aligned_alloc(DISK_BYTES, DISK_BYTES);
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s.data", log_path);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_DIRECT, 0600);
	if (!block || fd < 0)
		return;
	memset(block, 1, DISK_BYTES);
	for (int i = 0; i < 64; i++)
		if (pwrite(fd, block, DISK_BYTES, (off_t)i * DISK_BYTES) != DISK_BYTES)
			return;
	for (int i = 0; i < rounds; i++)
		wait_disk(fd, block, i);
	fprintf(log_file, "disk %d 0\n", (int)gettid());
	close(fd);
	unlink(path);
}

int main(int argc, char **argv)
{
	must(argc == 3, "wakers LOG ROUNDS");
	log_file = fopen(argv[1], "w");
	must(log_file != NULL, argv[1]);
	setvbuf(log_file, NULL, _IOLBF, 0);
	rounds = atoi(argv[2]);
	share_cpus();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		run_kind(&kinds[i]);
	run_timers();
	run_disk(argv[1]);
	fclose(log_file);
	return 0;
}
