/*
 * Senders for bench/collector, and a bare server to compare with.
 *
 *	upload_load send PORT TOKEN SENDERS SECONDS good|bad LINES
 *	upload_load bare PORT
 *
 * Each sender has a connection and sends one upload after the other: folded stacks of so many lines that no other upload
 * has, or bytes that are of no format. Prints the uploads a second, megabytes a second, and the 50th, 99th and highest
 * percentiles of the time to the answer. The bare server reads bodies and answers, as libmicrohttpd does it, with the
 * threads that the collector has.
 */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_TIMES 1000000

struct sender {
	pthread_t thread;
	int number, is_bad, lines;
	uint16_t port;
	const char *token;
	uint64_t until;
	uint64_t done, bytes, wrong;
	uint32_t *times; /* us */
};

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int dial(uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	return connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -1 : fd;
}

/* Headers and body, into `request`; its size. */
static size_t make_request(const struct sender *sender, uint64_t number, char *body, char *request)
{
	size_t size = 0;

	if (sender->is_bad)
		size = (size_t)sprintf(body, "\1\2%d.%llu", sender->number, (unsigned long long)number);
	for (int i = 0; !sender->is_bad && i < sender->lines; i++)
		size += (size_t)sprintf(body + size, "app!main;app!serve;app!request_%d;libc.so.6!read %llu\n", i,
					(unsigned long long)(number * 1000 + (unsigned)sender->number));
	return (size_t)
		sprintf(request,
			"POST /v1/streams?host=h%d HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nAuthorization: Bearer %s\r\n"
			"Content-Length: %zu\r\n\r\n%s",
			sender->number, sender->port, sender->token, size, body);
}

/* Reads one answer; its status, or -1. */
static int read_answer(int fd)
{
	char text[8192];
	size_t size = 0;

	while (size < sizeof(text) - 1) {
		ssize_t got = read(fd, text + size, sizeof(text) - 1 - size);
		char *end, *length;

		if (got <= 0)
			return -1;
		size += (size_t)got;
		text[size] = '\0';
		end = strstr(text, "\r\n\r\n");
		length = strcasestr(text, "Content-Length:");
		if (end && size >= (size_t)(end + 4 - text) + (length ? strtoul(length + 15, NULL, 10) : 0))
			return atoi(text + 9);
	}
	return -1;
}

static void *send_uploads(void *context)
{
	struct sender *sender = context;
	char *body = malloc(128 * (size_t)(sender->lines + 1)),
	     *request = malloc(128 * (size_t)(sender->lines + 9));
	uint64_t first = now();
	int fd = dial(sender->port);

	while (fd >= 0 && now() < sender->until && sender->done < MAX_TIMES) {
		size_t size = make_request(sender, first + sender->done, body, request);
		uint64_t began = now();
		int status;

		for (size_t sent = 0; sent < size;) {
			ssize_t wrote = send(fd, request + sent, size - sent, MSG_NOSIGNAL);

			if (wrote <= 0)
				break;
			sent += (size_t)wrote;
		}
		status = read_answer(fd);
		sender->times[sender->done++] = (uint32_t)((now() - began) / 1000);
		sender->bytes += size;
		sender->wrong += sender->is_bad ? status != 422 && status != 204 : status != 201 && status != 204;
		if (status < 0)
			break;
	}
	sender->wrong += fd < 0;
	close(fd);
	free(body);
	free(request);
	return NULL;
}

static int compare(const void *left, const void *right)
{
	return (*(const uint32_t *)left > *(const uint32_t *)right) -
	       (*(const uint32_t *)left < *(const uint32_t *)right);
}

static void report(struct sender *senders, int count, double seconds)
{
	uint64_t done = 0, bytes = 0, wrong = 0;
	uint32_t *times;

	for (int i = 0; i < count; i++)
		done += senders[i].done, bytes += senders[i].bytes, wrong += senders[i].wrong;
	times = malloc((done + 1) * sizeof(*times));
	done = 0;
	for (int i = 0; i < count; i++) {
		memcpy(times + done, senders[i].times, senders[i].done * sizeof(*times));
		done += senders[i].done;
	}
	qsort(times, done, sizeof(*times), compare);
	printf("%8.0f uploads/s %7.2f MB/s  p50 %7.2f ms  p99 %7.2f ms  max %7.2f ms  %llu wrong\n",
	       (double)done / seconds, (double)bytes / seconds / 1e6, done ? times[done / 2] / 1e3 : 0,
	       done ? times[done * 99 / 100] / 1e3 : 0, done ? times[done - 1] / 1e3 : 0,
	       (unsigned long long)wrong);
	free(times);
}

static int send_all(char **words)
{
	int count = atoi(words[2]);
	double seconds = atof(words[3]);
	struct sender *senders = calloc((size_t)count, sizeof(*senders));
	uint64_t began = now();

	for (int i = 0; i < count; i++) {
		senders[i] = (struct sender){ .number = i,
					      .is_bad = !strcmp(words[4], "bad"),
					      .lines = atoi(words[5]),
					      .port = (uint16_t)atoi(words[0]),
					      .token = words[1],
					      .until = began + (uint64_t)(seconds * 1e9),
					      .times = malloc(MAX_TIMES * sizeof(uint32_t)) };
		pthread_create(&senders[i].thread, NULL, send_uploads, &senders[i]);
	}
	for (int i = 0; i < count; i++)
		pthread_join(senders[i].thread, NULL);
	report(senders, count, (double)(now() - began) / 1e9);
	return 0;
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url, const char *method,
			      const char *version, const char *upload, size_t *size, void **state)
{
	static char begun;
	struct MHD_Response *response;
	enum MHD_Result result;

	(void)context, (void)url, (void)method, (void)version, (void)upload;
	if (!*state || *size) {
		*state = &begun;
		*size = 0;
		return MHD_YES;
	}
	response = MHD_create_response_from_buffer(0, (void *)(uintptr_t) "", MHD_RESPMEM_PERSISTENT);
	result = MHD_queue_response(connection, MHD_HTTP_NO_CONTENT, response);
	MHD_destroy_response(response);
	return result;
}

int main(int count, char **words)
{
	if (count == 8 && !strcmp(words[1], "send"))
		return send_all(words + 2);
	if (count == 3 && !strcmp(words[1], "bare")) {
		struct MHD_Daemon *daemon =
			MHD_start_daemon(MHD_USE_AUTO_INTERNAL_THREAD | MHD_USE_ITC | MHD_USE_THREAD_PER_CONNECTION,
					 (uint16_t)atoi(words[2]), NULL, NULL, answer, NULL, MHD_OPTION_END);

		while (daemon)
			pause();
		return 1;
	}
	fprintf(stderr, "see the first comment of upload_load.c\n");
	return 2;
}
