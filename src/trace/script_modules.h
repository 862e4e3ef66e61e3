/*
 * Modules of languages that run in another program: scripts, and what runs them, by their names.
 */
#ifndef LODE_TRACE_SCRIPT_MODULES_H
#define LODE_TRACE_SCRIPT_MODULES_H

/* Whether a module is a file of a script or of Java: `server.py`, `handler.js`, `Server.java`. */
int lode_module_is_script(const char *name);
/* Whether a path is that of a package, which came with the language or was installed, and not of the program. */
int lode_path_is_package(const char *path);
/* Whether a module is the binary that runs scripts: of CPython, Node.js or the Java virtual machine. */
int lode_module_runs_scripts(const char *name);
/* Whether a program or thread of this name runs scripts: `python3.11`, `node`, `java`, `sh`. */
int lode_program_runs_scripts(const char *name);

#endif
