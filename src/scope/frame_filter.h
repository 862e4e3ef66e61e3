/*
 * Frame filter: globs over frames, answered for every frame and every stack of a
 * dictionary at once.
 *
 * `*` matches any text, `?` one character; a pattern without `!` is matched
 * against the function alone, one with it against `module!function`. So `*lock*`,
 * `libc.so.6!*`, `kernel!futex_*`.
 */
#ifndef LODE_SCOPE_FRAME_FILTER_H
#define LODE_SCOPE_FRAME_FILTER_H

#include "trace/dictionary.h"

/* Whether `glob` fits the whole of `text`; linear in their product at worst. */
int lode_glob_match(const char *glob, const char *text);
/* Whether `glob` fits frame `frame`. */
int lode_frame_matches(const struct lode_frames *frames, uint32_t frame, const char *glob);

/*
 * For each frame 1 when one of the globs (NULL-terminated) fits, else 0; the
 * caller frees it. NULL when memory has run out.
 */
uint8_t *lode_frame_filter(const struct lode_frames *frames, const char *const *globs);
/*
 * Whether `name` occurs in `function` as a whole word, or as several that follow each
 * other. Words end where letters do, and where a capital begins one; whether letters
 * are large or small does not matter. `lock` is in pthread_mutex_lock and FileLock,
 * not in clock_nanosleep or unlock.
 */
int lode_words_match(const char *name, const char *function);
/*
 * For each frame 1 when `name` fits: a glob (with `*` or `?`) or a frame
 * `module!function` as a whole, anything else by words. The caller frees it; NULL
 * when memory has run out.
 */
uint8_t *lode_frames_named(const struct lode_frames *frames, const char *name);
/*
 * For each node 1 when a frame of its stack has a 1 in `frames_fit`. The caller
 * frees it; NULL when memory has run out.
 */
uint8_t *lode_stack_filter(const struct lode_stack_tree *tree, const uint8_t *frames_fit);
/*
 * The same for globs: `*fits` has for each node 1 when a frame of its stack fits one of them; NULL where there
 * are none, since all fit then. The caller frees it. Returns 0 or LODE_SYSTEM.
 */
int lode_stacks_match(const struct lode_dictionary *dictionary, const char *const *globs, uint8_t **fits);

#endif
