/* The sender: see push_sender.h. */
#include "push/push_sender.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/units.h"

#include <stddef.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define FIRST_PAUSE 1000000000ull
#define LAST_PAUSE  300000000000ull
#define LOOK_NS     200000000ull /* between two looks whether to end, or whether there is something to send */

uint64_t lode_push_pause(unsigned failures, unsigned retry_after, uint64_t *random)
{
	uint64_t pause = FIRST_PAUSE, least = retry_after * 1000000000ull;

	while (--failures && pause < LAST_PAUSE)
		pause *= 2;
	if (pause > LAST_PAUSE)
		pause = LAST_PAUSE;
	/* Between half of it and all of it. */
	pause = pause / 2 + lode_splitmix64(random) % (pause / 2 + 1);
	return pause < least ? least + pause / 2 : pause;
}

static int sleep_until(const struct lode_push_sender *sender, uint64_t time)
{
	while (!sender->stops(sender->context)) {
		uint64_t now = lode_now(), left = time > now ? time - now : 0;
		const struct timespec pause = { 0, (long)(left < LOOK_NS ? left : LOOK_NS) };

		if (!left)
			return 0;
		nanosleep(&pause, NULL);
	}
	return 1;
}

/* Not the right token, nothing there that takes uploads, or a proxy that lets nobody through. */
static int is_about_sender(long status)
{
	return status == 401 || status == 403 || status == 404 || status == 405 || status == 407;
}

int lode_push_is_final(long status)
{
	return status >= 400 && status < 500 && status != 408 && status != 429 && !is_about_sender(status);
}

/* Returns 1 when the entry is done with, 0 when it must be tried again, or a negative code. */
static int send_entry(struct lode_push_sender *sender, const struct lode_push_entry *entry,
		      struct lode_error *error)
{
	struct lode_push_answer answer;
	int code = lode_push_client_send(sender->client, entry->path, entry->name, &answer, error);

	if (code)
		return access(entry->path, F_OK) < 0 ? 1 : code; /* dropped by who adds files */
	if (answer.status == 200 || answer.status == 201) {
		sender->sent++;
		sender->bytes += entry->size;
		return 1;
	}
	sender->last = answer;
	sender->tell(sender->context, entry, &answer);
	if (!lode_push_is_final(answer.status))
		return 0;
	sender->refused++;
	return 1;
}

/* What went wrong, and what to do about it. Returns the code for it. */
static int explain(const struct lode_push_answer *answer, struct lode_buffer *sentence)
{
	long status = answer->status;

	if (status == 401 || status == 403)
		lode_buffer_print(sentence,
				  "the collector refuses this sender (status %ld: %.200s); give a token that may "
				  "upload with --token-file, or in LODE_TOKEN",
				  status, answer->text);
	else if (status == 407)
		lode_buffer_print(sentence, "a proxy refuses this sender (status 407: %.200s)", answer->text);
	else if (is_about_sender(status))
		lode_buffer_print(sentence,
				  "no collector takes files at this address (status %ld: %.200s); correct it, or "
				  "start 'lode serve' there with --collect",
				  status, answer->text);
	else
		lode_buffer_print(sentence, "the collector does not take them now (%s%.200s)",
				  status ? "" : "no answer: ", answer->text);
	return status == 401 || status == 403 ? LODE_BAD_INPUT : LODE_SYSTEM;
}

static int give_up(const struct lode_push_sender *sender, struct lode_error *error)
{
	struct lode_push_spool_counts counts = { 0 };
	struct lode_buffer sentence = { 0 };
	int code = explain(&sender->last, &sentence);

	lode_push_spool_counts(sender->spool, &counts, NULL);
	lode_buffer_byte(&sentence, '\0');
	lode_fail(error, code, "%s; %llu file%s %s in %s, and the next 'lode push' to this address sends %s",
		  sentence.failed ? "the collector does not take them" : sentence.bytes,
		  (unsigned long long)counts.files, lode_plural(counts.files), counts.files == 1 ? "stays" : "stay",
		  lode_push_spool_folder(sender->spool), counts.files == 1 ? "it" : "them");
	lode_buffer_release(&sentence);
	return code;
}

static uint64_t seed(void)
{
	uint64_t number = lode_now();

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
		return lode_now();
	return number;
}

/* The next try would get the same answer, unless somebody changes a token or starts a collector in the meantime. */
static int has_no_hope(const struct lode_push_sender *sender)
{
	return !sender->follows && is_about_sender(sender->last.status);
}

int lode_push_send(struct lode_push_sender *sender, struct lode_error *error)
{
	uint64_t random = seed(), good = lode_now();
	unsigned failures = 0;

	while (!sender->stops(sender->context)) {
		struct lode_push_entry entry;
		int code = lode_push_spool_next(sender->spool, &entry, error);

		if (code < 0)
			return code;
		if (!code && !sender->follows)
			return 0;
		if (!code) {
			sleep_until(sender, lode_now() + LOOK_NS);
			good = lode_now();
			continue;
		}
		code = send_entry(sender, &entry, error);
		if (code > 0)
			lode_push_spool_remove(sender->spool, &entry);
		lode_push_entry_release(&entry);
		if (code < 0)
			return code;
		if (code) {
			failures = 0;
			good = lode_now();
			continue;
		}
		if (has_no_hope(sender) || (sender->patience && lode_now() - good >= sender->patience))
			return give_up(sender, error);
		sleep_until(sender, lode_now() + lode_push_pause(++failures, sender->last.retry_after, &random));
	}
	return 0;
}
