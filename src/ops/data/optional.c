// Optionals: variants that hold some tensors, or none.
#include "graph/build.h"
#include "ops/data/dataset.h"
#include "ops/flow/tensor_list_util.h"
#include "ops/kit/array_util.h"
#include "tensor/variant.h"

typedef struct optional {
  rheos__variant variant;
  int32_t count;  // -1: without a value
  rheos_tensor *components[];
} optional;

static void free_optional(rheos__variant *variant) {
  optional *o = (optional *)variant;
  for (int32_t i = 0; i < o->count; i++) rheos_tensor_unref(o->components[i]);
  rheos__free(o);
}

static rheos_status *add_optionals(rheos__variant *a, rheos__variant *b, int32_t depth,
                                   rheos__variant **out_sum);
static rheos_status *zeros_like_optional(rheos__variant *variant, int32_t depth,
                                         rheos__variant **out_zeros);

static const rheos__variant_kind optional_kind = {.name = "Optional",
                                                  .free = free_optional,
                                                  .add = add_optionals,
                                                  .zeros_like = zeros_like_optional};

static optional *new_optional(int32_t count) {
  const size_t num_components = count > 0 ? (size_t)count : 0;
  optional *o = rheos__alloc(sizeof *o + num_components * sizeof *o->components);
  if (o == NULL) return NULL;
  atomic_init(&o->variant.references, 1);
  o->variant.kind = &optional_kind;
  o->count = count > 0 ? 0 : count;  // grows with the components that are put in
  return o;
}

// ---- Sums and zeros, which gradients are made of

static rheos_status *finish_take(rheos_status *status, optional *o, rheos__variant **out) {
  if (status == NULL) {
    *out = &o->variant;
  } else {
    free_optional(&o->variant);
  }
  return status;
}

static rheos_status *add_optionals(rheos__variant *a, rheos__variant *b, int32_t depth,
                                   rheos__variant **out_sum) {
  optional *x = (optional *)a, *y = (optional *)b;
  if (x->count != y->count) {
    return RHEOS_INVALID("Cannot add optionals of %d and of %d components", (int)x->count,
                         (int)y->count);
  }
  optional *sum = new_optional(x->count);
  if (sum == NULL) return rheos__out_of_memory();
  rheos_status *status = NULL;
  for (int32_t i = 0; i < x->count && status == NULL; i++) {
    status = rheos__items_add(x->components[i], y->components[i], depth, &sum->components[i]);
    sum->count += status == NULL;
  }
  return finish_take(status, sum, out_sum);
}

static rheos_status *zeros_like_optional(rheos__variant *variant, int32_t depth,
                                         rheos__variant **out_zeros) {
  optional *o = (optional *)variant, *zeros = new_optional(o->count);
  if (zeros == NULL) return rheos__out_of_memory();
  rheos_status *status = NULL;
  for (int32_t i = 0; i < o->count && status == NULL; i++) {
    status = rheos__item_zeros_like(o->components[i], depth, &zeros->components[i]);
    zeros->count += status == NULL;
  }
  return finish_take(status, zeros, out_zeros);
}

rheos_status *rheos__optional_take(rheos_tensor **components, int32_t count,
                                   rheos_tensor **out_tensor) {
  optional *o = new_optional(count);
  if (o == NULL) {
    rheos__element_clear(components, count);
    return rheos__out_of_memory();
  }
  for (; o->count < count; o->count++) o->components[o->count] = components[o->count];
  return rheos__variant_tensor_take(&o->variant, out_tensor);
}

bool rheos__optional_parts(const rheos__variant *variant, rheos_tensor *const **out_components,
                           int32_t *out_count) {
  if (variant == NULL || variant->kind != &optional_kind) return false;
  const optional *o = (const optional *)variant;
  *out_components = o->components;
  *out_count = o->count;
  return true;
}

// ---- OptionalNone, OptionalFromValue

static rheos_status *compute_none(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  (void)state, (void)step, (void)inputs;
  optional *o = new_optional(-1);
  if (o == NULL) return rheos__out_of_memory();
  return rheos__variant_tensor_take(&o->variant, &outputs[0]);
}

const rheos__op_def rheos__op_OptionalNone = {
    .name = "OptionalNone",
    .signature = "-> optional: variant",
    .doc = "An optional without a value.",
    .flags = RHEOS_OP_TAKES_VARIANTS,
    .shape = rheos__shape_scalar,
    .compute = compute_none,
};

static rheos_status *compute_from_value(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                        rheos_tensor **outputs) {
  (void)step;
  const int32_t count = *(const int32_t *)state;
  optional *o = new_optional(count);
  if (o == NULL) return rheos__out_of_memory();
  while (o->count < count) {
    rheos_tensor *component = NULL;
    rheos_status *status = rheos__tensor_keep(inputs[o->count], &component);
    if (status != NULL) {
      rheos__variant_unref(&o->variant);
      return status;
    }
    o->components[o->count++] = component;
  }
  return rheos__variant_tensor_take(&o->variant, &outputs[0]);
}

static rheos_status *prepare_from_value(rheos__prepare *p) {
  int32_t *count = RHEOS_NEW_STATE(p, int32_t);
  if (count == NULL) return rheos__out_of_memory();
  *count = p->num_inputs;
  p->compute = compute_from_value;
  return NULL;
}

// d components: what the gradient, an optional too, holds.
static void gradient_from_value(rheos__grad *g) {
  const size_t count = (size_t)g->num_inputs;
  rheos_shape *shapes = rheos__alloc_array(count, sizeof *shapes);
  rheos_dtype *types = rheos__alloc_array(count, sizeof *types);
  if (shapes == NULL || types == NULL) {
    rheos_scope_fail_take(g->scope, rheos__out_of_memory());
  } else {
    for (size_t i = 0; i < count; i++) {
      shapes[i] = rheos_output_shape(g->inputs[i]);
      types[i] = rheos_dtype_base(rheos_output_dtype(g->inputs[i]));
    }
    const rheos_attr attrs[] = {
        {"output_types", {.kind = RHEOS_ATTR_LIST_TYPE, .count = g->num_inputs, .types = types}},
        {"output_shapes",
         {.kind = RHEOS_ATTR_LIST_SHAPE, .count = g->num_inputs, .shapes = shapes}},
    };
    const rheos_output grad = rheos__grad_dense(g, 0);
    const rheos_operation get = rheos__op_n(g->scope, "OptionalGetValue", NULL, &grad, 1, attrs, 2);
    for (int32_t i = 0; i < g->num_inputs; i++) {
      rheos__grad_set(g, i, rheos_operation_output(get, i));
    }
  }
  rheos__free(shapes);
  rheos__free(types);
}

const rheos__op_def rheos__op_OptionalFromValue = {
    .name = "OptionalFromValue",
    .signature = "components: Toutput_types -> optional: variant; Toutput_types: list(type) >= 1",
    .doc = "An optional that holds `components`.",
    .flags = RHEOS_OP_TAKES_VARIANTS,
    .shape = rheos__shape_scalar,
    .gradient = gradient_from_value,
    .prepare = prepare_from_value,
};

// ---- OptionalHasValue, OptionalGetValue

static rheos_status *optional_in(const rheos_tensor *tensor, const char *op, optional **out) {
  return rheos__variant_of(tensor, &optional_kind, op, (rheos__variant **)out);
}

static rheos_status *compute_has_value(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                       rheos_tensor **outputs) {
  (void)state, (void)step;
  optional *o = NULL;
  RHEOS_TRY(optional_in(inputs[0], "OptionalHasValue", &o));
  RHEOS_TRY(rheos__tensor_new(RHEOS_BOOL, &RHEOS_SCALAR, &outputs[0]));
  *(bool *)outputs[0]->data = o->count >= 0;
  return NULL;
}

const rheos__op_def rheos__op_OptionalHasValue = {
    .name = "OptionalHasValue",
    .signature = "optional: variant -> has_value: bool",
    .doc = "Whether `optional` holds a value.",
    .flags = RHEOS_OP_TAKES_VARIANTS,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .compute = compute_has_value,
};

typedef struct expected {
  int32_t count;
  const rheos_dtype *types;  // of the node, which outlives the plan
  const rheos_shape *shapes;
} expected;

static rheos_status *expected_of(const rheos__attrs *attrs, expected *out) {
  const rheos_attr_value *types = rheos__attrs_find(attrs, "output_types");
  const rheos_attr_value *shapes = rheos__attrs_find(attrs, "output_shapes");
  if (types->count != shapes->count) {
    return RHEOS_INVALID("`output_shapes` must be the same length as `output_types` (%d vs. %d)",
                         (int)shapes->count, (int)types->count);
  }
  *out = (expected){.count = types->count, .types = types->types, .shapes = shapes->shapes};
  return NULL;
}

static rheos_status *check_component(const expected *e, int32_t i, const rheos_tensor *component) {
  if (component->dtype != e->types[i]) {
    return RHEOS_INVALID(
        "The given optional does not match the expected type for component %d. "
        "Expected: %s. Actual: %s.",
        (int)i, rheos_dtype_name(e->types[i]), rheos_dtype_name(component->dtype));
  }
  rheos_shape merged;
  rheos_status *status = rheos__shape_merge(&e->shapes[i], &component->shape, &merged);
  if (status == NULL) return NULL;
  rheos_status_free(status);
  rheos__shape_text want, got;
  return RHEOS_INVALID(
      "The given optional does not match the expected shape for component %d. "
      "Expected: %s. Actual: %s.",
      (int)i, rheos__shape_text_of(&e->shapes[i], &want),
      rheos__shape_text_of(&component->shape, &got));
}

static rheos_status *compute_get_value(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                       rheos_tensor **outputs) {
  (void)step;
  const expected *e = state;
  optional *o = NULL;
  RHEOS_TRY(optional_in(inputs[0], "OptionalGetValue", &o));
  if (o->count < 0) return RHEOS_INVALID("The given optional does not have a value.");
  if (o->count != e->count) {
    return RHEOS_INVALID("The given optional has %d components, expected %d.", (int)o->count,
                         (int)e->count);
  }
  for (int32_t i = 0; i < e->count; i++) RHEOS_TRY(check_component(e, i, o->components[i]));
  for (int32_t i = 0; i < e->count; i++) outputs[i] = rheos_tensor_ref(o->components[i]);
  return NULL;
}

static rheos_status *prepare_get_value(rheos__prepare *p) {
  expected *e = RHEOS_NEW_STATE(p, expected);
  if (e == NULL) return rheos__out_of_memory();
  RHEOS_TRY(expected_of(p->attrs, e));
  p->compute = compute_get_value;
  return NULL;
}

static rheos_status *shape_get_value(rheos__infer *c) {
  expected e;
  rheos_shape optional;
  RHEOS_TRY(rheos__infer_rank(c, 0, 0, &optional));
  RHEOS_TRY(expected_of(c->attrs, &e));
  for (int32_t i = 0; i < e.count; i++) c->output_shapes[i] = e.shapes[i];
  return NULL;
}

// d optional: an optional of the gradients.
static void gradient_get_value(rheos__grad *g) {
  rheos_output *grads = rheos__alloc_array((size_t)g->num_outputs, sizeof *grads);
  if (grads == NULL) {
    rheos_scope_fail_take(g->scope, rheos__out_of_memory());
    return;
  }
  for (int32_t i = 0; i < g->num_outputs; i++) grads[i] = rheos__grad_dense(g, i);
  rheos__grad_set(g, 0,
                  rheos_operation_output(rheos__op_n(g->scope, "OptionalFromValue", NULL, grads,
                                                     (size_t)g->num_outputs, NULL, 0),
                                         0));
  rheos__free(grads);
}

const rheos__op_def rheos__op_OptionalGetValue = {
    .name = "OptionalGetValue",
    .signature =
        "optional: variant -> components: output_types; output_types: list(type) >= 1; "
        "output_shapes: list(shape) >= 1",
    .doc = "The components that `optional` holds, of these dtypes and shapes.",
    .flags = RHEOS_OP_TAKES_VARIANTS,
    .shape = shape_get_value,
    .gradient = gradient_get_value,
    .prepare = prepare_get_value,
};
