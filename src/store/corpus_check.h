/*
 * The checker of a corpus: every byte of every stream file, the catalogue, and
 * whether the two agree.
 */
#ifndef LODE_STORE_CORPUS_CHECK_H
#define LODE_STORE_CORPUS_CHECK_H

#include "base/progress.h"
#include "store/corpus.h"

struct lode_corpus_check_result {
	uint64_t streams_good;
	uint64_t streams_bad;           /* damaged, and still so */
	uint64_t streams_repaired;      /* damaged; their whole blocks were salvaged */
	uint64_t rows_without_file;     /* the catalogue names a stream whose file is gone */
	uint64_t rows_wrong;            /* the catalogue says something else of a stream than its file */
	uint64_t files_without_row;     /* a stream file that the catalogue does not know */
	uint64_t recordings;            /* cut off; with repair, what was written of them became streams */
	uint64_t leftovers;             /* temporary files of imports that were cut off */
	int catalogue_bad;              /* missing, damaged, or not Lode's */
	struct lode_fsck_result blocks; /* summed over all streams; footer_bad if any */
};

/*
 * Checks the corpus at `path`, and with `repair` puts right what can be: damaged
 * streams are salvaged (the original stays as ID.lode.damaged), files without a
 * row get one, rows without a file and leftovers go, wrong rows and a bad catalogue
 * are rebuilt from the stream files. Details go to `notes`. Returns 0 when it
 * could look everywhere, regardless of what it found. Others may use the corpus meanwhile.
 */
int lode_corpus_check(const char *path, int repair, struct lode_corpus_check_result *result,
		      struct lode_notes *notes, const struct lode_progress *progress, struct lode_error *error);

#endif
