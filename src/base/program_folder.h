/* Where the running program is: modules are looked for from there. */
#ifndef LODE_BASE_PROGRAM_FOLDER_H
#define LODE_BASE_PROGRAM_FOLDER_H

/* The folder of the program's file, for the caller to free; NULL where it is not known, or memory has run out. */
char *lode_program_folder(void);

#endif
