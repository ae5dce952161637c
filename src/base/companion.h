// Libraries of ours that are looked for at run time, and done without where they are not.
#ifndef RHEOS_SRC_BASE_COMPANION_H
#define RHEOS_SRC_BASE_COMPANION_H

// What the library in `file` calls `symbol`, which begins with the version that it was built as
// (const char *): NULL where there is none of this version. The file is at `path`; NULL: beside the
// library or program that this is part of or in the folder of libraries next to that, or in the
// folder rheos/ of either, where installed ones are. The library stays loaded.
const void *rheos__companion_find(const char *path, const char *file, const char *symbol);

#endif  // RHEOS_SRC_BASE_COMPANION_H
