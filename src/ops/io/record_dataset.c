// DatasetToTFRecord: the elements of a dataset of strings as the records of a file.
#include "codec/compress.h"
#include "ops/data/dataset.h"
#include "ops/kit/op_util.h"
#include "ops/kit/string_util.h"

static rheos_status *write_element(rheos_record_writer *writer, const rheos_tensor *record) {
  if (record->shape.rank != 0) return RHEOS_INVALID("a record must be a scalar string");
  const rheos_string *text = record->data;
  return rheos_record_writer_write(writer, text->data, text->size_bytes);
}

static rheos_status *write_all(rheos__iterator *iterator, rheos_record_writer *writer,
                               rheos__step *step) {
  for (bool end = false;;) {
    rheos_tensor *record = NULL;
    RHEOS_TRY(rheos__iterator_next(iterator, step, &record, &end));
    if (end) return NULL;
    rheos_status *status = write_element(writer, record);
    rheos_tensor_unref(record);
    if (status == NULL && rheos__step_should_stop(step)) {
      status = rheos_status_new(RHEOS_CANCELLED, "the step was stopped");
    }
    if (status != NULL) return status;
  }
}

static rheos_status *write_dataset(rheos__dataset *d, rheos_record_writer *writer,
                                   rheos__step *step) {
  rheos__iterator *iterator = NULL;
  RHEOS_TRY(rheos__iterator_new_outer(d, step, &iterator));
  rheos__call_states *before = rheos__iterator_enter(iterator, step);
  rheos_status *status = write_all(iterator, writer, step);
  rheos__iterator_leave(step, before);
  rheos__iterator_free(iterator);
  return status;
}

static rheos_status *open_writer(const rheos_tensor *filename, const rheos_tensor *compression,
                                 rheos_record_writer **out_writer) {
  const rheos_string *path, *kind;
  rheos_compression how;
  RHEOS_TRY(rheos__string_scalar(filename, "filename", &path));
  RHEOS_TRY(rheos__string_scalar(compression, "compression_type", &kind));
  char *name = rheos__strndup(kind->data, kind->size_bytes);
  char *at = rheos__strndup(path->data, path->size_bytes);
  rheos_status *status = NULL;
  if (name == NULL || at == NULL) {
    status = rheos__out_of_memory();
  } else if (!rheos__compression_of(name, &how)) {
    status = RHEOS_INVALID("Unsupported compression_type:%s", name);
  } else {
    status = rheos_record_writer_open(at, how, -1, out_writer);
  }
  rheos__free(name);
  rheos__free(at);
  return status;
}

static rheos_status *compute_write(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)state, (void)outputs;
  rheos__dataset *d = NULL;
  rheos_record_writer *writer = NULL;
  RHEOS_TRY(rheos__dataset_of(inputs[0], "DatasetToTFRecord", &d));
  if (d->num_components != 1 || d->types[0] != RHEOS_STRING) {
    return RHEOS_INVALID("only a dataset of strings can be written as records");
  }
  RHEOS_TRY(open_writer(inputs[1], inputs[2], &writer));
  rheos_status *status = write_dataset(d, writer, step);
  rheos_status *closing = rheos_record_writer_close(writer);
  if (status == NULL) return closing;
  rheos_status_free(closing);
  return status;
}

static rheos_status *shape_write(rheos__infer *c) {
  rheos_shape scalar;
  for (int32_t i = 0; i < 3; ++i) RHEOS_TRY(rheos__infer_rank(c, i, 0, &scalar));
  return NULL;
}

#define WRITE(op)                                                                           \
  const rheos__op_def rheos__op_##op = {                                                    \
      .name = #op,                                                                          \
      .signature = "input_dataset: variant, filename: string, compression_type: string ->", \
      .doc = "Writes the elements of a dataset of strings to a file, as records.",          \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_USES_FILES,           \
      .shape = shape_write,                                                                 \
      .gradient = rheos__no_gradient,                                                       \
      .compute = compute_write,                                                             \
  };
WRITE(DatasetToTFRecord)
WRITE(ExperimentalDatasetToTFRecord)
