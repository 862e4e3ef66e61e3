/*
 * Loading BPF programs: see bpf_loading.h.
 *
 * The verifier refuses a program with the same errno as a kernel that forbids all of them, so the errno alone cannot
 * tell whether a person has to change something. But only the verifier writes a log, which libbpf prints: its last line but
 * one is the reason, the last one counts instructions.
 */
#include "record/load/bpf_loading.h"

#include "base/memory.h"
#include "record/load/permissions.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#define LOG_BEGINS "-- BEGIN PROG LOAD LOG --\n"
#define LOG_ENDS   "\n-- END PROG LOAD LOG --"

/* A callback of libbpf's gets no context. */
static _Thread_local char refused_program[64];
static _Thread_local char refusal[256];

/* What libbpf prints with belongs to the whole process, which may be somebody else's that uses liblode. */
static pthread_mutex_t printing_lock = PTHREAD_MUTEX_INITIALIZER;
static libbpf_print_fn_t printed_before;
static unsigned quiet_count;

/* The line that ends at `end`, which becomes its start. */
static char *last_line(char *log, char **end)
{
	char *start;

	while (*end > log && (*end)[-1] == '\n')
		--*end;
	**end = '\0';
	start = strrchr(log, '\n');
	*end = start = start ? start + 1 : log;
	return start;
}

/* `text`: a program's name in quotes, and its log. */
static void keep_refusal(char *text)
{
	char *log = strstr(text, LOG_BEGINS), *end = log ? strstr(log, LOG_ENDS) : NULL, *reason;

	if (!end || sscanf(text, "libbpf: prog '%63[^']", refused_program) != 1)
		return;
	log += strlen(LOG_BEGINS);
	reason = last_line(log, &end);
	if (!strncmp(reason, "processed ", strlen("processed ")))
		reason = last_line(log, &end);
	snprintf(refusal, sizeof(refusal), "%s", reason);
}

static int handle_message(enum libbpf_print_level level, const char *format, va_list arguments)
{
	va_list again;
	char *text;
	int size;

	if (level != LIBBPF_WARN || !strstr(format, LOG_BEGINS))
		return 0;
	va_copy(again, arguments);
	size = vsnprintf(NULL, 0, format, arguments);
	text = size < 0 ? NULL : lode_calloc((size_t)size + 1, 1);
	if (text) {
		vsnprintf(text, (size_t)size + 1, format, again);
		keep_refusal(text);
	}
	va_end(again);
	lode_free(text);
	return 0;
}

void lode_bpf_loading_begin(void)
{
	refusal[0] = '\0';
	pthread_mutex_lock(&printing_lock);
	if (!quiet_count++)
		printed_before = libbpf_set_print(handle_message);
	pthread_mutex_unlock(&printing_lock);
}

void lode_bpf_loading_end(void)
{
	pthread_mutex_lock(&printing_lock);
	if (!--quiet_count)
		libbpf_set_print(printed_before);
	pthread_mutex_unlock(&printing_lock);
}

int lode_bpf_loading_fail(unsigned needs, int number, struct lode_error *error)
{
	struct utsname system;

	if (!refusal[0] || number == EMFILE) /* the verifier may have been content */
		return lode_permissions_fail(needs, number, error);
	return lode_fail(error, LODE_SYSTEM,
			 "the verifier of Linux %s rejects Lode's BPF program %s: %s; please report this as a bug "
			 "of Lode, with "
			 "this line. Until it is fixed, use 'perf record' and 'lode import'",
			 uname(&system) < 0 ? "?" : system.release, refused_program, refusal);
}
