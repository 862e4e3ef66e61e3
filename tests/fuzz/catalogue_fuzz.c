/* The catalogue: an SQLite file of a stranger's is listed, checked, asked, and written to. */
#include "fuzz.h"

#include "mine/signatures.h"
#include "store/corpus.h"
#include "store/corpus_check.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ID "0123456789abcdef0123456789abcdef"

static void write_catalogue(const char *corpus, const uint8_t *bytes, size_t size)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "%s/catalogue.sqlite-journal", corpus);
	unlink(path);
	snprintf(path, sizeof(path), "%s/catalogue.sqlite-wal", corpus);
	unlink(path);
	snprintf(path, sizeof(path), "%s/catalogue.sqlite-shm", corpus);
	unlink(path);
	snprintf(path, sizeof(path), "%s/signatures.txt", corpus);
	unlink(path);
	snprintf(path, sizeof(path), "%s/catalogue.sqlite", corpus);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	fuzz_require(fd >= 0 && write(fd, bytes, size) == (ssize_t)size, "there is room for a file");
	close(fd);
}

static void list(struct lode_corpus *corpus)
{
	struct lode_corpus_list streams;
	struct lode_error error = { "" };
	int code = lode_corpus_streams(corpus, &streams, &error);

	fuzz_require_sentence(code, &error);
	if (code < 0)
		return;
	for (size_t i = 0; i < streams.count; i++)
		fuzz_require(strlen(streams.items[i].id) == 32 && streams.items[i].name && streams.items[i].host &&
				     streams.items[i].source && streams.items[i].path &&
				     !strstr(streams.items[i].path + strlen(fuzz_folder()) + 1, ".."),
			     "an entry is complete and stays in its folder");
	lode_corpus_list_release(&streams);
}

/* Signatures are made anew from the catalogue, because their text file is gone. */
static void read_signatures(struct lode_corpus *corpus)
{
	struct lode_signatures signatures;
	struct lode_error error = { "" };
	int code = lode_signatures_load(corpus, &signatures, &error);

	fuzz_require_sentence(code, &error);
	if (code == 0)
		fuzz_require_sentence(lode_signatures_refresh(corpus, &signatures, 1, NULL, &error), &error);
	lode_signatures_release(&signatures);
}

static void add(struct lode_corpus *corpus)
{
	struct lode_dictionary dictionary;
	struct lode_error error = { "" };
	struct lode_stream stream;
	char path[96];

	fuzz_require(lode_dictionary_init(&dictionary) == 0, "memory");
	lode_stream_init(&stream, &dictionary);
	lode_stream_set_attribute(&stream, "version", "1", LODE_ATTRIBUTE_NUMBER);
	fuzz_require_sentence(lode_corpus_add(corpus, ID, "fuzz", &stream, 1, 1, &error), &error);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	snprintf(path, sizeof(path), "%s/streams/%s.lode", fuzz_folder(), ID);
	unlink(path);
	snprintf(path, sizeof(path), "%s/streams/%s.2.lode", fuzz_folder(), ID);
	unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const char *folder = fuzz_folder();
	struct lode_corpus_check_result result;
	struct lode_corpus *corpus;
	struct lode_error error = { "" };
	int code;

	write_catalogue(folder, bytes, size);
	code = lode_corpus_open(&corpus, folder, LODE_CORPUS_READ, &error);
	fuzz_require_sentence(code, &error);
	if (code == 0) {
		fuzz_require_sentence(lode_corpus_has(corpus, ID, &error), &error);
		list(corpus);
		read_signatures(corpus);
		lode_corpus_close(corpus);
	}
	fuzz_require_sentence(lode_corpus_check(folder, 0, &result, NULL, NULL, &error), &error);
	if (code < 0)
		return 0;
	code = lode_corpus_open(&corpus, folder, LODE_CORPUS_CREATE, &error);
	fuzz_require_sentence(code, &error);
	if (code == 0) {
		add(corpus);
		list(corpus);
		read_signatures(corpus);
		lode_corpus_close(corpus);
	}
	return 0;
}
