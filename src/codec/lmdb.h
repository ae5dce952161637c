// LMDB's databases, read in the order of their keys: the pages of a B+tree in a file. Written to
// the format, not over LMDB's library, which maps files and trusts what is in them.
#ifndef RHEOS_SRC_CODEC_LMDB_H
#define RHEOS_SRC_CODEC_LMDB_H

#include "codec/buffer.h"

typedef struct rheos__lmdb rheos__lmdb;

// The database in a file, or in the folder that has a file "data.mdb", as it was when that was last
// committed. RHEOS_INVALID_ARGUMENT if it is none of format 1, or shorter than it says.
rheos_status *rheos__lmdb_open(const char *path, rheos__lmdb **out_lmdb);
void rheos__lmdb_close(rheos__lmdb *lmdb);  // NULL: nothing
// Puts the next key and value behind what the buffers hold, or sets `*out_end`. RHEOS_DATA_LOSS
// where pages are damaged, RHEOS_UNIMPLEMENTED for a key with several values.
rheos_status *rheos__lmdb_next(rheos__lmdb *lmdb, rheos__buffer *key, rheos__buffer *value,
                               bool *out_end);

#endif  // RHEOS_SRC_CODEC_LMDB_H
