// Files of elements as TensorFlow's snapshots and saved datasets have them:
// FOLDER/RUN/SHARD.shard/CHUNK.snapshot, each a file of records, a TensorProto for each component
// of each element, and FOLDER/snapshot.metadata.
#ifndef RHEOS_SRC_OPS_IO_SHARD_FILES_H
#define RHEOS_SRC_OPS_IO_SHARD_FILES_H

#include "ops/data/dataset.h"

typedef enum rheos__shard_compression {
  RHEOS__SHARD_PLAIN,
  RHEOS__SHARD_GZIP,
  RHEOS__SHARD_SNAPPY,
} rheos__shard_compression;

// The kind that TensorFlow calls "", "GZIP", "SNAPPY" or "AUTO".
rheos_status *rheos__shard_compression_of(const rheos_string *name,
                                          rheos__shard_compression *out_compression);

// ---- What is told of the elements

typedef struct rheos__shard_metadata {
  char run[32];         // the name of the run's folder
  char graph_hash[32];  // of what made the elements; of saved datasets empty
  int64_t version, created_us, num_elements;
  rheos_dtype *dtypes;  // of the components
  int32_t num_dtypes;
  bool is_finalized;
} rheos__shard_metadata;

// RHEOS_NOT_FOUND if there is none, RHEOS_DATA_LOSS if it is damaged.
rheos_status *rheos__shard_metadata_read(const char *folder, rheos__shard_metadata *out_metadata);
rheos_status *rheos__shard_metadata_write(const char *folder,
                                          const rheos__shard_metadata *metadata);
void rheos__shard_metadata_deinit(rheos__shard_metadata *metadata);

// ---- Writing

typedef struct rheos__shard_writer rheos__shard_writer;

// Makes the folder of a shard and its first file.
rheos_status *rheos__shard_writer_open(const char *run_folder, int64_t shard,
                                       rheos__shard_compression compression,
                                       rheos__shard_writer **out_writer);
rheos_status *rheos__shard_writer_put(rheos__shard_writer *writer, const rheos_tensor *tensor);
rheos_status *rheos__shard_writer_close_take(rheos__shard_writer *writer);
void rheos__shard_writer_abandon(rheos__shard_writer *writer);  // NULL: nothing

// ---- Reading

// A dataset of datasets, one for each shard of a run, of elements like those of `like`.
rheos_status *rheos__shards_open(const rheos__dataset *like, const char *run_folder,
                                 rheos__shard_compression compression, rheos_tensor **out_shards);

#endif  // RHEOS_SRC_OPS_IO_SHARD_FILES_H
