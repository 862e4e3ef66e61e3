/* Symptom markers: see symptom_markers.h. */
#include "import/symptom_markers.h"

#include <fnmatch.h>
#include <stdio.h>

int lode_symptom_marker(const struct lode_import_options *options, const char *name)
{
	const char *const *pattern = options->symptom_markers;

	for (; pattern && *pattern; pattern++)
		if (fnmatch(*pattern, name, 0) == 0)
			return 1;
	return 0;
}

void lode_symptom_markers_note(const struct lode_import_options *options, uint64_t count, const char *what)
{
	char text[200];

	if (options->symptom_markers)
		return;
	snprintf(text, sizeof(text),
		 "%s, left out; --symptom-markers NAME turns those with that name into symptoms", what);
	lode_notes_add(options->notes, count, text, NULL);
}
