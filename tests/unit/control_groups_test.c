/* Control groups of processes: what paths say, and which process a stream has in which group. */
#include "cmocka_all.h"

#include "base/memory.h"
#include "scope/where.h"
#include "trace/control_groups.h"

#include <stdio.h>
#include <string.h>

#define ID  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID "0a1b2c3d-1111-2222-3333-444455556666"

static void paths_say_unit_container_and_pod(void **state)
{
	static const struct {
		const char *path, *unit, *container, *pod;
	} cases[] = {
		{ "/", "", "", "" },
		{ NULL, "", "", "" },
		{ "/system.slice/redis.service", "redis.service", "", "" },
		{ "/user.slice/user-1000.slice/session-2.scope", "session-2.scope", "", "" },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/app-x.service", "app-x.service", "", "" },
		{ "/user.slice/user@1000.service/app.slice/app-y.scope", "user@1000.service", "", "" },
		{ "/system.slice/docker-" ID ".scope", "", ID, "" },
		{ "/docker/" ID, "", ID, "" },
		{ "/system.slice/containerd.service/"
		  "kubepods-burstable-pod0a1b2c3d_1111_2222_3333_444455556666.slice:"
		  "cri-containerd:" ID,
		  "containerd.service", ID, "" },
		{ "/kubepods.slice/kubepods-burstable.slice/"
		  "kubepods-burstable-pod0a1b2c3d_1111_2222_3333_444455556666.slice/cri-containerd-" ID ".scope",
		  "", ID, UID },
		{ "/kubepods/besteffort/pod" UID "/" ID, "", ID, UID },
		{ "/machine.slice/libpod-" ID ".scope/container", "", ID, "" },
		{ "/lxc.payload.web/system.slice/nginx.service", "nginx.service", "web", "" },
		{ "/podium/cafe.service", "cafe.service", "", "" },
		{ "/docker/0123abcd", "", "", "" },
	};
	char name[LODE_GROUP_NAME];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(lode_group_part(cases[i].path, LODE_GROUP_UNIT, name), cases[i].unit[0] != 0);
		assert_string_equal(name, cases[i].unit);
		assert_int_equal(lode_group_part(cases[i].path, LODE_GROUP_CONTAINER, name),
				 cases[i].container[0] != 0);
		assert_string_equal(name, cases[i].container);
		lode_group_part(cases[i].path, LODE_GROUP_POD, name);
		assert_string_equal(name, cases[i].pod);
	}
}

static void filters_choose_groups(void **state)
{
	static const struct {
		const char *where, *path;
		int fits;
	} cases[] = {
		{ "unit=redis", "/system.slice/redis.service", 1 },
		{ "unit=redis.service", "/system.slice/redis.service", 1 },
		{ "unit=red*", "/system.slice/redis.service", 1 },
		{ "unit=redi", "/system.slice/redis.service", 0 },
		{ "unit=*", NULL, 0 },
		{ "container=0123456789ab", "/docker/" ID, 1 },
		{ "container=123456789ab", "/docker/" ID, 0 },
		{ "pod=0a1b*", "/kubepods/besteffort/pod" UID "/" ID, 1 },
		{ "cgroup=/docker/*", "/docker/" ID, 1 },
		{ "cgroup=*", NULL, 0 },
		{ "host=*", NULL, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *where[] = { cases[i].where, NULL };

		assert_int_equal(lode_where_group_fits(where, cases[i].path), cases[i].fits);
		assert_int_equal(lode_where_has_groups(where), i + 1 < sizeof(cases) / sizeof(cases[0]));
	}
}

static void attributes_have_the_groups_of_threads(void **state)
{
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	const char **paths;

	(void)state;
	assert_int_equal(lode_dictionary_init(&dictionary), 0);
	lode_stream_init(&stream, &dictionary);
	for (uint32_t pid = 10; pid < 20; pid++)
		assert_int_not_equal(lode_stream_thread(&stream, pid, pid), LODE_NONE);
	assert_int_equal(lode_stream_set_text(&stream, "cgroup /a", "10 12-14 99"), 0);
	assert_int_equal(lode_stream_set_text(&stream, "cgroup /b", "16 5-1 18-99999999999 17"), 0);
	assert_int_equal(lode_stream_set_text(&stream, "cgroups", "11"), 0);
	paths = lode_stream_groups(&stream);
	assert_non_null(paths);
	for (uint32_t i = 0; i < 10; i++) {
		static const char expected[] = "a.aaa.bb..";

		if (expected[i] == '.')
			assert_null(paths[i]);
		else
			assert_int_equal(paths[i][1], expected[i]);
	}
	lode_free(paths);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_say_unit_container_and_pod),
		cmocka_unit_test(filters_choose_groups),
		cmocka_unit_test(attributes_have_the_groups_of_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
