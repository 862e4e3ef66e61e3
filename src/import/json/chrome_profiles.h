/*
 * V8's CPU profiles inside Chrome's traces, as the developer tools record them: an event
 * `Profile` says when and on which thread a profile begins, `ProfileChunk` events bring nodes,
 * samples and the time between them. Older ones hold a whole profile in one event, `CpuProfile`.
 *
 * A sample lasts until the next; those in `(idle)` that follow each other are one wait.
 */
#ifndef LODE_IMPORT_CHROME_PROFILES_H
#define LODE_IMPORT_CHROME_PROFILES_H

#include "import/frame_memo.h"
#include "import/json/v8_nodes.h"

struct lode_chrome_profile {
	uint32_t thread;
	uint64_t t;   /* of the sample that goes on */
	uint64_t now; /* of the last one */
	int started;
	uint32_t stack;
	int is_idle;
	uint64_t end; /* of the profile; 0: unknown */
	struct lode_v8_nodes nodes;
};

struct lode_chrome_profiles {
	struct lode_json_import *import;
	struct lode_frame_memo ids; /* from process and id to a profile */
	struct lode_chrome_profile *items;
	size_t capacity;
	uint64_t back; /* samples with timestamps out of order */
};

/* An event of a profile. */
struct lode_chrome_profile_event {
	struct lode_json_value id;
	struct lode_json_value args;
	uint32_t pid;
	uint32_t thread;
	uint64_t t;
};

/* A struct with only `import` set has no profiles. */
void lode_chrome_profiles_release(struct lode_chrome_profiles *profiles);
/* Takes an event called `Profile`, `ProfileChunk` or `CpuProfile`. Returns 0, or a negative code with a sentence. */
int lode_chrome_profiles_add(struct lode_chrome_profiles *profiles, const struct lode_chrome_profile_event *event);
/* Ends all profiles and marks their threads in `measured`. The same. */
int lode_chrome_profiles_finish(struct lode_chrome_profiles *profiles, uint8_t *measured);

#endif
