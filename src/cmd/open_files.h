/* The limit of open files (RLIMIT_NOFILE). Recorders need several for each CPU; the soft limit is usually 1024, the hard one far higher. */
#ifndef LODE_CMD_OPEN_FILES_H
#define LODE_CMD_OPEN_FILES_H

/* Raises the soft limit to the hard one. */
void lode_open_files_raise(void);
/* Back to the old limit, in a child that runs a command: programs that use select() may fail with a higher one. */
void lode_open_files_restore(void);

#endif
