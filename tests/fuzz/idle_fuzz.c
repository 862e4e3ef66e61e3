/* Idle rules: the first part of the bytes is a file of rules, the rest stacks to judge by them. */
#include "fuzz.h"

#include "scope/idle.h"

#include <string.h>

/* Each line a stack, each word of it a frame. */
static void add_stacks(struct lode_dictionary *dictionary, const char *text, size_t size)
{
	uint32_t node = 0;

	for (size_t i = 0; i < size && dictionary->tree.count < 4096;) {
		size_t length = strcspn(text + i, " \n");

		if (length) {
			uint32_t frame = lode_frames_parse(&dictionary->frames, text + i, length);

			fuzz_require(frame != LODE_NONE, "memory");
			node = lode_stack_tree_child(&dictionary->tree, node, frame);
		}
		i += length;
		if (i < size && text[i] == '\n')
			node = 0;
		i++;
	}
}

static void judge(const struct lode_idle_rules *rules, const char *text, size_t size)
{
	struct lode_idle_stacks *stacks;
	struct lode_dictionary dictionary;
	struct lode_error error = { "" };

	fuzz_require(lode_dictionary_init(&dictionary) == 0, "memory");
	add_stacks(&dictionary, text, size);
	fuzz_require(lode_idle_stacks_make(&stacks, rules, &dictionary, &error) == 0, "memory");
	for (uint32_t node = 0; node < dictionary.tree.count; node++)
		if (lode_idle_event(stacks, node, (uint32_t)(dictionary.tree.count - 1 - node)))
			fuzz_require(lode_idle_frame(stacks, node) != LODE_NONE, "an idle stack has a reason");
	lode_idle_stacks_free(stacks);
	lode_dictionary_release(&dictionary);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const uint8_t *cut = size ? memchr(bytes, '\0', size) : NULL;
	size_t rules_size = cut ? (size_t)(cut - bytes) : size;
	struct lode_idle_rules *rules;
	struct lode_error error = { "" };
	struct fuzz_file file;
	const char *paths[2] = { NULL, NULL };
	char stacks[4096] = "";
	size_t left = cut ? size - rules_size - 1 : 0;
	int code;

	left = left < sizeof(stacks) - 1 ? left : sizeof(stacks) - 1;
	if (left)
		memcpy(stacks, cut + 1, left);
	fuzz_file_make(&file, bytes, rules_size);
	paths[0] = file.path;
	code = lode_idle_rules_load(&rules, paths, &error);
	fuzz_require_sentence(code, &error);
	if (!code) {
		judge(rules, stacks, strlen(stacks));
		lode_idle_rules_free(rules);
	}
	fuzz_file_remove(&file);
	return 0;
}
