/*
 * SQLite on a machine that fails: see failing_sqlite.h.
 *
 * A file of ours is SQLite's sqlite3_file with the system's own file behind it in
 * the same piece of memory. Only what writes or opens can be made to fail; locks
 * and reads pass through.
 */
#include "failing_sqlite.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

struct failing_file {
	sqlite3_file base;
	sqlite3_file *real; /* directly behind this struct */
};

static struct {
	uint64_t asked;
	uint64_t nth;
	int for_good;
	enum failing_sqlite_kind kind;
} plan;

static sqlite3_vfs *system_vfs;
static sqlite3_vfs failing_vfs;
static sqlite3_mem_methods system_memory;

static int fails(enum failing_sqlite_kind kind)
{
	if (kind != plan.kind)
		return 0;
	plan.asked++;
	return plan.nth && (plan.asked == plan.nth || (plan.asked > plan.nth && plan.for_good));
}

static sqlite3_file *real_of(sqlite3_file *file)
{
	return ((struct failing_file *)file)->real;
}

/* ---- files ---- */

static int close_file(sqlite3_file *file)
{
	return real_of(file)->pMethods ? real_of(file)->pMethods->xClose(real_of(file)) : SQLITE_OK;
}

static int read_file(sqlite3_file *file, void *bytes, int size, sqlite3_int64 at)
{
	return real_of(file)->pMethods->xRead(real_of(file), bytes, size, at);
}

static int write_file(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 at)
{
	sqlite3_file *real = real_of(file);

	if (fails(FAILING_SQLITE_IO)) {
		real->pMethods->xWrite(real, bytes, size / 2, at); /* torn */
		return SQLITE_IOERR_WRITE;
	}
	if (fails(FAILING_SQLITE_FULL))
		return SQLITE_FULL;
	return real->pMethods->xWrite(real, bytes, size, at);
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size)
{
	return fails(FAILING_SQLITE_IO) ? SQLITE_IOERR_TRUNCATE
					: real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int sync_file(sqlite3_file *file, int flags)
{
	return fails(FAILING_SQLITE_IO) ? SQLITE_IOERR_FSYNC : real_of(file)->pMethods->xSync(real_of(file), flags);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
	return real_of(file)->pMethods->xFileSize(real_of(file), size);
}

static int lock_file(sqlite3_file *file, int level)
{
	return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int unlock_file(sqlite3_file *file, int level)
{
	return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int check_reserved(sqlite3_file *file, int *result)
{
	return real_of(file)->pMethods->xCheckReservedLock(real_of(file), result);
}

static int control_file(sqlite3_file *file, int operation, void *argument)
{
	return real_of(file)->pMethods->xFileControl(real_of(file), operation, argument);
}

static int sector_size(sqlite3_file *file)
{
	return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int device_traits(sqlite3_file *file)
{
	return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = close_file,
	.xRead = read_file,
	.xWrite = write_file,
	.xTruncate = truncate_file,
	.xSync = sync_file,
	.xFileSize = file_size,
	.xLock = lock_file,
	.xUnlock = unlock_file,
	.xCheckReservedLock = check_reserved,
	.xFileControl = control_file,
	.xSectorSize = sector_size,
	.xDeviceCharacteristics = device_traits,
};

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *flags_out)
{
	struct failing_file *ours = (struct failing_file *)file;
	int code;

	(void)vfs;
	ours->base.pMethods = NULL;
	ours->real = (sqlite3_file *)(ours + 1);
	ours->real->pMethods = NULL;
	if (fails(FAILING_SQLITE_IO))
		return SQLITE_CANTOPEN;
	code = system_vfs->xOpen(system_vfs, name, ours->real, flags, flags_out);
	if (ours->real->pMethods)
		ours->base.pMethods = &methods;
	return code;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs;
	return fails(FAILING_SQLITE_IO) ? SQLITE_IOERR_DELETE : system_vfs->xDelete(system_vfs, name, sync);
}

/* ---- memory ---- */

static void *take_memory(int size)
{
	return fails(FAILING_SQLITE_MEMORY) ? NULL : system_memory.xMalloc(size);
}

static void *grow_memory(void *memory, int size)
{
	return fails(FAILING_SQLITE_MEMORY) ? NULL : system_memory.xRealloc(memory, size);
}

/* ---- putting it in place ---- */

__attribute__((constructor)) static void put_in_place(void)
{
	sqlite3_mem_methods memory;

	sqlite3_config(SQLITE_CONFIG_GETMALLOC, &system_memory);
	memory = system_memory;
	memory.xMalloc = take_memory;
	memory.xRealloc = grow_memory;
	sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
	sqlite3_config(SQLITE_CONFIG_MALLOC, &memory);
	sqlite3_initialize();
	system_vfs = sqlite3_vfs_find(NULL);
	failing_vfs = *system_vfs;
	failing_vfs.zName = "failing";
	failing_vfs.szOsFile = (int)sizeof(struct failing_file) + system_vfs->szOsFile;
	failing_vfs.xOpen = open_file;
	failing_vfs.xDelete = delete_file;
	sqlite3_vfs_register(&failing_vfs, 1);
}

void failing_sqlite_arm(uint64_t nth, int for_good, int kind)
{
	plan.nth = 0;
	plan.kind = (enum failing_sqlite_kind)kind;
	plan.for_good = for_good;
	plan.asked = 0;
	plan.nth = nth;
}

uint64_t failing_sqlite_asked(void)
{
	return plan.asked;
}
