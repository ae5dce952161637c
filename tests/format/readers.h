// Every reader of files as a function of bytes, for the fuzz targets and for the test that damages
// files. readers.def lists them.
#ifndef RHEOS_TESTS_FORMAT_READERS_H
#define RHEOS_TESTS_FORMAT_READERS_H

#include <rheos/base.h>

typedef struct file_reader {
  const char *name;
  // Reads all there is to read. A status says that the bytes are no such file.
  rheos_status *(*read)(const void *data, size_t size_bytes);
  int64_t fixed_mib, multiple;  // as in readers.def
  bool repeats;
} file_reader;

extern const file_reader file_readers[];
extern const size_t num_file_readers;
const file_reader *file_reader_named(const char *name);  // NULL if there is none

// What it may hold for that many bytes.
int64_t file_reader_limit(const file_reader *reader, size_t size_bytes);

// Frees what readers keep between calls: a folder for files, graphs and sessions.
void file_readers_end(void);

// Reads all tensors of the checkpoint in files.
rheos_status *read_checkpoint_files(const char *prefix);

// Files that the reader is for, one by one: TensorFlow's from tests/golden, or made on the spot.
typedef void (*take_seed)(void *argument, const void *data, size_t size_bytes);
void file_reader_seeds(const char *reader, take_seed take, void *argument);

// ---- Readers that run what they read: readers_flow.c

rheos_status *read_by_running(const void *data, size_t size_bytes);  // a GraphDef
rheos_status *read_as_program(const void *data, size_t size_bytes);  // four bytes a node
void flow_program_seeds(take_seed take, void *argument);

// ---- Readers of what comes over a cluster's wire: readers_net.c

rheos_status *read_request(const void *data, size_t size_bytes);
rheos_status *read_cluster_json(const void *data, size_t size_bytes);
void request_seeds(take_seed take, void *argument);
void cluster_json_seeds(take_seed take, void *argument);

// ---- Readers that are ops, on the recorded cases of tests/golden/ops: the first byte chooses the
// case, the others are the string that is parsed (readers_ops.c)

// Loads the cases, which are kept: before memory is counted. Other readers need nothing.
void op_reader_begin(const char *reader);
rheos_status *read_by_op(const char *reader, const void *data, size_t size_bytes);
void op_reader_seeds(const char *reader, take_seed take, void *argument);
void op_readers_end(void);

#endif  // RHEOS_TESTS_FORMAT_READERS_H
