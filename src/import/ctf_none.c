/* A build without libbabeltrace2: see ctf.h. */
#include "import/ctf.h"

int lode_ctf_read(const char *folder, const struct lode_ctf_taker *taker, struct lode_error *error)
{
	(void)taker;
	return lode_fail(error, LODE_BAD_INPUT,
			 "%s: is a CTF trace, and this lode was built without libbabeltrace2, which reads it; install "
			 "libbabeltrace2-dev and build lode again",
			 folder);
}
