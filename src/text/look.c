/* How text may look: see look.h. */
#include "text/look.h"

const char *lode_style(const struct lode_look *look, enum lode_style style)
{
	static const char *const sequences[] = {
		[LODE_PLAIN] = "\033[0m", [LODE_BOLD] = "\033[1m",    [LODE_DIM] = "\033[2m",
		[LODE_RED] = "\033[31m",  [LODE_YELLOW] = "\033[33m", [LODE_GREEN] = "\033[32m",
		[LODE_BLUE] = "\033[34m",
	};

	return look->colour ? sequences[style] : "";
}
