/*
 * Which Debian package a file belongs to: for hints where to get its symbols.
 */
#ifndef LODE_SYMBOLS_DEBIAN_PACKAGE_H
#define LODE_SYMBOLS_DEBIAN_PACKAGE_H

/* Where dpkg keeps the lists of packages' files. */
#define LODE_DPKG_LISTS "/var/lib/dpkg/info"

/*
 * The name of the package that `path` belongs to, by the lists in `folder`; NULL where none has it, there are no such lists, or
 * memory has run out. The caller frees it. Reads all lists, which takes some ten milliseconds.
 */
char *lode_debian_package(const char *folder, const char *path);

#endif
