/*
 * A module of Apache httpd that writes a line for each request, as mod_log_config does;
 * planted: write_log_entry waits.
 */
#include "planted.h"

#include <httpd.h>

#include <http_config.h>
#include <http_log.h>
#include <http_protocol.h>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int log_file = -1;

static PLANTED_FRAME int format_log_entry(request_rec *request, char *line, size_t size)
{
	return snprintf(line, size, "%s \"%s\" %d %ld\n", request->useragent_ip, request->the_request,
			request->status, (long)request->bytes_sent);
}

static PLANTED_FRAME void write_log_entry(const char *line, int length)
{
	planted_sleep(3000);
	if (log_file >= 0 && write(log_file, line, (size_t)length) != length)
		log_file = -1;
}

static PLANTED_FRAME int log_request(request_rec *request)
{
	char line[2048];
	int length = format_log_entry(request, line, sizeof(line));

	if (length > 0 && (size_t)length < sizeof(line))
		write_log_entry(line, length);
	return OK;
}

static void register_hooks(apr_pool_t *pool)
{
	const char *path = getenv("LODE_BENCH_LOG");

	(void)pool;
	log_file = open(path ? path : "/dev/null", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	ap_hook_log_transaction(log_request, NULL, NULL, APR_HOOK_MIDDLE);
}

module AP_MODULE_DECLARE_DATA planted_log_module = {
	STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, NULL, register_hooks,
};
