/*
 * Modules of languages that run in another program: scripts, and what runs them, by their names.
 */
#ifndef LODE_TRACE_SCRIPT_MODULES_H
#define LODE_TRACE_SCRIPT_MODULES_H

#include <stddef.h>

/* The language of a module's functions. The numbers are part of the format of stream files. */
enum lode_code_language {
	LODE_CODE_NATIVE, /* machine code, or not known */
	LODE_CODE_PYTHON,
	LODE_CODE_JAVASCRIPT,
	LODE_CODE_JAVA, /* and others of its virtual machine */
	LODE_CODE_PHP,
	LODE_CODE_LANGUAGES,
};

/* "native", "python", "javascript", "java", "php". */
const char *lode_code_language_name(enum lode_code_language language);
/* The language with this name; LODE_CODE_LANGUAGES: there is none. */
enum lode_code_language lode_code_language_find(const char *name);
/* What a module's name suggests: `server.py`, `node:fs`. */
enum lode_code_language lode_code_language_guess(const char *module, size_t length);

/* Whether a module is a file of a script or of Java: `server.py`, `handler.js`, `Server.java`. */
int lode_module_is_script(const char *name);
/* Whether a path is that of a package, which came with the language or was installed, and not of the program. */
int lode_path_is_package(const char *path);
/* Whether a module is PHP: `php8.2`, `php-fpm`, `libphp.so`. */
int lode_module_is_php(const char *name);
/* Whether a module is the binary that runs scripts: of CPython, Node.js, PHP or the Java virtual machine. */
int lode_module_runs_scripts(const char *name);
/* Whether a program or thread of this name runs scripts: `python3.11`, `node`, `java`, `sh`. */
int lode_program_runs_scripts(const char *name);

#endif
