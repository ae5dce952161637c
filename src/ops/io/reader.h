// Readers: resources that cut what is named in a queue, most often files, into records.
#ifndef RHEOS_SRC_OPS_IO_READER_H
#define RHEOS_SRC_OPS_IO_READER_H

#include "base/file.h"
#include "codec/buffer.h"
#include "codec/compress.h"
#include "codec/lmdb.h"
#include "graph/op_def.h"
#include "resource/waitable.h"

typedef enum rheos__reader_type {
  RHEOS__READS_NAMES,  // what is in the queue itself
  RHEOS__READS_FILES,  // whole ones
  RHEOS__READS_LINES,
  RHEOS__READS_BLOCKS,   // records of one length
  RHEOS__READS_RECORDS,  // TensorFlow's: codec/record.h
  RHEOS__READS_PAIRS,    // of databases: codec/lmdb.h
} rheos__reader_type;

// What a reader is made for; the argument of a new one.
typedef struct rheos__reader_spec {
  rheos__reader_type type;
  int64_t header_bytes, record_bytes, footer_bytes, hop_bytes;  // of blocks; a hop of 0: a record
  int64_t header_lines;                                         // of lines
  rheos_compression compression;
} rheos__reader_spec;

typedef struct rheos__reader {
  rheos__waitable waitable;  // its mutex guards is_taken; the rest is of who has taken the reader
  rheos__reader_spec spec;
  bool is_taken;
  _Atomic int64_t num_produced, num_completed;
  // The work under way.
  char *work;  // NULL: none
  size_t work_bytes;
  rheos__buffer last_work;  // what was begun last
  rheos__file *file;        // NULL: `content` holds all of it
  rheos__lmdb *lmdb;        // of a database
  rheos__buffer content;    // of a file that was compressed
  uint64_t offset, end;     // of what is to be read next
  int64_t num_read;         // records, or lines, of this work
  rheos__buffer chunk;      // of lines: bytes from `chunk_offset` on
  uint64_t chunk_offset;
} rheos__reader;

extern const rheos__resource_kind rheos__reader_kind;

// All of these by who has taken the reader.

// Begins with what a queue gave: a name.
rheos_status *rheos__reader_begin(rheos__reader *reader, const rheos_string *work);
// The next record, whose key and value are put behind what the buffers hold; `*out_at_end` where
// there is none.
rheos_status *rheos__reader_next(rheos__reader *reader, rheos__buffer *key, rheos__buffer *value,
                                 bool *out_at_end);
void rheos__reader_end_work(rheos__reader *reader);  // without counting it
// Whether each work is one record, so that it is done when that was read.
static inline bool rheos__reader_gives_whole(const rheos__reader *reader) {
  return reader->spec.type == RHEOS__READS_NAMES || reader->spec.type == RHEOS__READS_FILES;
}

// The reader behind input 0, borrowed; a status if there is another kind of resource.
rheos_status *rheos__reader_of(const rheos__prepare *p, rheos__reader **out_reader);

#endif  // RHEOS_SRC_OPS_IO_READER_H
