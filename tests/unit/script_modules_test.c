/* Which modules are scripts, packages, and what runs them. */
#include "cmocka_all.h"

#include "trace/script_modules.h"

#include <string.h>

static void scripts_are_known_by_their_ends(void **state)
{
	(void)state;
	assert_true(lode_module_is_script("server.py"));
	assert_true(lode_module_is_script("Server.java"));
	assert_false(lode_module_is_script("libpython3.11.so.1.0"));
	assert_false(lode_module_is_script("py"));
}

static void packages_are_known_by_their_folders(void **state)
{
	(void)state;
	assert_true(lode_path_is_package("/usr/lib/python3.11/queue.py"));
	assert_true(lode_path_is_package("/srv/venv/lib/python3.13/site-packages/flask/app.py"));
	assert_true(lode_path_is_package("java/lang/Thread.java"));
	assert_true(lode_path_is_package("<frozen runpy>"));
	assert_false(lode_path_is_package("/srv/shop/java/lang.py"));
	assert_false(lode_path_is_package("com/example/Server.java"));
}

static void what_runs_scripts_is_no_script(void **state)
{
	(void)state;
	assert_true(lode_module_runs_scripts("python3.11"));
	assert_true(lode_module_runs_scripts("libjvm.so"));
	assert_false(lode_module_runs_scripts("node_client.js"));
	assert_false(lode_module_runs_scripts("libc.so.6"));
	assert_true(lode_program_runs_scripts("python3.11"));
	assert_true(lode_program_runs_scripts("sh"));
	assert_false(lode_program_runs_scripts("shop"));
	assert_false(lode_program_runs_scripts("javac"));
}

static void languages_are_suggested_by_names(void **state)
{
	static const struct {
		const char *module;
		enum lode_code_language language;
	} cases[] = {
		{ "server.py", LODE_CODE_PYTHON },       { "{frozen importlib._bootstrap}", LODE_CODE_PYTHON },
		{ "handler.mjs", LODE_CODE_JAVASCRIPT }, { "node:internal/timers", LODE_CODE_JAVASCRIPT },
		{ "Server.java", LODE_CODE_JAVA },       { "index.php", LODE_CODE_PHP },
		{ "php:standard", LODE_CODE_PHP },       { "php8.2", LODE_CODE_NATIVE },
		{ "gunicorn", LODE_CODE_NATIVE },        { "python3.11", LODE_CODE_NATIVE },
		{ "libjvm.so", LODE_CODE_NATIVE },       { "", LODE_CODE_NATIVE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(lode_code_language_guess(cases[i].module, strlen(cases[i].module)),
				 cases[i].language);
	for (int i = 0; i < LODE_CODE_LANGUAGES; i++)
		assert_int_equal(lode_code_language_find(lode_code_language_name((enum lode_code_language)i)), i);
	assert_int_equal(lode_code_language_find("cobol"), LODE_CODE_LANGUAGES);
}

static void php_is_known_by_its_names(void **state)
{
	static const char *const are[] = { "php",        "php8.2",    "php-fpm",     "php-fpm8.4",
					   "php-cgi8.2", "libphp.so", "libphp8.2.so" };
	static const char *const are_not[] = { "index.php",        "php.php",      "phpunit",
					       "php-fpm-exporter", "libphpapi.so", "" };

	(void)state;
	for (size_t i = 0; i < sizeof(are) / sizeof(*are); i++)
		assert_true(lode_module_is_php(are[i]) && lode_module_runs_scripts(are[i]));
	for (size_t i = 0; i < sizeof(are_not) / sizeof(*are_not); i++)
		assert_false(lode_module_is_php(are_not[i]));
	assert_true(lode_path_is_package("/srv/shop/vendor/twig/Template.php"));
	assert_false(lode_path_is_package("/vendor/bin/app"));
	assert_true(lode_path_is_package("php:standard"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(php_is_known_by_its_names),
		cmocka_unit_test(scripts_are_known_by_their_ends),
		cmocka_unit_test(packages_are_known_by_their_folders),
		cmocka_unit_test(what_runs_scripts_is_no_script),
		cmocka_unit_test(languages_are_suggested_by_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
