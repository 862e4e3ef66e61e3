/*
 * Two programs that talk to each other by TCP and know who answered: tests/record/hosts runs them in network namespaces of their
 * own and records each.
 *
 *	hosts serve LOG PORT CLIENTS
 *	hosts ask LOG ADDRESS PORT CLIENTS ROUNDS
 *
 * A thread of the server for each connection waits for it, itself or by an epoll set, and sleeps, or computes, before it answers with its thread id. Threads of the client ask
 * one after the other and log each wait: own id, that of the server's thread, begin, end, and how it was asked to work.
 */
#include "truth.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_CLIENTS 16

static FILE *record_of_truth;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int rounds;
static struct sockaddr_in server;

static uint32_t own_id(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static __attribute__((noinline)) void serve_sleeping(void)
{
	rest(4000000);
	__asm__ volatile("");
}

static __attribute__((noinline)) void serve_computing(void)
{
	uint64_t end = now() + 3000000;

	while (now() < end)
		__asm__ volatile("");
}

static __attribute__((noinline)) int receive(int socket, void *bytes, size_t size)
{
	ssize_t count = recv(socket, bytes, size, MSG_WAITALL);

	__asm__ volatile("" : "+r"(count));
	return count == (ssize_t)size;
}

/* Waits for a set, if there is one: as servers do that have a process for each connection and wait for other things, too. */
static int wait_for(int set)
{
	struct epoll_event event;

	return set < 0 || epoll_wait(set, &event, 1, -1) == 1;
}

static void *serve_client(void *context)
{
	int client = (int)((intptr_t)context / 2), set = -1;
	uint32_t id = own_id();
	char work;

	pthread_setname_np(pthread_self(), "serving");
	if ((intptr_t)context % 2) {
		set = epoll_create1(0);
		must(!epoll_ctl(set, EPOLL_CTL_ADD, client, &(struct epoll_event){ .events = EPOLLIN }),
		     "epoll_ctl");
	}
	while (wait_for(set) && receive(client, &work, 1)) {
		if (work == 's')
			serve_sleeping();
		else if (work == 'c')
			serve_computing();
		must(send(client, &id, sizeof(id), 0) == sizeof(id), "send");
	}
	close(client);
	return NULL;
}

static void serve(int clients)
{
	pthread_t threads[MAX_CLIENTS];
	int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	must(bind(listener, (struct sockaddr *)&server, sizeof(server)) == 0, "bind");
	must(listen(listener, MAX_CLIENTS) == 0, "listen");
	fprintf(record_of_truth, "ready\n");
	fflush(record_of_truth);
	for (int i = 0; i < clients; i++) {
		int client = accept(listener, NULL, NULL);

		must(client >= 0, "accept");
		setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		must(!pthread_create(&threads[i], NULL, serve_client, (void *)(intptr_t)(2 * client + i % 2)),
		     "pthread_create");
	}
	for (int i = 0; i < clients; i++)
		pthread_join(threads[i], NULL);
}

static __attribute__((noinline)) uint32_t ask(int socket, char work)
{
	uint32_t id = 0;

	must(send(socket, &work, 1, 0) == 1, "send");
	must(receive(socket, &id, sizeof(id)), "recv");
	return id;
}

static void *ask_often(void *context)
{
	unsigned seed = (unsigned)(intptr_t)context;
	int client = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	pthread_setname_np(pthread_self(), "asking");
	must(connect(client, (struct sockaddr *)&server, sizeof(server)) == 0, "connect");
	setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	for (int i = 0; i < rounds; i++) {
		char work = rand_r(&seed) % 2 ? 's' : rand_r(&seed) % 2 ? 'c' : 'n';
		uint64_t begin = now(), end;
		uint32_t id = ask(client, work);

		end = now();
		pthread_mutex_lock(&log_lock);
		fprintf(record_of_truth, "%u %u %lu %lu %c\n", own_id(), id, (unsigned long)begin,
			(unsigned long)end, work);
		pthread_mutex_unlock(&log_lock);
		rest(rand_r(&seed) % 1000000);
	}
	close(client);
	return NULL;
}

static void ask_all(int clients)
{
	pthread_t threads[MAX_CLIENTS];

	for (int i = 0; i < clients; i++)
		must(!pthread_create(&threads[i], NULL, ask_often, (void *)(intptr_t)(i + 1)), "pthread_create");
	for (int i = 0; i < clients; i++)
		pthread_join(threads[i], NULL);
}

int main(int count, char **words)
{
	int is_server = count == 5 && !strcmp(words[1], "serve");
	int clients;

	must(is_server || count == 7, "usage: hosts serve LOG PORT CLIENTS | ask LOG ADDRESS PORT CLIENTS ROUNDS");
	record_of_truth = fopen(words[2], "w");
	must(record_of_truth != NULL, words[2]);
	server = (struct sockaddr_in){ .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)atoi(words[is_server ? 3 : 4])) };
	if (!is_server)
		must(inet_pton(AF_INET, words[3], &server.sin_addr) == 1, words[3]);
	clients = atoi(words[is_server ? 4 : 5]);
	must(clients > 0 && clients <= MAX_CLIENTS, "CLIENTS");
	rounds = is_server ? 0 : atoi(words[6]);
	if (is_server)
		serve(clients);
	else
		ask_all(clients);
	return fclose(record_of_truth) ? 1 : 0;
}
