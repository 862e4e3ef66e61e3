/* Entries of languages: see language_entries.h. */
#include "record/unwind/language_entries.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

/*
 * Nanoseconds until a process that has just begun is looked at again, at first and at most. Waits grow by a quarter, so that a runtime
 * that takes a while to start is seen when that has taken a quarter longer.
 */
#define FIRST_WAIT   4000000u
#define LONGEST_WAIT 2000000000u

void lode_language_entries_init(struct lode_language_entries *entries, struct lode_process_unwinder *unwinder,
				struct lode_unwind_space *spaces, struct lode_language_process *items)
{
	memset(entries, 0, sizeof(*entries));
	entries->unwinder = unwinder;
	entries->spaces = spaces;
	entries->items = items;
	entries->count = 1;
}

void lode_language_entries_release(struct lode_language_entries *entries)
{
	lode_free(entries->beginners);
	memset(entries, 0, sizeof(*entries));
}

/* Keeps the entries that processes use, with new numbers. A walk that meets this finds no frames of the language. */
static void drop_unused(struct lode_language_entries *entries)
{
	uint32_t numbers[LODE_LANGUAGE_PROCESSES] = { 0 }, kept = 1;
	struct lode_unwind_space *spaces = entries->spaces;

	for (size_t i = 0; i < LODE_UNWIND_SPACES; i++)
		if (spaces[i].language && spaces[i].id)
			numbers[spaces[i].language % LODE_LANGUAGE_PROCESSES] = 1;
	for (uint32_t i = 1; i < entries->count; i++) {
		if (!numbers[i])
			continue;
		entries->items[kept] = entries->items[i];
		numbers[i] = kept++;
	}
	for (size_t i = 0; i < LODE_UNWIND_SPACES; i++)
		if (spaces[i].language)
			spaces[i].language = numbers[spaces[i].language % LODE_LANGUAGE_PROCESSES];
	entries->count = kept;
}

/* The number of an entry, added if it is new; 0: there is no room. */
static uint32_t enter(struct lode_language_entries *entries, const struct lode_language_process *found)
{
	for (uint32_t i = 1; i < entries->count; i++)
		if (!memcmp(&entries->items[i], found, sizeof(*found)))
			return i;
	if (entries->count == LODE_LANGUAGE_PROCESSES)
		drop_unused(entries);
	if (entries->count == LODE_LANGUAGE_PROCESSES)
		return 0;
	entries->items[entries->count] = *found;
	return entries->count++;
}

static int note_beginner(struct lode_language_entries *entries, uint32_t pid, uint64_t now)
{
	struct lode_language_beginner beginner = { pid, now + FIRST_WAIT, FIRST_WAIT };

	for (size_t i = 0; i < entries->beginner_count; i++)
		if (entries->beginners[i].pid == pid)
			return 0;
	return LODE_APPEND(entries->beginners, entries->beginner_count, entries->beginner_capacity, beginner);
}

int lode_language_entries_find(struct lode_language_entries *entries, const struct lode_process *process,
			       uint64_t now, uint32_t *number)
{
	struct lode_process_unwinder *unwinder = entries->unwinder;
	struct lode_language_process found;
	int code = unwinder->languages
			   ? lode_languages_detect(unwinder->languages, &unwinder->processes, process, &found)
			   : 0;

	*number = 0;
	if (code == LODE_LANGUAGES_LATER)
		return note_beginner(entries, process->pid, now);
	if (code <= 0)
		return code;
	*number = enter(entries, &found);
	return 0;
}

/* Returns 1 when there is no need to look at the process again, 0, or LODE_SYSTEM. */
static int look_again(struct lode_language_entries *entries, uint32_t pid, uint64_t now)
{
	const struct lode_processes *processes = &entries->unwinder->processes;
	const struct lode_process *process = lode_processes_find(processes, pid);
	struct lode_unwind_space *space = &entries->spaces[pid % LODE_UNWIND_SPACES];
	uint32_t number;

	if (!process || lode_processes_has_ended(processes, pid))
		return 1;
	if (space->pid != pid || !space->id)
		return 0;
	if (space->language)
		return 1;
	if (lode_language_entries_find(entries, process, now, &number) < 0)
		return LODE_SYSTEM;
	/* A walk in the kernel may look at it at any moment. */
	__atomic_store_n(&space->language, number, __ATOMIC_RELEASE);
	return number != 0;
}

int lode_language_entries_retry(struct lode_language_entries *entries, uint64_t now)
{
	size_t kept = 0;
	int code = 0;

	for (size_t i = 0; i < entries->beginner_count; i++) {
		struct lode_language_beginner beginner = entries->beginners[i];
		int found = 0;

		if (!code && now >= beginner.next) {
			beginner.wait += beginner.wait / 4;
			if (beginner.wait > LONGEST_WAIT)
				beginner.wait = LONGEST_WAIT;
			beginner.next = now + beginner.wait;
			found = look_again(entries, beginner.pid, now);
			code = found < 0 ? found : 0;
		}
		if (found <= 0)
			entries->beginners[kept++] = beginner;
	}
	entries->beginner_count = kept;
	return code;
}
