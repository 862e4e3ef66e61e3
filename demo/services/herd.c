/*
 * A server whose processes all wait for the same listening socket: herd PORT PROCESSES. Each has an epoll set of its own,
 * without EPOLLEXCLUSIVE, so a connection wakes all of them, one gets it, and the others have done their part of the work
 * for nothing. Answers anything with a page of HTTP.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static const char page[] = "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nok\n";

/* What every process does that is woken: it looks whether there is something to do. */
static volatile unsigned sum;

static void look_around(void)
{
	for (unsigned i = 0; i < 40000; i++)
		sum += i * i;
}

static void answer(int connection)
{
	char request[4096];

	if (read(connection, request, sizeof(request)) > 0 && write(connection, page, sizeof(page) - 1) < 0)
		perror("herd: write");
	close(connection);
}

static void serve(int listener)
{
	int set = epoll_create1(0);
	struct epoll_event event = { .events = EPOLLIN };

	if (set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, listener, &event))
		exit(1);
	for (;;) {
		int connection;

		if (epoll_wait(set, &event, 1, -1) < 1)
			continue;
		look_around();
		connection = accept(listener, NULL, NULL);
		if (connection >= 0)
			answer(connection);
		else if (errno != EAGAIN)
			perror("herd: accept");
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), yes = 1;

	if (argc < 3 || listener < 0)
		return 2;
	address.sin_port = htons((unsigned short)atoi(argv[1]));
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 64)) {
		perror("herd");
		return 1;
	}
	for (int i = atoi(argv[2]); i > 1; i--)
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, 15);
			break;
		}
	serve(listener);
	return 0;
}
