// Reading checkpoints without a graph.
#include "handles.h"

#include <stdlib.h>
#include <string.h>

struct TF_CheckpointReader {
  rheos_checkpoint_reader *reader;
};

TF_CheckpointReader *TF_NewCheckpointReader(const char *filename, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(filename, "the file's name", status)) return NULL;
  TF_CheckpointReader *reader = calloc(1, sizeof *reader);
  if (reader == NULL) {
    capi_fail_for_memory(status);
    return NULL;
  }
  if (capi_take(status, rheos_checkpoint_reader_open(filename, &reader->reader))) return reader;
  free(reader);
  return NULL;
}

void TF_DeleteCheckpointReader(TF_CheckpointReader *reader) {
  if (reader == NULL) return;
  rheos_checkpoint_reader_free(reader->reader);
  free(reader);
}

static bool find(TF_CheckpointReader *reader, const char *name, size_t *out_index) {
  return reader != NULL && name != NULL &&
         rheos_checkpoint_reader_find(reader->reader, name, out_index);
}

int TF_CheckpointReaderHasTensor(TF_CheckpointReader *reader, const char *name) {
  return find(reader, name, NULL);
}

int TF_CheckpointReaderSize(TF_CheckpointReader *reader) {
  return reader == NULL ? 0 : (int)rheos_checkpoint_reader_count(reader->reader);
}

const char *TF_CheckpointReaderGetVariable(TF_CheckpointReader *reader, int index) {
  if (index < 0 || index >= TF_CheckpointReaderSize(reader)) return NULL;
  return rheos_checkpoint_reader_name(reader->reader, (size_t)index);
}

TF_DataType TF_CheckpointReaderGetVariableDataType(TF_CheckpointReader *reader, const char *name) {
  size_t index;
  if (!find(reader, name, &index)) return (TF_DataType)0;
  return (TF_DataType)rheos_checkpoint_reader_dtype(reader->reader, index);
}

int TF_CheckpointReaderGetVariableNumDims(TF_CheckpointReader *reader, const char *name) {
  size_t index;
  if (!find(reader, name, &index)) return -1;
  return rheos_checkpoint_reader_shape(reader->reader, index).rank;
}

void TF_CheckpointReaderGetVariableShape(TF_CheckpointReader *reader, const char *name,
                                         int64_t *dims, int num_dims, TF_Status *status) {
  size_t index;
  capi_succeed(status);
  if (!find(reader, name, &index)) {
    capi_fail(status, TF_NOT_FOUND, "the checkpoint has no tensor '%s'",
              name == NULL ? "(NULL)" : name);
    return;
  }
  rheos_shape shape = rheos_checkpoint_reader_shape(reader->reader, index);
  if (shape.rank != num_dims) {
    capi_fail(status, TF_INVALID_ARGUMENT, "Expected rank is %d but actual rank is %d", num_dims,
              shape.rank);
  } else if (num_dims > 0 && capi_need(dims, "dims", status)) {
    memcpy(dims, shape.dims, (size_t)num_dims * sizeof *dims);
  }
}

TF_Tensor *TF_CheckpointReaderGetTensor(TF_CheckpointReader *reader, const char *name,
                                        TF_Status *status) {
  TF_Tensor *tensor = NULL;
  rheos_tensor *value = NULL;
  capi_succeed(status);
  if (!capi_need(reader, "the reader", status) || !capi_need(name, "the name", status)) return NULL;
  rheos_status *error = rheos_checkpoint_reader_read_named(reader->reader, name, &value);
  if (error == NULL) error = capi_tensor_of(value, &tensor);
  rheos_tensor_unref(value);
  capi_take(status, error);
  return tensor;
}
