/* Files where others may have put something else, and whose files are when Lode is called through sudo. */
#include "cmocka_all.h"
#include "temporary.h"

#include "base/file.h"
#include "base/file_owner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A user and a group that need not exist. */
#define USER  4321
#define GROUP 4322

struct fixture {
	char folder[64];
	char path[128];
	char other[128];
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	if (!fixture || temporary_folder(fixture->folder, sizeof(fixture->folder)) < 0)
		return -1;
	snprintf(fixture->path, sizeof(fixture->path), "%s/file", fixture->folder);
	snprintf(fixture->other, sizeof(fixture->other), "%s/other", fixture->folder);
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	temporary_remove(fixture->folder);
	free(fixture);
	return 0;
}

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static uid_t owner_of(const char *path)
{
	struct stat status;

	assert_int_equal(lstat(path, &status), 0);
	return status.st_uid;
}

static void a_file_is_created_only_where_there_is_none(void **state)
{
	struct fixture *fixture = *state;
	struct lode_error error;
	struct stat status;

	put(fixture->other, "precious");
	assert_int_equal(symlink(fixture->other, fixture->path), 0);
	assert_int_equal(lode_file_open(fixture->path, O_WRONLY | O_CREAT | O_TRUNC, 0666, &error), LODE_SYSTEM);
	assert_int_equal(errno, EEXIST);
	assert_int_equal(lode_file_open(fixture->other, O_WRONLY | O_CREAT | O_TRUNC, 0666, &error), LODE_SYSTEM);
	assert_int_equal(stat(fixture->other, &status), 0);
	assert_int_equal(status.st_size, strlen("precious"));
	/* A link that leads nowhere does not make a file there, either. */
	assert_int_equal(unlink(fixture->other), 0);
	assert_int_equal(lode_file_open(fixture->path, O_WRONLY | O_CREAT, 0666, &error), LODE_SYSTEM);
	assert_int_equal(access(fixture->other, F_OK), -1);
}

static void a_pipe_in_place_of_a_plain_file_is_refused_at_once(void **state)
{
	struct fixture *fixture = *state;
	struct lode_error error;

	assert_int_equal(mkfifo(fixture->path, 0600), 0);
	alarm(60); /* opening it would wait for a writer */
	assert_int_equal(lode_file_open_plain(fixture->path, O_RDONLY, &error), LODE_BAD_INPUT);
	alarm(0);
	assert_non_null(strstr(error.text, "is not a plain file"));
	assert_int_equal(lode_file_open_plain(fixture->folder, O_RDONLY, &error), LODE_BAD_INPUT);
}

static void a_link_is_followed_only_where_it_may_be(void **state)
{
	struct fixture *fixture = *state;
	struct lode_error error;
	int fd;

	put(fixture->other, "content");
	assert_int_equal(symlink(fixture->other, fixture->path), 0);
	fd = lode_file_open_plain(fixture->path, O_RDONLY, &error);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(lode_file_open_plain(fixture->path, O_RDONLY | O_NOFOLLOW, &error), LODE_BAD_INPUT);
	assert_non_null(strstr(error.text, "is a link, which is not followed here"));
}

static void create(const char *path)
{
	struct lode_error error = { "" };
	int fd = lode_file_open(path, O_WRONLY | O_CREAT, 0600, &error);

	assert_string_equal(error.text, "");
	close(fd);
	lode_file_keep(path);
}

static void through_sudo_new_files_belong_to_the_user(void **state)
{
	struct fixture *fixture = *state;
	struct stat status;

	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(fixture->folder, USER, GROUP), 0);
	setenv("SUDO_UID", "4321", 1);
	setenv("SUDO_GID", "4322", 1);
	create(fixture->path);
	assert_int_equal(lode_file_make_folder(fixture->other, 0700, NULL), 0);
	assert_int_equal(owner_of(fixture->path), USER);
	assert_int_equal(owner_of(fixture->other), USER);
	assert_int_equal(stat(fixture->other, &status), 0);
	assert_int_equal(status.st_gid, GROUP);
	assert_int_equal(status.st_mode & 0777, 0700);
}

static void in_a_folder_of_root_they_stay_roots(void **state)
{
	struct fixture *fixture = *state;

	if (geteuid() != 0)
		skip();
	setenv("SUDO_UID", "4321", 1);
	create(fixture->path);
	assert_int_equal(owner_of(fixture->path), 0);
	assert_int_equal(unlink(fixture->path), 0);
	/* As /tmp is. */
	assert_int_equal(chmod(fixture->folder, 01777), 0);
	create(fixture->path);
	assert_int_equal(owner_of(fixture->path), USER);
	/* An existing folder is left alone. */
	assert_int_equal(mkdir(fixture->other, 0700), 0);
	assert_int_equal(lode_file_make_folder(fixture->other, 0700, NULL), 0);
	assert_int_equal(owner_of(fixture->other), 0);
}

static void a_link_or_a_full_folder_is_not_given_away(void **state)
{
	struct fixture *fixture = *state;
	char inside[160], link[160];

	if (geteuid() != 0)
		skip();
	snprintf(inside, sizeof(inside), "%s/secret", fixture->other);
	snprintf(link, sizeof(link), "%s/link", fixture->folder);
	assert_int_equal(mkdir(fixture->other, 0700), 0);
	assert_int_equal(symlink(fixture->other, link), 0);
	assert_int_equal(chown(fixture->folder, USER, GROUP), 0);
	setenv("SUDO_UID", "4321", 1);
	lode_file_give_folder_to_user(link);
	assert_int_equal(owner_of(fixture->other), 0);
	put(inside, "secret");
	lode_file_give_folder_to_user(fixture->other);
	assert_int_equal(owner_of(fixture->other), 0);
	assert_int_equal(unlink(inside), 0);
	lode_file_give_folder_to_user(fixture->other);
	assert_int_equal(owner_of(fixture->other), USER);
}

static void only_numbers_of_users_count(void **state)
{
	static const char *const wrong[] = { "", "0", "-1", "12x", " 5", "4294967295", "99999999999999999999999" };
	uid_t user;
	gid_t group;

	(void)state;
	if (geteuid() != 0)
		skip();
	unsetenv("SUDO_UID");
	assert_false(lode_sudo_user(&user, &group));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		setenv("SUDO_UID", wrong[i], 1);
		assert_false(lode_sudo_user(&user, &group));
	}
	setenv("SUDO_UID", "1000", 1);
	assert_true(lode_sudo_user(&user, &group));
	assert_int_equal(user, 1000);
	assert_true(lode_owner_is_trusted(0) && lode_owner_is_trusted(1000));
	assert_false(lode_owner_is_trusted(1001));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_is_created_only_where_there_is_none),
		TEST(a_pipe_in_place_of_a_plain_file_is_refused_at_once),
		TEST(a_link_is_followed_only_where_it_may_be),
		TEST(through_sudo_new_files_belong_to_the_user),
		TEST(in_a_folder_of_root_they_stay_roots),
		TEST(a_link_or_a_full_folder_is_not_given_away),
		TEST(only_numbers_of_users_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
