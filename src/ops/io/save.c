// Checkpoints as ops: save tensors, restore them, name shards, merge shards. What the files are is
// told in format/checkpoint/bundle.h.
#include "ops/io/save.h"

#include <pthread.h>
#include <rheos/format.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "codec/buffer.h"
#include "format/checkpoint/checkpoint_name.h"
#include "ops/data/dataset.h"
#include "ops/kit/string_util.h"

// The inputs of SaveV2 and RestoreV2.
enum { PREFIX, TENSOR_NAMES, SHAPE_AND_SLICES, FIRST_TENSOR };

// ---- Shapes

static rheos_status *check_list(const rheos__infer *c, int32_t input, int64_t num_tensors) {
  rheos_shape shape;
  RHEOS_TRY(rheos__infer_rank(c, input, 1, &shape));
  if (shape.dims[0] == -1 || shape.dims[0] == num_tensors) return NULL;
  return RHEOS_INVALID("%s has %lld elements for %lld tensors",
                       input == TENSOR_NAMES ? "tensor_names" : "shape_and_slices",
                       (long long)shape.dims[0], (long long)num_tensors);
}

static rheos_status *check_names(const rheos__infer *c, int64_t num_tensors) {
  rheos_shape unused;
  RHEOS_TRY(rheos__infer_rank(c, PREFIX, 0, &unused));
  RHEOS_TRY(check_list(c, TENSOR_NAMES, num_tensors));
  return check_list(c, SHAPE_AND_SLICES, num_tensors);
}

static rheos_status *save_shape(rheos__infer *c) {
  return check_names(c, c->num_inputs - FIRST_TENSOR);
}

static rheos_status *restore_shape(rheos__infer *c) {
  RHEOS_TRY(check_names(c, c->num_outputs));
  return rheos__shape_of_slices(c);
}

static rheos_status *filename_shape(rheos__infer *c) {
  rheos_shape unused;
  for (int32_t i = 0; i < 3; i++) RHEOS_TRY(rheos__infer_rank(c, i, 0, &unused));
  c->output_shapes[0] = RHEOS_SCALAR;
  return NULL;
}

static rheos_status *merge_shape(rheos__infer *c) {
  rheos_shape unused;
  RHEOS_TRY(rheos__infer_rank(c, 0, 1, &unused));
  return rheos__infer_rank(c, 1, 0, &unused);
}

// ---- What all kernels need

static rheos_status *path_at(const rheos_tensor *tensor, int64_t index, char **out_path) {
  return rheos__string_path((const rheos_string *)tensor->data + index, out_path);
}

rheos_status *rheos__check_step(rheos__step *step, const char *what) {
  if (step == NULL || !rheos__step_should_stop(step)) return NULL;
  return rheos_status_new(RHEOS_CANCELLED, "%s was cancelled", what);
}

typedef struct dtypes_state {
  int32_t count;
  rheos_dtype *dtypes;
} dtypes_state;

static rheos_status *prepare_with_dtypes(rheos__prepare *p, int32_t count,
                                         const rheos_dtype *dtypes, rheos__compute_fn compute) {
  dtypes_state *state = RHEOS_NEW_STATE(p, dtypes_state);
  if (state == NULL) return rheos__out_of_memory();
  state->count = count;
  state->dtypes = rheos__arena_copy(p->arena, dtypes, (size_t)count * sizeof *dtypes);
  if (state->dtypes == NULL) return rheos__out_of_memory();
  p->compute = compute;
  return NULL;
}

// Shapes need not be known when a node is added.
static rheos_status *check_counts(rheos_tensor *const *inputs, int32_t num_tensors) {
  for (int32_t i = TENSOR_NAMES; i <= SHAPE_AND_SLICES; i++) {
    if (inputs[i]->num_elements == num_tensors) continue;
    return RHEOS_INVALID("%lld %s for %d tensors", (long long)inputs[i]->num_elements,
                         i == TENSOR_NAMES ? "tensor_names" : "shape_and_slices", num_tensors);
  }
  return NULL;
}

// ---- SaveV2

// Of variants the states of iterators can be saved, as strings.
static rheos_status *add_variant(rheos__bundle_writer *writer, const rheos_string *name,
                                 const rheos_tensor *tensor) {
  rheos_tensor *strings = NULL;
  RHEOS_TRY(rheos__iterator_state_to_strings(tensor, &strings));
  rheos_status *status = rheos__bundle_writer_add(writer, name->data, name->size_bytes, strings);
  rheos_tensor_unref(strings);
  return status;
}

// A tensor, or a part of one as `text` tells.
static rheos_status *add_tensor(rheos__bundle_writer *writer, const rheos_string *name,
                                const rheos_string *text, const rheos_tensor *tensor) {
  if (tensor->dtype == RHEOS_VARIANT) return add_variant(writer, name, tensor);
  if (text->size_bytes == 0) {
    return rheos__bundle_writer_add(writer, name->data, name->size_bytes, tensor);
  }
  rheos_shape shape, slice_shape;
  rheos__slice slice;
  RHEOS_TRY(rheos__slice_parse(text, &shape, &slice, &slice_shape));
  if (!rheos_shape_equal(&slice_shape, &tensor->shape)) {
    rheos__shape_text buffer;
    return RHEOS_INVALID(
        "Slice in shape_and_slice specification does not match the shape of the "
        "tensor to  save: %.*s, tensor: %s",
        (int)text->size_bytes, text->data, rheos__shape_text_of(&tensor->shape, &buffer));
  }
  return rheos__bundle_writer_add_slice(writer, name->data, name->size_bytes, &shape, &slice,
                                        tensor);
}

static rheos_status *add_tensors(rheos__bundle_writer *writer, const dtypes_state *state,
                                 rheos__step *step, rheos_tensor *const *inputs) {
  const rheos_string *names = inputs[TENSOR_NAMES]->data;
  const rheos_string *texts = inputs[SHAPE_AND_SLICES]->data;
  for (int32_t i = 0; i < state->count; i++) {
    RHEOS_TRY(rheos__check_step(step, "the save"));
    RHEOS_TRY(add_tensor(writer, &names[i], &texts[i], inputs[FIRST_TENSOR + i]));
  }
  return NULL;
}

// Steps that save to one prefix at a time, as a program and its supervisor's thread may, take
// turns: the names of unfinished files are the same for both.
typedef struct turn {
  const char *prefix;
  pid_t process;  // a forked child does not wait for threads that it has not
  struct turn *next;
} turn;

static pthread_mutex_t turns_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_ended = PTHREAD_COND_INITIALIZER;
static turn *turns;

static bool is_taken(const turn *wanted) {
  for (const turn *t = turns; t != NULL; t = t->next) {
    if (t->process == wanted->process && strcmp(t->prefix, wanted->prefix) == 0) return true;
  }
  return false;
}

static void begin_turn(turn *t) {
  pthread_mutex_lock(&turns_mutex);
  while (is_taken(t)) pthread_cond_wait(&turn_ended, &turns_mutex);
  t->next = turns;
  turns = t;
  pthread_mutex_unlock(&turns_mutex);
}

static void end_turn(turn *t) {
  pthread_mutex_lock(&turns_mutex);
  turn **place = &turns;
  while (*place != t) place = &(*place)->next;
  *place = t->next;
  pthread_cond_broadcast(&turn_ended);
  pthread_mutex_unlock(&turns_mutex);
}

static rheos_status *save_to(const char *prefix, const dtypes_state *state, rheos__step *step,
                             rheos_tensor *const *inputs) {
  rheos__bundle_writer *writer;
  RHEOS_TRY(rheos__bundle_writer_open(prefix, &writer));
  rheos__bundle_writer_use(writer, step);
  rheos_status *status = add_tensors(writer, state, step, inputs);
  rheos__bundle_writer_use(writer, NULL);
  if (status == NULL) return rheos__bundle_writer_finish_take(writer);
  rheos__bundle_writer_abandon(writer);
  return status;
}

static rheos_status *compute_save(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  const dtypes_state *state = argument;
  (void)outputs;
  RHEOS_TRY(check_counts(inputs, state->count));
  char *prefix;
  RHEOS_TRY(path_at(inputs[PREFIX], 0, &prefix));
  turn own = {.prefix = prefix, .process = getpid()};
  begin_turn(&own);
  rheos_status *status = save_to(prefix, state, step, inputs);
  end_turn(&own);
  rheos__free(prefix);
  return status;
}

static rheos_status *prepare_save(rheos__prepare *p) {
  return prepare_with_dtypes(p, p->num_inputs - FIRST_TENSOR, p->input_dtypes + FIRST_TENSOR,
                             compute_save);
}

// ---- RestoreV2

// Everything that is missing or of another dtype: told at once, not one a run.
static rheos_status *explain_misfit(const char *prefix, const dtypes_state *state,
                                    const rheos_tensor *names) {
  const rheos_string *texts = names->data;
  rheos_checkpoint_reader *reader;
  RHEOS_TRY(rheos_checkpoint_reader_open(prefix, &reader));
  rheos_wanted_tensor *wanted = rheos__alloc_array((size_t)state->count, sizeof *wanted);
  rheos_status *status = wanted == NULL ? rheos__out_of_memory() : NULL;
  for (int32_t i = 0; wanted != NULL && i < state->count; i++) {
    wanted[i] = (rheos_wanted_tensor){.name = texts[i].size_bytes > 0 ? texts[i].data : "",
                                      .name_bytes = texts[i].size_bytes,
                                      .dtype = state->dtypes[i],
                                      .shape = RHEOS_UNKNOWN_SHAPE};
  }
  if (status == NULL) {
    status = rheos_checkpoint_reader_check(reader, prefix, wanted, (size_t)state->count);
  }
  rheos__free(wanted);
  rheos_checkpoint_reader_free(reader);
  return status;
}

static rheos_status *find_entries(const rheos__bundle *bundle, const char *prefix,
                                  const dtypes_state *state, const rheos_tensor *names,
                                  const rheos__bundle_entry **entries) {
  const rheos_string *texts = names->data;
  for (int32_t i = 0; i < state->count; i++) {
    entries[i] = rheos__bundle_find(bundle, texts[i].data, texts[i].size_bytes);
    const rheos_dtype saved = state->dtypes[i] == RHEOS_VARIANT ? RHEOS_STRING : state->dtypes[i];
    if (entries[i] == NULL || entries[i]->dtype != saved) {
      return explain_misfit(prefix, state, names);
    }
  }
  return NULL;
}

static rheos_status *restore_slice(rheos__bundle *bundle, const rheos__bundle_entry *entry,
                                   const rheos_string *text, rheos_tensor **out_tensor) {
  rheos_shape shape, slice_shape;
  rheos__slice slice;
  RHEOS_TRY(rheos__slice_parse(text, &shape, &slice, &slice_shape));
  if (!rheos_shape_equal(&shape, &entry->shape)) {
    rheos__shape_text a, b;
    return RHEOS_INVALID(
        "tensor_name = %s; shape in shape_and_slice spec %s does not match the "
        "shape stored in checkpoint: %s",
        entry->name, rheos__shape_text_of(&shape, &a), rheos__shape_text_of(&entry->shape, &b));
  }
  return rheos__bundle_read_slice(bundle, entry, &slice, out_tensor);
}

// Read at once, before the step looks whether it shall stop.
enum { ROUND_BYTES = 256 << 20 };

// How many entries from the first one are read at once: whole tensors.
static int32_t round_from(const rheos__bundle_entry *const *entries, const rheos_string *texts,
                          int32_t first, int32_t count) {
  uint64_t bytes = 0;
  int32_t i = first;
  for (; i < count && texts[i].size_bytes == 0 && bytes < ROUND_BYTES; i++) {
    bytes += entries[i]->size_bytes < ROUND_BYTES ? entries[i]->size_bytes : ROUND_BYTES;
  }
  return i - first;
}

static rheos_status *restore_entries(rheos__bundle *bundle,
                                     const rheos__bundle_entry *const *entries, int32_t count,
                                     rheos__step *step, const rheos_string *texts,
                                     rheos_tensor **outputs) {
  for (int32_t i = 0; i < count;) {
    RHEOS_TRY(rheos__check_step(step, "the restore"));
    const int32_t some = round_from(entries, texts, i, count);
    if (some == 0) {
      RHEOS_TRY(restore_slice(bundle, entries[i], &texts[i], &outputs[i]));
      i++;
      continue;
    }
    RHEOS_TRY(rheos__bundle_read_all(bundle, &entries[i], (size_t)some, step, &outputs[i]));
    i += some;
  }
  return NULL;
}

static rheos_status *restore_variants(const dtypes_state *state, rheos_tensor **outputs) {
  for (int32_t i = 0; i < state->count; i++) {
    if (state->dtypes[i] != RHEOS_VARIANT) continue;
    rheos_tensor *strings = outputs[i];
    outputs[i] = NULL;
    rheos_status *status = rheos__iterator_state_of_strings(strings, &outputs[i]);
    rheos_tensor_unref(strings);
    RHEOS_TRY(status);
  }
  return NULL;
}

static rheos_status *restore_bundle(rheos__bundle *bundle, const char *prefix,
                                    const dtypes_state *state, rheos__step *step,
                                    rheos_tensor *const *inputs, rheos_tensor **outputs) {
  const rheos__bundle_entry **entries = rheos__alloc_array((size_t)state->count, sizeof *entries);
  if (entries == NULL) return rheos__out_of_memory();
  rheos_status *status = find_entries(bundle, prefix, state, inputs[TENSOR_NAMES], entries);
  if (status == NULL) {
    status = restore_entries(bundle, entries, state->count, step, inputs[SHAPE_AND_SLICES]->data,
                             outputs);
  }
  if (status == NULL) status = restore_variants(state, outputs);
  rheos__free(entries);
  return status;
}

static rheos_status *restore_v1(rheos__v1_checkpoint *checkpoint, const char *pattern,
                                const dtypes_state *state, rheos__step *step,
                                rheos_tensor *const *inputs, rheos_tensor **outputs) {
  const rheos_string *names = inputs[TENSOR_NAMES]->data;
  const rheos_string *texts = inputs[SHAPE_AND_SLICES]->data;
  for (int32_t i = 0; i < state->count; i++) {
    RHEOS_TRY(rheos__check_step(step, "the restore"));
    RHEOS_TRY(rheos__restore_v1(checkpoint, pattern, &names[i], &texts[i], state->dtypes[i],
                                &outputs[i]));
  }
  return NULL;
}

static rheos_status *compute_restore(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  const dtypes_state *state = argument;
  RHEOS_TRY(check_counts(inputs, state->count));
  char *prefix;
  RHEOS_TRY(path_at(inputs[PREFIX], 0, &prefix));
  rheos__bundle *bundle;
  rheos__v1_checkpoint *v1;
  rheos_status *status = rheos__checkpoint_open(prefix, &bundle, &v1);
  if (bundle != NULL) {
    status = restore_bundle(bundle, prefix, state, step, inputs, outputs);
  } else if (v1 != NULL) {
    status = restore_v1(v1, prefix, state, step, inputs, outputs);
  }
  rheos__bundle_close(bundle);
  rheos__v1_checkpoint_close(v1);
  rheos__free(prefix);
  return status;
}

static rheos_status *prepare_restore(rheos__prepare *p) {
  return prepare_with_dtypes(p, p->num_outputs, p->output_dtypes, compute_restore);
}

// ---- ShardedFilename

static rheos_status *compute_filename(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                      rheos_tensor **outputs) {
  (void)state;
  (void)step;
  const rheos_string *base = inputs[0]->data;
  char suffix[48];
  int length =
      snprintf(suffix, sizeof suffix, "-%05d-of-%05d", (int)rheos__tensor_int_at(inputs[1], 0),
               (int)rheos__tensor_int_at(inputs[2], 0));
  rheos__buffer name = {0};
  rheos__buffer_put(&name, base->data, base->size_bytes);
  rheos__buffer_put(&name, suffix, (size_t)length);
  rheos_status *status = name.failed ? rheos__out_of_memory()
                                     : rheos__tensor_new(RHEOS_STRING, &RHEOS_SCALAR, &outputs[0]);
  if (status == NULL) {
    status = rheos_tensor_set_string(outputs[0], 0, name.data, name.size_bytes);
  }
  rheos__buffer_deinit(&name);
  return status;
}

// ---- MergeV2Checkpoints

// Folders of the parts that are left empty go away, except the destination's. Best effort, as parts
// of other tasks may still lie there.
static void remove_old_folders(char *const *prefixes, size_t count, const char *destination) {
  char *keep = rheos__path_folder(destination);
  for (size_t i = 0; i < count && keep != NULL; i++) {
    char *folder = rheos__path_folder(prefixes[i]);
    if (folder != NULL && strcmp(folder, keep) != 0) {
      rheos_status_free(rheos__file_remove_dir(folder));
    }
    rheos__free(folder);
  }
  rheos__free(keep);
}

typedef struct merge_state {
  bool delete_old_dirs, allow_missing_files;
} merge_state;

// Leaves out the prefixes of checkpoints that have no index file.
static rheos_status *keep_existing(char **prefixes, size_t *count) {
  size_t kept = 0;
  rheos_status *status = NULL;
  for (size_t i = 0; i < *count; i++) {
    bool exists = false;
    char *index = status == NULL ? rheos__text_format("%s.index", prefixes[i]) : NULL;
    if (status == NULL) {
      status = index != NULL ? rheos__file_exists(index, &exists) : rheos__out_of_memory();
    }
    rheos__free(index);
    if (exists || status != NULL) {
      prefixes[kept++] = prefixes[i];
    } else {
      rheos__free(prefixes[i]);
    }
  }
  *count = kept;
  return status;
}

static rheos_status *compute_merge(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  const merge_state *s = argument;
  (void)step;
  (void)outputs;
  size_t count = (size_t)inputs[0]->num_elements;
  char *destination;
  RHEOS_TRY(path_at(inputs[1], 0, &destination));
  char **prefixes = rheos__alloc_array(count, sizeof *prefixes);
  rheos_status *status = prefixes != NULL ? NULL : rheos__out_of_memory();
  for (size_t i = 0; status == NULL && i < count; i++) {
    status = path_at(inputs[0], (int64_t)i, &prefixes[i]);
  }
  if (status == NULL && s->allow_missing_files) status = keep_existing(prefixes, &count);
  if (status == NULL) {
    status = rheos__bundle_merge((const char *const *)prefixes, count, destination);
  }
  if (status == NULL && s->delete_old_dirs) remove_old_folders(prefixes, count, destination);
  for (size_t i = 0; prefixes != NULL && i < count; i++) rheos__free(prefixes[i]);
  rheos__free(prefixes);
  rheos__free(destination);
  return status;
}

static rheos_status *prepare_merge(rheos__prepare *p) {
  merge_state *s = RHEOS_NEW_STATE(p, merge_state);
  if (s == NULL) return rheos__out_of_memory();
  s->delete_old_dirs = rheos__attr_bool(p->attrs, "delete_old_dirs");
  s->allow_missing_files = rheos__attr_bool(p->attrs, "allow_missing_files");
  p->compute = compute_merge;
  return NULL;
}

// ---- Definitions

const rheos__op_def rheos__op_MergeV2Checkpoints = {
    .name = "MergeV2Checkpoints",
    .signature =
        "checkpoint_prefixes: string, destination_prefix: string -> ; delete_old_dirs: bool = "
        "true; "
        "allow_missing_files: bool = false",
    .doc = "Makes one checkpoint `destination_prefix` of the checkpoints `checkpoint_prefixes`.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_USES_FILES,
    .shape = merge_shape,
    .prepare = prepare_merge,
};

const rheos__op_def rheos__op_RestoreV2 = {
    .name = "RestoreV2",
    .signature =
        "prefix: string, tensor_names: string, shape_and_slices: string -> tensors: dtypes; "
        "dtypes: list(type) >= 1",
    .doc = "Reads the tensors `tensor_names` from the checkpoint `prefix`.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_USES_FILES,
    .shape = restore_shape,
    .prepare = prepare_restore,
};

const rheos__op_def rheos__op_SaveV2 = {
    .name = "SaveV2",
    .signature =
        "prefix: string, tensor_names: string, shape_and_slices: string, tensors: dtypes -> ; "
        "dtypes: list(type) >= 1",
    .doc = "Writes `tensors` under the names `tensor_names` to the checkpoint `prefix`.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_USES_FILES,
    .shape = save_shape,
    .prepare = prepare_save,
};

const rheos__op_def rheos__op_ShardedFilename = {
    .name = "ShardedFilename",
    .signature = "basename: string, shard: int32, num_shards: int32 -> filename: string",
    .doc = "The name of one file of several: `basename`-00000-of-00001.",
    .shape = filename_shape,
    .compute = compute_filename,
};
