// Files in graphs: read, write, list, name.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "ops/kit/string_util.h"

static const size_t MAX_FILE_BYTES = (size_t)1 << 40;

static rheos_status *shape_scalars(rheos__infer *c) {
  rheos_shape unused;
  for (int32_t i = 0; i < c->num_inputs; i++) RHEOS_TRY(rheos__infer_rank(c, i, 0, &unused));
  return rheos__shape_scalar(c);
}

// ---- ReadFile

static rheos_status *read_file(const rheos_string *name, rheos_tensor *output) {
  char *path, *data;
  size_t size_bytes;
  if (name->size_bytes == 0) return RHEOS_NOTFOUND("the name of a file is empty");
  RHEOS_TRY(rheos__string_path(name, &path));
  rheos_status *status = rheos__file_read_all(path, MAX_FILE_BYTES, &data, &size_bytes);
  rheos__free(path);
  if (status != NULL) return status;
  rheos_string *contents = output->data;  // the new tensor's own
  rheos__free(contents->data);
  *contents = (rheos_string){data, size_bytes};
  return NULL;
}

static rheos_status *compute_read(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  (void)state, (void)step;
  const rheos_string *name;
  RHEOS_TRY(rheos__string_scalar(inputs[0], "filename", &name));
  RHEOS_TRY(rheos__tensor_new(RHEOS_STRING, &RHEOS_SCALAR, &outputs[0]));
  return read_file(name, outputs[0]);
}

// Stateful, unlike TensorFlow's: a file may change between two steps.
const rheos__op_def rheos__op_ReadFile = {
    .name = "ReadFile",
    .signature = "filename: string -> contents: string",
    .doc = "All bytes of the file.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_USES_FILES,
    .shape = shape_scalars,
    .compute = compute_read,
};

// ---- WriteFile

static rheos_status *write_file(const char *path, const rheos_string *contents) {
  char *folder = rheos__path_folder(path);
  if (folder == NULL) return rheos__out_of_memory();
  rheos_status *status = rheos__file_make_dirs(folder);
  rheos__free(folder);
  if (status != NULL) return status;
  rheos__file_writer *writer;
  RHEOS_TRY(rheos__file_writer_open(path, &writer));
  status = rheos__file_writer_write(writer, contents->data, contents->size_bytes);
  if (status == NULL) return rheos__file_writer_close_take(writer);
  rheos__file_writer_abandon(writer);
  return status;
}

static rheos_status *compute_write(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)state, (void)step, (void)outputs;
  const rheos_string *name, *contents;
  RHEOS_TRY(rheos__string_scalar(inputs[0], "filename", &name));
  RHEOS_TRY(rheos__string_scalar(inputs[1], "contents", &contents));
  char *path;
  RHEOS_TRY(rheos__string_path(name, &path));
  rheos_status *status = write_file(path, contents);
  rheos__free(path);
  return status;
}

const rheos__op_def rheos__op_WriteFile = {
    .name = "WriteFile",
    .signature = "filename: string, contents: string ->",
    .doc = "Writes `contents` to the file, which is made, with the folders above it, or replaced.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_USES_FILES,
    .shape = shape_scalars,
    .compute = compute_write,
};

// ---- MatchingFiles

typedef struct matches {
  char **paths;
  size_t count, capacity;
} matches;

// Adds the files that one pattern describes.
static rheos_status *match_one(const rheos_string *string, matches *found) {
  char *pattern, **paths;
  size_t count;
  RHEOS_TRY(rheos__string_path(string, &pattern));
  rheos_status *status = rheos__file_match(pattern, &paths, &count);
  rheos__free(pattern);
  if (status != NULL) return status;
  if (!RHEOS_RESERVE(found->paths, found->capacity, found->count + count)) {
    rheos__file_list_free(paths, count);
    return rheos__out_of_memory();
  }
  for (size_t i = 0; i < count; i++) found->paths[found->count++] = paths[i];
  rheos__free(paths);
  return NULL;
}

static rheos_status *match_all(const rheos_tensor *patterns, matches *found) {
  const rheos_string *strings = patterns->data;
  for (int64_t i = 0; i < patterns->num_elements; i++) RHEOS_TRY(match_one(&strings[i], found));
  if (found->count > 1)
    qsort(found->paths, found->count, sizeof *found->paths, rheos__compare_texts);
  return NULL;
}

static rheos_status *compute_matching(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                      rheos_tensor **outputs) {
  (void)state, (void)step;
  matches found = {0};
  rheos_status *status = match_all(inputs[0], &found);
  if (status == NULL) {
    status = rheos__tensor_new(RHEOS_STRING, &RHEOS_SHAPE((int64_t)found.count), &outputs[0]);
  }
  for (size_t i = 0; status == NULL && i < found.count; i++) {
    status =
        rheos_tensor_set_string(outputs[0], (int64_t)i, found.paths[i], strlen(found.paths[i]));
  }
  rheos__file_list_free(found.paths, found.count);
  return status;
}

static rheos_status *shape_matching(rheos__infer *c) {
  if (c->input_shapes[0].rank > 1) return RHEOS_INVALID("pattern must be a scalar or a vector");
  c->output_shapes[0] = RHEOS_SHAPE(-1);
  return NULL;
}

const rheos__op_def rheos__op_MatchingFiles = {
    .name = "MatchingFiles",
    .signature = "pattern: string -> filenames: string",
    .doc = "The files that the patterns (*, ?, [a-z]) describe, sorted.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_USES_FILES,
    .shape = shape_matching,
    .compute = compute_matching,
};

// ---- ShardedFilespec

static rheos_status *compute_filespec(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                      rheos_tensor **outputs) {
  (void)state, (void)step;
  const rheos_string *base = inputs[0]->data;
  char suffix[32];
  snprintf(suffix, sizeof suffix, "-\?\?\?\?\?-of-%05d", (int)rheos__tensor_int_at(inputs[1], 0));
  rheos__text text = {0};
  rheos__text_add(&text, base->data, base->size_bytes);
  rheos__text_add_string(&text, suffix);
  return rheos__text_tensor_take(&text, &outputs[0]);
}

const rheos__op_def rheos__op_ShardedFilespec = {
    .name = "ShardedFilespec",
    .signature = "basename: string, num_shards: int32 -> filename: string",
    .doc = "The pattern of the names of all `num_shards` files: `basename`-\?\?\?\?\?-of-00002.",
    .shape = shape_scalars,
    .compute = compute_filespec,
};
