/*
 * Errors as values. A function of liblode that can fail returns 0 or more when it did what it was asked, or one of the
 * negative codes below and, where the caller gave it a struct liblode_error, a sentence that says what
 * is wrong, where, and what to do. liblode never prints, never ends the program, installs no signal
 * handlers and changes neither locale nor environment.
 */
#ifndef LIBLODE_ERROR_H
#define LIBLODE_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define LIBLODE_API __attribute__((visibility("default")))
#else
#define LIBLODE_API
#endif

enum liblode_code {
	LIBLODE_OK = 0,
	LIBLODE_FOUND = 1,  /* done; something was found where an option (`--exit-code`, a bound) asks for it */
	LIBLODE_UNSURE = 2, /* done; a gate's rules are neither surely kept nor surely broken */
	LIBLODE_USAGE = -2, /* a wrong option or argument */
	LIBLODE_BAD_INPUT = -3, /* a file is missing, damaged or of an unknown kind */
	LIBLODE_SYSTEM = -4,    /* input or output, memory, privileges */
	LIBLODE_STOPPED = -5,   /* the progress function asked to stop */
};

struct liblode_error {
	char message[1024]; /* UTF-8 without control characters; "" when nothing went wrong */
};

/* The version of these headers, to compare with #if: LIBLODE_VERSION >= LIBLODE_VERSION_OF(0, 2, 0). */
#define LIBLODE_VERSION_OF(major, minor, patch) ((major)*10000 + (minor)*100 + (patch))
#define LIBLODE_VERSION                         LIBLODE_VERSION_OF(0, 1, 0)

/* The version of the library that runs, such as "0.1.0"; and as a number like LIBLODE_VERSION. */
LIBLODE_API const char *liblode_version(void);
LIBLODE_API int liblode_version_number(void);

#ifdef __cplusplus
}
#endif
#endif
