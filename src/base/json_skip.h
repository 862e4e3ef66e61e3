/* Where an array or an object of a JSON text ends. */
#ifndef LODE_BASE_JSON_SKIP_H
#define LODE_BASE_JSON_SKIP_H

/*
 * `at` is the opening bracket of an array or object in a text that lode_json_check
 * has accepted. Returns what follows its closing bracket.
 */
const char *lode_json_skip_brackets(const char *at);

#endif
