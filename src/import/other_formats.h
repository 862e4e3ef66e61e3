/*
 * Formats that people try to import and that have no importer. They are
 * recognized by their first bytes, so that the message names them instead of
 * complaining about a line of another format. A format that gets an importer is
 * removed here.
 */
#ifndef LODE_IMPORT_OTHER_FORMATS_H
#define LODE_IMPORT_OTHER_FORMATS_H

#include <stddef.h>

/*
 * What the file is, with what to import instead: "is a ZIP archive; ...". `bytes` is the
 * start of the input, `size` what there is of it. NULL when it is none of them.
 */
const char *lode_other_format(const unsigned char *bytes, size_t size);

#endif
