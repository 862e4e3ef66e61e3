/* Long arrays of numbers in a JSON text: most of a large profile. */
#ifndef LODE_BASE_JSON_NUMBERS_H
#define LODE_BASE_JSON_NUMBERS_H

/*
 * `item` is where an item of an array begins, in a text that ends at `end` and is not checked yet. Passes items that are
 * right numbers without an exponent, with a comma right behind them. Returns where the first item begins that was not
 * passed: it may be right or wrong, and may be passed by another call.
 */
const char *lode_json_pass_numbers(const char *item, const char *end);

#endif
