/* Tokens by digest, with rights and expiry; SHA-256 by its published examples. */
#include "cmocka_all.h"
#include "temporary.h"

#include "base/sha256.h"
#include "serve/tokens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void digests_are_those_of_the_standard(void **state)
{
	char digest[LODE_SHA256_TEXT], *many = malloc(1000000);

	(void)state;
	lode_sha256("", 0, digest);
	assert_string_equal(digest, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	lode_sha256("abc", 3, digest);
	assert_string_equal(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	lode_sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, digest);
	assert_string_equal(digest, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	memset(many, 'a', 1000000);
	lode_sha256(many, 1000000, digest);
	assert_string_equal(digest, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	free(many);
}

struct fixture {
	char folder[64];
	char path[96];
	struct lode_tokens *tokens;
	struct lode_error error;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	if (temporary_folder(fixture->folder, sizeof(fixture->folder)) < 0)
		return -1;
	snprintf(fixture->path, sizeof(fixture->path), "%s/tokens", fixture->folder);
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	lode_tokens_free(fixture->tokens);
	temporary_remove(fixture->folder);
	free(fixture);
	return 0;
}

static void write_file(const struct fixture *fixture, const char *text)
{
	FILE *file;

	file = fopen(fixture->path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	chmod(fixture->path, 0640);
}

/* Of "one", "two" and "three". */
#define ONE   "sha256:7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"
#define TWO   "sha256:3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3"
#define THREE "sha256:8b5b9db0c13db24256c829aa364aa90c6d2eba318b9232a4ab9313b954d3555f"

static int find(struct fixture *fixture, const char *token, time_t now, struct lode_grant *grant)
{
	char digest[LODE_SHA256_TEXT];

	lode_sha256(token, strlen(token), digest);
	return lode_tokens_find(fixture->tokens, digest, now, grant);
}

static void a_token_has_rights_until_it_expires(void **state)
{
	struct fixture *fixture = *state;
	struct lode_grant grant;

	write_file(fixture,
		   "# who\n\nweb7 " ONE " upload\r\nann " TWO "\tread,upload 2027-01-31\nroot " THREE " admin");
	assert_int_equal(lode_tokens_read(&fixture->tokens, fixture->path, &fixture->error), 0);
	assert_int_equal(find(fixture, "one", 1000, &grant), 1);
	assert_string_equal(grant.name, "web7");
	assert_int_equal(grant.rights, LODE_RIGHT_UPLOAD);
	/* 2027-01-31 begins at 1801353600. */
	assert_int_equal(find(fixture, "two", 1801353599, &grant), 1);
	assert_int_equal(grant.rights, LODE_RIGHT_UPLOAD | LODE_RIGHT_READ);
	assert_int_equal(find(fixture, "two", 1801353600, &grant), 0);
	assert_int_equal(find(fixture, "three", 1801353600, &grant), 1);
	assert_int_equal(grant.rights, LODE_RIGHT_ALL);
	assert_int_equal(find(fixture, "", 1000, &grant), 0);
	assert_int_equal(find(fixture, "One", 1000, &grant), 0);
}

static void a_changed_file_is_read_again(void **state)
{
	struct fixture *fixture = *state;
	struct lode_grant grant;

	write_file(fixture, "web7 " ONE " upload\n");
	assert_int_equal(lode_tokens_read(&fixture->tokens, fixture->path, &fixture->error), 0);
	assert_int_equal(find(fixture, "two", 1, &grant), 0);
	write_file(fixture, "web7 " ONE " upload\nweb8 " TWO " upload\n");
	assert_int_equal(find(fixture, "two", 2, &grant), 1);
}

/* A token that was removed is not good because of a mistake in the rest of the file, or because there is no file. */
static void a_removed_token_is_gone_whatever_the_rest_of_the_file_is(void **state)
{
	static const char *const left[] = { "what is this?\nweb8 " TWO " upload\n", "", "#\n", NULL };
	struct lode_tokens_counts counts;
	struct fixture *fixture = *state;
	struct lode_grant grant;
	time_t now = 1;

	for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++) {
		write_file(fixture, "web7 " ONE " upload\nweb8 " TWO " upload\n");
		if (!i)
			assert_int_equal(lode_tokens_read(&fixture->tokens, fixture->path, &fixture->error), 0);
		assert_int_equal(find(fixture, "one", ++now, &grant), 1);
		if (left[i])
			write_file(fixture, left[i]);
		else
			unlink(fixture->path);
		assert_int_equal(find(fixture, "one", ++now, &grant), 0);
		assert_int_equal(find(fixture, "two", now, &grant), i == 0);
		lode_tokens_count(fixture->tokens, &counts);
		assert_int_equal(counts.tokens, i == 0);
		assert_int_equal(counts.wrong, 1);
	}
	write_file(fixture, "web7 " ONE " upload\n");
	chmod(fixture->path, 0666);
	assert_int_equal(find(fixture, "one", ++now, &grant), 0);
}

static void a_wrong_line_is_named(void **state)
{
	static const char *const wrong[][2] = {
		{ "", "no tokens" },
		{ "a " ONE "\n", ":1: a line is" },
		{ "#\na sha256:12 upload\n", ":2: a digest is" },
		{ "a " ONE " write\n", "rights are" },
		{ "a " ONE " , \n", "rights are" },
		{ "a " ONE " read 2027-02-30x\n", "the expiry is" },
		{ "a " ONE " read 2027-01-01 more\n", "something behind" },
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		write_file(fixture, wrong[i][0]);
		assert_int_equal(lode_tokens_read(&fixture->tokens, fixture->path, &fixture->error), LODE_USAGE);
		assert_non_null(strstr(fixture->error.text, wrong[i][1]));
	}
	write_file(fixture, "a " ONE " read\n");
	chmod(fixture->path, 0666);
	assert_int_equal(lode_tokens_read(&fixture->tokens, fixture->path, &fixture->error), LODE_USAGE);
	assert_non_null(strstr(fixture->error.text, "chmod"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digests_are_those_of_the_standard),
		cmocka_unit_test_setup_teardown(a_token_has_rights_until_it_expires, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_changed_file_is_read_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_removed_token_is_gone_whatever_the_rest_of_the_file_is, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_wrong_line_is_named, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
