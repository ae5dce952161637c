// Elements compressed by snappy: what TensorFlow's data service passes between processes, here
// variants with the messages of the tensors.
#include <snappy-c.h>
#include <string.h>

#include "codec/wire.h"
#include "ops/data/dataset.h"
#include "ops/io/tensor_message.h"

typedef struct compressed {
  rheos__variant variant;
  int32_t num_components;
  rheos_tensor *parts;  // a vector of strings, each compressed
} compressed;

static void free_compressed(rheos__variant *variant) {
  rheos_tensor_unref(((compressed *)variant)->parts);
  rheos__free(variant);
}

static const rheos__variant_kind compressed_kind = {.name = "CompressedElement",
                                                    .free = free_compressed};

// ---- CompressElement

static rheos_status *compress_part(const rheos_tensor *component, rheos_tensor *parts, int64_t i) {
  if (component->dtype == RHEOS_VARIANT || component->dtype == RHEOS_RESOURCE) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED,
                            "component %d of the element is a %s: only "
                            "tensors of values are compressed",
                            (int)i, rheos_dtype_name(component->dtype));
  }
  rheos__buffer message = {0};
  rheos__wire_put_tensor(&message, component);
  size_t size = snappy_max_compressed_length(message.size_bytes);
  char *bytes = message.failed ? NULL : rheos__alloc(size);
  rheos_status *status = NULL;
  if (bytes == NULL) {
    status = rheos__out_of_memory();
  } else if (snappy_compress(message.data, message.size_bytes, bytes, &size) != SNAPPY_OK) {
    status = rheos_status_new(RHEOS_INTERNAL, "snappy cannot compress the element");
  } else {
    status = rheos_tensor_set_string(parts, i, bytes, size);
  }
  rheos__free(bytes);
  rheos__buffer_deinit(&message);
  return status;
}

static rheos_status *compute_compress(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                      rheos_tensor **outputs) {
  (void)step;
  const int32_t count = *(const int32_t *)state;
  compressed *c = rheos__alloc_zeroed(sizeof *c);
  if (c == NULL) return rheos__out_of_memory();
  atomic_init(&c->variant.references, 1);
  c->variant.kind = &compressed_kind;
  c->num_components = count;
  rheos_status *status = rheos__tensor_new(RHEOS_STRING, &RHEOS_SHAPE(count), &c->parts);
  for (int32_t i = 0; status == NULL && i < count; ++i) {
    status = compress_part(inputs[i], c->parts, i);
  }
  if (status == NULL) return rheos__variant_tensor_take(&c->variant, &outputs[0]);
  free_compressed(&c->variant);
  return status;
}

static rheos_status *prepare_compress(rheos__prepare *p) {
  int32_t *count = RHEOS_NEW_STATE(p, int32_t);
  if (count == NULL) return rheos__out_of_memory();
  *count = p->num_inputs;
  p->compute = compute_compress;
  return NULL;
}

const rheos__op_def rheos__op_CompressElement = {
    .name = "CompressElement",
    .signature = "components: input_types -> compressed: variant; input_types: list(type) >= 1",
    .doc = "The components as one compressed value, for UncompressElement.",
    .flags = RHEOS_OP_TAKES_VARIANTS,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = prepare_compress,
};

// ---- UncompressElement

static rheos_status *uncompress_part(const rheos_string *part, rheos_tensor **out_tensor) {
  size_t size = 0;
  if (snappy_uncompressed_length(part->data, part->size_bytes, &size) != SNAPPY_OK) {
    return RHEOS_INVALID("the compressed element is damaged");
  }
  char *bytes = rheos__alloc(size + 1);
  if (bytes == NULL) return rheos__out_of_memory();
  rheos_status *status = NULL;
  if (snappy_uncompress(part->data, part->size_bytes, bytes, &size) != SNAPPY_OK) {
    status = RHEOS_INVALID("the compressed element is damaged");
  } else {
    status = rheos__tensor_of_message(&(rheos_string){bytes, size}, out_tensor);
  }
  rheos__free(bytes);
  return status;
}

typedef struct expected {
  const rheos_attr_value *types, *shapes;  // of the node, which outlives the plan
} expected;

static rheos_status *check_part(const expected *wanted, int32_t i, const rheos_tensor *part) {
  rheos__shape_text want, got;
  if (part->dtype != wanted->types->types[i]) {
    return rheos_status_new(
        RHEOS_FAILED_PRECONDITION, "Expected a tensor of type %s but got a tensor of type %s",
        rheos_dtype_name(wanted->types->types[i]), rheos_dtype_name(part->dtype));
  }
  const rheos_shape *shape = &wanted->shapes->shapes[i];
  if (rheos_shape_compatible(shape, &part->shape)) return NULL;
  return RHEOS_INVALID("component %d of the element has shape %s, the node expects %s", (int)i,
                       rheos__shape_text_of(&part->shape, &got),
                       rheos__shape_text_of(shape, &want));
}

static rheos_status *compute_uncompress(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                        rheos_tensor **outputs) {
  (void)step;
  const expected *wanted = state;
  rheos__variant *variant = NULL;
  rheos_status *status =
      rheos__variant_of(inputs[0], &compressed_kind, "UncompressElement", &variant);
  if (status != NULL) {
    rheos_status_free(status);
    return RHEOS_INVALID("Input does not contain a compressed element.");
  }
  const compressed *c = (const compressed *)variant;
  if (c->num_components != wanted->types->count) {
    return rheos_status_new(RHEOS_FAILED_PRECONDITION,
                            "Expected %d outputs from uncompress, but got %d",
                            (int)wanted->types->count, (int)c->num_components);
  }
  const rheos_string *parts = c->parts->data;
  for (int32_t i = 0; i < wanted->types->count; ++i) {
    RHEOS_TRY(uncompress_part(&parts[i], &outputs[i]));
    RHEOS_TRY(check_part(wanted, i, outputs[i]));
  }
  return NULL;
}

static rheos_status *prepare_uncompress(rheos__prepare *p) {
  expected *wanted = RHEOS_NEW_STATE(p, expected);
  if (wanted == NULL) return rheos__out_of_memory();
  wanted->types = rheos__attrs_find(p->attrs, "output_types");
  wanted->shapes = rheos__attrs_find(p->attrs, "output_shapes");
  p->compute = compute_uncompress;
  return NULL;
}

static rheos_status *shape_uncompress(rheos__infer *c) {
  const rheos_attr_value *shapes = rheos__attrs_find(c->attrs, "output_shapes");
  rheos_shape scalar;
  RHEOS_TRY(rheos__infer_rank(c, 0, 0, &scalar));
  if (shapes->count != c->num_outputs) {
    return RHEOS_INVALID("`output_shapes` must be the same length as `output_types` (%d vs. %d)",
                         (int)shapes->count, (int)c->num_outputs);
  }
  for (int32_t i = 0; i < c->num_outputs; ++i) c->output_shapes[i] = shapes->shapes[i];
  return NULL;
}

const rheos__op_def rheos__op_UncompressElement = {
    .name = "UncompressElement",
    .signature = "compressed: variant -> components: output_types" RHEOS_DATASET_TYPES,
    .doc = "The components that CompressElement was given.",
    .flags = RHEOS_OP_TAKES_VARIANTS,
    .shape = shape_uncompress,
    .gradient = rheos__no_gradient,
    .prepare = prepare_uncompress,
};
