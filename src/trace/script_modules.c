/* Modules of scripts: see script_modules.h. */
#include "trace/script_modules.h"

#include "base/ends_with.h"
#include "base/starts_with.h"

#include <string.h>

const char *lode_code_language_name(enum lode_code_language language)
{
	static const char *const names[LODE_CODE_LANGUAGES] = { "native", "python", "javascript", "java", "php" };

	return names[language];
}

enum lode_code_language lode_code_language_find(const char *name)
{
	int language = 0;

	while (language < LODE_CODE_LANGUAGES &&
	       strcmp(lode_code_language_name((enum lode_code_language)language), name) != 0)
		language++;
	return (enum lode_code_language)language;
}

enum lode_code_language lode_code_language_guess(const char *module, size_t length)
{
	static const struct {
		const char *end;
		enum lode_code_language language;
	} ends[] = {
		{ ".py", LODE_CODE_PYTHON },      { ".js", LODE_CODE_JAVASCRIPT },
		{ ".mjs", LODE_CODE_JAVASCRIPT }, { ".cjs", LODE_CODE_JAVASCRIPT },
		{ ".ts", LODE_CODE_JAVASCRIPT },  { ".mts", LODE_CODE_JAVASCRIPT },
		{ ".cts", LODE_CODE_JAVASCRIPT }, { ".jsx", LODE_CODE_JAVASCRIPT },
		{ ".tsx", LODE_CODE_JAVASCRIPT }, { ".java", LODE_CODE_JAVA },
		{ ".scala", LODE_CODE_JAVA },     { ".kt", LODE_CODE_JAVA },
		{ ".php", LODE_CODE_PHP },        { ".phtml", LODE_CODE_PHP },
	};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (lode_bytes_end_with(module, length, ends[i].end))
			return ends[i].language;
	/* <frozen importlib._bootstrap>, which comes with CPython */
	if (lode_bytes_start_with(module, length, "{frozen "))
		return LODE_CODE_PYTHON;
	if (lode_bytes_start_with(module, length, "php:"))
		return LODE_CODE_PHP;
	return lode_bytes_start_with(module, length, "node:") ? LODE_CODE_JAVASCRIPT : LODE_CODE_NATIVE;
}

int lode_module_is_script(const char *name)
{
	static const char *const ends[] = { ".py",  ".js", ".mjs", ".cjs", ".ts",    ".java",
					    ".php", ".rb", ".pl",  ".lua", ".scala", ".kt" };

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (lode_ends_with(name, ends[i]))
			return 1;
	return 0;
}

/* The paths of Java classes are those of their packages. */
static int is_jdk(const char *path)
{
	static const char *const starts[] = { "java/", "javax/", "jdk/", "sun/", "com/sun/" };

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (lode_starts_with(path, starts[i]))
			return 1;
	return 0;
}

int lode_path_is_package(const char *path)
{
	/* Composer puts what it installs there; binaries may be there, too. */
	if (strstr(path, "/vendor/") && lode_ends_with(path, ".php"))
		return 1;
	return is_jdk(path) || lode_starts_with(path, "<frozen ") || lode_starts_with(path, "node:") ||
	       lode_starts_with(path, "php:") || lode_starts_with(path, "/usr/share/php/") ||
	       strstr(path, "/site-packages/") || strstr(path, "/dist-packages/") ||
	       strstr(path, "/node_modules/") || strstr(path, "/lib/python3");
}

int lode_module_is_php(const char *name)
{
	static const char *const starts[] = { "php-fpm", "php-cgi", "libphp", "php" };

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		const char *version = name + strlen(starts[i]);

		if (!lode_starts_with(name, starts[i]))
			continue;
		version += strspn(version, "0123456789.");
		return !*version || !strcmp(version, "so");
	}
	return 0;
}

int lode_module_runs_scripts(const char *name)
{
	static const char *const starts[] = { "python3",   "libpython3", "node",     "libnode.so",
					      "libjvm.so", "php8",       "php-fpm8", "libphp8" };

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (lode_starts_with(name, starts[i]))
			return !lode_module_is_script(name);
	return lode_module_is_php(name);
}

int lode_program_runs_scripts(const char *name)
{
	static const char *const names[] = { "python", "node", "java", "perl", "ruby", "php", "sh", "bash", "dash" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t length = strlen(names[i]);

		/* With a version or without: python3.11, php8.2-fpm. */
		if (!strncmp(name, names[i], length) &&
		    strspn(name + length, "0123456789.") == strlen(name + length))
			return 1;
	}
	return 0;
}
