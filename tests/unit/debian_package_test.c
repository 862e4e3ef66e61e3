/* Packages of files, by lists as dpkg writes them. */
#include "cmocka_all.h"

#include "base/memory.h"
#include "symbols/debian_package.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/lode-packages-XXXXXX";

static void add_list(const char *name, const char *lines)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(lines, file);
	fclose(file);
}

static void require_package(const char *path, const char *expected)
{
	char *package = lode_debian_package(folder, path);

	if (expected)
		assert_string_equal(package, expected);
	else
		assert_null(package);
	lode_free(package);
}

static void a_file_belongs_to_the_package_that_lists_it(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	add_list("server.list", "/.\n/usr\n/usr/sbin\n/usr/sbin/serverd\n/usr/sbin/serverd-safe\n");
	add_list("libold1:arm64.list", "/lib/libold.so.1\n/lib/last");
	add_list("empty.list", "");
	add_list("server.md5sums", "/usr/sbin/other\n");
	require_package("/usr/sbin/serverd", "server");
	require_package("/usr/sbin/server", NULL);   /* others begin so */
	require_package("/sbin/serverd", NULL);      /* others end so */
	require_package("/usr/sbin/other", NULL);    /* is in no list of files */
	require_package("/usr/lib/last", "libold1"); /* without the end of its line, where it was before */
	require_package("/lib/libold.so.1", "libold1");
	require_package("sbin", NULL);
	require_package("", NULL);
	for (int i = 0; i < 4; i++) {
		static const char *const names[] = { "server.list", "libold1:arm64.list", "empty.list",
						     "server.md5sums" };
		char path[128];

		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
	require_package("/usr/sbin/serverd", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_belongs_to_the_package_that_lists_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
