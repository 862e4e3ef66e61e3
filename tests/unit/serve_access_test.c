/* Who may ask a server: only those who name it as their host, come from no other site, and know its token. */
#include "cmocka_all.h"
#include "temporary.h"

#include "serve/access.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOKEN "0123456789abcdef0123456789abcdef"
#define HOST  "127.0.0.1:7070"

static int set_up(void **state)
{
	static struct lode_access access;

	lode_access_init(&access);
	lode_access_set_port(&access, 7070);
	*state = &access;
	return lode_access_set_token(&access, TOKEN, NULL);
}

static int tear_down(void **state)
{
	lode_access_release(*state);
	return 0;
}

static enum lode_access_verdict verdict_of_host(struct lode_access *access, const char *host)
{
	return lode_access_check(access,
				 &(struct lode_access_request){ .host = host, .authorization = "Bearer " TOKEN });
}

static void only_this_machine_and_port_are_a_host(void **state)
{
	static const char *const right[] = { "127.0.0.1:7070", "localhost:7070", "[::1]:7070" };
	static const char *const wrong[] = {
		"",
		"127.0.0.1",
		"localhost",
		"localhost:",
		"localhost:70700",
		"localhost:7071",
		"localhost:7070.example.org",
		"localhost.example.org:7070",
		"127.0.0.10:7070",
		"127.0.0.1.example.org:7070",
		"example.org:7070",
		"[::1]:7070x",
		"::1:7070",
		"user@127.0.0.1:7070",
		"0.0.0.0:7070",
	};

	for (size_t i = 0; i < sizeof(right) / sizeof(*right); i++)
		assert_int_equal(verdict_of_host(*state, right[i]), LODE_ACCESS_GRANTED);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(verdict_of_host(*state, wrong[i]), LODE_ACCESS_OTHER_HOST);
	assert_int_equal(verdict_of_host(*state, NULL), LODE_ACCESS_OTHER_HOST);
}

static enum lode_access_verdict verdict_of_site(struct lode_access *access, const char *site, const char *origin)
{
	return lode_access_check(access, &(struct lode_access_request){ .host = HOST,
									.fetch_site = site,
									.origin = origin,
									.authorization = "Bearer " TOKEN });
}

static void pages_of_other_sites_are_refused(void **state)
{
	static const char *const sites[] = { "cross-site", "same-site", "", "anything" };
	static const char *const origins[] = {
		"null",
		"http://example.org",
		"https://" HOST,
		"http://127.0.0.1:8080",
		"http://127.0.0.1",
		"http://" HOST "/",
		"http://localhost:7070",
		"",
	};

	assert_int_equal(verdict_of_site(*state, "same-origin", "http://" HOST), LODE_ACCESS_GRANTED);
	assert_int_equal(verdict_of_site(*state, "none", NULL), LODE_ACCESS_GRANTED);
	for (size_t i = 0; i < sizeof(sites) / sizeof(*sites); i++)
		assert_int_equal(verdict_of_site(*state, sites[i], NULL), LODE_ACCESS_OTHER_SITE);
	for (size_t i = 0; i < sizeof(origins) / sizeof(*origins); i++)
		assert_int_equal(verdict_of_site(*state, NULL, origins[i]), LODE_ACCESS_OTHER_SITE);
}

static void a_token_is_needed(void **state)
{
	struct lode_access *access = *state;
	const struct lode_access_request wrong[] = {
		{ .host = HOST },
		{ .host = HOST, .authorization = "" },
		{ .host = HOST, .authorization = "Bearer" },
		{ .host = HOST, .authorization = "Bearer " },
		{ .host = HOST, .authorization = "Basic " TOKEN },
		{ .host = HOST, .authorization = "Bearer " TOKEN "0" },
		{ .host = HOST, .authorization = "Bearer 0123456789abcdef0123456789abcdee" },
		{ .host = HOST, .session = "" },
		{ .host = HOST, .session = TOKEN },
		{ .host = HOST, .token = "" },
		{ .host = HOST, .token = access->session },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(lode_access_check(access, &wrong[i]), LODE_ACCESS_NO_TOKEN);
	assert_int_equal(lode_access_check(access, &(struct lode_access_request){ .host = HOST, .token = TOKEN }),
			 LODE_ACCESS_FIRST_VISIT);
	assert_int_equal(lode_access_check(access, &(struct lode_access_request){ .host = HOST,
										  .session = access->session }),
			 LODE_ACCESS_GRANTED);
	assert_string_equal(access->cookie, "lode-7070");
}

static void write_tokens(const char *path, const char *rights)
{
	char digest[LODE_SHA256_TEXT];
	FILE *file = fopen(path, "w");

	lode_sha256("secret", 6, digest);
	assert_non_null(file);
	if (*rights)
		fprintf(file, "ann sha256:%s %s\n", digest, rights);
	fprintf(file, "else sha256:%064d upload\n", 1);
	fclose(file);
	chmod(path, 0600);
}

/* The cookie of a browser is good as long as the token that it was given for. */
static void a_cookie_is_good_as_long_as_its_token(void **state)
{
	struct lode_access *access = *state;
	char folder[64], path[96], cookie[LODE_COOKIE_TEXT], wrong[LODE_COOKIE_TEXT];
	struct lode_access_request first = { .host = HOST, .token = "secret" }, later = { .host = HOST };

	assert_int_equal(temporary_folder(folder, sizeof(folder)), 0);
	snprintf(path, sizeof(path), "%s/tokens", folder);
	write_tokens(path, "read");
	assert_int_equal(lode_tokens_read(&access->tokens, path, NULL), 0);
	assert_int_equal(lode_access_check(access, &first), LODE_ACCESS_FIRST_VISIT);
	lode_access_cookie(access, &first, cookie);
	later.session = cookie;
	assert_int_equal(lode_access_check(access, &later), LODE_ACCESS_GRANTED);
	later.session = wrong;
	for (size_t i = 0; i < strlen(cookie); i += 9) {
		snprintf(wrong, sizeof(wrong), "%s", cookie);
		wrong[i] = wrong[i] == '0' ? '1' : '0';
		assert_int_equal(lode_access_check(access, &later), LODE_ACCESS_NO_TOKEN);
	}
	later.session = cookie;
	/* The file is looked at once a second. */
	write_tokens(path, "");
	for (int i = 0; i < 50 && lode_access_check(access, &later) == LODE_ACCESS_GRANTED; i++)
		usleep(100000);
	assert_int_equal(lode_access_check(access, &later), LODE_ACCESS_NO_TOKEN);
	/* The owner's is another. */
	first.token = TOKEN;
	lode_access_cookie(access, &first, cookie);
	assert_string_equal(cookie, access->session);
	lode_tokens_free(access->tokens);
	access->tokens = NULL;
	temporary_remove(folder);
}

static void a_token_for_one_visit_is_good_once(void **state)
{
	struct lode_access *access = *state;
	char once[64], before[64];
	struct lode_access_request request = { .host = HOST, .token = once };

	snprintf(before, sizeof(before), "%s", lode_access_make_once(access));
	snprintf(once, sizeof(once), "%s", lode_access_make_once(access));
	assert_string_not_equal(once, before);
	assert_string_not_equal(once, TOKEN);
	request.token = before;
	assert_int_equal(lode_access_check(access, &request), LODE_ACCESS_NO_TOKEN);
	request.token = once;
	assert_int_equal(lode_access_check(access, &request), LODE_ACCESS_FIRST_VISIT);
	assert_int_equal(lode_access_check(access, &request), LODE_ACCESS_NO_TOKEN);
	lode_access_make_once(access);
	snprintf(once, sizeof(once), "%s", access->once);
	access->once_until = 1;
	assert_int_equal(lode_access_check(access, &request), LODE_ACCESS_NO_TOKEN);
}

static void a_socket_needs_no_token_but_a_host(void **state)
{
	struct lode_access access;
	static const struct {
		const char *host, *site;
		enum lode_access_verdict verdict;
	} cases[] = {
		{ "localhost", NULL, LODE_ACCESS_GRANTED },
		{ "localhost:8080", "same-origin", LODE_ACCESS_GRANTED },
		{ "localhost:", NULL, LODE_ACCESS_OTHER_HOST },
		{ "localhost:80x", NULL, LODE_ACCESS_OTHER_HOST },
		{ "example.org", NULL, LODE_ACCESS_OTHER_HOST },
		{ "localhost:8080", "cross-site", LODE_ACCESS_OTHER_SITE },
	};

	(void)state;
	lode_access_init(&access);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(lode_access_check(&access,
						   &(struct lode_access_request){ .host = cases[i].host,
										  .fetch_site = cases[i].site }),
				 cases[i].verdict);
	lode_access_release(&access);
}

static void tokens_are_random(void **state)
{
	struct lode_access one, other;

	(void)state;
	lode_access_init(&one);
	lode_access_init(&other);
	assert_int_equal(lode_access_set_token(&one, NULL, NULL), 0);
	assert_int_equal(lode_access_set_token(&other, NULL, NULL), 0);
	assert_int_equal(strlen(one.token), 32);
	assert_int_equal(strspn(one.token, "0123456789abcdef"), 32);
	assert_string_not_equal(one.token, other.token);
	assert_string_not_equal(one.session, one.token);
	lode_access_release(&one);
	lode_access_release(&other);
}

/* ---- tokens in files ---- */

static int read_back(const char *path, const char *text, mode_t mode, char token[LODE_MAX_TOKEN + 1],
		     struct lode_error *error)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	return lode_token_file_read(path, token, error);
}

static void a_token_file_is_private_and_holds_one_token(void **state)
{
	char folder[64], path[96], token[LODE_MAX_TOKEN + 1], longest[LODE_MAX_TOKEN + 2];
	struct lode_error error = { "" };

	(void)state;
	assert_int_equal(temporary_folder(folder, sizeof(folder)), 0);
	snprintf(path, sizeof(path), "%s/token", folder);
	assert_int_equal(read_back(path, TOKEN "\n", 0600, token, &error), 0);
	assert_string_equal(token, TOKEN);
	assert_int_equal(read_back(path, TOKEN "\r\nmore\n", 0400, token, &error), 0);
	assert_string_equal(token, TOKEN);
	unlink(path);
	assert_int_equal(read_back(path, TOKEN "\n", 0640, token, &error), LODE_USAGE);
	assert_non_null(strstr(error.text, "chmod 600"));
	assert_int_equal(read_back(path, TOKEN "\n", 0604, token, &error), LODE_USAGE);
	assert_int_equal(read_back(path, "", 0600, token, &error), LODE_USAGE);
	assert_int_equal(read_back(path, "tooshort\n", 0600, token, &error), LODE_USAGE);
	assert_non_null(strstr(error.text, "openssl rand"));
	assert_int_equal(read_back(path, TOKEN " and more\n", 0600, token, &error), LODE_USAGE);
	memset(longest, 'x', sizeof(longest) - 1);
	longest[LODE_MAX_TOKEN + 1] = '\0';
	assert_int_equal(read_back(path, longest, 0600, token, &error), LODE_USAGE);
	assert_int_equal(read_back(path, longest + 1, 0600, token, &error), 0);
	assert_string_equal(token, longest + 1);
	assert_int_equal(lode_token_file_read(folder, token, &error), LODE_USAGE);
	unlink(path);
	assert_int_equal(lode_token_file_read(path, token, &error), LODE_SYSTEM);
	assert_int_equal(mkfifo(path, 0600), 0); /* nobody ever writes there */
	assert_int_equal(lode_token_file_read(path, token, &error), LODE_USAGE);
	temporary_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_this_machine_and_port_are_a_host),
		cmocka_unit_test(pages_of_other_sites_are_refused),
		cmocka_unit_test(a_token_is_needed),
		cmocka_unit_test(a_cookie_is_good_as_long_as_its_token),
		cmocka_unit_test(a_token_for_one_visit_is_good_once),
		cmocka_unit_test(a_socket_needs_no_token_but_a_host),
		cmocka_unit_test(tokens_are_random),
		cmocka_unit_test(a_token_file_is_private_and_holds_one_token),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
