/* Where a server listens: sockets that only their owner may use, and no file of others is touched. */
#include "cmocka_all.h"
#include "temporary.h"

#include "serve/listener.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

struct place {
	char folder[64];
	char path[96];
	struct lode_error error;
};

static int make_place(void **state)
{
	static struct place place;

	*state = &place;
	if (temporary_folder(place.folder, sizeof(place.folder)) < 0)
		return -1;
	snprintf(place.path, sizeof(place.path), "%s/socket", place.folder);
	return 0;
}

static int remove_place(void **state)
{
	return temporary_remove(((struct place *)*state)->folder);
}

static int can_connect(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), code;

	memcpy(address.sun_path, path, strlen(path));
	code = connect(fd, (struct sockaddr *)&address, sizeof(address));
	close(fd);
	return code == 0;
}

static void a_socket_is_for_its_owner_alone(void **state)
{
	struct place *place = *state;
	struct lode_listener listener;
	mode_t mask = umask(0);
	struct stat status;

	assert_int_equal(lode_listener_open_path(&listener, place->path, &place->error), 0);
	umask(mask);
	assert_int_equal(stat(place->path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_true(can_connect(place->path));
	lode_listener_close(&listener);
	assert_int_equal(access(place->path, F_OK), -1);
}

static void a_socket_that_was_left_behind_is_replaced(void **state)
{
	struct place *place = *state;
	struct lode_listener first, second;

	assert_int_equal(lode_listener_open_path(&first, place->path, &place->error), 0);
	/* While somebody listens it is not. */
	assert_int_equal(lode_listener_open_path(&second, place->path, &place->error), LODE_SYSTEM);
	assert_non_null(strstr(place->error.text, "in use"));
	lode_listener_close(&second);
	assert_true(can_connect(place->path));
	close(first.fd); /* as one that was killed */
	first.fd = -1;
	assert_int_equal(lode_listener_open_path(&second, place->path, &place->error), 0);
	lode_listener_close(&first); /* which leaves the file of the second alone */
	assert_true(can_connect(place->path));
	lode_listener_close(&second);
}

static void other_files_stay(void **state)
{
	struct place *place = *state;
	struct lode_listener listener;
	char target[128];
	FILE *file = fopen(place->path, "w");

	fclose(file);
	assert_int_equal(lode_listener_open_path(&listener, place->path, &place->error), LODE_SYSTEM);
	lode_listener_close(&listener);
	assert_int_equal(access(place->path, F_OK), 0);
	unlink(place->path);
	snprintf(target, sizeof(target), "%s/elsewhere", place->folder);
	assert_int_equal(symlink(target, place->path), 0);
	assert_int_equal(lode_listener_open_path(&listener, place->path, &place->error), LODE_SYSTEM);
	lode_listener_close(&listener);
	assert_int_equal(access(target, F_OK), -1);
	unlink(place->path);
}

static void paths_that_are_too_long_are_refused(void **state)
{
	struct place *place = *state;
	struct lode_listener listener;
	char path[256];

	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(lode_listener_open_path(&listener, path, &place->error), LODE_USAGE);
	lode_listener_close(&listener);
}

static void a_port_that_is_taken_is_reported(void **state)
{
	struct place *place = *state;
	struct lode_listener first, second;

	assert_int_equal(lode_listener_open_port(&first, 0, &place->error), 0);
	assert_true(first.port > 0);
	assert_int_equal(lode_listener_open_port(&second, first.port, &place->error), LODE_SYSTEM);
	assert_non_null(strstr(place->error.text, "--port"));
	lode_listener_close(&first);
	lode_listener_close(&second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_socket_is_for_its_owner_alone),
		cmocka_unit_test(a_socket_that_was_left_behind_is_replaced),
		cmocka_unit_test(other_files_stay),
		cmocka_unit_test(paths_that_are_too_long_are_refused),
		cmocka_unit_test(a_port_that_is_taken_is_reported),
	};

	return cmocka_run_group_tests(tests, make_place, remove_place);
}
