/* Names of the devices that file systems are on. */
#ifndef LODE_PROCESS_DEVICE_NAMES_H
#define LODE_PROCESS_DEVICE_NAMES_H

#include <stdint.h>

#define LODE_DEVICES     64
#define LODE_DEVICE_NAME 64

/* A zeroed struct knows none; it holds nothing to release. */
struct lode_device_names {
	struct lode_device {
		uint32_t number;
		int is_known;
		char name[LODE_DEVICE_NAME];
	} items[LODE_DEVICES]; /* direct-mapped */
	struct lode_device only;
};

/*
 * Where the file system with this device number keeps its files: a disk (`vda1`), a server (`nas:/home`) or what serves
 * it (`fuse.sshfs`); "" where it is none of these, such as memory, or not known. The number is as the kernel has it,
 * major << 20 | minor. Valid until the next call.
 */
const char *lode_device_name(struct lode_device_names *names, uint32_t number);
/*
 * The only disk of this machine that was ever read or written, so that who waits for a disk waits for it; "" if there are
 * several. A disk that others are made of (RAID, LVM) counts as these. Looked up once.
 */
const char *lode_only_disk(struct lode_device_names *names);

#endif
