/* Libraries that are loaded on demand. */
#include "cmocka_all.h"

#include "base/shared_library.h"

#include <math.h>
#include <string.h>

#define FILE_OF_MATH "libm.so.6"

static void a_function_is_found_and_can_be_called(void **state)
{
	__typeof__(cbrt) *root = NULL;
	const struct lode_library_function functions[] = { { "cbrt", &root }, { NULL, NULL } };

	(void)state;
	for (int i = 0; i < 2; i++) {
		root = NULL;
		assert_int_equal(lode_library_load(FILE_OF_MATH, functions, NULL), 0);
		assert_true(fabs(root(27) - 3) < 1e-12);
	}
	assert_non_null(lode_library_find(FILE_OF_MATH, "cbrt"));
	assert_null(lode_library_find(FILE_OF_MATH, "no_such_root"));
	assert_null(lode_library_find("libnowhere.so.1", "cbrt"));
}

static void what_is_missing_is_named(void **state)
{
	void *address = NULL;
	const struct lode_library_function functions[] = { { "no_such_root", &address }, { NULL, NULL } };
	struct lode_error error;

	(void)state;
	assert_int_equal(lode_library_load("libnowhere.so.1", functions, &error), LODE_SYSTEM);
	assert_true(strncmp(error.text, "libnowhere.so.1 cannot be loaded (", 34) == 0);
	assert_int_equal(lode_library_load(FILE_OF_MATH, functions, &error), LODE_SYSTEM);
	assert_non_null(strstr(error.text, "no_such_root"));
	assert_int_equal(lode_library_load("libnowhere.so.1", functions, NULL), LODE_SYSTEM);
	assert_null(address);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_is_found_and_can_be_called),
		cmocka_unit_test(what_is_missing_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
