/* Small pictures made of characters: one a value. */
#ifndef LODE_TEXT_PICTURE_H
#define LODE_TEXT_PICTURE_H

#include "base/buffer.h"

/* The largest of the values. */
uint64_t lode_picture_peak(const uint64_t *values, size_t count);
/*
 * Appends one character a value, as high as its share of `top`: eight heights
 * of blocks, or ` .:-=+*#@` in ASCII. What is not zero is never drawn as nothing.
 */
void lode_picture_draw(struct lode_buffer *buffer, const uint64_t *values, size_t count, uint64_t top, int ascii);

#endif
