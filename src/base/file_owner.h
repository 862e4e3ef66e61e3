/*
 * Whose files are: those of the user who called sudo, and those that root believes.
 *
 * Recording needs root, so people call Lode through sudo, in folders of their own. What Lode creates there belongs to
 * them, not to root. In other folders nothing is given away, except where everybody may create files (/tmp).
 */
#ifndef LODE_BASE_FILE_OWNER_H
#define LODE_BASE_FILE_OWNER_H

#include <sys/stat.h>
#include <sys/types.h>

/* Whether this is root, called through sudo by another user; then that user's ids. */
int lode_sudo_user(uid_t *user, gid_t *group);
/*
 * Whether a file of `owner` can be believed by this process. Root believes root and the user who called sudo; everybody
 * else chooses their files themselves.
 */
int lode_owner_is_trusted(uid_t owner);
/* Whether others than those can write to the file or folder of this status, as far as it is not theirs. */
int lode_writable_by_others(const struct stat *status);
/* Gives the new file `path`, open as `fd`, to the user who called sudo, where it is in a folder as above. */
void lode_file_give_to_user(int fd, const char *path);
/* The same for a new, empty folder. */
void lode_file_give_folder_to_user(const char *path);

#endif
