/*
 * What the fuzz targets share: bytes as a file, a sink that drops streams, and
 * the check that every failure comes with a sentence.
 *
 * A target is one file with one LLVMFuzzerTestOneInput. libFuzzer calls it when
 * the project is set up with -Dfuzzing=true; otherwise replay.c does, with the
 * files of tests/fuzz/corpus/TARGET/.
 */
#ifndef LODE_TESTS_FUZZ_H
#define LODE_TESTS_FUZZ_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct lode_importer;
struct lode_stream;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Ends the program when the condition does not hold: a property of the code is broken. */
void fuzz_require(int holds, const char *what);
/* A result must be 0 or more, or a known code with a sentence. */
void fuzz_require_sentence(int code, const struct lode_error *error);

/* A file that holds the bytes, in memory where the system can; a path to open it by. */
struct fuzz_file {
	int fd;
	char path[32];
};

void fuzz_file_make(struct fuzz_file *file, const void *bytes, size_t size);
void fuzz_file_remove(struct fuzz_file *file);

/* A folder of this process in memory, made at the first call; removed at the end of the program. */
const char *fuzz_folder(void);

/*
 * Feeds the bytes to an importer and drops the streams; they are checked to be
 * sorted and whole, and to be the same with two jobs. With `symbols`, addresses are looked up in whatever binaries
 * the bytes name; their tables are cached in the fuzz folder.
 */
void fuzz_import(const struct lode_importer *importer, int symbols, const uint8_t *bytes, size_t size);
/* Ends the program when an id of the stream has no meaning or its events are out of order. */
void fuzz_check_stream(const struct lode_stream *stream);

#endif
