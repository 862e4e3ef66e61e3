/*
 * Checks a corpus or a stream file, and repairs it; see fsck_report.h. The checking itself is in
 * store/corpus_check.h and store/store.h; a single stream file is treated like a corpus of one.
 */
#include "base/file.h"
#include "base/memory.h"
#include "mine/signatures.h"
#include "result/fsck_report.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a stream file by itself ---- */

/* The salvaged file takes the place of the damaged one, which keeps its bytes under another name. */
static int exchange(const char *path, const char *salvaged, struct lode_error *error)
{
	char *damaged = lode_format("%s.damaged", path);
	int code;

	if (!damaged)
		return lode_fail_memory(error);
	if (link(path, damaged) < 0)
		code = lode_fail(error, LODE_SYSTEM, "%s: cannot be created: %s; move the existing file away",
				 damaged, strerror(errno));
	else
		code = lode_file_rename(salvaged, path, error);
	lode_free(damaged);
	return code;
}

static int repair_file(struct lode_fsck_finding *finding, struct lode_error *error)
{
	char *salvaged = lode_format("%s.salvaged-%d", finding->path, (int)getpid());
	struct lode_fsck_result blocks;
	int code;

	if (!salvaged)
		return lode_fail_memory(error);
	code = lode_store_salvage(finding->path, salvaged, &blocks, NULL, error);
	if (!code)
		code = exchange(finding->path, salvaged, error);
	if (code < 0)
		lode_file_remove(salvaged, NULL);
	lode_free(salvaged);
	return code;
}

static int is_damaged(const struct lode_fsck_result *blocks)
{
	return blocks->blocks_bad || blocks->bytes_bad || blocks->footer_bad;
}

static int check_file(struct lode_fsck_finding *finding, int repair, struct lode_error *error)
{
	struct lode_corpus_check_result *result = &finding->result;
	int code = lode_store_check(finding->path, &result->blocks, &finding->notes, error);

	if (code < 0)
		return code;
	if (!is_damaged(&result->blocks)) {
		result->streams_good = 1;
		return 0;
	}
	if (!repair) {
		result->streams_bad = 1;
		return 0;
	}
	code = repair_file(finding, error);
	result->streams_bad = code < 0;
	result->streams_repaired = code == 0;
	return code;
}

/* ---- signatures ---- */

/* A catalogue that was rebuilt takes its signatures from the text file, when they are first needed. */
static int take_signatures(const char *path, struct lode_error *error)
{
	struct lode_signatures signatures = { 0 };
	struct lode_corpus *corpus;
	int code = lode_corpus_open(&corpus, path, LODE_CORPUS_WRITE, error);

	if (code < 0)
		return code;
	code = lode_signatures_load(corpus, &signatures, error);
	lode_signatures_release(&signatures);
	lode_corpus_close(corpus);
	return code;
}

static int check_signatures(struct lode_fsck_finding *finding, int repair, struct lode_error *error)
{
	int code = lode_signatures_check(finding->path, error);

	if (code == LODE_BAD_INPUT) {
		finding->signatures_bad = 1;
		lode_notes_add(&finding->notes, 1, "files of signatures that cannot be read; correct them by hand",
			       error->text);
		return 0;
	}
	return !code && repair ? take_signatures(finding->path, error) : code;
}

/* ---- any path ---- */

int lode_fsck_check(struct lode_fsck_finding *finding, const char *path, int repair,
		    const struct lode_progress *progress, struct lode_error *error)
{
	struct stat status;
	int code;

	*finding = (struct lode_fsck_finding){ .path = path };
	lode_notes_init(&finding->notes);
	if (stat(finding->path, &status) < 0)
		return lode_fail(error, errno == ENOENT || errno == ENOTDIR ? LODE_BAD_INPUT : LODE_SYSTEM,
				 "%s: cannot be checked: %s; name a corpus or a .lode file", finding->path,
				 strerror(errno));
	finding->is_corpus = S_ISDIR(status.st_mode);
	if (!finding->is_corpus)
		return check_file(finding, repair, error);
	code = lode_corpus_check(finding->path, repair, &finding->result, &finding->notes, progress, error);
	return code ? code : check_signatures(finding, repair, error);
}
