/* Where an array, an object or a string of a JSON text ends. */
#ifndef LODE_BASE_JSON_SKIP_H
#define LODE_BASE_JSON_SKIP_H

/*
 * `at` is the opening bracket of an array or object in a text that lode_json_check
 * has accepted. Returns what follows its closing bracket.
 */
const char *lode_json_skip_brackets(const char *at);

/* `at` is inside a string of such a text. Returns the first quote or backslash from there on. */
const char *lode_json_find_special(const char *at);

/*
 * For a text that is not checked yet: the first quote, backslash or control character from `at` on,
 * or `end` where there is none before it. Nothing from `end` on has an effect.
 */
const char *lode_json_pass_plain(const char *at, const char *end);

#endif
