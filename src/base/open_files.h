/* How many files this process may have open. Recorders need several for each CPU; shells and systemd allow 1024 unless asked. */
#ifndef LODE_BASE_OPEN_FILES_H
#define LODE_BASE_OPEN_FILES_H

/* As many as are allowed without privileges. */
void lode_open_files_raise(void);
/* As many as before, for a command that is started: some programs do not work with more than select() can wait for. */
void lode_open_files_restore(void);

#endif
