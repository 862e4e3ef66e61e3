/*
 * Idle rules: see idle.h for what they mean and idle.rules for the built-in ones.
 *
 * A rule is a list, a glob for the module and one for the function. Nearly all
 * rules name their function exactly, so these are found through a table of names,
 * and only the few with a `*` or `?` in the function are tried one by one.
 *
 * A stack's verdict follows from its parent's: a skipped frame leaves the
 * decision to its caller, any other frame decides. So one pass over the tree,
 * parents before children, judges all stacks.
 */
#include "scope/idle.h"

#include "base/file.h"
#include "base/input.h"
#include "scope/frame_filter.h"

#include <fcntl.h>
#include <string.h>

#define LINE_LIMIT 4096

/* Generated from idle.rules. */
extern const char lode_idle_builtin_rules[];

enum list {
	IGNORE,
	PREFIX,
	SENTINEL,
	IDLE,
	BUSY,
	INTERRUPT,
	RECEIVE,
	LISTS,
	EXEMPT = LISTS, /* not written: what `unless` names behind an interrupt rule */
};

static const char *const list_names[LISTS] = { "ignore", "prefix",    "sentinel", "idle",
					       "busy",   "interrupt", "receive" };

struct rule {
	enum list list;
	const char *module;   /* glob; NULL: any */
	const char *function; /* glob */
	const char *waker;    /* glob over frames of the waker's stack; NULL: any */
	uint8_t may_exempt;   /* interrupts: there are frames that exempt it */
	uint32_t next;        /* the next rule with the same plain function, or of the same wild ones */
};

struct lode_idle_rules {
	struct lode_arena arena;
	struct rule *items;
	size_t count;
	size_t capacity;
	struct lode_strings names; /* plain functions */
	uint32_t *first;           /* by name: its first rule, or LODE_NONE */
	size_t first_capacity;
	uint32_t wild[256]; /* first rule whose function is a glob that begins with this character; 0: with any */
};

static void describe_glob(struct lode_buffer *buffer, const char *glob)
{
	lode_buffer_byte(buffer, glob ? '=' : '-');
	lode_buffer_add(buffer, glob ? glob : "", glob ? strlen(glob) + 1 : 1);
}

void lode_idle_rules_describe(const struct lode_idle_rules *rules, struct lode_buffer *buffer)
{
	lode_buffer_u64(buffer, rules ? rules->count : UINT64_MAX);
	for (size_t i = 0; rules && i < rules->count; i++) {
		lode_buffer_byte(buffer, (char)rules->items[i].list);
		describe_glob(buffer, rules->items[i].module);
		describe_glob(buffer, rules->items[i].function);
		describe_glob(buffer, rules->items[i].waker);
		lode_buffer_byte(buffer, (char)rules->items[i].may_exempt);
	}
}

/* ---- reading rules ---- */

static int is_wild(const char *glob)
{
	return glob[strcspn(glob, "*?")] != '\0';
}

/* Puts rule `id` into the table of names, or among the wild ones. */
static int enter(struct lode_idle_rules *rules, uint32_t id)
{
	struct rule *rule = &rules->items[id];
	uint32_t name;
	size_t known = rules->names.count;

	if (is_wild(rule->function)) {
		uint32_t *wild = &rules->wild[strchr("*?", *rule->function) ? 0 : (unsigned char)*rule->function];

		rule->next = *wild;
		*wild = id;
		return 0;
	}
	name = lode_strings_add(&rules->names, rule->function, strlen(rule->function));
	if (name == LODE_NONE || LODE_GROW(rules->first, rules->first_capacity, (size_t)name + 1) < 0)
		return LODE_SYSTEM;
	for (; known <= name; known++)
		rules->first[known] = LODE_NONE;
	rule->next = rules->first[name];
	rules->first[name] = id;
	return 0;
}

/* `rule` has its list and its conditions. */
static int add_rule(struct lode_idle_rules *rules, struct rule rule, char *glob)
{
	char *bang = strchr(glob, '!');

	rule.function = glob;
	rule.next = LODE_NONE;
	if (bang) {
		*bang = '\0';
		rule.function = bang + 1;
		rule.module = strcmp(glob, "*") ? glob : NULL;
	}
	if (LODE_GROW(rules->items, rules->capacity, rules->count + 1) < 0)
		return LODE_SYSTEM;
	rules->items[rules->count] = rule;
	return enter(rules, (uint32_t)rules->count++);
}

/* The next word of `*at`, ended by a NUL, or NULL. */
static char *next_word(char **at)
{
	char *word = *at + strspn(*at, " \t");

	*at = word + strcspn(word, " \t");
	if (**at)
		*(*at)++ = '\0';
	return *word ? word : NULL;
}

static int find_list(const char *word)
{
	for (int list = 0; list < LISTS; list++)
		if (!strcmp(word, list_names[list]))
			return list;
	return LISTS;
}

/*
 * What follows the glob of a rule: `woken by GLOB` behind an idle rule, `woken by interrupt` behind a receive rule,
 * `unless GLOB` behind an interrupt rule, or nothing. Returns whether it is well formed.
 */
static int read_condition(char **at, struct rule *rule, char **unless)
{
	const char *word = next_word(at), *by;

	if (!word)
		return 1;
	if (rule->list == INTERRUPT) {
		*unless = next_word(at);
		rule->may_exempt = 1;
		return !strcmp(word, "unless") && *unless && !next_word(at);
	}
	by = next_word(at);
	rule->waker = by ? next_word(at) : NULL;
	if (strcmp(word, "woken") || !by || strcmp(by, "by") || !rule->waker || next_word(at))
		return 0;
	return rule->list == IDLE || (rule->list == RECEIVE && !strcmp(rule->waker, "interrupt"));
}

static int read_rule(struct lode_idle_rules *rules, char *line, const char *file, uint64_t number,
		     struct lode_error *error)
{
	char *word = next_word(&line), *glob, *unless = NULL;
	struct rule rule = { 0 };
	int list;

	if (!word || *word == '#')
		return 0;
	list = find_list(word);
	if (list == LISTS)
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s:%llu: '%s' is not a list of rules; use ignore, prefix, sentinel, idle, busy, "
				 "interrupt "
				 "or receive",
				 file, (unsigned long long)number, word);
	rule.list = (enum list)list;
	glob = next_word(&line);
	if (!glob || !read_condition(&line, &rule, &unless))
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s:%llu: this is not a rule; write 'LIST GLOB', 'idle GLOB woken by GLOB', "
				 "'receive GLOB woken by interrupt' or 'interrupt GLOB unless GLOB'",
				 file, (unsigned long long)number);
	if (add_rule(rules, rule, glob) < 0 ||
	    (unless && add_rule(rules, (struct rule){ .list = EXEMPT }, unless) < 0))
		return lode_fail_memory(error);
	return 0;
}

static int read_rules(struct lode_idle_rules *rules, struct lode_input *input, struct lode_error *error)
{
	const char *line;
	size_t length;
	int code;

	while ((code = lode_input_line(input, LINE_LIMIT, &line, &length, error)) > 0) {
		char *copy = lode_arena_text(&rules->arena, line, length);

		if (!copy)
			return lode_fail_memory(error);
		code = read_rule(rules, copy, lode_input_name(input), lode_input_line_number(input), error);
		if (code < 0)
			break;
	}
	return code;
}

static int read_builtin(struct lode_idle_rules *rules, struct lode_error *error)
{
	struct lode_input *input;
	int code = lode_input_memory(&input, "built-in idle rules", lode_idle_builtin_rules,
				     strlen(lode_idle_builtin_rules), error);

	if (code < 0)
		return code;
	code = read_rules(rules, input, error);
	lode_input_close(input);
	return code;
}

int lode_idle_rules_add(struct lode_idle_rules *rules, const char *path, int of_corpus, struct lode_error *error)
{
	struct lode_input *input;
	int code = of_corpus ? lode_input_open_plain(&input, path, O_NOFOLLOW, error)
			     : lode_input_open(&input, path, error);

	if (code < 0)
		return code;
	code = read_rules(rules, input, error);
	lode_input_close(input);
	return code;
}

int lode_idle_rules_load(struct lode_idle_rules **result, const char *const *paths, struct lode_error *error)
{
	struct lode_idle_rules *rules = lode_calloc(1, sizeof(*rules));
	int code;

	if (!rules)
		return lode_fail_memory(error);
	memset(rules->wild, 0xff, sizeof(rules->wild));
	code = lode_strings_init(&rules->names) < 0 ? lode_fail_memory(error) : 0;
	if (!code && LODE_GROW(rules->first, rules->first_capacity, 1) < 0)
		code = lode_fail_memory(error);
	if (!code) {
		rules->first[0] = LODE_NONE;
		code = read_builtin(rules, error);
	}
	for (; !code && paths && *paths; paths++)
		code = lode_idle_rules_add(rules, *paths, 0, error);
	if (code < 0)
		lode_idle_rules_free(rules);
	else
		*result = rules;
	return code;
}

void lode_idle_rules_free(struct lode_idle_rules *rules)
{
	if (!rules)
		return;
	lode_arena_release(&rules->arena);
	lode_strings_release(&rules->names);
	lode_free(rules->items);
	lode_free(rules->first);
	lode_free(rules);
}

/* ---- applying them ---- */

/* Which lists contain a frame. */
struct verdict {
	uint8_t lists;     /* 1 << enum list */
	uint8_t always;    /* an idle rule that asks for no waker fits */
	uint8_t receives;  /* enum lode_idle_receive */
	uint8_t interrupt; /* enum interrupt_mark */
};

/* What a frame, or the frames of a node from the root, say of a waker with such a stack. */
enum interrupt_mark {
	IS_INTERRUPT = 1,
	MAY_BE_INTERRUPT = 2, /* unless a frame further in exempts it */
};

struct lode_idle_stacks {
	const struct lode_idle_rules *rules;
	const struct lode_dictionary *dictionary;
	uint32_t *decided;  /* by node: the node whose frame decided that it is idle, or LODE_NONE */
	uint8_t *interrupt; /* by node: enum interrupt_mark; 0: no interrupt */
	struct verdict *frames;
};

static int rule_fits(const struct rule *rule, const char *module, const char *function)
{
	return (!rule->module || lode_glob_match(rule->module, module)) &&
	       lode_glob_match(rule->function, function);
}

static void judge_by(const struct lode_idle_rules *rules, uint32_t id, const char *module, const char *function,
		     struct verdict *verdict)
{
	for (; id != LODE_NONE; id = rules->items[id].next) {
		const struct rule *rule = &rules->items[id];

		if (!rule_fits(rule, module, function))
			continue;
		verdict->lists |= (uint8_t)(1u << rule->list);
		verdict->always |= rule->list == IDLE && !rule->waker;
		if (rule->list == INTERRUPT)
			verdict->interrupt |= rule->may_exempt ? MAY_BE_INTERRUPT : IS_INTERRUPT;
		if (rule->list == RECEIVE)
			verdict->receives |= rule->waker ? LODE_RECEIVES_INTERRUPT : LODE_RECEIVES;
	}
}

static struct verdict judge_frame(const struct lode_idle_rules *rules, const struct lode_frames *frames,
				  uint32_t frame)
{
	struct verdict verdict = { 0 };
	char text[LODE_PLAIN_FUNCTION];
	const char *function = lode_function_plain(lode_frames_function(frames, frame), text);
	const char *module = lode_frames_module_name(frames, frame);
	uint32_t name = lode_strings_find(&rules->names, function, strlen(function));

	judge_by(rules, name == LODE_NONE ? LODE_NONE : rules->first[name], module, function, &verdict);
	judge_by(rules, rules->wild[0], module, function, &verdict);
	if (*function)
		judge_by(rules, rules->wild[(unsigned char)*function], module, function, &verdict);
	return verdict;
}

/*
 * The node that decides for `node`, LODE_NONE when the stack is not idle.
 * `under[n]`: n or a node above it has a sentinel frame.
 */
static void judge_node(struct lode_idle_stacks *stacks, uint8_t *under, uint32_t node)
{
	const struct lode_stack_node *nodes = stacks->dictionary->tree.nodes;
	const struct verdict *frame = &stacks->frames[nodes[node].frame];
	uint32_t parent = nodes[node].parent;
	int sentinel = !!(frame->lists & 1u << SENTINEL);
	int passed = !!(frame->lists & (1u << IGNORE | 1u << PREFIX));

	under[node] = under[parent] || sentinel;
	stacks->interrupt[node] = stacks->interrupt[parent] | frame->interrupt;
	if (frame->lists & 1u << EXEMPT)
		stacks->interrupt[node] &= (uint8_t)~MAY_BE_INTERRUPT;
	if (frame->lists & 1u << BUSY)
		stacks->decided[node] = LODE_NONE;
	else if (frame->lists & 1u << IDLE && (sentinel || !under[parent]))
		stacks->decided[node] = node;
	else if (!sentinel && (under[parent] || passed))
		stacks->decided[node] = stacks->decided[parent];
	else
		stacks->decided[node] = LODE_NONE;
}

int lode_idle_stacks_make(struct lode_idle_stacks **result, const struct lode_idle_rules *rules,
			  const struct lode_dictionary *dictionary, struct lode_error *error)
{
	struct lode_idle_stacks *stacks = lode_calloc(1, sizeof(*stacks));
	size_t nodes = dictionary->tree.count, frames = dictionary->frames.count;
	uint8_t *under = lode_calloc(nodes, 1);

	if (stacks) {
		stacks->rules = rules;
		stacks->dictionary = dictionary;
		stacks->decided = lode_calloc(nodes, sizeof(*stacks->decided));
		stacks->interrupt = lode_calloc(nodes, 1);
		stacks->frames = lode_calloc(frames + 1, sizeof(*stacks->frames));
	}
	if (!stacks || !under || !stacks->decided || !stacks->interrupt || !stacks->frames) {
		lode_free(under);
		lode_idle_stacks_free(stacks);
		return lode_fail_memory(error);
	}
	for (size_t i = 0; i < frames; i++)
		stacks->frames[i] = judge_frame(rules, &dictionary->frames, (uint32_t)i);
	stacks->decided[0] = LODE_NONE;
	for (size_t i = 1; i < nodes; i++)
		judge_node(stacks, under, (uint32_t)i);
	lode_free(under);
	*result = stacks;
	return 0;
}

void lode_idle_stacks_free(struct lode_idle_stacks *stacks)
{
	if (!stacks)
		return;
	lode_free(stacks->decided);
	lode_free(stacks->interrupt);
	lode_free(stacks->frames);
	lode_free(stacks);
}

int lode_idle_interrupt(const struct lode_idle_stacks *stacks, uint32_t waker_stack)
{
	return stacks->interrupt[waker_stack] != 0;
}

const uint8_t *lode_idle_interrupts(const struct lode_idle_stacks *stacks)
{
	return stacks->interrupt;
}

/* Whether the stack of a waker has a frame that fits `glob`. */
static int waker_fits(const struct lode_idle_stacks *stacks, const char *glob, uint32_t waker_stack)
{
	const struct lode_stack_node *nodes = stacks->dictionary->tree.nodes;

	if (!strcmp(glob, "interrupt"))
		return lode_idle_interrupt(stacks, waker_stack);
	for (; waker_stack; waker_stack = nodes[waker_stack].parent)
		if (lode_frame_matches(&stacks->dictionary->frames, nodes[waker_stack].frame, glob))
			return 1;
	return 0;
}

/* Whether one of the idle rules for this frame that ask for a waker gets the one it wants. */
static int woken_as_wanted(const struct lode_idle_stacks *stacks, uint32_t frame, uint32_t waker_stack)
{
	const struct lode_frames *frames = &stacks->dictionary->frames;

	for (size_t i = 0; i < stacks->rules->count; i++) {
		const struct rule *rule = &stacks->rules->items[i];

		if (rule->list == IDLE && rule->waker &&
		    rule_fits(rule, lode_frames_module_name(frames, frame), lode_frames_function(frames, frame)) &&
		    waker_fits(stacks, rule->waker, waker_stack))
			return 1;
	}
	return 0;
}

int lode_idle_event(const struct lode_idle_stacks *stacks, uint32_t stack, uint32_t waker_stack)
{
	uint32_t node = stacks->decided[stack], frame;

	if (node == LODE_NONE)
		return 0;
	frame = stacks->dictionary->tree.nodes[node].frame;
	return stacks->frames[frame].always || woken_as_wanted(stacks, frame, waker_stack);
}

int lode_idle_ignores(const struct lode_idle_stacks *stacks, uint32_t frame)
{
	return !!(stacks->frames[frame].lists & 1u << IGNORE);
}

int lode_idle_is_way_of_waiting(const struct lode_idle_stacks *stacks, uint32_t frame)
{
	return !!(stacks->frames[frame].lists & (1u << IGNORE | 1u << PREFIX | 1u << RECEIVE));
}

int lode_idle_is_busy(const struct lode_idle_stacks *stacks, uint32_t frame)
{
	return !!(stacks->frames[frame].lists & 1u << BUSY);
}

unsigned lode_idle_receives(const struct lode_idle_stacks *stacks, uint32_t frame)
{
	return stacks->frames[frame].receives;
}

uint32_t lode_idle_frame(const struct lode_idle_stacks *stacks, uint32_t stack)
{
	uint32_t node = stacks->decided[stack];

	return node == LODE_NONE ? LODE_NONE : stacks->dictionary->tree.nodes[node].frame;
}
