// Compiled programs on disk, for later processes: in $RHEOS_CACHE_DIR/opencl, or where that is not
// set in rheos/opencl of the user's folder for caches ($XDG_CACHE_HOME, ~/.cache), but for
// processors, whose drivers do that themselves. An empty RHEOS_CACHE_DIR: none are kept. A file is
// named by the SHA-256 of all that the compiled program depends on; it tells its length and its own
// SHA-256, for drivers take damaged ones without a word. What cannot be read is compiled anew and
// replaced; what cannot be written is left. Files take so many bytes together at most, the oldest
// go.
#ifndef RHEOS_SRC_DEVICE_OPENCL_PROGRAM_CACHE_H
#define RHEOS_SRC_DEVICE_OPENCL_PROGRAM_CACHE_H

#include "device/opencl/card.h"

// Whether it was there and the driver takes it. With the card's lock held, as for the other.
bool rheos__program_cache_read(const rheos__card *card, const char *source, const char *options,
                               cl_program *out_program);
void rheos__program_cache_write(const rheos__card *card, const char *source, const char *options,
                                cl_program program);

#endif  // RHEOS_SRC_DEVICE_OPENCL_PROGRAM_CACHE_H
