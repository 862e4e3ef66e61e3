/* The host of a task: see host.h. */
#include "tasks/host.h"

#include "tasks/command.h"

#include <stdarg.h>
#include <stdio.h>

void lode_call_say(const struct lode_call *call, enum lode_style style, const char *format, ...)
{
	char text[sizeof(struct lode_error)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	call->host->say(call->host, call, style, text);
}

void lode_call_say_line(const struct lode_call *call, enum lode_style style, struct lode_buffer *line)
{
	lode_buffer_byte(line, '\0');
	if (!line->failed)
		lode_call_say(call, style, "%s", line->bytes);
	lode_buffer_release(line);
}

int lode_call_show(const struct lode_call *call, const struct lode_buffer *results, struct lode_error *error)
{
	return results->failed ? lode_fail_memory(error) : call->host->show(call->host, call, results, error);
}

int lode_host_launched(const struct lode_host *host)
{
	return host->job && host->job->launched();
}

void lode_host_expect(const struct lode_host *host, unsigned times)
{
	if (host->job)
		host->job->expect(times);
}

int lode_host_helps(const struct lode_host *host)
{
	return host->job && host->job->helps();
}

int lode_host_share(const struct lode_host *host, struct lode_corpus *corpus, const struct lode_shared_work *work,
		    struct lode_error *error)
{
	return host->job ? host->job->share(corpus, work, error) : work->join(work->context, NULL, error);
}

const struct lode_job_rank *lode_host_served(const struct lode_host *host)
{
	return host->job ? host->job->served() : NULL;
}
