/* Names with numbers: see numbered_names.h. */
#include "trace/numbered_names.h"

#include "trace/gpu_threads.h"

#include <string.h>

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

size_t lode_name_without_number(const char *name, size_t length)
{
	size_t end = length;

	while (end > 1 && is_digit(name[end - 1]))
		end--;
	if ((end == 1 && is_digit(name[0])) || (end == 3 && length > end && lode_process_is_gpu(name)))
		return length;
	return end;
}

int lode_names_are_alike(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t end = lode_name_without_number(a, a_length);

	return end == lode_name_without_number(b, b_length) && (end == a_length) == (end == b_length) &&
	       !memcmp(a, b, end);
}
