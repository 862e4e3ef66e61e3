/* The corpus at a moment: see corpus_version.h. */
#include "serve/corpus_version.h"

#include "base/memory.h"
#include "store/corpus.h"

#include <string.h>

int lode_corpus_files_init(struct lode_corpus_files *files, const char *corpus)
{
	files->catalogue = lode_format("%s/catalogue.sqlite", corpus);
	files->signatures = lode_format("%s/" LODE_SIGNATURES_FILE, corpus);
	return files->catalogue && files->signatures ? 0 : -1;
}

void lode_corpus_files_release(struct lode_corpus_files *files)
{
	lode_free(files->catalogue);
	lode_free(files->signatures);
	*files = (struct lode_corpus_files){ NULL, NULL };
}

static void add_file(struct lode_file_version *version, const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return;
	version->time = status.st_mtim;
	version->size = status.st_size;
	version->inode = status.st_ino;
}

struct lode_corpus_version lode_corpus_version(const struct lode_corpus_files *files)
{
	struct lode_corpus_version version;

	memset(&version, 0, sizeof(version)); /* what lies between the fields, too */
	add_file(&version.catalogue, files->catalogue);
	add_file(&version.signatures, files->signatures);
	return version;
}
