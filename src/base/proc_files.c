/* Files of /proc: see proc_files.h. */
#include "base/proc_files.h"

#include "base/memory.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int lode_proc_text(char *text, size_t room, const char *format, ...)
{
	char path[PATH_MAX];
	va_list arguments;
	ssize_t size;
	int fd;

	va_start(arguments, format);
	vsnprintf(path, sizeof(path), format, arguments);
	va_end(arguments);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	size = fd < 0 ? -1 : read(fd, text, room - 1);
	if (fd >= 0)
		close(fd);
	text[size > 0 ? size : 0] = '\0';
	return size < 0 ? -1 : 0;
}

char *lode_proc_root_path(uint32_t pid, const char *path, size_t length)
{
	return lode_format("/proc/%u/root%.*s", pid, (int)length, path);
}

uint64_t lode_proc_field(const char *text, const char *word, int base, uint64_t otherwise)
{
	const char *at = strstr(text, word);

	return at ? strtoull(at + strlen(word), NULL, base) : otherwise;
}

/* A hexadecimal number, up to what must end it. Returns what comes behind that, or NULL. */
static char *parse_hex(char *at, char end, uint64_t *number)
{
	char *behind;

	if (!at || !isxdigit((unsigned char)*at))
		return NULL;
	*number = strtoull(at, &behind, 16);
	return *behind == end ? behind + 1 : NULL;
}

/*
 * `start-end rwxp offset device inode   path`. A machine has hundreds of thousands of
 * these lines, which is why they are not read by sscanf: it takes three times as long.
 */
int lode_proc_mapping_parse(char *line, struct lode_proc_mapping *mapping)
{
	char *at = parse_hex(line, '-', &mapping->start);
	uint64_t major, minor;
	size_t length;

	at = parse_hex(at, ' ', &mapping->end);
	length = at ? strcspn(at, " ") : 0;
	if (!length || length >= sizeof(mapping->rights) || at[length] != ' ')
		return 0;
	memcpy(mapping->rights, at, length);
	mapping->rights[length] = '\0';
	at = parse_hex(at + length + 1, ' ', &mapping->offset);
	at = parse_hex(at, ':', &major);
	at = parse_hex(at, ' ', &minor);
	if (!at)
		return 0;
	mapping->major = (uint32_t)major;
	mapping->minor = (uint32_t)minor;
	mapping->inode = strtoull(at, &at, 10);
	at += strspn(at, " ");
	at[strcspn(at, "\n")] = '\0';
	mapping->path = at;
	return 1;
}

int lode_proc_mappings(uint32_t pid, int (*visit)(void *context, const struct lode_proc_mapping *mapping),
		       void *context)
{
	struct lode_proc_mapping mapping;
	char path[32] = "/proc/self/maps", *line = NULL;
	size_t capacity = 0;
	int code = 0;
	FILE *file;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	file = fopen(path, "re"); /* from the kernel */
	while (file && !code && getline(&line, &capacity, file) > 0)
		if (lode_proc_mapping_parse(line, &mapping))
			code = visit(context, &mapping);
	free(line); /* from getline */
	if (file)
		fclose(file);
	return code;
}

int lode_proc_numbers(const char *folder, int (*visit)(void *context, uint32_t number), void *context)
{
	DIR *opened = opendir(folder);
	struct dirent *entry;
	int code = opened ? 0 : 1;

	while (!code && (entry = readdir(opened)))
		if (isdigit((unsigned char)entry->d_name[0]))
			code = visit(context, (uint32_t)strtoul(entry->d_name, NULL, 10));
	if (opened)
		closedir(opened);
	return code;
}

int lode_proc_threads(uint32_t pid, int (*visit)(void *context, uint32_t tid), void *context)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	return lode_proc_numbers(path, visit, context);
}
