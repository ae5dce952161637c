// Checkpoints of the first kind as ops: Save, SaveSlices, Restore, RestoreSlice. What the files are
// is told in format/checkpoint/checkpoint_v1.h.
#include "ops/io/save.h"
#include "ops/kit/string_util.h"

enum { FILENAME, TENSOR_NAMES, SHAPES_AND_SLICES };

// ---- Shapes

// Of lists before the tensors, which start at input `first`.
static rheos_status *check_lists(const rheos__infer *c, int32_t first) {
  rheos_shape unused, names;
  const int64_t num_tensors = c->num_inputs - first;
  RHEOS_TRY(rheos__infer_rank(c, FILENAME, 0, &unused));
  for (int32_t i = TENSOR_NAMES; i < first; i++) {
    RHEOS_TRY(rheos__infer_rank(c, i, 1, &names));
    if (names.dims[0] == -1 || names.dims[0] == num_tensors) continue;
    return RHEOS_INVALID("Dimension must be %lld but is %lld", (long long)names.dims[0],
                         (long long)num_tensors);
  }
  return NULL;
}

static rheos_status *save_shape(rheos__infer *c) { return check_lists(c, SHAPES_AND_SLICES); }

static rheos_status *save_slices_shape(rheos__infer *c) {
  return check_lists(c, SHAPES_AND_SLICES + 1);
}

rheos_status *rheos__shape_of_slices(rheos__infer *c) {
  const rheos_tensor *texts = c->input_values != NULL ? c->input_values[SHAPES_AND_SLICES] : NULL;
  for (int32_t i = 0; texts != NULL && i < c->num_outputs && i < texts->num_elements; i++) {
    const rheos_string *text = (const rheos_string *)texts->data + i;
    rheos_shape whole;
    rheos__slice slice;
    if (text->size_bytes == 0) continue;
    RHEOS_TRY(rheos__slice_parse(text, &whole, &slice, &c->output_shapes[i]));
  }
  return NULL;
}

static rheos_status *restore_shape(rheos__infer *c) {
  rheos_shape unused;
  for (int32_t i = 0; i < c->num_inputs; i++) RHEOS_TRY(rheos__infer_rank(c, i, 0, &unused));
  return rheos__shape_of_slices(c);
}

// ---- Save, SaveSlices

typedef struct save_state {
  int32_t num_tensors;
  int32_t first_tensor;  // its input
} save_state;

static rheos_status *item_of(const rheos_string *name, const rheos_string *text,
                             const rheos_tensor *tensor, rheos__v1_item *item) {
  rheos_shape slice_shape;
  *item = (rheos__v1_item){.name = name->size_bytes > 0 ? name->data : "",
                           .name_bytes = name->size_bytes,
                           .shape = tensor->shape,
                           .slice = rheos__slice_whole(tensor->shape.rank),
                           .tensor = tensor};
  if (text == NULL || text->size_bytes == 0) return NULL;
  return rheos__slice_parse(text, &item->shape, &item->slice, &slice_shape);
}

static rheos_status *check_count(const rheos_tensor *list, int32_t num_tensors) {
  if (list->num_elements == num_tensors) return NULL;
  return RHEOS_INVALID("Got %lld tensor names or slices but %d tensors",
                       (long long)list->num_elements, num_tensors);
}

static rheos_status *collect(const save_state *state, rheos_tensor *const *inputs,
                             rheos__v1_item *items) {
  const bool sliced = state->first_tensor > SHAPES_AND_SLICES;
  for (int32_t i = TENSOR_NAMES; i < state->first_tensor; i++) {
    RHEOS_TRY(check_count(inputs[i], state->num_tensors));
  }
  const rheos_string *names = inputs[TENSOR_NAMES]->data;
  const rheos_string *texts = sliced ? inputs[SHAPES_AND_SLICES]->data : NULL;
  for (int32_t i = 0; i < state->num_tensors; i++) {
    RHEOS_TRY(
        item_of(&names[i], sliced ? &texts[i] : NULL, inputs[state->first_tensor + i], &items[i]));
  }
  return NULL;
}

static rheos_status *compute_save(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  const save_state *state = argument;
  (void)outputs;
  const rheos_string *filename;
  RHEOS_TRY(rheos__check_step(step, "the save"));
  RHEOS_TRY(rheos__string_scalar(inputs[FILENAME], "filename", &filename));
  rheos__v1_item *items = rheos__alloc_array((size_t)state->num_tensors, sizeof *items);
  if (items == NULL) return rheos__out_of_memory();
  char *path = NULL;
  rheos_status *status = collect(state, inputs, items);
  if (status == NULL) status = rheos__string_path(filename, &path);
  if (status == NULL) status = rheos__v1_checkpoint_write(path, items, (size_t)state->num_tensors);
  rheos__free(path);
  rheos__free(items);
  return status;
}

static rheos_status *answer_save(rheos__prepare *p, int32_t first_tensor) {
  save_state *state = RHEOS_NEW_STATE(p, save_state);
  if (state == NULL) return rheos__out_of_memory();
  state->first_tensor = first_tensor;
  state->num_tensors = p->num_inputs - state->first_tensor;
  p->compute = compute_save;
  return NULL;
}

static rheos_status *prepare_save(rheos__prepare *p) { return answer_save(p, SHAPES_AND_SLICES); }

static rheos_status *prepare_save_slices(rheos__prepare *p) {
  return answer_save(p, SHAPES_AND_SLICES + 1);
}

// ---- Restore, RestoreSlice

typedef struct restore_state {
  rheos_dtype dtype;
  bool sliced;
} restore_state;

static rheos_status *find_entry(const rheos__v1_checkpoint *checkpoint, const char *pattern,
                                const rheos_string *name, rheos_dtype dtype,
                                const rheos__v1_entry **out_entry) {
  const char *text = name->size_bytes > 0 ? name->data : "";
  *out_entry = rheos__v1_checkpoint_find(checkpoint, text, name->size_bytes);
  if (*out_entry == NULL) {
    return RHEOS_NOTFOUND("Tensor name \"%.*s\" not found in checkpoint files %s",
                          (int)name->size_bytes, text, pattern);
  }
  if ((*out_entry)->dtype == dtype) return NULL;
  return RHEOS_INVALID(
      "Expected to restore a tensor of type %s, got a tensor of type %s instead: tensor_name = %s",
      rheos_dtype_name(dtype), rheos_dtype_name((*out_entry)->dtype), (*out_entry)->name);
}

rheos_status *rheos__restore_v1(rheos__v1_checkpoint *checkpoint, const char *pattern,
                                const rheos_string *name, const rheos_string *shape_and_slice,
                                rheos_dtype dtype, rheos_tensor **out_tensor) {
  const rheos__v1_entry *entry;
  RHEOS_TRY(find_entry(checkpoint, pattern, name, dtype, &entry));
  rheos__slice slice = rheos__slice_whole(entry->shape.rank);
  rheos_shape shape, slice_shape;
  if (shape_and_slice != NULL && shape_and_slice->size_bytes > 0) {
    RHEOS_TRY(rheos__slice_parse(shape_and_slice, &shape, &slice, &slice_shape));
    if (!rheos_shape_equal(&shape, &entry->shape)) {
      rheos__shape_text a, b;
      return RHEOS_INVALID(
          "Shape in shape_and_slice spec does not match the shape in the save "
          "file: %s, save file shape: %s",
          rheos__shape_text_of(&shape, &a), rheos__shape_text_of(&entry->shape, &b));
    }
  }
  return rheos__v1_checkpoint_read(checkpoint, entry, &slice, out_tensor);
}

static rheos_status *compute_restore(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  const restore_state *state = argument;
  const rheos_string *filename, *name, *text = NULL;
  RHEOS_TRY(rheos__check_step(step, "the restore"));
  RHEOS_TRY(rheos__string_scalar(inputs[FILENAME], "file_pattern", &filename));
  RHEOS_TRY(rheos__string_scalar(inputs[TENSOR_NAMES], "tensor_name", &name));
  if (state->sliced) {
    RHEOS_TRY(rheos__string_scalar(inputs[SHAPES_AND_SLICES], "shape_and_slice", &text));
  }
  char *pattern;
  RHEOS_TRY(rheos__string_path(filename, &pattern));
  rheos__v1_checkpoint *checkpoint;
  rheos_status *status = rheos__v1_checkpoint_open(pattern, &checkpoint);
  if (status == NULL) {
    status = rheos__restore_v1(checkpoint, pattern, name, text, state->dtype, &outputs[0]);
    rheos__v1_checkpoint_close(checkpoint);
  }
  rheos__free(pattern);
  return status;
}

static rheos_status *prepare_restore(rheos__prepare *p) {
  restore_state *state = RHEOS_NEW_STATE(p, restore_state);
  if (state == NULL) return rheos__out_of_memory();
  state->dtype = p->output_dtypes[0];
  state->sliced = p->num_inputs > SHAPES_AND_SLICES;
  p->compute = compute_restore;
  return NULL;
}

// ---- Definitions

const rheos__op_def rheos__op_Restore = {
    .name = "Restore",
    .signature =
        "file_pattern: string, tensor_name: string -> tensor: dt; dt: type; "
        "preferred_shard: int = -1",
    .doc =
        "Reads a tensor from the checkpoint files (of the first kind) `file_pattern`. All shards "
        "are "
        "looked at, whichever is preferred.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_USES_FILES,
    .shape = restore_shape,
    .prepare = prepare_restore,
};

const rheos__op_def rheos__op_RestoreSlice = {
    .name = "RestoreSlice",
    .signature =
        "file_pattern: string, tensor_name: string, shape_and_slice: string -> tensor: dt; "
        "dt: type; preferred_shard: int = -1",
    .doc = "Reads a part of a tensor from the checkpoint files (of the first kind) `file_pattern`.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_USES_FILES,
    .shape = restore_shape,
    .prepare = prepare_restore,
};

const rheos__op_def rheos__op_Save = {
    .name = "Save",
    .signature = "filename: string, tensor_names: string, data: T -> ; T: list(type) >= 1",
    .doc = "Writes tensors to a checkpoint of the first kind, the file `filename`.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_USES_FILES,
    .shape = save_shape,
    .prepare = prepare_save,
};

const rheos__op_def rheos__op_SaveSlices = {
    .name = "SaveSlices",
    .signature =
        "filename: string, tensor_names: string, shapes_and_slices: string, data: T -> ; "
        "T: list(type) >= 1",
    .doc =
        "Writes tensors, each a part of one as `shapes_and_slices` tells, to a checkpoint of the "
        "first kind.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_USES_FILES,
    .shape = save_slices_shape,
    .prepare = prepare_save_slices,
};
