/*
 * Names of devices: see device_names.h.
 *
 * /sys/dev/block has those that are disks. File systems that are on none, or on several (btrfs), have a number of their
 * own, which /proc/self/mountinfo knows with what was mounted.
 */
#include "process/device_names.h"

#include "base/starts_with.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void put(struct lode_device *device, const char *name)
{
	snprintf(device->name, sizeof(device->name), "%.*s", LODE_DEVICE_NAME - 1, name);
}

static int find_disk(struct lode_device *device, unsigned number, unsigned part)
{
	char place[48], link[PATH_MAX];
	ssize_t length;

	snprintf(place, sizeof(place), "/sys/dev/block/%u:%u", number, part);
	length = readlink(place, link, sizeof(link) - 1);
	if (length <= 0)
		return 0;
	link[length] = '\0';
	put(device, base_name(link));
	return 1;
}

/* An overlay, as containers have it, is where the folder is that it writes to. */
static void find_upper(struct lode_device *device, char *options)
{
	char *rest = NULL;

	for (char *option = strtok_r(options, ",\n", &rest); option; option = strtok_r(NULL, ",\n", &rest)) {
		struct stat status;

		if (lode_starts_with(option, "upperdir=") && !stat(option + strlen("upperdir="), &status))
			find_disk(device, major(status.st_dev), minor(status.st_dev));
	}
}

/* `… major:minor root place options [fields] - type source options`. */
static int find_in_line(struct lode_device *device, unsigned number, unsigned part, char *line)
{
	unsigned own_major, own_minor;
	char *behind = strstr(line, " - "), *type, *source, *rest = NULL;

	if (!behind || sscanf(line, "%*u %*u %u:%u", &own_major, &own_minor) != 2 || own_major != number ||
	    own_minor != part)
		return 0;
	type = strtok_r(behind + 3, " ", &rest);
	source = strtok_r(NULL, " \n", &rest);
	if (!type || !source)
		return 0;
	if (!strcmp(type, "overlay"))
		find_upper(device, rest);
	else if (lode_starts_with(type, "fuse"))
		put(device, type);
	else if (lode_starts_with(source, "/dev/"))
		put(device, base_name(source));
	else if (lode_starts_with(source, "//") || strstr(source, ":/"))
		put(device, source);
	return 1;
}

static void find_mount(struct lode_device *device, unsigned number, unsigned part)
{
	FILE *file = fopen("/proc/self/mountinfo", "re"); /* from the kernel */
	char *line = NULL;
	size_t capacity = 0;

	while (file && getline(&line, &capacity, file) > 0)
		if (find_in_line(device, number, part, line))
			break;
	free(line); /* from getline */
	if (file)
		fclose(file);
}

const char *lode_device_name(struct lode_device_names *names, uint32_t number)
{
	struct lode_device *device = &names->items[(number ^ number >> 20) % LODE_DEVICES];

	if (device->is_known && device->number == number)
		return device->name;
	*device = (struct lode_device){ .number = number, .is_known = 1 };
	if (!find_disk(device, number >> 20, number & 0xfffff))
		find_mount(device, number >> 20, number & 0xfffff);
	return device->name;
}

/* ---- the only disk ---- */

/* Whether numbers `first` and `second`, from 0, of a file of /sys/block are not both 0. */
static int is_more_than_nothing(const char *disk, const char *file, int first, int second)
{
	char path[PATH_MAX];
	unsigned long long number, sum = 0;
	FILE *opened;

	snprintf(path, sizeof(path), "/sys/block/%s/%s", disk, file);
	opened = fopen(path, "re"); /* from the kernel */
	for (int i = 0; opened && i <= second && fscanf(opened, "%llu", &number) == 1; i++)
		sum |= i == first || i == second ? number : 0;
	if (opened)
		fclose(opened);
	return sum != 0;
}

/* Whether other disks are made of it. */
static int has_holders(const char *disk)
{
	char path[PATH_MAX];
	struct dirent *entry;
	int found = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/sys/block/%s/holders", disk);
	folder = opendir(path);
	while (folder && (entry = readdir(folder)))
		found |= entry->d_name[0] != '.';
	if (folder)
		closedir(folder);
	return found;
}

/* Whether it has a medium, and reads or writes were completed. */
static int was_used(const char *disk)
{
	return is_more_than_nothing(disk, "size", 0, 0) && is_more_than_nothing(disk, "stat", 0, 4) &&
	       !has_holders(disk);
}

const char *lode_only_disk(struct lode_device_names *names)
{
	struct lode_device *only = &names->only;
	struct dirent *entry;
	DIR *folder = only->is_known ? NULL : opendir("/sys/block");
	int count = 0;

	while (folder && (entry = readdir(folder))) {
		if (entry->d_name[0] == '.' || !was_used(entry->d_name))
			continue;
		put(only, entry->d_name);
		count++;
	}
	if (folder)
		closedir(folder);
	if (!only->is_known && count != 1)
		only->name[0] = '\0';
	only->is_known = 1;
	return only->name;
}
