// Sorted tables of keys and values in one file: the form of a checkpoint's index, which is
// LevelDB's.
//
//   data block*  empty block  index block  footer (48 bytes)
//   block:   entries, restart offsets (32 bits each), their number; then a type byte (0 plain,
//            1 snappy) and the masked CRC32C of block and type
//   entry:   varints shared, unshared, value size; the key's last `unshared` bytes; the value
//   footer:  handles (varints offset, size) of the empty and the index block, zeros to
//            fill 40 bytes, magic number
#ifndef RHEOS_SRC_CODEC_TABLE_H
#define RHEOS_SRC_CODEC_TABLE_H

#include "base/file.h"
#include "codec/buffer.h"

// ---- Writing

typedef struct rheos__table_writer rheos__table_writer;

// Writes to `file`, which stays the caller's. NULL when memory is short.
rheos__table_writer *rheos__table_writer_new(rheos__file_writer *file);
void rheos__table_writer_free(rheos__table_writer *writer);
// Keys come in rising order, each once.
rheos_status *rheos__table_writer_add(rheos__table_writer *writer, const char *key,
                                      size_t key_bytes, const void *value, size_t value_bytes);
// Writes what is left and the footer.
rheos_status *rheos__table_writer_finish(rheos__table_writer *writer);

// ---- Reading

// Calls `visit` with each entry in order; the bytes are valid during the call only. Stops at the
// first error, its own or the visitor's. RHEOS_DATA_LOSS if the bytes are not a sound table. `name`
// is for the messages.
typedef rheos_status *(*rheos__table_visit)(void *argument, const char *key, size_t key_bytes,
                                            const char *value, size_t value_bytes);
rheos_status *rheos__table_each(const char *name, const char *bytes, size_t size_bytes,
                                rheos__table_visit visit, void *argument);

// ---- Looking up, in a table that stays in its file: blocks are read when they are asked for

typedef struct rheos__table rheos__table;

rheos_status *rheos__table_open(const char *path, rheos__table **out_table);
void rheos__table_close(rheos__table *table);
uint64_t rheos__table_file_size(const rheos__table *table);
// Puts the value under the key into `out_value` (replaced); *out_found tells whether there is one.
// One thread at a time.
rheos_status *rheos__table_get(rheos__table *table, const char *key, size_t key_bytes,
                               rheos__buffer *out_value, bool *out_found);

#endif  // RHEOS_SRC_CODEC_TABLE_H
