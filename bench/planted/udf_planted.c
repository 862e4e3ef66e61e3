/*
 * A plug-in of MariaDB with its own function, word_count(TEXT); planted: count_words
 * burns processor time.
 */
#include "planted.h"

#include <mysql.h>

#include <string.h>

my_bool word_count_init(UDF_INIT *init, UDF_ARGS *arguments, char *message);
long long word_count(UDF_INIT *init, UDF_ARGS *arguments, char *is_null, char *error);

my_bool word_count_init(UDF_INIT *init, UDF_ARGS *arguments, char *message)
{
	init->maybe_null = 0;
	if (arguments->arg_count == 1 && arguments->arg_type[0] == STRING_RESULT)
		return 0;
	strcpy(message, "word_count takes a text");
	return 1;
}

static PLANTED_FRAME long long count_words(const char *text, unsigned long length)
{
	long long words = 0;

	planted_burn(1500000);
	for (unsigned long i = 0; i < length; i++)
		words += text[i] != ' ' && (!i || text[i - 1] == ' ');
	return words;
}

long long word_count(UDF_INIT *init, UDF_ARGS *arguments, char *is_null, char *error)
{
	long long words = arguments->args[0] ? count_words(arguments->args[0], arguments->lengths[0]) : 0;

	(void)init;
	(void)is_null;
	(void)error;
	return words;
}
